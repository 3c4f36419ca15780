"""Read the results of finished runs, and check that they are of the same examples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagma.encoders.precision import Precision
from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.runs.folder import read_experiment
from syntagma.runs.names import DATA, EXAMPLES, METRICS, RUN, SCORED, require_finished
from syntagma.tasks import find_task
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


def read_runs(folders: Sequence[str | Path]) -> list[RunScores]:
    """Read finished runs of one task on the same dev examples.

    Args:
        folders: run folders, or folders of their results on other files.

    Raises:
        InputError: a run is not finished, or the runs are of different tasks, or were scored on
            different examples or with different metrics.
    """
    runs = [_read(Path(folder)) for folder in folders]
    tasks = sorted({run.task for run in runs})
    if len(tasks) > 1:
        raise InputError(f"the runs are of different tasks: {', '.join(tasks)}")
    for run in runs:
        _check_same_data(run, runs[0])
        _check_signature(run, runs[0])
    return runs


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


def _read(scored: Path) -> RunScores:
    # A run has a file about itself; a folder that `score_runs` wrote into that of a run has none.
    is_part = scored.parent.name == SCORED and not (scored / RUN).is_file()
    path = scored.parent.parent if is_part else scored
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
