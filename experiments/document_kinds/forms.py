"""Draws documents about one thing from a description of their kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from document_kinds.document import Document, Passage, capital
from document_kinds.draw import Draw
from document_kinds.fields import (
    Field,
    filled,
    headed,
    lines,
    others,
    prose,
    questions_and_answers,
    state,
    talk,
)

DONT_KNOW = [
    "I don't know.", "Good question, I'll find out.", "No idea, sorry.", "I'd have to ask.",
    "I can't say.", "Let me check and call you back.", "Hm, I have nothing on that here.",
]  # fmt: skip
TALKERS = [("A", "B"), ("Caller", "Office"), ("Customer", "Agent"), ("Q", "A"), ("Me", "Desk")]


@dataclass(frozen=True)
class Form:
    """A kind of document about one thing.

    Args:
        name: what its readers call it.
        topic: a word that a search for it would have.
        fields: what it may state.
        tops: how it begins.
        others: sentences that state none of the fields, separated by ``|``.
        names: its names, and what draws them.
        swap: names that another of the same kind may replace, see ``state``.
        keep: how many fields it states.
        layouts: of prose, lines, headed, faq and talk.
        ends: how it ends, empty for no end.
        talks: how it begins as a conversation.
    """

    name: str
    topic: str
    fields: Sequence[Field]
    tops: Sequence[str]
    others: str
    names: Mapping[str, str] = field(default_factory=dict)
    swap: Sequence[str] = ()
    keep: int = 6
    layouts: str = "prose prose lines"
    ends: Sequence[str] = ("",)
    talks: Sequence[str] = ()


def drawn(kind: str, form: Form) -> Callable[[Draw], Passage]:
    """Return the function that draws documents of a form."""

    def make(draw: Draw) -> Passage:
        doc = Document(kind, draw, form.name, form.topic)
        context = {name: draw.fresh(source) for name, source in form.names.items()}
        doc.names = [context[name] for name in form.swap]
        if "who" in context:
            context["last"] = context["who"].split()[-1]
        layout = draw.one(form.layouts.split())
        stated, hints = state(
            doc, form.fields, context, keep=form.keep,
            swap={name: form.names[name] for name in form.swap},
            unknown=DONT_KNOW if layout == "talk" else (),
        )  # fmt: skip
        if layout == "faq":
            body = questions_and_answers(doc, stated, hints)
        elif layout == "talk":
            pairs = [*TALKERS, (draw.fresh("given"), draw.fresh("given"))]
            if "who" in context:
                pairs = [("Q", "A"), ("Interviewer", context["who"]), ("Reporter", context["last"])]
            asking, knowing = draw.one(pairs)
            body = talk(doc, stated, hints, {**context, "asking": asking, "knowing": knowing})
        else:
            rest = [hint.sentence for hint in hints] + others(
                doc, form.others, context, 2, draw.one([4, 5, 9])
            )
            body = {"prose": prose, "lines": lines, "headed": headed}[layout](doc, stated, rest)
        spoken = layout == "talk" and form.talks
        top = filled(doc, draw.one(form.talks if spoken else form.tops), context)
        parts = [capital(top), body]
        end = "" if spoken else filled(doc, draw.one(form.ends), context)
        if spoken:
            doc.name = draw.one(["conversation", "chat", "transcript", "call"])
        return doc.finish("\n\n".join([*parts, end] if end else parts))

    return make
