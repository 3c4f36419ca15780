"""Scores of finished runs at some points, each with parses of its own."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev

from syntagma.analysis.systems import RunScores, System
from syntagma.drawing.tables import spread
from syntagma.encoders.config import read_config
from syntagma.errors import InputError
from syntagma.evaluation import open_model
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.guides import GUIDES
from syntagma.tasks import find_task

__all__ = [
    "Points",
    "check_metric",
    "level_note",
    "level_systems",
    "metric_of",
    "rows_of",
    "score_all",
    "spread_of",
]

COLUMNS = {"heads": {"enter", "exit", "depth"}, "tags": {"tag"}}
"""What of the syntax that a model reads comes from them."""
Points = dict[str, tuple[float, ...]]
"""By system the values of each point, ``[n_points]``."""


def score_all(
    systems: Sequence[System],
    data: Sequence[str | Path],
    parsers: Callable[[str], Sequence[Sequence[str]]],
    level: Container[str],
    metric: str,
    device: str,
) -> tuple[Points, Points, int]:
    """Means and deviations of each system at some points, and the number of examples.

    Args:
        systems: that are scored.
        data: files; the dev examples of the runs where there are none.
        parsers: for a run's own parser the parsers of each point; empty for its own.
        level: names of systems that do not read what is replaced: they are scored once.
        metric: of the points.
        device: where to compute.
    """
    means: Points = {}
    spreads: Points = {}
    n_examples = 0
    for system in systems:
        found: dict[int, list[float]] = {}
        for run in system.runs:
            examples = _examples(run, data)
            n_examples = len(examples)
            known: dict[str, float] = {}
            for point, names in enumerate(parsers(read_config(run.path).parser)):
                for name in [""] if system.name in level else names:
                    if name not in known:
                        known[name] = _score(run, examples, name, metric, device)
                    found.setdefault(point, []).append(known[name])
        means[system.name] = tuple(map(mean, found.values()))
        spreads[system.name] = tuple(map(spread_of, found.values()))
    return means, spreads, n_examples


def rows_of(systems: Points, deviations: Points) -> list[list[str]]:
    """The cells of a table, a row each system."""
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
    """The standard deviation; 0 of a single score."""
    return stdev(scores) if len(scores) > 1 else 0.0


def _examples(run: RunScores, data: Sequence[str | Path]) -> list[object]:
    """The examples of files, or those on which a run was scored."""
    if not data:
        return run.examples()
    skip_bad = run.experiment.data.skip_bad
    parts = find_task(run.task).read_parts(list(map(str, data)), skip_bad=skip_bad)
    return [example for part in parts.values() for example in part]


def _score(
    run: RunScores, examples: Sequence[object], parser: str, metric: str, device: str
) -> float:
    task = open_model(run.path, parser=parser, device=device, precision=run.precision)
    return metric_of(task.evaluate(examples), metric, run)


def check_metric(metric: str, systems: Sequence[System], data: Sequence[str | Path]) -> str:
    """The metric to show, before anything is scored.

    Args:
        metric: that was asked for; empty for the one that comparisons of the task test.
        systems: that are scored.
        data: files to score on; of parts of them there may be other metrics than a run has.

    Raises:
        InputError: a run has no such metric.
    """
    for system in systems:
        for run in system.runs if metric else ():
            part, _, whole = metric.partition("_")
            if not (data and part and whole in run.metrics):
                metric_of(run.metrics, metric, run)
    return metric or systems[0].compared.metric


def metric_of(metrics: dict[str, float], metric: str, run: RunScores) -> float:
    """One of a run's metrics.

    Raises:
        InputError: it has no such metric.
    """
    if metric not in metrics:
        raise InputError(f"{run.path}: has no metric {metric!r}; it has {', '.join(metrics)}")
    return metrics[metric]


def level_systems(folders: Mapping[str, Path], what: str) -> tuple[str, ...]:
    """Names of the systems whose models do not read what is replaced.

    Args:
        folders: by name of the system the folder of a run.
        what: is replaced: ``heads``, ``tags``, or ``heads or tags``.

    Raises:
        InputError: none of the models reads it, so that nothing would change.
    """
    read = {name: _read_by(folder) for name, folder in folders.items()}
    wanted = what.split(" or ")
    level = tuple(name for name, kinds in read.items() if not kinds & {*wanted})
    if len(level) == len(folders):
        read_now = ", ".join(f"{name}: {' and '.join(read[name]) or 'nothing'}" for name in folders)
        others = sorted(set().union(*read.values()))
        instead = f", or ask for {' or '.join(others)}" if others else ""
        raise InputError(
            f"expected a model that reads {what}, or nothing changes; these read of parses: "
            f"{read_now}; name a run with the guide {_readers(wanted)}{instead}"
        )
    return level


def _readers(kinds: Sequence[str]) -> str:
    """The guides that read what is replaced."""
    columns = set().union(*(COLUMNS[kind] for kind in kinds))
    names = [
        name
        for name, guide in GUIDES.items()
        if columns.intersection(guide.columns_of(guide.settings_class()))
    ]
    return " or ".join(names)


def _read_by(folder: Path) -> set[str]:
    """What a model reads of parses: ``heads``, ``tags``, both or nothing."""
    model = open_model(folder).model
    columns = set(model.syntax_columns) if isinstance(model, GuidedEncoder) else set()
    return {kind for kind, needed in COLUMNS.items() if needed & columns}


def level_note(level: Sequence[str], what: str) -> str:
    """Which systems are level lines, and why; empty where none is."""
    return f"; level, for they read no {what}: {', '.join(level)}" if level else ""
