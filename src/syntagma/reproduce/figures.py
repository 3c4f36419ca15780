"""Figures: scores by groups of examples, pictures of what models do."""

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
from syntagma.reproduce.plan import Plan
from syntagma.reproduce.result import Cell, Measured, Part

__all__ = ["draw_figure", "draw_pictures", "folders_of", "measure_groups"]


def draw_figure(
    plan: Plan, write: Callable[[Path], None]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Draw an entry as ``figure.svg`` in its folder.

    Args:
        plan: of the entry.
        write: draws into a file.

    Returns:
        The picture; and where plots cannot be drawn none, but a line that says why.
    """
    picture = plan.folder / "figure.svg"
    try:
        plan.folder.mkdir(parents=True, exist_ok=True)
        write(picture)
    except MissingExtraError as error:
        return (), (str(error),)
    return (str(picture),), ()


def folders_of(plan: Plan, column: int = 0) -> list[str]:
    """The run folders of a column, row after row."""
    return [str(run.folder) for _, runs in plan.row_runs(column) for run in runs]


def measure_groups(plan: Plan) -> Measured:
    """Scores by groups of examples, with a line through those of each system.

    The options are the property, and how it is cut (``cuts``).
    """
    options = plan.entry.options
    breakdowns: list[Breakdown] = []
    names = [row.name for row, _ in plan.row_runs()]
    for place, column in enumerate(plan.columns):
        for cut in options["cuts"]:
            found = break_down(folders_of(plan, place), options["property"], cut=cut)
            title = ", ".join(part for part in (column.name, f"equal {cut}") if part)
            systems = dict(zip(names, found.systems.values(), strict=True))
            breakdowns.append(replace(found, systems=systems, title=title))
    parts, cells, fewer = [], [], []
    for breakdown in breakdowns:
        title, rows = breakdown.title, breakdown.rows()
        if (n_groups := len(breakdown.grouping.groups)) < N_GROUPS:
            fewer.append(f"{n_groups} of {title}")
        parts.append(Part(title, rows))
        for name, scores in breakdown.systems.items():
            slope, _ = trend(breakdown.grouping, scores)
            cells.append(Cell(name, f"slope, {title}", slope))
    pictures, notices = draw_figure(plan, lambda out: write_breakdowns(breakdowns, out))
    differs = (
        (f"groups: {', '.join(fewer)} instead of {N_GROUPS}; empty ones are left out",)
        if fewer
        else ()
    )
    return Measured(tuple(parts), tuple(cells), notices, differs, pictures)


def draw_pictures(plan: Plan) -> Measured:
    """Pictures of what a model does as it reads a text of ours.

    The options are the ``picture`` (``attention``, each model's last layer, or ``turns`` of
    co-attention), the text, and what is asked about it.
    """
    options, passage = plan.entry.options, plan.folder / "passage.txt"
    write_text(passage, options["passage"])
    rows = [["", "run"]]
    by_task: dict[str, list[str]] = {}
    for row, runs in plan.row_runs():
        rows.append([row.name, str(runs[0].folder)])
        by_task.setdefault(runs[0].experiment.task, []).append(str(runs[0].folder))
    titles, pictures = [], []
    for task, folders in by_task.items():
        part = f"_{task}" if len(by_task) > 1 else ""
        picture = plan.folder / f"{options['picture']}{part}.svg"
        given: dict[str, Any] = {"out": picture}
        if task == "choice":
            given["options"] = options["options"]
        if options["picture"] == "attention":
            # The paper shows the first head.
            given |= {"head": 1, "show": options.get("show", "question")}
            titles += draw_attention(folders, passage, options["question"], **given)
        else:
            titles += draw_turns(folders, passage, options["question"], **given)
        pictures.append(str(picture))
    return Measured((Part("", rows),), lines=tuple(titles), pictures=tuple(pictures))
