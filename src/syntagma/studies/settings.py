"""The settings of a study, read from a file.

A study asks one question.  It names the systems, what is chosen for each of them on other data than
those that it is scored on, and which two systems each comparison is of.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.settings import build, load_yaml, nearest, require_at_least
from syntagma.tasks.experiment import Experiment, load_experiment

_NAME = re.compile(r"[A-Za-z][\w.+-]*")


@dataclass(frozen=True)
class StudySystem:
    """A system of a study.

    Args:
        set: its settings, ``key=value``, on top of the study's experiment.
        choose: values to choose from, by setting; all combinations are tried.
        like: another system whose chosen values it takes, as a control takes those of the system
            that it is a control for.
    """

    set: tuple[str, ...] = ()
    choose: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    like: str = ""

    def __post_init__(self) -> None:
        for key, values in self.choose.items():
            if len(values) < 2:
                raise InputError(
                    f"choose.{key}: expected at least two values to choose from, got {len(values)}"
                )

    def trials(self) -> list[tuple[str, ...]]:
        """Return the ``key=value`` settings of each combination of values to choose from."""
        columns = [
            [f"{key}={json.dumps(value)}" for value in values]
            for key, values in self.choose.items()
        ]
        return list(product(*columns)) if columns else []


@dataclass(frozen=True)
class Study:
    """A study.

    Args:
        asks: the question, in a sentence.
        config: the experiment file of all systems; relative to the file of the study.
        systems: the systems by name.
        compare: pairs of names: a system, and the control that it is compared with.
        seeds: number of runs of each system, with the seeds 1, 2, ….
        set: settings of all runs, ``key=value``.
        choose_on: settings of the runs that choose values: other data than those that the systems
            are scored on.
        metric: metric to compare; the main one of the task's paper if not given.
        cluster: which examples belong together (``syntagma compare --cluster``).
        overrides: settings of all runs, ``key=value``, on top of those of the study and its
            systems, but not of what the study chooses, nor of what it chooses on.
        name: name of the study in its file.
        folder: folder of that file.
    """

    asks: str
    config: str
    systems: dict[str, StudySystem]
    compare: tuple[tuple[str, ...], ...]
    seeds: int = 5
    set: tuple[str, ...] = ()
    choose_on: tuple[str, ...] = ()
    metric: str = ""
    cluster: str = ""
    overrides: tuple[str, ...] = ()
    name: str = ""
    folder: Path = Path()

    def __post_init__(self) -> None:
        require_at_least(self, 1, "seeds")
        for name, system in self.systems.items():
            if not _NAME.fullmatch(name):
                raise InputError(f"systems: {name!r} cannot name a folder; use letters and digits")
            if system.like:
                self._require_system(system.like, f"systems.{name}.like")
                self._require_end(name)
            if system.choose and not self.choose_on:
                raise InputError(
                    f"systems.{name}.choose: needs choose_on, other data than the study is scored "
                    f"on, such as choose_on: [data.dev=held-out.json]"
                )
        for pair in self.compare:
            if len(pair) != 2 or pair[0] == pair[1]:
                raise InputError(
                    f"compare: expected pairs of a system and its control, as in [sg-net, plain]; "
                    f"got {list(pair)}"
                )
            for name in pair:
                self._require_system(name, "compare")
        self._check_overrides()
        self._check_folders()

    def _check_overrides(self) -> None:
        """Check that no override names what the study sets: it would have no effect."""
        for text in self.overrides:
            key = text.partition("=")[0].strip()
            if key == "training.seed":
                raise InputError(f"--set {text}: a study sets the seeds itself, from 1 to `seeds`")
            for name, system in self.systems.items():
                for chosen in system.choose:
                    if f"{key}.".startswith(f"{chosen}.") or f"{chosen}.".startswith(f"{key}."):
                        raise InputError(
                            f"--set {text}: the study {self.name} chooses {chosen} for {name}; "
                            f"write the value in its file, in place of `choose`"
                        )

    def _check_folders(self) -> None:
        """Check that no two runs share a folder, also where case makes no difference."""
        known: dict[str, str] = {}
        for name in self.systems:
            numbered = [self.run_name(name, seed) for seed in range(1, self.seeds + 1)]
            for run in (*self.trial_names(name), *numbered):
                if (other := known.get(run.casefold())) is not None:
                    raise InputError(
                        f"systems: runs of {other} and of {name} would share the folder {run}; "
                        f"rename a system, or choose from values with other letters and digits"
                    )
                known[run.casefold()] = name

    def run_name(self, name: str, seed: int) -> str:
        """Return the name of the folder of a run."""
        return f"{name}-{seed}"

    def trial_names(self, name: str) -> list[str]:
        """Return the names of the folders of the runs that choose the values of a system."""
        found = []
        for settings in self.systems[name].trials():
            values = "-".join(text.partition("=")[2] for text in settings).replace('"', "")
            found.append(f"choose-{name}-{values.replace('/', '-')}")
        return found

    def chosen_keys(self, name: str) -> tuple[str, ...]:
        """Return the settings that are chosen for a system, those of its ``like`` first."""
        system = self.systems[name]
        return (*(self.chosen_keys(system.like) if system.like else ()), *system.choose)

    def _require_system(self, name: str, where: str) -> None:
        if name not in self.systems:
            raise InputError(f"{where}: no system {name!r}; {nearest(name, list(self.systems))}")

    def _require_end(self, name: str) -> None:
        """Check that systems which take values from each other do not form a circle."""
        seen = [name]
        while (name := self.systems[name].like) and name in self.systems:
            if name in seen:
                raise InputError(
                    f"systems.{seen[0]}.like: {' → '.join([*seen, name])} is a circle; let one of "
                    f"them choose its own values"
                )
            seen.append(name)

    def experiment(self, name: str, seed: int, settings: tuple[str, ...] = ()) -> Experiment:
        """Return the experiment of a run.

        Args:
            name: name of the system.
            seed: its seed.
            settings: more settings, ``key=value``, on top of all others.

        Raises:
            InputError: a setting is unknown or impossible, or the file cannot be read.
        """
        given = [*self.set, *self.systems[name].set, *self.overrides, *settings]
        return load_experiment(self.folder / self.config, [*given, f"training.seed={seed}"])


def read_studies(path: str | Path, overrides: Sequence[str] = ()) -> dict[str, Study]:
    """Read the studies of a file, in their order, which is that of their worth.

    Args:
        path: a YAML file with a study under each name.
        overrides: settings of all runs, ``key=value``, on top of those of the studies.

    Raises:
        InputError: the file cannot be read, or a study is not valid.
    """
    path = Path(path)
    studies = {}
    for name, values in load_yaml(path).items():
        if not _NAME.fullmatch(name):
            raise InputError(f"{path}: {name!r} cannot name a folder; use letters and digits")
        if isinstance(values, dict):
            values = values | {"name": name, "folder": path.parent}
        study = build(Study, values, where=f"{path}: {name}")
        studies[name] = replace(study, overrides=tuple(overrides))
    if not studies:
        raise InputError(
            f"{path}: no studies; expected `NAME:` with asks, config, systems, compare"
        )
    return studies


def choose_studies(studies: dict[str, Study], names: list[str]) -> list[Study]:
    """Return the named studies in the order of the file; all if no names are given.

    Raises:
        InputError: there is no study of a name.
    """
    for name in names:
        if name not in studies:
            raise InputError(f"no study {name!r}; {nearest(name, list(studies))}")
    return [study for name, study in studies.items() if not names or name in names]
