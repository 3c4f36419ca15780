"""Compare runs: means over seeds, intervals of differences, and the tests that the papers use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev

from syntagma.analysis.cluster_bootstrap import FEWEST, RESAMPLES
from syntagma.analysis.clusters import Clusters, find_clusters
from syntagma.analysis.comparison import OVER, ComparedSystem, Comparison
from syntagma.analysis.differences import Resampled, intervals_of
from syntagma.analysis.pairing import Pairing, pair_runs
from syntagma.analysis.significance import (
    holm,
    paired_bootstrap,
    paired_t_test,
    permutation_test,
    randomisation_test,
    sign_test,
    stats,
)
from syntagma.analysis.systems import System, named_systems, put_first, read_systems
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


def compare_runs(
    folders: Sequence[str | Path],
    *,
    metric: str = "",
    control: str = "",
    cluster: str = "",
    n_resamples: int = RESAMPLES,
) -> Comparison:
    """Compare runs of the same task on the same dev examples.

    Runs that differ only in their seed form one system.  For a single system there are means and
    standard deviations, but no test.

    Args:
        folders: run folders, those of the baseline first.
        metric: metric to test; defaults to that of the task's paper.
        control: name of the system that the others are compared with; defaults to the first one.
        cluster: kind of the clusters of examples that are resampled, such as ``paragraph``, or
            ``example``; defaults to the first kind that the task defines and the data have.
        n_resamples: number of resamples of the cluster bootstrap.

    Returns:
        The metrics of each system, and its differences from the control with intervals, in the
        units of :func:`syntagma.evaluate`.

    Raises:
        InputError: there are fewer than two runs, a run is not finished or named twice, the runs
            are of different tasks or were scored on different examples, unpaired systems have
            different numbers of seeds, the task has no comparable answers, the metric has no test,
            or there is no such control or kind of cluster.
        MissingExtraError: scipy is not installed.
    """
    systems = read_systems(folders, metric=metric)
    return compare_systems(systems, control=control, cluster=cluster, n_resamples=n_resamples)


def compare_named(
    groups: Iterable[tuple[str, Sequence[str | Path]]], *, metric: str = "", cluster: str = ""
) -> Comparison:
    """Compare systems whose runs are known, also where their settings are equal.

    Args:
        groups: the name of each system and the folders of its runs, the baseline first.
        metric: see :func:`compare_runs`.
        cluster: see :func:`compare_runs`.

    Raises:
        InputError: two runs of a system have the same seed, or see :func:`compare_runs`.
        MissingExtraError: scipy is not installed.
    """
    return compare_systems(named_systems(groups, metric=metric), cluster=cluster)


def check_resamples(number: int) -> None:
    """Check the number of resamples, before anything is scored.

    Raises:
        InputError: there are too few for an interval.
    """
    if number < FEWEST:
        raise InputError(
            f"--resamples {number}: the ends of a 95 % interval need at least {FEWEST}; omit it "
            f"for {RESAMPLES}"
        )


def compare_systems(
    systems: Sequence[System],
    *,
    control: str = "",
    cluster: str = "",
    n_resamples: int = RESAMPLES,
) -> Comparison:
    """Compare systems as :func:`compare_runs`, for runs that are already read.

    Args:
        systems: systems evaluated on the same data, the baseline first.
        control: see :func:`compare_runs`.
        cluster: see :func:`compare_runs`.
        n_resamples: see :func:`compare_runs`.

    Raises:
        InputError: there is only one run, the task has no comparable answers, there are too few
            examples, or see :func:`compare_runs`.
        MissingExtraError: scipy is not installed.
    """
    check_resamples(n_resamples)
    if sum(len(system.runs) for system in systems) < 2:
        raise InputError("compare needs at least two run folders, the baseline first")
    systems = put_first(systems, control)
    baseline, *others = systems
    first, metric = baseline.runs[0], baseline.compared
    if not find_task(first.task).comparisons:
        raise InputError(
            f"runs of the task {first.task} have no answers to compare; compare models that were "
            f"fine-tuned from them, or plot their curves with `syntagma report RUN… --out DIR`"
        )
    n_examples = len(first.rows)
    if n_examples < 2:
        raise InputError(
            f"{first.path}: was scored on {n_examples} examples; a test needs at least two"
        )
    columns = tuple(name for name in metric.columns if name in first.metrics)
    signature = f"; {metric.metric}: {first.signature}" if first.signature else ""
    alone = Comparison(
        first.task, columns, metric.metric, ALONE + signature, n_examples, (_means(baseline),)
    )
    if not others:
        return alone
    stats()  # Fail now if scipy is missing, not after the resampling.
    clusters = find_clusters(first, cluster)
    pairings = [pair_runs(system, baseline) for system in others]
    resampled = Resampled.of(pairings, metric, clusters, n_resamples)
    compared = [_compare(*pair, resampled) for pair in zip(others, pairings, strict=True)]
    return replace(
        alone,
        test=_test_in_words(metric, pairings) + signature,
        systems=(_means(baseline), *correct(compared)),
        cluster=clusters.kind,
        n_clusters=clusters.number,
        n_resamples=n_resamples,
        clusters=clusters.described(),
        notes=_notes(clusters, compared),
    )


def correct(compared: Sequence[ComparedSystem], *, n_absent: int = 0) -> list[ComparedSystem]:
    """Correct all p-values for the number of comparisons, those of each test for themselves.

    Args:
        compared: the comparisons of one family.
        n_absent: number of further comparisons of it that have no runs yet; they count as ones
            without a finding.
    """
    absent = [1.0] * n_absent
    papers = iter(holm([*(each.p_value for each in compared if each.p_value is not None), *absent]))
    corrected: list[dict[str, float]] = [{} for _ in compared]
    for over in OVER:
        # A comparison whose interval is undefined is of the family too, as one without a finding.
        intervals = [system.intervals.get(over) for system in compared]
        p_values = holm(
            [*(interval.p_value if interval else 1.0 for interval in intervals), *absent]
        )
        for place, interval in enumerate(intervals):
            if interval is not None:
                corrected[place][over] = p_values[place]
    return [
        replace(each, p_holm=None if each.p_value is None else next(papers), corrected=of)
        for each, of in zip(compared, corrected, strict=True)
    ]


def _notes(clusters: Clusters, compared: Sequence[ComparedSystem]) -> tuple[str, ...]:
    notes = [clusters.note] if clusters.note else []
    if any("examples" not in system.intervals for system in compared):
        notes.append(
            f"no interval over examples where there are too few {clusters.kind}s (here "
            f"{clusters.number}), or where all of them differ alike"
        )
    return tuple(notes)


def _test_in_words(metric: ComparedMetric, pairings: Sequence[Pairing]) -> str:
    resampled = "permutation test" if metric.sums is None else "paired bootstrap"
    numbers = sorted({len(pairing.ours) for pairing in pairings})
    if numbers == [1]:
        return (
            f"p: {NAMES[metric.test]} on `{metric.metric}`, for these runs (results with other "
            f"seeds may differ); resampled: {resampled}"
        )
    name = "sign test" if metric.test == "mcnemar" else NAMES[metric.test]
    tests = {True: "paired t-test over shared seeds", False: "Welch's t-test over the runs"}
    seeds = " or ".join(tests[paired] for paired in sorted({each.paired for each in pairings}))
    return (
        f"p: {name} over examples, on means of `{metric.metric}` over "
        f"{' or '.join(map(str, numbers))} seeds; resampled: {resampled}; seeds: {seeds}"
    )


def _means(system: System) -> ComparedSystem:
    runs = system.runs
    names = [name for name in runs[0].metrics if all(name in run.metrics for run in runs)]
    values: Mapping[str, list[float]] = {
        name: [run.metrics[name] for run in runs] for name in names
    }
    return ComparedSystem(
        name=system.name,
        runs=tuple(str(run.path) for run in runs),
        seeds=tuple(run.seed for run in runs),
        metrics={name: mean(of) for name, of in values.items()},
        deviations={name: stdev(of) for name, of in values.items()} if len(runs) > 1 else {},
        sources=read_sources(runs[0].path),
    )


def _compare(system: System, pairing: Pairing, resampled: Resampled) -> ComparedSystem:
    metric = system.compared
    ours, theirs = (replace(system, runs=runs) for runs in (pairing.ours, pairing.theirs))
    keys = list(pairing.theirs[0].rows)
    scores, before = ours.example_scores(keys), theirs.example_scores(keys)
    gained, lost = int((scores > before).sum()), int((scores < before).sum())
    if metric.test == "t":
        p_value = paired_t_test(scores.tolist(), before.tolist())
    elif metric.test == "randomisation":
        assert metric.sums is not None
        p_value = randomisation_test(ours.counts(keys), theirs.counts(keys), metric.sums)
    else:
        p_value = sign_test(gained, lost)
    if metric.sums is None:
        p_resampled = permutation_test(scores.tolist(), before.tolist())
    else:
        p_resampled = paired_bootstrap(ours.counts(keys), theirs.counts(keys), metric.sums)
    return replace(
        _means(system),
        difference=mean(run.metrics[metric.metric] for run in pairing.ours)
        - mean(run.metrics[metric.metric] for run in pairing.theirs),
        gained=gained,
        lost=lost,
        p_value=p_value,
        p_resampled=p_resampled,
        paired=pairing.paired,
        pairing=pairing.reason,
        shared_seeds=pairing.seeds,
        intervals=intervals_of(pairing, metric.metric, resampled),
    )
