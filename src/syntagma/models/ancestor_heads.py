"""Heads of a middle layer that are taught to attend to the parent of each word.

``softmax(QKᵀ/√d + g[head] · log P)``, where P(j | i) is the probability that piece j belongs to the
parent of the word of piece i.  P is computed from the states that the layer reads, and learned from
the trees of a parser, beside the task; nothing but the encoder is needed once it is trained.  The
gates g begin at zero, so that a new model computes what the encoder alone does, bit for bit.

LISA (Strubell et al. 2018, arXiv 1804.08199, section 2.2) replaces the scores of one head by those
of such a parser.  Here they are added: the heads of a pretrained encoder keep what they know.
P has projections of its own because fused attention does not return the scores of the heads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Literal, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import PretrainedConfig

from syntagma.encoders.score_bias import heads_of, require_additive_mask
from syntagma.encoders.sites import find_sites, n_layers_of
from syntagma.errors import InputError
from syntagma.models.guide import ScoreGuide, Scores, Syntax
from syntagma.settings import require_at_least
from syntagma.syntax.ancestors import ancestor_mask
from syntagma.syntax.pieces import PieceMode

TREE = ("enter", "exit", "depth", "word")
"""The columns from which parents are learned."""

LOWEST = 1e-4
"""Smaller probabilities count as this one: a head must not be forbidden any piece."""


@dataclass(frozen=True)
class AncestorHeads:
    """Heads of one layer that learn to attend to parents, ancestors, or children.

    Args:
        attend_to: the words that the heads learn to attend to. ``ancestors`` are up to seven arcs
            away.
        n_heads: number of heads; a third of the layer's by default.
        layer: number of the layer, from 1; the first one after the middle by default.
        width: width of the vectors by which pieces are compared with their parents.
        loss_weight: weight of the loss by which parents are learned; 0 learns from the task alone,
            without trees.
    """

    attend_to: Literal["parent", "ancestors", "children"] = "parent"
    n_heads: int | None = None
    layer: int | None = None
    width: int = 128
    loss_weight: float = 0.5

    def __post_init__(self) -> None:
        require_at_least(self, 1, "n_heads", "layer", "width")
        require_at_least(self, 0, "loss_weight")


class TaughtHeads(ScoreGuide):
    """Finds the parents of pieces, and adds their log probabilities to the scores of some heads.

    If an encoder uses a layer several times (ALBERT), the heads attend each time.

    Args:
        settings: settings of the guide.
        layer: index of the layer.
        n_heads: number of its heads that attend to parents.
        of: number of all its heads.
        width: width of its states.
    """

    name = "ancestor_heads"
    settings_class = AncestorHeads
    shares = ("gates",)

    def __init__(
        self, settings: AncestorHeads, *, layer: int, n_heads: int, of: int, width: int
    ) -> None:
        super().__init__()
        self.settings = settings
        self.layer = layer
        self.taught = TREE if settings.loss_weight else ()
        self.others = of - n_heads
        self.as_dependent = nn.Linear(width, settings.width)
        self.as_head = nn.Linear(width, settings.width)
        self.gates = nn.Parameter(torch.zeros(n_heads))

    @classmethod
    def build(cls, settings: AncestorHeads, encoder: PretrainedConfig) -> Self:
        """Build the guide for a layer of an encoder."""
        find_sites(encoder.model_type, purpose="guides.ancestor_heads")
        require_additive_mask(encoder, purpose="guides.ancestor_heads")
        settings = cls.on_encoder(settings, encoder)
        layer, n_heads = settings.layer, settings.n_heads
        assert layer is not None
        assert n_heads is not None
        n_layers, of = n_layers_of(encoder), heads_of(encoder)
        for name, value, most in (("layer", layer, n_layers), ("n_heads", n_heads, of)):
            if value > most:
                raise InputError(
                    f"guides.ancestor_heads.{name}: expected at most {most}, as many as this "
                    f"encoder has, got {value}"
                )
        return cls(settings, layer=layer - 1, n_heads=n_heads, of=of, width=encoder.hidden_size)

    @classmethod
    def on_encoder(cls, settings: AncestorHeads, encoder: PretrainedConfig) -> AncestorHeads:
        """Return settings with the layer and the number of heads."""
        layer = settings.layer or n_layers_of(encoder) // 2 + 1
        n_heads = settings.n_heads or max(1, heads_of(encoder) // 3)
        return replace(settings, layer=layer, n_heads=n_heads)

    def load_trained(self, weights: dict[str, Tensor], trained: AncestorHeads) -> None:
        """Load trained heads; they attend in the same layer, and to the same words, as before."""
        self.require_same(trained, "attend_to", "layer")
        super().load_trained(weights, trained)

    @classmethod
    def pieces_of(cls, settings: AncestorHeads) -> PieceMode | None:
        """Return ``share``, if trees are learned: all pieces of a word have its parent."""
        return "share" if settings.loss_weight else None

    @torch.no_grad()
    def reset(self) -> None:
        """Set all gates to 0."""
        self.gates.zero_()

    def forward(self, states: Tensor, syntax: Syntax, *, teach: bool) -> Scores:
        """Compute what is added to the scores of the layer's heads, and the loss of parents.

        Args:
            states: input of the layer, ``[batch, n, width]``.
            syntax: tensors of the batch; the columns of the tree are read to teach.
            teach: whether to compute the loss.

        Raises:
            InputError: syntax tensors that the loss needs are missing.
        """
        dependents, heads = self.as_dependent(states), self.as_head(states)
        device = states.device.type
        exact = torch.autocast(device, enabled=False)
        with exact if torch.is_autocast_enabled(device) else nullcontext():
            products = dependents.float() @ heads.float().mT / self.settings.width**0.5
            is_padding = syntax.attention_mask.unsqueeze(1) == 0
            lowest = torch.finfo(products.dtype).min
            logs = products.masked_fill(is_padding, lowest).log_softmax(-1)
            wanted = self._wanted(logs).clamp(min=math.log(LOWEST))
            bias = self.gates.float().unsqueeze(1) * wanted.flatten()
            loss = None
            if teach and self.taught:
                tree = (syntax.require(name) for name in TREE)
                loss = self.settings.loss_weight * parent_loss(logs, *tree)
        return Scores(F.pad(bias, (0, 0, 0, self.others)), loss)

    def _wanted(self, logs: Tensor) -> Tensor:
        """Return log probabilities that piece j is what the heads attend to from piece i.

        Args:
            logs: log probabilities that it belongs to the parent, ``[batch, n, n]``.
        """
        if self.settings.attend_to == "parent":
            return logs
        if self.settings.attend_to == "children":
            return logs.mT
        one = logs.exp()
        # The first piece stands above the roots, and nothing above it.
        one = torch.cat([torch.zeros_like(one[:, :1]), one[:, 1:]], dim=1)
        two = one @ one
        three = one + two + two @ one  # up to three arcs
        four = two @ two
        return torch.clamp(three + four + four @ three, LOWEST, 1.0).log()

    @classmethod
    def learned_numbers(
        cls, settings: AncestorHeads, weights: Mapping[str, Callable[[], list[float]]]
    ) -> dict[str, float]:
        """Return the mean of the gates."""
        gates = weights["gates"]()
        return {"mean gate of ancestor heads": sum(gates) / len(gates)}


def parent_loss(logs: Tensor, enter: Tensor, exit: Tensor, depth: Tensor, word: Tensor) -> Tensor:
    """Compute the mean negative log probability of the parents of all pieces.

    A piece may choose any piece of its word's parent, and those of roots the first piece of the
    sequence, a special token.  Pieces without a word, and those whose parent is not in the
    sequence, are not counted.

    Args:
        logs: log probabilities that piece j belongs to the parent of piece i, ``[batch, n, n]``.
        enter: start of each piece's interval, ``[batch, n]``; pieces of a word must share it.
        exit: end of each piece's interval, ``[batch, n]``.
        depth: number of arcs to the root of the sentence, ``[batch, n]``.
        word: number of each piece's word, negative for pieces without a word, ``[batch, n]``.

    Returns:
        A number; 0 if no piece is counted.
    """
    is_arc = depth.unsqueeze(2) - depth.unsqueeze(1) == 1
    is_parent = ancestor_mask(enter, exit) & is_arc & (word >= 0).unsqueeze(1)
    is_root = (depth == 0) & (word >= 0)
    is_parent = torch.cat([is_root.unsqueeze(2), is_parent[:, :, 1:]], dim=2)
    has_parent = is_parent.any(-1) & (word >= 0)
    # Finite, since the gradient of a row of minus infinities is not a number.
    chosen = logs.masked_fill(~is_parent, torch.finfo(logs.dtype).min / 2).logsumexp(-1)
    total = torch.where(has_parent, -chosen, 0.0).sum()
    return total / has_parent.sum().clamp(min=1)
