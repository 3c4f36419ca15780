"""The numbers of finished runs: on dev, on test, with other parses."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev

from syntagma.encoders.reference import find_model
from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.outputs import write_json
from syntagma.reproduce.entries import Column, Row
from syntagma.reproduce.runs import Run
from syntagma.runs.names import METRICS

__all__ = ["ALPHA", "part_scored", "score_of", "scored_folder"]

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


def part_scored(run: Run, column: Column) -> str:
    """What a column of a run is scored on; it can be told before the run is trained.

    Returns:
        ``dev``, ``test``, or nothing where the column is of a test part that there is not.
    """
    # A try is made of few examples: the whole test part would take longer than its training.
    if column.part != "dev" and run.experiment.data.dev_limit is None and _has_test(run):
        return "test"
    return "" if column.part == "test" else "dev"


def _has_test(run: Run) -> bool:
    files = run.files.test
    return bool(files) and all(_can_be_read(run.experiment.task, file) for file in files)


def _can_be_read(task: str, file: str) -> bool:
    """Whether a file that is there has examples; an archive may be without its test part."""
    path, part, _ = file.partition("#")
    # What a recipe makes may not be there yet.
    return not part or not Path(path).exists() or _holds(task, file, Path(path).stat().st_mtime_ns)


@functools.cache
def _holds(task: str, file: str, changed: int) -> bool:
    """Whether a part of a file has examples; ``changed``, its time, forgets what it held before."""
    from syntagma.tasks import find_task

    try:
        return bool(find_task(task).read(file))
    except InputError:
        return False


def scored_folder(run: Run, column: Column) -> Path:
    """The folder of what a run scored on the part that a column is of; scored now if need be."""
    if part_scored(run, column) != "test":
        return run.folder
    from syntagma.encoders.precision import best_device
    from syntagma.evaluation import score_runs

    return score_runs([run.folder], run.files.test, device=best_device())[0]


def _score(run: Run, row: Row, column: Column) -> float | None:
    metric = column.metric or row.metric
    if metric == ALPHA:
        return _alpha(run.folder)
    part = part_scored(run, column)
    if not part:
        return None
    if row.parser:
        parser = f"{row.parser}:{run.experiment.parser}"
        return _evaluate(run, run.files.test if part == "test" else (), parser).get(metric)
    scores: dict[str, float] = read_json(scored_folder(run, column) / METRICS)
    return scores.get(metric)


def _evaluate(run: Run, files: Sequence[str], parser: str) -> dict[str, float]:
    """The metrics with other parses on files, or on the run's dev examples; kept in its folder.

    They are kept by what the examples and the parses are, not by their names.  They are computed in
    the precision of the training, as those are that the run has left: the two stand in one table.
    """
    from syntagma.analysis.systems import read_systems
    from syntagma.encoders.precision import best_device
    from syntagma.evaluation import open_model
    from syntagma.parse.sources.load import load_source
    from syntagma.tasks import find_task
    from syntagma.tasks.task import fingerprint

    read = find_task(run.experiment.task).read
    examples = [example for each in files for example in read(each)]
    examples = examples or read_systems([run.folder])[0].runs[0].examples()
    precision = run.experiment.training.precision
    key = f"{load_source(parser).fingerprint} {fingerprint(examples)} {precision}"
    path = run.folder / "evaluations.json"
    known: dict[str, dict[str, float] | None] = read_json(path) if path.is_file() else {}
    if not (scores := known.get(key)):
        task = open_model(run.folder, parser=parser, device=best_device(), precision=precision)
        scores = task.evaluate(examples)
        write_json(path, known | {key: scores})
    return scores


def _alpha(folder: Path) -> float | None:
    """SEPREM's α in a kept model, where it was learnt."""
    from safetensors import safe_open

    if not find_model(folder).settings["guides"].get("tree_distance", {}).get("learn_alpha", True):
        return None
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as tensors:
            for name in tensors.keys():  # noqa: SIM118
                if name.rpartition(".")[2] == ALPHA:
                    return float(tensors.get_tensor(name))
    return None
