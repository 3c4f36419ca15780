"""Facts about one thing (a lease, an appointment), in sentences, lines, a table or a talk."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from document_kinds.document import HINT, Document, capital, mark, padded, unmarked

Context = dict[str, str]


@dataclass(frozen=True)
class Field:
    """A fact that documents of a kind may state. Alternatives are separated by ``|``.

    In all wordings ``{}`` is the value, ``{name}`` a name of the document, ``{~price}`` a fresh
    price that answers nothing.

    Args:
        key: its name.
        draw: what draws its value, see ``Draw.fresh``.
        label: what stands before it in a list; empty if it only occurs in sentences.
        noun: what is asked for, as in "Find the deposit".
        ask: questions.
        say: sentences that state it.
        hint: sentences that speak of it without answering; written in place of the fact.
        signs: words that give it away, besides its labels, if the document does not state it.
    """

    key: str
    draw: str
    label: str
    noun: str
    ask: str
    say: str
    hint: str = ""
    signs: str = ""


def filled(doc: Document, text: str, context: Mapping[str, str], value: str = "") -> str:
    """Return a wording with its names, its value and fresh values of its distractors."""

    def fill(found: re.Match[str]) -> str:
        name = found[1]
        if name.startswith("~"):
            return doc.draw.fresh(name[1:])
        return context[name] if name else value

    return re.sub(r"\{([^}]*)\}", fill, text)


def others(doc: Document, text: str, context: Context, low: int, high: int) -> list[str]:
    """Return some of the sentences that are separated by ``|``, filled in."""
    return [filled(doc, item, context) for item in doc.draw.some(split(text), low, high)]


def split(text: str) -> list[str]:
    return [part.strip() for part in text.split("|") if part.strip()]


@dataclass(frozen=True)
class Stated:
    """A field, its value between marks, its sentence and its questions."""

    field: Field
    value: str
    sentence: str
    wordings: list[str]


@dataclass(frozen=True)
class Hint:
    """A field that is not stated, a sentence that speaks of it nevertheless, and its questions."""

    field: Field
    sentence: str
    wordings: list[str]


def state(
    doc: Document,
    fields: Sequence[Field],
    context: Context,
    *,
    swap: Mapping[str, str] | None = None,
    keep: int = 5,
    always: Sequence[str] = (),
    unknown: Sequence[str] = (),
) -> tuple[list[Stated], list[Hint]]:
    """Draw values of about ``keep`` of the fields, and ask for these and for those left out.

    Args:
        doc: takes the questions.
        fields: all fields of this kind of document.
        context: the document's names.
        swap: names of ``context`` in whose place another of a kind (a method of ``Draw``) makes the
            question unanswerable: "the deposit for the flat in Mill Lane" of a lease elsewhere.
        keep: how many fields are stated, give or take one.
        always: keys of fields that every document states.
        unknown: answers that say nothing ("I'll ask"); given, they are the hints, of any field.

    Returns:
        The stated fields in random order, and hints about fields that are not stated.
    """
    draw = doc.draw
    optional = [item for item in fields if item.key not in always]
    chosen = draw.some(optional, keep - 1 - len(always), keep + 1 - len(always))
    stated: list[Stated] = []
    hints: list[Hint] = []
    for item in fields:
        wordings = [filled(doc, text, context) for text in split(item.ask)]
        noun = filled(doc, item.noun, context)
        if item.key in always or item in chosen:
            value = filled(doc, draw.fresh(item.draw), context)
            marked = mark(item.key, value)
            sentence = capital(filled(doc, draw.one(split(item.say)), context, marked))
            stated.append(Stated(item, marked, sentence, wordings))
            # Named as often as in questions about another, or a name would give these away.
            named = [text for text in wordings if any(context[name] in text for name in swap or {})]
            doc.ask(item.key, [*wordings, *named, *named], noun)
            _ask_of_another(doc, item, context, swap or {})
        else:
            doc.ask_in_vain(wordings, noun, (*split(item.label), *split(item.signs)))
            sayings = unknown or split(item.hint)
            if sayings and draw.maybe(0.25 if unknown else 0.6):
                hint = capital(filled(doc, draw.one(sayings), context))
                hints.append(Hint(item, mark(HINT + item.key, hint), wordings))
    draw.random.shuffle(stated)
    return stated, hints


def _ask_of_another(doc: Document, item: Field, context: Context, swap: Mapping[str, str]) -> None:
    """Ask for a stated fact of something similar, which the text does not mention."""
    for name, kind in swap.items():
        wordings = [text for text in split(item.ask) if f"{{{name}}}" in text]
        if wordings:
            other = doc.draw.fresh(kind)
            changed = {**context, name: other}
            wordings = [text for text in wordings if "{last}" not in text]
            if not wordings:
                continue
            named = f"{{{name}}}" in item.noun and "{last}" not in item.noun
            noun = filled(doc, item.noun, changed) if named else ""
            texts = [filled(doc, text, changed) for text in wordings]
            doc.ask_in_vain(texts, noun, (other,))


# Layouts


def prose(doc: Document, stated: Sequence[Stated], others: Sequence[str]) -> str:
    """Return the sentences in one or more paragraphs, other sentences between them."""
    sentences = [item.sentence for item in stated]
    for other in others:
        sentences.insert(doc.draw.random.randint(0, len(sentences)), other)
    breaks = doc.draw.one([" ", " ", "\n\n", "\n"])
    parts: list[str] = []
    for sentence in sentences:
        if parts and doc.draw.maybe(0.3):
            parts.append(breaks)
        elif parts:
            parts.append(" ")
        parts.append(sentence)
    return "".join(parts)


def lines(doc: Document, stated: Sequence[Stated], others: Sequence[str]) -> str:
    """Return the facts as ``label: value`` in one of several layouts, other sentences after."""
    draw = doc.draw
    rows = [(draw.one(split(item.field.label)), item.value) for item in stated if item.field.label]
    rest = [item.sentence for item in stated if not item.field.label]
    width = max((len(label) for label, _ in rows), default=0)
    layout = draw.one("colon colon bullet star pipe dots tab dash aligned bold semicolon".split())
    shapes = {
        "colon" : "{0}: {1}", "bullet" : "• {0}: {1}", "star" : "- **{0}**: {1}", "pipe" :
        "| {0} | {1} |",
        "tab": "{0}\t{1}", "dash": "{0} – {1}", "bold": "**{0}:** {1}", "semicolon": "{0}: {1}",
    }  # fmt: skip
    made = []
    for label, value in rows:
        if layout == "dots":
            made.append(f"{label} {'.' * (width + 4 - len(label))} {value}")
        elif layout == "aligned":
            made.append(f"{padded(label + ':', width + 3)}{value}")
        else:
            made.append(shapes[layout].format(label, value))
    if layout == "pipe" and draw.maybe():
        made.insert(0, "|---|---|")
        made.insert(0, draw.one(["| Item | Detail |", "| | |", "| What | Details |"]))
    block = ("; " if layout == "semicolon" else "\n").join(made)
    after = " ".join([*rest, *others])
    return f"{block}\n\n{after}" if after else block


def headed(doc: Document, stated: Sequence[Stated], others: Sequence[str]) -> str:
    """Return sentences as numbered or headed clauses."""
    draw = doc.draw
    style = draw.one(["{n}. {label}\n{text}", "{n}. {text}", "{n}. {label}. {text}",
                      "§ {n} {label}\n{text}", "## {label}\n{text}", "{label}\n{text}",
                      "({n}) {text}"])  # fmt: skip
    made = []
    for number, item in enumerate(stated, draw.one([1, 1, 1, 3, 7])):
        label = draw.one(split(item.field.label)) if item.field.label else "Note"
        made.append(style.format(n=number, label=label, text=item.sentence))
    made.extend(others)
    return draw.one(["\n", "\n\n"]).join(made)


def questions_and_answers(doc: Document, stated: Sequence[Stated], hints: Sequence[Hint]) -> str:
    """Return the facts as frequent questions with their answers."""
    style = doc.draw.one(["Q: {}\nA: {}", "**{}**\n{}", "{}\n{}", "### {}\n{}", "{} – {}"])
    made = [style.format(_asked(doc, item), item.sentence) for item in _mixed(doc, stated, hints)]
    return "\n\n".join(made)


def _mixed(doc: Document, stated: Sequence[Stated], hints: Sequence[Hint]) -> list[Stated | Hint]:
    items: list[Stated | Hint] = [*stated, *hints]
    doc.draw.random.shuffle(items)
    return items


def _asked(doc: Document, item: Stated | Hint) -> str:
    """Return a question as part of the text; it gives nothing away about a field left out."""
    return mark(f"{HINT}asked {item.field.key}", capital(doc.draw.one(item.wordings)))


def talk(doc: Document, stated: Sequence[Stated], hints: Sequence[Hint], names: Context) -> str:
    """Return the facts as a conversation of ``names["asking"]`` and ``names["knowing"]``.

    Questions about ``names["who"]``, if there is one, are put to that person.
    """
    draw = doc.draw
    line = draw.one(["{}: {}", "**{}:** {}", "[{}] {}", "{} – {}", "<{}> {}"])
    turns: list[str] = []
    for item in _mixed(doc, stated, hints):
        openers = ["", "", "", "OK. ", "Also: ", "Thanks! ", "One more thing: ", "Right. "]
        opener = draw.one(openers if turns else ["", "Hello! ", "Hi, a question: "])
        question = _addressed(_asked(doc, item), names.get("who", ""))
        turns.append(line.format(names["asking"], opener + question))
        answer = item.sentence
        if isinstance(item, Stated) and item.field.label and draw.maybe(0.35):
            short = ["{}.", "{}, I think.", "That's {}.", "It says {} here.", "{}!"]
            answer = capital(draw.one(short).format(item.value))
        turns.append(line.format(names["knowing"], answer))
    return "\n".join(turns)


def _addressed(question: str, person: str) -> str:
    """Return a question about a person as one to this person."""
    if not person:
        return question
    for about, to in (
        ("does {}", "do you"),
        ("is {}", "are you"),
        ("has {}", "have you"),
        ("was {}", "were you"),
    ):
        question = re.sub(rf"(?i)\b{about.format(re.escape(person))}\b(?!'s)", to, question)
    return question.replace(f"{person}'s", "your").replace(person, "you")


def width_of(cells: Sequence[str]) -> int:
    return max((len(unmarked(cell)) for cell in cells), default=0)
