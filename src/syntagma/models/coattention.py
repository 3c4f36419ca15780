"""Iterative co-attention of POI-Net: passage and question weight each other's pieces in turns.

Section 2.2: each domain (passage or question) is pooled into one vector.  The score ŝ of a piece is
its cosine with the *other* domain's vector, scaled to [0, 1] within its own domain.  Turn t pools
the pieces scaled by the scores of turn t − 1, and compares them with the original states E.
Section 2.3: the scores of all turns are integrated into one, which E is multiplied with.  There are
no parameters.

The paper does not define the scaling of a domain with equal scores.  Here they become 1, so that
its states do not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import PretrainedConfig

from syntagma.encoders.sites import SITES
from syntagma.models.ancestor_attention import AncestorAttentionLayer, layer_like
from syntagma.models.guide import FirstPiece, StateGuide, Syntax
from syntagma.settings import require_at_least

EPSILON = 1e-6

Integration = Literal["average", "weighted", "forgetting", "intuition"]


@dataclass(frozen=True)
class CoAttention:
    """POI-Net: passage and question weight each other's pieces, after the last layer.

    Args:
        kind: ``iterative``, without parameters; or ``multi_head``, the paper's baseline, in which
            the pieces of each domain attend to those of the other in a Transformer layer.
        turns: number of turns; 0 does not change the states.
        integration: how ``iterative`` integrates the scores of all turns.
    """

    kind: Literal["iterative", "multi_head"] = "iterative"
    turns: int = 3
    integration: Integration = "forgetting"

    def __post_init__(self) -> None:
        require_at_least(self, 0, "turns")


class CoAttentionStates(NamedTuple):
    """Result of iterative co-attention.

    Args:
        states: weighted states R, ``[batch, n, width]``.
        scores: ŝ of each turn, ``[n_turns, batch, n]``; 0 at padding.
    """

    states: Tensor
    scores: Tensor


class IterativeCoAttention(nn.Module):
    """Weights pieces by their scores of several turns.

    Args:
        turns: number of turns T; 0 does not change the states.
        integration: how the scores of the turns are integrated:

            ``average``: their mean;
            ``weighted``: their mean weighted by the confidence β of each turn;
            ``forgetting``: a running mean, in which each new turn is weighted by its β;
            ``intuition``: their mean weighted by the product of β up to each turn.
    """

    def __init__(self, *, turns: int = 3, integration: Integration = "forgetting") -> None:
        super().__init__()
        self.turns = turns
        self.integration = integration

    def forward(self, states: Tensor, domain: Tensor) -> CoAttentionStates:
        """Weight the pieces of both domains.

        Args:
            states: the encoder's states E, ``[batch, n, width]``.
            domain: 0 for the passage, 1 for the question, negative for padding, ``[batch, n]``.
        """
        if self.turns == 0:
            return CoAttentionStates(states, states.new_zeros(0, *domain.shape))
        # Both domains at once, the passage first: [batch, 2, n].
        inside = domain.unsqueeze(1) == torch.arange(2, device=domain.device).unsqueeze(1)
        scores, confidences = [], []
        # 1.0 before the first turn (section 2.3), so that β is 1 in the first turn.
        highest = states.new_ones(states.shape[0], 2, dtype=_exact(states))
        spans = [_columns(part) for part in inside.unbind(1)]
        scaled, directions = states, _directions(states)
        for _ in range(self.turns):
            # The other domain's pool scores the pieces; its confidence is the other's too.
            pools = _pool(scaled, inside, spans).flip(1)
            cosines = _cosines(directions, pools)  # [batch, 2, n]
            confidences.append((highest.flip(1) + 1) / 2)
            highest = _highest(cosines, inside)
            score = _min_max(cosines, inside)  # [batch, 2, n]
            scores.append(score)
            scaled = states * score.sum(1).to(states.dtype).unsqueeze(-1)
        joined = self._integrate(torch.stack(scores), torch.stack(confidences).unsqueeze(-1))
        weight = joined.sum(1).to(states.dtype).unsqueeze(-1)  # [batch, n, 1]
        return CoAttentionStates(states * weight, torch.stack(scores).sum(2))

    def _integrate(self, scores: Tensor, confidences: Tensor) -> Tensor:
        """Integrate ŝ, ``[n_turns, batch, 2, n]``, with β, ``[n_turns, batch, 2, 1]``."""
        if self.integration == "average":
            return scores.mean(0)
        if self.integration == "forgetting":
            joined = scores[0]
            for score, confidence in zip(scores[1:], confidences[1:], strict=True):
                joined = (joined + confidence * score) / (1 + confidence)
            return joined
        weights = confidences if self.integration == "weighted" else confidences.cumprod(0)
        return (weights * scores).sum(0) / weights.sum(0).clamp(min=EPSILON)


class MultiHeadCoAttention(nn.Module):
    """The baseline of section 4.4: each domain attends to the other in a Transformer layer.

    Both domains and all turns share the layer.  If the other domain is empty, a piece attends to
    itself.

    Args:
        layer: layer of the same shape as the encoder's.
        turns: number of turns.
    """

    def __init__(self, layer: AncestorAttentionLayer, *, turns: int = 1) -> None:
        super().__init__()
        self.layer = layer
        self.turns = turns

    def forward(self, states: Tensor, domain: Tensor) -> Tensor:
        """Let the domains attend to each other.

        Args:
            states: the encoder's states E, ``[batch, n, width]``.
            domain: 0 for the passage, 1 for the question, negative for padding, ``[batch, n]``.

        Returns:
            ``[batch, n, width]``.
        """
        other = (domain.unsqueeze(2) != domain.unsqueeze(1)) & (domain >= 0).unsqueeze(1)
        itself = torch.eye(domain.shape[1], dtype=torch.bool, device=domain.device)
        mask = other | (itself & ~other.any(-1, keepdim=True))
        for _ in range(self.turns):
            states = self.layer(states, mask)
        return states


class CoAttentionGuide(StateGuide):
    """Co-attention as a guide.

    Args:
        settings: settings of the guide.
        attention: iterative or multi-head co-attention.
    """

    name = "coattention"
    settings_class = CoAttention
    columns = ("domain",)
    needs_two_texts = True

    def __init__(
        self, settings: CoAttention, attention: IterativeCoAttention | MultiHeadCoAttention
    ) -> None:
        super().__init__()
        self.settings = settings
        self.attention = attention

    @classmethod
    def first_piece(cls, settings: CoAttention) -> FirstPiece | None:
        """Return a reason: the lowest score in a domain is 0, and may be the first piece's."""
        if settings.kind != "iterative" or settings.turns == 0:
            return None
        return FirstPiece(
            "iterative co-attention, which may give the first piece the weight 0", "max"
        )

    @classmethod
    def build(cls, settings: CoAttention, encoder: PretrainedConfig) -> Self:
        """Build the kind of co-attention that the settings name."""
        if settings.kind == "multi_head":
            layer = layer_like(encoder, SITES.get(encoder.model_type))
            return cls(settings, MultiHeadCoAttention(layer, turns=settings.turns))
        attention = IterativeCoAttention(turns=settings.turns, integration=settings.integration)
        return cls(settings, attention)

    def forward(
        self, states: Tensor, syntax: Syntax, observed: dict[str, Any] | None = None
    ) -> Tensor:
        """Weight the pieces of both domains, or let the domains attend to each other.

        Args:
            states: the encoder's states, ``[batch, n, width]``.
            syntax: tensors of the batch; ``domain`` is read.
            observed: if given, iterative co-attention stores the scores of each turn under
                ``coattention``, ``[n_turns, batch, n]``.

        Raises:
            InputError: ``domain`` is missing.
        """
        result = self.attention(states, syntax.require("domain"))
        if not isinstance(result, CoAttentionStates):
            return result  # type: ignore[no-any-return]
        if observed is not None:
            observed["coattention"] = result.scores
        return result.states


def _pool(states: Tensor, inside: Tensor, spans: Sequence[slice]) -> Tensor:
    """Pool each domain by maximum, ``[batch, 2, width]``; zeros for a domain without pieces.

    Args:
        states: ``[batch, n, width]``.
        inside: which pieces are of each domain, ``[batch, 2, n]``.
        spans: the columns in which each domain has pieces.
    """
    pools = [
        states[:, span].masked_fill(~part[:, span].unsqueeze(-1), -torch.inf).amax(1)
        for part, span in zip(inside.unbind(1), spans, strict=True)
    ]
    empty = ~inside.any(-1, keepdim=True)
    return torch.stack(pools, 1).masked_fill(empty, 0.0)


def _columns(part: Tensor) -> slice:
    """Return the columns in which a domain has pieces, at least one; all columns on a GPU.

    A question has a tenth of the pieces of its passage.

    Args:
        part: which pieces are of the domain, ``[batch, n]``.
    """
    if part.device.type != "cpu" or torch.compiler.is_compiling():
        return slice(None)  # To look would wait for the GPU.
    columns = part.any(0).nonzero()
    if not len(columns):
        return slice(0, 1)
    return slice(int(columns[0]), int(columns[-1]) + 1)


def _directions(states: Tensor) -> Tensor:
    """Scale vectors to length 1, not in bfloat16 (see :func:`_cosines`)."""
    with torch.autocast(states.device.type, enabled=False):
        return F.normalize(states.to(_exact(states)), dim=-1)


def _cosines(directions: Tensor, pools: Tensor) -> Tensor:
    """Compute the cosine of every piece with each pool, ``[batch, 2, n]``.

    Not in bfloat16, in which a third of the pieces of a passage would have the score of another.

    Args:
        directions: vectors of the pieces, of length 1, ``[batch, n, width]``.
        pools: ``[batch, 2, width]``.
    """
    with torch.autocast(pools.device.type, enabled=False):
        return _directions(pools) @ directions.mT


def _exact(states: Tensor) -> torch.dtype:
    """Return the dtype of scores: float32, or more for more precise states."""
    return torch.promote_types(states.dtype, torch.float32)


def _highest(cosines: Tensor, inside: Tensor) -> Tensor:
    """Return the highest cosine of each domain, ``[batch, 2]``; 0 for a domain without pieces."""
    highest = cosines.masked_fill(~inside, -torch.inf).amax(-1)
    return highest.masked_fill(~inside.any(-1), 0.0)


def _min_max(cosines: Tensor, inside: Tensor) -> Tensor:
    """Scale cosines to [0, 1] within each domain, ``[batch, 2, n]``; 0 outside of it."""
    low = cosines.masked_fill(~inside, torch.inf).amin(-1, keepdim=True)
    high = cosines.masked_fill(~inside, -torch.inf).amax(-1, keepdim=True)
    width = high - low
    equal = ~(width > EPSILON)
    scaled = (cosines - low) / width.masked_fill(equal, 1.0)
    return scaled.masked_fill(equal, 1.0).masked_fill(~inside, 0.0)
