"""Part-of-speech tags at the boundaries of answers (POI-Net Table 5), and wrong ones (Fig. 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from syntagma.analysis.answer_tags import BoundaryTags, boundary_tags
from syntagma.drawing.plotting import panels
from syntagma.drawing.series import draw_bars
from syntagma.reproduce.figures import draw_figure, folders_of
from syntagma.reproduce.plan import EntryPlan
from syntagma.reproduce.result import Cell, Measurement, ResultTable

ALL = "all"


def count_tags(plan: EntryPlan) -> Measurement:
    """Count each tag at the boundaries of gold and predicted answers.

    The columns are those of the paper's table: gold answers, then systems.  The rows are the tags
    of the paper's table, and tags that are as frequent in ours.

    Args:
        plan: plan of the entry, with finished runs.
    """
    tags = _boundary_tags(plan)
    gold = str(plan.entry.reference[0][1])
    counts = {gold: tags.gold, **tags.predicted}
    return _table(plan, tags.tags, counts, tags.frequent())


def count_wrong_tags(plan: EntryPlan) -> Measurement:
    """Count wrong answers whose boundary word has another tag than the gold one.

    They are counted by the tag of the gold word and drawn as bars, like the paper's figure.

    Args:
        plan: plan of the entry, with finished runs.
    """
    boundaries = _boundary_tags(plan)
    tags = (*boundaries.tags, ALL)
    counts = {name: (*errors, sum(errors)) for name, errors in boundaries.errors.items()}
    shown = boundaries.frequent()
    table = _table(plan, tags, counts, {*shown, ALL})
    positions = [boundaries.tags.index(tag) for tag in shown]

    def write(picture: Path) -> None:
        bars = {
            name: [errors[position] for position in positions]
            for name, errors in boundaries.errors.items()
        }
        with panels(1, picture, width=5.0, height=3.0) as (axis,):
            draw_bars(axis, shown, bars)
            axis.set_xlabel(str(plan.entry.reference[0][0]))
            axis.set_ylabel("boundaries with another tag")

    pictures, notices = draw_figure(plan, write)
    lines = (*boundaries.lines(), *notices)
    return Measurement(table.parts, table.cells, lines, pictures=pictures)


def _boundary_tags(plan: EntryPlan) -> BoundaryTags:
    names = [row.name for row, _ in plan.row_runs()]
    return boundary_tags(folders_of(plan), parser=plan.setting.parser).renamed(names)


def _table(
    plan: EntryPlan,
    tags: Sequence[str],
    counts: Mapping[str, Sequence[float]],
    frequent: Iterable[str],
) -> Measurement:
    """Build a table of our counts and the paper's, with the columns of the paper's table.

    Args:
        plan: plan of the entry.
        tags: the tags in the order of the rows, ``[n_tags]``.
        counts: our counts by the name of the column, ``[n_tags]``.
        frequent: tags to show even if the paper's table does not have them.
    """
    (corner, *columns), *lines = plan.entry.reference
    theirs = {tag: dict(zip(columns, numbers, strict=True)) for tag, *numbers in lines}
    known = {name: dict(zip(tags, counts[name], strict=True)) for name in columns}
    # Means over seeds are not integers.
    digits = 0 if all(count == int(count) for each in counts.values() for count in each) else 1
    shown = {*theirs, *frequent}
    rows, cells = [[corner, *columns]], []
    # Our tags by frequency, then those that only the paper's table has.
    for tag in dict.fromkeys((*(tag for tag in tags if tag in shown), *theirs)):
        line = [
            Cell(
                tag, name, known[name].get(tag, 0.0), None, theirs.get(tag, {}).get(name),
                digits=digits,
            )
            for name in columns
        ]  # fmt: skip
        rows.append([tag, *(cell.shown(0) for cell in line)])
        cells += line
    return Measurement((ResultTable("", rows),), tuple(cells))
