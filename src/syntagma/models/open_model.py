"""A span model with the settings of reading many paragraphs a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from syntagma.errors import InputError
from syntagma.models.span_model import SpanHead, SpanModel

Aggregate = Literal["sum", "max"]


@dataclass(frozen=True)
class OpenHead(SpanHead):
    """Settings of open-domain question answering, beside those of reading one paragraph.

    Args:
        paragraphs: the most that are read to answer a question, those retrieved first.
        aggregate: what several places of one answer count together: ``sum`` or ``max``
            (:mod:`syntagma.tasks.open_qa.answers`).
        train_paragraphs: the most from which those to learn from are chosen, those retrieved first.
        train_positives: the most with an answer that are learned from, a question.
        train_negatives: the most without one, a question.
    """

    paragraphs: int = 10
    aggregate: Aggregate = "sum"
    train_paragraphs: int = 10
    train_positives: int = 2
    train_negatives: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("paragraphs", "train_paragraphs", "train_positives"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.train_negatives < 0:
            raise InputError(f"train_negatives must not be negative, got {self.train_negatives}")
        if self.objective == "answerability":
            raise InputError("objective answerability learns no answers; write spans or both")


class OpenModel(SpanModel):
    """The span model under the settings above; that of the task ``spans`` can be loaded as one."""

    head_class = OpenHead
    head: OpenHead
