"""Documents that are one table: what stands above and below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from document_kinds.document import Document, Passage
from document_kinds.draw import Draw
from document_kinds.fields import others
from document_kinds.table_kinds import (
    HOURS,
    MENU,
    PRICES,
    PROGRAMME,
    RESULTS,
    STAFF,
    TIMETABLE,
    WEATHER,
)
from document_kinds.tables import Table, rows_of, written


@dataclass(frozen=True)
class Sheet:
    """A table with what stands before and after it."""

    name: str
    topic: str
    table: Table
    above: Sequence[str]
    below: str


SHEETS = {
    "timetable": Sheet("timetable", "", TIMETABLE, [
        "{~place} station – departures", "Timetable of line {~platform}, valid from {~date}",
        "# Departures from {~place}",
        "{~firm} winter timetable",
        "Here are the connections from {~place} that you asked for."],
        "Change at {~place} for the coast.|Bicycles travel free after 9.|Tickets are sold on "
        "board.|No service on New Year's Day.|"
        "Please have the right change.|Dogs need a lead.|In snow, expect delays.|The waiting room "
        "is heated.|Folding bicycles count as luggage.|Times in italics are not certain."),
    "price-list": Sheet("price list", "", PRICES, [
        "{~firm} – our prices", "Price list from {~date}", "# What we charge",
        "{~firm}, {~address}\nPrices include tax.", "Prices this season"],
        "Please book ahead.|We also sell vouchers.|Ask about our offers for schools.|Cash only.|"
        "Parts are charged apart.|We are closed on holidays.|Our work comes with a guarantee.|"
        "Students show their card, please."),
    "menu": Sheet("menu", "", MENU, [
        "{~hall} – menu", "This week at the {~hall}", "# Kitchen of the {~place} Inn",
        "Lunch menu\nWater is free with every dish.", "What we cook: dishes of the season"],
        "All bread is baked here.|The kitchen closes at {~clock}.|Groups please order ahead.|Ask "
        "us about vegan dishes.|We cook with vegetables from {~place}.|Dishes can be taken away.|"
        "Tips go to the whole team."),
    "opening-hours": Sheet("list of hours", "", HOURS, [
        "Opening hours in {~place}", "{~place} leisure park: when we are open", "# Hours",
        "Valid from {~date}", "Our doors are open at these times:"],
        "Last entry is half an hour before closing.|Groups may ask for other times.|The car park "
        "never closes.|On holidays other times may hold.|Lockers take a coin.|Children come with "
        "an adult.|Lifts go to all floors."),
    "staff": Sheet("staff list", "", STAFF, [
        "Who is who at {~firm}", "Staff directory, updated {~date}", "# Our team",
        "Contacts of {~place} District Council", "The people you may want to reach:"],
        "The main entrance is in {~street}.|Please knock.|In an emergency ring the porter.|Post "
        "boxes are in the hall.|New colleagues get a badge in the first week.|The canteen is in "
        "the basement.|Changes are reported to the secretary."),
    "results": Sheet("results table", "", RESULTS, [
        "{~place} League, final table", "Results of the season {~year}",
        "# Standings after round 14", "{~place} Cup: the group stage is over.",
        "How the clubs did this year"],
        "The season begins again in spring.|Two teams go down.|All games were played on grass.|The "
        "fair-play prize will be given later.|The cup is engraved in {~place}.|Draws are not "
        "listed."),
    "programme": Sheet("programme", "", PROGRAMME, [
        "{~place} Festival, {~date}", "Programme of the day", "# Open day, {~date}",
        "Welcome to our {~event}!\nHere is what awaits you.", "Saturday's talks and workshops"],
        "Coffee is served all day.|Doors open half an hour before.|Please silence your phones.|The "
        "book stall is in the foyer.|Children are welcome.|Sign language is offered on request.|"
        "Seats are not numbered.|Photographs may be taken."),
    "weather": Sheet("forecast", "", WEATHER, [
        "Forecast for {~date}", "The weather tomorrow", "# Regional outlook",
        "{~place} weather office, issued at {~clock}", "What the next day brings:"],
        "The front moves east.|Roads may be slippery.|The warning for the hills stays in force.|"
        "The next report comes in the evening.|Boats should stay in harbour.|Pollen is low.|The "
        "week ends mild."),
}  # fmt: skip
VEHICLES = [
    ("train", "platform"),
    ("bus", "stop"),
    ("ferry", "pier"),
    ("coach", "bay"),
    ("tram", "track"),
]


def sheet(kind: str) -> Callable[[Draw], Passage]:
    """Return the function that draws a document of this kind of table."""

    def make(draw: Draw) -> Passage:
        given = SHEETS[kind]
        vehicle, stop = draw.one(VEHICLES)
        context = {"vehicle": vehicle, "stop": stop, "Stop": stop.capitalize()}
        doc = Document(kind, draw, given.name, given.topic)
        top = others(doc, draw.one(given.above), context, 1, 1)[0]
        table = given.table
        body = written(doc, table, rows_of(doc, table, context), context=context)
        after = " ".join(others(doc, given.below, context, 1, draw.one([3, 4, 7])))
        return doc.finish(
            f"{top}\n\n{body}\n\n{after}" if draw.maybe(0.8) else f"{top}\n{after}\n\n{body}"
        )

    return make


KINDS = {kind: sheet(kind) for kind in SHEETS}
