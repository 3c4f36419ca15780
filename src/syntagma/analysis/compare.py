"""Runs side by side: means over seeds, and the significance tests that the papers use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from syntagma.analysis.significance import (
    holm,
    paired_bootstrap,
    paired_t_test,
    permutation_test,
    randomisation_test,
    sign_test,
    welch_test,
)
from syntagma.analysis.systems import System, read_systems
from syntagma.drawing.tables import aligned, markdown, signed, spread
from syntagma.errors import InputError
from syntagma.runs.folder import read_sources
from syntagma.tasks import find_task
from syntagma.tasks.comparison.comparisons import ComparedMetric

NAMES = {
    "mcnemar": "McNemar's exact test",
    "t": "paired t-test",
    "sign": "sign test by sentence",
    "randomisation": "approximate randomisation",
}
ALONE = "no test: all runs are of one system; name those of another too"


@dataclass(frozen=True, slots=True)
class ComparedSystem:
    """One line of a comparison: the runs of one experiment with different seeds.

    Args:
        name: of the run folder, without the seed where there are several.
        runs: the run folders.
        seeds: of the runs.
        metrics: means over the runs.
        deviations: sample standard deviations over the runs; empty for a single one.
        sources: name, version and digest of the encoder and the parser of the first run.
        difference: of the tested metric to the baseline.
        gained: examples with a higher score than under the baseline.
        lost: examples with a lower one.
        p_value: of the paper's test; ``None`` for the baseline itself.
        p_holm: the same, corrected for the number of comparisons.
        p_resampled: of the permutation test, or of the paired bootstrap where the metric is no mean
            over examples; not corrected.
        p_seeds: of Welch's t-test over the runs; ``None`` where it is not defined; not corrected.
    """

    name: str
    runs: tuple[str, ...]
    seeds: tuple[int, ...]
    metrics: dict[str, float]
    deviations: dict[str, float]
    sources: dict[str, dict[str, str]] = field(default_factory=dict)
    difference: float = 0.0
    gained: int = 0
    lost: int = 0
    p_value: float | None = None
    p_holm: float | None = None
    p_resampled: float | None = None
    p_seeds: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Systems over the same examples; the first is the baseline, one alone is not tested.

    Args:
        task: of all runs.
        columns: the metrics that are shown.
        metric: the one of them that is tested.
        test: the paper's test, in words; or that there is none.
        n_examples: that it is over.
        systems: in the order in which they were given.
    """

    task: str
    columns: tuple[str, ...]
    metric: str
    test: str
    n_examples: int
    systems: tuple[ComparedSystem, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def rows(self) -> list[list[str]]:
        """The cells of a table, its head first."""
        several = any(len(system.runs) > 1 for system in self.systems)
        tested, corrected = len(self.systems) > 1, len(self.systems) > 2
        head = ["", *(["seeds"] if several else []), *self.columns]
        if tested:
            head += [f"Δ {self.metric}", "+", "−", "p", *(["p (Holm)"] if corrected else [])]
            head += ["p (resampled)", *(["p (seeds)"] if several else [])]
        rows = [head]
        for system in self.systems:
            row = [system.name, *([str(len(system.runs))] if several else [])]
            for column in self.columns:
                mean_score = system.metrics.get(column, float("nan"))
                row.append(spread(mean_score, system.deviations.get(column)))
            if system.p_value is None:
                row += ["", "", "", "baseline"] if tested else []
                row += [""] * (len(head) - len(row))
            else:
                row += [signed(system.difference), str(system.gained), str(system.lost)]
                shown = [system.p_value, *([system.p_holm] if corrected else [])]
                shown += [system.p_resampled, *([system.p_seeds] if several else [])]
                row += map(show_p, shown)
            rows.append(row)
        return rows

    def summary(self) -> str:
        """The tests in a line."""
        n_others = len(self.systems) - 1
        note = f"; Holm: p over {n_others} comparisons, the others are as they are"
        return f"{self.test}, n = {self.n_examples:,}{note if n_others > 1 else ''}"

    def table(self) -> str:
        """A table for a terminal."""
        return f"{aligned(self.rows())}\n{self.summary()}"

    def markdown(self) -> str:
        """The table in Markdown."""
        return markdown(self.rows())


def show_p(p_value: float | None) -> str:
    """A p value with four digits, never as none at all; a dash where there is none.

    >>> show_p(0.03125), show_p(1e-9), show_p(None)
    ('0.0312', '<0.0001', '–')
    """
    if p_value is None:
        return "–"
    return "<0.0001" if p_value < 0.00005 else f"{p_value:.4f}"


def compare_runs(folders: Sequence[str | Path], *, metric: str = "") -> Comparison:
    """Compare runs of the same task on the same dev examples.

    Runs whose settings differ in the seed alone are one system.  One alone has its means and
    deviations, and no test.

    Args:
        folders: run folders, those of the baseline first.
        metric: to test, if not that of the task's paper.

    Raises:
        InputError: there are fewer than two, one is no finished run, they were scored on different
            examples, are of different tasks or of one without answers, or have not equally many
            seeds, a run is named twice, or the task has no test of the metric.
        MissingExtraError: scipy is not installed.
    """
    return compare_systems(read_systems(folders, metric=metric))


def compare_systems(systems: Sequence[System]) -> Comparison:
    """The same of systems whose runs have been read.

    Args:
        systems: over the same data, the baseline first.

    Raises:
        InputError: it is one run alone, or they have no answers or too few examples.
        MissingExtraError: scipy is not installed.
    """
    if sum(len(system.runs) for system in systems) < 2:
        raise InputError("compare needs at least two run folders, the baseline first")
    baseline = systems[0]
    if not find_task(task := baseline.runs[0].task).comparisons:
        raise InputError(
            f"runs of the task {task} have no answers to compare; compare what was fine-tuned from "
            f"them, and look at their curves with `syntagma report RUN… --out DIR`"
        )
    n_examples = len(baseline.runs[0].rows)
    if n_examples < 2:
        raise InputError(
            f"{baseline.runs[0].path}: was scored on {n_examples} examples; a test needs two"
        )
    compared = [_compare(system, baseline) for system in systems]
    corrected = iter(holm([s.p_value for s in compared if s.p_value is not None]))
    compared = [s if s.p_value is None else replace(s, p_holm=next(corrected)) for s in compared]
    metric, first = baseline.compared, baseline.runs[0]
    test = _test_in_words(metric, len(baseline.runs)) if len(systems) > 1 else ALONE
    if first.signature:
        test += f"; {metric.metric}: {first.signature}"
    columns = tuple(name for name in metric.columns if name in first.metrics)
    return Comparison(first.task, columns, metric.metric, test, len(first.rows), tuple(compared))


def _test_in_words(metric: ComparedMetric, n_seeds: int) -> str:
    resampled = "permutation test" if metric.sums is None else "paired bootstrap"
    if n_seeds == 1:
        return (
            f"p: {NAMES[metric.test]} on `{metric.metric}`, of these runs (other seeds may "
            f"differ); resampled: {resampled}"
        )
    name = "sign test" if metric.test == "mcnemar" else NAMES[metric.test]
    return (
        f"p: {name} on the means of `{metric.metric}` over {n_seeds} seeds, over examples; "
        f"resampled: {resampled}; seeds: Welch's t-test over the runs"
    )


def _compare(system: System, baseline: System) -> ComparedSystem:
    runs, metric = system.runs, system.compared
    names = [name for name in runs[0].metrics if all(name in run.metrics for run in runs)]
    compared = ComparedSystem(
        name=system.name,
        runs=tuple(str(run.path) for run in runs),
        seeds=tuple(run.seed for run in runs),
        metrics={name: mean(run.metrics[name] for run in runs) for name in names},
        deviations={name: stdev(run.metrics[name] for run in runs) for name in names}
        if len(runs) > 1
        else {},
        sources=read_sources(runs[0].path),
    )
    if system is baseline:
        return compared
    keys = list(baseline.runs[0].rows)
    ours, theirs = system.example_scores(keys), baseline.example_scores(keys)
    gained, lost = int((ours > theirs).sum()), int((ours < theirs).sum())
    if metric.test == "t":
        p_value = paired_t_test(ours.tolist(), theirs.tolist())
    elif metric.test == "randomisation":
        assert metric.sums is not None
        p_value = randomisation_test(system.counts(keys), baseline.counts(keys), metric.sums)
    else:
        p_value = sign_test(gained, lost)
    if metric.sums is None:
        p_resampled = permutation_test(ours.tolist(), theirs.tolist())
    else:
        p_resampled = paired_bootstrap(system.counts(keys), baseline.counts(keys), metric.sums)
    scores = [run.metrics[metric.metric] for run in runs]
    before = [run.metrics[metric.metric] for run in baseline.runs]
    return replace(
        compared,
        difference=mean(scores) - mean(before),
        gained=gained,
        lost=lost,
        p_value=p_value,
        p_resampled=p_resampled,
        p_seeds=welch_test(scores, before),
    )
