"""Cost of SEPREM's distance layers, and the lower bound that their matrix products set."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.guides import PIECES, ROWS, Presets, batch, measure
from benchmarks.tables import show
from benchmarks.timing import rounds
from syntagma.models.distance_layer import DistanceLayer
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.syntax.distances import normalised_strength, tree_distances

SENTENCE = 24
"""Number of pieces per sentence in :func:`benchmarks.guides.batch`."""


class TwoProducts(nn.Module):
    """The lower bound: both products with h × h matrices, without anything that uses the tree."""

    def __init__(self, layer: DistanceLayer) -> None:
        super().__init__()
        self.own, self.related = layer.own, layer.related

    def forward(self, states: Tensor, strength: Tensor) -> Tensor:
        floor: Tensor = self.own(states) + self.related(states)
        return floor


def without_trees(model: GuidedEncoder) -> None:
    """Remove everything that uses the tree from a model's distance layers."""
    guide: Any = model.tree_distance
    guide.layers = nn.ModuleList(map(TwoProducts, guide.layers))
    guide.prepare = lambda syntax: None


def with_floor() -> None:
    """Time the plain encoder, one with the two products only, and one with complete layers."""
    presets: Presets = {
        "plain": ("none", {}),
        "seprem, two products only": ("seprem", {}),
        "seprem": ("seprem", {}),
    }
    measure("SEPREM", presets, {"seprem, two products only": without_trees}, {"seprem": 1.17})


def in_blocks() -> None:
    """Compare D̃H as one product over all pieces with products for each sentence."""
    inputs = batch()
    depth = (torch.arange(PIECES) % SENTENCE).repeat(ROWS, 1).int()

    def tree() -> Tensor:
        return tree_distances(inputs["enter"], inputs["exit"], depth, inputs["word"])

    states = torch.randn(ROWS, PIECES, 384, dtype=torch.bfloat16)
    weight = torch.randn(384, 384, dtype=torch.bfloat16)
    dense = normalised_strength(tree()).bfloat16()
    n_sentences = PIECES // SENTENCE
    # The best case for blocks: sentences of equal length that are contiguous in memory.
    blocks = torch.stack(
        [
            dense[:, begin : begin + SENTENCE, begin : begin + SENTENCE]
            for begin in range(0, PIECES, SENTENCE)
        ],
        1,
    ).contiguous()
    positions = torch.randperm(PIECES).view(n_sentences, SENTENCE)

    def gathered() -> Tensor:
        """Sentences that are not contiguous must be gathered first and scattered afterwards."""
        own = states[:, positions.view(-1)].view(ROWS, n_sentences, SENTENCE, -1)
        mixed = (blocks @ own).view(ROWS, PIECES, -1)
        return torch.zeros_like(states).index_copy_(1, positions.view(-1), mixed)

    seconds = rounds(
        {
            "D̃ of the batch, computed once for all layers": lambda: normalised_strength(tree()),
            "D̃H, one product": lambda: dense @ states,
            "D̃H, contiguous sentences": lambda: (
                blocks @ states.view(ROWS, n_sentences, SENTENCE, -1)
            ),
            "D̃H, gathered sentences": gathered,
            "H W, one product with an h × h matrix": lambda: states @ weight,
        },
        repeat=21,
    )
    show(
        f"Parts of a distance layer at {ROWS} x {PIECES}",
        [{"": name, "ms": 1000 * value} for name, value in seconds.items()],
    )


def main() -> None:
    with_floor()
    in_blocks()


if __name__ == "__main__":
    main()
