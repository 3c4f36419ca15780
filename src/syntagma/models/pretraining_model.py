"""Continued pre-training of an encoder with SEPREM's three objectives (section 4.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from transformers.utils import ModelOutput

from syntagma.encoders.config import SyntagmaConfig
from syntagma.encoders.cpu.cross_entropy import cross_entropy
from syntagma.encoders.lm_heads import lm_head_weights
from syntagma.encoders.model_card import CardKind, class_usage
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
from syntagma.models.outputs import States
from syntagma.models.piece_head import PieceHead
from syntagma.settings import require_at_least
from syntagma.syntax.distances import Direction, tree_distances

OBJECTIVES = ("mlm", "distances", "heads")
"""Masked language model (MLM), distance prediction (DP) and head prediction (HP)."""


@dataclass(frozen=True)
class PretrainingHead:
    """Settings of pre-training.

    Args:
        mlm: weight of the masked language model's loss; 0 turns the objective off.
        distances: weight of the loss of distance prediction; 0 turns it off.
        heads: weight of the loss of head prediction; 0 turns it off.
        asked_heads: words whose heads are predicted: ``all``, or only those whose arc is ``hidden``
            from the layers; of other words, the layers can read the heads.
        max_length: tokens per sequence, with special tokens.
        sequences: ``documents`` packs consecutive sentences of a document into a sequence; ``full``
            continues with the next document, so that every position of a sequence is trained;
            ``sentences`` makes each sentence a sequence.
        mlm_probability: share of the pieces that is masked.
        hidden_distances: share of the distances that is masked.
        longest: largest distance class; longer distances belong to it too.
        head_width: width of the vectors that are compared to find heads.
        mask_token_id: id of the mask token; set from the tokenizer.
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
                raise InputError(f"{name} must be at least 0, got {getattr(self, name)}")
        if not any(getattr(self, name) for name in OBJECTIVES):
            raise InputError("every objective has weight 0; set mlm, distances or heads to 1")
        for name in ("mlm_probability", "hidden_distances"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError(f"{name} must lie in (0, 1], got {getattr(self, name)}")
        require_at_least(self, 1, "longest", "head_width")
        if self.asked_heads == "hidden" and not self.distances:
            raise InputError(
                "asked_heads=hidden needs distance prediction, which hides the arcs, but "
                "distances=0; set asked_heads=all"
            )
        require_at_least(self, 8, "max_length")


class ObjectiveScores(NamedTuple):
    """Scores and targets of one objective.

    Args:
        scores: logits, ``[n_targets, n_classes]``.
        targets: gold classes, ``[n_targets]``.
        hidden: for head prediction, true at arcs hidden from the layers, ``[n_targets]``.
        only_hidden: whether the loss includes only hidden arcs.
    """

    scores: Tensor
    targets: Tensor
    hidden: Tensor | None = None
    only_hidden: bool = False

    @property
    def loss(self) -> Tensor:
        """Mean cross-entropy; 0 if there are no targets."""
        scores, targets = self.scores, self.targets
        if self.only_hidden:
            assert self.hidden is not None
            scores, targets = scores[self.hidden], targets[self.hidden]
        if not len(targets):
            # A zero with gradients: under DDP every parameter needs one.
            return scores.sum()
        return cross_entropy(scores, targets)


@dataclass
class PretrainingScores(ModelOutput):  # type: ignore[misc]
    """Scores and loss of a batch.

    Args:
        loss: weighted sum of the losses of the objectives.
        objectives: scores of the objectives with a weight, by their names in :data:`OBJECTIVES`.
        hidden_states: as in :class:`syntagma.models.outputs.GuidedStates`.
        attentions: as in :class:`syntagma.models.outputs.GuidedStates`.
    """

    loss: Tensor = None  # type: ignore[assignment]
    objectives: dict[str, ObjectiveScores] = None  # type: ignore[assignment]
    hidden_states: States | None = None
    attentions: States | None = None


class PretrainingModel(GuidedEncoder):
    """A guided encoder with a head for each objective.

    Distances that are to be predicted are masked in the input of the distance layers.
    """

    default_task = "pretraining"
    card_kind = CardKind("feature-extraction", class_usage("GuidedEncoder"))
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
            # A linear map of two concatenated states, split into one map per state: the product is
            # computed once per piece in place of once per pair.
            self.upper = nn.Linear(width, self.head.longest)
            self.lower = nn.Linear(width, self.head.longest, bias=False)
        if self.head.heads:
            self.as_dependent = nn.Linear(width, self.head.head_width)
            self.as_head = nn.Linear(width, self.head.head_width)
        self.post_init()

    def after_encoder_loaded(self, ref: ModelRef) -> None:
        """Also load the language-model head of the checkpoint, if it has one."""
        super().after_encoder_loaded(ref)
        if self.head.mlm:
            weights = lm_head_weights(ref, self.config.encoder)
            self.piece_head.start_from(weights)
            self.pretrained_keys |= {f"piece_head.{key}" for key in weights}

    @property
    def syntax_columns(self) -> tuple[str, ...]:
        """Names of the tensors that guides and objectives read."""
        read = {*super().syntax_columns, "enter", "exit", "depth", "word"}
        return tuple(name for name in Syntax._fields if name in read)

    def forward(  # type: ignore[override]
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        token_type_ids: Tensor | None = None,
        **syntax: Any,
    ) -> PretrainingScores:
        """Mask pieces and distances, encode, and predict them and the heads.

        Args:
            input_ids: ``[batch, n]``.
            attention_mask: 0 at padding, ``[batch, n]``.
            token_type_ids: ``[batch, n]``.
            syntax: ``enter``, ``exit``, ``depth`` and ``word``, and further tensors that guides
                read, ``[batch, n]`` each.
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
        encoded = self.encode(
            read,
            attention_mask,
            token_type_ids,
            **syntax,
            distances=None if hidden is None else hidden.distances,
        )
        states = encoded.last_hidden_state
        objectives = {}
        if targets is not None:
            objectives["mlm"] = self._score_pieces(states, targets)
        if hidden is not None:
            objectives["distances"] = self._score_distances(states, hidden)
        if self.head.heads:
            objectives["heads"] = self._score_heads(states, syntax, hidden)
        losses = [getattr(self.head, name) * found.loss for name, found in objectives.items()]
        loss = encoded.with_guide_loss(torch.stack(losses).sum())
        return PretrainingScores(loss=loss, objectives=objectives, **encoded.inner)

    def _hide_distances(self, syntax: dict[str, Tensor]) -> HiddenDistances:
        """Mask distances in the direction that the guide reads."""
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
        """Predict masked pieces; only their scores are computed, as the vocabulary is large."""
        chosen = targets != IGNORED
        vectors = self.get_input_embeddings().weight
        return ObjectiveScores(self.piece_head(states[chosen], vectors), targets[chosen])

    def _score_distances(self, states: Tensor, hidden: HiddenDistances) -> ObjectiveScores:
        """Predict masked distances as classes."""
        row, one, other = hidden.places.T
        scores = self.upper(states)[row, one] + self.lower(states)[row, other]
        return ObjectiveScores(scores, hidden.targets.clamp(max=self.head.longest) - 1)

    def _score_heads(
        self, states: Tensor, syntax: dict[str, Tensor], hidden: HiddenDistances | None
    ) -> ObjectiveScores:
        """Predict heads by comparing each dependent with all candidates of its sequence."""
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
            # The layers see an arc in one direction or the other; roots (target 0) have none.
            read = hidden.distances
            seen = read[row, place, targets] + read[row, targets, place] > 0
            unseen = ~seen & (targets > 0)
        return ObjectiveScores(scores, targets, unseen, self.head.asked_heads == "hidden")


def _tree(syntax: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the tensors that distances are computed from."""
    return syntax["enter"], syntax["exit"], syntax["depth"], syntax["word"]
