"""Which tokens are one word although a space separates them: French *10 000*, most of Vietnamese.

A classifier looks at each single space between two tokens of a sentence, and at the tokens around.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from operator import sub

import numpy as np

from syntagma.text.segmentation.learned.classifier import Classifier, Weights
from syntagma.text.segmentation.learned.hashes import Hashes, position, text_hashes
from syntagma.text.segmentation.shapes import Shape, shape_of
from syntagma.text.sentence import Sentence

LONGEST = 4
"""Longest known word with spaces that is looked for, in tokens."""
_OUTSIDE = ""
"""Stands for the tokens before and after a sentence."""


@lru_cache(maxsize=100_000)
def _shape(token: str) -> int:
    return int(shape_of(token))


def shapes_around(tokens: Sequence[str], place: int) -> int:
    """The shapes of a token and of the next one, as one number."""
    return _shape(tokens[place]) * len(Shape) + _shape(tokens[place + 1])


def join_features(
    sentences: Sequence[Sequence[str]], places: Sequence[tuple[int, int]], words: Hashes
) -> Hashes:
    """Return the features of some spaces, ``[n_places, n_templates]``.

    Args:
        sentences: the tokens of each sentence.
        places: sentence, and index in it, of the token before each space.
        words: hashes of known words with spaces, ascending (:func:`spaced_hashes`).
    """
    pad = [_OUTSIDE] * LONGEST
    # Few sentences have such a space, so the others are not copied.
    padded = {
        number: [*pad, *(token.lower() for token in sentences[number]), *pad]
        for number in {number for number, _ in places}
    }
    rows = [padded[number][index + 1 : index + 2 * LONGEST + 1] for number, index in places]
    shapes = [
        [_shape(token) if token else 0 for token in _around(sentences[number], index)]
        for number, index in places
    ]
    middle = LONGEST - 1
    before, left, right, after = ([row[middle + shift] for row in rows] for shift in (-1, 0, 1, 2))
    columns = [
        left,
        right,
        *(
            [" ".join(texts) for texts in zip(*parts, strict=True)]
            for parts in (
                (left, right),
                (before, left),
                (right, after),
                (before, left, right),
                (left, right, after),
            )
        ),
        [str(each[1:3]) for each in shapes],
        [str(each) for each in shapes],
        [f"{len(a)} {len(b)} {each[1:3]}" for a, b, each in zip(left, right, shapes, strict=True)],
        [f"{token[-2:]} {each[2]}" for token, each in zip(left, shapes, strict=True)],
        [f"{each[1]} {token[:2]}" for token, each in zip(right, shapes, strict=True)],
        *_known_words(rows, words),
    ]
    return np.stack([text_hashes(texts, k + 1) for k, texts in enumerate(columns)], axis=1)


def spaced_hashes(words: Sequence[str]) -> Hashes:
    """Hash words with spaces, in lower case, ascending."""
    return np.unique(text_hashes(words, 0)) if words else np.zeros(0, np.uint64)


def _around(tokens: Sequence[str], index: int) -> list[str]:
    return [
        tokens[place] if 0 <= place < len(tokens) else _OUTSIDE
        for place in range(index - 1, index + 3)
    ]


def _known_words(rows: Sequence[Sequence[str]], words: Hashes) -> list[list[str]]:
    """Return features of the known words across each space, that end before it, and start after.

    Args:
        rows: the ``LONGEST`` tokens before and after each space.
        words: hashes of the known words.
    """
    middle = LONGEST
    spans = [
        (start, start + length)
        for length in range(2, LONGEST + 1)
        for start in range(2 * LONGEST - length + 1)
    ]
    across, ending, starting = ([""] * len(rows) for _ in range(3))
    for start, end in spans:
        is_across = start < middle < end
        if not is_across and middle not in (start, end):
            continue
        phrases = [" ".join(row[start:end]) for row in rows]
        known = np.flatnonzero(position(words, text_hashes(phrases, 0)))
        # Lengths ascend, so that the longest word remains.
        target = across if is_across else ending if end == middle else starting
        for row in known.tolist():
            target[row] = f"{end - start} {middle - start}"
    return [across, ending, starting]


class Joiner:
    """Joins tokens that are one word.

    Args:
        weights: those of a :class:`Classifier` with one class; ``words``, hashes of known words
            with spaces, ascending; ``shapes``, the shapes of neighbours
            (:func:`shapes_around`) that training saw joined.
    """

    def __init__(self, weights: Weights) -> None:
        self._classifier = Classifier(weights)
        self._words = weights["words"].astype(np.uint64)
        self._shapes = frozenset(weights["shapes"].astype(np.int64).tolist())
        self._first_shapes = {shapes // len(Shape) for shapes in self._shapes}

    def join(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Join the tokens of each sentence that are one word; offsets stay those of the text."""
        places = [
            (number, index)
            for number, sentence in enumerate(sentences)
            # In most languages few sentences have such a token: numbers, in French.
            if not self._first_shapes.isdisjoint(map(_shape, sentence.forms))
            for index, gap in enumerate(map(sub, sentence.starts[1:], sentence.ends))
            if gap == 1 and shapes_around(sentence.forms, index) in self._shapes
        ]
        joined = list(sentences)
        if not places:
            return joined
        forms = [sentence.forms for sentence in sentences]
        scores = self._classifier.scores(join_features(forms, places, self._words))[:, 0]
        found: dict[int, set[int]] = {}
        for (number, index), score in zip(places, scores.tolist(), strict=True):
            if score > 0:
                found.setdefault(number, set()).add(index)
        for number, spaces in found.items():
            joined[number] = _joined(sentences[number], spaces)
        return joined


def _joined(sentence: Sentence, spaces: set[int]) -> Sentence:
    """Return a sentence without some spaces between tokens, each given by the token before it."""
    firsts = [index for index in range(len(sentence)) if index - 1 not in spaces]
    bounds = list(zip(firsts, [*firsts[1:], len(sentence)], strict=True))
    return replace(
        sentence,
        forms=tuple(" ".join(sentence.forms[first:end]) for first, end in bounds),
        starts=tuple(sentence.starts[first] for first in firsts),
        ends=tuple(sentence.ends[end - 1] for _, end in bounds),
    )
