"""A guided encoder for multiple choice.

SG-Net section 3.4.1 and POI-Net section 2.4.1: one sequence and one score per option, and a softmax
over the options.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from syntagma.encoders.config import SyntagmaConfig
from syntagma.encoders.model_card import CardKind, class_usage
from syntagma.errors import InputError
from syntagma.models.outputs import ChoiceScores
from syntagma.models.pooled_model import PooledModel
from syntagma.models.pooling import HeadPooling
from syntagma.settings import require_at_least

Layout = Literal["passage|question+option", "passage+question|option", "question+option|passage"]


@dataclass(frozen=True)
class ChoiceHead:
    """Settings of multiple choice.

    Args:
        max_length: tokens per sequence, with special tokens; longer passages are truncated.
        layout: which texts precede and follow the separator (POI-Net's layout; SG-Net's;
            SEPREM's).
        fill_blank: if a question has a blank ``_``, as RACE's cloze questions have, insert the
            option there, not after the question.
        pooling: how a sequence becomes one vector; ``pooler`` is the first piece through the
            encoder's own pooler (a linear map and tanh), as in SG-Net and SEPREM.
        dropout: dropout probability of that vector.
    """

    max_length: int = 512
    layout: Layout = "passage|question+option"
    fill_blank: bool = False
    pooling: HeadPooling = "max"
    dropout: float = 0.1

    def __post_init__(self) -> None:
        require_at_least(self, 16, "max_length")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must lie in [0, 1), got {self.dropout}")


class ChoiceModel(PooledModel):
    """A guided encoder with one score per sequence."""

    default_task = "choice"
    card_kind = CardKind(
        "multiple-choice", class_usage("Chooser", "model(passage, question, options).probabilities")
    )
    head_class = ChoiceHead
    head: ChoiceHead

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        self.set_pooling(self.head.pooling, config)
        self.dropout = nn.Dropout(self.head.dropout)
        self.option_score = nn.Linear(config.encoder.hidden_size, 1)
        self.post_init()

    def forward(  # type: ignore[override]
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        n_options: Tensor | None = None,
        labels: Tensor | None = None,
        **tensors: Any,
    ) -> ChoiceScores:
        """Score the options of a batch of questions.

        Args:
            input_ids: one sequence per option, in the order of the questions, ``[n_sequences, n]``;
                or, as in Transformers, ``[n_questions, n_options, n]``.
            attention_mask: 0 at padding, of the same shape.
            n_options: number of options of each question, ``[n_questions]``; needed unless the
                shape says it.
            labels: indices of the gold options, ``[n_questions]``.
            tensors: token types and syntax, see :meth:`GuidedEncoder.encode`.

        Raises:
            InputError: the numbers of options are missing.
        """
        if input_ids.dim() == 3:
            n_options = torch.full_like(input_ids[:, 0, 0], input_ids.shape[1])
            input_ids, attention_mask = input_ids.flatten(0, 1), attention_mask.flatten(0, 1)
            tensors = {
                name: value.flatten(0, 1) if isinstance(value, Tensor) else value
                for name, value in tensors.items()
            }
        if n_options is None:
            raise InputError(
                "n_options: expected the number of options of each question, or input_ids of shape "
                "[n_questions, n_options, n]"
            )
        encoded = self.encode(input_ids, attention_mask, **tensors)
        pooled = self.pool(encoded.last_hidden_state, attention_mask)
        scores = self.option_score(self.dropout(pooled)).squeeze(-1).float()
        place = torch.arange(int(n_options.max()), device=scores.device)
        # Questions may have different numbers of options.
        options = scores.new_full((len(n_options), len(place)), -torch.inf)
        options = options.masked_scatter(place < n_options.unsqueeze(1), scores)
        loss = None if labels is None else F.cross_entropy(options, labels)
        return ChoiceScores(loss=encoded.with_guide_loss(loss), logits=options, **encoded.inner)
