"""Decide what a user gets for a question about several paragraphs.

The rule is that for one passage (:mod:`syntagma.tasks.spans.outcomes`).  The two numbers are not:
the best of many candidates has a high score more often than the best of one passage, also if no
paragraph holds an answer.  So a reader can have two more calibrations, one for paragraphs that a
retriever has scored, and one for paragraphs without scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from syntagma.models.calibration import Calibration
from syntagma.models.open_model import OpenHead
from syntagma.tasks.open_qa.answers import Candidate, OpenPrediction
from syntagma.tasks.open_qa.data import Paragraph
from syntagma.tasks.open_qa.features import rank_paragraphs
from syntagma.tasks.spans.answers import BaseAnswer, Mode
from syntagma.tasks.spans.outcomes import give


@dataclass(frozen=True, slots=True, repr=False)
class OpenAnswer(BaseAnswer[Candidate, OpenPrediction]):
    """What a user gets for a question about several paragraphs.

    Its fields are those of :class:`~syntagma.tasks.spans.answers.BaseAnswer`.
    """

    @property
    def paragraph(self) -> int | None:
        """Index of the paragraph of ``text`` in the list of paragraphs; ``None`` without text."""
        return self.spans[0].paragraph if self.spans else None

    @property
    def pid(self) -> str:
        """Id of the paragraph of ``text``; empty without text."""
        return self.spans[0].pid if self.spans else ""

    def place(self) -> dict[str, Any]:
        """Return where ``text`` is, as plain values."""
        return {"paragraph": self.paragraph, "pid": self.pid} | BaseAnswer.place(self)


def give_open_answer(
    prediction: OpenPrediction, paragraphs: Mapping[int, Paragraph], head: OpenHead, mode: Mode
) -> OpenAnswer:
    """Turn pooled candidates into what a user gets.

    Args:
        prediction: the candidates.
        paragraphs: those that were read, by their index; a retriever scored all of them, or none.
        head: settings of the reader, with its calibrations.
        mode: the mode.
    """
    ranked = rank_paragraphs(prediction, paragraphs, head)
    return give(
        OpenAnswer,
        prediction,
        ranked,
        calibration=find_calibration(head, scored="retrieval" in ranked.features),
        fitted_threshold=head.null_score_diff_threshold,
        mode=mode,
    )


def find_calibration(head: OpenHead, *, scored: bool) -> Calibration | None:
    """Return the calibration that is used for several paragraphs; ``None`` if there is none.

    Args:
        head: settings of the reader.
        scored: whether a retriever has scored the paragraphs.
    """
    for_scored = head.retrieval_calibration if scored else None
    return for_scored or head.paragraphs_calibration or head.calibration
