"""Sentence splitter: a small trained classifier over the gaps between words.

The eight words around a candidate gap are embedded as the sum of four vectors (word, shape, suffix,
preceding space).  One hidden layer combines them with context features of the paragraph, and a
linear output gives the score.  ``experiments/train_splitter.py`` trained the weights
(``splitter.safetensors``).

A parser can score the gaps of which the splitter is in doubt again, with its encoder
(:mod:`syntagma.parse.sentence_ends`).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from syntagma.text.segmentation.gaps import (
    CONTEXT_SIZES,
    STOPS,
    UNKNOWN_ROW,
    Booleans,
    GapFeatures,
    Integers,
    gap_features,
    shape_table,
)
from syntagma.text.segmentation.layout import Break
from syntagma.text.segmentation.products import multiply
from syntagma.text.segmentation.shapes import Shape

WEIGHTS = Path(__file__).with_name("splitter.safetensors")


class Thresholds(NamedTuple):
    """The scores that sentence ends of some kinds need.

    Args:
        bare: without punctuation.
        quote: after a full stop and a closing quote.
        abbreviation: after an abbreviation.
        line_break: where a line break looks intended.
    """

    bare: float
    quote: float
    abbreviation: float
    line_break: float


# Compared with the treebanks of web text from which the shipped weights come, ordinary prose has
# few headings and many names; a sentence rarely continues after a closing quote; more sentences
# follow an abbreviation; and there are line breaks.
ENGLISH_THRESHOLDS = Thresholds(bare=1.5, quote=-0.4, abbreviation=-0.4, line_break=-1.2)
NO_THRESHOLDS = Thresholds(0, 0, 0, 0)

_CLOSER = shape_table(Shape.CLOSING, Shape.CLOSING_QUOTE)
_STOP_OR_FACE = shape_table(*STOPS, Shape.FACE, Shape.INITIAL, Shape.LOWER_ABBREVIATION)
# Their own full stop may end the sentence too.
_ABBREVIATION = shape_table(Shape.TITLE_ABBREVIATION, Shape.ACRONYM)


class Rescorer(Protocol):
    """Scores gaps again of which the splitter is in doubt."""

    doubt: float
    """Gaps whose score is nearer to 0 are in doubt."""

    def __call__(
        self,
        forms: Sequence[str],
        first_words: Integers,
        features: GapFeatures,
        scores: npt.NDArray[np.float32],
    ) -> npt.NDArray[np.float32]:
        """Return new scores of gaps, positive for a likely sentence end, ``[n_gaps]``.

        The score of a gap depends on its own paragraph alone.

        Args:
            forms: all words, ``[n_words]``.
            first_words: index of the first word of each paragraph, ``[n_paragraphs]``.
            features: of the gaps in doubt.
            scores: what the splitter gives them, less what an end of their kind needs,
                ``[n_gaps]``.
        """
        ...


class Splitter:
    """The trained classifier, in NumPy so that segmentation does not import torch.

    Args:
        weights: ``vocabulary`` (fingerprints of the known words), the embeddings ``words``,
            ``shapes``, ``suffixes`` and ``spaces``, ``hidden`` and ``hidden_bias``, ``context_0``
            to ``context_6``, ``output`` and ``output_bias``; see ``experiments/train_splitter.py``.
            With an array ``everywhere``, of any content, a sentence may end in every gap.
        thresholds: what scores must exceed.
    """

    def __init__(
        self,
        weights: dict[str, npt.NDArray[np.generic]],
        thresholds: Thresholds = ENGLISH_THRESHOLDS,
    ) -> None:
        self._thresholds = thresholds
        self.rescorer: Rescorer | None = None
        self.rows = {
            int(number): row for row, number in enumerate(weights["vocabulary"], UNKNOWN_ROW + 1)
        }
        self.everywhere = "everywhere" in weights
        # Stored in half precision; converted once.
        self._weights = {
            name: values.astype(np.float32)
            for name, values in weights.items()
            if name != "vocabulary"
        }

    def rescored_by(self, rescorer: Rescorer) -> Splitter:
        """Return a splitter with the same weights that asks another scorer where it is in doubt."""
        other = copy.copy(self)
        other.rescorer = rescorer
        return other

    def ends(
        self,
        forms: Sequence[str],
        packed: Integers,
        space_before: Booleans,
        first_words: Integers,
        breaks: Integers,
    ) -> Integers:
        """Return the indices of words that end a sentence, except at paragraph ends, ascending.

        Args:
            forms: the words, ``[n_words]``.
            packed: :func:`syntagma.text.segmentation.gaps.pack` of each word, ``[n_words]``.
            space_before: whether whitespace precedes each word, ``[n_words]``.
            first_words: index of the first word of each paragraph, ``[n_paragraphs]``.
            breaks: :class:`syntagma.text.segmentation.layout.Break` before each word,
                ``[n_words]``.
        """
        features = gap_features(
            packed, space_before, first_words, breaks, everywhere=self.everywhere
        )
        if not len(features.gaps):
            return features.gaps
        scores = self.margins(features, breaks)
        if self.rescorer is not None:
            doubtful = np.flatnonzero(np.abs(scores) < self.rescorer.doubt)
            if len(doubtful):
                scores[doubtful] = np.round(
                    self.rescorer(forms, first_words, features.at(doubtful), scores[doubtful]), 3
                )
        last = features.shapes[features.centers]
        # The training treebanks have no full-width marks, but in every script that uses them they
        # end a sentence.
        full_width = (last == Shape.FULL_WIDTH_END) | (
            _CLOSER[last] & (features.shapes[features.centers - 1] == Shape.FULL_WIDTH_END)
        )
        return features.gaps[(scores > 0) | full_width]

    def margins(self, features: GapFeatures, breaks: Integers) -> npt.NDArray[np.float32]:
        """Return the score of each gap, less what an end of its kind needs, ``[n_gaps]``.

        Args:
            features: of the gaps.
            breaks: as for :meth:`ends`.
        """
        last = features.shapes[features.centers]
        second_last = features.shapes[features.centers - 1]
        punctuated = _STOP_OR_FACE[last] | (_CLOSER[last] & _STOP_OR_FACE[second_last])
        intended = breaks[features.gaps + 1] > Break.WRAPPED
        threshold = np.where(punctuated, 0.0, self._thresholds.bare)
        threshold[_ABBREVIATION[last]] = self._thresholds.abbreviation
        threshold[intended] = self._thresholds.line_break
        quoted = (last == Shape.CLOSING_QUOTE) & (second_last == Shape.PERIOD)
        threshold[quoted] = self._thresholds.quote
        # Matrix products differ in the last bits with the batch size; rounding keeps the decisions
        # the same in any batch.
        margins: npt.NDArray[np.float32] = np.round(self.scores(features), 3) - threshold
        return margins.astype(np.float32)

    def scores(self, features: GapFeatures) -> npt.NDArray[np.float32]:
        """Score each candidate gap, ``[n_gaps]``; positive for a likely sentence end."""
        weights = self._weights
        # Embed each word once and gather windows afterwards: neighbouring windows share words.
        vectors = weights["words"][features.words]
        vectors += weights["shapes"][features.shapes]
        vectors += weights["suffixes"][features.suffixes]
        vectors += weights["spaces"][features.spaces]
        around = vectors[features.windows].reshape(len(features.gaps), -1)
        hidden = multiply(around, weights["hidden"]) + weights["hidden_bias"]
        for number in range(len(CONTEXT_SIZES)):
            hidden += weights[f"context_{number}"][features.contexts[:, number]]
        np.maximum(hidden, 0, out=hidden)
        scores: npt.NDArray[np.float32] = multiply(hidden, weights["output"])
        return scores + weights["output_bias"]


@cache
def load_splitter() -> Splitter:
    """Load the splitter that ships with the package."""
    from safetensors.numpy import load_file

    return Splitter(load_file(WEIGHTS))
