"""Figures: scores by groups of examples, and pictures of what models attend to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from syntagma.analysis.attention.draw import draw_attention, draw_turns
from syntagma.analysis.breakdown import Breakdown, break_down, write_breakdowns
from syntagma.analysis.groups import N_GROUPS, trend
from syntagma.errors import MissingExtraError
from syntagma.outputs import write_text
from syntagma.reproduce.plan import EntryPlan
from syntagma.reproduce.result import Cell, Measurement, ResultTable


def draw_figure(
    plan: EntryPlan, write: Callable[[Path], None]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Draw the figure of an entry to ``figure.svg`` in its folder.

    Args:
        plan: plan of the entry.
        write: draws the figure to a file.

    Returns:
        The paths of pictures, and messages.  If matplotlib is not installed, there is no picture,
        and the message says so.
    """
    picture = plan.folder / "figure.svg"
    try:
        plan.folder.mkdir(parents=True, exist_ok=True)
        write(picture)
    except MissingExtraError as error:
        return (), (str(error),)
    return (str(picture),), ()


def folders_of(plan: EntryPlan, column: int = 0) -> list[str]:
    """Return the run folders of a column in the order of the rows.

    Args:
        plan: plan of the entry.
        column: index of the column.
    """
    return [str(run.folder) for _, runs in plan.row_runs(column) for run in runs]


def measure_groups(plan: EntryPlan) -> Measurement:
    """Score groups of examples, and fit a line through the scores of each system.

    The options are ``property``, which examples are grouped by, and ``cuts``, the ways to choose
    the bounds of the groups.

    Args:
        plan: plan of the entry.
    """
    options = plan.entry.options
    breakdowns: list[Breakdown] = []
    names = [row.name for row, _ in plan.row_runs()]
    for place, column in enumerate(plan.columns):
        for cut in options["cuts"]:
            breakdown = break_down(folders_of(plan, place), options["property"], cut=cut)
            title = ", ".join(part for part in (column.name, f"equal {cut}") if part)
            systems = dict(zip(names, breakdown.systems.values(), strict=True))
            breakdowns.append(replace(breakdown, systems=systems, title=title))
    parts, cells, fewer = [], [], []
    for breakdown in breakdowns:
        title, rows = breakdown.title, breakdown.rows()
        # Groups without examples are dropped, so small data have fewer groups than the paper.
        if (n_groups := len(breakdown.grouping.groups)) < N_GROUPS:
            fewer.append(f"{n_groups} of {title}")
        parts.append(ResultTable(title, rows))
        for name, scores in breakdown.systems.items():
            slope, _ = trend(breakdown.grouping, scores)
            cells.append(Cell(name, f"slope, {title}", slope))
    pictures, notices = draw_figure(plan, lambda out: write_breakdowns(breakdowns, out))
    differs = (
        (f"groups: {', '.join(fewer)} instead of {N_GROUPS}; empty groups are skipped",)
        if fewer
        else ()
    )
    return Measurement(tuple(parts), tuple(cells), notices, differs, pictures)


def draw_pictures(plan: EntryPlan) -> Measurement:
    """Draw what models attend to in a given text.

    The options are ``picture`` (``attention`` for the last layer of each model, ``turns`` for the
    turns of co-attention), ``passage``, ``question``, and ``options`` for multiple choice.

    Args:
        plan: plan of the entry.
    """
    options, passage = plan.entry.options, plan.folder / "passage.txt"
    write_text(passage, options["passage"])
    rows = [["", "run"]]
    by_task: dict[str, list[str]] = {}
    for row, runs in plan.row_runs():
        rows.append([row.name, str(runs[0].folder)])
        by_task.setdefault(runs[0].experiment.task, []).append(str(runs[0].folder))
    # Models of different tasks read different inputs, so each task gets its own picture.
    titles, pictures = [], []
    for task, folders in by_task.items():
        part = f"_{task}" if len(by_task) > 1 else ""
        picture = plan.folder / f"{options['picture']}{part}.svg"
        given: dict[str, Any] = {"out": picture}
        if task == "choice":
            given["options"] = options["options"]
        if options["picture"] == "attention":
            # SG-Net's figure shows the first head.
            given |= {"head": 1, "show": options.get("show", "question")}
            titles += draw_attention(folders, passage, options["question"], **given)
        else:
            titles += draw_turns(folders, passage, options["question"], **given)
        pictures.append(str(picture))
    return Measurement((ResultTable("", rows),), lines=tuple(titles), pictures=tuple(pictures))
