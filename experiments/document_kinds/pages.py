"""Pages with two documents: a table and a text about something else, each a distraction."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from document_kinds import letters, notices, people, tabular, things
from document_kinds.document import Passage, Question
from document_kinds.draw import Draw

TEXTS = {
    kind: {**letters.KINDS, **notices.KINDS, **people.KINDS, **things.KINDS}[kind]
    for kind in ("works-notice", "event-notice", "product", "specification", "job-advertisement",
                 "biography", "leaflet", "news", "booking")
}  # fmt: skip
BREAKS = ["\n\n", "\n\n---\n\n", "\n\n* * *\n\n", "\n\n\n"]


def page(kind: str, *, table_first: bool) -> Callable[[Draw], Passage]:
    """Return the function that draws such pages."""

    def make(draw: Draw) -> Passage:
        table = tabular.KINDS[draw.one(sorted(tabular.KINDS))](draw)
        text = TEXTS[draw.one(sorted(TEXTS))](draw)
        named = [_named(question, text) for question in text.questions]
        text = replace(text, questions=[question for question in named if question.wordings])
        first, second = (table, text) if table_first else (text, table)
        return joined(kind, first, second, draw.one(BREAKS))

    return make


def _named(question: Question, text: Passage) -> Question:
    """Keep the wordings that say what they are about; the others might be about the table."""
    subjects = [*text.names, *question.absent[-1:]] if question.key is None else text.names
    wordings = [item for item in question.wordings if any(name in item for name in subjects)]
    noun = question.noun if any(name in question.noun for name in subjects) else ""
    return replace(question, wordings=wordings, noun=noun)


def joined(kind: str, first: Passage, second: Passage, between: str) -> Passage:
    """Return one passage of two, with the questions that hold for both texts together."""
    shift = len(first.text) + len(between)
    places = {f"1 {key}": place for key, place in first.places.items()}
    places |= {f"2 {key}": (at + shift, value) for key, (at, value) in second.places.items()}
    questions = []
    for number, own, other in ((1, first, second), (2, second, first)):
        for question in own.questions:
            if question.key is not None:
                questions.append(replace(question, key=f"{number} {question.key}"))
            elif not any(_occurs(word, other.text) for word in question.absent):
                questions.append(question)
    return Passage(kind, "page", "", first.text + between + second.text, places, questions)


def _occurs(word: str, text: str) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE))


KINDS = {
    "web-page": page("web-page", table_first=True),
    "notice-board": page("notice-board", table_first=False),
}
