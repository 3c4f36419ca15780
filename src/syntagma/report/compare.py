"""Runs side by side, with the significance test that the papers use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from syntagma.errors import InputError, MissingExtraError
from syntagma.files import read_json
from syntagma.settings import load_yaml

__all__ = ["ComparedRun", "Comparison", "compare_runs", "mcnemar", "paired_t_test"]


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One line of a comparison.

    Args:
        name: of the run folder.
        metrics: of the run.
        difference: of the primary metric to the baseline.
        p_value: of the difference; ``None`` for the baseline itself.
        gained: examples that only this run gets right.
        lost: examples that only the baseline gets right.
    """

    name: str
    metrics: dict[str, float]
    difference: float = 0.0
    p_value: float | None = None
    gained: int = 0
    lost: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs over the same examples; the first is the baseline."""

    task: str
    columns: tuple[str, ...]
    test: str
    n_examples: int
    runs: tuple[ComparedRun, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def table(self) -> str:
        """A table for a terminal."""
        width = max(len(run.name) for run in self.runs)
        head = [
            f"{'run':<{width}}",
            *(f"{column:>8}" for column in self.columns),
            f"{'Δ':>7}",
            f"{'+':>5}",
            f"{'−':>5}",
            f"{'p':>8}",
        ]
        lines = ["  ".join(head)]
        for run in self.runs:
            cells = [f"{run.name:<{width}}"]
            cells += [f"{run.metrics.get(column, float('nan')):8.2f}" for column in self.columns]
            if run.p_value is None:
                cells.append(f"{'baseline':>7}")
            else:
                cells += [
                    f"{run.difference:+7.2f}",
                    f"{run.gained:5d}",
                    f"{run.lost:5d}",
                    f"{run.p_value:8.4f}",
                ]
            lines.append("  ".join(cells))
        return "\n".join([*lines, f"{self.test}, n = {self.n_examples}"])


COLUMNS = {
    "open_qa": (("exact", "f1"), "exact"),
    "spans": (("exact", "f1"), "exact"),
    "parsing": (("uas", "las", "xpos"), "las"),
}
"""For each task the columns to show and the score of an example that is right or wrong."""


def mcnemar(gained: int, lost: int) -> float:
    """Two-sided p-value of McNemar's exact test (McNemar 1947).

    Args:
        gained: examples that only the one is right on.
        lost: examples that only the other is right on.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    try:
        from scipy.stats import binomtest
    except ImportError as error:
        raise MissingExtraError("a significance test", "stats") from error
    if gained + lost == 0:
        return 1.0
    return float(binomtest(gained, gained + lost).pvalue)


def paired_t_test(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Two-sided p-value of the paired t-test over examples, 1 where nothing differs.

    Args:
        ours: the score of each example.
        theirs: the same examples under the baseline.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    try:
        from scipy.stats import ttest_rel
    except ImportError as error:
        raise MissingExtraError("a significance test", "stats") from error
    if list(ours) == list(theirs):
        return 1.0
    return float(ttest_rel(ours, theirs).pvalue)


T_TESTED = ("choice", "pairs")
"""Tasks of classification, for which the papers report the paired t-test; others McNemar's."""


def compare_runs(folders: Sequence[str | Path]) -> Comparison:
    """Compare runs of the same task on the same dev examples.

    Args:
        folders: run folders, the baseline first.

    Raises:
        InputError: there are fewer than two, one is no finished run, or they were scored on
            different examples.
    """
    if len(folders) < 2:
        raise InputError("compare needs at least two run folders, the baseline first")
    paths = [Path(folder) for folder in folders]
    tasks = {str(load_yaml(path / "experiment.yaml").get("task")) for path in paths}
    if len(tasks) > 1:
        raise InputError(f"the runs are of different tasks: {', '.join(sorted(tasks))}")
    task = tasks.pop()
    columns, correct = COLUMNS.get(task, (("accuracy",), "accuracy"))
    scores = [_finished(path, "examples.json") for path in paths]
    runs: list[ComparedRun] = []
    for path, rows in zip(paths, scores, strict=True):
        if rows.keys() != scores[0].keys():
            raise InputError(
                f"{path}: was scored on {len(rows)} examples, {paths[0]} on {len(scores[0])}, and "
                f"they are not the same; compare runs with the same data.dev"
            )
        metrics = _finished(path, "metrics.json")
        if not runs:
            runs.append(ComparedRun(path.name, metrics))
            continue
        gained, lost = _changes(scores[0], rows, correct)
        difference = metrics[correct] - runs[0].metrics[correct]
        if task in T_TESTED:
            baseline = [scores[0][key][correct] for key in rows]
            p_value = paired_t_test([row[correct] for row in rows.values()], baseline)
        else:
            p_value = mcnemar(gained, lost)
        runs.append(ComparedRun(path.name, metrics, difference, p_value, gained, lost))
    name = "Paired t-test" if task in T_TESTED else "McNemar's exact test"
    test = f"{name} on `{correct}`"
    return Comparison(task, columns, test, len(scores[0]), tuple(runs))


def _finished(path: Path, name: str) -> dict[str, Any]:
    if not (path / name).is_file():
        raise InputError(f"{path}: no finished run (it has no {name}); train it to its end first")
    values: dict[str, Any] = read_json(path / name)
    return values


def _changes(
    baseline: dict[str, dict[str, float]], other: dict[str, dict[str, float]], key: str
) -> tuple[int, int]:
    """How many examples only the other, and only the baseline, gets wholly right."""

    def right(row: dict[str, float]) -> bool:
        return row[key] >= row.get("words", 1)

    pairs = [(right(baseline[name]), right(row)) for name, row in other.items()]
    return sum(b and not a for a, b in pairs), sum(a and not b for a, b in pairs)
