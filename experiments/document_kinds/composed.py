"""Recipes, minutes, travel plans and troubleshooting: rows together with sentences."""

from __future__ import annotations

from document_kinds.document import Document, Passage, capital
from document_kinds.draw import Draw
from document_kinds.fields import Field, filled, lines, others, prose, state
from document_kinds.tables import Column, Table, rows_of, written

INGREDIENTS = Table(
    "Ingredient|For the dough|You need",
    "flour|butter|sugar|milk|rice|grated cheese|almond paste|honey|oat bran|semolina|yoghurt|cream|"
    "chopped leek|grated carrot|celery|"
    "walnut flour|candied peel|bean paste|spinach|plum jam|rye flour|lard|cocoa|minced beef|smoked "
    "tofu|pumpkin|fennel",
    [
        Column("amount", "grams", "Amount|Quantity|Weight", "the amount of {row}",
               "How much {row} is needed?|How much {row} do I need for the {dish}?|What amount of "
               "{row} goes into the {dish}?|How many grams of {row} should I take?"
               "|What quantity of {row} does the recipe ask for?|{row} how much?", "{}",
               "Of which ingredient is {} needed?|What do I need {} of?", "",
               "Of which ingredient is least needed?", "Of which ingredient is most needed?"),
        Column("note", "sifted|at room temperature|finely cut|warm|unsalted|fresh|from the day "
            "before|toasted|cold|well drained", "Note|State|Remark", "the state of {row}",
               "In what state should the {row} be?|What is noted about the {row}?|How should the "
               "{row} be prepared?|What must the {row} be like?|What does the recipe say of the "
               "{row}?|what kind of {row}?",
               "{}", "Which ingredient should be {}?|What has to be {}?", shared=True),
    ],
    "take {row},", (1, 2), (4, 6), always=("amount",),
)  # fmt: skip
RECIPE = [
    Field("heat", "heat", "Oven", "the heat of the oven", "How hot should the oven be?|At what "
        "temperature is the {dish} baked?|What heat does the oven need?|To how many degrees do I "
        "heat the oven?|What temperature is set?|oven temperature?", "Heat the oven to {}.|Bake it "
        "at {}; with a fan {~heat} will do.", "Heat the oven well ahead."),
    Field("bake", "minutes", "In the oven", "the baking time", "How long is the {dish} in the "
        "oven?|How long does it bake?|What is the baking time?|For how many minutes is the {dish} "
        "baked?|How long must it stay in the oven?|baking time?", "Leave it in the oven for {}.|It "
        "needs {} in the oven.", "It is done when it is brown on top.", "in the oven"),
    Field("rest", "two hours|half an hour|overnight|ten minutes|a whole day", "Resting time",
        "the resting time", "How long must it rest?|For how long does the mixture stand?|What is "
        "the resting time?|How long do I leave it before going on?|How much time must it have to "
        "rest?|how long to rest?", "Let the mixture rest for {}.|Now it must stand: {}.",
        "Then let it rest.", "must stand"),
    Field("serves", "two people|four people|six people|eight people|ten people|a family of five",
        "Serves|For", "the number of people it serves", "How many people does it serve?|For how "
        "many is the recipe?|How many can eat of it?|Whom does the {dish} feed?|For how many "
        "people is the {dish}?|how many does this feed?", "It serves {}.|This is enough for {}.",
        "It can be doubled with ease.", "enough for"),
    Field("keeps", "three days in the fridge|a week in a tin|two months in the freezer|until the "
        "next day|four days under a cloth", "Keeps", "how long it keeps", "How long does it keep?|"
        "For how long can the {dish} be stored?|Until when can I eat the {dish}?|How long can it "
        "be kept?|How long does the {dish} stay good?|how long will it last?",
        "It keeps {}.|You can store it {}.", "Keep it covered.", "store it"),
    Field("from", "my aunt in {~place}|a baker in {~place}|{~person}|an old book from {~place}|our "
        "neighbour", "Recipe by|From", "the source of the recipe", "Who or what is the recipe "
        "from?|Where does the recipe come from?|From whom is the recipe?|Whose recipe is it?|What "
        "is the source of the recipe?|who gave us the recipe?", "I have the recipe from {}.|It "
        "comes from {}.", "The recipe is very old.", "recipe from"),
    Field("tin", "a round tin of 26 cm|a loaf tin|a flat tray|a clay dish with a lid|an iron pan|"
        "six small moulds", "Tin|Dish", "the tin to use", "Which tin is used?|What is the {dish} "
        "baked in?|In what do I put the mixture?|What kind of tin or pan is needed?|What should be "
        "greased?|Which dish or tin does the recipe ask for?", "Grease {}.|Use {}.|Fill the "
        "mixture into {}.", "Do not fill the tin to the rim.", "Grease"),
    Field("why", "it would turn bitter|the lumps would stay|the top would burn|it would stick to "
        "the spoon|the taste would be lost", "", "the reason not to stir for too long",
        "Why should one not stir for too long?|What would happen if one stirred too long?|For what "
        "reason must you not stir long?|Why is long stirring bad?|What is the reason to stop "
        "stirring?|why not stir longer?", "Do not stir for too long, because {}.|Stir only "
        "briefly; otherwise {}.", "Do not stir for too long.", "otherwise"),
    Field("with", "sour cream|a green salad|stewed apples|a glass of cider|pickled plums|warm "
        "custard", "Serve with", "what to serve with it", "What is the {dish} served with?|What "
        "goes well with the {dish}?|With what do I serve it?|What should be on the table with the "
        "{dish}?|What is it eaten with?|what goes with it?", "Serve it with {}.|It goes well with "
        "{}.", "Serve it at once.", "goes well"),
    Field("how", "with a wooden spoon|through a sieve|with cold hands|in small portions|with a "
        "fork", "", "the way to add the liquid", "How is the liquid added?|In what way do I add "
        "the liquid?|How should I put in the liquid?|By what means is the liquid worked in?|How "
        "does the liquid go in?|how to add the liquid?", "Work in the liquid {}.|The liquid is "
        "added {}.", "Add the liquid."),
]  # fmt: skip


BAKES = (
    "leek pie|plum cake|apple crumble|lentil loaf|potato bake|onion tart|honey cake|rye bread|"
    "pumpkin gratin|cheese flan|rice pudding|mushroom pie|carrot cake|oat slice|fish pie|"
    "spinach lasagne|ginger cake|semolina pudding|bean pasty|cherry strudel|sesame roll"
)


def recipe(draw: Draw) -> Passage:
    doc = Document("recipe", draw, "recipe", "recipe")
    context = {"dish": draw.fresh(BAKES)}
    stated, hints = state(doc, RECIPE, context, swap={"dish": BAKES}, keep=5)
    drawn = rows_of(doc, INGREDIENTS, context)
    layouts = "spaces pipes markdown tabs inline blocks commas" + (
        " plain" * 4 if len(drawn[0]) == 1 else ""
    )
    table = written(doc, INGREDIENTS, drawn, context=context, layouts=layouts)
    top = capital(
        draw.one(
            [
                context["dish"],
                f"# {context['dish']}",
                f"Recipe: {context['dish']}",
                f"How we make {context['dish']}",
            ]
        )
    )
    extra = others(doc, "Mix everything well.|Wash your hands.|Salt to taste.|Children "
    "like to help.|Sprinkle with parsley or sugar.|"
        "Switch off the oven.|Let it cool before you cut it.|Peel and chop what needs it.|Cover "
        "with a cloth.", context, 2, 4)  # fmt: skip
    steps = [item.sentence for item in stated] + [hint.sentence for hint in hints] + extra
    draw.random.shuffle(steps)
    style = draw.one(["{}. {}", "Step {}: {}", "{}) {}"])
    body = draw.one(
        ["\n".join(style.format(n, step) for n, step in enumerate(steps, 1)), " ".join(steps)]
    )
    if draw.maybe(0.3):
        body = lines(doc, stated, [hint.sentence for hint in hints] + extra)
    return doc.finish(f"{top}\n\n{table}\n\n{body}")


TASKS = ("order new chairs|write to the landlord|repair the gate|call the printer|book the hall|"
"draft the budget|clear the attic|test the alarm|"
         "compare three offers|update the website|invite the speakers|check the lease|count the "
         "keys|paint the fence|find a caretaker|translate the flyer|visit the nursery|sell the old "
         "van")  # fmt: skip
ACTIONS = Table(
    "Action|Task|To do", TASKS,
    [
        Column("owner", "person", "Owner|Who|Responsible", "the person who has to {row}",
               "Who has to {row}?|Who will {row}?|Whose task is it to {row}?|Who agreed to {row}?|"
               "Who is responsible: {row}?|who was asked to {row}?",
               "falls to {}", "What does {} have to do?|What is the task of {}?|What did {} agree "
               "to do?"),
        Column("due", "later", "Due|By|Deadline", "the deadline to {row}",
               "By when do they have to {row}?|What is the deadline to {row}?|When must somebody "
               "{row} at the latest?|Until when is there time to {row}?|On what date is it due to "
               "{row}?|deadline {row}?",
               "is due by {}", "What is due on {}?|Which task must be done by {}?", "",
               "Which task is due first?", "Which task is due last?"),
        Column("money", "rent", "Budget|Cost", "the budget to {row}",
               "What is the budget to {row}?|How much may it cost to {row}?|How much money is "
               "there to {row}?|What sum was set aside to {row}?|How much was granted to {row}?|"
               "budget {row}?",
               "has a budget of {}", "Which task has a budget of {}?|What may cost {}?"),
    ],
    "The task '{row}'", (1, 3), (3, 5), always=("owner",),
)  # fmt: skip
MINUTES = [
    Field("date", "date", "Date|Held on", "the date of the meeting", "When was the meeting?|On "
        "which day did the {group} meet?|What is the date of the meeting?|When did the {group} "
        "meet?|What day was the meeting held on?|meeting date?", "The {group} met on {}.|The "
        "meeting was held on {}.", "", "met on|held on"),
    Field("place", "hall", "Place|Venue", "the place of the meeting", "Where was the meeting?|"
        "Where did the {group} meet?|In which room was the meeting held?|What was the place of the "
        "meeting?|At what place did they meet?|meeting place?", "The meeting took place in the {}.|"
        "We met in the {}, as the {~hall} was taken.", "", "took place in|met in"),
    Field("chair", "person", "Chair|In the chair", "the chair of the meeting",
        "Who chaired the meeting?|Who led the meeting?|Who was in the chair?|By whom was the "
        "meeting chaired?|Who presided?|who was chair?", "{} took the chair.|The meeting was led "
        "by {}.", "The chair opened the meeting.", "led by"),
    Field("secretary", "person", "Minutes|Taken by", "the writer of the minutes",
        "Who took the minutes?|Who wrote the minutes?|Who kept the record?|By whom were the "
        "minutes written?|Who was secretary?|who did the minutes?", "{} took the minutes.|The "
        "record was kept by {}.", "", "record was"),
    Field("absent", "titled", "Apologies|Absent", "the person who was absent",
        "Who was absent?|Who could not come?|Who sent apologies?|Who was missing?|From whom were "
        "there apologies?|who was not there?", "{} sent apologies.|{} could not come.", "",
        "could not come"),
    Field("next", "later", "Next meeting", "the date of the next meeting",
        "When is the next meeting?|On what date does the {group} meet again?|When do they meet "
        "next?|What is the date of the next meeting?|On which day is the following meeting?|next "
        "meeting when?", "The next meeting is on {}.|The {group} will meet again on {}.",
        "The date of the next meeting will be sent round.", "again on"),
    Field("decided", "to raise the fee by {~rate}|to close the shop on Mondays|to buy a second van|"
        "to rent out the cellar|to end the contract with {~firm}|to keep the old name",
        "Decision|Decided", "the decision", "What was decided?|What did the {group} decide?|Which "
        "decision was taken?|What did they agree on?|What was the result of the vote?|what got "
        "decided?", "It was decided {}.|After a vote the {group} agreed {}.",
        "The decision was long in coming.", "vote|agreed"),
    Field("why", "costs have risen|too few people come|the lease runs out|two members have left|"
        "the roof lets in water", "", "the reason for the decision", "Why was it decided?|For what "
        "reason did the {group} decide so?|What was the reason for the decision?|Why did they "
        "decide this?|On what grounds was the decision taken?|why did they do that?",
        "The reason given was that {}.|This was felt to be needed because {}.",
        "The reasons were discussed at length.", "because|needed"),
    Field("votes", "7 to 2|5 to 4|9 to 1|6 to 3|8 to 3|11 to 5", "Votes", "the result in votes",
        "How many votes were there for and against?|What was the count of votes?|With how many "
        "votes was it passed?|How did the votes fall?|By what count was it carried?|vote count?",
        "It was carried by {} votes.|The count was {}.", "Votes were cast in secret.",
        "count was|carried"),
    Field("guest", "person", "Guest", "the guest", "Who came as a guest?|Who was the guest?|Which "
        "guest spoke to the {group}?|Who was invited?|Who spoke as a guest?|who was the visitor?",
        "{} of {~firm} came as a guest.|As a guest, {} told of the plans.",
        "A guest told of the plans.", "as a guest"),
    Field("money", "sum", "In hand", "the money in hand", "How much money is in hand?|How much "
        "does the {group} have?|What is the balance?|What sum is on the account?|How much is left "
        "in the bank?|balance?", "The treasurer reported {} in hand.|On the account there are {}.",
        "The treasurer's report was accepted.", "account"),
]  # fmt: skip


def minutes(draw: Draw) -> Passage:
    doc = Document("minutes", draw, "minutes", "meeting")
    context = {
        "group": draw.one(
            "committee|choir board|parents' council|garden club|works council|tenants' group|"
            "sailing club|board|staff team".split("|")
        )
    }
    stated, hints = state(doc, MINUTES, context, keep=6)
    table = written(doc, ACTIONS, rows_of(doc, ACTIONS, context), context=context)
    top = draw.one(
        [
            f"Minutes of the {context['group']}",
            f"# Meeting of the {context['group']}",
            f"From the {context['group']}: what we talked about",
            f"MINUTES – {context['group']}",
        ]
    )
    rest = [hint.sentence for hint in hints] + others(doc, "The last minutes were approved.|There "
    "was coffee.|Any other business: none.|Thanks went to {~person} for the flowers.|"
        "Keys are to be handed back.|The heating was discussed.|A letter from {~firm} was read.",
        context, 1, 3)  # fmt: skip
    body = draw.one([lines, lines, prose])(doc, stated, rest)
    head = draw.one(
        ["Actions", "Who does what", "## Actions", "To do:", "The following was agreed."]
    )
    return doc.finish(f"{top}\n\n{body}\n\n{head}\n{table}")


STOPS = Table(
    "Stop|Town|Where", "place",
    [
        Column("arrive", "days_later", "Arrival|Arrive", "the day of arrival in {row}",
               "When do we arrive in {row}?|On which day do we get to {row}?|What is the date of "
               "arrival in {row}?|When does the group reach {row}?|What day do we come to {row}?|"
               "{row} arrival date?",
               "is reached on {}", "Where do we arrive on {}?|Which town do we reach on {}?", "",
               "Which town comes first?", "Which town comes last?"),
        Column("hotel", "hall", "Hotel|Night at|Stay", "the place to stay in {row}",
               "Where do we stay in {row}?|Which hotel is booked in {row}?|Where do we sleep in "
               "{row}?|What is the name of the place to stay in {row}?|At which house do we spend "
               "the night in {row}?|{row} hotel?",
               "has beds for us at the {}", "In which town is the {}?|Where is the {}?"),
        Column("by", "by coach|by train|on foot|by ferry|by bicycle|by night train|by boat|by "
            "cable car", "Travel|How|Transport", "the way to get to {row}",
               "How do we get to {row}?|How do we travel to {row}?|By what means do we reach "
               "{row}?|What takes us to {row}?|In what way do we go to {row}?|transport to {row}?",
               "is reached {}", shared=True),
        Column("see", "the old mint|the salt works|a glass factory|the cliff path|the puppet "
            "museum|the floating market|the bell tower|a cheese dairy|the fish auction|the rose "
            "maze|the clock gallery", "Visit|Sight|Programme", "the visit in {row}",
               "What do we visit in {row}?|What is there to see in {row}?|Which sight is on the "
               "plan in {row}?|What is planned to be seen in {row}?|What shall we look at in "
               "{row}?|{row} what "
               "to see?",
               "shows us {}", "Where do we see {}?|In which town is {}?"),
        Column("guide", "person", "Guide|With", "the guide in {row}",
               "Who is our guide in {row}?|Who guides us in {row}?|Who shows us round {row}?|What "
               "is the name of the guide in {row}?|With whom do we see {row}?|{row} guide?",
               "has {} as guide", "Where is {} our guide?|Which town does {} show us?"),
        Column("meal", "fish soup|a picnic|dumplings|pancakes|dinner on board|a farmer's lunch|"
            "cheese and cider", "Meal|Included", "the meal in {row}",
               "Which meal do we get in {row}?|What do we eat in {row}?|What meal is included in "
               "{row}?|What is there to eat in {row}?|Which meal is planned for {row}?|{row} food?",
               "offers {}", shared=True),
    ],
    "{row}", (2, 4), (3, 5), "arrive",
)  # fmt: skip
TRIP = [
    Field("meet", "in front of the town hall|at the main station, {~hall}|under the clock|at the "
        "harbour gate|by the fountain", "Meeting point", "the meeting point",
        "Where do we meet?|What is the meeting point?|Where do we gather?|At which place "
        "should we gather?|Where do I have to be at the start?|where to meet?",
        "We meet {}.|Please come to the meeting point {}.", "Please do not be late.", "meet"),
    Field("time", "morning", "Departure|Start", "the time of departure", "At what time do we "
        "leave?|When in the morning do we set off?|What time is departure?|At what time does the "
        "trip start?|When do I have to be there?|departure time?", "We set off at {}.|Departure is "
        "at {}; breakfast is served at {~morning}.", "", "set off at"),
    Field("price", "sum", "Price", "the price of the trip", "How much is the trip?|What does the "
        "trip cost?|What is the price of the tour?|How much does each of us pay?|What do I pay for "
        "the trip?|trip price?", "The trip costs {}.|Each of us pays {}, a single room {~rent} "
        "more.", "The price includes tips."),
    Field("leader", "person", "Leader", "the leader of the trip", "Who leads the trip?|Who is the "
        "leader?|Who is in charge of the tour?|Who leads us all the way?|Who travels with us as "
        "leader?|"
        "tour leader?", "{} leads the trip.|You will be led by {}.", "", "led by"),
    Field("pack", "a warm jacket|a passport|a torch|good shoes|a swimsuit|a sleeping bag", "Pack",
        "the thing to pack", "What should we pack?|What must not be left at home?|What do I have "
        "to take along?|What is to be packed?|Which thing is needed on the trip?|what to bring?",
        "Do not forget {}.|Please pack {}.", "Pack light.", "forget"),
    Field("phone", "phone", "Emergency phone", "the emergency number", "Which number do I call in "
        "an emergency?|What is the emergency number?|How can the leader be reached on the way?|"
        "Which phone number is for emergencies?|What number should I ring when lost?|emergency "
        "phone?", "In an emergency call {}.|Anyone lost calls {}.", "Keep your phone charged.",
        "call"),
]  # fmt: skip


def itinerary(draw: Draw) -> Passage:
    doc = Document("itinerary", draw, "travel plan", "trip")
    stated, hints = state(doc, TRIP, {}, keep=3)
    table = written(doc, STOPS, rows_of(doc, STOPS))
    top = others(
        doc,
        draw.one(
            [
                "Travel plan {~month}",
                "# Round trip with {~firm}",
                "Our tour",
                "{~firm}: your itinerary",
                "Dear travellers,\nthis is our plan.",
            ]
        ),
        {},
        1,
        1,
    )[0]
    rest = [hint.sentence for hint in hints] + others(
        doc,
        "Changes are possible.|Bags are carried for you.|We speak slowly.|The group has {~points} "
        "members.|Prices in cafés differ.|Insurance is up to you.",
        {},
        1,
        3,
    )
    body = draw.one([lines, prose])(doc, stated, rest)
    return doc.finish("\n\n".join([top, table, body] if draw.maybe() else [top, body, table]))


PROBLEMS = Table(
    "Problem|Fault|Symptom", "the lamp blinks|no water comes out|it smells burnt|the door does not "
    "open|it makes a humming noise|the display is dark|water runs out below|"
    "it stops after a minute|the lid is stuck|it gets too hot|code E4 appears|the paper jams|the "
    "fan does not turn|it vibrates a lot",
    [
        Column("cause", "the filter is blocked|a fuse has blown|the tank is empty|a seal is worn|"
            "the lock is on|the hose is bent|the sensor is dirty|it is overloaded|the belt is "
            "loose|the plug is not in|the battery is flat", "Cause|Possible cause|Reason",
            "the cause when {row}",
               "What is the cause when {row}?|Why is it that {row}?|What may be the reason if "
               "{row}?|What causes it when {row}?|For what reason could it be that {row}?|{row} "
               "why?",
               "may mean that {}", "What happens when {}?|What is the sign that {}?"),
        Column("remedy", "rinse the filter|call the service|press the reset button|fill the tank|"
            "tighten the screws|wait for ten minutes|replace the seal|turn it off and on|clean it "
            "with vinegar|straighten the hose|move it to level ground|take out half of the load",
            "Remedy|What to do|Solution", "the remedy when {row}",
               "What should I do when {row}?|What is the remedy if {row}?|How do I solve it when "
               "{row}?|What helps if {row}?|What is to be done when {row}?|{row} what to do?",
               "is mended like this: {}", "When should I {}?|In which case should one {}?"),
        Column("page", "points", "Page|See page", "the page to read when {row}",
               "Which page should I read when {row}?|On which page is it explained what to do when "
               "{row}?|Where in the manual is there more if {row}?|What page deals with it when "
               "{row}?|On what page is help if {row}?|{row} page?",
               "is explained on page {}", "What is explained on page {}?|Which problem is on page "
               "{}?"),
        Column("part", "code", "Part|Spare part|Order no.", "the spare part when {row}",
               "Which spare part do I need when {row}?|What is the number of the part to order if "
               "{row}?|Which part number helps when {row}?|What part should be ordered if {row}?|"
               "Under what number is the spare part for when {row}?|{row} spare part?",
               "needs part {}", "For which problem is part {}?|When do I need part {}?"),
    ],
    "'{row}'", (2, 3), (3, 6),
)  # fmt: skip


def troubleshooting(draw: Draw) -> Passage:
    doc = Document("troubleshooting", draw, "manual", "")
    thing, model = draw.fresh("appliance"), draw.fresh("model")
    table = written(doc, PROBLEMS, rows_of(doc, PROBLEMS))
    top = capital(
        draw.one(
            [
                f"Troubleshooting – {thing} {model}",
                f"# {model}: if something goes wrong",
                f"The {thing} does not work? Look here first.",
                f"7. Faults of the {thing}",
                f"Help for owners of the {thing} {model}",
            ]
        )
    )
    after = " " .join(others(doc, "Never open the back.|Keep "
    "children away.|Use our spare parts only.|If nothing helps, write to {~email}.|"
        "The type plate is below.|Repairs by others end the warranty.|Dry all parts well.", {}, 2,
        4))  # fmt: skip
    return doc.finish(filled(doc, f"{top}\n\n{table}\n\n{after}", {}))


KINDS = {
    "recipe": recipe,
    "minutes": minutes,
    "itinerary": itinerary,
    "troubleshooting": troubleshooting,
}
