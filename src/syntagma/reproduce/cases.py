"""Examples that the baseline gets wrong and the system right."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syntagma.files import read_json, read_lines
from syntagma.report.runs import RunScores, read_systems
from syntagma.reproduce.plan import Plan
from syntagma.reproduce.result import Cell, Measured, Part
from syntagma.tasks import find_task

__all__ = ["find_cases"]

LONGEST = 100
"""Characters of a text that are shown."""


def find_cases(plan: Plan) -> Measured:
    """The first examples of the dev data that the second system alone gets right."""
    named = [(row.name, runs[0].folder) for row, runs in plan.row_runs()]
    (first, _), (second, _) = named
    systems = read_systems([folder for _, folder in named])
    baseline, system = (each.runs[0] for each in systems)
    plan_of = systems[0].plan
    before, after = (_predictions(run) for run in (baseline, system))
    rows = [["example", "gold", first, second]]
    count = 0
    for example in baseline.examples():
        key = example.id
        if system.rows[key][plan_of.score] <= baseline.rows[key][plan_of.score]:
            continue
        count += 1
        if count <= plan.entry.options["n_cases"]:
            cells = (_text(example), _gold(example), before.get(key, "?"), after.get(key, "?"))
            rows.append([_short(cell) for cell in cells])
    cell = Cell(second, "better than the baseline", float(count))
    line = f"{count} of {len(baseline.rows)} examples are such ones."
    return Measured((Part("", rows),), (cell,), (line,))


def _text(example: Any) -> str:
    return str(getattr(example, "question", None) or example.text)


def _gold(example: Any) -> str:
    if hasattr(example, "answers"):
        return example.answers[0] if example.answers else "—"
    return str(example.relation)


def _predictions(run: RunScores) -> Mapping[str, str]:
    """What a run has answered, by the examples' ids."""
    path: Path = run.path / find_task(run.task).predictions_file
    if path.suffix == ".json":
        return {key: str(value) or "—" for key, value in read_json(path).items()}
    lines = [line.split("\t") for line in read_lines(path)]
    if all(len(line) == 2 for line in lines):
        return {line[0]: line[1] for line in lines}
    return dict(zip(run.rows, (line[0] for line in lines), strict=True))


def _short(text: str) -> str:
    text = " ".join(text.split()).replace("|", "/")
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
