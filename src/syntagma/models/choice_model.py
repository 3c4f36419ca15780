"""A guided encoder that scores each option of a question by itself.

SG-Net section 3.4.1 and POI-Net section 2.4.1: a sequence an option, one score a sequence, softmax
over the options.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from syntagma.encoders.config import SyntagmaConfig
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.pooling import Pooling, find_pooling, pool_states

Layout = Literal["passage|question+option", "passage+question|option"]


@dataclass(frozen=True)
class ChoiceHead:
    """Settings of multiple choice.

    Args:
        max_length: pieces of a sequence, special ones included; longer passages lose their end.
        layout: which texts stand on which side of the separator (POI-Net; SG-Net).
        fill_blank: put the option in the place of ``_`` in questions that have one, as in RACE's
            cloze questions, instead of behind the question.
        pooling: how a sequence becomes one vector.
        dropout: on that vector.
    """

    max_length: int = 512
    layout: Layout = "passage|question+option"
    fill_blank: bool = False
    pooling: Pooling = "max"
    dropout: float = 0.1

    def __post_init__(self) -> None:
        if self.max_length < 16:
            raise InputError(f"max_length must be at least 16, got {self.max_length}")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must lie in [0, 1), got {self.dropout}")


class ChoiceScores(NamedTuple):
    """Scores of a batch of questions.

    Args:
        options: ``[n_questions, most_options]``, minus infinity where there is no option.
        loss: where gold answers were given.
    """

    options: Tensor
    loss: Tensor | None


class ChoiceModel(GuidedEncoder):
    """A guided encoder with one score for each sequence."""

    head_class = ChoiceHead
    head: ChoiceHead

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        self.pooling = find_pooling(self.head.pooling, config.guides)
        self.dropout = nn.Dropout(self.head.dropout)
        self.option_score = nn.Linear(config.encoder.hidden_size, 1)
        self.post_init()

    def forward(  # type: ignore[override]
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        n_options: Tensor,
        answers: Tensor | None = None,
        **tensors: Any,
    ) -> ChoiceScores:
        """Score the options of a batch of questions, their sequences one after another.

        Args:
            input_ids: ``[n_sequences, n]``.
            attention_mask: ``[n_sequences, n]``.
            n_options: sequences of each question, ``[n_questions]``.
            answers: positions of the right options, ``[n_questions]``.
            tensors: token types and syntax, see :meth:`GuidedEncoder.encode`.
        """
        states = self.encode(input_ids, attention_mask, **tensors).last_hidden_state
        pooled = pool_states(states, attention_mask, self.pooling)
        scores = self.option_score(self.dropout(pooled)).squeeze(-1).float()
        place = torch.arange(int(n_options.max()), device=scores.device)
        options = scores.new_full((len(n_options), len(place)), -torch.inf)
        options = options.masked_scatter(place < n_options.unsqueeze(1), scores)
        loss = None if answers is None else F.cross_entropy(options, answers)
        return ChoiceScores(options, loss)
