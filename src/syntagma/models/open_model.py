"""The span model with settings for open-domain question answering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from syntagma.encoders.model_card import CardKind, class_usage
from syntagma.errors import InputError
from syntagma.models.span_model import SpanHead, SpanModel
from syntagma.settings import require_at_least

Aggregate = Literal["sum", "max"]


@dataclass(frozen=True)
class OpenHead(SpanHead):
    """Settings of open-domain question answering, in addition to those of :class:`SpanHead`.

    Args:
        paragraphs: maximum number of retrieved paragraphs that are read per question.
        aggregate: how the scores of several occurrences of one answer are combined: ``sum`` or
            ``max`` (:mod:`syntagma.tasks.open_qa.answers`).
        train_paragraphs: maximum number of retrieved paragraphs that training examples are chosen
            from, per question.
        train_positives: maximum number of training paragraphs with an answer, per question.
        train_negatives: maximum number of training paragraphs without an answer, per question.
    """

    paragraphs: int = 10
    aggregate: Aggregate = "sum"
    train_paragraphs: int = 10
    train_positives: int = 2
    train_negatives: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        require_at_least(self, 1, "paragraphs", "train_paragraphs", "train_positives")
        require_at_least(self, 0, "train_negatives")
        if self.objective == "answerability":
            raise InputError(
                "objective: expected spans or both, which train answers, got answerability"
            )


class OpenModel(SpanModel):
    """The span model with these settings; saved models of the task ``spans`` can be loaded too."""

    default_task = "open_qa"
    card_kind = CardKind(
        "question-answering", class_usage("OpenReader", "model.answer(question, paragraphs).text")
    )
    head_class = OpenHead
    head: OpenHead
