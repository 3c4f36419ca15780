"""Compare runs: means over seeds, and the significance tests that the papers use."""

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
ALONE = "no test: all runs are of one system; add runs of another system"


@dataclass(frozen=True, slots=True)
class ComparedSystem:
    """A line of a comparison: the runs of one experiment with different seeds.

    Args:
        name: name of the run folder, without the seed if there are several runs.
        runs: paths of the run folders.
        seeds: seeds of the runs.
        metrics: means over the runs, by name.
        deviations: sample standard deviations over the runs; empty for a single run.
        sources: name, version and digest of the encoder and the parser of the first run.
        difference: difference of the tested metric from the baseline.
        gained: number of examples with a higher score than the baseline's.
        lost: number of examples with a lower score.
        p_value: p-value of the paper's test; ``None`` for the baseline.
        p_holm: ``p_value`` corrected for the number of comparisons.
        p_resampled: p-value of the permutation test, or of the paired bootstrap if the metric is
            not a mean over examples; not corrected.
        p_seeds: p-value of Welch's t-test over the runs; ``None`` if undefined; not corrected.
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
    """A comparison of systems on the same examples, tested if there is more than one.

    Args:
        task: name of the task.
        columns: names of the metrics to show.
        metric: name of the metric that is tested.
        test: description of the tests, or why there is none.
        n_examples: number of examples.
        systems: the systems in the given order, the baseline first.
    """

    task: str
    columns: tuple[str, ...]
    metric: str
    test: str
    n_examples: int
    systems: tuple[ComparedSystem, ...]

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    def rows(self) -> list[list[str]]:
        """Return the cells of a table, header first."""
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
        """Describe the tests in a line."""
        n_others = len(self.systems) - 1
        note = f"; Holm: p corrected for {n_others} comparisons, other p-values are not corrected"
        return f"{self.test}, n = {self.n_examples:,}{note if n_others > 1 else ''}"

    def table(self) -> str:
        """Format as a table for a terminal."""
        return f"{aligned(self.rows())}\n{self.summary()}"

    def markdown(self) -> str:
        """Format as a Markdown table."""
        return markdown(self.rows())


def show_p(p_value: float | None) -> str:
    """Format a p-value with four decimals, and very small ones as a bound; a dash for ``None``.

    >>> show_p(0.03125), show_p(1e-9), show_p(None)
    ('0.0312', '<0.0001', '–')
    """
    if p_value is None:
        return "–"
    return "<0.0001" if p_value < 0.00005 else f"{p_value:.4f}"


def compare_runs(folders: Sequence[str | Path], *, metric: str = "") -> Comparison:
    """Compare runs of the same task on the same dev examples.

    Runs that differ only in their seed form one system.  For a single system there are means and
    deviations, but no test.

    Args:
        folders: run folders, those of the baseline first.
        metric: metric to test; defaults to that of the task's paper.

    Raises:
        InputError: there are fewer than two runs, a run is not finished or named twice, the runs
            are of different tasks or were scored on different examples, the systems have different
            numbers of seeds, the task has no comparable answers, or the metric has no test.
        MissingExtraError: scipy is not installed.
    """
    return compare_systems(read_systems(folders, metric=metric))


def compare_systems(systems: Sequence[System]) -> Comparison:
    """Compare systems as :func:`compare_runs`, for runs that are already read.

    Args:
        systems: systems evaluated on the same data, the baseline first.

    Raises:
        InputError: there is only one run, the task has no comparable answers, or there are too few
            examples.
        MissingExtraError: scipy is not installed.
    """
    if sum(len(system.runs) for system in systems) < 2:
        raise InputError("compare needs at least two run folders, the baseline first")
    baseline = systems[0]
    if not find_task(task := baseline.runs[0].task).comparisons:
        raise InputError(
            f"runs of the task {task} have no answers to compare; compare models that were "
            f"fine-tuned from them, or plot their curves with `syntagma report RUN… --out DIR`"
        )
    n_examples = len(baseline.runs[0].rows)
    if n_examples < 2:
        raise InputError(
            f"{baseline.runs[0].path}: was scored on {n_examples} examples; a test needs at least "
            f"two"
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
            f"p: {NAMES[metric.test]} on `{metric.metric}`, for these runs (results with other "
            f"seeds may differ); resampled: {resampled}"
        )
    name = "sign test" if metric.test == "mcnemar" else NAMES[metric.test]
    return (
        f"p: {name} over examples, on means of `{metric.metric}` over {n_seeds} seeds; "
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
