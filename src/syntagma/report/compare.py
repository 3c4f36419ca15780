"""Runs side by side: means over seeds, and the significance tests that the papers use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.report.significance import (
    holm,
    paired_bootstrap,
    paired_t_test,
    permutation_test,
    sign_test,
)
from syntagma.settings import load_yaml

__all__ = ["ComparedSystem", "Comparison", "compare_runs"]

Rows = dict[str, dict[str, float]]


class _Plan(NamedTuple):
    """How runs of a task are compared.

    Args:
        columns: the metrics to show; the difference is that of the tested one.
        score: the score of an example that is tested.
        test: the paper's test: ``mcnemar``, ``t`` or ``sign``.
    """

    columns: tuple[str, ...]
    score: str
    test: str


PLANS: dict[str, _Plan] = {
    "choice": _Plan(("accuracy",), "accuracy", "t"),
    "pairs": _Plan(("accuracy",), "accuracy", "t"),
    "parsing": _Plan(("uas", "las", "xpos"), "las", "mcnemar"),
    "probing": _Plan(("accuracy",), "accuracy", "t"),
    "spans": _Plan(("exact", "f1"), "exact", "mcnemar"),
    "structural": _Plan(("accuracy", "spearman"), "accuracy", "mcnemar"),
    "translation": _Plan(("bleu",), "bleu", "sign"),
}
"""For each task the metrics to show and the test of its paper."""

NAMES = {
    "mcnemar": "McNemar's exact test",
    "t": "paired t-test",
    "sign": "sign test by sentence",
}


@dataclass(frozen=True, slots=True)
class ComparedSystem:
    """One line of a comparison: the runs of one experiment with different seeds.

    Args:
        name: of the run folder, without the seed where there are several.
        runs: the run folders.
        seeds: of the runs.
        metrics: means over the runs.
        deviations: sample standard deviations over the runs; empty for a single one.
        difference: of the tested metric to the baseline.
        gained: examples with a higher score than under the baseline.
        lost: examples with a lower one.
        p_value: of the paper's test; ``None`` for the baseline itself.
        p_holm: the same, corrected for the number of comparisons.
        p_resampled: of the permutation test, or for BLEU of the paired bootstrap.
    """

    name: str
    runs: tuple[str, ...]
    seeds: tuple[int, ...]
    metrics: dict[str, float]
    deviations: dict[str, float]
    difference: float = 0.0
    gained: int = 0
    lost: int = 0
    p_value: float | None = None
    p_holm: float | None = None
    p_resampled: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Systems over the same examples; the first is the baseline.

    Args:
        task: of all runs.
        columns: the metrics that are shown.
        test: the paper's test, in words.
        n_examples: that it is over.
        systems: in the order in which they were given.
    """

    task: str
    columns: tuple[str, ...]
    test: str
    n_examples: int
    systems: tuple[ComparedSystem, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def rows(self) -> list[list[str]]:
        """The cells of a table, its head first."""
        several = any(len(system.runs) > 1 for system in self.systems)
        corrected = len(self.systems) > 2
        head = ["", *(["seeds"] if several else []), *self.columns, "Δ", "+", "−", "p"]
        head += [*(["p (Holm)"] if corrected else []), "p (resampled)"]
        rows = [head]
        for system in self.systems:
            row = [system.name, *([str(len(system.runs))] if several else [])]
            for column in self.columns:
                spread = system.deviations.get(column)
                cell = f"{system.metrics.get(column, float('nan')):.2f}"
                row.append(cell if spread is None else f"{cell} ± {spread:.2f}")
            if system.p_value is None:
                row += ["", "", "", "baseline", *([""] if corrected else []), ""]
            else:
                row += [f"{system.difference:+.2f}", str(system.gained), str(system.lost)]
                shown = [system.p_value, *([system.p_holm] if corrected else [])]
                row += [f"{p:.4f}" for p in [*shown, system.p_resampled] if p is not None]
            rows.append(row)
        return rows

    def table(self) -> str:
        """A table for a terminal."""
        rows = self.rows()
        widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
        lines = [
            "  ".join(
                cell.rjust(width) if place else cell.ljust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, f"{self.test}, n = {self.n_examples:,}"])

    def markdown(self) -> str:
        """The table in Markdown."""
        head, *rows = (f"| {' | '.join(row)} |" for row in self.rows())
        return "\n".join([head, "|---" * len(self.rows()[0]) + "|", *rows])


@dataclass(frozen=True, slots=True)
class _Run:
    path: Path
    settings: dict[str, Any]
    metrics: dict[str, float]
    rows: Rows

    @property
    def seed(self) -> int:
        return int(self.settings.get("training", {}).get("seed", 0))

    @property
    def kind(self) -> str:
        """What runs of one system have in common: all settings but the seed."""
        training = {k: v for k, v in self.settings.get("training", {}).items() if k != "seed"}
        return repr(sorted({**self.settings, "training": training}.items(), key=str))

    @property
    def data(self) -> list[str]:
        return [Path(path).name for path in self.settings.get("data", {}).get("dev", [])]


def compare_runs(folders: Sequence[str | Path]) -> Comparison:
    """Compare runs of the same task on the same dev examples.

    Runs whose settings differ in the seed alone are one system.

    Args:
        folders: run folders, those of the baseline first.

    Raises:
        InputError: there are fewer than two, one is no finished run, they were scored on different
            examples, are of different tasks, or have not equally many seeds.
        MissingExtraError: scipy is not installed.
    """
    if len(folders) < 2:
        raise InputError("compare needs at least two run folders, the baseline first")
    runs = [_read(Path(folder)) for folder in folders]
    tasks = sorted({str(run.settings.get("task")) for run in runs})
    if len(tasks) > 1:
        raise InputError(f"the runs are of different tasks: {', '.join(tasks)}")
    for run in runs:
        _check_same_data(run, runs[0])
    groups: dict[str, list[_Run]] = {}
    for run in runs:
        groups.setdefault(run.kind, []).append(run)
    systems = list(groups.values())
    # The same run twice, or runs that differ in nothing, are still two lines.
    if len(systems) == 1 and len({run.seed for run in runs}) < len(runs):
        systems = [[run] for run in runs]
    for group in systems:
        if len(group) != len(systems[0]):
            raise InputError(
                f"{_name(group)} has {len(group)} seeds, {_name(systems[0])} has "
                f"{len(systems[0])}; compare equally many of each"
            )
    if len(systems) < 2:
        raise InputError(
            f"all runs are of one system ({_name(systems[0])}); name those of another too"
        )
    plan = PLANS.get(tasks[0], _Plan(("accuracy",), "accuracy", "t"))
    compared = [_compare(group, systems[0], plan) for group in systems]
    corrected = iter(holm([s.p_value for s in compared if s.p_value is not None]))
    compared = [s if s.p_value is None else replace(s, p_holm=next(corrected)) for s in compared]
    test = f"p: {NAMES[plan.test]} on `{plan.score}`"
    return Comparison(tasks[0], plan.columns, test, len(runs[0].rows), tuple(compared))


def _compare(group: Sequence[_Run], baseline: Sequence[_Run], plan: _Plan) -> ComparedSystem:
    names = group[0].metrics.keys()
    system = ComparedSystem(
        name=_name(group),
        runs=tuple(str(run.path) for run in group),
        seeds=tuple(run.seed for run in group),
        metrics={name: mean(run.metrics[name] for run in group) for name in names},
        deviations={name: stdev(run.metrics[name] for run in group) for name in names}
        if len(group) > 1
        else {},
    )
    if group is baseline:
        return system
    keys = list(baseline[0].rows)
    ours, theirs = (_scores(runs, keys, plan) for runs in (group, baseline))
    gained, lost = int((ours > theirs).sum()), int((ours < theirs).sum())
    if plan.test == "t":
        p_value = paired_t_test(ours.tolist(), theirs.tolist())
    else:
        p_value = sign_test(gained, lost)
    if "matches_1" in baseline[0].rows[keys[0]]:
        counts = ([_counts(run, keys) for run in runs] for runs in (group, baseline))
        p_resampled = paired_bootstrap(*counts)
    else:
        p_resampled = permutation_test(ours.tolist(), theirs.tolist())
    before = mean(run.metrics[plan.score] for run in baseline)
    return replace(
        system,
        difference=system.metrics[plan.score] - before,
        gained=gained,
        lost=lost,
        p_value=p_value,
        p_resampled=p_resampled,
    )


def _scores(runs: Sequence[_Run], keys: Sequence[str], plan: _Plan) -> NDArray[np.float64]:
    """The mean score of each example over seeds; right or wrong for McNemar's test."""

    def score(row: dict[str, float]) -> float:
        if plan.test == "mcnemar":
            return float(row[plan.score] >= row.get("words", 1))
        return row[plan.score]

    return np.mean([[score(run.rows[key]) for key in keys] for run in runs], axis=0)


COUNTS = (
    *(f"matches_{order}" for order in range(1, 5)),
    *(f"totals_{order}" for order in range(1, 5)),
    "length",
    "reference_length",
)
"""What BLEU is computed from, a sentence."""


def _counts(run: _Run, keys: Sequence[str]) -> NDArray[np.float64]:
    return np.array([[run.rows[key][name] for name in COUNTS] for key in keys])


def _name(group: Sequence[_Run]) -> str:
    first = group[0].path.name
    if len(group) == 1:
        return first
    return re.sub(rf"[-_.]?(seed)?{group[0].seed}$", "", first) or first


def _check_same_data(run: _Run, first: _Run) -> None:
    if run.rows.keys() != first.rows.keys() or run.data != first.data:
        raise InputError(
            f"{run.path}: was scored on {len(run.rows)} examples ({', '.join(run.data)}), "
            f"{first.path} on {len(first.rows)} ({', '.join(first.data)}), and they are not the "
            f"same; compare runs with the same data.dev"
        )


def _read(path: Path) -> _Run:
    for name in ("experiment.yaml", "metrics.json", "examples.json"):
        if not (path / name).is_file():
            raise InputError(
                f"{path}: no finished run (it has no {name}); train it to its end first"
            )
    return _Run(
        path,
        load_yaml(path / "experiment.yaml"),
        read_json(path / "metrics.json"),
        read_json(path / "examples.json"),
    )
