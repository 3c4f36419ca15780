"""Print what users of a reader get in each mode, and how well its numbers are calibrated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syntagma.tasks.spans.calibrate_reader import CalibratedReader
    from syntagma.tasks.spans.reliability import CalibrationError

MODES = ("strict", "balanced", "lenient")
COLUMNS = {
    "HasAns_right": "right",
    "HasAns_wrong": "wrong",
    "HasAns_unsure": "unsure",
    "HasAns_none": "none",
    "HasAns_shown_f1": "F1 shown",
    "NoAns_none": "none",
    "NoAns_unsure": "unsure",
    "NoAns_answer": "answer",
    "right_of_answered": "right of answered",
}
"""Metrics of a mode that are printed, with the heads of their columns."""


def without_outcomes(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics that are not about one mode.

    Args:
        metrics: as ``evaluate`` returns them.
    """
    return {key: value for key, value in metrics.items() if key.partition(".")[0] not in MODES}


def outcome_lines(metrics: Mapping[str, Any]) -> Iterator[str]:
    """Format what users get in each mode as a table; nothing for models without modes.

    Args:
        metrics: as ``evaluate`` returns them.
    """
    if f"{MODES[0]}.answer" not in metrics:
        return
    shown = {key: head for key, head in COLUMNS.items() if f"{MODES[0]}.{key}" in metrics}
    widths = [max(len(head), 6) for head in shown.values()]
    groups = {"HasAns": "with an answer", "NoAns": "without", "right": ""}
    top = [""] * len(shown)
    for prefix, title in groups.items():
        first = next((n for n, key in enumerate(shown) if key.startswith(prefix)), None)
        if first is not None:
            top[first] = title
    yield ""
    yield "what users get, in % of the questions"
    # A title may be wider than its column, since the next ones of its group have none.
    line = f"{'':<10}"
    place = len(line)
    for title, width in zip(top, widths, strict=True):
        line = f"{line:<{place}}{title}" if title else line
        place += width + 2
    yield line.rstrip()
    heads = (f"{head:>{width}}" for head, width in zip(shown.values(), widths, strict=True))
    yield f"{'':<10}" + "  ".join(heads)
    for mode in MODES:
        values = (
            f"{metrics[f'{mode}.{key}']:>{width}.1f}"
            for key, width in zip(shown, widths, strict=True)
        )
        yield f"{mode:<10}" + "  ".join(values)


TITLES = {
    "calibration": "",
    "paragraphs_calibration": "without the retriever's scores",
    "retrieval_calibration": "with the retriever's scores",
}
"""What the calibrations of a reader are for, if there is more than one."""


def calibration_lines(found: CalibratedReader) -> Iterator[str]:
    """Format calibrations with their errors.

    Args:
        found: the calibrated reader.
    """
    share = next(iter(found.fitted.values())).calibration.unanswerable
    yield (
        f"{found.n_questions} questions, {found.n_unanswerable} of them without an answer; the "
        f"numbers assume {share:.0%} without one"
    )
    for setting, fitted in found.fitted.items():
        if len(found.fitted) > 1:
            yield f"{TITLES[setting]}:"
        yield _error_line("ece_confidence", fitted.confidence)
        yield _error_line("ece_no_answer", fitted.no_answer)
    if found.threshold is not None:
        yield f"{'threshold':<15} {found.threshold:.3f}"
    yield f"→ {found.folder}"


def _error_line(name: str, error: CalibrationError) -> str:
    return (
        f"{name:<15} {error.value:.3f}  (95 %: {error.low:.3f} to {error.high:.3f}; with so few "
        f"questions, perfect numbers would show {error.by_chance:.3f})"
    )
