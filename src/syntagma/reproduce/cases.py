"""Examples that the baseline gets wrong and the system gets right."""

from __future__ import annotations

from pathlib import Path

from syntagma.analysis.cases import GAINED, find_cases
from syntagma.analysis.systems import named_systems
from syntagma.report.case_section import write_cases
from syntagma.reproduce.plan import EntryPlan
from syntagma.reproduce.result import Cell, Measurement, ResultTable

MAX_CHARACTERS = 100
"""Length at which texts are cut in the table."""


def find_gains(plan: EntryPlan) -> Measurement:
    """Find the first examples of the dev data that only the second system gets right.

    The papers show only gains; :func:`syntagma.analysis.cases.find_cases` shows losses as well.

    Args:
        plan: plan of the entry, with finished runs of the baseline and of one system.
    """
    first, second = names = [row.name for row, _ in plan.row_runs()]
    systems = named_systems(
        (name, [folder]) for name, folder in zip(names, _first_runs(plan), strict=True)
    )
    baseline = systems[0].runs[0]
    n_examples = len(baseline.rows)
    drawn = {case.key: case for case in find_cases(systems, most=2 * n_examples).cases}
    # The first ones of the data, because those of the paper were chosen.
    gains = [drawn[key] for key in baseline.rows if key in drawn and drawn[key].kind == GAINED]
    cases = gains[: plan.entry.options["n_cases"]]
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
        f"{len(gains)} of {n_examples} examples are gains, with seed {baseline.seed}; "
        f"their trees are in cases.html."
    )
    return Measurement((ResultTable("", rows),), (cell,), (line,), pictures=(str(page),))


def _first_runs(plan: EntryPlan) -> list[Path]:
    """Return the folder of the first run of each row."""
    return [runs[0].folder for _, runs in plan.row_runs()]


def _short(text: str) -> str:
    """Shorten a text to fit into a Markdown table."""
    text = " ".join(text.split()).replace("|", "/") or "—"
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"
