"""Finished runs as systems: the runs of one experiment with different seeds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.settings import flatten
from syntagma.tasks import find_task
from syntagma.tasks.experiment import PRACTICAL, load_run_settings
from syntagma.tasks.task import distinct, names_of

__all__ = ["PLANS", "Plan", "RunScores", "System", "read_systems"]

FloatArray = NDArray[np.float64]


class Plan(NamedTuple):
    """How runs of a task are compared.

    Args:
        columns: the metrics to show; differences are those of the tested one.
        score: the score of an example that is tested.
        test: the paper's test: ``mcnemar``, ``t`` or ``sign``.
    """

    columns: tuple[str, ...]
    score: str
    test: str


PLANS: dict[str, Plan] = {
    "choice": Plan(("accuracy",), "accuracy", "t"),
    "open_qa": Plan(("exact", "f1"), "exact", "mcnemar"),
    "pairs": Plan(("accuracy",), "accuracy", "t"),
    "parsing": Plan(("uas", "las", "xpos"), "las", "mcnemar"),
    "probing": Plan(("accuracy",), "accuracy", "t"),
    "relations": Plan(("precision", "recall", "f1", "macro_f1", "accuracy"), "accuracy", "t"),
    "spans": Plan(("exact", "f1"), "exact", "mcnemar"),
    "structural": Plan(("accuracy", "spearman"), "accuracy", "mcnemar"),
    "translation": Plan(("bleu",), "bleu", "sign"),
    "typing": Plan(("precision", "recall", "f1", "macro_f1", "strict_accuracy"), "f1", "t"),
}
"""For each task the metrics to show, where there are such, and the test of its paper."""

COUNTS = (
    *(f"matches_{order}" for order in range(1, 5)),
    *(f"totals_{order}" for order in range(1, 5)),
    "length",
    "reference_length",
)
"""What BLEU is computed from, a sentence."""


@dataclass(frozen=True, slots=True)
class RunScores:
    """What a finished run has left.

    Args:
        path: of its folder.
        settings: of its experiment.
        metrics: on all dev files together.
        rows: the scores of each dev example by its id.
    """

    path: Path
    settings: dict[str, Any]
    metrics: dict[str, float]
    rows: dict[str, dict[str, float]]

    @property
    def task(self) -> str:
        """Name of its task."""
        return str(self.settings.get("task"))

    @property
    def seed(self) -> int:
        """Of its training."""
        return int(self.settings.get("training", {}).get("seed", 0))

    @property
    def kind(self) -> str:
        """What runs of one system have in common: all settings but the seed and practical ones."""
        settings = flatten(self.settings)
        ignored = {"training.seed", *PRACTICAL}
        return repr(sorted((key, str(settings[key])) for key in settings.keys() - ignored))

    @property
    def data(self) -> list[str]:
        """Names of its dev files."""
        paths = self.settings.get("data", {}).get("dev", [])
        return [Path(path).name.removesuffix(".gz") for path in paths]

    @property
    def counts_bleu(self) -> bool:
        """Whether its examples tell what BLEU over many of them is computed from."""
        return COUNTS[0] in next(iter(self.rows.values()), {})

    def counts(self, keys: Sequence[str]) -> FloatArray:
        """What BLEU is computed from, ``[n_keys, 10]``."""
        return np.array([[self.rows[key][name] for name in COUNTS] for key in keys])

    def read_examples(self) -> list[Any]:
        """All examples of the dev files, read again, in the order of the predictions.

        Raises:
            InputError: the files are no longer there, or their examples have no ids.
        """
        task, data = find_task(self.task), self.settings["data"]
        parts = {
            name: task.read(path, skip_bad=bool(data.get("skip_bad")))
            for name, path in zip(names_of(data["dev"]), data["dev"], strict=True)
        }
        examples = [example for part in distinct(parts).values() for example in part]
        if examples and not hasattr(examples[0], "id"):
            raise InputError(f"examples of the task {self.task} cannot be told apart by an id")
        return examples

    def examples(self) -> list[Any]:
        """The dev examples that were scored, read from their files again.

        Raises:
            InputError: the files are no longer there, or hold other examples.
        """
        scored = [example for example in self.read_examples() if example.id in self.rows]
        if len(scored) < len(self.rows):
            raise InputError(
                f"{self.path}: was scored on other examples than "
                f"{', '.join(self.settings['data']['dev'])} holds now; put the files back, or "
                f"train again"
            )
        return scored


@dataclass(frozen=True, slots=True)
class System:
    """The runs of one experiment with different seeds.

    Args:
        name: of the run folder, without the seed where there are several.
        runs: in the order in which they were given.
        plan: of its task.
    """

    name: str
    runs: tuple[RunScores, ...]
    plan: Plan

    def example_scores(self, keys: Sequence[str]) -> FloatArray:
        """The mean score of each example over seeds; right or wrong for McNemar's test.

        Args:
            keys: ids of the examples.
        """

        def score(row: dict[str, float]) -> float:
            if self.plan.test == "mcnemar":
                return float(row[self.plan.score] >= row.get("words", 1))
            return row[self.plan.score]

        means: FloatArray = np.mean(
            [[score(run.rows[key]) for key in keys] for run in self.runs], axis=0
        )
        return means


def read_systems(folders: Sequence[str | Path]) -> list[System]:
    """Finished runs on the same dev examples; those that differ in the seed alone are one system.

    Args:
        folders: run folders.

    Raises:
        InputError: one is no finished run, they were scored on different examples, are of different
            tasks, or have not equally many seeds.
    """
    runs = [_read(Path(folder)) for folder in folders]
    tasks = sorted({run.task for run in runs})
    if len(tasks) > 1:
        raise InputError(f"the runs are of different tasks: {', '.join(tasks)}")
    for run in runs:
        _check_same_data(run, runs[0])
    groups: dict[str, list[RunScores]] = {}
    for run in runs:
        groups.setdefault(run.kind, []).append(run)
    # The same run twice, or runs that differ in nothing, are still two lines.
    parted = list(groups.values())
    if len(parted) == 1 and len({run.seed for run in runs}) < len(runs):
        parted = [[run] for run in runs]
    for group in parted:
        by_seed: dict[int, RunScores] = {}
        for run in group:
            if run.seed in by_seed:
                raise InputError(
                    f"{run.path}: is of the same system and seed as {by_seed[run.seed].path}; name "
                    f"one run a seed"
                )
            by_seed[run.seed] = run
    plan = PLANS.get(tasks[0], Plan(("accuracy",), "accuracy", "t"))
    names = _distinct([_name(group) for group in parted], [group[0].path for group in parted])
    systems = [System(name, tuple(group), plan) for name, group in zip(names, parted, strict=True)]
    for system in systems:
        if len(system.runs) != len(systems[0].runs):
            raise InputError(
                f"{system.name} has {len(system.runs)} seeds, {systems[0].name} has "
                f"{len(systems[0].runs)}; compare equally many of each"
            )
    return systems


def _name(group: Sequence[RunScores]) -> str:
    first = group[0].path.name
    if len(group) == 1:
        return first
    return re.sub(rf"[-_.]?(seed)?{group[0].seed}$", "", first) or first


def _distinct(names: Sequence[str], paths: Sequence[Path]) -> list[str]:
    """Names that tell systems apart: with the folder above where they are alike, then numbered."""
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
            f"{first.path} on {len(first.rows)} ({', '.join(first.data)}), and they are not the "
            f"same; compare runs with the same data.dev"
        )


def _read(path: Path) -> RunScores:
    for name in ("experiment.yaml", "metrics.json", "examples.json"):
        if not (path / name).is_file():
            why = (
                "it was trained without data.dev, so nothing was scored; train it with dev files"
                if name == "examples.json"
                and not load_run_settings(path / "experiment.yaml")["data"]["dev"]
                else f"it has no {name}; train it to its end first"
            )
            raise InputError(f"{path}: no finished run with scores ({why})")
    values = [read_json(path / name) for name in ("metrics.json", "examples.json")]
    for name, value in zip(("metrics.json", "examples.json"), values, strict=True):
        if not isinstance(value, dict):
            raise InputError(f"{path / name}: expected an object, got {type(value).__name__}")
    return RunScores(path, load_run_settings(path / "experiment.yaml"), *values)
