"""A small classifier whose input is a fixed number of features: in NumPy, without torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from syntagma.text.segmentation.learned.hashes import Hashes, Integers, position
from syntagma.text.segmentation.products import multiply

Floats: TypeAlias = npt.NDArray[np.float32]
Weights: TypeAlias = Mapping[str, npt.NDArray[np.generic]]


class Classifier:
    """Adds the vectors of the features that are known; one hidden layer and a linear one follow.

    Args:
        weights: ``features``, the hashes of the known features, ascending, ``[n_features]``;
            ``vectors`` ``[n_features + 1, width]``, of which the first is zero and stands for all
            others; ``bias`` ``[width]``, ``output`` ``[n_classes, width]`` and ``output_bias``
            ``[n_classes]``.
    """

    def __init__(self, weights: Weights) -> None:
        self.features = weights["features"].astype(np.uint64)
        # Stored in half precision; converted once.
        self._vectors, self._bias, self._output, self._output_bias = (
            weights[name].astype(np.float32)
            for name in ("vectors", "bias", "output", "output_bias")
        )

    def rows(self, features: Hashes) -> Integers:
        """Return the row of each feature, 0 if it is not known."""
        return position(self.features, features)

    def scores(self, features: Hashes) -> Floats:
        """Score the classes of some items.

        Args:
            features: hashes of the features of each item, ``[n_items, n_templates]``.

        Returns:
            The scores, rounded so that they are the same in any batch, ``[n_items, n_classes]``.
        """
        rows = self.rows(features)
        hidden: Floats = np.zeros((len(rows), self._vectors.shape[1]), np.float32)
        for column in rows.T:
            hidden += self._vectors[column]
        hidden += self._bias
        np.maximum(hidden, 0, out=hidden)
        scores: Floats = multiply(hidden, self._output.T) + self._output_bias
        return np.round(scores, 3)
