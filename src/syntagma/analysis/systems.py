"""Group finished runs into systems: those that differ only in their seed, or those of a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from syntagma.analysis.run_scores import FloatArray, RunScores, read_runs
from syntagma.analysis.significance import rounded
from syntagma.errors import InputError
from syntagma.runs.names import EXAMPLES, METRICS
from syntagma.settings import nearest
from syntagma.tasks import find_task
from syntagma.tasks.comparison.comparisons import ComparedMetric, find_comparison
from syntagma.tasks.comparison.metric_sums import class_sums


def with_classes(compared: ComparedMetric, rows: Iterable[Mapping[str, float]]) -> ComparedMetric:
    """Return a metric whose sums are those of the classes in some rows, if it is a mean over them.

    Args:
        compared: the metric.
        rows: of all examples in all runs.
    """
    if not compared.by_class:
        return compared
    return compared._replace(sums=class_sums({name for row in rows for name in row}))


@dataclass(frozen=True, slots=True)
class System:
    """The runs of one experiment with different seeds.

    Args:
        name: name of the run folder, without the seed if there are several runs.
        runs: the runs in the given order.
        compared: the metric by which systems are compared.
    """

    name: str
    runs: tuple[RunScores, ...]
    compared: ComparedMetric

    @property
    def folders(self) -> list[Path]:
        """The folders of the runs."""
        return [run.scored for run in self.runs]

    def example_scores(self, keys: Sequence[str]) -> FloatArray:
        """Compute the mean score of each example over seeds.

        Args:
            keys: ids of the examples, ``[n_keys]``.

        Returns:
            The scores, ``[n_keys]``.
        """
        return rounded(
            np.mean([run.counts(keys, [self.compared.score])[:, 0] for run in self.runs], 0)
        )

    def counts(self, keys: Sequence[str]) -> list[FloatArray]:
        """Return the counts that examples add to the metric, ``[n_keys, n_names]`` per seed."""
        sums = self.compared.sums
        return [
            run.counts(keys, sums.names if sums else [self.compared.score]) for run in self.runs
        ]

    def value(self, keys: Sequence[str]) -> float:
        """Compute the metric on some examples in per cent, mean over seeds; NaN for no example."""
        if not len(keys):
            return float("nan")
        if self.compared.sums is None:
            return 100 * float(self.example_scores(keys).mean())
        values = [self.compared.sums.value(counts.sum(0)) for counts in self.counts(keys)]
        return float(np.mean(values))


def read_systems(
    folders: Sequence[str | Path],
    *,
    metric: str = "",
    alike: Callable[[RunScores], str] | None = None,
) -> list[System]:
    """Read finished runs on the same dev examples and group them into systems.

    Args:
        folders: run folders, or folders of their results on other files.
        metric: metric by which they are compared; defaults to that of the task's paper.
        alike: returns a key that is equal for runs of one system; defaults to
            :attr:`RunScores.kind`.

    Raises:
        InputError: a run is not finished; the runs are of different tasks, or were scored on
            different examples or with different metrics; or the metric has no test.
    """
    runs = read_runs(folders)
    groups: dict[str, list[RunScores]] = {}
    for run in runs:
        groups.setdefault(alike(run) if alike else run.kind, []).append(run)
    parted = list(groups.values())
    # If all runs have the same settings and some the same seed, compare them as separate systems.
    if len(parted) == 1 and len({(run.seed, run.kind) for run in runs}) < len(runs):
        parted = [[run] for run in runs]
    for group in parted:
        known: dict[tuple[int, str], RunScores] = {}
        for run in group:
            if (first := known.setdefault((run.seed, run.kind), run)) is not run:
                raise InputError(
                    f"{run.path}: has the same settings and seed as {first.path}; name only one "
                    f"run per seed"
                )
    compared = _compared(runs, metric)
    names = distinct_names([_name(group) for group in parted], [group[0].path for group in parted])
    return [System(name, tuple(group), compared) for name, group in zip(names, parted, strict=True)]


def named_systems(
    groups: Iterable[tuple[str, Sequence[str | Path]]], *, metric: str = ""
) -> list[System]:
    """Read finished runs whose systems are known, whatever their settings.

    Args:
        groups: the name of each system and the folders of its runs, the baseline first.
        metric: metric by which they are compared; defaults to that of the task's paper.

    Raises:
        InputError: two runs of a system have the same seed, or see :func:`read_systems`.
    """
    named = list(groups)
    runs = read_runs([folder for _, folders in named for folder in folders])
    compared = _compared(runs, metric)
    rest = iter(runs)
    systems = [System(name, tuple(islice(rest, len(of))), compared) for name, of in named]
    for system in systems:
        known: dict[int, RunScores] = {}
        for run in system.runs:
            if (first := known.setdefault(run.seed, run)) is not run:
                raise InputError(f"{run.path}: has the same seed as {first.path}; name one of them")
    return systems


def _compared(runs: Sequence[RunScores], metric: str) -> ComparedMetric:
    """Find the metric to compare runs on, and check that they have what it needs."""
    comparisons = find_task(runs[0].task).comparisons
    compared = find_comparison(comparisons, runs[0].metrics, metric)
    compared = with_classes(compared, (row for run in runs for row in run.rows.values()))
    for run in runs if comparisons else ():
        _check_scores(run, compared)
    return compared


def require_same_numbers(systems: Sequence[System]) -> None:
    """Check that all systems have the same number of seeds, whose means are then shown together.

    A seed may have several runs, with other noise.

    Raises:
        InputError: they have not.
    """
    n_seeds = [len({run.seed for run in system.runs}) for system in systems]
    for system, number in zip(systems, n_seeds, strict=True):
        if number != n_seeds[0]:
            raise InputError(
                f"{system.name} has {number} seeds, {systems[0].name} has {n_seeds[0]}; give the "
                f"same number of runs of each"
            )


def put_first(systems: Sequence[System], control: str) -> list[System]:
    """Put the system that the others are compared with first.

    Args:
        systems: the systems.
        control: its name, or the path of one of its runs; empty to leave the order as it is.

    Raises:
        InputError: there is no such system.
    """
    for system in systems if control else ():
        if control == system.name or Path(control) in (run.path for run in system.runs):
            return [system, *(other for other in systems if other is not system)]
    if control:
        names = [system.name for system in systems]
        raise InputError(f"--control {control}: {nearest(control, names)}")
    return list(systems)


def _name(group: Sequence[RunScores]) -> str:
    """Return the name of the first run folder, without the seed if there are several runs."""
    first = group[0].path.name
    if len(group) == 1:
        return first
    return re.sub(rf"[-_.]?(seed)?{group[0].seed}$", "", first) or first


def distinct_names(names: Sequence[str], paths: Sequence[Path]) -> list[str]:
    """Make names distinct by adding the parent folder, and then a number, to equal names.

    Args:
        names: names of systems or models.
        paths: a path of each.
    """
    if len(set(names)) < len(names):
        longer = zip(names, paths, strict=True)
        names = [f"{path.parent.name}/{name}".lstrip("/") for name, path in longer]
    found: list[str] = []
    for name in names:
        times = sum(known == name or known.startswith(f"{name} (") for known in found)
        found.append(f"{name} ({times + 1})" if times else name)
    return found


def _check_scores(run: RunScores, compared: ComparedMetric) -> None:
    if compared.metric not in run.metrics:
        raise InputError(
            f"{run.scored / METRICS}: expected {compared.metric}, by which these runs are "
            f"compared, got {', '.join(run.metrics)}; compare runs with the same metrics"
        )
    needed = {
        compared.score,
        *(compared.sums.names if compared.sums and not compared.by_class else ()),
    }
    if compared.by_class and not any(":" in name for row in run.rows.values() for name in row):
        needed.add("counts of classes")
    for key, row in run.rows.items():
        if missing := needed - row.keys():
            raise InputError(
                f"{run.scored / EXAMPLES}: {key}: has no {', '.join(sorted(missing))}; the file "
                f"was written by another version or for another task: train the run again"
            )
