"""Draws the values of a document: every document keeps to one style of dates, times and prices."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from document_kinds import words

Option = TypeVar("Option")
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
]  # fmt: skip
COUNTS = "two three four five six seven eight nine ten twelve".split()
DATES: list[Callable[[datetime.date], str]] = [
    lambda day: f"{day.day} {MONTHS[day.month - 1]}",
    lambda day: f"{day.day} {MONTHS[day.month - 1]} {day.year}",
    lambda day: f"{MONTHS[day.month - 1]} {day.day}",
    lambda day: f"{MONTHS[day.month - 1]} {day.day}, {day.year}",
    lambda day: f"{WEEKDAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1]}",
    lambda day: f"{WEEKDAYS[day.weekday()][:3]} {day.day} {MONTHS[day.month - 1][:3]}",
    lambda day: f"{day.day:02}/{day.month:02}/{day.year}",
    lambda day: f"{day.day:02}.{day.month:02}.{day.year}",
    lambda day: day.isoformat(),
]
TIMES: list[Callable[[int, int], str]] = [
    lambda hour, minute: f"{hour}:{minute:02}",
    lambda hour, minute: f"{hour:02}:{minute:02}",
    lambda hour, minute: f"{hour:02}.{minute:02}",
    lambda hour, minute: f"{(hour - 1) % 12 + 1}:{minute:02} {'am' if hour < 12 else 'pm'}",
    lambda hour, minute: f"{(hour - 1) % 12 + 1}.{minute:02} {'a.m.' if hour < 12 else 'p.m.'}",
]
MONEY = [
    "€ {}", "€{}", "{} €", "EUR {}", "{} euros", "£{}", "£{}", "${}", "{} kr", "CHF {}",
    "{} dollars",
]  # fmt: skip


class Draw:
    """Draws values by the name of their kind; none is drawn twice in a document.

    ``size`` keeps the number behind a value, so that the cheapest or the earliest can be found.
    """

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.used: list[str] = []
        self.size: dict[str, float] = {}
        self._date = source.choice(DATES)
        self._time = source.choice(TIMES)
        self._money = source.choice(MONEY)
        self._cents = source.random() < 0.6
        self._start = datetime.date(2024, 1, 1) + datetime.timedelta(days=source.randrange(2000))
        self._percent = source.choice(["{:g}%", "{:g}%", "{:g} %", "{:g} per cent"])
        self._minutes = source.choice(["{} minutes", "{} min", "{} minutes", "{}′"])
        self._code = source.choice(["{}-{:05}", "{}{:04}", "{}/{:04}", "{} {:06}"])
        self._latest = self._start
        self._phones = source.choice(["01632 960{:03}", "020 7946 0{:03}", "07700 900{:03}",
                                      "ext. {:03}", "+44 1632 960{:03}"])  # fmt: skip

    def one(self, options: Sequence[Option]) -> Option:
        return self.random.choice(options)

    def maybe(self, share: float = 0.5) -> bool:
        return self.random.random() < share

    def some(self, options: Sequence[Option], low: int, high: int) -> list[Option]:
        """Return between ``low`` and ``high`` of the options, in random order."""
        return self.random.sample(options, min(len(options), self.random.randint(low, high)))

    def fresh(self, kind: str) -> str:
        """Return a value that this document does not have: of a method's name, or of ``a|b|c``."""
        for _ in range(200):
            if "|" in kind:
                value = self.one(kind.split("|"))
            else:
                method: Callable[[], str] = getattr(self, kind)
                value = method()
            if value not in self.used:
                self.used.append(value)
                return value
        raise LookupError(f"no further value of the kind {kind!r}")

    def _sized(self, text: str, size: float) -> str:
        self.size[text] = size
        return text

    # Names

    def person(self) -> str:
        return f"{self.one(words.GIVEN)} {self.one(words.FAMILY)}"

    def given(self) -> str:
        return self.one(words.GIVEN)

    def titled(self) -> str:
        return f"{self.one(['Dr', 'Ms', 'Mr', 'Mrs', 'Prof.'])} {self.one(words.FAMILY)}"

    def doctor(self) -> str:
        return f"Dr {self.one(words.FAMILY)}"

    def place(self) -> str:
        start = self.one(words.PLACE_STARTS)
        return start + self.one([end for end in words.PLACE_ENDS if end[0] != start[-1]])

    def street(self) -> str:
        return f"{self.one(words.STREETS)} {self.one(words.STREET_ENDS)}"

    def address(self) -> str:
        return f"{self.random.randint(1, 180)} {self.street()}"

    def firm(self) -> str:
        return f"{self.one([self.one(words.FAMILY), self.place()])} {self.one(words.FIRM_ENDS)}"

    def model(self) -> str:
        number = self.random.randint(1, 99) * self.one([10, 5, 100])
        return f"{self.one(words.BRANDS)} {self.one(['', 'X', 'S', 'K', 'M-'])}{number}"

    def team(self) -> str:
        return f"{self.place()} {self.one(words.TEAMS)}"

    def medicine(self) -> str:
        return self.one(words.MEDICINES)

    def appliance(self) -> str:
        return self.one(words.APPLIANCES)

    def good(self) -> str:
        return self.one(words.GOODS)

    def dish(self) -> str:
        return self.one(words.DISHES)

    def service(self) -> str:
        return self.one(words.SERVICES)

    def facility(self) -> str:
        return self.one(words.FACILITIES)

    def job(self) -> str:
        return self.one(words.JOBS)

    def department(self) -> str:
        return self.one(words.DEPARTMENTS)

    def event(self) -> str:
        return self.one(words.EVENTS)

    def talk(self) -> str:
        talk = self.one(words.TALKS)
        return talk[0].upper() + talk[1:]

    # Places in a building, numbers to call

    def room(self) -> str:
        number = self.random.randint(1, 4) * 100 + self.random.randint(1, 40)
        return self.one([f"Room {number}", f"Room {self.one('ABCDEF')}{number % 100}", f"{number}"])

    def hall(self) -> str:
        name = self.one([*words.STREETS, *words.FAMILY])
        return f"{name} {self.one(['Hall', 'Room', 'Theatre', 'Studio', 'Lounge'])}"

    def platform(self) -> str:
        return self.one([str(self.random.randint(1, 14)), f"{self.random.randint(1, 9)}a"])

    def phone(self) -> str:
        return self._phones.format(self.random.randint(100, 999))

    def email(self) -> str:
        name = self.one([self.one(words.FAMILY).lower(), self.one(["info", "office", "help"])])
        return f"{name}@{self.place().lower()}.example"

    def website(self) -> str:
        return f"www.{self.place().lower()}-{self.one(words.STREETS).lower()}.example"

    def code(self) -> str:
        letters = "".join(self.random.choices("ABCDEFGHKLMNPRSTUVWXYZ", k=2))
        return self._code.format(letters, self.random.randint(10, 9999))

    # Time

    def day(self) -> datetime.date:
        return self._start + datetime.timedelta(days=self.random.randrange(240))

    def date(self) -> str:
        return self._dated(self.day())

    def later(self) -> str:
        """Return a date after all that were drawn."""
        return self._dated(self._latest + datetime.timedelta(days=self.random.randint(3, 45)))

    def days_later(self) -> str:
        """Return a date one to four days after the last."""
        return self._dated(self._latest + datetime.timedelta(days=self.random.randint(1, 4)))

    def _dated(self, day: datetime.date) -> str:
        self._latest = max(self._latest, day)
        return self._sized(self._date(day), day.toordinal())

    def weekday(self) -> str:
        return self.one(WEEKDAYS)

    def month(self) -> str:
        return self.one(MONTHS)

    def year(self) -> str:
        year = self.random.randint(1861, 2023)
        return self._sized(str(year), year)

    def old(self) -> str:
        return str(self.random.randint(1795, 1840))

    def later_year(self) -> str:
        return str(self.random.randint(1860, 1869))

    def late(self) -> str:
        return str(self.random.randint(1870, 1879))

    def latest_year(self) -> str:
        return str(self.random.randint(1880, 1899))

    def recent(self) -> str:
        return str(self._start.year - self.random.randint(2, 25))

    def time(self) -> str:
        hour, minute = self.random.randint(6, 21), self.random.randrange(0, 60)
        return self._sized(self._time(hour, minute), hour * 60 + minute)

    def clock(self) -> str:
        hour, minute = self.random.randint(7, 21), self.one([0, 0, 15, 30, 30, 45])
        return self._sized(self._time(hour, minute), hour * 60 + minute)

    def hours(self) -> str:
        start, end = self.random.randint(6, 11), self.random.randint(13, 21)
        half = self.one([0, 30])
        mark = self.one([" to ", "–", " – ", "-"])
        return f"{self._time(start, half)}{mark}{self._time(end, self.one([0, 30]))}"

    def morning(self) -> str:
        hour, minute = self.random.randint(5, 9), self.one([0, 10, 15, 20, 30, 45])
        return self._sized(self._time(hour, minute), hour * 60 + minute)

    def evening(self) -> str:
        hour, minute = self.random.randint(16, 21), self.random.randrange(60)
        return self._sized(self._time(hour, minute), hour * 60 + minute)

    def minutes(self) -> str:
        number = self.random.randint(1, 18) * 5
        return self._sized(self._minutes.format(number), number)

    def duration(self) -> str:
        number, unit = self.one(COUNTS), self.one(["hours", "days", "weeks", "months"])
        return f"{number} {unit}"

    def weeks(self) -> str:
        return self.one([f"{self.one(COUNTS)} weeks", f"{self.random.randint(5, 60)} days",
                         f"{self.one(COUNTS)} months"])  # fmt: skip

    def years(self) -> str:
        return f"{self.one(COUNTS)} years"

    # Amounts

    def _price(self, number: int, cents: str) -> str:
        text = f"{number:,}" if number >= 10000 or self.maybe(0.3) else str(number)
        return self._sized(self._money.format(text + cents), number + float(f"0{cents or '.0'}"))

    def price(self) -> str:
        cents = self.one([".50", ".00", ".20", ".90", ".75"]) if self._cents else ""
        return self._price(self.random.randint(2, 95), cents)

    def cheap(self) -> str:
        cents = self.one([".50", ".00", ".20", ".90", ".80"]) if self._cents else ""
        return self._price(self.random.randint(3, 29), cents)

    def dear(self) -> str:
        cents = self.one([".50", ".00", ".20", ".90", ".80"]) if self._cents else ""
        return self._price(self.random.randint(31, 160), cents)

    def small(self) -> str:
        return self._price(self.random.randint(1, 9), self.one([".50", ".00", ".20", ".90", ".60"]))

    def rent(self) -> str:
        return self._price(self.random.randint(20, 240) * 10, ".00" if self._cents else "")

    def sum(self) -> str:
        return self._price(self.random.randint(3, 900) * self.one([10, 50, 1000]), "")

    def percent(self) -> str:
        number = self.random.randint(2, 95)
        return self._sized(self._percent.format(number), number)

    def rate(self) -> str:
        number = self.random.randint(2, 40) / 2
        return self._sized(self._percent.format(number), number)

    def number(self) -> str:
        number = self.random.randint(11, 980)
        return self._sized(str(number), number)

    def points(self) -> str:
        number = self.random.randint(3, 99)
        return self._sized(str(number), number)

    def people(self) -> str:
        return f"{self.random.randint(12, 900)}"

    def weight(self) -> str:
        number = self.random.randint(12, 480) / 10
        return self._sized(f"{number:g} kg", number)

    def power(self) -> str:
        number = self.random.randint(4, 48) * 50
        return self._sized(f"{number:,} W" if self.maybe() else f"{number} W", number)

    def litres(self) -> str:
        number = self.random.randint(4, 90) / self.one([1, 10])
        return f"{number:g} {self.one(['litres', 'l'])}"

    def length(self) -> str:
        number = self.random.randint(5, 60) / 10
        return self._sized(f"{number:g} {self.one(['m', 'metres'])}", number)

    def size_of(self) -> str:
        numbers = [str(self.random.randint(12, 95)) for _ in range(3)]
        return " x ".join(numbers) + " cm" if self.maybe() else " × ".join(numbers) + " cm"

    def noise(self) -> str:
        number = self.random.randint(28, 82)
        return self._sized(f"{number} dB", number)

    def warm(self) -> str:
        return self._degrees(self.random.randint(12, 36))

    def cold(self) -> str:
        return self._degrees(self.random.randint(-14, 11))

    def _degrees(self, number: int) -> str:
        return self._sized(f"{number} °C" if self._cents else f"{number}°", number)

    def heat(self) -> str:
        return f"{self.random.randint(14, 24) * 10} °C"

    def wind(self) -> str:
        number = self.random.randint(4, 90)
        return self._sized(f"{number} km/h", number)

    def grams(self) -> str:
        return f"{self.random.randint(2, 40) * 25} g"

    def kilometres(self) -> str:
        number = self.random.randint(2, 90)
        return self._sized(f"{number} km", number)
