"""The numbers of finished runs: on dev, on test, with other parses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev

from syntagma.encoders.saved import saved_settings
from syntagma.errors import InputError
from syntagma.files import read_json, write_json
from syntagma.reproduce.entries import Column, Row
from syntagma.reproduce.plan import Run

__all__ = ["ALPHA", "score_of", "tested"]

ALPHA = "alpha"
"""The metric that is no score but SEPREM's α."""


def score_of(runs: Sequence[Run], row: Row, column: Column) -> tuple[float, float | None] | None:
    """The mean of a metric over seeds, and its deviation where there are several.

    Args:
        runs: a system's, a seed each.
        row: its parser changes the parses.
        column: its metric and part.

    Returns:
        ``None`` where there is nothing to score on, or the model has no such metric.
    """
    found = [_score(run, row, column) for run in runs]
    values = [value for value in found if value is not None]
    if len(values) < len(runs):
        return None
    return mean(values), stdev(values) if len(values) > 1 else None


def _score(run: Run, row: Row, column: Column) -> float | None:
    metric = column.metric or row.metric
    if metric == ALPHA:
        return _alpha(run.folder)
    on_test = column.part != "dev" and bool(run.files.test)
    if column.part == "test" and not on_test:
        return None
    # A try is made of few examples: the whole test part would take longer than its training.
    if on_test and run.experiment.data.dev_limit is not None:
        return None if column.part == "test" else _kept(run, metric)
    if not on_test and not row.parser:
        return _kept(run, metric)
    parser = f"{row.parser}:{run.experiment.parser}" if row.parser else ""
    scores = _evaluate(run, run.files.test, parser) if on_test else None
    if scores is None and column.part != "test":
        if not parser:
            return _kept(run, metric)
        scores = _evaluate(run, (), parser)
    return None if scores is None else scores.get(metric)


def tested(run: Run) -> bool:
    """Whether a run was scored on the test part."""
    path = run.folder / "evaluations.json"
    known = read_json(path) if path.is_file() else {}
    return bool(known.get(_key(run.files.test, "")))


def _kept(run: Run, metric: str) -> float | None:
    scores: dict[str, float] = read_json(run.folder / "metrics.json")
    return scores.get(metric)


def _evaluate(run: Run, files: Sequence[str], parser: str) -> dict[str, float] | None:
    """The metrics on files, or on the dev examples of the run; kept in its folder."""
    from syntagma.encoders.precision import best_device
    from syntagma.evaluation import open_model
    from syntagma.report.runs import read_systems

    key = _key(files, parser)
    path = run.folder / "evaluations.json"
    known: dict[str, dict[str, float] | None] = read_json(path) if path.is_file() else {}
    if key not in known:
        task = open_model(run.folder, parser=parser, device=best_device())
        try:
            examples = [example for each in files for example in task.read(each)]
        except InputError:
            # An archive may be there without its test part; it may get one.
            return None
        dev = examples or read_systems([run.folder])[0].runs[0].examples()
        known[key] = task.evaluate(dev)
        write_json(path, known)
    return known[key]


def _key(files: Sequence[str], parser: str) -> str:
    return f"{parser or 'own parser'} | {' '.join(files) or 'dev'}"


def _alpha(folder: Path) -> float | None:
    """SEPREM's α in a kept model, where it was learnt."""
    from safetensors import safe_open

    if not saved_settings(folder)["guides"].get("tree_distance", {}).get("learn_alpha", True):
        return None
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as tensors:
            for name in tensors.keys():  # noqa: SIM118
                if name.rpartition(".")[2] == ALPHA:
                    return float(tensors.get_tensor(name))
    return None
