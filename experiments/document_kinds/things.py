"""Product descriptions, specification sheets and package leaflets."""

from __future__ import annotations

from document_kinds.fields import Field
from document_kinds.forms import Form, drawn

SPEC = [
    Field("power", "power", "Power|Rated power|Power input", "the power of the {thing}",
        "What is the power of the {model}?|How many watts does the {model} need?|How much power "
        "does the {thing} use?|What is the rated power?|How strong is the {model} in watts?|What "
        "power input does the {thing} have?",
          "It takes {}.|The motor of the {model} uses {}; the smaller model uses {~power}.",
          "It switches itself off.", "watts|uses"),
    Field("volume", "litres", "Capacity|Volume|Tank", "the capacity of the {thing}",
        "How much does the {model} hold?|What is the capacity of the {model}?|How many litres go "
        "into the {thing}?|What volume does it have?|How large is the tank?|How much fits into the "
        "{thing}?",
          "It holds {}.|The tank takes {}.|Its capacity is {}.", "The tank can be taken out.",
          "holds"),
    Field("weight", "weight", "Weight|Net weight", "the weight of the {thing}",
        "How much does the {model} weigh?|What is the weight of the {model}?|How heavy is the "
        "{thing}?|What does it weigh?|How many kilos is the {thing}?|What is its net weight?",
          "It weighs {}.|The weight is {} without the box.|At {} it can be carried by one person.",
          "It is light enough to be carried.", "weighs|carried"),
    Field("size", "size_of", "Dimensions|Size|Size (w x h x d)", "the size of the {thing}",
        "How large is the {model}?|What are the dimensions of the {model}?|What is the size of the "
        "{thing}?|How much space does the {thing} need?|What does it measure?|How big is the "
        "{thing}?",
          "It measures {}.|Its dimensions are {}.", "It fits on most shelves.", "measures"),
    Field("noise", "noise", "Noise|Sound level", "the noise level of the {thing}",
        "How loud is the {model}?|What is the noise level of the {model}?|How much noise does the "
        "{thing} make?|How many decibels is it?|What sound level does the {thing} have?|How loud "
        "does it get?",
          "It is {} loud.|The noise stays at {}.", "It is quieter than the model before.", "loud"),
    Field("cable", "length", "Cable|Cord length", "the length of the cable",
        "How long is the cable?|What is the length of the cord?|How far does the cable of the "
        "{model} reach?|How many metres of cable does the {thing} have?|What cord length does the "
        "{model} have?|how long is the cord?",
          "The cable is {} long.|It comes with a cord of {}.", "The cable rolls up by itself.",
          "long"),
    Field("class", "A|B|C|D|E|F", "Energy class|Efficiency class", "the energy class of the "
        "{thing}", "Which energy class is the {model}?|What is the energy class of the {thing}?|In "
        "which efficiency class is the {model}?|What energy rating does it have?|Which class was "
        "the {thing} put in?|What class is it?",
          "It is in energy class {}.|Its efficiency class is {}.", "It saves energy."),
    Field("warranty", "years", "Warranty|Guarantee", "the warranty of the {thing}",
        "How long is the warranty?|For how long is the {model} under guarantee?|What warranty "
        "comes with the {thing}?|How many years does the maker give?|What is the guarantee period?|"
        "Until when after purchase is it repaired free of charge?",
          "The warranty is {}.|{maker} gives a guarantee of {}; on the motor it is longer.",
          "Keep the receipt for the warranty.", "gives"),
    Field("price", "rent", "Price|List price", "the price of the {thing}",
        "How much is the {model}?|What does the {model} cost?|What is the list price of the "
        "{thing}?|How much do I pay for the {thing}?|For how much is it sold?|What is its price?",
          "It costs {}.|It is sold for {}; the bag is {~price} extra.", "It is cheaper in a set.",
          "sold"),
    Field("colours", "black and white|silver, red and blue|mint and grey|cream|anthracite|white "
        "only|yellow and green|copper", "Colours|Colour", "the colours of the {thing}",
        "Which colours does the {model} come in?|What colours are there?|In which colour can I get "
        "the {thing}?|What colour is the {model}?|What is the choice of colours?|Which colour is "
        "the {thing}?",
          "It comes in {}.|You can have it in {}.", "The colour does not fade.",
          "comes in|have it in"),
    Field("made", "place", "Made in|Origin", "the place where the {thing} is made",
        "Where is the {model} made?|In which town is the {thing} built?|What is the origin of the "
        "{thing}?|Where does {maker} make it?|Where does the {model} come from?|In what place is "
        "it produced?",
          "It is made in {}.|{maker} builds it in {}; spare parts come from {~place}.",
          "It is made by hand.", "builds"),
    Field("clean", "with a damp cloth|in the dishwasher|under running water|with a soft brush|with "
        "vinegar and water|with a dry cloth only", "Cleaning|Care", "the way to clean it",
        "How is the {model} cleaned?|How do I clean the {thing}?|What should it be cleaned with or "
        "in?|In what way is the {thing} cared for?|How must the {model} be cleaned?|what is the "
        "way to clean it?",
          "Clean it {}.|It is cleaned {}.", "Clean it after each use."),
    Field("battery", "{~minutes}|{~duration}", "Battery|Runtime|Battery life", "the battery life",
        "How long does the battery last?|What is the battery life of the {model}?|For how long "
        "does it run on one charge?|How long can the {thing} be used without a socket?|What "
        "runtime does it have?|How long does one charge of the {model} last?",
          "The battery lasts {}.|On one charge it runs for {}.", "The battery can be changed.",
          "charge"),
    Field("parts", "a brush and two filters|a measuring cup|three nozzles|a carrying bag|a spare "
        "belt|a cleaning tablet and a spoon", "In the box|Supplied with", "the things in the box",
        "What is in the box besides the {thing}?|What comes with the {model}?|Which extras are "
        "supplied?|What do I get with the {thing}?|What accessories are included?|What is supplied "
        "with it?",
          "In the box you also find {}.|It is supplied with {}.", "Extras can be bought later.",
          "included"),
]  # fmt: skip
LEAFLET = [
    Field("dose", "one tablet|two capsules|half a tablet|10 ml|one sachet|five drops|15 ml",
        "Dose|Usual dose", "the usual dose", "How much {drug} should I take at a time?|What is the "
        "usual dose of {drug}?|What dose do adults take?|How much of the medicine is one dose?|"
        "What amount is taken at once?|How much {drug} is a single dose?",
          "The usual dose for adults is {}.|Adults take {} at a time; children get less.",
          "Your doctor decides on the dose.", "at a time"),
    Field("often", "twice a day|every eight hours|once a day|three times a day|every second day|in "
        "the morning and at night", "How often|Frequency", "how often to take {drug}",
        "How often should I take {drug}?|How many times is {drug} taken?|How often is the medicine "
        "used?|At what intervals is {drug} taken?|How frequently do I take it?|how often take "
        "{drug}?",
          "Take it {}.|{drug} is taken {}.|Use it {}, not more.", "", "not more"),
    Field("how", "with a glass of water|after a meal|on an empty stomach|dissolved in tea|under "
        "the tongue|without chewing", "How to take", "the way to take {drug}",
        "How is {drug} taken?|In what way should I take the medicine?|How do I swallow {drug}?|"
        "With or without what is it taken?|What is the right way to take it?|how to take {drug}?",
          "Swallow it {}.|It should be taken {}.|It works best {}.", "Children need help to take "
          "it.", "Swallow|best"),
    Field("missed", "take it as soon as you remember|wait for the next time|ask your pharmacist|"
        "skip it|take half of the usual amount", "If you forget it|Missed dose",
        "what to do about a missed dose", "What should I do if I forget a dose?|What is to be done "
        "after a missed dose?|What do I do when I forgot {drug}?|What if I did not take it in "
        "time?|How do I act after forgetting to take {drug}?|forgot to take it, what now?",
          "If you forget it, {}.|When it has been forgotten, {}.", "Try not to forget it."),
    Field("effects", "dizziness and dry mouth|a rash|headache|stomach pain and thirst|tiredness|"
        "blurred vision|a cough", "Side effects|Possible side effects",
        "the side effects of {drug}", "Which side effects can {drug} have?|What side effects are "
        "possible?|What trouble may {drug} cause?|Which unwanted effects are named?|What may "
        "happen as a side effect?|What could I feel because of {drug}?",
          "It may cause {}.|Some patients had {}.|Side effects are rare: {}.",
          "Tell your doctor of any side effects.", "cause|had"),
    Field("avoid", "grapefruit juice|alcohol|milk|liquorice|iron tablets|strong sunlight|black tea",
        "Avoid|Not with", "the things to avoid", "What must be avoided with {drug}?|What should I "
        "not have while taking {drug}?|What does not go with {drug}?|What should be avoided?|With "
        "what must {drug} not be combined?|What is forbidden during treatment?",
          "While you take it, avoid {}.|It does not go with {}.", "", "go with"),
    Field("store", "below 25 °C|in the fridge|away from light|in the original box|in a dry place|"
        "out of the bathroom", "Storage|Store", "the way to store {drug}",
        "How should {drug} be stored?|Where or how do I keep {drug}?|At what place or temperature "
        "is it kept?|How must the medicine be stored?|What is said about storage?|How do I keep "
        "the packet?",
          "Keep it {}.|It has to be stored {}.", "", "Keep it|stored"),
    Field("max", "four tablets|six capsules|30 ml|three doses|eight drops|60 ml",
        "Most in a day|Maximum per day", "the most that may be taken in a day",
        "How much {drug} may I take in a day at most?|What is the highest daily amount?|What is "
        "the maximum per day?|How much is allowed within 24 hours?|What must not be exceeded in a "
        "day?|How much {drug} a day is the limit?",
          "Never take more than {} in a day.|Within 24 hours {} is the limit.",
          "Too much of it is harmful.", "limit|more than"),
    Field("for", "hay fever|back pain|high blood pressure|a dry cough|heartburn|travel sickness|"
        "sore muscles|itching", "Used for|For", "what {drug} is for", "What is {drug} for?|What is "
        "{drug} used against?|Which complaint does {drug} treat?|For what is the medicine taken?|"
        "What does {drug} help with?|what is it good for?",
          "It is used against {}.|It helps people with {}.", "It has been in use for years.",
          "helps|against"),
    Field("age", "12 years|six years|18 years|two years|15 years", "From age|Not under",
        "the lowest age for {drug}", "From what age may {drug} be taken?|How old must one be for "
        "{drug}?|What is the lowest age?|At which age can children have it?|Under which age is "
        "{drug} not given?|who is too young for it?",
          "It is not for children under {}.|It may be given from the age of {}.",
          "Children need less of it.", "age of|under"),
    Field("length", "two weeks|ten days|four weeks|three days|six months", "Longest use|Duration",
        "the longest time of use", "For how long may {drug} be taken?|How long can I use it "
        "without asking a doctor?|What is the longest time of use?|After what time should I see a "
        "doctor?|How long does the treatment last at most?|how many days can i take it?",
          "Do not use it for longer than {} without asking a doctor.|After {} of use, see a "
          "doctor.", "Do not use it without need.", "longer than|of use"),
    Field("why", "it may make you sleepy|it thins the blood|it raises the pulse|it irritates the "
        "stomach|it reacts with light", "", "the reason for caution", "Why is caution needed with "
        "{drug}?|For what reason should I be careful?|Why does the leaflet ask for care?|What is "
        "the reason for the warning?|Why should drivers take care?|why be careful with {drug}?",
          "Be careful when driving, because {}.|Care is needed, as {}.", "Be careful when driving.",
          "because|Care"),
]  # fmt: skip
PRODUCT = [
    Field("material", "oak|recycled plastic|wool and linen|steel|birch plywood|cork|bamboo|cotton|"
        "glass|felt", "Material|Made of", "the material of the {thing}", "What is the {thing} made "
        "of?|Which material is the {thing}?|Of what does {maker} make it?|What is used to make the "
        "{thing}?|Which stuff is it made from?|What material is used?",
          "It is made of {}.|{maker} uses {} for it, no longer leather.", "The material can be "
          "recycled.", "made of"),
    Field("price", "price", "Price|Now", "the price of the {thing}", "How much is the {thing}?|"
        "What does the {thing} cost?|What is the price of the {thing}?|What do I pay for the "
        "{thing}?|For how much can I buy the {thing} now?|how much?",
          "It costs {}.|You get it for {}; it used to be {~price}.|The price is {} until {~date}.",
          "It is worth its price.", "for only|get it"),
    Field("delivery", "three working days|a week|48 hours|two to four days|ten days|a fortnight",
        "Delivery time|Delivered in", "the delivery time", "How long does delivery take?|When or "
        "after what time will it arrive?|What is the delivery time?|How fast is the {thing} sent?|"
        "How long do I have to wait for the {thing}?|within what time is it delivered?",
          "We deliver within {}.|It reaches you after {}.", "We deliver to islands as well.",
          "within|reaches"),
    Field("postage", "small", "Postage|Shipping", "the cost of postage", "How much is postage?|"
        "What does shipping cost?|What is charged for sending the {thing}?|How much are shipping "
        "costs?|What do I pay for delivery?|postage?",
          "Postage is {}.|Shipping costs {} whatever you order.", "Postage depends on the "
          "address."),
    Field("return", "14 days|30 days|100 days|four weeks|six weeks", "Returns|Return within",
        "the time to return it", "How long can I return the {thing}?|Within what time may it be "
        "sent back?|How many days do I have to send it back?|Until when after buying can it be "
        "returned?|What is the return period?|How long is the right to return the {thing}?",
          "You may send it back within {}.|If you do not like it, return it within {}.",
          "We take back what you do not like.", "send it back"),
    Field("size", "size_of", "Size|Measures", "the size of the {thing}",
        "How large is the {thing}?|What does the {thing} measure?|What is the size of the {thing}?|"
        "What are its dimensions?|How big is it?|How much room does the {thing} take?",
          "It measures {}.|Size: {}.", "There is a larger one, too."),
    Field("care", "by hand at 30 degrees|with a dry cloth|with warm soapy water|in the washing "
        "machine|with linseed oil|with a soft brush", "Care|Cleaning", "the way to clean it",
        "How do I clean the {thing}?|How is the {thing} cared for?|In which way should it be "
        "cleaned?|How must the {thing} be washed or wiped?|What care does it need?|what is the "
        "right way to clean it?",
          "Clean it {}.|It can be cleaned {}.", "It is easy to clean."),
    Field("designer", "person", "Design|Designed by", "the designer of the {thing}",
        "Who designed the {thing}?|Who is the designer of the {thing}?|Whose idea is the {thing}?|"
        "Who drew the {thing}?|By whom was it designed?|What is the name of the designer?",
          "It was designed by {}.|{} drew it for {maker}; {~person} took the pictures.",
          "The design has won prizes."),
    Field("limit", "weight", "Carries|Maximum load", "the greatest load", "How much weight can the "
        "{thing} bear?|What is the maximum load?|How heavy may things on or in it be?|What load "
        "does the {thing} carry?|How much can be put on it?|What is the most it can carry?",
          "It carries up to {}.|The maximum load is {}.", "It carries more than it looks.", "load"),
    Field("colour", "moss green|brick red|night blue|sand|mustard yellow|graphite|off-white|plum",
        "Colour", "the colour of the {thing}", "What colour is the {thing}?|Which colour does the "
        "{thing} have?|In what colour is it sold?|What is the colour of the {thing}?|Which colour "
        "is it?|colour?",
          "Its colour is {}.|We sell it in {} this year; {~month} brings more.",
          "More colours will follow.", "sell it in"),
    Field("for", "small balconies|people with bad backs|long winter evenings|children who cannot "
        "sit still|students who move often|beginners", "Best for", "the people or things it is "
        "meant for", "Who or what is the {thing} meant for?|For whom or what is it best?|What is "
        "the {thing} good for?|Whom does {maker} have in mind?|To whom is it recommended?|what is "
        "it best for?",
          "It was made for {}.|It is best for {}.", "", "made for"),
    Field("why", "the joints are glued twice|there are no screws to come loose|it is filled with "
        "air|each piece is tested|the edges are rounded", "", "the reason why it lasts",
        "Why does the {thing} last so long?|For what reason does it last?|Why will it not break "
        "soon?|What makes the {thing} last?|What is the reason that it keeps so well?|why is it so "
        "durable?",
          "It lasts because {}.|It will be with you for years, since {}.", "It lasts for years.",
          "lasts"),
]  # fmt: skip
FORMS = {
    "specification" : Form("data sheet", "", SPEC, ["{maker} {model}: technical data of the "
    "{thing}", "# {model}\nA {thing} by {maker}", "Product sheet: {thing} {model} ({maker})",
    "The {model} is a new {thing} from {maker}."],
        "Values were measured in our laboratory.|We may change details.|Tested by {~firm}.|The "
        "manual is in six languages.|Use it indoors only.|The older {~model} is no longer made.|"
        "Spare parts can be had for ten years.|Read the safety notes first.",
        {"maker" : "firm", "model" : "model", "thing" : "appliance"}, ("model",), 7,
        "lines lines prose headed faq talk",
        talks=["A customer asks about the {thing} {model} of {maker}.", "Chat about the {model}, a "
        "{thing} of {maker}"]),
    "leaflet" : Form("leaflet", "", LEAFLET, ["{drug}: information for patients\nRead this leaflet "
    "before you start.", "# {drug}", "Package leaflet: {drug}", "Your pharmacist gave you {drug}. "
    "What you need to know:"],
        "Keep this leaflet, you may want to read it again.|The packet holds {~number} pieces.|It "
        "is sold without prescription.|The active substance is made by {~firm}.|This leaflet was "
        "revised on {~date}.|Your doctor knows your case best.|{~medicine} is a similar medicine.|"
        "It tastes of orange.",
        {"drug": "medicine"}, ("drug",), 7, "prose headed lines faq talk",
        talks=["At the pharmacy, a customer asks about {drug}.", "Advice by phone about {drug}, "
        "{~date}"]),
    "product" : Form("description", "", PRODUCT, ["The {thing} by {maker}",
    "# New: our {thing}\n{maker}", "{maker} presents a {thing} that you will like.",
    "Online shop of {maker} > {thing}"],
        "We make it in small numbers.|Every piece looks a "
        "little different.|Ask for our catalogue.|We have been at work since {~recent}.|{~people} "
        "customers gave it five stars.|The box can be used again.|It goes well with our {~good}.|"
        "Please note that pictures may differ.",
        {"maker": "firm", "thing": "good"}, ("thing",), 7, "prose prose lines faq talk",
        talks=["Chat of the shop {maker}, about a {thing}", "A customer calls {maker} about the "
        "{thing}."]),
}  # fmt: skip
KINDS = {kind: drawn(kind, form) for kind, form in FORMS.items()}
