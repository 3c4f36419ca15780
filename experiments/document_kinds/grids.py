"""Tables whose columns hold values of one type: prices by day, people by shift, sums by year.

In the other tables the type of a value gives its column away: a time, a place, a price.  Here only
the heading and the place in the row say which value is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from document_kinds.document import Document, Passage
from document_kinds.draw import MONTHS, WEEKDAYS, Draw
from document_kinds.fields import others
from document_kinds.tables import Column, Table, rows_of, written

Headings = Sequence[tuple[str, str]]
"""Headings of columns, in their order, and what a question says for each."""

DAYS = [(day, f"on {day}") for day in WEEKDAYS]
SHORT_DAYS = [(day[:3], f"on {day}") for day in WEEKDAYS]
WEEKEND = [
    ("Weekday", "on a weekday"),
    ("Saturday", "on Saturday"),
    ("Sunday", "on Sunday"),
    ("Holiday", "on a holiday"),
]
YEAR = [(month, f"in {month}") for month in MONTHS]
SHORT_YEAR = [(month[:3], f"in {month}") for month in MONTHS]
QUARTERS = [(f"Q{n}", f"in the {name} quarter") for n, name in enumerate(
    ("first", "second", "third", "fourth"), 1)]  # fmt: skip
YEARS = [(str(year), f"in {year}") for year in range(2016, 2025)]
SEASONS = [
    ("Spring", "in spring"),
    ("Summer", "in summer"),
    ("Autumn", "in autumn"),
    ("Winter", "in winter"),
]
STAY = [("1 hour", "for one hour"), ("2 hours", "for two hours"), ("Half day", "for half a day"),
        ("Day", "for a whole day"), ("Week", "for a week")]  # fmt: skip
TIMES_OF_DAY = [
    ("Morning", "in the morning"),
    ("Noon", "at noon"),
    ("Evening", "in the evening"),
    ("Night", "at night"),
]
SHIFTS = [("Early", "on the early shift"), ("Late", "on the late shift"),
          ("Night", "on the night shift")]  # fmt: skip
WEEKS = [(f"Week {n}", f"in week {n}") for n in range(1, 7)]


@dataclass(frozen=True)
class Grid:
    """A kind of such tables.

    Args:
        name: what the document is called.
        label: headings of the rows' names, separated by ``|``; they may be empty.
        rows: the names, separated by ``|``, or what draws them.
        columns: sets of headings, one of which a document has.
        value: what draws the values.
        ask: questions with ``{row}`` and ``{when}``.
        noun: what is asked for, with both.
        inverse: questions that ask for the row, with ``{when}`` and ``{}``.
        low: questions for the row of the lowest value, with ``{when}``.
        high: questions for the row of the highest value.
        above: what stands above it.
        below: sentences below it.
        shared: whether values may occur twice.
    """

    name: str
    label: str
    rows: str
    columns: Sequence[Headings]
    value: str
    ask: str
    noun: str
    above: str
    below: str
    inverse: str = ""
    low: str = ""
    high: str = ""
    shared: bool = False


GRIDS = {
    "hire": Grid(
        "price list", "|Boat|Per boat",
        "single kayak|double kayak|canoe|rowing boat|pedal boat|dinghy|paddle board|raft|skiff",
        [WEEKEND, STAY, SEASONS], "price",
        "How much is a {row} {when}?|What does a {row} cost {when}?|What do I pay for a {row} "
        "{when}?|How much do you charge for a {row} {when}?|what would a {row} be {when}",
        "the price of a {row} {when}",
        "{~place} Boat Hire|Boats on {~place} Lake, {~firm}|Our boats: what they cost",
        "Please bring a deposit of {~price}.|Children wear a life jacket.|Boats are back by "
        "{~clock}.|In storm there is no hire.|Dogs may come along.|Book at {~phone}.",
        "Which boat costs {} {when}?", "Which boat is the cheapest {when}?",
        "Which boat is the dearest {when}?"),
    "admission": Grid(
        "price list", "|Visitors|Ticket",
        "adults|children|students|pensioners|families|school classes|members|groups",
        [WEEKEND, SEASONS, TIMES_OF_DAY[:3],
         [("Online", "online"), ("At the door", "at the door"), ("By phone", "by phone")]],
        "price",
        "What do {row} pay {when}?|How much is a ticket for {row} {when}?|What is the entrance fee "
        "for {row} {when}?|How much does it cost {row} {when}?|ticket for {row} {when}, how much?",
        "the ticket price for {row} {when}",
        "{~place} Museum: admission|Tickets for the {~hall}|What a visit costs",
        "The last entry is at {~clock}.|Bags go into the lockers.|Guided tours cost {~price} "
        "more.|The café needs no ticket.|Tickets cannot be returned.",
        "Who pays {} {when}?", "Who pays least {when}?", "Who pays most {when}?"),
    "rooms": Grid(
        "price list", "Room||Room type",
        "single room|double room|family room|suite|bed in a dormitory|attic room|garden room",
        [SEASONS, SHORT_YEAR, [("1 night", "for one night"), ("3 nights", "for three nights"),
         ("Week", "for a week"), ("Month", "for a month")]], "rent",
        "How much is a {row} {when}?|What does a {row} cost {when}?|What would I pay for a {row} "
        "{when}?|What is the rate for a {row} {when}?|price of a {row} {when}?",
        "the price of a {row} {when}",
        "{~place} Guest House|Rooms and rates of the {~hall}|Staying at {~place}",
        "Breakfast costs {~price}.|Check in from {~clock}.|Cots are free.|Pets are welcome in "
        "some rooms.|Towels can be hired.", "Which room costs {} {when}?",
        "Which room is the cheapest {when}?", "Which room costs most {when}?"),
    "rota": Grid(
        "rota", "Task|Duty||Where",
        "the kitchen|the till|the front desk|deliveries|the bins|watering|the cloakroom|the bar|"
        "locking up|the phones|the stairs|the garden",
        [DAYS, SHORT_DAYS, SHIFTS, WEEKS], "given",
        "Who does {row} {when}?|Who is on {row} {when}?|Whose turn is {row} {when}?|Who is down "
        "for {row} {when}?|Who has {row} {when}?|who is doing {row} {when}",
        "the person who does {row} {when}",
        "Rota of {~place} House|Who does what, from {~date}|Duties at {~firm}",
        "Swaps go on the list by {~clock}.|Keys hang in the office.|If you are ill, ring "
        "{~phone}.|Thank you all!|New brooms are in the cellar.|Ask {~given} if you are unsure.",
        shared=True),
    "weather": Grid(
        "table", "|Place|Station", "place", [DAYS, SHORT_DAYS, YEAR, SHORT_YEAR, SEASONS], "warm",
        "How warm is it in {row} {when}?|What is the temperature in {row} {when}?|How many "
        "degrees does {row} have {when}?|What temperature is given for {row} {when}?|"
        "how hot will {row} be {when}", "the temperature in {row} {when}",
        "Outlook, issued at {~clock}|Temperatures by {~firm}|How warm it gets",
        "Nights stay cool.|All values are rounded.|The sea has {~cold}.|Showers are possible.|"
        "The station of {~place} is out of order.", "Which place has {} {when}?",
        "Where is it coldest {when}?", "Where is it warmest {when}?", shared=True),
    "stops": Grid(
        "timetable", "Stop|", "place",
        [[("Bus 1", "with the first bus"), ("Bus 2", "with the second bus"),
          ("Bus 3", "with the third bus"), ("Bus 4", "with the fourth bus")],
         [("A", "with service A"), ("B", "with service B"), ("C", "with service C"),
          ("D", "with service D")],
         [("Mon–Fri", "on weekdays"), ("Sat", "on Saturday"), ("Sun", "on Sunday")]], "time",
        "When does one get to {row} {when}?|What time is {row} reached {when}?|At what time can "
        "I get on at {row} {when}?|When is the stop at {row} {when}?|what time at {row} {when}",
        "the time at {row} {when}",
        "Line {~platform}, valid from {~date}|{~firm}: buses through {~place}|Stops and times",
        "Buses do not wait.|Fares are unchanged.|On {~date} nothing runs.|Folding bikes are "
        "free.|Ring {~phone} for lost property.", "Which stop is reached at {} {when}?"),
    "post": Grid(
        "price list", "To|Zone|", "inland|Europe|overseas|the islands|Asia|the Americas|Africa",
        [[("to 500 g", "up to 500 grams"), ("to 1 kg", "up to one kilo"),
          ("to 5 kg", "up to five kilos"), ("to 10 kg", "up to ten kilos")],
         [("Letter", "as a letter"), ("Parcel", "as a parcel"), ("Express", "by express")]],
        "price",
        "How much is post to {row} {when}?|What does sending something to {row} cost {when}?|"
        "What is charged for {row} {when}?|How much do I pay for {row} {when}?|"
        "sending to {row} {when}, price?", "the postage to {row} {when}",
        "{~firm}: what we charge|Postage from {~date}|Sending things",
        "Insurance costs {~price} more.|Collection is free.|Liquids are not taken.|Delivery "
        "takes {~weeks}.|Labels can be printed at home."),
    "stock": Grid(
        "stock list", "Article|Item|", "good",
        [[("S", "in size S"), ("M", "in size M"), ("L", "in size L"), ("XL", "in size XL")],
         [("red", "in red"), ("blue", "in blue"), ("green", "in green"), ("grey", "in grey")],
         [("Shop", "in the shop"), ("Store", "in the store"), ("On order", "on order")]],
        "number",
        "How many of the article {row} are there {when}?|How many pieces of {row} do we have "
        "{when}?|What is the stock of {row} {when}?|What number is given for {row} {when}?",
        "the stock of {row} {when}",
        "Stock on {~date}|{~firm}: what is left|Count of the shelves",
        "Damaged goods are not counted.|Next count on {~date}.|{~given} has the keys.|Returns go "
        "to the back room.", "Which article has {} {when}?",
        "Of which article are there fewest {when}?", "Of which article are there most {when}?"),
    "sales": Grid(
        "report", "Branch|Shop||Office", "place", [QUARTERS, YEARS, SHORT_YEAR], "sum",
        "What did {row} take {when}?|How much was sold in {row} {when}?|What were the sales of "
        "{row} {when}?|How much did the branch in {row} make {when}?|{row} {when}, how much?",
        "the sales of {row} {when}",
        "{~firm}, report of the year|Takings by branch|Sales, as of {~date}",
        "Rent is not included.|The branch in {~place} was closed.|Figures are provisional.|"
        "{~person} checked them.|Last year {~sum} was lost.",
        "Which branch took {} {when}?", "Which branch took least {when}?",
        "Which branch took most {when}?"),
    "lessons": Grid(
        "timetable", "Lesson|Time||Period",
        "the first lesson|the second lesson|the third lesson|the fourth lesson|the fifth lesson|"
        "the sixth lesson",
        [DAYS[:5], SHORT_DAYS[:5]],
        "Maths|Art|Music|French|History|Biology|Sport|Chemistry|Latin|Geography|Drama|Physics|"
        "English|Ethics|German",
        "What is in {row} {when}?|Which subject do we have in {row} {when}?|What is taught in "
        "{row} {when}?|Which class is in {row} {when}?|what do i have in {row} {when}",
        "the subject of {row} {when}",
        "Class {~platform}, from {~date}|Timetable of {~given}|{~place} School: lessons",
        "Breaks are {~minutes} long.|{~titled} is the class teacher.|Bring sports shoes.|The "
        "library opens at {~clock}.", shared=True),
    "bins": Grid(
        "calendar", "Street|", "street",
        [[("Grey bin", "of the grey bin"), ("Paper", "of paper"), ("Glass", "of glass"),
          ("Garden waste", "of garden waste"), ("Plastic", "of plastic")]], "date",
        "When is the collection {when} in {row}?|On which day is the pick-up {when} in {row}?|"
        "What is the date {when} for {row}?|When do they come to {row} for the collection {when}?",
        "the collection {when} in {row}",
        "{~place} District: collections|Your dates|When the lorries come",
        "Put bins out by {~clock}.|Batteries go to the shop.|Ring {~phone} if it is missed.|New "
        "bins cost {~price}.", "In which street is the collection {when} on {}?"),
    "medicine": Grid(
        "leaflet", "|For|Patients", "adults|older children|infants|people over 70|"
        "patients under 50 kg|pregnant women",
        [TIMES_OF_DAY, [("Day 1", "on the first day"), ("Days 2–4", "on days two to four"),
                        ("From day 5", "from day five on")]],
        "1 tablet|2 tablets|half a tablet|3 tablets|5 ml|10 ml|15 drops|20 drops|one sachet",
        "How much do {row} take {when}?|What is the dose for {row} {when}?|How much is given to "
        "{row} {when}?|What should {row} take {when}?", "the dose for {row} {when}",
        "{~medicine}: how to take it|Dosage of {~medicine}|{~medicine} – leaflet",
        "Swallow with water.|Do not drive.|Keep below {~warm}.|See a doctor after {~weeks}.|"
        "Shake well.", shared=True),
    "opening": Grid(
        "list of hours", "|Where", "facility", [DAYS, SHORT_DAYS, WEEKEND], "hours",
        "When is the {row} open {when}?|What are the hours of the {row} {when}?|From when to when "
        "is the {row} open {when}?|At what times can I use the {row} {when}?|{row} open {when}?",
        "the hours of the {row} {when}",
        "{~place} centre: when we are open|Hours from {~date}|Our doors",
        "On {~date} all is closed.|The last entry is half an hour before.|Groups ring {~phone}.|"
        "The car park is always open."),
    "league": Grid(
        "table", "Team|Club|", "team",
        [[("Won", "win"), ("Drawn", "draw"), ("Lost", "lose"), ("Played", "play")]], "points",
        "How many games did {row} {when}?|How often did {row} {when}?|What number of matches did "
        "{row} {when}?|how many did {row} {when}",
        "the number of games that {row} did {when}",
        "{~place} League after the last round|Standings on {~date}|The season {~year}",
        "Two teams go down.|The cup final is on {~date}.|The fair-play prize goes to {~place}.|"
        "Play-offs begin at {~clock}."),
}  # fmt: skip


def table_of(grid: Grid, headings: Headings) -> Table:
    """Return the table of a grid, with a column for each heading."""

    def at(text: str, phrase: str) -> str:
        return text.replace("{when}", phrase)

    columns = [
        Column(
            heading, grid.value, heading, at(grid.noun, phrase), at(grid.ask, phrase), "",
            inverse="" if grid.shared else at(grid.inverse, phrase),
            low=at(grid.low, phrase), high=at(grid.high, phrase), shared=grid.shared,
        )
        for heading, phrase in headings
    ]  # fmt: skip
    most = min(5, len(columns))
    # One name is left to ask for in vain.
    rows = min(6, grid.rows.count("|") or 6)
    keep = (min(3, most), most)
    return Table(grid.label, grid.rows, columns, "", keep, (3, rows), ordered=True)


def page(kind: str) -> Callable[[Draw], Passage]:
    """Return the function that draws a document of this kind."""

    def make(draw: Draw) -> Passage:
        grid = GRIDS[kind]
        doc = Document(f"grid-{kind}", draw, grid.name)
        table = table_of(grid, draw.one(grid.columns))
        top = others(doc, grid.above, {}, 1, 1)[0]
        layouts = "spaces spaces pipes markdown tabs transposed"
        body = written(doc, table, rows_of(doc, table), layouts=layouts)
        after = " ".join(others(doc, grid.below, {}, 1, draw.one([2, 4])))
        return doc.finish(f"{top}\n\n{body}\n\n{after}")

    return make


KINDS = {f"grid-{kind}": page(kind) for kind in GRIDS}
