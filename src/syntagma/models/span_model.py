"""A guided encoder that points at the answer in a passage, and says whether there is one.

SG-Net section 3.4.1 (journal eqs. 10–14): start and end scores are linear in the final states; the
verifier is a linear classifier on the state of the first piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from syntagma.encoders.config import SyntagmaConfig
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.pooling import find_pooling, pool_states


@dataclass(frozen=True)
class SpanHead:
    """Settings of reading comprehension by spans.

    Args:
        max_length: pieces of a sequence, special ones included.
        doc_stride: pieces by which the window over a long passage advances.
        max_question_length: pieces after which a question is cut off.
        max_answer_length: pieces of the longest answer.
        n_best_size: candidates kept a question.
        objective: what is learned: ``spans``, ``answerability`` (a verifier), or ``both`` with
            one encoder.
        verifier: folder of a model trained for answerability that is asked too.
        null_score_diff_threshold: δ: abstain where the odds against an answer exceed it; fitted
            on dev data.
        span_weight: β₁ of the verifier's formula (eq. 14); what is fitted is β₂ beside it.
        answerability_weight: β₂; fitted on dev data.
    """

    max_length: int = 384
    doc_stride: int = 128
    max_question_length: int = 64
    max_answer_length: int = 30
    n_best_size: int = 20
    objective: Literal["spans", "answerability", "both"] = "spans"
    verifier: str = ""
    null_score_diff_threshold: float = 0.0
    span_weight: float = 1.0
    answerability_weight: float = 0.0

    def __post_init__(self) -> None:
        for name in (
            "max_length",
            "doc_stride",
            "max_question_length",
            "max_answer_length",
            "n_best_size",
        ):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        room = self.max_length - self.max_question_length - 8
        if self.doc_stride > room:
            raise InputError(
                f"doc_stride {self.doc_stride} is longer than the {room} pieces that max_length "
                f"{self.max_length} leaves for the passage beside a question of "
                f"{self.max_question_length}; pieces would be skipped"
            )


class SpanScores(NamedTuple):
    """Scores of a batch of windows.

    Args:
        start: ``[batch, n]``, minus infinity where no answer may begin.
        end: ``[batch, n]``, minus infinity where no answer may end.
        answerability: logits of (answerable, unanswerable), ``[batch, 2]``, or ``None``.
        loss: where gold positions were given.
    """

    start: Tensor
    end: Tensor
    answerability: Tensor | None
    loss: Tensor | None


class SpanModel(GuidedEncoder):
    """A guided encoder with start, end and answerability scores."""

    head_class: ClassVar[type[SpanHead]] = SpanHead
    head: SpanHead

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        width = config.encoder.hidden_size
        self.span_scores = nn.Linear(width, 2)
        self.answerability = nn.Linear(width, 2) if self.head.objective != "spans" else None
        self.pooling = find_pooling("auto", config.guides)
        if self.head.objective == "answerability":
            # Several processes wait for the gradients of all that can learn.
            self.span_scores.requires_grad_(False)
        self.post_init()

    def forward(  # type: ignore[override]
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        context: Tensor,
        start_positions: Tensor | None = None,
        end_positions: Tensor | None = None,
        impossible: Tensor | None = None,
        **tensors: Any,
    ) -> SpanScores:
        """Score the pieces of a batch of windows.

        Args:
            input_ids: ``[batch, n]``.
            attention_mask: ``[batch, n]``.
            context: true at the passage's pieces and at the first piece, which stands for "no
                answer", ``[batch, n]``.
            start_positions: gold start of the answer, 0 for none in this window, ``[batch]``.
            end_positions: gold last piece of the answer, 0 for none, ``[batch]``.
            impossible: whether the window holds no answer, ``[batch]``.
            tensors: token types and syntax, see :meth:`GuidedEncoder.encode`.
        """
        states = self.encode(input_ids, attention_mask, **tensors).last_hidden_state
        scores = self.span_scores(states).float().masked_fill(~context.unsqueeze(-1), -torch.inf)
        start, end = scores.unbind(-1)
        answerability = None
        if self.answerability is not None:
            pooled = pool_states(states, attention_mask, self.pooling)
            answerability = self.answerability(pooled).float()
        loss = None
        if start_positions is not None and end_positions is not None:
            loss = states.new_zeros((), dtype=torch.float32)
            if self.head.objective != "answerability":
                loss = F.cross_entropy(start, start_positions) / 2
                loss = loss + F.cross_entropy(end, end_positions) / 2
            if answerability is not None:
                wrong = (start_positions == 0) if impossible is None else impossible
                loss = loss + F.cross_entropy(answerability, wrong.long())
        return SpanScores(start, end, answerability, loss)
