"""Notices of works and events, and short news."""

from __future__ import annotations

from document_kinds.fields import Field
from document_kinds.forms import Form, drawn

WORKS = [
    Field("start", "date", "Start|From|Begins", "the start of the work",
          "When does the work in {street} begin?|On which day does it start?|From when on will "
          "{street} be affected?|When will {firm} begin?|What is the first day of the work?|"
          "Starting when?",
          "It begins on {}.|The work starts on {}, not on {~date} as announced.|From {} on, {firm} "
          "will be at work.", "The start depends on the weather.", "begins on"),
    Field("end", "later", "End|Until|Finished by", "the end of the work",
          "When will the work in {street} be finished?|Until when does it last?|What is the last "
          "day of the work?|When does {firm} plan to be done?|By when will {street} be free again?|"
          "When is it over?",
          "It should be over by {}.|The work ends on {}.|We plan to finish on {}.",
          "We try to finish early.", "over by|ends on"),
    Field("hours", "hours", "Hours|Daily|Time", "the hours of the work",
          "At which hours is there work?|During what hours is {firm} at work in {street}?|Between "
          "which times is {street} affected each day?|What are the daily hours?|From when to when "
          "does it last each day?|What times?",
          "Daily hours are {}.|The interruption lasts from {} each day.|Expect it at {} on each "
          "day.", "There is no work at night.", "each day"),
    Field("why", "an old pipe has burst|the surface is worn|new cables must be laid|the bridge is "
        "not safe|tree roots have lifted the pavement|a valve is rusty", "",
          "the reason for the work", "Why is the work needed?|For what reason is {street} dug up?|"
          "Why is there work in {street}?|What is the reason for it?|What has made the work "
          "necessary?|why are they working there?",
          "This is necessary because {}.|Since {}, we cannot wait.|The reason is that {}.",
          "We could not wait until spring.", "because|reason"),
    Field("houses", "the even numbers|numbers 1 to 24|all houses north of the church|numbers 7, 9 "
        "and 11|the side towards the park|the whole street up to the mill",
        "Affected|Who is affected", "the houses affected",
          "Which houses are affected?|Whom does it concern in {street}?|Which part of {street} is "
          "concerned?|Who will notice the work?|Which addresses must expect it?|Which houses does "
          "it touch?",
          "Affected are {}.|It concerns {}; the rest will notice nothing.",
          "Not all houses are affected.", "concerns"),
    Field("phone", "phone", "Questions|Phone|Call", "the number for questions",
          "Which number can I call with questions?|What is the phone number?|How can {firm} be "
          "reached?|Under which number does somebody answer?|Which number do residents ring?|What "
          "number is for questions?",
          "If you have questions, call {}.|{firm} answers on {}; for the council dial {~phone}.",
          "We are glad to answer questions.", "dial|call"),
    Field("contact", "person", "Contact|In charge|Site manager", "the person in charge",
          "Who is in charge of the work?|Who is the site manager?|Whom can residents turn to?|Who "
          "answers for the work in {street}?|Which person is responsible?|Who runs the site?",
          "The site manager is {}.|{} is in charge on the spot.|In charge is {}, who follows "
          "{~person}.", "The site manager lives nearby.", "in charge"),
    Field("way", "by {~street}|through the car park|over the footbridge|along the river path|by "
        "the ring road", "Diversion|Way round", "the way round",
          "How do I get round it?|Which way should drivers take instead?|What is the diversion for "
          "{street}?|By which way is traffic led?|How can the place be passed?|Where does the "
          "diversion go?",
          "Traffic is led {}.|Please go {} instead.|The diversion goes {}.",
          "The diversion is signed.", "instead|led"),
    Field("water", "from the tank at the corner|at the school gate|in the yard of the fire station|"
        "from the tap behind the church", "Water|Drinking water", "the place to get drinking water",
          "Where is there drinking water?|Where can residents get water?|At what place is water "
          "given out?|Where do people fetch water?|Where is water to be had meanwhile?|Where can I "
          "fill a bucket?",
          "Drinking water can be fetched {}.|You get water {}.", "Let the water run for a minute "
          "afterwards.", "fetched"),
    Field("bins", "the corner of {~street}|the car park|the gate of the park|the bus stop", "Bins",
        "the place for the bins",
          "Where should the bins be put?|Where do residents leave the bins?|At what place are bins "
          "emptied?|Where is the rubbish collected during the work?|Where do bins go?|To which "
          "place must the bins be taken?",
          "Please take the bins to {}.|Bins are emptied at {}.", "Bins are emptied as usual.",
          "emptied at"),
    Field("cost", "sum", "Cost", "the cost of the work",
          "How much does the work cost?|What is the cost of the work in {street}?|What does the "
          "council pay?|How much money is spent?|What sum does it cost?|How high are the costs?",
          "It costs {}.|The council pays {} for it.", "The cost is shared with the county.",
          "pays"),
]  # fmt: skip

EVENT = [
    Field("date", "date", "Date|When|Day", "the date of the {event}",
          "When is the {event}?|On which day is the {event}?|What is the date of the {event}?|When "
          "does {host} hold the {event}?|What day is the {event}?|Which day was fixed for the "
          "{event}?",
          "It is on {}.|The {event} takes place on {}; last year it was on {~date}.|We meet on {}.",
          "The date was chosen by vote.", "takes place on"),
    Field("time", "clock", "Time|Start|Begins at", "the starting time of the {event}",
          "At what time does the {event} begin?|What time does the {event} start?|When in the day "
          "does it begin?|At what time should guests come to the {event}?|What is the starting "
          "time?|What time is it?",
          "It begins at {}.|We start at {}; helpers come at {~clock}.|Come at {}.",
          "Please be on time.", "start at|begins at"),
    Field("end", "evening", "End|Ends at", "the end of the {event}",
          "When does the {event} end?|Until when does the {event} last?|At what time is the "
          "{event} over?|When must guests leave?|Until what time can one stay?|When is it "
          "finished?",
          "It ends at {}.|At {} it is over.", "Please think of the neighbours on the way home.",
          "over|ends"),
    Field("place", "hall", "Place|Where|Venue", "the place of the {event}",
          "Where is the {event}?|At which place is the {event} held?|What is the venue of the "
          "{event}?|Where does {host} hold the {event}?|Where do I go for the {event}?|In which "
          "building is it?",
          "The place is the {}.|We meet in the {}.|This time it is in the {}, since the {~hall} is "
          "being painted.", "The place is easy to reach.", "meet in"),
    Field("fee", "cheap", "Entry|Fee|Ticket|Price", "the fee for the {event}",
          "How much is entry to the {event}?|What does the {event} cost?|What do I pay for the "
          "{event}?|How much is a ticket?|What is the fee?|How much does it cost to take part in "
          "the {event}?",
          "Entry is {}.|A ticket costs {}; a raffle ticket is {~small}.|We ask for {} from each "
          "guest.", "Children pay half.", "costs|pay"),
    Field("register", "date", "Register by|Sign up by", "the last day to register",
          "By when must one register for the {event}?|What is the last day to sign up?|Until when "
          "can I sign up for the {event}?|When does registration close?|What is the deadline for "
          "registering?|By what date do I have to say that I am coming?",
          "Please register by {}.|You can sign up until {}.|Registration closes on {}.",
          "Please register so that we can plan.", "sign up"),
    Field("contact", "person", "Contact|Register with", "the person to contact",
          "Who takes registrations?|Whom do I contact about the {event}?|Who organises the "
          "{event}?|With whom does one sign up?|Who knows more about the {event}?|Who is the "
          "contact person?",
          "Write to {} to sign up.|{} organises the {event} and knows more.|{} takes your names.",
          "", "organises|takes"),
    Field("bring", "a plate and a cup|old newspapers|a torch|a cushion|something for the buffet|"
        "indoor shoes|a pencil and a ruler|wellingtons", "Bring|Please bring",
        "the things to bring",
          "What should guests bring?|What must be brought to the {event}?|What do I have to take "
          "along?|Which things are needed?|What are we asked to bring?|What should I have with me "
          "at the {event}?",
          "Please bring {}.|Bring {} if you can.|Everybody brings {}.", "What to bring will be on "
          "the poster."),
    Field("age", "six years|eight years|twelve years|ten years|fourteen years", "Age|From age",
        "the lowest age",
          "From what age may children come?|How old must children be for the {event}?|What is the "
          "lowest age?|At which age can one take part?|From which age is the {event} open?|how old "
          "do you have to be?",
          "It is for children from {} up.|You may take part from the age of {}.",
          "Children need not come with an adult.", "age of|children from"),
    Field("rain", "it moves into the gym|it is put off by a week|it will be cancelled|it starts an "
        "hour later|there will be tents", "In bad weather|If it rains",
        "the plan for bad weather",
          "What happens if it rains?|What is planned for bad weather?|What becomes of the {event} "
          "in the rain?|What if the weather is bad?|What does {host} do when it rains?|What is the "
          "plan for rain?",
          "If it rains, {}.|In bad weather {}.", "We hope for good weather."),
    Field("purpose", "the school can buy new instruments|neighbours get to know each other|the "
        "roof can be mended|children learn to read maps|the swimming pool stays open", "",
          "the purpose of the {event}", "What is the {event} for?|Why is the {event} held?|What is "
          "the purpose of the {event}?|To what end does {host} hold it?|What is it meant to "
          "achieve?|why do they do the {event}?",
          "We do it so that {}.|It is held in order that {}.", "Its purpose was discussed at "
          "length.", "so that|in order that"),
    Field("food", "soup and bread|pancakes|cold drinks and cake|grilled corn|tea and scones|baked "
        "potatoes", "Food", "the food on offer",
          "What is there to eat?|Which food is offered?|What can guests eat at the {event}?|What "
          "will be served?|What food does {host} sell?|What is on offer for the hungry?",
          "There will be {}.|{host} sells {}.", "Guests will not go hungry.", "sells|eat"),
]  # fmt: skip

NEWS = [
    Field("when", "on Monday evening|early on Tuesday|on Wednesday afternoon|in the night to "
        "Friday|on Saturday at noon|shortly before midnight on Sunday", "",
        "the time of the {what}",
          "When did the {what} happen?|When was the {what} in {place}?|At what time did it happen?|"
          "When did {place} have the {what}?|On which day was the {what}?|when did it happen?",
          "It happened {}.|The {what} occurred {}, as the police confirm.",
          "The time is not given in the report.", "occurred"),
    Field("where", "street", "", "the street of the {what}", "In which street was the {what}?|"
        "Where in {place} did it happen?|What street was the scene?|Where exactly was the {what}?|"
        "In what part of {place} was it?|Which street is named?",
          "The scene was in {}.|It was in {}, close to {~street}.", "The scene was closed to "
          "traffic.", "scene was"),
    Field("damage", "sum", "", "the damage", "How high is the damage?|What does the damage come "
        "to?|How much damage did the {what} do?|At what sum is the damage put?|What is the damage "
        "in {place} worth?|How great is the loss?",
          "The damage is put at {}.|Damage of {} was done; in a case of {~recent} it was {~sum}.",
          "The damage is still being counted.", "loss"),
    Field("hurt", "two people|three workers|a cyclist|the driver of a van|nobody|four pupils|a "
        "fireman", "", "the people who were hurt", "Who was hurt?|Who was injured in the {what}?|"
        "Which people had to be treated?|Who came to harm in {place}?|Whom did the {what} injure?|"
        "Who was injured?",
          "Injured: {}.|According to the doctors, {} had to be treated.", "The hospital gave no "
          "details.", "injured"),
    Field("cause", "a cable was damaged|a lorry lost its load|a warning was read too late|the "
        "ground was too wet|a lock had been broken|a pump failed", "", "the cause of the {what}",
        "What caused the {what}?|Why did the {what} happen?|What is the cause of the {what}?|What "
        "led to the {what} in {place}?|For what reason did it come to the {what}?|why did this "
        "happen?",
          "It came about because {}.|The {what} happened after {}.|As {}, nobody could prevent it.",
          "The cause is not known.", "because|prevent"),
    Field("said", "person", "", "the person who spoke for the {body}", "Who spoke for the {body}?|"
        "Who is the speaker of the {body}?|Who told the press about the {what}?|Which person "
        "answered questions?|Who said that help came fast?|Who is quoted?",
          "'Help came fast,' said {} of the {body}.|{} spoke for the {body}.",
          "The {body} made no statement.", "said"),
    Field("closed", "two days|until Thursday|for a week|until further notice|for five hours|until "
        "the spring", "", "the length of the closure", "How long will the road be closed?|Until "
        "when or for how long is the road shut?|For how long must drivers go round?|How long does "
        "the closure last?|When or after what time can traffic pass again?|For what time is the "
        "road blocked?",
          "The road is shut: {}.|Drivers must go round it {}.", "Drivers had to turn back.",
          "shut|go round"),
    Field("crew", "18 firefighters|40 helpers|two boats and a crane|six police cars|a helicopter|"
        "30 volunteers", "", "the forces that were sent", "What was sent to help?|Which forces "
        "were at work?|Who or what came to help at the {what}?|How many helpers were there?|What "
        "did the {body} send?|With what forces did the {body} come?",
          "On the scene: {}.|The {body} sent {}.", "Help came soon.", "sent"),
    Field("witness", "given", "", "the name of the witness", "Who saw it first?|Who called for "
        "help?|What is the witness called?|Which neighbour noticed the {what}?|Who was the first "
        "to notice?|What is the name of the caller?",
          "A neighbour, {}, called for help.|{}, who lives across the street, saw it first.", "",
          "saw it first"),
    Field("next", "the wall will be checked|a report goes to the mayor|the council meets in secret|"
        "divers will search the river|the crossing gets lights|the hall will be pulled down", "",
        "the next step", "What happens next?|What is the next step?|What has been announced?|What "
        "will be done after the {what}?|What is planned in {place} now?|What comes next?",
          "As a next step, {}.|Next, {}.", "", "Next"),
]  # fmt: skip
CALLERS = ["Phone call to the office, {~clock}.", "Chat, no. {~code}.", "Two neighbours talk."]
FORMS = {
    "works-notice" : Form("notice", "notice", WORKS, ["NOTICE\n{what} in {street}\n{firm}",
    "Dear residents of {street},\nthere will be a {what}.", "# {what} – {street}",
    "{firm} informs: {what} in {street}", "To all who live in {street}: {what} ahead."],
        "We thank you for your patience.|Please pass this on to your neighbours.|Cars may be "
        "parked in {~street}.|Buses stop elsewhere.|Post is delivered as usual.|The last such work "
        "was done in {~recent}.|Access for ambulances stays open.|The shops stay open.|Dust cannot "
        "be avoided.|{~firm} delivers the machines.",
        {"street" : "street", "firm" : "firm", "what" : "water shut-off|road closure|power cut|gas "
        "inspection|resurfacing|pipe renewal|kerb repair"}, ("street",), 6,
        "prose prose lines headed talk",
        ["", "{firm}", "The council of {~place}"], [f"{call} It is about the {{what}} in "
        f"{{street}} by {{firm}}." for call in CALLERS]),
    "event-notice" : Form("notice", "event", EVENT, ["You are invited!\n{host} holds a {event}.",
    "# {event}\n{host}", "Dear parents and neighbours,\n{host} invites you to a {event}.",
    "{host}: {event}", "Coming up at {host}: the {event}"],
        "Helpers are still wanted.|Dogs stay at home, please.|There are few places to park.|Last "
        "year {~people} guests came.|The band of {~place} will play.|Photos will be shown later.|"
        "We thank {~firm} for its help.|Spread the word!|The hall can be reached without stairs.|"
        "Lost things are kept by the caretaker.",
        {"host": "firm", "event": "event"}, ("event",), 7, "prose prose lines headed talk faq",
        ["", "See you there!", "{host}"], [f"{call} It is about the {{event}} of {{host}}." for call
        in CALLERS]),
    "news" : Form("report", "news", NEWS, ["{place} – A {what} kept the {body} busy this week.",
    "{what} in {place}\n\nThe {body} had a busy night.", "# {what} near {place}\nThe {body} is "
    "still at work.", "News from {place}: a {what} has upset the town."],
        "Many people looked on.|The mayor thanked all helpers.|Shops opened late the next day.|A "
        "similar case was seen in {~place}.|The school was not touched.|Rumours spread quickly.|"
        "The weather had been calm.|Trains ran as usual.|{~person} of {~place} lent a tent.|Some "
        "had to wait in the cold.",
        {"place" : "place", "body" : "fire brigade|police|rescue service|council", "what" :
        "fire|flood|gas leak|collision|blackout|crash|explosion|oil spill"}, ("what",), 6, "prose"),
}  # fmt: skip
KINDS = {kind: drawn(kind, form) for kind, form in FORMS.items()}
