"""Calibrate a saved reader on labelled questions with several paragraphs each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from syntagma.encoders.reference import ModelName
from syntagma.errors import InputError
from syntagma.models.calibration import (
    Calibration,
    ParagraphsCalibration,
    RetrievalCalibration,
    require_share,
)
from syntagma.progress import predicting
from syntagma.tasks.open_qa.answers import OpenPrediction
from syntagma.tasks.open_qa.data import OpenExample
from syntagma.tasks.open_qa.features import rank_paragraphs
from syntagma.tasks.open_qa.task import OpenQaTask, gold_answers
from syntagma.tasks.spans.calibrate import FittedCalibration, Row, calibrate
from syntagma.tasks.spans.calibrate_reader import CalibratedReader, Target, read_labelled
from syntagma.tasks.spans.metrics import exact_of


def calibrate_on_paragraphs(
    name: ModelName,
    data: Sequence[str | Path],
    *,
    out: str | Path | None = None,
    unanswerable: float | None = None,
    skip_bad: bool = False,
    device: str = "cpu",
) -> CalibratedReader:
    """Fit the two numbers of a reader for answers from several paragraphs.

    One calibration is fitted without the retriever's scores, and if all paragraphs have scores, a
    second one with them.  Otherwise an earlier second one is removed: it would go on to decide for
    scored paragraphs, by questions of the past.

    Args:
        name: the reader, of the task ``spans`` or ``open_qa``.
        data: files of questions with paragraphs (:mod:`syntagma.tasks.open_qa.data`), some of them
            without an answer.
        out: folder to write; by default, the settings of the reader's own folder are changed.
        unanswerable: share of questions without an answer that the numbers assume; by default as
            before, or half.
        skip_bad: skip bad questions and count them.
        device: where to compute.

    Raises:
        InputError: the model is not a reader, the data cannot be used, or the folder cannot be
            written.
    """
    if unanswerable is not None:
        require_share(unanswerable, "--unanswerable")
    target = Target.of(name, out, ("open_qa", "spans"))
    task = OpenQaTask.from_pretrained(target.ref, device=device)
    examples = read_labelled(OpenQaTask, data, skip_bad=skip_bad)
    with predicting(len(examples)):
        rows = paragraph_rows(task, examples, task.predict(examples))
    head = task.reader.head
    before = head.paragraphs_calibration
    if unanswerable is None:
        unanswerable = 0.5 if before is None else before.unanswerable
    fitted: dict[str, FittedCalibration[Any]] = {
        "paragraphs_calibration": calibrate(
            rows, ParagraphsCalibration, unanswerable=unanswerable, before=before
        )
    }
    calibrations: dict[str, Calibration | None] = {"retrieval_calibration": None}
    if _are_scored(rows):
        fitted["retrieval_calibration"] = calibrate(
            rows,
            RetrievalCalibration,
            unanswerable=unanswerable,
            before=head.retrieval_calibration,
        )
    calibrations |= {setting: each.calibration for setting, each in fitted.items()}
    target.write(calibrations)
    n_unanswerable = sum(row.impossible for row in rows)
    return CalibratedReader(target.folder, fitted, len(rows), n_unanswerable)


def paragraph_rows(
    task: OpenQaTask, examples: Sequence[OpenExample], predictions: Sequence[OpenPrediction]
) -> list[Row]:
    """Compute what a calibration is fitted on; questions without any candidate are left out.

    A question has an answer if a paragraph that was read contains a gold answer.  Questions with
    the same first paragraph are held out together.

    Args:
        task: the reader with its settings.
        examples: labelled questions.
        predictions: for them, in the same order.
    """
    rows = []
    for example, prediction in zip(examples, predictions, strict=True):
        paragraphs = task.paragraphs_of(example)
        ranked = rank_paragraphs(prediction, paragraphs, task.reader.head)
        if ranked.candidates:
            gold = gold_answers(example, paragraphs)
            right = bool(gold) and bool(exact_of(ranked.candidates[0].text, gold))
            rows.append(Row(ranked.features, right, not gold, example.paragraphs[0].text))
    return rows


def _are_scored(rows: Sequence[Row]) -> bool:
    """Return whether a retriever has scored the paragraphs.

    Raises:
        InputError: it has for some questions, but not for others.
    """
    n_scored = sum("retrieval" in row.features for row in rows)
    if 0 < n_scored < len(rows):
        raise InputError(
            f"the paragraphs of {n_scored} questions have a retriever's scores, those of "
            f"{len(rows) - n_scored} have none; give scores for all questions, or for none"
        )
    return n_scored > 0
