"""Biographies, interviews, job advertisements and bookings."""

from __future__ import annotations

from document_kinds.fields import Field
from document_kinds.forms import Form, drawn

TRADES = (
    "a clockmaker|a doctor|a teacher of singing|a ferryman|a printer|an innkeeper|a mapmaker|"
    "a carpenter|a chemist|a shepherd|a saddler|a glazier|a miller"
)
LIFE = [
    Field("born", "old", "Born", "the year of {who}'s birth", "When was {who} born?|In which year "
        "was {last} born?|What is the year of {who}'s birth?|What year was {last} born in?|When "
        "did {last} come into the world?|{who} born?",
          "{last} was born in {}.|{who} came into the world in {}.", "{last} was the second of "
          "four children.", "born in|came into"),
    Field("birthplace", "place", "Birthplace", "the birthplace of {who}", "Where was {who} born?|"
        "What is {last}'s birthplace?|In which town was {last} born?|Which place did {who} come "
        "from?|What town is the birthplace of {last}?|where was {last} born?",
          "Home was {}, a small town.|The birthplace, {}, had a mill and two inns.",
          "The house of birth still stands.", "Home was|birthplace"),
    Field("parent", TRADES, "Father's trade", "the trade of {last}'s father",
        "What was {last}'s father?|What did {who}'s father do?|Which trade did the father have?|"
        "What was the job of {last}'s father?|As what did the father work?|what did {last}'s dad "
        "do?",
          "The father was {}.|The family lived well, the father being {}.",
          "The father died early.", "father was|being"),
    Field("school", "place", "Studied in", "the town where {last} studied",
        "Where did {who} study?|In which town did {last} go to university?|At what place did {who} "
        "learn the trade?|Where was {last} trained?|Which town did {last} study in?|Where did "
        "{who} go for studies?",
          "{last} studied in {}.|For studies {last} went to {}, and not to {~place} as planned.",
          "{last} was a quick learner.", "studied|studies"),
    Field("teacher", "person", "Teacher", "{last}'s teacher", "Who taught {who}?|Who was {last}'s "
        "teacher?|By whom was {who} taught?|From whom did {last} learn most?|Whose pupil was "
        "{who}?|What was the name of {last}'s teacher?",
          "{last} learned most from {}.|The teacher was {}.", "The name of the teacher is lost.",
          "learned most"),
    Field("known", "a bridge of glass|the first atlas of the coast|a cure for sheep rot|a book of "
        "night songs|the tower clock|a new kind of loom|the school garden", "Known for",
        "what {last} is known for", "What is {who} known for?|For what is {last} remembered?|What "
        "made {last} famous?|Which work is {who} known for?|What did {last} become famous with?|"
        "What do people remember {who} for?",
          "{last} is known above all for {}.|Fame came with {}.", "{last} is known far beyond the "
          "county.", "Fame"),
    Field("prize", "late", "Prize", "the year of the prize", "When did {who} get the prize?|In "
        "which year was {last} given the medal?|What year was the award?|When was {who} honoured?|"
        "When did {last} receive the medal?|In what year did the prize come?",
          "In {} the academy gave {last} its medal.|The gold medal followed in {}.",
          "A medal of {last} is in the museum."),
    Field("married", "person", "Married to", "{last}'s spouse", "To whom was {who} married?|Who "
        "did {last} marry?|What was the name of {last}'s spouse?|With whom did {who} share a home?|"
        "Who was married to {last}?|Whom did {who} wed?",
          "{last} married {}.|At home there was {}, to whom {last} was married; {~person} was a "
          "close friend.", "{last} married late.", "home there"),
    Field("moved", "later_year", "Moved in", "the year of the move abroad",
        "When did {who} move abroad?|In which year did {last} go abroad?|What year did {who} leave "
        "the country?|When did {last} leave?|In what year was the move abroad?|When did {who} "
        "emigrate?",
          "In {} {last} moved abroad.|{last} left the country in {}.", "{last} never felt at home "
          "abroad.", "left|moved"),
    Field("why", "the workshop had burned down|there was no work at home|a brother had written of "
        "the sea|the new ruler closed the schools|the air was bad for the lungs", "",
        "the reason for giving up the old life", "Why did {who} leave home?|For what reason did "
        "{last} give up the old life?|What made {last} go away?|Why was {last}'s old life given "
        "up?|What was the reason for {who} to leave?|why did {last} go?",
          "{last} gave up the old life because {}.|Since {}, {last} had to begin again elsewhere.",
          "The old life was over.", "because|elsewhere"),
    Field("died", "latest_year", "Died", "the year of {who}'s death", "When did {who} die?|In "
        "which year did {last} die?|What is the year of {last}'s death?|What year did {who} pass "
        "away?|Until what year did {last} live?|{who} died?",
          "{last} died in {}.|Death came in {} after a short illness.", "{last} was buried beside "
          "a sister.", "died|Death"),
    Field("works", "{~number} drawings|{~number} letters|a house and two boats|{~number} books|a "
        "chest of tools|a garden with rare trees", "Left", "what {last} left behind",
        "What did {who} leave behind?|What has come down to us from {last}?|What remains of "
        "{last}'s property?|Which things did {last} leave?|What was found after {last}'s death?|"
        "What was left by {who}?",
          "{last} left {}.|What remains is {}.", "Much was lost in a fire.", "remains|left"),
]  # fmt: skip
INTERVIEW = [
    Field("job", "job", "", "the job of {who}", "What is {who}'s job?|What does {who} do for a "
        "living?|As what does {who} work?|Which profession does {who} have?|What work does {who} "
        "do?|what is {who} by profession?",
          "I work as {}.|I am the {} here, which not many people know.", "I like my job.",
          "work as"),
    Field("since", "recent", "", "the year in which {who} began", "Since when has {who} done this "
        "work?|When did {who} begin?|In which year did {who} start?|What year did {who} take up "
        "the work?|How long ago or when did {who} start the job?|Since what year has {who} been "
        "here?",
          "I began in {}.|I have been here since {}.", "", "began"),
    Field("rises", "morning", "", "the time when {who} gets up", "When does {who} get up?|At what "
        "time does {who} start the day?|What time does {who} rise?|When does {who}'s day begin?|"
        "At what time is {who} out of bed?|What time does {who}'s alarm ring?",
          "I get up at {}.|My alarm rings at {}; lunch is at {~clock}.", "I am no friend of alarm "
          "clocks.", "alarm"),
    Field("likes", "the quiet in the morning|talking to old people|the smell of wood|the view from "
        "the roof|solving riddles|the jokes of my colleagues", "", "what {who} likes best",
        "What does {who} like best about the work?|What does {who} enjoy most?|What is the best "
        "part of the job?|What gives {who} pleasure?|What does {who} love about it?|What makes "
        "{who} happy at work?",
          "What I like best is {}.|Most of all I enjoy {}.", "", "enjoy"),
    Field("hates", "filling in forms|the noise in summer|cold hands|long meetings|broken promises|"
        "the smell of paint", "", "what {who} likes least", "What does {who} dislike?|What does "
        "{who} like least?|What is the worst part of the job?|What annoys {who}?|What would {who} "
        "gladly do without?|What does {who} hate?",
          "I could do without {}.|The worst is {}.", "Every job has two sides.", "worst|without"),
    Field("taught", "person", "", "the person who taught {who}", "Who taught {who} the work?|From "
        "whom did {who} learn?|Who was the teacher of {who}?|Who trained {who}?|Who showed {who} "
        "how to do it?|By whom was {who} trained?",
          "I learned it from {}.|{} showed me everything; later I worked with {~person}.", "",
          "learned|showed"),
    Field("plan", "a trip to the north|a book about the work|a workshop for children|a year "
        "without travel|opening a second shop|learning to sail", "", "the plans of {who}",
        "What are {who}'s plans?|What does {who} want to do next?|What is {who} planning?|What "
        "does {who} have in mind for the future?|What comes next for {who}?|What does {who} dream "
        "of?",
          "Next I am planning {}.|For the future I have {} in mind.", "I don't talk about my "
          "plans.", "planning|mind"),
    Field("earns", "rent", "", "what {who} earns", "How much does {who} earn?|What is {who}'s pay?|"
        "How much money does {who} get a month?|What does the job pay?|What is "
        "{who}'s income?|what does {who} make a month?",
          "I earn {} a month.|It pays {} a month, and rent is {~rent}.", "You don't get rich.",
          "earn|pays"),
    Field("why", "I wanted to work outdoors|my sister dared me|the bus stopped in front of it|I "
        "could not sit still at school|they gave us soup for free", "", "the reason why {who} took "
        "up the work", "Why did {who} choose this work?|For what reason did {who} begin?|What made "
        "{who} take up the job?|Why did {who} become this?|What was the reason for {who}'s choice?|"
        "how come {who} took this up?",
          "I chose it because {}.|To be honest, {}; that is how it began.",
          "I would choose it again.", "honest|because"),
    Field("lives", "place", "", "the place where {who} lives", "Where does {who} live?|In which "
        "town does {who} live?|Where is {who}'s home?|What town does {who} come from every day?|In "
        "what place is {who} at home?|Where does {who} travel in from?",
          "I live in {}.|Home is {}, half an hour away.", "My home is small.", "Home is"),
]  # fmt: skip
JOB_AD = [
    Field("start", "date", "Start|From", "the start of the job", "When does the job begin?|From "
        "when is the {job} wanted?|What is the starting date?|When would I start?|On which day "
        "does the {job} start?|Starting when does {firm} need somebody?", "You start on {}.|The "
        "post is free from {}.", "We should like to fill the post soon.", "free from|start on"),
    Field("pay", "sum", "Pay|Salary", "the pay", "How much does the job pay?|What is the salary of "
        "the {job}?|What does {firm} pay?|How much will the {job} earn a year?|What pay is "
        "offered?|What would I earn?", "The salary is {} a year.|We pay {} a year.",
        "The pay is fair.", "pay|earn"),
    Field("hours", "20 hours|38 hours|30 hours|25 hours|15 hours|40 hours",
        "Hours a week|Weekly hours", "the weekly hours", "How many hours a week is the job?|How "
        "many hours does the {job} work?|What are the weekly hours?|How much time a week does the "
        "job take?|What hours per week are asked for?|how many hours?", "You work {} a week.|It is "
        "a post of {} a week.", "Hours can be talked about.", "a week"),
    Field("apply", "later", "Apply by|Closing date", "the closing date", "By when must one apply?|"
        "What is the closing date?|Until when does {firm} take applications?|When is the deadline "
        "to apply as {job}?|What is the last day to apply?|When do applications close?",
        "Please apply by {}.|Applications are open until {}.", "Late applications are not read.",
        "until"),
    Field("to", "person", "Apply to|Contact", "the person to apply to", "To whom should I apply?|"
        "Who takes the applications?|Who reads the applications for {job}?|To whom at {firm} do I "
        "write?|Who is the contact?|Which person gets my letter?", "Write to {}.|{} is glad to get "
        "your letter.", "We answer all letters.", "Write to|glad"),
    Field("needs", "a driving licence|two years of practice|good Spanish|a certificate in first "
        "aid|experience with children|a head for heights", "Required|You have", "what is required",
        "What is required of the {job}?|What must one have or know?|Which skill does {firm} ask "
        "for?|What do applicants need?|What is the condition for the post?|what do i need for the "
        "job?", "You need {}.|We ask for {}; the rest can be learned.", "We value good manners.",
        "need|ask for"),
    Field("offer", "six weeks of holiday|a company bicycle|free lunches|a place at the nursery|"
        "work from home on Fridays|a yearly bonus", "We offer", "what the firm offers besides pay",
        "What does {firm} offer besides pay?|Which benefit comes with the job?|What extra do staff "
        "of {firm} get?|What is offered to the {job} on top?|What benefits are there?|What do I "
        "get besides money?", "We offer {}.|On top of it you get {}.", "We treat each other well.",
        "On top|offer"),
    Field("place", "place", "Place of work|Place", "the place of work", "Where is the job?|In "
        "which town will the {job} work?|What is the place of work?|Where would I work?|At which "
        "site of {firm} is the post?|In what town is the job?", "The place of work is {}.|You work "
        "at our site in {}, not in {~place}.", "Our site is easy to reach.", "site in"),
    Field("why", "the last one retires|we are opening a second shop|a colleague is having a baby|"
        "orders have doubled|the law asks for it", "", "the reason for the opening",
        "Why is the post free?|For what reason does {firm} look for somebody?|Why is a {job} "
        "needed?|What is the reason for the opening?|Why does {firm} hire?|why are they looking?",
        "The post is free because {}.|As {}, we need help.", "We need help.", "because|need help"),
    Field("boss", "titled", "Reports to", "the superior of the {job}", "To whom does the {job} "
        "report?|Who will be the boss?|Who is the superior of the {job}?|Whom does one work under?|"
        "Who leads the team?|Who will I report to?", "You report to {}.|The team is led by {}.",
        "The team is friendly.", "report to|led by"),
    Field("term", "two years|one year|18 months|six months|the summer", "Limited to",
        "the length of the contract", "How long does the contract run?|For how long is the job "
        "limited?|For what time is the {job} hired?|What is the length of the contract?|How long "
        "will the post last?|for how long is it?", "The contract runs for {}.|The post is limited "
        "to {}.", "The contract may be made longer.", "limited"),
]  # fmt: skip
BOOKING = [
    Field("arrive", "date", "Arrival|Check-in", "the day of arrival", "When does {guest} arrive?|"
        "What is the day of arrival?|On which date is check-in?|From which day is the room booked?|"
        "When does the stay at the {hotel} begin?|When do we arrive?", "You arrive on {}.|The room "
        "is yours from {}.", "We look forward to your arrival.", "yours from"),
    Field("leave", "later", "Departure|Check-out", "the day of departure",
        "When does {guest} leave?|What is the day of departure?|On which date is check-out?|Until "
        "when is the room booked?|When does the stay at the {hotel} end?|What day do we leave?",
        "You leave on {}.|The stay ends on {}.", "Late departure can be asked for.",
        "ends on|leave on"),
    Field("number", "code", "Booking no.|Reservation|Booking code", "the booking number",
        "What is the booking number?|Under which number is the room booked?|Which code does "
        "{guest} need?|What number does the booking at the {hotel} have?|Which reservation number "
        "was given?|booking number?", "Your booking has the number {}.|Please quote {} when you "
        "write.", "Your booking is confirmed.", "quote"),
    Field("price", "rent", "Price|Total", "the price of the stay", "How much does the stay cost?|"
        "What does {guest} have to pay?|What is the price of the room?|How much is the {hotel}?|"
        "What is the total for the stay?|how much is it?", "The stay costs {}.|The price is {}, "
        "tourist tax of {~small} not included.", "The price is as agreed."),
    Field("room", "room", "Room", "the room", "Which room does {guest} get?|What room was booked?|"
        "In which room is {guest}?|What is the number of the room?|Which room is it at the "
        "{hotel}?|Where in the house does {guest} sleep?", "We have kept {} for you.|You are in "
        "{}.", "The room looks on the garden.", "kept|You are in"),
    Field("breakfast", "morning", "Breakfast from", "the time of breakfast",
        "From what time is there breakfast?|When does breakfast begin?|At what time can {guest} "
        "have breakfast?|When is breakfast at the {hotel}?|Starting at what time is breakfast "
        "served?|breakfast time?", "Breakfast is from {}.|You can have breakfast from {} on; "
        "dinner is at {~evening}.", "Breakfast is a buffet."),
    Field("cancel", "two days|24 hours|a week|three days|48 hours", "Free cancellation until "
        "(before arrival)|Cancel (before arrival)", "the time limit for cancelling",
        "Until how long before arrival can I cancel for free?|How far ahead must {guest} cancel?|"
        "How long before is cancelling free?|What is the limit for free cancellation?|How much "
        "ahead can the booking be cancelled?|When at the latest can it be cancelled for free?",
        "You can cancel free of charge until {} before arrival.|Up to {} before, cancelling costs "
        "nothing.", "Cancelling later costs money.", "cancel free|Up to"),
    Field("key", "at the bar|from the safe by the door|at the petrol station|from the neighbour|at "
        "the front desk|in the bakery", "Key", "the place to get the key",
        "Where does {guest} get the key?|Where is the key?|At which place can the key be picked "
        "up?|Where do I fetch the key of the {hotel}?|From where or whom do I get the key?|where "
        "to pick up key?", "The key can be fetched {}.|You get the key {}.",
        "The key opens the front door as well."),
    Field("parking", "price", "Parking per night|Garage", "the price of parking",
        "How much is parking?|What does a night in the garage cost?|What does {guest} pay for the "
        "car?|What is the price of parking at the {hotel}?|How much is the garage?|parking cost?",
        "Parking is {} a night.|For the garage we charge {}.", "Parking must be booked ahead.",
        "charge"),
    Field("beds", "two single beds|one double bed|a double bed and a cot|three single beds|a bunk "
        "bed", "Beds", "the beds in the room", "Which beds are in the room?|What beds does {guest} "
        "get?|What kind of bed is there?|Which beds were booked at the {hotel}?|What is there to "
        "sleep in?|How many beds of what kind are there?", "The room has {}.|There are {} in it, "
        "as you asked.", "Beds are made every day.", "has"),
    Field("wifi", "code", "Wi-Fi code|Wi-Fi", "the Wi-Fi code", "What is the Wi-Fi code?|Which "
        "code opens the Wi-Fi?|How does {guest} get online, with which code?|What password does "
        "the Wi-Fi have?|What is the code for the internet at the {hotel}?|wifi password?",
        "The Wi-Fi code is {}.|For the Wi-Fi, type {}.", "The Wi-Fi is free.", "type"),
]  # fmt: skip
FORMS = {
    "biography" : Form("biography", "", LIFE, ["{who}", "# {who}", "{who}: a life",
    "From our series on people of the county: {who}"],
        "Little is told of the early years.|A street in {~place} bears the name.|No portrait is "
        "known.|A film was made in {~recent}.|Friends praised the dry wit.|The "
        "winters were long and the roads bad.|{~person} wrote the first life.|Many stories are "
        "told, not all of them true.",
        {"who": "person"}, ("who",), 7, "prose prose prose lines headed"),
    "interview" : Form("interview", "", INTERVIEW, ["We met {who} for a talk.",
    "Interview with {who}", "{~month} interview: {who}", "Five minutes with {who}"],
        "We talked for an hour.|There was tea.|The cat listened.|It was raining outside.|The "
        "photograph is by {~person}.",
        {"who": "person"}, ("who",), 6, "talk"),
    "job-advertisement" : Form("advertisement", "job", JOB_AD, ["{firm} is looking for a {job}.",
    "# {job} wanted\n{firm}", "{firm}: {job} (m/f/x)", "Join us as {job}! – {firm}"],
        "We are a team of {~points}.|No photograph is necessary.|{~firm} is our sister firm.|You "
        "find us on the internet.|Trial days are possible.|We have existed since {~recent}.",
        {"firm" : "firm", "job" : "job"}, ("job",), 7, "prose lines headed faq talk", talks=[
        "A phone call about the post of {job} at {firm}", "Chat about a vacancy: {job}, {firm}"]),
    "booking" : Form("confirmation", "booking", BOOKING, ["{hotel}\nDear {guest}, thank you for "
    "your booking.", "Booking confirmation – {hotel}\nGuest: {guest}", "# Your stay at the "
    "{hotel}\nDear {guest},", "Dear {guest},\nwe have booked the {hotel} for you."],
        "Pets are welcome.|The sauna is closed in {~month}.|The bus stops at the door.|Our address "
        "is {~address}.|Towels are provided.|The lift goes to all floors.|Smoking is not allowed.|"
        "We can recommend the {~hall}.",
        {"guest" : "titled", "hotel" : "Hotel Anchor|Hotel Swan|Linden Inn|Harbour House|Old Mill "
        "Inn|Hotel Meridian|Castle View|Green Lodge"}, ("hotel",), 6, "prose lines lines headed "
        "talk", ["", "Your team of the {hotel}"], ["Call to the {hotel} on behalf of {guest}",
        "Chat with the {hotel} about the stay of {guest}"]),
}  # fmt: skip
KINDS = {kind: drawn(kind, form) for kind, form in FORMS.items()}
