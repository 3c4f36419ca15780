"""Search a space of settings with Optuna; each trial is an ordinary run folder.

Trials are recorded in a journal in the sweep's folder.  Each proposal depends only on the previous
trials and their number, so that a sweep that is killed and resumed makes the same trials as an
uninterrupted one.
"""

from __future__ import annotations

import json
import logging
import math
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
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
from syntagma.training.requirements import require_accelerate
from syntagma.training.search_space import Dimension

SETTINGS, JOURNAL = "sweep.yaml", "trials.journal"
METRIC = "metric"
"""Entry of the journal: the metric of the trials, where the settings leave it open."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Settings of a sweep.

    Args:
        config: path of an experiment file.
        folder: folder of the trials and the journal.
        space: the settings to search.
        overrides: ``key=value`` settings of every trial.
        seeds: number of runs per trial.
        metric: metric to maximise; by default that by which training chooses the best model.
        seed: random seed of the proposals.
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
                    f"{option}: --seeds {self.seeds} sets the seeds of each trial; remove one of "
                    f"the two options"
                )

    def experiment(self, values: Mapping[str, Any], seed: int) -> Experiment:
        """Build the experiment of a run of a trial.

        Args:
            values: the values of the searched settings, by key.
            seed: number of the run in the trial, from 1; its seed if there are several.

        Raises:
            InputError: a setting is unknown or invalid.
        """
        chosen = [f"{key}={json.dumps(value)}" for key, value in values.items()]
        seeds = [f"training.seed={seed}"] if self.seeds > 1 else []
        return load_experiment(self.config, [*self.overrides, *seeds, *chosen])


@dataclass(frozen=True, slots=True)
class Trial:
    """A finished or failed trial.

    Args:
        number: number of the trial, from 0.
        values: the values of the searched settings, by key.
        value: mean of the metric over seeds; ``None`` if the trial failed.
        folders: the run folders.
    """

    number: int
    values: dict[str, Any]
    value: float | None
    folders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The trials of a sweep.

    Args:
        metric: the metric that was maximised.
        trials: the trials, the best first, failed ones last.
    """

    metric: str
    trials: tuple[Trial, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    def table(self) -> str:
        """Format as a table for a terminal."""
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
    """Run trials until there are ``n_trials``, including those of earlier calls.

    Only one process can work on a sweep at a time.  A trial fails if its training diverges or runs
    out of memory, if its settings are rejected, or if its metric is not finite.  Environment
    errors such as a full disk abort the call, and the same call resumes that trial.  As long as no
    trial has a value, rejected settings or data also abort the call; everything except finished
    runs is then removed, so that a corrected call can start again.

    Args:
        sweep: the settings of the sweep.
        n_trials: total number of trials.
        say: called with a line for each trial.

    Raises:
        InputError: the folder belongs to another sweep, the search space contains an unknown
            setting or an invalid value, or no trial can run.
        MachineError: a file is missing or cannot be written, or another process works on the sweep.
        MissingExtraError: Optuna or accelerate is not installed.
    """
    require_one_process()
    optuna = _optuna()
    require_accelerate()
    if n_trials < 1:
        raise InputError(f"--trials must be at least 1, got {n_trials}")
    base = load_experiment(sweep.config, list(sweep.overrides))
    metrics = (sweep.metric,) if sweep.metric else find_task(base.task).primaries(base)
    _check_space(sweep)
    before = {*sweep.folder.glob("*")}
    _begin(sweep, base, " or ".join(metrics))
    journal = optuna.storages.journal.JournalFileBackend(str(sweep.folder / JOURNAL))
    storage = optuna.storages.JournalStorage(journal)
    study = optuna.create_study(
        storage=storage, study_name="sweep", direction="maximize", load_if_exists=True
    )
    # All trials are compared by one metric: the first of these that the first of them has.
    if METRIC in study.user_attrs:
        metrics = (study.user_attrs[METRIC],)
    while len(_finished(study, sweep)) < n_trials:
        number, values = _next(study, sweep)
        try:
            metric, value = _try(sweep, number, values, metrics)
        except BusyError:
            raise
        except InputError as error:
            first = not any(trial.value is not None for trial in study.trials)
            # After an environment error the next trial would fail too, and this one can be retried.
            aborts = isinstance(error, MachineError)
            # A failure in training is a result of the trial; one before it, such as missing data,
            # would probably occur in every trial.
            aborts |= first and not isinstance(error, TrainingError)
            if aborts and first:
                _take_back(sweep, before)
            if aborts:
                raise
            say(f"trial {number} failed: {error}")
            value = math.nan
        if math.isfinite(value):
            if metrics != (metric,):
                metrics = (metric,)
                study.set_user_attr(METRIC, metric)
            study.tell(number, value)
            say(f"trial {number}: {metric} {value:.2f}")
        else:
            study.tell(number, state=optuna.trial.TrialState.FAIL)
    trials = [
        Trial(trial.number, dict(trial.params), trial.value, _folders(sweep, trial.number))
        for trial in _finished(study, sweep)
    ]
    order = sorted(trials, key=lambda t: -math.inf if t.value is None else t.value, reverse=True)
    return SweepResult(metrics[0], tuple(order))


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise MissingExtraError("a sweep", "sweep") from error
    # Optuna logs several lines for each trial; `say` gets one.
    optuna.logging.set_verbosity(logging.ERROR)
    return optuna


def _check_space(sweep: Sweep) -> None:
    """Check that each value of the search space is valid in some trial.

    A value may be invalid together with some values of other settings: then only those trials fail.
    So each value is checked together with the values of the experiment, then with the first and the
    last values of the other dimensions.

    Raises:
        InputError: a value is invalid in all these combinations, or the experiment itself is.
    """
    combinations = [{}, *({each.key: each.ends[end] for each in sweep.space} for end in (0, -1))]
    for dimension in sweep.space:
        for value in dimension.ends:
            errors = []
            for others in combinations:
                try:
                    sweep.experiment(others | {dimension.key: value}, seed=1)
                    break
                except InputError as error:
                    errors.append(error)
            else:
                # If the experiment itself is invalid, raise its error instead of blaming the space.
                sweep.experiment({}, seed=1)
                raise InputError(f"--space {dimension.as_text()}: {errors[0]}") from errors[0]


def _take_back(sweep: Sweep, before: Collection[Path]) -> None:
    """Remove the files of a sweep without any value, so that a corrected call can start.

    Finished runs are kept, as are runs that existed ``before`` the call: the first proposals are
    the same for the same space, so a corrected call can use them.
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
    """Write the settings of the sweep into its folder, or check that they are the same."""
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
            f"{sweep.folder}: cannot resume with {key.removeprefix('experiment.')}={now}, the "
            f"sweep was started with {before}; give the same settings, or another --out"
        )


def _finished(study: Any, sweep: Sweep) -> list[Any]:
    """Select ended trials, except those that were killed before all their values were chosen."""
    return [
        trial
        for trial in study.trials
        if trial.state.is_finished() and len(trial.params) == len(sweep.space)
    ]


def _next(study: Any, sweep: Sweep) -> tuple[int, dict[str, Any]]:
    """Return the number and values of the interrupted trial, or of a new one."""
    optuna = _optuna()
    for trial in study.trials:
        if not trial.state.is_finished():
            if len(trial.params) == len(sweep.space):
                return trial.number, dict(trial.params)
            study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    # Hash the seed and the number: adjacent integers as seeds give nearly the same proposals.
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


def _try(
    sweep: Sweep, number: int, values: Mapping[str, Any], metrics: Sequence[str]
) -> tuple[str, float]:
    """Train the runs of a trial and return the first of the metrics that they have, and its mean.

    Raises:
        InputError: the settings are rejected or differ from those of an existing run, or the runs
            do not have the metric.
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
        metrics = [name for name in metrics if name in numbers][:1] or metrics
        if metrics[0] not in numbers:
            wanted = " or ".join(map(repr, metrics))
            raise InputError(
                f"{folder}: expected the metric {wanted}, got {', '.join(numbers)}; give one of "
                f"these as --metric (the finished run will be used)"
            )
        found.append(numbers[metrics[0]])
    return metrics[0], mean(found)
