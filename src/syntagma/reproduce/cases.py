"""Examples that the baseline gets wrong and the system right."""

from __future__ import annotations

from syntagma.analysis.cases import GAINED, Case, read_answers
from syntagma.analysis.systems import read_systems
from syntagma.report.case_part import write_cases
from syntagma.reproduce.plan import Plan
from syntagma.reproduce.result import Cell, Measured, Part
from syntagma.tasks import find_task

__all__ = ["find_gains"]

LONGEST = 100
"""Characters of a text that are shown."""


def find_gains(plan: Plan) -> Measured:
    """The first examples of the dev data that the second system alone gets right.

    The papers show only such ones; :func:`syntagma.analysis.cases.find_cases` draws losses as well.
    """
    named = [(row.name, runs[0].folder) for row, runs in plan.row_runs()]
    (first, _), (second, _) = named
    systems = read_systems([folder for _, folder in named])
    baseline, system = (each.runs[0] for each in systems)
    before, after = read_answers(baseline), read_answers(system)
    task, score = find_task(baseline.task), systems[0].compared.score
    better = [
        example
        for example in baseline.examples()
        if system.rows[example.id][score] > baseline.rows[example.id][score]
    ]
    cases = [
        Case(
            example.id,
            shown,
            {first: (before[example.id],), second: (after[example.id],)},
            {first: baseline.rows[example.id][score], second: system.rows[example.id][score]},
            GAINED,
            second,
        )
        for example in better[: plan.entry.options["n_cases"]]
        if (shown := task.describe(example)) is not None
    ]
    rows = [["example", "gold", first, second]]
    for case in cases:
        cells = (case.example.asked, case.example.gold[0], *(a for (a,) in case.answers.values()))
        rows.append([_short(cell) for cell in cells])
    page = plan.folder / "cases.html"
    write_cases(
        cases, page, title=plan.entry.caption, baseline=first,
        parser=plan.setting.parser,
    )  # fmt: skip
    cell = Cell(second, "better than the baseline", float(len(better)), digits=0)
    line = (
        f"{len(better)} of {len(baseline.rows)} examples are such ones, of seed "
        f"{baseline.seed}; their trees are in cases.html."
    )
    return Measured((Part("", rows),), (cell,), (line,), pictures=(str(page),))


def _short(text: str) -> str:
    text = " ".join(text.split()).replace("|", "/") or "—"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
