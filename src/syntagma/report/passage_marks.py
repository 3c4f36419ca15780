"""Render a passage as HTML, with elements around words and answers and its text unchanged.

Words and answers are located by their character offsets and may overlap in any way.  All splitting
is done here, in Python's characters, so that the page's script needs no offsets, which it would
count in UTF-16 units.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from syntagma.drawing.svg import escape
from syntagma.tasks.spans.answers import Answer
from syntagma.text.sentence import Parse


@dataclass(frozen=True, slots=True)
class Token:
    """A span of the passage that covers one word, or several words that share it.

    Args:
        start: offset of its first character.
        end: offset after its last character.
        words: numbers of its words in the passage, from 1.
    """

    start: int
    end: int
    words: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A span of the passage to mark.

    Args:
        start: offset of its first character.
        end: offset after its last character.
        kind: ``answers`` for an answer, ``spans`` for a candidate.
        key: number of the question; for a candidate ``question-rank``, both from 1.
    """

    start: int
    end: int
    kind: str
    key: str


def tokens_of(passage: str, parses: Sequence[Parse]) -> list[Token]:
    """Merge overlapping words into tokens, from left to right.

    Args:
        passage: the text.
        parses: the parses of its sentences; offsets index into ``passage``.

    Raises:
        ValueError: a word is outside the passage, or starts before the previous word.
    """
    tokens: list[Token] = []
    words = (word for parse in parses for word in parse.sentence.words)
    for number, word in enumerate(words, start=1):
        least = tokens[-1].start if tokens else 0
        if not least <= word.start <= word.end <= len(passage):
            raise ValueError(
                f"expected word {number} ({word.form!r}) between characters {least} and "
                f"{len(passage)}, got {word.start} to {word.end}; give the parses of this passage"
            )
        # Words of a multi-word token overlap: they share one element.
        if tokens and word.start < tokens[-1].end:
            last = tokens.pop()
            shared = Token(last.start, max(last.end, word.end), (*last.words, number))
            tokens.append(shared)
        else:
            tokens.append(Token(word.start, word.end, (number,)))
    return tokens


def passage_html(passage: str, tokens: Iterable[Token], answers: Sequence[Answer]) -> str:
    """Render the passage with an element around each word and each part of an answer.

    Apart from the tags, the result is the passage, character for character; only characters that
    XML forbids are replaced.

    Args:
        passage: the text.
        tokens: the tokens from ``tokens_of``.
        answers: the answers to mark, with their candidates.

    Raises:
        ValueError: the passage does not contain the text of an answer at its offsets.
    """
    marks = _marks(passage, answers)
    lines = []
    position = 0
    for token in tokens:
        lines.append(_runs(passage, position, token.start, marks))
        words = " ".join(map(str, token.words))
        runs = _runs(passage, token.start, token.end, marks)
        lines.append(
            f'<span class="word" id="word-{token.words[0]}" data-words="{words}">{runs}</span>'
        )
        position = token.end
    lines.append(_runs(passage, position, len(passage), marks))
    return "".join(lines)


def _marks(passage: str, answers: Sequence[Answer]) -> list[Mark]:
    """Collect the spans of all answers and candidates."""
    marks = []
    for question, answer in enumerate(answers, start=1):
        if answer.start is not None and answer.end is not None:
            _require_text(passage, answer.start, answer.end, answer.text)
            marks.append(Mark(answer.start, answer.end, "answers", str(question)))
        for rank, span in enumerate(answer.candidates, start=1):
            _require_text(passage, span.start, span.end, span.text)
            marks.append(Mark(span.start, span.end, "spans", f"{question}-{rank}"))
    return marks


def _require_text(passage: str, start: int, end: int, text: str) -> None:
    """Check that the passage contains a text at its offsets."""
    if not 0 <= start <= end <= len(passage) or passage[start:end] != text:
        raise ValueError(
            f"expected {text!r} at characters {start} to {end} of the passage, got "
            f"{passage[max(start, 0) : end]!r}; give the answers to this passage"
        )


def _runs(passage: str, start: int, end: int, marks: Sequence[Mark]) -> str:
    """Render a part of the passage, split where answers start and end.

    HTML elements cannot overlap, so each run lists all the answers that it belongs to.
    """
    near = [mark for mark in marks if mark.start < end and start < mark.end]
    if not near:
        return escape(passage[start:end])
    # Cut at every mark boundary, so that each run is either inside or outside of a mark.
    cuts = {offset for mark in near for offset in (mark.start, mark.end) if start < offset < end}
    runs = []
    for left, right in pairwise([start, *sorted(cuts), end]):
        here = [mark for mark in near if mark.start <= left and right <= mark.end]
        text = escape(passage[left:right])
        kinds = {
            kind: " ".join(mark.key for mark in here if mark.kind == kind)
            for kind in ("answers", "spans")
        }
        attributes = "".join(f' data-{kind}="{keys}"' for kind, keys in kinds.items() if keys)
        runs.append(f"<span{attributes}>{text}</span>" if attributes else text)
    return "".join(runs)
