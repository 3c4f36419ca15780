"""Figures: scores by groups of examples, parts of speech at the boundaries of answers, pictures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from syntagma.errors import MissingExtraError
from syntagma.files import write_text
from syntagma.pictures import draw_attention, draw_turns
from syntagma.report.answer_tags import boundary_tags
from syntagma.report.breakdown import Breakdown, break_down, write_breakdowns
from syntagma.reproduce.plan import Plan
from syntagma.reproduce.result import Cell, Measured, Part

__all__ = ["draw_pictures", "measure_groups", "measure_tags"]


def _folders(plan: Plan, column: int = 0) -> list[str]:
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
            folders = _folders(plan, place)
            found = break_down(folders, options["property"], cut=cut)
            title = ", ".join(part for part in (column.name, f"equal {cut}") if part)
            systems = dict(zip(names, found.systems.values(), strict=True))
            breakdowns.append(replace(found, systems=systems, title=title))
    parts, cells = [], []
    for breakdown in breakdowns:
        title, rows = breakdown.title, breakdown.rows()
        parts.append(Part(title, rows))
        slopes = [float(slope) for slope in rows[-1][2:]]
        cells += [
            Cell(name, f"slope, {title}", slope) for name, slope in zip(names, slopes, strict=True)
        ]
    picture = plan.folder / "figure.svg"
    try:
        plan.folder.mkdir(parents=True, exist_ok=True)
        write_breakdowns(breakdowns, picture)
    except MissingExtraError as error:
        return Measured(tuple(parts), tuple(cells), (str(error),))
    return Measured(tuple(parts), tuple(cells), pictures=(str(picture),))


def measure_tags(plan: Plan) -> Measured:
    """Parts of speech of the first and last words of answers, gold and predicted."""
    names = [row.name for row, _ in plan.row_runs()]
    found = boundary_tags(_folders(plan), parser=plan.setting.parser).renamed(names)
    rows = found.rows()
    parts = [Part("Ours", rows)]
    if plan.entry.reference:
        theirs = [[str(cell) for cell in row] for row in plan.entry.reference]
        parts.append(Part("The paper's", theirs))
    wrong = [sum(counts) for counts in found.errors.values()]
    cells = (
        Cell(name, "boundaries with a wrong tag", float(count))
        for name, count in zip(names, wrong, strict=True)
    )
    return Measured(tuple(parts), tuple(cells), tuple(found.lines()))


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
