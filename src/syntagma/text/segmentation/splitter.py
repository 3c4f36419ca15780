"""Where sentences end: a small trained classifier over the gaps between words.

The eight words around a candidate gap are looked up as vectors (word, look, last letters, space
before), what is known about the paragraph adds to one hidden layer, and one number comes out.
The weights (``splitter.safetensors``) were trained by ``experiments/train_splitter.py``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

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
from syntagma.text.segmentation.shapes import Shape

__all__ = ["Splitter", "load_splitter"]

WEIGHTS = Path(__file__).with_name("splitter.safetensors")
# A sentence that ends without a mark must be surer than one that ends with a full stop: ordinary
# prose holds few headings, and many names.
BARE_THRESHOLD = 1.5
# Treebanks of web text leave many closing quotes inside; prose does not.
QUOTE_THRESHOLD = -0.4

_CLOSER = shape_table(Shape.CLOSING, Shape.CLOSING_QUOTE)
_STOP_OR_FACE = shape_table(*STOPS, Shape.FACE)


class Splitter:
    """The trained classifier.

    Args:
        weights: ``vocabulary`` (fingerprints of known words), ``words``, ``shapes``, ``suffixes``,
            ``spaces`` (vectors), ``hidden`` and ``hidden_bias``, ``context_0`` … ``context_5``,
            ``output`` and ``output_bias``; see ``experiments/train_splitter.py``.
    """

    def __init__(self, weights: dict[str, npt.NDArray[np.generic]]) -> None:
        self.rows = {
            int(number): row for row, number in enumerate(weights["vocabulary"], UNKNOWN_ROW + 1)
        }
        self._weights = {
            name: values.astype(np.float32)
            for name, values in weights.items()
            if name != "vocabulary"
        }

    def ends(self, packed: Integers, space_before: Booleans, first_words: Integers) -> Integers:
        """Indices of the words that end a sentence inside their paragraph, ascending.

        Args:
            packed: :func:`pack` of each word, ``[n_words]``.
            space_before: whether whitespace stands before each word, ``[n_words]``.
            first_words: index of each paragraph's first word, ``[n_paragraphs]``.
        """
        features = gap_features(packed, space_before, first_words)
        if not len(features.gaps):
            return features.gaps
        last = features.shapes[features.centers]
        second_last = features.shapes[features.centers - 1]
        stopped = _STOP_OR_FACE[last] | (_CLOSER[last] & _STOP_OR_FACE[second_last])
        threshold = np.where(stopped, 0.0, BARE_THRESHOLD)
        quoted = (last == Shape.CLOSING_QUOTE) & (second_last == Shape.PERIOD)
        threshold[quoted] = QUOTE_THRESHOLD
        # Full-width marks end a sentence in every script that has them; no treebank here does.
        full_width = (last == Shape.FULL_WIDTH_END) | (
            _CLOSER[last] & (second_last == Shape.FULL_WIDTH_END)
        )
        # Rounded, so that the size of the batch never decides.
        ends = (np.round(self.scores(features), 3) > threshold) | full_width
        return features.gaps[ends]

    def scores(self, features: GapFeatures) -> npt.NDArray[np.float32]:
        """The score of each candidate gap, positive for a likely end, ``[n_gaps]``."""
        weights = self._weights
        vectors = weights["words"][features.words]
        vectors += weights["shapes"][features.shapes]
        vectors += weights["suffixes"][features.suffixes]
        vectors += weights["spaces"][features.spaces]
        around = vectors[features.windows].reshape(len(features.gaps), -1)
        hidden: npt.NDArray[np.float32] = around @ weights["hidden"] + weights["hidden_bias"]
        for number in range(len(CONTEXT_SIZES)):
            hidden += weights[f"context_{number}"][features.contexts[:, number]]
        np.maximum(hidden, 0, out=hidden)
        scores: npt.NDArray[np.float32] = hidden @ weights["output"]
        return scores + weights["output_bias"]


@cache
def load_splitter() -> Splitter:
    """The splitter that ships with the package."""
    from safetensors.numpy import load_file

    return Splitter(load_file(WEIGHTS))
