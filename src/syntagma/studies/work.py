"""Train the runs of a study, choose values on other data, and compare the systems.

Every step looks at the run folders, so that an interrupted study continues where it was, and
several processes can share its work.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagma.analysis.clusters import check_kind
from syntagma.analysis.compare import compare_named
from syntagma.errors import InputError
from syntagma.runs.folder import RunFolder, read_experiment
from syntagma.settings import differences, to_dict
from syntagma.studies.result import ChosenValues, StudyResult
from syntagma.studies.settings import Study
from syntagma.tasks import find_task
from syntagma.tasks.comparison.comparisons import check_metric
from syntagma.tasks.experiment import Experiment, comparable
from syntagma.training.job_queue import Job, train_all

TRIAL_SEED = 1
"""Values are chosen with one seed: the same for all, so that the order of the data is no luck."""


@dataclass(frozen=True, slots=True)
class StudyRuns:
    """The run folders of a study.

    Args:
        study: the study.
        out: folder of all studies.
    """

    study: Study
    out: Path

    @property
    def folder(self) -> Path:
        """Folder of the study."""
        return self.out / self.study.name

    def trials(self) -> list[Job]:
        """Return the runs by which values are chosen, those of the first system first."""
        return [job for name in self.study.systems for job in self.trials_of(name)]

    def trials_of(self, name: str) -> list[Job]:
        """Return the runs by which the values of a system are chosen.

        Those of a system that is ``like`` another use the experiment's own values in place of the
        other's, so that all can run at the same time.
        """
        study = self.study
        trials = zip(study.systems[name].trials(), study.trial_names(name), strict=True)
        return [
            Job(
                study.experiment(name, TRIAL_SEED, (*study.choose_on, *settings)), self.folder / run
            )
            for settings, run in trials
        ]

    def chosen(self, name: str) -> ChosenValues | None:
        """Return the values that are best for a system; ``None`` if trials are not finished."""
        system = self.study.systems[name]
        like = ChosenValues() if not system.like else self.chosen(system.like)
        trials = self.trials_of(name)
        if like is None or any(RunFolder(job.folder).state != "done" for job in trials):
            return None
        if not trials:
            return like
        found = {job.folder: RunFolder(job.folder).result() for job in trials}
        metric = _shared_metric(trials[0].experiment, found)
        scores = [float(values[metric]) for values in found.values()]
        known = [score for score in scores if not math.isnan(score)]
        if not known:
            raise InputError(
                f"{self.folder}: the trials of {name} have no {metric} that is a number; choose "
                f"from other values, or write the value in the file of the study, in place of "
                f"`choose`"
            )
        best = scores.index(max(known))
        tried = tuple(
            (", ".join(settings), score)
            for settings, score in zip(system.trials(), scores, strict=True)
        )
        return ChosenValues((*like.settings, *system.trials()[best]), metric, tried)

    def runs(self) -> list[Job]:
        """Return the runs to compare, all systems with the first seed first.

        So that a study that stops early has fewer seeds, not fewer systems.

        Raises:
            InputError: the runs by which values are chosen are not finished.
        """
        jobs = []
        chosen = {name: self.chosen(name) for name in self.study.systems}
        for seed in range(1, self.study.seeds + 1):
            for name, found in chosen.items():
                if found is None:
                    raise InputError(
                        f"{self.folder}: the values of {name} are not chosen yet; run `syntagma "
                        f"study` without --compare"
                    )
                experiment = self.study.experiment(name, seed, found.settings)
                jobs.append(Job(experiment, self.run_folder(name, seed)))
        return jobs

    def run_folder(self, name: str, seed: int) -> Path:
        """Return the folder of a run."""
        return self.folder / self.study.run_name(name, seed)

    def finished(self, name: str) -> dict[int, Path]:
        """Return the folders of a system's finished runs, by seed."""
        folders = {seed: self.run_folder(name, seed) for seed in range(1, self.study.seeds + 1)}
        return {seed: path for seed, path in folders.items() if RunFolder(path).state == "done"}

    def values(self, name: str) -> ChosenValues | None:
        """Return the values that were chosen for a system, as far as its folders say.

        Where the runs that chose them are gone, as from an archive, its finished runs have them.
        """
        if found := self.chosen(name):
            return found
        for folder in self.finished(name).values():
            saved = to_dict(read_experiment(folder))
            keys = self.study.chosen_keys(name)
            return ChosenValues(tuple(f"{key}={json.dumps(_value(saved, key))}" for key in keys))
        return None

    def check_settings(self, name: str) -> None:
        """Check that the finished runs of a system were trained with the settings of the study.

        Raises:
            InputError: one was not.
        """
        values = self.values(name) or ChosenValues()
        for seed, folder in self.finished(name).items():
            wanted = comparable(self.study.experiment(name, seed, values.settings))
            for key, before, now in differences(comparable(read_experiment(folder)), wanted):
                raise InputError(
                    f"{folder}: was trained with {key}={before!r}, and the study has {now!r}; give "
                    f"the settings that it was trained with (--set), or another --out"
                )

    def lines(self) -> Iterator[str]:
        """Yield a line for each run: its state and folder."""
        trials = [job.folder for job in self.trials()]
        for folder in trials:
            yield f"{RunFolder(folder).state:<6} {folder}"
        chosen = {name: self.chosen(name) for name in self.study.systems}
        for seed in range(1, self.study.seeds + 1):
            for name, found in chosen.items():
                folder = self.run_folder(name, seed)
                waits = "" if found else "  (its values are chosen first)"
                yield f"{RunFolder(folder).state:<6} {folder}{waits}"


def _shared_metric(experiment: Experiment, found: Mapping[Path, Mapping[str, Any]]) -> str:
    """Return the metric by which training chooses models, of those that all trials have.

    Args:
        experiment: the settings of the first trial.
        found: the metrics of each trial, by its folder.

    Raises:
        InputError: the trials have no such metric in common.
    """
    wanted = find_task(experiment.task).primaries(experiment)
    for metric in wanted:
        if all(metric in values for values in found.values()):
            return metric
    folder = next(path for path, values in found.items() if wanted[-1] not in values)
    raise InputError(
        f"{folder}: expected the metric {' or '.join(wanted)}, by which the values of the other "
        f"trials are chosen, got {', '.join(found[folder])}; choose between settings with the same "
        f"metric, or write the value in the file of the study, in place of `choose`"
    )


def _value(settings: Any, key: str) -> Any:
    """Return a setting, or a section of settings; ``False`` for a guide that a run does not have.

    Args:
        settings: nested settings.
        key: names joined by dots.
    """
    for name in key.split("."):
        settings = settings.get(name, False) if isinstance(settings, Mapping) else False
    return settings


def run_study(
    study: Study, out: Path, *, say: Callable[[str], None] = lambda line: None
) -> StudyResult:
    """Train all runs of a study that are not finished, and compare its systems.

    Args:
        study: the study.
        out: folder of all studies.
        say: called with a line of progress for each run.

    Raises:
        InputError: a setting or the data cannot be used, or the folder of a finished run has other
            settings.
    """
    runs = StudyRuns(study, out)
    for name in study.systems:  # Report a wrong setting before hours of training.
        experiment = study.experiment(name, TRIAL_SEED)
        task = find_task(experiment.task)
        check_metric(task.comparisons, study.metric)
        check_kind(study.cluster, task.clusters)
    if trials := runs.trials():
        train_all(trials, say=say)
    train_all(runs.runs(), say=say)
    return compare_study(study, out)


def compare_study(study: Study, out: Path) -> StudyResult:
    """Compare the systems of a study as far as their runs are finished.

    Args:
        study: the study.
        out: folder of all studies.

    Raises:
        InputError: a run was trained with other settings than those of the study.
    """
    runs = StudyRuns(study, out)
    for name in study.systems:
        runs.check_settings(name)
    pairs = []
    for system, control in study.compare:
        ours, theirs = runs.finished(system), runs.finished(control)
        shared = sorted(ours.keys() & theirs.keys())
        if not shared:
            continue
        groups = [
            (name, [of[seed] for seed in shared])
            for name, of in ((control, theirs), (system, ours))
        ]
        found = compare_named(groups, metric=study.metric, cluster=study.cluster)
        pairs.append((system, control, found))
    chosen = {name: runs.values(name) for name in study.systems}
    return StudyResult.of(study, pairs, {name: found for name, found in chosen.items() if found})
