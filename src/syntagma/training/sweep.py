"""Search a space of settings with Optuna; each trial is an ordinary run folder.

The store is a journal in the sweep's folder.  What is proposed follows from the trials before and
from the number of the trial alone, so that a sweep that was killed at any moment and goes on comes
to the same trials as one that never stopped.
"""

from __future__ import annotations

import json
import logging
import math
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import yaml

from syntagma.drawing.tables import aligned
from syntagma.errors import BusyError, InputError, MachineError, MissingExtraError, TrainingError
from syntagma.outputs import write_text
from syntagma.runs.folder import RunFolder
from syntagma.settings import differences, load_yaml, to_dict
from syntagma.tasks import find_task
from syntagma.tasks.experiment import Experiment, load_experiment
from syntagma.training.processes import require_one_process
from syntagma.training.search_space import Dimension

SETTINGS, JOURNAL = "sweep.yaml", "trials.journal"


@dataclass(frozen=True, slots=True)
class Sweep:
    """What is searched.

    Args:
        config: an experiment file.
        folder: where trials and store lie.
        space: the settings to choose.
        overrides: ``key=value`` settings of every trial.
        seeds: runs a trial.
        metric: the metric to raise; the task's primary one if empty.
        seed: of the proposals.
    """

    config: Path
    folder: Path
    space: tuple[Dimension, ...]
    overrides: tuple[str, ...] = ()
    seeds: int = 1
    metric: str = ""
    seed: int = 1

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise InputError(f"--seeds must be at least 1, got {self.seeds}")
        given = [f"--space {each.key}" for each in self.space]
        given += [f"--set {text.partition('=')[0].strip()}" for text in self.overrides]
        for option in given:
            if self.seeds > 1 and option.endswith(" training.seed"):
                raise InputError(
                    f"{option}: with --seeds {self.seeds} each trial has its own seeds; leave out "
                    f"one of the two"
                )

    def experiment(self, values: Mapping[str, Any], seed: int) -> Experiment:
        """The experiment of a trial.

        Args:
            values: what was chosen, by key.
            seed: number of the run, from 1.

        Raises:
            InputError: a setting is unknown or impossible.
        """
        chosen = [f"{key}={json.dumps(value)}" for key, value in values.items()]
        seeds = [f"training.seed={seed}"] if self.seeds > 1 else []
        return load_experiment(self.config, [*self.overrides, *seeds, *chosen])


@dataclass(frozen=True, slots=True)
class Trial:
    """A setting that was tried.

    Args:
        number: from 0.
        values: of the settings, by key.
        value: of the metric, a mean over seeds; ``None`` if it failed.
        folders: of its runs.
    """

    number: int
    values: dict[str, Any]
    value: float | None
    folders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SweepResult:
    """What a sweep has found.

    Args:
        metric: that was raised.
        trials: the best first, failed ones last.
    """

    metric: str
    trials: tuple[Trial, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def table(self) -> str:
        """For a terminal."""
        keys = list(dict.fromkeys(key for trial in self.trials for key in trial.values))
        rows = [["trial", *keys, self.metric]]
        for trial in self.trials:
            chosen = [_shown(trial.values.get(key, "")) for key in keys]
            value = "failed" if trial.value is None else f"{trial.value:.2f}"
            rows.append([str(trial.number), *chosen, value])
        return aligned(rows)


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def run_sweep(
    sweep: Sweep, n_trials: int, *, say: Callable[[str], None] = lambda line: None
) -> SweepResult:
    """Try settings until there are enough trials, those of earlier calls counted.

    One process works on a sweep at a time.  A trial that diverges or fills the device's memory,
    whose settings are refused, or whose metric is no number, has failed; what the machine is to
    blame for, such as a full disk, ends the call, and the same call goes on with that trial.  As
    long as no trial has a value one whose settings or data are refused ends the call, and nothing
    but finished runs is left: the corrected call begins anew.

    Args:
        sweep: what is searched.
        n_trials: how many trials there are to be in all.
        say: called with a line for each trial's value.

    Raises:
        InputError: the folder belongs to another sweep, a setting of the space is unknown or a
            value of it impossible, or no trial's settings can be used.
        MachineError: a file is gone or cannot be written, or another process is at work there.
        MissingExtraError: Optuna is not installed.
    """
    require_one_process()
    optuna = _optuna()
    if n_trials < 1:
        raise InputError(f"--trials must be at least 1, got {n_trials}")
    base = load_experiment(sweep.config, list(sweep.overrides))
    metric = sweep.metric or find_task(base.task).primary
    _check_space(sweep)
    before = {*sweep.folder.glob("*")}
    _begin(sweep, base, metric)
    journal = optuna.storages.journal.JournalFileBackend(str(sweep.folder / JOURNAL))
    storage = optuna.storages.JournalStorage(journal)
    study = optuna.create_study(
        storage=storage, study_name="sweep", direction="maximize", load_if_exists=True
    )
    while len(_finished(study, sweep)) < n_trials:
        number, values = _next(study, sweep)
        try:
            value = _try(sweep, number, values, metric)
        except BusyError:
            raise
        except InputError as error:
            first = not any(trial.value is not None for trial in study.trials)
            # Where the machine is to blame the next trial would fail too, and this one can be made.
            ends = isinstance(error, MachineError)
            # What is found out in training is a result; what before, holds for all.
            ends |= first and not isinstance(error, TrainingError)
            if ends and first:
                _take_back(sweep, before)
            if ends:
                raise
            say(f"trial {number} failed: {error}")
            value = math.nan
        if math.isfinite(value):
            study.tell(number, value)
            say(f"trial {number}: {metric} {value:.2f}")
        else:
            study.tell(number, state=optuna.trial.TrialState.FAIL)
    trials = [
        Trial(trial.number, dict(trial.params), trial.value, _folders(sweep, trial.number))
        for trial in _finished(study, sweep)
    ]
    order = sorted(trials, key=lambda t: -math.inf if t.value is None else t.value, reverse=True)
    return SweepResult(metric, tuple(order))


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise MissingExtraError("a sweep", "sweep") from error
    # Says in many lines what we say in one.
    optuna.logging.set_verbosity(logging.ERROR)
    return optuna


def _check_space(sweep: Sweep) -> None:
    """Check that a trial could take each value of the space.

    A value that is impossible beside some values of other settings is none to refuse: such a trial
    fails.  It is tried beside those of the experiment, then beside the first and the last of the
    other settings.

    Raises:
        InputError: no trial could take it, or none could take the experiment.
    """
    sides = [{}, *({each.key: each.ends[end] for each in sweep.space} for end in (0, -1))]
    for dimension in sweep.space:
        for value in dimension.ends:
            errors = []
            for others in sides:
                try:
                    sweep.experiment(others | {dimension.key: value}, seed=1)
                    break
                except InputError as error:
                    errors.append(error)
            else:
                # What is wrong without it is not the fault of the space.
                sweep.experiment({}, seed=1)
                raise InputError(f"--space {dimension.as_text()}: {errors[0]}") from errors[0]


def _take_back(sweep: Sweep, before: Collection[Path]) -> None:
    """Remove what a sweep without any value has left, so that a corrected call can begin.

    Finished runs stay: what is proposed first is the same for the same space, and they are taken
    where their settings are what a trial asks for.

    Args:
        sweep: whose settings and trials are forgotten.
        before: what lay in its folder at the beginning of the call; of the runs there none is
            removed.
    """
    for path in {*sweep.folder.glob("*")}:
        is_record = path.name == SETTINGS or path.name.startswith(JOURNAL)
        if is_record or path.match(".trial-*.lock"):
            path.unlink()
        elif path.match("trial-*") and path not in before and RunFolder(path).state != "done":
            shutil.rmtree(path)
    if not any(sweep.folder.iterdir()):
        sweep.folder.rmdir()


def _begin(sweep: Sweep, base: Experiment, metric: str) -> None:
    """Write what the folder is for, or check that it is for the same."""
    settings = {
        "experiment": to_dict(base),
        "space": [dimension.as_text() for dimension in sweep.space],
        "seeds": sweep.seeds,
        "metric": metric,
        "seed": sweep.seed,
    }
    path = sweep.folder / SETTINGS
    if not path.is_file():
        write_text(path, yaml.safe_dump(settings, sort_keys=False, allow_unicode=True))
        return
    for key, before, now in differences(load_yaml(path), settings):
        raise InputError(
            f"{sweep.folder}: cannot continue with {key.removeprefix('experiment.')}={now}, it was "
            f"started with {before}; give the same, or another --out"
        )


def _finished(study: Any, sweep: Sweep) -> list[Any]:
    """Trials that have ended, those without all their settings (killed too early) left out."""
    return [
        trial
        for trial in study.trials
        if trial.state.is_finished() and len(trial.params) == len(sweep.space)
    ]


def _next(study: Any, sweep: Sweep) -> tuple[int, dict[str, Any]]:
    """The trial that was stopped, or a new one, and its settings."""
    optuna = _optuna()
    for trial in study.trials:
        if not trial.state.is_finished():
            if len(trial.params) == len(sweep.space):
                return trial.number, dict(trial.params)
            study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    # Numbers beside each other would give nearly the same first proposals.
    sequence = np.random.SeedSequence([sweep.seed, len(_finished(study, sweep))])
    seed = int(sequence.generate_state(1)[0])
    study.sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=5)
    trial = study.ask({dimension.key: _distribution(dimension) for dimension in sweep.space})
    return trial.number, dict(trial.params)


def _distribution(dimension: Dimension) -> Any:
    kinds = _optuna().distributions
    if dimension.choices:
        return kinds.CategoricalDistribution(dimension.choices)
    kind = kinds.IntDistribution if dimension.is_whole else kinds.FloatDistribution
    return kind(dimension.low, dimension.high, log=dimension.log)


def _folders(sweep: Sweep, number: int) -> tuple[str, ...]:
    name = sweep.folder / f"trial-{number:03d}"
    if sweep.seeds == 1:
        return (str(name),)
    return tuple(f"{name}-{seed}" for seed in range(1, sweep.seeds + 1))


def _try(sweep: Sweep, number: int, values: Mapping[str, Any], metric: str) -> float:
    """The mean of the metric over the runs of a trial.

    Raises:
        InputError: its settings are refused, they are not those of a run that is there already, or
            its runs have no such metric.
    """
    from syntagma.training.run import train

    found = []
    for seed, folder in enumerate(_folders(sweep, number), start=1):
        run, experiment = RunFolder(Path(folder)), sweep.experiment(values, seed)
        if run.state == "done":
            run.begin(experiment, resume=True)
            scores = run.result()
        else:
            scores = train(experiment, folder, resume=True)
        numbers = {name: value for name, value in scores.items() if not isinstance(value, str)}
        if metric not in numbers:
            raise InputError(
                f"{folder}: has no metric {metric!r}; known: {', '.join(numbers)}; the run is kept "
                f"for the same command with one of these as --metric"
            )
        found.append(numbers[metric])
    return mean(found)
