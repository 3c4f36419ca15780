"""Lay out passages as other documents do, so that a reader learns more than edited paragraphs.

bullets         a sentence a line, with bullets or numbers
lines           hard-wrapped, as in e-mail or PDF text
no_punctuation  without the marks at sentence ends, and often without commas
lower           in lower case
dialogue        the sentences are turns of a conversation, with short turns between them
minutes         minutes of a meeting: heading, date, attendance, numbered items
headings        headings and blank lines between groups of sentences
mail            greeting and signature around the text
noise           page numbers, running heads and menu items between sentences
hyphens         hard-wrapped, with words hyphenated at line ends, but none of an answer

The words of the passage stay; answers are found again at their exact offsets.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from syntagma.datasets import layout_phrases as phrases
from syntagma.datasets.edits import Edit, EditedText
from syntagma.datasets.squad_format import squad_data
from syntagma.datasets.variants import make_variants, require_kinds
from syntagma.tasks.spans.squad import SpanExample
from syntagma.text.segmentation.segment import split_sentences

Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Passage:
    """A passage to lay out.

    Args:
        text: the passage.
        sentences: start and end offset of each sentence.
        answers: start and end offset of each answer.
    """

    text: str
    sentences: Spans
    answers: Spans


Layout = Callable[[Passage, random.Random], list[Edit]]


def _between(passage: Passage, joints: Sequence[str]) -> list[Edit]:
    """Replace the white space before each sentence but the first by a joint."""
    pairs = zip(passage.sentences, passage.sentences[1:], joints, strict=False)
    return [Edit(before[1], after[0], joint) for before, after, joint in pairs]


def _around(passage: Passage, top: str, bottom: str) -> list[Edit]:
    end = len(passage.text)
    return [Edit(0, 0, top)] * bool(top) + [Edit(end, end, bottom)] * bool(bottom)


def _groups(passage: Passage, draw: random.Random, most: int) -> list[bool]:
    """Return for each sentence whether it starts a group of at most ``most`` sentences."""
    starts: list[bool] = []
    while len(starts) < len(passage.sentences):
        starts += [True] + [False] * (draw.randint(1, most) - 1)
    return starts[: len(passage.sentences)]


def _final_marks(passage: Passage) -> list[Edit]:
    """Delete the full stop, question or exclamation mark at the end of each sentence."""
    ends = [end for _, end in passage.sentences]
    return [Edit(end - 1, end, "") for end in ends if passage.text[end - 1] in ".?!;:"]


def bullets(passage: Passage, draw: random.Random) -> list[Edit]:
    """Put each sentence on a line of its own, with a bullet or number."""
    style = draw.choice(["- ", "* ", "• ", "– ", "  - ", "  * ", "{}. ", "{}) ", "({}) ", "+ "])
    gap = draw.choice(["\n", "\n", "\n", "\n\n"])
    markers = [style.format(number) for number in range(1, len(passage.sentences) + 1)]
    heading = draw.choice(phrases.HEADINGS) + draw.choice(["", ":"]) + gap
    top = (heading if draw.random() < 0.3 else "") + markers[0]
    edits = _around(passage, top, "") + _between(passage, [gap + each for each in markers[1:]])
    return edits + (_final_marks(passage) if draw.random() < 0.35 else [])


def lines(passage: Passage, draw: random.Random) -> list[Edit]:
    """Break lines at a random width."""
    return _wrap(passage, draw.choice([28, 36, 44, 52, 60, 66, 70, 72, 76, 80, 90]), None)


def hyphens(passage: Passage, draw: random.Random) -> list[Edit]:
    """Break lines at a random width, and hyphenate some words at line ends."""
    # In a short passage no line may end at a word that can be hyphenated.
    for _ in range(5):
        edits = _wrap(passage, draw.randint(24, 60), draw)
        if any(edit.new.startswith("-") for edit in edits):
            return edits
    return []


def _wrap(passage: Passage, width: int, draw: random.Random | None) -> list[Edit]:
    """Replace spaces by line breaks; with random numbers, also hyphenate words at line ends."""
    edits: list[Edit] = []
    line_start, last_space = 0, -1
    for word in re.finditer(r"\S+", passage.text):
        if "\n" in passage.text[max(0, last_space) : word.start()]:
            line_start = word.start()
        if word.end() - line_start > width and last_space >= line_start:
            room = line_start + width - 1 - word.start()
            cut = _hyphenation(passage, word, room, draw) if draw else None
            if cut is None:
                edits.append(Edit(last_space, word.start(), "\n"))
                line_start = word.start()
            else:
                edits.append(Edit(cut, cut, "-\n"))
                line_start = cut
        last_space = word.end()
    return edits


def _hyphenation(
    passage: Passage, word: re.Match[str], room: int, draw: random.Random
) -> int | None:
    """Return the offset at which to hyphenate a word, or none.

    English hyphenation needs a dictionary.  Here a syllable begins with the last consonant before a
    vowel, which is right for most words; *k* and *w* rarely begin one.
    """
    if not re.fullmatch(r"[A-Za-z]?[a-z]{5,}[,.;]?", word.group()) or draw.random() < 0.2:
        return None
    if any(start < word.end() and word.start() < end for start, end in passage.answers):
        return None
    syllables = re.finditer(r"(?=(?:[sct]h|ph|[bcdfgpt][lr]|[b-df-hjl-np-tvz])[aeiouy])", word[0])
    cuts = [
        syllable.start()
        for syllable in syllables
        if 3 <= syllable.start() <= min(room, len(word[0].rstrip(",.;")) - 4)
        and re.search(r"[aeiouy]", word[0][: syllable.start()])
        # Not between the letters of *th*, *sh*, *ch*, *ph*, or of *pl* and *tr*.
        and not re.match(r"[sctp]h|[bcdfgpt][lr]", word[0][syllable.start() - 1 :])
    ]
    return word.start() + cuts[-1] if cuts else None


def no_punctuation(passage: Passage, draw: random.Random) -> list[Edit]:
    """Delete the marks at sentence ends, and often the commas."""
    edits = _final_marks(passage)
    if draw.random() < 0.6:
        marks = re.finditer(r"(?<=\w)[,;](?=\s)", passage.text)
        done = {edit.start for edit in edits}
        edits += [Edit(m.start(), m.end(), "") for m in marks if m.start() not in done]
    return edits


def lower(passage: Passage, draw: random.Random) -> list[Edit]:
    """Write everything in lower case."""
    return [
        Edit(index, index + 1, character.lower())
        for index, character in enumerate(passage.text)
        if character != character.lower()
    ]


def dialogue(passage: Passage, draw: random.Random) -> list[Edit]:
    """Make the sentences turns of a conversation."""
    # The names must not be words of the passage: they would be wrong answers there.
    names = [name for name in phrases.SPEAKERS if name.lower() not in passage.text.lower()]
    speakers = draw.sample(names, draw.choice([2, 2, 2, 3]))
    style = draw.choice(["{}: ", "{}: ", "{}: ", "{} - ", "[{}] ", "<{}> ", "**{}:** "])
    upper, gap = draw.random() < 0.2, draw.choice(["\n", "\n", "\n\n"])
    fillers = 0.25 * draw.random()
    turn = 0

    def tag() -> str:
        nonlocal turn
        turn += 1
        name = speakers[turn % len(speakers)]
        return style.format(name.upper() if upper else name)

    joints = []
    for begins in _groups(passage, draw, 2):
        joint = gap + tag() if begins else " "
        if begins and draw.random() < fillers:
            joint += draw.choice(phrases.FILLERS) + gap + tag()
        joints.append(joint)
    return _around(passage, joints[0].lstrip("\n"), "") + _between(passage, joints[1:])


def _person(draw: random.Random) -> str:
    name = draw.choice(phrases.SPEAKERS[:24])
    surname = draw.choice(phrases.SURNAMES)
    return draw.choice([f"{name} {surname}", f"{name[0]}. {surname}", name])


def _date(draw: random.Random) -> str:
    day, month, year = draw.randint(1, 28), draw.choice(phrases.MONTHS), draw.randint(2009, 2025)
    return draw.choice(
        [f"{day} {month} {year}", f"{month} {day}, {year}", f"{day} {month[:3]} {year}",
         f"{year}-{phrases.MONTHS.index(month) + 1:02}-{day:02}"]
    )  # fmt: skip


def minutes(passage: Passage, draw: random.Random) -> list[Edit]:
    """Make the sentences items of the minutes of a meeting."""
    people = list(dict.fromkeys(_person(draw) for _ in range(draw.randint(3, 6))))
    absent = [people.pop()] if len(people) > 2 and draw.random() < 0.5 else []
    top = [
        draw.choice(phrases.MEETINGS),
        draw.choice(["Date: {}", "{}", "Held on {}"]).format(_date(draw)),
        draw.choice(["Present: ", "Attendees: ", "In attendance: ", "Attending: "])
        + ", ".join(people),
    ]
    top += [f"Apologies: {name}" for name in absent]
    style = draw.choice(["{}. ", "{}. ", "{}) ", "Item {}: ", "{}.1 ", "Item {} - "])
    titled, gap = draw.random() < 0.5, draw.choice(["\n", "\n\n"])
    titles = draw.sample(phrases.ITEM_TITLES, len(phrases.ITEM_TITLES))
    joints, number = [], 0
    for begins in _groups(passage, draw, 3):
        number += begins
        item = style.format(number)
        if titled:
            item += titles[number % len(titles)] + draw.choice(["\n", ": ", ". "])
        joints.append(gap + item if begins else " ")
    time = f"{draw.randint(10, 20)}:{draw.choice(['00', '15', '30', '45'])}"
    ending = draw.choice(phrases.MINUTES_ENDINGS).format(time=time, name=_person(draw))
    bottom = gap + ending if draw.random() < 0.6 else ""
    edits = _around(passage, "\n".join(top) + "\n\n" + joints[0].lstrip("\n"), bottom)
    return edits + _between(passage, joints[1:])


def headings(passage: Passage, draw: random.Random) -> list[Edit]:
    """Put headings over groups of sentences."""
    names = draw.sample(phrases.HEADINGS, len(phrases.HEADINGS))
    style = draw.choice(["{}", "{}", "{}", "# {}", "## {}", "{}:", "{n}. {}", "{n} {}", "== {} =="])
    upper = draw.random() < 0.25
    underlined = style == "{}" and draw.random() < 0.4
    gap = draw.choice(["\n", "\n\n"])
    joints, number = [], 0
    for begins in _groups(passage, draw, 3):
        joint = " "
        if begins:
            name = names[number % len(names)]
            number += 1
            title = style.format(name.upper() if upper else name, n=number)
            under = "\n" + "-" * len(title) if underlined else ""
            joint = f"\n\n{title}{under}{gap}"
        joints.append(joint)
    return _around(passage, joints[0].lstrip("\n"), "") + _between(passage, joints[1:])


def mail(passage: Passage, draw: random.Random) -> list[Edit]:
    """Put a greeting and a signature around the text."""

    def name() -> str:
        return draw.choice(phrases.SPEAKERS[:24])

    head = []
    if draw.random() < 0.5:
        head = [f"From: {_person(draw)}", f"To: {_person(draw)}"]
        head += [f"Date: {_date(draw)}"] * (draw.random() < 0.5)
        head += [f"Subject: {draw.choice(phrases.SUBJECTS)}", ""]
    greeting = draw.choice(phrases.GREETINGS)
    head += [greeting.format(name=name(), surname=draw.choice(phrases.SURNAMES)), ""]
    if draw.random() < 0.6:
        head += [draw.choice(phrases.OPENINGS), ""]
    foot = [""] + [draw.choice(phrases.CLOSINGS), ""] * (draw.random() < 0.5)
    foot += [draw.choice(phrases.SIGN_OFFS), _person(draw)]
    if draw.random() < 0.3:
        foot += ["--", draw.choice(phrases.SIGNATURES)]
    edits = _around(passage, "\n".join(head) + "\n", "\n" + "\n".join(foot))
    # Half of the messages have several paragraphs.
    groups = _groups(passage, draw, 4) if draw.random() < 0.5 else []
    return edits + _between(passage, ["\n\n" if begins else " " for begins in groups[1:]])


def _interruption(draw: random.Random, source: str, page: int) -> str:
    if source == "web":
        return draw.choice(phrases.MENUS)
    numbers = {"page": page, "pages": page + 7}
    head = draw.choice(phrases.RUNNING_HEADS)
    head = head.format(small=draw.randint(1, 9), large=draw.randint(100, 900))
    number = draw.choice(phrases.PAGE_NUMBERS).format(**numbers)
    return draw.choice([head, number, number, f"{number}\n{head}", f"{head}  {page}"])


def noise(passage: Passage, draw: random.Random) -> list[Edit]:
    """Put page numbers and running heads, or menu items, between sentences."""
    source = draw.choice(["web", "pages"])
    page, share = draw.randint(2, 240), draw.uniform(0.15, 0.5)
    gap = draw.choice(["\n", "\n", "\n\n"])

    def piece() -> str:
        nonlocal page
        page += 1
        return _interruption(draw, source, page)

    top = piece() + gap if draw.random() < 0.7 else ""
    joints = [gap + piece() + gap if draw.random() < share else " " for _ in passage.sentences[1:]]
    bottom = gap + piece() if draw.random() < 0.7 or not top else ""
    return _around(passage, top, bottom) + _between(passage, joints)


LAYOUTS: dict[str, Layout] = {
    layout.__name__: layout
    for layout in (
        bullets, lines, no_punctuation, lower, dialogue, minutes, headings, mail, noise, hyphens
    )
}  # fmt: skip
KINDS = tuple(LAYOUTS)


def lay_out(
    example: SpanExample, kind: str, draw: random.Random, sentences: Spans | None = None
) -> SpanExample | None:
    """Return an example whose passage has another layout.

    Args:
        example: an example; its question stays.
        kind: one of :data:`KINDS`.
        draw: random number generator.
        sentences: offsets of the passage's sentences, if they are known.

    Returns:
        The example; none if the layout does not change the passage, or if it changes an answer
        other than in case, white space and marks at sentence ends.
    """
    if sentences is None:
        sentences = split_sentences(example.passage)
    answers = [
        (start, start + len(text))
        for text, start in zip(example.answers, example.answer_starts, strict=True)
    ]
    edits = LAYOUTS[kind](Passage(example.passage, sentences, answers), draw)
    edited = EditedText(example.passage, edits)
    if edited.text == example.passage:
        return None
    texts, starts = [], []
    for text, span in zip(example.answers, answers, strict=True):
        new = edited.span(*span)
        if new is None or _words(edited.text[new[0] : new[1]]) != _words(text):
            return None
        texts.append(edited.text[new[0] : new[1]])
        starts.append(new[0])
    # A teacher read the passage as it was: its spans would point at other words of this one.
    return replace(
        example,
        passage=edited.text,
        answers=tuple(texts),
        answer_starts=tuple(starts),
        teacher=None,
    )


def _words(text: str) -> list[str]:
    """Return the words of an answer, without case and the marks that layouts delete."""
    return re.sub(r"[.?!;:,](?=\s|$)", "", text).lower().split()


def make_layouts(
    examples: Sequence[SpanExample],
    *,
    count: int,
    kinds: Sequence[str] = KINDS,
    seed: int = 1,
) -> tuple[dict[str, Any], dict[str, int]]:
    """Put examples into other layouts.

    Args:
        examples: the examples; unanswerable ones stay unanswerable.
        count: number of examples; fewer are returned if there are not enough.
        kinds: layouts to draw from, among :data:`KINDS`.
        seed: random seed.

    Returns:
        The examples in SQuAD 2.0 format, with the ids ``{id}-{kind}``, and the number of each kind.

    Raises:
        InputError: a kind is unknown.
    """
    require_kinds(kinds, KINDS, combined=False)
    sentences: dict[str, Spans] = {}

    def vary(example: SpanExample, kind: str, draw: random.Random) -> SpanExample | None:
        if example.passage not in sentences:
            sentences[example.passage] = split_sentences(example.passage)
        return lay_out(example, kind, draw, sentences[example.passage])

    made, counts = make_variants(examples, vary, count=count, kinds=kinds, seed=seed)
    return squad_data(made), counts
