"""Read finished runs, and group those that differ only in their seed into systems."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagma.analysis.significance import rounded
from syntagma.encoders.precision import Precision
from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.runs.folder import read_experiment
from syntagma.runs.names import DATA, EXAMPLES, METRICS, SCORED, require_finished
from syntagma.settings import nearest
from syntagma.tasks import find_task
from syntagma.tasks.comparison.comparisons import ComparedMetric, find_comparison
from syntagma.tasks.comparison.metric_sums import class_sums
from syntagma.tasks.experiment import Experiment, comparable

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RunScores:
    """The results of a finished run.

    Args:
        path: path of the run folder.
        scored: folder of predictions and scores: the run folder, or a folder that
            :func:`syntagma.evaluation.score_runs` wrote, whose files then replace the dev files.
        experiment: the settings.
        metrics: metrics on all dev files together, by name.
        rows: scores of each dev example, by id.
        signature: identifies the computation of the metric where tools differ (as for BLEU).
        fingerprints: hash of the dev examples of each file, by name of the file; empty for runs
            that did not save any.
    """

    path: Path
    scored: Path
    experiment: Experiment
    metrics: dict[str, float]
    rows: dict[str, dict[str, float]]
    signature: str = ""
    fingerprints: dict[str, str] = field(default_factory=dict)

    @property
    def task(self) -> str:
        """Name of the task."""
        return self.experiment.task

    @property
    def seed(self) -> int:
        """Random seed of the training."""
        return self.experiment.training.seed

    @property
    def precision(self) -> Precision:
        """Precision of training and evaluation."""
        return self.experiment.training.precision

    @property
    def kind(self) -> str:
        """All settings that affect the result except the seed; equal for runs of one system."""
        return self.without()

    def without(self, *names: str) -> str:
        """Serialise the settings that affect the result, except the named ones and the seed."""
        settings = comparable(self.experiment)
        ignored = {"training.seed", *names}
        return repr(sorted((key, str(settings[key])) for key in settings.keys() - ignored))

    @property
    def data(self) -> list[str]:
        """Names of the dev files."""
        return [Path(path).name.removesuffix(".gz") for path in self.experiment.data.dev]

    def counts(self, keys: Sequence[str], names: Sequence[str]) -> FloatArray:
        """Return the counts that examples add to sums, ``[n_keys, n_names]``, by default 0."""
        return counts_of(self.rows, keys, names)

    def read_examples(self) -> list[Any]:
        """Read all examples of the dev files, in the order of the predictions.

        Raises:
            InputError: the files no longer exist, or the examples have no ids.
        """
        task, data = find_task(self.task), self.experiment.data
        parts = task.read_parts(data.dev, skip_bad=data.skip_bad)
        examples = [example for part in parts.values() for example in part]
        if examples and not hasattr(examples[0], "id"):
            raise InputError(f"examples of the task {self.task} have no ids to find them by")
        return examples

    def examples(self) -> list[Any]:
        """Read the dev examples that were scored.

        Raises:
            InputError: the files no longer exist, or contain other examples.
        """
        scored = [example for example in self.read_examples() if example.id in self.rows]
        if len(scored) < len(self.rows):
            raise InputError(
                f"{self.path}: was scored on other examples than "
                f"{', '.join(self.experiment.data.dev)} contains now; restore the files, or train "
                f"the run again"
            )
        return scored


def counts_of(
    rows: Mapping[str, Mapping[str, float]], keys: Sequence[str], names: Sequence[str]
) -> FloatArray:
    """Return the counts that examples add to sums, by default 0.

    Args:
        rows: counts of each example, by id.
        keys: ids of the examples.
        names: names of the counts.

    Returns:
        The counts, ``[n_keys, n_names]``.
    """
    return np.array([[rows[key].get(name, 0.0) for name in names] for key in keys], float)


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
    runs = [_read(Path(folder)) for folder in folders]
    tasks = sorted({run.task for run in runs})
    if len(tasks) > 1:
        raise InputError(f"the runs are of different tasks: {', '.join(tasks)}")
    for run in runs:
        _check_same_data(run, runs[0])
        _check_signature(run, runs[0])
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
    comparisons = find_task(tasks[0]).comparisons
    compared = find_comparison(comparisons, runs[0].metrics, metric)
    compared = with_classes(compared, (row for run in runs for row in run.rows.values()))
    for run in runs if comparisons else ():
        _check_scores(run, compared)
    names = distinct_names([_name(group) for group in parted], [group[0].path for group in parted])
    return [System(name, tuple(group), compared) for name, group in zip(names, parted, strict=True)]


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


def _check_same_data(run: RunScores, first: RunScores) -> None:
    if run.rows.keys() != first.rows.keys() or run.data != first.data:
        raise InputError(
            f"{run.path}: was scored on {len(run.rows)} examples ({', '.join(run.data)}), "
            f"{first.path} on {len(first.rows)} different ones ({', '.join(first.data)}); compare "
            f"runs with the same data.dev"
        )
    known = run.fingerprints.keys() & first.fingerprints.keys()
    if changed := [name for name in known if run.fingerprints[name] != first.fingerprints[name]]:
        raise InputError(
            f"{run.path}: was scored on another version of {min(changed)} than {first.path} (equal "
            f"ids, different examples); train one of them again"
        )


def _check_signature(run: RunScores, first: RunScores) -> None:
    if run.signature != first.signature:
        raise InputError(
            f"{run.path}: its metric is computed as {run.signature!r}, that of {first.path} as "
            f"{first.signature!r}; compare runs whose metrics are computed in the same way"
        )


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


def _read(scored: Path) -> RunScores:
    path = scored.parent.parent if scored.parent.name == SCORED else scored
    require_finished(path)
    experiment = read_experiment(scored, check=scored == path)
    if not (scored / EXAMPLES).is_file():
        why = (
            "it has no examples.json; train it to the end first"
            if experiment.data.dev
            else "it was trained without data.dev, so it has no scores; train it with dev files, "
            "or give files to score it on"
        )
        raise InputError(f"{scored}: expected a finished run with scores, but {why}")
    metrics, rows = (_object(scored / name) for name in (METRICS, EXAMPLES))
    signature = str(metrics.pop("signature", ""))
    # An undefined metric (NaN) is null in the file: drop it, unless it is one that is tested.
    tested = {compared.metric for compared in find_task(experiment.task).comparisons}
    metrics = {
        name: value for name, value in metrics.items() if name in tested or value is not None
    }
    _require_numbers(metrics, scored / METRICS)
    for key, row in rows.items():
        if not isinstance(row, dict):
            raise InputError(
                f"{scored / EXAMPLES}: {key}: expected an object, got {row!r:.40}; train the run "
                f"again"
            )
        _require_numbers(row, scored / EXAMPLES, f"{key}: ")
    fingerprints = _object(scored / DATA) if (scored / DATA).is_file() else {}
    return RunScores(path, scored, experiment, metrics, rows, signature, fingerprints)


def _object(path: Path) -> dict[str, Any]:
    value = read_json(path)
    if not isinstance(value, dict):
        raise InputError(f"{path}: expected an object, got {value!r:.40}; train the run again")
    return value


def _require_numbers(values: dict[str, Any], path: Path, place: str = "") -> None:
    for name, value in values.items():
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise InputError(
                f"{path}: {place}{name}: expected a number, got {value!r:.40}; train the run again"
            )
