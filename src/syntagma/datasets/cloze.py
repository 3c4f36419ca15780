"""Make questions from plain text: blank a phrase that recurs, and ask for it.

A sentence with a blank is put to the rest of its paragraph, which has the phrase elsewhere (Ram et
al. 2021, https://arxiv.org/abs/2101.00438; Lewis et al. 2019, https://arxiv.org/abs/1906.04980).
Phrases are the noun phrases that a parser finds, not runs of words that happen to recur.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import tee
from typing import Any

from syntagma.datasets.squad_format import squad_data
from syntagma.parse.parser import JointParser
from syntagma.tasks.spans.squad import SpanExample
from syntagma.text.sentence import Parse

MAX_WORDS = 8
SENTENCE_WORDS = range(6, 45)
"""Shorter sentences say too little to be found by, and longer ones are no questions."""
PASSAGE_WORDS = 40
DETERMINERS = frozenset("a an the this that these those his her its their our my your".split())
BLANK = "_____"
SHARE_OF_BLANKS = 0.4
"""Share of questions with a blank; the others have a question word in its place."""
IMPOSSIBLE = 0.2
"""Share of questions whose passage lacks the phrase."""
CONTEXT = 150
"""Characters on each side of an answer."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase in a text.

    Args:
        start: character offset in the text.
        end: character offset of its end.
        sentence: index of its sentence.
        kind: ``name``, ``number`` or ``thing``.
        key: what equal phrases share: its words in lower case, without a determiner.
    """

    start: int
    end: int
    sentence: int
    kind: str
    key: str


def make_cloze(
    paragraphs: Iterable[str], parser: JointParser, *, count: int, seed: int = 1
) -> tuple[dict[str, Any], dict[str, int]]:
    """Make questions whose answers are phrases that recur in a paragraph.

    Args:
        paragraphs: running texts.
        parser: a parser that finds phrases.
        count: number of questions; fewer are returned if the text has too few phrases.
        seed: random seed.

    Returns:
        The questions in SQuAD 2.0 format, and how many are answerable and impossible.
    """
    draw = random.Random(seed)
    parser = parser.with_phrases()
    texts, again = tee(" ".join(paragraph.split()) for paragraph in paragraphs)
    made: list[SpanExample] = []
    previous = ""
    for number, (text, parses) in enumerate(zip(texts, parser.parse_texts(again), strict=True)):
        if len(made) >= count:
            break
        before, previous = previous, text
        for index, (passage, asked, places) in enumerate(_questions(text, parses, before, draw)):
            example = SpanExample(
                f"cloze-{number}-{index}",
                passage,
                asked,
                title=f"paragraph {number}",
                answers=tuple(passage[start:end] for start, end in places),
                answer_starts=tuple(start for start, _ in places),
                is_impossible=not places,
            )
            made.append(example)
    counts = Counter("impossible" if each.is_impossible else "answerable" for each in made)
    return squad_data(made), dict(counts)


def _questions(
    text: str, parses: Sequence[Parse], before: str, draw: random.Random
) -> Iterator[tuple[str, str, list[tuple[int, int]]]]:
    """Yield passage, question and answers for one paragraph: at most two questions."""
    places: dict[str, list[Phrase]] = defaultdict(list)
    for phrase in noun_phrases(text, parses):
        places[phrase.key].append(phrase)
    recurring = [
        (key, found)
        for key, found in places.items()
        if len({phrase.sentence for phrase in found}) > 1
    ]
    draw.shuffle(recurring)
    used: set[int] = set()
    for key, found in recurring:
        asked = draw.choice(found)
        parse = parses[asked.sentence]
        others = [phrase for phrase in found if phrase.sentence != asked.sentence]
        if asked.sentence in used or len(parse) not in SENTENCE_WORDS or len(used) == 2:
            continue
        begin, end = parse.sentence.starts[0], parse.sentence.ends[-1]
        question = _ask(text[begin:end], asked.start - begin, asked.end - begin, asked.kind, draw)
        if key in question.lower():
            continue
        used.add(asked.sentence)
        if draw.random() < IMPOSSIBLE:
            if len(before.split()) >= PASSAGE_WORDS and key not in before.lower():
                yield before, question, []
            continue
        # Without the sentence itself, the answer must be found by what the others say.
        passage, answers = _without(text, begin, end, others)
        if len(passage.split()) >= PASSAGE_WORDS:
            yield passage, question, _by_context(passage, answers, question)


def _without(
    text: str, begin: int, end: int, phrases: Sequence[Phrase]
) -> tuple[str, list[tuple[int, int]]]:
    """Remove an interval from a text, and return where phrases outside it are then."""
    left, right = text[:begin].rstrip(), text[end:].lstrip()
    passage = f"{left} {right}".strip()
    # Everything behind the interval moves by as much as the text became shorter.
    moved = len(passage) - len(text.rstrip())
    return passage, [
        (phrase.start + moved, phrase.end + moved)
        if phrase.start >= end
        else (phrase.start, phrase.end)
        for phrase in phrases
    ]


def _by_context(
    passage: str, answers: Sequence[tuple[int, int]], question: str
) -> list[tuple[int, int]]:
    """Sort answers by how many words their context shares with the question.

    A reader learns from the first answer only.
    """
    words = set(_WORD.findall(question.lower()))

    def shared(answer: tuple[int, int]) -> int:
        start, end = answer
        context = passage[max(0, start - CONTEXT) : end + CONTEXT]
        return len(words & set(_WORD.findall(context.lower())))

    return sorted(answers, key=shared, reverse=True)


def noun_phrases(text: str, parses: Sequence[Parse]) -> Iterator[Phrase]:
    """Yield the noun phrases of a text that could be an answer.

    Args:
        text: the text.
        parses: its sentences, with phrases.
    """
    for number, parse in enumerate(parses):
        for label, start, end in parse.constituents or ():
            if label != "NP":
                continue
            words = parse.sentence.forms[start:end]
            tags = parse.xpos[start:end]
            if words[0].lower() in DETERMINERS:
                start, words, tags = start + 1, words[1:], tags[1:]
            if not 0 < len(words) <= MAX_WORDS or "PRP" in tags or "," in words:
                continue
            named = any(tag in ("NNP", "NNPS") for tag in tags)
            kind = "name" if named else "number" if "CD" in tags else "thing"
            if kind == "thing" and (len(words) < 2 or not any(tag[:2] == "NN" for tag in tags)):
                # A common noun on its own recurs everywhere and is no answer.
                continue
            first, last = parse.sentence.starts[start], parse.sentence.ends[end - 1]
            yield Phrase(first, last, number, kind, text[first:last].lower())


def _ask(sentence: str, start: int, end: int, kind: str, draw: random.Random) -> str:
    """Replace a phrase of a sentence by a blank or a question word."""
    left, right = sentence[:start], sentence[end:]
    if draw.random() < SHARE_OF_BLANKS:
        return f"{left}{BLANK}{right}"
    left = re.sub(r"\b(?:a|an|the)\s+$", "", left, flags=re.IGNORECASE)
    words = {"name": ("what", "who or what", "which name"), "number": ("how many", "what number")}
    word = draw.choice(words.get(kind, ("what",)))
    asked = f"{left}{word}{right}".rstrip(" .;:!")
    return f"{asked[0].upper()}{asked[1:]}?"
