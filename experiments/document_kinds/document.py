"""A document under construction, and the questions that it answers or does not.

A value is put into the text between marks (``mark``). ``Document.finish`` takes the marks out and
keeps where each value was, so an answer's offset is right by construction, whatever the layout.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from document_kinds.draw import Draw

OPEN, SEPARATOR, CLOSE = "\x02", "\x1f", "\x03"
_MARK = re.compile(f"{OPEN}([^{SEPARATOR}]*){SEPARATOR}|({CLOSE})")
HINT = "hint:"

# Words that a search has and a reader can do without.
_SMALL = set("the a an of for in at on to by is it are do does with which what that".split())
_TELL = [
    "Find {}", "Give {}", "Look up {}", "Show me {}", "Tell me {}", "State {}", "I need {}",
    "Get me {} please", "Please find {}", "Extract {}", "I'm looking for {}", "Name {}",
]  # fmt: skip
_ASK = ["What is {}?", "What is {}?", "What's {}?", "Could you tell me {}?", "Do you know {}?",
        "I'd like to know {}.", "Can you give me {}?", "{}?"]  # fmt: skip


def mark(key: str, value: str) -> str:
    """Return a value with marks around it that say which fact it is."""
    return f"{OPEN}{key}{SEPARATOR}{value}{CLOSE}"


def unmarked(text: str) -> str:
    return _MARK.sub("", text)


def capital(text: str) -> str:
    """Return the text with its first letter upper case, which may be behind a mark."""
    start = len(text) - len(text.lstrip("#* "))
    while found := _MARK.match(text, start):
        start = found.end()
    return text[:start] + text[start : start + 1].upper() + text[start + 1 :]


def with_articles(text: str) -> str:
    """Return the text with "an" for "a" before a vowel, which a filled-in name may begin with."""
    mark_before = f"(?:{OPEN}[^{SEPARATOR}]*{SEPARATOR})?"
    return re.sub(rf"\b([Aa])(?= {mark_before}(?!one\b|Eu)[aeioAEIO])", r"\1n", text)


def padded(cell: str, width: int, *, right: bool = False) -> str:
    """Return a cell of a column, its marks not counted."""
    space = " " * (width - len(unmarked(cell)))
    return space + cell if right else cell + space


@dataclass(frozen=True)
class Question:
    """What can be asked: the key of the fact that answers it, or none; its wordings.

    ``noun`` names what is asked for ("the deposit"), for instructions and searches. ``absent`` are
    words that would have to be in the text if it answered an unanswerable question.
    """

    key: str | None
    wordings: Sequence[str]
    noun: str = ""
    absent: tuple[str, ...] = ()


@dataclass
class Document:
    """A kind of document, the values drawn for it, and its questions."""

    kind: str
    draw: Draw
    name: str = "text"
    topic: str = ""
    names: Sequence[str] = ()
    questions: list[Question] = field(default_factory=list)

    def ask(self, key: str, wordings: Sequence[str], noun: str = "") -> None:
        self.questions.append(Question(key, wordings, noun))

    def ask_in_vain(
        self, wordings: Sequence[str], noun: str = "", absent: tuple[str, ...] = ()
    ) -> None:
        self.questions.append(Question(None, wordings, noun, absent))

    def finish(self, marked: str) -> Passage:
        """Return the plain text with the place of every fact, and the questions that hold for it.

        A question is dropped if the fact that answers it was not put into the text, or if a word
        that must be absent is there outside a hint.
        """
        # A sentence that ends in "p.m." has one full stop.
        marked = re.sub(rf"(?<!\.)\.({CLOSE}*)\.(?!\.)", r".\1", marked)
        marked = with_articles(marked)
        places: dict[str, tuple[int, str]] = {}
        plain: list[str] = []
        outside: list[str] = []
        opened: list[tuple[str, int]] = []
        length = start = 0
        for found in [*_MARK.finditer(marked), None]:
            part = marked[start : found.start() if found else len(marked)]
            plain.append(part)
            if not any(key.startswith(HINT) for key, _ in opened):
                outside.append(part)
            length += len(part)
            if found is None:
                break
            start = found.end()
            if found[2]:
                key, began = opened.pop()
                places.setdefault(key, (began, "".join(plain)[began:length]))
            else:
                opened.append((found[1], length))
        text, seen = "".join(plain), "".join(outside).lower()
        kept = [
            question
            for question in self.questions
            if (question.key is None or question.key in places)
            and not any(
                re.search(rf"(?<!\w){re.escape(word.lower())}(?!\w)", seen)
                for word in question.absent
            )
        ]
        return Passage(self.kind, self.name, self.topic, text, places, kept, self.names)


@dataclass(frozen=True)
class Passage:
    """A finished text.

    ``places`` has the offset and the text of every fact in it, ``names`` what it is about.
    """

    kind: str
    name: str
    topic: str
    text: str
    places: dict[str, tuple[int, str]]
    questions: list[Question]
    names: Sequence[str] = ()

    @property
    def answerable(self) -> list[Question]:
        return [question for question in self.questions if question.key is not None]

    @property
    def unanswerable(self) -> list[Question]:
        return [question for question in self.questions if question.key is None]


def worded(question: Question, passage: Passage, source: random.Random) -> str:
    """Return one wording: a question, an instruction, or a few words as people type them."""
    style = source.random()
    text = source.choice(question.wordings)
    noun = question.noun
    if noun and style < 0.12:
        text = source.choice(_TELL).format(noun) + source.choice([".", "", "."])
    elif noun and style < 0.24:
        # "What is what she likes?" is not asked.
        asks = _ASK[3:] if noun.startswith(("what ", "how ")) else _ASK
        text = source.choice(asks).format(noun)
        if _plural(noun):
            text = text.replace("What is ", "What are ").replace("What's ", "What are ")
    elif noun and style < 0.32:
        text = _search(noun, passage, source)
    elif style > 0.94:
        where = source.choice([f"According to the {passage.name}, ", f"In this {passage.name}: "])
        text = where + _lower_first(text)
    text = with_articles(text[0].upper() + text[1:])
    typing = source.random()
    if typing < 0.12:
        return text.rstrip("?.").lower()
    return text.rstrip("?.") if typing < 0.2 else text


def _plural(noun: str) -> bool:
    """Whether the noun before the first preposition is a plural."""
    head = re.split(r" (?:of|for|in|that|who|when|on|to|at|with|after) ", noun)[0]
    return head.endswith("s") and not head.endswith("ss")


def _search(noun: str, passage: Passage, source: random.Random) -> str:
    terms = [word for word in noun.split() if word.lower() not in _SMALL]
    if passage.topic and passage.topic not in terms and source.random() < 0.4:
        terms.append(passage.topic)
    text = " ".join(terms)
    return text if source.random() < 0.3 else text.lower()


def _lower_first(text: str) -> str:
    first = text.split()[0]
    # A name stays as it is: only question words and verbs begin a wording otherwise.
    known = first.lower() in _FIRST
    return text[0].lower() + text[1:] if known else text


_FIRST = set(
    "what when where who whom whose which why how at in on by from until for to is are under after"
    " with within during since the".split()
)
