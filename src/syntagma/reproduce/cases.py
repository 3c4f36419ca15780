"""Examples that the baseline gets wrong and the system gets right."""

from __future__ import annotations

from syntagma.analysis.cases import GAINED, Case, read_answers
from syntagma.analysis.systems import read_systems
from syntagma.report.case_section import write_cases
from syntagma.reproduce.plan import EntryPlan
from syntagma.reproduce.result import Cell, Measurement, ResultTable
from syntagma.tasks import find_task

MAX_CHARACTERS = 100
"""Length at which texts are cut in the table."""


def find_gains(plan: EntryPlan) -> Measurement:
    """Find the first examples of the dev data that only the second system gets right.

    The papers show only gains; :func:`syntagma.analysis.cases.find_cases` shows losses as well.

    Args:
        plan: plan of the entry, with finished runs of the baseline and of one system.
    """
    folders = [(row.name, runs[0].folder) for row, runs in plan.row_runs()]
    (first, _), (second, _) = folders
    systems = read_systems([folder for _, folder in folders])
    baseline, system = (each.runs[0] for each in systems)
    before, after = read_answers(baseline), read_answers(system)
    task, score = find_task(baseline.task), systems[0].compared.score
    gains = [
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
        for example in gains[: plan.entry.options["n_cases"]]
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
    cell = Cell(second, "better than the baseline", float(len(gains)), digits=0)
    line = (
        f"{len(gains)} of {len(baseline.rows)} examples are gains, with seed {baseline.seed}; "
        f"their trees are in cases.html."
    )
    return Measurement((ResultTable("", rows),), (cell,), (line,), pictures=(str(page),))


def _short(text: str) -> str:
    """Shorten a text to fit into a Markdown table."""
    text = " ".join(text.split()).replace("|", "/") or "—"
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"
