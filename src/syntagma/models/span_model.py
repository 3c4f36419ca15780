"""A guided encoder that finds the answer to a question in a passage, and whether there is one.

SG-Net section 3.4.1 (journal version, eqs. 10–14): start and end scores are linear in the last
states; the verifier is a linear classifier of the state of the first piece.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from syntagma.encoders.config import SyntagmaConfig, read_config
from syntagma.encoders.hub_options import take_hub_options
from syntagma.encoders.model_card import CardKind, class_usage
from syntagma.encoders.placement import FIELDS as PLACEMENT
from syntagma.encoders.placement import take_placement
from syntagma.encoders.reference import ModelName, ModelRef, find_model
from syntagma.errors import InputError
from syntagma.models.calibration import (
    Calibration,
    ParagraphsCalibration,
    RetrievalCalibration,
)
from syntagma.models.outputs import SpanScores
from syntagma.models.pooled_model import PooledModel
from syntagma.models.pooling import AnyPooling
from syntagma.settings import require_at_least

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SpanHead:
    """Settings of extractive reading comprehension.

    Args:
        max_length: tokens per sequence, with special tokens.
        doc_stride: tokens between the starts of two windows over a long passage.
        max_question_length: tokens after which a question is truncated.
        max_answer_length: tokens of the longest answer.
        n_best_size: number of candidate answers per question.
        question_first: whether the model reads the question before the passage, as in BERT's script
            for SQuAD and the models trained with it; by default after it, as in SG-Net.
        objective: what is trained: ``spans``, ``answerability`` (a verifier), or ``both`` with one
            encoder.
        answerability_pooling: how a sequence becomes the vector from which answerability is
            predicted: as ``pooling`` of sentence pairs; ``pooler`` is SG-Net's verifier.
        distillation_weight: share of the loss against a teacher's probabilities, for questions
            that have some in the training data; the rest is the loss against the gold answer.
        verifier: folder of a model trained for answerability, whose scores are added.
        null_score_diff_threshold: δ: the model abstains if the score of no answer exceeds that of
            the best span by more than this; fitted on dev data.
        span_weight: β₁ in the verifier's formula (eq. 14); it is fixed while β₂ is fitted.
        answerability_weight: β₂ in the same formula; fitted on dev data.
        calibration: weights for the probabilities of an answer from one passage, which ``syntagma
            calibrate`` fits; none before that.
        paragraphs_calibration: the same for an answer from several paragraphs; without it,
            ``calibration`` is used, which makes too much of the best of many.
        retrieval_calibration: the same for paragraphs with the scores of a retriever; without it,
            their scores are ignored.
    """

    max_length: int = 384
    doc_stride: int = 128
    max_question_length: int = 64
    max_answer_length: int = 30
    n_best_size: int = 20
    question_first: bool = False
    objective: Literal["spans", "answerability", "both"] = "spans"
    answerability_pooling: AnyPooling = "auto"
    distillation_weight: float = 0.5
    verifier: str = ""
    null_score_diff_threshold: float = 0.0
    span_weight: float = 1.0
    answerability_weight: float = 0.0
    calibration: Calibration | None = None
    paragraphs_calibration: ParagraphsCalibration | None = None
    retrieval_calibration: RetrievalCalibration | None = None

    def __post_init__(self) -> None:
        require_at_least(
            self,
            1,
            "max_length",
            "doc_stride",
            "max_question_length",
            "max_answer_length",
            "n_best_size",
        )
        if not 0 <= self.distillation_weight <= 1:
            raise InputError(
                f"distillation_weight must be from 0 to 1, got {self.distillation_weight}"
            )
        if self.objective == "spans" and self.answerability_pooling != "auto":
            raise InputError(
                f"answerability_pooling: {self.answerability_pooling} has no effect with "
                f"objective: spans; set objective: answerability or both, or leave it out"
            )
        room = self.max_length - self.max_question_length - 8
        if self.doc_stride > room:
            raise InputError(
                f"doc_stride: expected at most {room}, so that windows cover the passage "
                f"(max_length {self.max_length} minus max_question_length "
                f"{self.max_question_length} minus 8 special tokens), got {self.doc_stride}"
            )


class SpanModel(PooledModel):
    """A guided encoder with start, end and answerability scores."""

    default_task = "spans"
    card_kind = CardKind(
        "question-answering",
        class_usage("Reader", "model(passage, question).text"),
        {"text": "When did the ferry leave?", "context": "The ferry left at dawn."},
    )
    head_class: ClassVar[type[SpanHead]] = SpanHead
    head: SpanHead

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        width = config.encoder.hidden_size
        self.span_scores = nn.Linear(width, 2)
        self.answerability = nn.Linear(width, 2) if self.head.objective != "spans" else None
        # A reader without answerability pools nothing, and needs no pooler.
        how = self.head.answerability_pooling
        self.set_pooling(how, config, where="head.answerability_pooling")
        if self.head.objective == "answerability":
            # DDP waits for the gradients of all trainable parameters.
            self.span_scores.requires_grad_(False)
        self.post_init()

    @property
    def reads_question_trees(self) -> bool:
        """Whether the trees of questions can change a score.

        Scores of spans are linear in the states of the passage, so a tree reaches them only through
        a guide inside the encoder or one that compares the texts.
        """
        return self.head.objective != "spans" or not all(
            guide.stays_in_text(guide.settings) for guide in self.guides
        )

    @classmethod
    def from_pretrained(cls, name: ModelName, **settings: Any) -> Self:  # type: ignore[override]
        """Load a saved model, or build a new one on a pretrained encoder.

        Args:
            name: as for :meth:`SyntagmaModel.from_pretrained`; a question-answering model that
                Transformers saved is loaded with its head if no settings of a new model are given.
            settings: as for :meth:`SyntagmaModel.from_pretrained`.

        Raises:
            InputError: there is no such model, or settings were given for a saved one.
        """
        ref = find_model(name, take_hub_options(settings))
        if ref.kind == "qa_model" and not settings.keys() - {*PLACEMENT}:
            return take_placement(settings).apply(cls.load_saved(ref))
        return super().from_pretrained(ref, **settings)

    def take_head(self, ref: ModelRef) -> None:
        """Load the head of a saved model if it has the same task, and compare the order of texts.

        Args:
            ref: the saved model, or a question-answering model that Transformers saved.
        """
        super().take_head(ref)
        saved = read_config(ref)
        trained = bool(saved.head.get("question_first"))
        if saved.task == self.config.task and trained != self.head.question_first:
            log.warning(
                "%s was trained with the question %s the passage; set head.question_first=%s to "
                "keep that order",
                ref.name,
                "before" if trained else "after",
                str(trained).lower(),
            )

    def forward(  # type: ignore[override]
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        context: Tensor | None = None,
        start_positions: Tensor | None = None,
        end_positions: Tensor | None = None,
        impossible: Tensor | None = None,
        start_targets: Tensor | None = None,
        end_targets: Tensor | None = None,
        **tensors: Any,
    ) -> SpanScores:
        """Score the pieces of a batch of windows.

        Args:
            input_ids: ``[batch, n]``.
            attention_mask: 0 at padding, ``[batch, n]``.
            context: true at the passage's pieces and at the first piece, which represents "no
                answer", ``[batch, n]``; by default, an answer may be anywhere but in padding.
            start_positions: first piece of the gold answer; 0 if it is not in the window,
                ``[batch]``.
            end_positions: last piece of the gold answer; 0 if it is not in the window, ``[batch]``.
            impossible: whether the question has no answer; by default, whether the window has none,
                ``[batch]``.
            start_targets: a teacher's probabilities that the answer starts at a piece, ``[batch,
                n]``; all 0 for a window without a teacher.
            end_targets: its probabilities that the answer ends there, ``[batch, n]``.
            tensors: token types and syntax, see :meth:`GuidedEncoder.encode`.
        """
        encoded = self.encode(input_ids, attention_mask, **tensors)
        states = encoded.last_hidden_state
        if context is None:
            context = attention_mask.bool()
        scores = self.span_scores(states).float().masked_fill(~context.unsqueeze(-1), -torch.inf)
        start, end = scores.unbind(-1)
        answerability = None
        if self.answerability is not None:
            pooled = self.pool(states, attention_mask)
            answerability = self.answerability(pooled).float()
        loss = None
        if start_positions is not None and end_positions is not None:
            loss = states.new_zeros((), dtype=torch.float32)
            if self.head.objective != "answerability":
                loss = self._span_loss(start, start_positions, start_targets) / 2
                loss = loss + self._span_loss(end, end_positions, end_targets) / 2
            if answerability is not None:
                wrong = (start_positions == 0) if impossible is None else impossible
                loss = loss + F.cross_entropy(answerability, wrong.long())
        return SpanScores(
            loss=encoded.with_guide_loss(loss),
            start_logits=start,
            end_logits=end,
            answerability_logits=answerability,
            **encoded.inner,
        )

    def _span_loss(self, scores: Tensor, gold: Tensor, targets: Tensor | None) -> Tensor:
        """Compute the mean loss against gold positions and, where there is one, a teacher.

        Args:
            scores: logits, ``[batch, n]``.
            gold: gold positions, ``[batch]``.
            targets: the teacher's probabilities, ``[batch, n]``, or ``None``.
        """
        if targets is None:
            return F.cross_entropy(scores, gold)
        losses = F.cross_entropy(scores, gold, reduction="none")
        # Pieces that cannot be chosen have minus infinity, and 0 times that is not a number.
        logs = F.log_softmax(scores, dim=-1).masked_fill(targets == 0, 0.0)
        soft = -(targets * logs).sum(-1)
        weights = self.head.distillation_weight * (targets.sum(-1) > 0)
        return ((1 - weights) * losses + weights * soft).mean()
