"""Made-up sentences that teach the sentence splitter what treebanks hardly contain.

EWT and GUM have few abbreviations before a new sentence and no line breaks.  The examples here are
contrasts: the same abbreviation inside a sentence (*the U.S. Army*) and at its end (*left the U.S.
They*), *No.* as a number and as an answer, full stops apart, headings and lists without stops.
``experiments/train_splitter.py`` learns from them beside the treebanks.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from splitter_words import (
    COMMANDS,
    COMPANIES,
    CONTACTS,
    COUNTRIES,
    DAYS,
    DEGREES,
    DEPARTMENTS,
    DETERMINERS,
    ENDINGS,
    ENUMERATIONS,
    FIRST,
    FULL_MONTHS,
    HEADINGS,
    IMPERATIVES,
    ITEMS,
    MARKS,
    MASS,
    MONTHS,
    NOTES,
    NOUNS,
    NUMBERS,
    OF_COUNTRY,
    OPENERS,
    PHRASES,
    PLACES,
    PLURALS,
    PRONOUNS,
    QUESTIONS,
    SHORT_ITEMS,
    STREETS,
    SYLLABLES,
    TITLES,
    UNITS,
    VERBS,
)

from syntagma.tasks.parsing.segmentation.layouts import joined, under, wrapped
from syntagma.text.documents import RawDocument

Maker = Callable[[], str]


class Writer:
    """Writes random sentences.

    Args:
        seed: the same seed gives the same sentences.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, items: list[str]) -> str:
        """Return one item with its ``{slots}`` filled."""
        chosen = self.random.choice(items)
        while "{" in chosen:
            before, _, rest = chosen.partition("{")
            slot, _, after = rest.partition("}")
            chosen = before + self._slot(slot) + after
        return chosen

    def _slot(self, name: str) -> str:
        number = self.random.randint
        match name:
            case "first":
                return self.random.choice(FIRST)
            case "last":
                return self.name()
            case "noun":
                return self.random.choice(NOUNS)
            case "plurals":
                return self.random.choice(PLURALS)
            case "year":
                return str(number(1500, 2025))
            case "many":
                return f"{number(1, 990)},{number(0, 999):03}"
            case _:  # few, number
                return str(number(1, 120))

    def chance(self, share: float) -> bool:
        """Return true in this share of calls."""
        return self.random.random() < share

    def name(self) -> str:
        """Return a surname or place that no list contains."""
        middle = self.random.choice(SYLLABLES) if self.chance(0.3) else ""
        name = self.random.choice(SYLLABLES) + middle + self.random.choice(ENDINGS)
        return self.random.choice(PLACES) if self.chance(0.15) else name.capitalize()

    def company(self) -> str:
        """Return the name of a company, without its suffix."""
        return self.pick(
            ["{last}", "{last} & {last}", "{last} & Sons", "{last} Motors", "{last} Oil"]
        )

    def subject(self) -> str:
        """Return a subject that starts a sentence."""
        kind = self.random.random()
        if kind < 0.35:
            return self.random.choice(PRONOUNS)
        if kind < 0.6:
            return f"{self.random.choice(DETERMINERS)} {self.random.choice(NOUNS)}"
        if kind < 0.66:
            return self.random.choice([*PLURALS, *MASS]).capitalize()
        if kind < 0.7:
            return f"{self.random.choice(NUMBERS)} {self.random.choice(PLURALS)}"
        return self.pick(["{first}", "{first}", "{first} {last}", "Mrs. {last}", "Dr. {last}"])

    def predicate(self) -> str:
        """Return a verb with what belongs to it."""
        return self.random.choice(VERBS if self.chance(0.3) else PHRASES)

    def start(self) -> str:
        """Return the subject and verb of a sentence, perhaps after an opener."""
        kind = self.random.random()
        if kind < 0.2:
            opener, subject = self.random.choice(OPENERS), self.subject()
            first = subject.split()[0]
            plain = first in PRONOUNS or first in DETERMINERS or first.lower() in PLURALS
            subject = subject[0].lower() + subject[1:] if plain and first != "I" else subject
            return f"{opener} {subject} {self.predicate()}"
        return f"{self.subject()} {self.predicate()}"

    def plain(self) -> str:
        """Return an ordinary sentence."""
        kind = self.random.random()
        if kind < 0.08:
            return self.random.choice(QUESTIONS)
        if kind < 0.16:
            return self.random.choice(COMMANDS)
        if kind < 0.24:
            verb, noun = self.random.choice(IMPERATIVES), self.random.choice(NOUNS)
            return f"{verb} {self.pick(['the', 'a', 'your'])} {noun}."
        if kind < 0.27:
            verb = self.random.choice(IMPERATIVES)
            return f"{verb} {self.pick(['well', 'it', 'them now', 'again'])}."
        if kind < 0.3:
            return f'"{self.start()}," {self.pick(["she", "he", "{first}"])} said.'
        if kind < 0.35:
            month = self.random.choice(FULL_MONTHS)
            return f"In {month} {self.random.choice(PRONOUNS[1:]).lower()} {self.predicate()}."
        return self.start() + self.random.choice("......!?"[:7])

    def time(self) -> str:
        """Return a time of day."""
        hour, minute = self.random.randint(1, 12), self.random.randint(0, 59)
        clock = f"{hour}" if self.chance(0.6) else f"{hour}:{minute:02}"
        return f"{clock} {self.random.choice(['a.m.', 'p.m.', 'p.m.', 'A.M.', 'P.M.'])}"

    def closed(self) -> str:
        """Return a sentence whose last word is an abbreviation, a letter or a number."""
        number = self._slot("few")
        ends: list[Maker] = [
            lambda: f"at {self.time()}",
            lambda: f"until {self.time()}",
            lambda: self.pick(["at {few} {last} ", "on {last} "]) + self.random.choice(STREETS),
            lambda: f"for {self.company()} {self.random.choice(COMPANIES)}",
            lambda: f"with {self.company()} {self.random.choice(COMPANIES)}",
            lambda: (
                self.pick(["to", "in", "from", "across"]) + f" the {self.random.choice(COUNTRIES)}"
            ),
            lambda: f"in {self.name()}, {self.random.choice(COUNTRIES)}",
            lambda: self.pick(["with {plurals}, {plurals}, etc.", "for {plurals}, etc."]),
            lambda: (
                self.pick(["by {first} {last} ", "like {first} {last} "])
                + self.random.choice(["Jr.", "Sr.", "Esq.", "et al."])
            ),
            lambda: f"with {number} {self.random.choice(UNITS)}",
            lambda: f"in {self.random.choice(MONTHS)}",
            lambda: f"on {self.random.choice(['Mon.', 'Tues.', 'Wed.', 'Thurs.', 'Fri.', 'Sat.'])}",
            lambda: self.pick(["for plan B.", "in group C.", "with vitamin D.", "on line A."]),
            lambda: f"in {self._slot('year')}.",
            lambda: f"in No. {number}.",
            lambda: f"in {number} {self.random.choice(['B.C.', 'A.D.', 'B.C.E.'])}",
        ]
        if self.chance(0.12):
            who = self.random.choice([*PRONOUNS[:3], self.random.choice(FIRST)])
            return f"{who} has {self.pick(['a', 'an'])} {self.random.choice(DEGREES)}"
        if self.chance(0.06):
            verb = self.random.choice(IMPERATIVES)
            return f"{verb} {number} {self.random.choice(UNITS)}"
        if self.chance(0.05):
            return f"{self.pick(['Hours:', 'Open', 'We work'])} {self.hours()}"
        if self.chance(0.1):
            street = self.random.choice(STREETS)
            return self.pick(["No. {few} {last} ", "{few} {last} "]) + street
        return f"{self.start()} {self.random.choice(ends)()}"

    def inside(self) -> str:
        """Return a sentence with an abbreviation before a capital or a number."""
        title, number = self.random.choice(TITLES), self._slot("few")
        country = self.random.choice(COUNTRIES)
        street, company = self.random.choice(STREETS), self.random.choice(COMPANIES)
        initials = " ".join(f"{self.random.choice('ABCDEFGHJKLMNPRSTW')}." for _ in range(2))
        degree, month = self.random.choice(DEGREES), self.random.choice(MONTHS)
        verb = self.predicate()
        day = self.random.choice(DAYS)
        makers = [
            *self._with_numbers(number, street, verb, day),
            *self._with_names(title, company, country, degree, verb),
            *self._with_notes(initials, month, number, country, verb),
        ]
        return self.random.choice(makers)() + "."

    def _with_numbers(self, number: str, street: str, verb: str, day: str) -> list[Maker]:
        """Return writers of sentences with times, numbers and addresses in them."""
        pick, start = self.pick, self.start
        return [
            lambda: f"{start()} at {self.time()} {pick(['on ', ''])}{day}",
            lambda: f"{start()} at {self.time()} {pick(['EST', 'in {last}', 'sharp'])}",
            lambda: f"At {self.time()} {self.random.choice(['it', 'we', 'they', *FIRST])} {verb}",
            lambda: f"{start()} at No. {number} {self.name()} {street} in {self.name()}",
            lambda: f"No. {number} {self.name()} {street} is {pick(['closed', 'in {last}'])}",
            lambda: f"No. {number} {verb}",
            lambda: f"{pick(['No. {few} {last}', '{few} {last}'])} {street} {verb}",
            lambda: (
                f"It {pick(['weighs', 'measures'])} {number} {pick(UNITS)} "
                f"{self._slot('few')} {pick(UNITS)} {pick(['and ', ''])}{verb}"
            ),
            lambda: f"{pick(IMPERATIVES)} {number} {pick(UNITS)} of {pick(['salt', '{noun}'])}",
            lambda: (
                f"{pick(['Hours:', 'Open', 'We work'])} {self.hours()} "
                f"{pick(['and', 'but not', 'in {last}', 'EST'])}"
            ),
            lambda: f"{start()} in {pick(['Symphony', 'Bus', 'Gate', 'Form'])} No. {number}",
            lambda: f"{start()} in Nos. {number} and {self._slot('few')}",
        ]

    def _with_names(
        self, title: str, company: str, country: str, degree: str, verb: str
    ) -> list[Maker]:
        """Return writers of sentences with companies, countries and titles in them."""
        pick, start = self.pick, self.start
        return [
            lambda: f"{self.company()} {company} {pick(['of {last} ', 'said it ', ''])}{verb}",
            lambda: (
                f"{self.company()} {company} {pick(['Chairman', 'President'])} {self.name()} {verb}"
            ),
            lambda: f"The {country} {pick(OF_COUNTRY)} {verb}",
            lambda: f"{start()} with the {country} {pick(OF_COUNTRY)}",
            lambda: f"In the {country} {self.random.choice(PRONOUNS[1:]).lower()} {verb}",
            lambda: f"{start()} with {pick(ENUMERATIONS)}",
            lambda: f"{pick(['{first} {last}'])}, {degree}, {verb}",
            lambda: (
                f"{self.subject()} has a {degree} "
                f"{pick(['in Physics', 'from {last} University', 'in Law', 'degree'])}"
            ),
            lambda: f"{pick(['{first} {last}'])} {pick(['Jr.', 'Sr.'])} {verb}",
            lambda: f"{title} {self.name()} {verb}",
            lambda: f"{start()} with {title} {self.name()} and {title} {self.name()}",
        ]

    def _with_notes(
        self, initials: str, month: str, number: str, country: str, verb: str
    ) -> list[Maker]:
        """Return writers of sentences with initials, notes in brackets and dates in them."""
        pick, start = self.pick, self.start
        return [
            lambda: f"{initials} {self.name()} {verb}",
            lambda: f"{pick(TITLES)} {initials} {self.name()} {verb}",
            lambda: f"{pick(TITLES)} {self.name()} of the {pick(DEPARTMENTS)} {verb}",
            lambda: f"{start()} with {pick(['{first}'])} {initials} {self.name()}",
            lambda: f"{start()} with {pick(['{first}'])} {initials[:2]} {self.name()}",
            lambda: f"The {self.random.choice(NOUNS)} ({pick(NOTES)}) {verb}",
            lambda: f"{self.name()} ({pick(NOTES)}) {verb}",
            lambda: f"{start()} ({pick(NOTES)})",
            lambda: f"{start()} on {month} {number}",
            lambda: f"{start()} on {month} {number}, {self._slot('year')}, in {self.name()}",
            lambda: f"{start()} in {month} {self._slot('year')}",
            lambda: f"{self.name()} {pick(['vs.', 'v.'])} {self.name()} {verb}",
            lambda: f"{start()}, {pick(['e.g.', 'i.e.', 'cf.'])} {self.name()}",
            lambda: (
                f"{start()} in "
                f"{pick(['Fig.', 'Vol.', 'Ch.', 'Sec.', 'Art.', 'p.', 'approx.', 'ext.'])} {number}"
            ),
            lambda: (
                f"{pick(['See', 'Visit', 'Go to', 'Ask at'])} {self.address()} "
                f"{pick(['for help', 'today', 'first', 'or call us'])}"
            ),
            lambda: f"{start()} in {self.name()}, {country}, {pick(['in {year}', 'and stayed'])}",
            lambda: f"{start()} to {pick(['Ft.', 'Mt.', 'St.'])} {self.name()}",
        ]

    def hours(self) -> str:
        """Return days and times of the week."""
        days = (
            f"{self.pick(['Mon.', 'Tue.', 'Tues.'])} {self.pick(['to', '-', 'through'])} "
            f"{self.pick(['Fri.', 'Sat.', 'Thurs.'])}"
        )
        return self.pick(
            [days, f"{days} {self.time()} to {self.time()}", f"{self.time()} to {self.time()}"]
        )

    def address(self) -> str:
        """Return the address of a page."""
        name, ending = self.name().lower(), self.pick(["app", "dev", "org", "com", "io", "co.uk"])
        path = self.pick(["", "", "/{noun}", "/{plurals}/{few}"])
        return f"{name}.{ending}{path}"

    def answer(self) -> list[str]:
        """Return *No.* as an answer, with the sentences around it."""
        number, other = self._slot("few"), self._slot("few")
        kind = self.random.randrange(6)
        if kind == 5:
            spoken = self.pick(["No.", "No.", "Yes.", "Not me.", "Come at five."])
            return [f'"{spoken}"', self.plain()]
        if kind == 0:
            return [f"Is it No. {number}?", "No.", f"It is No. {other}."]
        if kind == 1:
            return [self.random.choice(QUESTIONS), self.pick(["No.", "Yes.", "No."]), self.plain()]
        if kind == 2:
            return ["No.", self.plain()]
        if kind == 3:
            return [self.pick(["No.", "No."]), f"{self.start()}.", self.plain()]
        return [
            f"{self.start()}.",
            "No.",
            self.pick(["Not today.", "Never.", "Not {first}.", "Sorry."]),
        ]

    def apart(self) -> list[str]:
        """Return sentences and dates with a space before their full stop."""
        if self.chance(0.5):
            month = self.random.choice([*FULL_MONTHS, *(name[:3] for name in MONTHS)])
            year = self.random.randint(1900, 2025)
            form = self.random.randrange(4)
            return [
                [
                    f"{day} {month} {year} .",
                    f"{month} {day} , {year} .",
                    f"{year}-{day:02}-11 .",
                    f"{day}/{day}/{year} .",
                ][form]
                for day in self.random.sample(range(1, 29), self.random.randint(2, 4))
            ]
        sentences = [self.plain() for _ in range(self.random.randint(2, 4))]
        return [f"{sentence[:-1]} {sentence[-1]}" for sentence in sentences]


def _text(writer: Writer) -> RawDocument:
    """Return a paragraph of sentences in prose, sometimes hard-wrapped."""
    kind = writer.random.random()
    if kind < 0.13:
        sentences = writer.answer()
    elif kind < 0.2:
        sentences = writer.apart()
    else:
        makers = writer.random.choices(
            [writer.plain, writer.closed, writer.inside], [3, 4, 4], k=writer.random.randint(2, 5)
        )
        sentences = [maker() for maker in makers]
    # A closing abbreviation has its own full stop; other ends get one.
    sentences = [text if text[-1] in '.!?"' else f"{text}." for text in sentences]
    document = joined(sentences, " ")
    if writer.chance(0.25):
        document = wrapped(document, writer.random.choice([24, 40, 60, 66, 72, 72, 78, 80]))
    return document


def _lines(writer: Writer) -> RawDocument:
    """Return a heading and lines without full stops, or a heading and a paragraph."""
    heading = [writer.pick(HEADINGS)] if writer.chance(0.7) else []
    heading = [line[0].upper() + line[1:] for line in heading]
    if writer.chance(0.35):
        body = _text(writer)
        return under(heading, body)
    lists = [ITEMS, ITEMS, SHORT_ITEMS, CONTACTS]
    kind = writer.random.choice(lists)
    items = [writer.pick(kind) for _ in range(writer.random.randint(2, 7))]
    style = writer.random.random()
    if style < 0.75:
        items = [item[0].upper() + item[1:] for item in items]
    if style > 0.9:
        items = [f"{item}." for item in items]
    if writer.chance(0.3):
        mark = writer.random.choice(MARKS)
        items = [f"{mark}{item}" for item in items]
    return joined([*heading, *items], "\n")


def made_documents(n_documents: int, seed: int) -> list[RawDocument]:
    """Return made-up documents with their sentences.

    Args:
        n_documents: how many.
        seed: the same seed gives the same documents.
    """
    writer = Writer(seed)
    return [(_lines if writer.chance(0.25) else _text)(writer) for _ in range(n_documents)]
