"""Score finished runs again with other parses, at several points of a curve or table."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

from syntagma.analysis.run_scores import RunScores
from syntagma.analysis.systems import System
from syntagma.drawing.tables import spread
from syntagma.encoders.config import read_config
from syntagma.errors import InputError
from syntagma.evaluation import open_model
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.guides import GUIDES
from syntagma.parse.sources.cache import ParseCache, cache_folder
from syntagma.parse.sources.load import is_slow
from syntagma.progress import predicting
from syntagma.tasks import find_task
from syntagma.tasks.predictor import TextPredictor

COLUMNS = {"heads": {"enter", "exit", "depth"}, "tags": {"tag"}}
"""Columns of the syntax tensors that are computed from heads and from tags."""
Points = dict[str, tuple[float, ...]]
"""Values of each system, ``[n_points]``."""
Scores = dict[str, tuple[tuple[float, ...], ...]]
"""Scores of the runs of each system, ``[n_points][n_runs]``."""


class Rescored(NamedTuple):
    """A run that was scored again.

    Args:
        score: the metric.
        rows: scores of each example, by id.
    """

    score: float
    rows: dict[str, dict[str, float]]


def score_all(
    systems: Sequence[System],
    examples: Sequence[object],
    parsers: Callable[[str], Sequence[Sequence[str]]],
    level: Container[str],
    metric: str,
    device: str,
) -> Scores:
    """Score all runs of all systems at each point.

    Args:
        systems: the systems to score.
        examples: the examples to score them on.
        parsers: returns the parse sources of each point for the parser of a run; an empty name
            means that parser itself.
        level: names of systems that do not read what is replaced, which are scored only once.
        metric: the metric to compute.
        device: device to run the models on.

    Returns:
        The scores, those of a run in the same place at each point (a point with several parses of
        a run has as many scores of it).
    """
    return {
        system.name: scores_of(
            score_system(system, examples, parsers, system.name in level, metric, device)
        )
        for system in systems
    }


def score_system(
    system: System,
    examples: Sequence[object],
    parsers: Callable[[str], Sequence[Sequence[str]]],
    is_level: bool,
    metric: str,
    device: str,
) -> list[list[Rescored]]:
    """Score the runs of a system at each point; see :func:`score_all`.

    Returns:
        The runs at each point, ``[n_points][n_runs]``.
    """
    found: dict[int, list[Rescored]] = {}
    for run in system.runs:
        by_parser: dict[str, Rescored] = {}
        for point, names in enumerate(parsers(read_config(run.path).parser)):
            for name in [""] if is_level else names:
                if name not in by_parser:
                    by_parser[name] = _score(run, examples, name, metric, device)
                found.setdefault(point, []).append(by_parser[name])
    return list(found.values())


def scores_of(points: Sequence[Sequence[Rescored]]) -> tuple[tuple[float, ...], ...]:
    """Return the scores of runs at each point, ``[n_points][n_runs]``."""
    return tuple(tuple(run.score for run in runs) for runs in points)


def means_and_spreads(scores: Scores) -> tuple[Points, Points]:
    """Compute the means over runs, and the standard deviations."""
    means = {name: tuple(map(mean, of)) for name, of in scores.items()}
    return means, {name: tuple(map(spread_of, of)) for name, of in scores.items()}


def rows_of(systems: Points, deviations: Points) -> list[list[str]]:
    """Build the cells of a table, with a row for each system."""
    return [
        [
            name,
            *(
                spread(score, deviation or None)
                for score, deviation in zip(scores, deviations[name], strict=True)
            ),
        ]
        for name, scores in systems.items()
    ]


def spread_of(scores: Sequence[float]) -> float:
    """Compute the standard deviation; 0 for a single score."""
    return stdev(scores) if len(scores) > 1 else 0.0


def read_examples(systems: Sequence[System], data: Sequence[str | Path]) -> list[object]:
    """Read the examples of files, or, without files, those on which the runs were scored.

    Args:
        systems: the systems, all scored on the same examples.
        data: the files.

    Returns:
        The examples that have a gold label.

    Raises:
        InputError: a file cannot be read, no example has a gold label, or the dev files contain
            other examples now.
    """
    run = systems[0].runs[0]
    if not data:
        return run.examples()
    task, files = find_task(run.task), list(map(str, data))
    parts = task.read_parts(files, skip_bad=run.experiment.data.skip_bad)
    examples = [example for part in parts.values() for example in part]
    task.require_labels(examples, ", ".join(files))
    return list(filter(task.is_labelled, examples))


def _score(
    run: RunScores, examples: Sequence[object], parser: str, metric: str, device: str
) -> Rescored:
    task = open_model(run.path, parser=parser, device=device, precision=run.precision)
    predictor: Any = getattr(task, "predictor", None)
    cache = predictor.texts.cache if isinstance(predictor, TextPredictor) else None
    if cache is not None and is_slow(cache.source):
        # On disk, because the other runs read the same texts.
        predictor.texts.cache = ParseCache(cache.source, cache_folder())
    with predicting(len(examples)):
        predictions = task.predict(examples)
    score = metric_of(task.score(examples, predictions), metric, run)
    return Rescored(score, task.score_examples(examples, predictions))


def check_metric(metric: str, systems: Sequence[System], data: Sequence[str | Path]) -> str:
    """Check the requested metric before anything is scored.

    Args:
        metric: the requested metric; empty for the one that comparisons of the task test.
        systems: the systems to score.
        data: files to evaluate on; they may have metrics of subsets, such as ``HasAns_f1``, that
            the saved scores of the runs lack.

    Returns:
        The metric to show.

    Raises:
        InputError: a run does not have the metric.
    """
    for system in systems:
        for run in system.runs if metric else ():
            part, _, whole = metric.partition("_")
            if not (data and part and whole in run.metrics):
                metric_of(run.metrics, metric, run)
    return metric or systems[0].compared.metric


def metric_of(metrics: dict[str, float], metric: str, run: RunScores) -> float:
    """Return a metric of a run.

    Raises:
        InputError: the run does not have it.
    """
    if metric not in metrics:
        raise InputError(
            f"{run.path}: expected the metric {metric!r}, got {', '.join(metrics)}; give one of "
            f"these as --metric"
        )
    return metrics[metric]


def level_systems(folders: Mapping[str, Path], what: str) -> tuple[str, ...]:
    """Find the systems whose models do not read what is replaced.

    Args:
        folders: folder of a run of each system, by name of the system.
        what: what is replaced: ``heads``, ``tags``, or ``heads or tags``.

    Returns:
        Names of these systems.

    Raises:
        InputError: no model reads what is replaced, so no score would change.
    """
    read = {name: _read_by(folder) for name, folder in folders.items()}
    wanted = what.split(" or ")
    level = tuple(name for name, kinds in read.items() if not kinds & {*wanted})
    if len(level) == len(folders):
        read_now = ", ".join(f"{name}: {' and '.join(read[name]) or 'nothing'}" for name in folders)
        others = sorted(set().union(*read.values()))
        instead = f", or ask for {' or '.join(others)}" if others else ""
        raise InputError(
            f"expected a model that reads {what} of parses, got models that read {read_now}; give "
            f"a run with the guide {_readers(wanted)}{instead}"
        )
    return level


def _readers(kinds: Sequence[str]) -> str:
    """List the guides that read what is replaced."""
    columns = set().union(*(COLUMNS[kind] for kind in kinds))
    names = [
        name
        for name, guide in GUIDES.usable()
        if columns.intersection(guide.columns_of(guide.settings_class()))
    ]
    return " or ".join(names)


def _read_by(folder: Path) -> set[str]:
    """Return what a model reads of parses: ``heads``, ``tags``, both or nothing."""
    model = open_model(folder).model
    columns = set(model.syntax_columns) if isinstance(model, GuidedEncoder) else set()
    return {kind for kind, needed in COLUMNS.items() if needed & columns}


def level_note(level: Sequence[str], what: str) -> str:
    """Explain which systems have a flat line, and why; empty if there are none."""
    return f"; flat lines (models do not read {what}): {', '.join(level)}" if level else ""
