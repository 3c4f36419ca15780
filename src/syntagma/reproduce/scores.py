"""Scores of finished runs on dev or test data, with their own parses or with others."""

from __future__ import annotations

import functools
import logging
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev

from syntagma.encoders.reference import find_model
from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.outputs import hold_folder, write_json
from syntagma.reproduce.entries import Column, Row
from syntagma.reproduce.runs import Run
from syntagma.runs.names import METRICS

log = logging.getLogger(__name__)

EVALUATIONS = "evaluations.json"
"""Scores of a run with other parses, in its folder."""

ALPHA = "alpha"
"""The name of SEPREM's α, which is read from the weights like a metric."""


def score_of(runs: Sequence[Run], row: Row, column: Column) -> tuple[float, float | None] | None:
    """Return the mean of a metric over seeds, and its standard deviation if there are several.

    Args:
        runs: runs of a system, one for each seed.
        row: row of the table, which may change the parses.
        column: column of the table, which has the metric and the part of the data.

    Returns:
        ``None`` if there are no data to score on, or if the model does not have the metric.
    """
    values = [value for run in runs if (value := _score(run, row, column)) is not None]
    if len(values) < len(runs):
        return None
    return mean(values), stdev(values) if len(values) > 1 else None


def part_scored(run: Run, column: Column) -> str:
    """Return the part of the data on which a run is scored for a column.

    This does not depend on whether the run is finished.

    Args:
        run: the run.
        column: the column.

    Returns:
        ``dev``, ``test``, or an empty string if the column needs a test set that is missing.
    """
    # With few dev examples, the whole test set would take longer than training.
    if column.part != "dev" and run.experiment.data.dev_limit is None and _has_test(run):
        return "test"
    return "" if column.part == "test" else "dev"


def _has_test(run: Run) -> bool:
    """Whether all test files of a run contain examples."""
    files, experiment = run.files.test, run.experiment
    return bool(files) and all(
        _contains_examples(experiment.task, file, experiment.data.skip_bad) for file in files
    )


def _contains_examples(task: str, file: str, skip_bad: bool) -> bool:
    """Whether a file has examples: an archive may lack its test part."""
    path, part, _ = file.partition("#")
    # A generated file may not exist yet; it will have all parts.
    if not part or not Path(path).exists():
        return True
    return _part_has_examples(task, file, skip_bad, Path(path).stat().st_mtime_ns)


@functools.cache
def _part_has_examples(task: str, file: str, skip_bad: bool, modified: int) -> bool:
    """Whether a part of a file has examples; ``modified`` makes the cache follow changes."""
    from syntagma.tasks import find_task

    try:
        return bool(find_task(task).read(file, skip_bad=skip_bad))
    except InputError:
        return False


def scored_folder(run: Run, column: Column) -> Path:
    """Return the folder with a run's scores for a column; score the run now if necessary.

    Args:
        run: a finished run.
        column: the column.
    """
    if part_scored(run, column) != "test":
        return run.folder
    from syntagma.encoders.precision import best_device
    from syntagma.evaluation import score_runs

    return score_runs([run.folder], run.files.test, device=best_device())[0]


def _score(run: Run, row: Row, column: Column) -> float | None:
    """Return the metric of one run for a cell of the table."""
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
    """Score a run with other parses on files, or on its dev examples, and cache the result.

    The cache in the run folder is keyed by the content of examples and parses, not by their names.
    The precision is that of the training, because the scores that the run wrote itself, which
    appear in the same table, were computed in it.  If another process is scoring the run, it is
    waited for.
    """
    from syntagma.analysis.systems import read_systems
    from syntagma.encoders.precision import best_device
    from syntagma.evaluation import open_model
    from syntagma.parse.sources.load import load_source
    from syntagma.tasks import find_task
    from syntagma.tasks.examples import fingerprint

    skip_bad = run.experiment.data.skip_bad
    parts = find_task(run.experiment.task).read_parts(files, skip_bad=skip_bad)
    examples = [example for part in parts.values() for example in part]
    examples = examples or read_systems([run.folder])[0].runs[0].examples()
    precision = run.experiment.training.precision
    key = f"{load_source(parser).fingerprint} {fingerprint(examples)} {precision}"
    path = run.folder / EVALUATIONS
    if scores := _read_evaluations(path).get(key):
        return scores
    with hold_folder(path, when_busy=lambda: log.warning("waiting for %s", path)):
        known = _read_evaluations(path)
        if not (scores := known.get(key)):
            task = open_model(run.folder, parser=parser, device=best_device(), precision=precision)
            scores = task.evaluate(examples)
            write_json(path, known | {key: scores})
    return scores


def _read_evaluations(path: Path) -> dict[str, dict[str, float] | None]:
    """Read the scores with other parses that are known so far."""
    return dict(read_json(path)) if path.is_file() else {}


def _alpha(folder: Path) -> float | None:
    """Read SEPREM's α from a saved model; ``None`` if it was not trained."""
    from safetensors import safe_open

    if not find_model(folder).settings["guides"].get("tree_distance", {}).get("learn_alpha", True):
        return None
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as tensors:
            # A safetensors file is not a mapping: it has keys() but cannot be iterated.
            for name in tensors.keys():  # noqa: SIM118
                if name.rpartition(".")[2] == ALPHA:
                    return float(tensors.get_tensor(name))
    return None
