"""Examples that the baseline gets wrong and the system right."""

from __future__ import annotations

from syntagma.report.cases import TOLD, read_answers
from syntagma.report.runs import read_systems
from syntagma.reproduce.plan import Plan
from syntagma.reproduce.result import Cell, Measured, Part

__all__ = ["find_gains"]

LONGEST = 100
"""Characters of a text that are shown."""


def find_gains(plan: Plan) -> Measured:
    """The first examples of the dev data that the second system alone gets right.

    The papers show only such ones; :func:`syntagma.report.cases.find_cases` draws losses as well.
    """
    named = [(row.name, runs[0].folder) for row, runs in plan.row_runs()]
    (first, _), (second, _) = named
    systems = read_systems([folder for _, folder in named])
    baseline, system = (each.runs[0] for each in systems)
    before, after = read_answers(baseline), read_answers(system)
    tell, score = TOLD[baseline.task], systems[0].plan.score
    better = [
        example
        for example in baseline.examples()
        if system.rows[example.id][score] > baseline.rows[example.id][score]
    ]
    rows = [["example", "gold", first, second]]
    for example in better[: plan.entry.options["n_cases"]]:
        told = tell(example)
        cells = (told.asked, told.gold[0], before[example.id], after[example.id])
        rows.append([_short(cell) for cell in cells])
    cell = Cell(second, "better than the baseline", float(len(better)))
    line = f"{len(better)} of {len(baseline.rows)} examples are such ones."
    return Measured((Part("", rows),), (cell,), (line,))


def _short(text: str) -> str:
    text = " ".join(text.split()).replace("|", "/") or "—"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
