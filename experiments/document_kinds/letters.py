"""Letters and e-mails: appointments, insurance, complaints, bookings, parcels."""

from __future__ import annotations

from document_kinds.fields import Field
from document_kinds.forms import Form, drawn

DEAR = ["Dear {reader},", "Hello {reader},", "To: {reader}", "Dear {reader}\n"]
ENDS = [
    "",
    "Kind regards\n{writer}",
    "Best wishes,\n{writer}",
    "Yours sincerely, {writer}",
    "{writer}",
]

APPOINTMENT = [
    Field("date", "date", "Date|Day|When", "the date of the appointment",
          "When is the appointment?|On which day is the appointment with {doctor}?|What is the "
          "date of the appointment?|Which day does {reader} have to come?|When does {doctor} see "
          "{reader}?|What day is it?",
          "Your appointment is on {}.|{doctor} will see you on {}; the visit of {~date} was "
          "cancelled.|We have put you down for {}.",
          "The date was agreed by telephone.", "appointment is on"),
    Field("time", "clock", "Time|At", "the time of the appointment",
          "At what time is the appointment?|What time does {doctor} expect {reader}?|At what time "
          "should {reader} be there?|Which time was given for the visit?|What time is it?|When in "
          "the day is the appointment with {doctor}?",
          "Please be there at {}.|You are expected at {}; the practice opens at {~clock}.|It "
          "starts at {} sharp.", "Please be on time.", "starts at|expected at"),
    Field("room", "room", "Room|Where", "the room of the appointment",
          "In which room is the appointment?|Which room should {reader} go to?|Where in the "
          "building is it?|What room does {doctor} use?|To which room should {reader} come?|"
          "Which room is it?",
          "Come to {}, not to {~room}.|{doctor} works in {}.|You will find us in {}.",
          "The rooms have new numbers.", "find us"),
    Field("bring", "your insurance card|a list of your medicines|the old X-ray pictures|a towel|"
        "two passport photos|your vaccination card|the signed form|your glasses",
          "Please bring|Bring along", "the things to bring", "What should {reader} bring?|What "
          "must be brought to the appointment?|What do I have to bring along?|What does {doctor} "
          "need from {reader}?|Which thing must not be forgotten?|What should I take with me?",
          "Please bring {}.|Do not forget {}.|{doctor} needs {}, so please have it ready.", "",
          "forget"),
    Field("phone", "phone", "Phone|To cancel, call", "the number to call for changes",
          "Which number should {reader} call to change the appointment?|What number do I ring to "
          "cancel?|How can I reach the practice by phone?|Under which number can the appointment "
          "be moved?|What is the phone number?|Which number is for changes?",
          "If you cannot come, call {}.|To move the appointment, ring {}; the number {~phone} is "
          "for emergencies only.", "If you cannot come, tell us.", "ring"),
    Field("cancel", "24 hours|two days|48 hours|one working day|three days", "Cancel at least",
        "the time limit for cancelling",
          "How long before must the appointment be cancelled?|How much notice is needed to cancel?|"
          "Until when can {reader} cancel without paying?|How far ahead must I call off the "
          "appointment?|What is the time limit for cancelling?|how early do i have to cancel?",
          "Cancel at least {} ahead.|Whoever cancels less than {} before pays for the time.",
          "Missed appointments are charged.", "ahead|before pays"),
    Field("length", "minutes", "Duration|Takes", "the length of the appointment",
          "How long does the appointment take?|How long will {doctor} need?|How much time should "
          "{reader} plan?|What is the length of the visit?|How many minutes does it take?|For how "
          "long is the appointment?",
          "It takes about {}.|Plan {} for the visit.|{doctor} needs {}.", "It may take longer with "
          "new patients.", "Plan|needs"),
    Field("why", "a blood value was too high|the filling has come loose|the last picture was not "
        "sharp|your old plan ends|the stitches must come out|the dose has to be changed",
          "", "the reason for the appointment", "Why is the appointment needed?|For what reason "
          "does {reader} have to come?|Why does {doctor} want to see {reader}?|What is the reason "
          "for the visit?|Why was the appointment made?|Why must the patient come again?",
          "We ask you to come because {}.|As {}, {doctor} wants to see you.|{doctor} wants to see "
          "you, since {}.", "{doctor} asked us to write to you.", "because|since"),
    Field("prepare", "do not eat for six hours before|drink a litre of water before|wear loose "
        "clothes|take your tablets as usual|do not drive afterwards|leave out coffee that day",
          "", "the way to prepare", "How should {reader} prepare?|What must {reader} do or not do "
          "because of the visit?|What is to be done to prepare for the appointment?|How do I get "
          "ready for the appointment?|What preparation does {doctor} ask for?|What instruction is "
          "given for the day?",
          "To prepare, {}.|For the test, {}.|Please {}.", "", "prepare|Please"),
    Field("parking", "behind the pharmacy|in the yard|in the multi-storey in {~street}|along the "
        "canal|on the top deck|beside the church", "Parking", "the place to park",
          "Where can {reader} park?|Where is there parking?|Where should the car be left?|What "
          "place is there for cars?|Where do visitors park?|where to park?",
          "You can park {}.|Patients park {}.|There are places for cars {}.",
          "Parking is free for patients.", "for cars"),
]  # fmt: skip

INSURANCE = [
    Field("policy", "code", "Policy no.|Policy", "the policy number", "What is the policy number?|"
        "Under which number is {reader} insured?|What number does the policy have?|Which policy is "
        "concerned?|Which policy number should {reader} quote?|Which number does the contract with "
        "{firm} have?",
          "Your policy has the number {}.|Please quote policy {} whenever you write.",
          "Your policy goes on as before.", "policy {}"),
    Field("claim", "code", "Claim no.|Claim", "the claim number", "What is the claim number?|Under "
        "which number is the damage filed?|Which number was given to the claim?|What reference "
        "does the claim have?|Which number stands for the damage?|How is the claim numbered?",
          "We filed the damage under claim {}.|The claim was given the number {}.",
          "The damage has been filed.", "claim was given"),
    Field("paid", "sum", "We pay|Payment", "the amount that is paid", "How much does {firm} pay?|"
        "What sum does {reader} get?|How much will be paid for the damage?|What amount does the "
        "insurer cover?|How much money is sent to {reader}?|What is the payment?",
          "We will pay you {}.|{firm} pays {} for the damage, though you asked for {~sum}.",
          "We have looked at the bill of {~sum}.", "pays"),
    Field("excess", "rent", "Excess|Your share", "the excess", "How high is the excess?|What share "
        "must {reader} bear?|How much of the damage does {reader} pay?|What is the excess under "
        "the policy?|What amount is left for the customer to pay?|How much is taken off?",
          "An excess of {} is taken off.|You bear {} yourself.", "An excess applies as agreed.",
          "bear"),
    Field("deadline", "later", "Reply by|Deadline", "the deadline for the papers",
        "By when must {reader} send the papers?|What is the deadline?|Until when can the papers be "
        "handed in?|When must {reader} have replied?|By which date does {firm} need an answer?|"
        "When does the time to reply end?",
          "Send us the papers by {}.|We need your reply by {}; our first letter was of {~date}.",
          "Late replies delay the payment.", "reply by|papers by"),
    Field("handler", "person", "Your contact|Handled by", "the person who handles the claim",
        "Who handles the claim?|Who is responsible for the case at {firm}?|Which person deals with "
        "the damage?|Whom should {reader} ask for?|Who is in charge of the claim?|Who looks after "
        "this case?",
          "{} handles your claim.|Your case is with {}; {~person} is on leave.",
          "A colleague handles your case.", "is with"),
    Field("papers", "the receipt and two photographs|a copy of the police report|the repair bill|a "
        "list of the stolen things|an estimate by a joiner|the passenger list",
          "Papers needed|Please send", "the papers that are needed", "Which papers does {firm} "
          "need?|What should {reader} send?|What is still missing?|Which documents are required?|"
          "What has to be handed in?|What papers must be sent?",
          "We still need {}.|Please let us have {}.", "Thank you for the papers so far.", "need"),
    Field("what", "a burst pipe in the kitchen|a broken shop window|hail on the roof|a stolen "
        "bicycle|a fire in the shed|a fall on the stairs|water in the cellar", "Damage|Event",
        "the damage",
          "What is the damage?|What is the claim about?|What damage was reported?|For what does "
          "{reader} want money?|What kind of damage is it?|Which event was reported to {firm}?",
          "You reported {}.|Thank you for telling us of {}.", "You reported damage.", "telling us"),
    Field("when", "date", "Date of damage|Happened on", "the date of the damage",
        "When did it happen?|On which day did the damage occur?|What is the date of the damage?|"
        "When was the damage done?|On what date did {reader} suffer the damage?|What day was the "
        "accident?",
          "The damage occurred on {}.|It happened on {}.", "You wrote to us on {~date}.",
          "occurred|happened"),
    Field("why", "the window had been left open|the premium was paid late|the shed is not part of "
        "the policy|no lock was used|the pipe was not insulated", "", "the reason why not "
        "everything is paid",
          "Why is not everything paid?|For what reason was the claim cut?|Why does {reader} get "
          "less?|What is the reason for the cut?|Why does {firm} not pay in full?|why was it "
          "reduced?",
          "We cannot pay in full because {}.|As {}, the claim is cut.|Part is not covered, since "
          "{}.", "We cannot pay in full.", "in full"),
    Field("how", "in writing within a month|through the ombudsman|on the form overleaf|by calling "
        "{~phone}|by registered letter", "", "the way to object", "How can {reader} object?|In "
        "which way can the decision be challenged?|How does one appeal?|What can be done by "
        "someone who disagrees?|How is an objection made?|In what form must an objection be sent?",
          "You may object {}.|If you disagree, you can appeal {}.", "You have the right to "
          "disagree.", "object|appeal"),
]  # fmt: skip

COMPLAINT = [
    Field("bought", "date", "Bought on|Date of purchase", "the date of purchase",
        "When was the {thing} bought?|On which day did {writer} buy the {thing}?|What is the date "
        "of purchase?|When did the customer get the {thing}?|On what date was the {thing} sold?|"
        "When was the purchase?",
          "I bought the {thing} on {}.|The {thing} was bought on {}.", "I bought the {thing} new.",
          "bought on"),
    Field("price", "rent", "Price paid", "the price of the {thing}", "How much did the {thing} "
        "cost?|What did {writer} pay for the {thing}?|What was the price of the {thing}?|How much "
        "was paid?|For how much was it sold?|What sum did the customer spend?",
          "It cost {}.|I paid {} for it, not {~rent} as the bill says.", "It was not cheap.",
          "cost|paid"),
    Field("shop", "street", "Shop", "the shop where the {thing} was bought",
        "Where was the {thing} bought?|In which shop did {writer} buy the {thing}?|Which branch "
        "sold the {thing}?|At which of the shops was it bought?|Where did the customer get the "
        "{thing}?|From which branch is the {thing}?",
          "It comes from your branch in {}.|I got it at your shop in {}.",
          "Your shop was full that day.", "branch in"),
    Field("fault", "the lid does not close|it leaks from below|the motor hums and stops|the "
        "display stays dark|a leg is loose|the plug gets hot|it smells of oil|one wheel is missing",
          "Fault|Problem", "the fault of the {thing}", "What is wrong with the {thing}?|Which "
          "fault does the {thing} have?|What is the matter with it?|What does {writer} complain "
          "about?|What problem is there with the {thing}?|What does not work?",
          "The trouble is that {}.|Now {}.|Since then {}.", "", "trouble|Now"),
    Field("since", "the second day|last weekend|the first use|early May|the move|Easter", "Since",
        "the time since when it has been faulty", "Since when has it been faulty?|How long has the "
        "{thing} had the fault?|From when on did the {thing} fail?|When did the trouble begin?|"
        "Since what time does {writer} have trouble?|When did the fault first show?",
          "It has been like this since {}.|The fault has been there since {}.",
          "It was fine at first.", "been there|like this"),
    Field("wants", "my money back|a new one|a free repair|half of the price back|a spare part|an "
        "apology", "I ask for", "what the customer wants", "What does {writer} want?|What does the "
        "customer ask for?|Which settlement does {writer} want?|What would settle the matter?|"
        "Which "
        "remedy does {writer} demand?|What is asked for in the letter?",
          "I ask for {}.|What I want is {}.|Please let me have {}.", "I have been patient.",
          "ask for|I want"),
    Field("deadline", "later", "By", "the deadline that the customer sets",
        "By when does {writer} want an answer?|What deadline does the customer set?|Until when "
        "will {writer} wait?|By which date should the firm act?|When does the patience of {writer} "
        "end?|What is the last date for a reply?",
          "I expect to hear from you by {}.|Please reply by {}.", "Please write to me.",
          "reply by|you by"),
    Field("who", "person", "Spoke to", "the person the customer spoke to",
        "Who did {writer} speak to?|Whom has {writer} already told?|Which colleague dealt with it "
        "before?|Who promised to help?|With whom did the customer talk in the shop?|Who had been "
        "told before?",
          "I spoke to {} about it.|{} promised to help me, but nothing was done.",
          "I spoke to one of your colleagues about it.", "promised"),
    Field("order", "code", "Order no.|Receipt no.", "the order number", "What is the order number?|"
        "Under which number was the {thing} ordered?|Which receipt belongs to it?|What number does "
        "the receipt have?|Which order is it about?|What reference does {writer} give?",
          "The order number is {}.|It was order {}.", "I enclose the receipt.", "order"),
    Field("why", "I need it for work|guests are coming|my mother cannot do without it|we are "
        "moving soon|the market opens next week", "", "the reason for the hurry",
        "Why is it urgent?|For what reason is {writer} in a hurry?|Why can't {writer} wait?|What "
        "makes the matter urgent?|Why does the customer need it soon?|why the hurry?",
          "It is urgent because {}.|Please hurry, as {}.", "It is urgent.", "hurry|because"),
]  # fmt: skip
LETTER = {"reader": "titled", "writer": "person"}
FORMS = {
    "appointment" : Form("letter", "appointment", APPOINTMENT, [f"{dear}\nwe are writing about "
    f"your visit to {{doctor}}." for dear in DEAR] + ["From: {writer}\nTo: {reader}\nSubject: your "
    "appointment with {doctor}"],
        "The lift is out of order.|New patients fill in a form first.|Our practice has moved to "
        "{~street}.|There is a play corner for children.|Masks are no longer required.|You can "
        "reach us by bus.|{~doctor} joined the practice in {~month}.|Your file is complete.|We "
        "remind all patients in this way.",
        {**LETTER, "doctor": "doctor"}, ("doctor",), 6, "prose prose lines talk", ENDS,
        ["Call of {~clock}: a relative of {reader} asks about the visit to {doctor}.",
        "Chat log, practice of {doctor}, about {reader}", "{reader} has an appointment with "
        "{doctor}. From the transcript of a call:"]),
    "insurance" : Form("letter", "insurance", INSURANCE, [f"{{firm}}\n\n{dear}" for dear in DEAR] +
    ["Subject: your insurance with {firm}\nDear {reader},"],
        "Our office is in {~place}.|Your premium stays the same.|A copy went to the landlord.|"
        "{~firm} was asked for an opinion.|We are sorry for the trouble.|Keep this letter with "
        "your contract.|The bank needs two days for a transfer.|Your next bill comes in {~month}.",
        {**LETTER, "firm": "firm"}, (), 6, "prose prose lines", ENDS),
    "complaint" : Form("letter", "complaint", COMPLAINT, ["To {firm}\n\nDear Sir or Madam,\nI am "
    "writing about a {thing}.", "Subject: complaint ({thing})\nTo: {firm}",
    "{firm}, customer service\n\nComplaint about a {thing}", "Dear team of {firm},\nmy {thing} is "
    "on my mind."],
        "I have been a customer since {~recent}.|My neighbour has had better luck.|I have kept the "
        "box.|The manual is of no help.|A friend had a look at it.|I called on {~date} and nobody "
        "answered.|I read that others have the same trouble.|I used it with care.",
        {"writer" : "person", "firm" : "firm", "thing" : "appliance"}, ("thing",), 6,
        "prose prose prose lines",
        ["Regards\n{writer}", "{writer}\n{~address}", "With best wishes, {writer}"]),
}  # fmt: skip
KINDS = {kind: drawn(kind, form) for kind, form in FORMS.items()}
