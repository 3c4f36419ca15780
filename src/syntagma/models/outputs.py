"""The results of models, as Transformers returns them.

Each is a :class:`transformers.utils.ModelOutput`: fields can be read by name, by key and by number
(those without a value are not counted), and ``to_tuple`` returns the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from torch import Tensor
from transformers.utils import ModelOutput

Loss = TypeVar("Loss", Tensor, Tensor | None)
"""The loss of a task, or none without gold labels."""

States = tuple[Tensor, ...]
"""States or attention weights by layer."""


@dataclass
class GuidedStates(ModelOutput):  # type: ignore[misc]
    """Output of a guided encoder.

    Args:
        last_hidden_state: the states that a task reads, after all guides, ``[batch, n, width]``.
        hidden_states: the embeddings and the states after each layer of the encoder, with the
            guides that act inside it, ``[batch, n, width]`` each; if requested.
        attentions: attention weights of each layer, ``[batch, n_heads, n, n]``; if requested.
        observed: data for inspection by the guides' names; if requested.
        guide_loss: what guides learn from trees, to be added to the loss of the task; only in
            training, and if there are such guides.
    """

    last_hidden_state: Tensor = None  # type: ignore[assignment]
    hidden_states: States | None = None
    attentions: States | None = None
    observed: dict[str, Any] | None = None
    guide_loss: Tensor | None = None

    def with_guide_loss(self, loss: Loss) -> Loss:
        """Return the loss of a task, or none, together with what guides learn."""
        return loss if loss is None or self.guide_loss is None else loss + self.guide_loss

    @property
    def inner(self) -> dict[str, Any]:
        """What the outputs of task models take over from this one."""
        return {"hidden_states": self.hidden_states, "attentions": self.attentions}


@dataclass
class LabelScores(ModelOutput):  # type: ignore[misc]
    """Output of a classifier.

    Args:
        loss: the loss; ``None`` without gold labels.
        logits: scores of the labels, ``[batch, n_labels]``.
        hidden_states: as in :class:`GuidedStates`.
        attentions: as in :class:`GuidedStates`.
    """

    loss: Tensor | None = None
    logits: Tensor = None  # type: ignore[assignment]
    hidden_states: States | None = None
    attentions: States | None = None


@dataclass
class SpanScores(ModelOutput):  # type: ignore[misc]
    """Output of a model that finds answers in windows of passages.

    Args:
        loss: the loss; ``None`` without gold positions.
        start_logits: scores of the first piece of an answer, ``[batch, n]``; minus infinity where
            none can begin.
        end_logits: scores of the last piece, ``[batch, n]``; minus infinity where none can end.
        answerability_logits: scores of answerable and unanswerable, ``[batch, 2]``; ``None`` for
            the objective ``spans``.
        hidden_states: as in :class:`GuidedStates`.
        attentions: as in :class:`GuidedStates`.
    """

    loss: Tensor | None = None
    start_logits: Tensor = None  # type: ignore[assignment]
    end_logits: Tensor = None  # type: ignore[assignment]
    answerability_logits: Tensor | None = None
    hidden_states: States | None = None
    attentions: States | None = None


@dataclass
class ChoiceScores(ModelOutput):  # type: ignore[misc]
    """Output of a model for multiple choice.

    Args:
        loss: cross-entropy; ``None`` without gold answers.
        logits: scores of the options, ``[n_questions, most_options]``; minus infinity beyond the
            last option.
        hidden_states: as in :class:`GuidedStates`, of one sequence per option.
        attentions: as in :class:`GuidedStates`, of one sequence per option.
    """

    loss: Tensor | None = None
    logits: Tensor = None  # type: ignore[assignment]
    hidden_states: States | None = None
    attentions: States | None = None
