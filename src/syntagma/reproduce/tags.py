"""Parts of speech at the boundaries of answers (POI-Net Table 5), and the wrong ones (Fig. 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from syntagma.analysis.answer_tags import BoundaryTags, boundary_tags
from syntagma.drawing.plotting import panels
from syntagma.drawing.series import draw_bars
from syntagma.reproduce.figures import draw_figure, folders_of
from syntagma.reproduce.plan import Plan
from syntagma.reproduce.result import Cell, Measured, Part

__all__ = ["count_tags", "count_wrong_tags"]

ALL = "all"


def count_tags(plan: Plan) -> Measured:
    """How often each tag stands at the boundaries of gold and predicted answers.

    The columns are those of the entry's reference: gold answers, then systems by the names of their
    rows.  Shown are the tags that stand there, and those that are as frequent as these in ours.
    """
    found = _find_tags(plan)
    gold = str(plan.entry.reference[0][1])
    counts = {gold: found.gold, **found.predicted}
    return _table(plan, found.tags, counts, found.frequent())


def count_wrong_tags(plan: Plan) -> Measured:
    """How often a system answers wrongly and its boundary word has another tag than the gold one.

    By the tag of the gold word, with bars as the paper draws them.
    """
    found = _find_tags(plan)
    tags = (*found.tags, ALL)
    counts = {name: (*each, sum(each)) for name, each in found.errors.items()}
    shown = found.frequent()
    table = _table(plan, tags, counts, {*shown, ALL})
    places = [found.tags.index(tag) for tag in shown]

    def write(picture: Path) -> None:
        bars = {name: [each[place] for place in places] for name, each in found.errors.items()}
        with panels(1, picture, width=5.0, height=3.0) as (axis,):
            draw_bars(axis, shown, bars)
            axis.set_xlabel(str(plan.entry.reference[0][0]))
            axis.set_ylabel("boundaries with another tag")

    pictures, notices = draw_figure(plan, write)
    lines = (*found.lines(), *notices)
    return Measured(table.parts, table.cells, lines, pictures=pictures)


def _find_tags(plan: Plan) -> BoundaryTags:
    names = [row.name for row, _ in plan.row_runs()]
    return boundary_tags(folders_of(plan), parser=plan.setting.parser).renamed(names)


def _table(
    plan: Plan,
    tags: Sequence[str],
    counts: Mapping[str, Sequence[float]],
    frequent: Iterable[str],
) -> Measured:
    """Our counts beside those of the entry's reference, in its columns.

    Args:
        plan: of the entry.
        tags: in the order of the rows, ``[n_tags]``.
        counts: by the name of the column, ``[n_tags]``.
        frequent: tags that are shown even where the reference has none.
    """
    (corner, *columns), *lines = plan.entry.reference
    theirs = {tag: dict(zip(columns, numbers, strict=True)) for tag, *numbers in lines}
    known = {name: dict(zip(tags, counts[name], strict=True)) for name in columns}
    # Means over seeds are no whole numbers.
    digits = 0 if all(count == int(count) for each in counts.values() for count in each) else 1
    shown = {*theirs, *frequent}
    rows, cells = [[corner, *columns]], []
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
    return Measured((Part("", rows),), tuple(cells))
