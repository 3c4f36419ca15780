"""Leases, service contracts, insurance letters and invoices."""

from __future__ import annotations

from document_kinds.document import Document, Passage
from document_kinds.draw import Draw
from document_kinds.fields import Field, filled, headed, lines, others, prose, state
from document_kinds.tables import Column, Table, rows_of, written

LEASE = [
    Field("rent", "rent", "Monthly rent|Rent|Rent per month", "the monthly rent",
          "How much is the rent?|What does {tenant} pay a month?|What is the monthly rent for "
          "{home}?"
          "|How much rent is due each month?|What rent was agreed for {home}?|How much does the "
          "flat cost a month?",
          "The rent is {} a month, without heating.|{tenant} pays a monthly rent of {}.|"
          "The monthly rent comes to {}; the former tenant paid {~rent}.",
          "The rent may be raised once a year.|The rent is adjusted to the price index.",
          "a month"),
    Field("deposit", "rent", "Deposit|Security deposit", "the deposit",
          "How much is the deposit?|What deposit does {tenant} have to pay?|What is the amount of "
          "the deposit for {home}?"
          "|How much money is held as a deposit?|What sum must be paid as security?|How high is "
          "the deposit?",
          "A deposit of {} is payable before the keys are handed over.|The landlord holds a "
          "deposit of {}.|"
          "As security the tenant pays {}, which is given back at the end.",
          "The deposit is kept in a separate account.|The deposit is returned within {~weeks} of "
          "the tenant leaving.",
          "security"),
    Field("notice", "weeks", "Notice period|Notice", "the notice period",
          "How long is the notice period?|How much notice must {tenant} give?|How long before "
          "moving out must notice be given?"
          "|What notice is needed to end the lease?|How far ahead does the lease have to be "
          "cancelled?|What is the period of notice?",
          "Either side may end the lease with a notice of {}.|The notice period is {}.|"
          "Whoever wants to end the lease must say so {} ahead.",
          "Notice must be given in writing.|Notice by e-mail is not enough.",
          "ahead|end the lease"),
    Field("start", "date", "Start|Begin of lease|From", "the start of the lease",
          "When does the lease begin?|From when may {tenant} live in {home}?|On what date does the "
          "lease start?"
          "|When does the tenancy of {tenant} begin?|What is the first day of the lease?|When can "
          "the tenant move in?",
          "The lease begins on {}.|{tenant} may move in on {}.|The flat is let from {}; it is "
          "empty since {~date}.",
          "The lease follows the model of the owners' association.", "begins|move in"),
    Field("payday", "the first of the month|the third working day|the 15th of each month|the last "
        "Friday of the month|"
          "the fifth of the month", "Rent due|Payment day", "the day on which the rent is due",
          "When is the rent due?|By when must the rent be paid?|On which day does {tenant} pay the "
          "rent?|What day is rent day?"
          "|When must the rent be on the account?|By what day should the money arrive?",
          "The rent must arrive by {}.|Rent is due on {}, by bank transfer.|{tenant} transfers the "
          "rent by {}.",
          "The rent is paid by bank transfer.", "due|transfer"),
    Field("pets", "cats and small animals|one dog|fish and birds|a cat that is kept indoors|caged "
        "animals",
          "Pets allowed", "the pets that are allowed", "Which pets are allowed?|What animals may "
          "{tenant} keep?"
          "|What pets does the landlord permit in {home}?|Which animals can live in the flat?|What "
          "kind of pet is permitted?|What pets can I have?",
          "Of pets, {} may be kept without asking.|The landlord permits {}.|Animals other than {} "
          "need consent.",
          "Pets must not disturb the neighbours.", "animals"),
    Field("repairs", "small repairs up to {~price}|the yearly boiler check|broken window panes|"
        "worn taps and washers|"
          "light bulbs and fuses", "Paid by the tenant", "the repairs that the tenant pays",
          "Which repairs does the tenant pay?|What does {tenant} have to pay for?|What is at the "
          "tenant's expense?"
          "|What repairs must {tenant} cover?|Which costs of upkeep fall to the tenant?|What must "
          "the tenant have mended at their own cost?",
          "The tenant pays for {}; all else is for the landlord.|At the tenant's own cost are {}.",
          "Repairs must be reported to {~person} at once.", "own cost|pays for"),
    Field("keys", "two front-door keys|three keys and a fob|one key to the cellar|four keys|two "
        "keys and a gate card",
          "Keys handed over", "the keys that are handed over", "Which keys does {tenant} get?|What "
          "keys are handed over?"
          "|What is given to the tenant to open {home}?|Which keys come with the flat?|What keys "
          "did the tenant receive?|How many keys are there?",
          "On moving in the tenant receives {}.|The landlord hands over {}.",
          "Lost keys must be replaced.", "hands over"),
    Field("parking", "{~rent}|{~price}", "Parking space", "the price of the parking space",
          "How much is the parking space?|What does {tenant} pay for parking?|What does a place "
          "for the car cost?"
          "|How much does parking cost a month?|What is charged for the parking space at {home}?|"
          "What is the fee for the garage?",
          "A parking space in the yard may be rented for {} a month.|The garage is let separately "
          "for {}.",
          "The parking space in the yard is numbered.", "garage"),
    Field("quiet", "10 pm and 7 am|1 pm and 3 pm|9 pm and 6 am|11 pm and 8 am", "Quiet hours",
        "the quiet hours",
          "When must it be quiet?|What are the quiet hours?|Between which hours is noise "
          "forbidden?|When is music not allowed?"
          "|During which hours must {tenant} keep quiet?|Between what times are neighbours not to "
          "be disturbed?",
          "Between {} nobody may make noise.|Music and drilling are forbidden between {}.",
          "Quiet hours are posted in the stairwell.", "noise"),
    Field("why", "the roof will be rebuilt|the owner's daughter wants to move in|the house is to "
        "be sold|"
          "the street will be widened|the boiler must be replaced", "", "the reason why the lease "
          "is limited",
          "Why is the lease limited?|For what reason does the lease end after a fixed time?|Why is "
          "it not an open-ended lease?"
          "|Why can't {tenant} stay for longer?|What is the reason for the time limit?|why is the "
          "lease for a fixed time only?",
          "The lease is limited in time because {}.|Since {}, it cannot be extended beyond the "
          "fixed term.|"
          "It is for a fixed term, as {}.",
          "The lease is for a fixed term and cannot be extended.", "limited"),
]  # fmt: skip
LEASE_OTHERS = """The stairwell is cleaned in turn.|Bicycles belong in the cellar, not in the hall.|
Both sides have a signed copy.|The flat was last painted in {~recent}.|
Meter readings are taken on handover.|
The attic belongs to the flat of {~person}.|Smoking on the balcony is tolerated.|
Waste is sorted into four bins.|
Changes to this contract need the written form.|The neighbouring flat costs more.""".replace(
    "\n", ""
)


def lease(draw: Draw) -> Passage:
    doc = Document("lease", draw, "lease", "lease")
    context = {"tenant": draw.fresh("titled"), "home": draw.fresh("address")}
    landlord = draw.fresh(draw.one(["person", "firm"]))
    stated, hints = state(doc, LEASE, context, swap={"home": "address"}, keep=7)
    top = filled(doc, draw.one([
        "LEASE\nbetween {landlord} (landlord) and {tenant} (tenant) for the flat at {home}",
        "This lease is made between {landlord}, the landlord, and {tenant}, the tenant, for "
        "{home}.",
        "# Tenancy agreement\nLandlord: {landlord}\nTenant: {tenant}\nAddress: {home}",
        "Summary of your tenancy, {home}\nPrepared by {landlord} for {tenant}",
    ]), {**context, "landlord": landlord})  # fmt: skip
    rest = [hint.sentence for hint in hints] + others(doc, LEASE_OTHERS, context, 1, 4)
    body = draw.one([prose, headed, headed, lines])(doc, stated, rest)
    return doc.finish(f"{top}\n\n{body}")


CONTRACT = [
    Field("fee", "price", "Fee|Monthly fee|Price per month", "the monthly fee",
          "What is the monthly fee?|How much does {firm} charge a month?|What does the contract "
          "cost a month?"
          "|How much do I pay each month?|What is the price per month of the contract with {firm}?|"
          "How much is the fee?",
          "The fee is {} a month.|{firm} charges {} for each month; in the first month it is "
          "{~price}.",
          "The fee is collected by direct debit.", "a month"),
    Field("term", "one year|two years|18 months|six months|three years", "Minimum term|Term",
        "the minimum term",
          "How long is the minimum term?|For how long does the contract run at least?|What is the "
          "minimum term of the contract?"
          "|How long am I bound to {firm}?|How long must the customer stay at least?|What term was "
          "agreed?",
          "The contract runs for at least {}.|The minimum term is {}.", "After the minimum term it "
          "runs on.", "at least"),
    Field("cancel", "weeks", "Notice to cancel|Cancellation period", "the cancellation period",
          "How long before the end must the contract be cancelled?|What notice must the customer "
          "give to cancel?"
          "|How much notice does {firm} ask for?|What is the cancellation period?|How far ahead do "
          "I have to cancel?|When at the latest can I cancel?",
          "It can be cancelled {} before the end of the term.|A customer who wants to leave says "
          "so {} before the term ends.",
          "Cancellation is possible online.", "cancelled|leave"),
    Field("hotline", "phone", "Hotline|Service number|Telephone", "the number of the hotline",
          "What is the number of the hotline?|Which number should I call when something is broken?|"
          "What number reports a fault?"
          "|How can {firm} be reached by telephone?|What is the phone number of {firm}?|Which "
          "number do I ring for help?",
          "Faults are reported on {}.|The hotline of {firm} is {}; orders are taken on {~phone}.",
          "The hotline answers around the clock.", "call|number"),
    Field("late", "rate", "Interest on late payment|Late payment", "the interest on late payments",
          "What interest is charged on late payments?|How much interest is due if I pay late?|What "
          "does {firm} add if a bill is overdue?"
          "|What is the rate for late payment?|How high is the default interest?|What percentage "
          "is added to overdue bills?",
          "On late payments {} interest is charged a year.|Overdue bills grow by {} a year.",
          "Late payers get two reminders.", "interest|overdue"),
    Field("response", "four hours|two working days|one working day|30 minutes|24 hours|the next "
        "morning",
          "Response time", "the response time", "How fast does {firm} respond to a fault?|Within "
          "what time will somebody come?"
          "|What is the response time?|How soon must {firm} act after a fault report?|How long may "
          "it take until an engineer arrives?"
          "|By when does help come?",
          "An engineer comes within {}.|{firm} begins to mend a fault within {} of the report.",
          "Response times are measured from the report.", "engineer"),
    Field("court", "place", "Place of jurisdiction|Court", "the place of jurisdiction",
          "Which court is responsible?|Where are disputes heard?|What is the place of "
          "jurisdiction?|In which town would a case be tried?"
          "|Where would {firm} have to be sued?|Which town's court decides disputes?",
          "Disputes are heard in {}.|The courts of {} have jurisdiction.",
          "Disputes should first be settled by talking.",
          "jurisdiction"),
    Field("contact", "person", "Your contact|Account manager", "the account manager",
          "Who is the account manager?|Who is my contact at {firm}?|Which person looks after the "
          "contract?|Who do I turn to?"
          "|Who at {firm} is responsible for this customer?|What is the name of the contact "
          "person?",
          "Your contact at {firm} is {}.|The contract is looked after by {}; {~person} signs for "
          "the customer.",
          "The account manager calls once a year.", "looked after"),
    Field("bonus", "a free modem|two cinema tickets|a voucher for {~price}|the first month free|a "
        "bag and a cap",
          "Welcome gift", "the welcome gift", "What is the welcome gift?|What do new customers "
          "get?|What does {firm} give for signing?"
          "|Which extra comes with the contract?|What is given to those who sign?|what do i get "
          "for signing up?",
          "New customers get {}.|As a welcome {firm} adds {}.", "The welcome gift is sent by post.",
          "New customers"),
    Field("how", "through the customer page|in writing to the head office|by pressing the red "
        "button in the app|"
          "by a signed letter|with the form on the back of the bill", "Changes",
          "the way to report a change of address",
          "How is a change of address reported?|How do I tell {firm} that I have moved?|In which "
          "way are new addresses passed on?"
          "|How can customers change their address?|How must a new address be given?|by what means "
          "do i report a move?",
          "A change of address is reported {}.|Whoever moves tells {firm} {}.",
          "A change of address must be reported.", "moves"),
]  # fmt: skip
CONTRACT_OTHERS = """Spoken side agreements are not valid.|The general terms of {~recent} apply.|
If a clause is void, the others remain.|Data are stored as the law requires.|
Technical changes are possible at any time.|
{firm} may hand the work to others.|The customer keeps the equipment dry and clean.|
Bills come as PDF files.|
This page replaces the one of {~date}.|Prices include tax.""".replace("\n", "")


def contract(draw: Draw) -> Passage:
    doc = Document("contract", draw, "contract", "contract")
    what = draw.one(
        [
            "internet",
            "electricity",
            "lift maintenance",
            "gym membership",
            "cleaning",
            "alarm",
            "heating oil",
        ]
    )
    context = {"firm": draw.fresh("firm")}
    stated, hints = state(doc, CONTRACT, context, swap={"firm": "firm"}, keep=6)
    top = draw.one([
        f"Contract for {what} with {context['firm']}", f"{context['firm']}\nTerms of the {what} "
        f"contract",
        f"## {what.capitalize()} contract\nProvider: {context['firm']}\nCustomer: "
        f"{draw.fresh('person')}",
        f"Between {context['firm']} and {draw.fresh('person')} the following is agreed on {what}.",
    ])  # fmt: skip
    rest = [hint.sentence for hint in hints] + others(doc, CONTRACT_OTHERS, context, 1, 4)
    body = draw.one([prose, headed, headed, lines])(doc, stated, rest)
    return doc.finish(f"{top}\n\n{body}")


ITEMS = Table(
    "Item|Description|Position|Article", "good",
    [
        Column("price", "price", "Unit price|Price|Each", "the unit price of the {row}",
               "How much is one {row}?|What does the {row} cost?|What is the unit price of the "
               "{row}?|How much was charged for each {row}?"
               "|What is the price of a single {row}?|how much for one {row}?",
               "costs {} each", "Which item costs {} each?|What was sold at {} apiece?", "at {}",
               "Which item is the cheapest?|What has the lowest unit price?",
               "Which item is the dearest?|What has the highest unit price?"),
        Column("quantity", "1|2|3|4|5|6|8|10|12|15|20|24", "Quantity|Qty|Number",
            "the quantity of the {row}",
               "How many pieces of the {row} were ordered?|What quantity of the {row} is on the "
               "invoice?|How often was the {row} ordered?"
               "|How many of the item '{row}' were sent?|What number of the {row} was delivered?|"
               "How many units of the {row} were billed?",
               "was ordered in a quantity of {}", shared=True),
        Column("code", "code", "Article no.|Item code|Ref.", "the article number of the {row}",
               "What is the article number of the {row}?|Under which number is the {row} listed?|"
               "Which code does the {row} have?"
               "|What is the code of the {row}?|What reference belongs to the {row}?|Which item "
               "code stands for the {row}?",
               "has the number {}", "Which item has the number {}?|What is article {}?|What does "
               "the code {} stand for?"),
    ],
    "the {row}", (2, 3), (2, 5), always=("price",),
)  # fmt: skip
INVOICE = [
    Field("total", "rent", "Total|Amount due|To pay", "the total",
          "What is the total?|How much has to be paid in all?|What is the amount due?|How much "
          "does {customer} owe?"
          "|What sum must {customer} pay?|What does the invoice come to?",
          "The total comes to {}.|Please pay {} in all.|The amount due is {}."),
    Field("number", "code", "Invoice no.|Invoice number|Invoice", "the invoice number",
          "What is the invoice number?|Which number does the invoice have?|What number should be "
          "quoted when paying?"
          "|Under which number was {customer} billed?|What is the reference of the invoice?|Which "
          "invoice is this?",
          "This is invoice {}.|When paying, quote invoice {}."),
    Field("issued", "date", "Date|Invoice date|Issued", "the invoice date",
          "When was the invoice written?|What is the date of the invoice?|On which day was the "
          "invoice issued?|When did {firm} bill {customer}?"
          "|From which date is the invoice?|When was this bill made out?",
          "The invoice was issued on {}.|{firm} wrote this invoice on {}.", "", "issued|wrote"),
    Field("delivery", "date", "Delivered on|Delivery date", "the delivery date",
          "When were the goods delivered?|On what date did {customer} get the goods?|What is the "
          "delivery date?|When did the delivery arrive?"
          "|On which day were the things brought?|When did {firm} deliver?",
          "The goods were delivered on {}.|Delivery took place on {}.", "The goods were delivered "
          "in good order."),
    Field("due", "later", "Due date|Payable by|Due", "the due date",
          "When is the invoice due?|By when must the invoice be paid?|What is the due date?|Until "
          "when can {customer} pay?"
          "|On which day must the money be there at the latest?|What is the deadline for payment?",
          "Please pay by {}.|The amount is payable by {} at the latest.", "Please pay on time.",
          "at the latest"),
    Field("postage", "price", "Postage|Shipping|Carriage", "the cost of postage",
          "How much is the postage?|What does shipping cost?|What was charged for delivery?|How "
          "much did {firm} charge for sending?"
          "|What are the costs of carriage?|how much was postage?",
          "Postage of {} is included.|For shipping we charge {}.", "Postage is charged once for "
          "each order.", "sending"),
    Field("discount", "rate", "Discount|Reduction", "the discount",
          "What discount is given?|How much discount does {customer} get?|By how much is the price "
          "reduced for early payment?"
          "|How high is the discount?|What reduction is granted?|What percentage may be taken off?",
          "Within a week of receipt a discount of {} may be taken.|{customer} is granted a "
          "discount of {}.",
          "Discounts of earlier orders no longer apply.", "taken off"),
    Field("vat", "rate", "VAT|Tax rate", "the rate of tax",
          "What is the rate of tax?|How high is the VAT?|How much VAT is included?|What tax rate "
          "was applied?|What percentage of tax is added?"
          "|At what rate did {firm} charge tax?", "VAT of {} is included.|Tax was added at {}.",
          "Tax is shown where it applies."),
    Field("account", "code", "Account|Bank account", "the account to pay into",
          "To which account should the money be sent?|What is the account number?|Into which "
          "account does {customer} pay?"
          "|Where is the money to be transferred?|Which account does {firm} have?|What account "
          "number should I use?",
          "Please transfer the money to account {}.|{firm} has account {} with {~place} Bank.",
          "Our bank account has changed.", "transfer"),
    Field("clerk", "person", "Handled by|Clerk|Contact", "the clerk in charge",
          "Who handled the order?|Who at {firm} dealt with the order?|Which clerk is in charge?|"
          "Who should be asked about the bill?"
          "|Who is the contact for questions?|Who can help with this invoice?",
          "Your order was handled by {}.|Questions go to {} in the office.", "", "Questions"),
]  # fmt: skip


def invoice(draw: Draw) -> Passage:
    doc = Document("invoice", draw, "invoice", "invoice")
    context = {
        "firm": draw.fresh("firm"),
        "customer": draw.fresh(draw.one(["firm", "titled", "person"])),
    }
    stated, hints = state(
        doc, INVOICE, context, swap={"customer": "firm"}, keep=5, always=("total",)
    )
    items = written(doc, ITEMS, rows_of(doc, ITEMS))
    top = draw.one([
        f"{context['firm']}, {draw.fresh('address')}\nTo: {context['customer']}",
        f"INVOICE from {context['firm']} for {context['customer']}",
        f"Dear {context['customer']},\nthank you for your order from {context['firm']}. We billed "
        f"these items:",
    ])  # fmt: skip
    rest = [hint.sentence for hint in hints] + others(
        doc, "Thank you for your custom.|The goods remain ours until they are paid for.|We also "
        "repair what we sell.|"
        "Complaints are accepted for two weeks.|Our shop is in {~street}.", context, 0, 2,
    )  # fmt: skip
    body = draw.one([lines, lines, prose])(doc, stated, rest)
    parts = [top, items, body] if draw.maybe(0.7) else [top, body, items]
    return doc.finish("\n\n".join(parts))


KINDS = {"lease": lease, "contract": contract, "invoice": invoice}
