"""An encoder that goes on pre-training with syntax: SEPREM's three objectives (section 4.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from syntagma.encoders.config import SyntagmaConfig
from syntagma.encoders.cpu.cross_entropy import cross_entropy
from syntagma.encoders.lm_heads import lm_head_weights
from syntagma.encoders.reference import ModelRef
from syntagma.errors import InputError
from syntagma.models.distance_layer import DistanceLayers
from syntagma.models.guide import Syntax
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.guides import require_shared_pieces
from syntagma.models.objectives import (
    IGNORED,
    HiddenDistances,
    head_places,
    hide_distances,
    hide_pieces,
)
from syntagma.models.piece_head import PieceHead
from syntagma.syntax.distances import Direction, tree_distances

OBJECTIVES = ("mlm", "distances", "heads")
"""Masked language model (MLM), distance prediction (DP) and head prediction (HP)."""


@dataclass(frozen=True)
class PretrainingHead:
    """Settings of pre-training.

    Args:
        mlm: weight of the masked language model's loss; 0 turns the objective off.
        distances: weight of distance prediction.
        heads: weight of head prediction.
        asked_heads: of ``all`` words, or of those alone whose arc is ``hidden`` from the layers,
            which can read the heads of the others.
        max_length: pieces of a sequence, special ones included.
        sequences: ``documents`` packs the sentences of a document one after another as far as they
            fit; ``full`` goes on with the next document, so that every place of a sequence is
            learnt; ``sentences`` reads each by itself.
        mlm_probability: share of the pieces that is chosen.
        hidden_distances: share of the distances that is chosen.
        longest: longer distances count as this long.
        head_width: of the vectors by which words find their heads.
        mask_token_id: the piece that stands for a hidden one; found in the tokenizer.
    """

    mlm: float = 1.0
    distances: float = 1.0
    heads: float = 1.0
    asked_heads: Literal["all", "hidden"] = "all"
    max_length: int = 128
    sequences: Literal["documents", "full", "sentences"] = "documents"
    mlm_probability: float = 0.15
    hidden_distances: float = 0.15
    longest: int = 16
    head_width: int = 256
    mask_token_id: int = -1

    def __post_init__(self) -> None:
        for name in OBJECTIVES:
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(f"{name} is a weight of at least 0, got {getattr(self, name)}")
        if not any(getattr(self, name) for name in OBJECTIVES):
            raise InputError("every objective has weight 0; set mlm, distances or heads to 1")
        for name in ("mlm_probability", "hidden_distances"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError(f"{name} is a share above 0, got {getattr(self, name)}")
        for name in ("longest", "head_width"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.asked_heads == "hidden" and not self.distances:
            raise InputError("asked_heads is hidden, but arcs are hidden for the distances alone, "
                             "which have weight 0; set asked_heads to all")  # fmt: skip
        if self.max_length < 8:
            raise InputError(f"max_length must be at least 8, got {self.max_length}")


class ObjectiveScores(NamedTuple):
    """The scores of an objective, and what they should have been.

    Args:
        scores: ``[n_targets, n_classes]``.
        targets: the right classes, ``[n_targets]``.
        hidden: for heads, which arcs were hidden from the layers, ``[n_targets]``.
        only_hidden: the loss is that of the hidden ones.
    """

    scores: Tensor
    targets: Tensor
    hidden: Tensor | None = None
    only_hidden: bool = False

    @property
    def loss(self) -> Tensor:
        """Mean cross-entropy, 0 where there is nothing to predict."""
        scores, targets = self.scores, self.targets
        if self.only_hidden:
            assert self.hidden is not None
            scores, targets = scores[self.hidden], targets[self.hidden]
        if not len(targets):
            return scores.sum()
        return cross_entropy(scores, targets)


class PretrainingScores(NamedTuple):
    """What a batch gives.

    Args:
        objectives: by their names in :data:`OBJECTIVES`, those with a weight.
        loss: the weighted sum of their losses.
    """

    objectives: dict[str, ObjectiveScores]
    loss: Tensor


class PretrainingModel(GuidedEncoder):
    """A guided encoder with the heads of the objectives.

    The distances that are to be predicted are hidden in what the distance layers read.
    """

    head_class = PretrainingHead
    head: PretrainingHead

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        if self.head.distances or self.head.heads:
            require_shared_pieces(config.guides, "head: prediction of distances and heads")
        width = config.encoder.hidden_size
        if self.head.mlm:
            self.piece_head = PieceHead.build(config.encoder)
        if self.head.distances:
            # Linear over the states of both pieces put together, one part a piece.
            self.upper = nn.Linear(width, self.head.longest)
            self.lower = nn.Linear(width, self.head.longest, bias=False)
        if self.head.heads:
            self.as_dependent = nn.Linear(width, self.head.head_width)
            self.as_head = nn.Linear(width, self.head.head_width)
        self.post_init()

    def after_encoder_loaded(self, ref: ModelRef) -> None:
        """Also take over the checkpoint's own language-model head, where it has one."""
        super().after_encoder_loaded(ref)
        if self.head.mlm:
            weights = lm_head_weights(ref, self.config.encoder)
            self.piece_head.start_from(weights)
            self.pretrained_keys |= {f"piece_head.{key}" for key in weights}

    @property
    def syntax_columns(self) -> tuple[str, ...]:
        """What guides and objectives read."""
        read = {*super().syntax_columns, "enter", "exit", "depth", "word"}
        return tuple(name for name in Syntax._fields if name in read)

    def forward(  # type: ignore[override]
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        token_type_ids: Tensor | None = None,
        **syntax: Any,
    ) -> PretrainingScores:
        """Hide, read, predict.

        Args:
            input_ids: ``[batch, n]``.
            attention_mask: ``[batch, n]``.
            token_type_ids: ``[batch, n]``.
            syntax: ``enter``, ``exit``, ``depth`` and ``word``, and what guides read besides.
        """
        word = syntax["word"]
        read, targets = input_ids, None
        if self.head.mlm:
            read, targets = hide_pieces(
                input_ids,
                word >= 0,
                share=self.head.mlm_probability,
                mask_token_id=self.head.mask_token_id,
                n_pieces=self.config.encoder.vocab_size,
            )
        hidden = self._hide_distances(syntax) if self.head.distances else None
        states = self.encode(
            read,
            attention_mask,
            token_type_ids,
            **syntax,
            distances=None if hidden is None else hidden.distances,
        ).last_hidden_state
        objectives = {}
        if targets is not None:
            objectives["mlm"] = self._score_pieces(states, targets)
        if hidden is not None:
            objectives["distances"] = self._score_distances(states, hidden)
        if self.head.heads:
            objectives["heads"] = self._score_heads(states, syntax, hidden)
        losses = [getattr(self.head, name) * found.loss for name, found in objectives.items()]
        return PretrainingScores(objectives, torch.stack(losses).sum())

    def _hide_distances(self, syntax: dict[str, Tensor]) -> HiddenDistances:
        guide = getattr(self, "tree_distance", None)
        direction: Direction = "down"
        if isinstance(guide, DistanceLayers):
            direction = guide.settings.direction
        distances = tree_distances(*_tree(syntax), direction=direction)
        return hide_distances(
            distances,
            syntax["word"],
            share=self.head.hidden_distances,
            longest=self.head.longest,
        )

    def _score_pieces(self, states: Tensor, targets: Tensor) -> ObjectiveScores:
        chosen = targets != IGNORED
        vectors = self.get_input_embeddings().weight
        return ObjectiveScores(self.piece_head(states[chosen], vectors), targets[chosen])

    def _score_distances(self, states: Tensor, hidden: HiddenDistances) -> ObjectiveScores:
        row, one, other = hidden.places.T
        scores = self.upper(states)[row, one] + self.lower(states)[row, other]
        return ObjectiveScores(scores, hidden.targets.clamp(max=self.head.longest) - 1)

    def _score_heads(
        self, states: Tensor, syntax: dict[str, Tensor], hidden: HiddenDistances | None
    ) -> ObjectiveScores:
        word = syntax["word"]
        up = tree_distances(*_tree(syntax), direction="up")
        candidates, targets = head_places(up, word, syntax["depth"])
        asked = targets != IGNORED
        row, place = asked.nonzero().T
        products = self.as_dependent(states) @ self.as_head(states).mT
        scores = products[row, place] / self.head.head_width**0.5
        scores = scores.masked_fill(~candidates[row], -torch.inf)
        targets = targets[asked]
        unseen = None
        if hidden is not None:
            read = hidden.distances
            seen = read[row, place, targets] + read[row, targets, place] > 0
            unseen = ~seen & (targets > 0)
        return ObjectiveScores(scores, targets, unseen, self.head.asked_heads == "hidden")


def _tree(syntax: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return syntax["enter"], syntax["exit"], syntax["depth"], syntax["word"]
