"""Write the predictions of a model and their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from syntagma.outputs import write_json
from syntagma.runs.names import CLUSTERS, DATA, EXAMPLES, METRICS
from syntagma.tasks.comparison.clusters import cluster_ids
from syntagma.tasks.examples import fingerprint
from syntagma.tasks.task import Task


def write_scores(
    task: Task[Any, Any],
    parts: Mapping[str, Sequence[Any]],
    predictions: Sequence[Any],
    folder: Path,
) -> dict[str, Any]:
    """Write predictions, metrics, the score and the clusters of each example, and hashes of them.

    Args:
        task: the task that made the predictions.
        parts: the examples of each file, by name of the file.
        predictions: the predictions for all examples, in the same order.
        folder: folder to write to.

    Returns:
        The metrics; empty if there are no examples.
    """
    examples = [example for part in parts.values() for example in part]
    metrics: dict[str, Any] = {}
    if examples:
        metrics = {**task.score(examples, predictions)}
        if task.signature:
            metrics["signature"] = task.signature
        task.write_to_run(examples, predictions, folder / task.predictions_file)
        write_json(folder / EXAMPLES, task.score_examples(examples, predictions))
        if not task.streams:
            ids = {task.row_id(example, place): example for place, example in enumerate(examples)}
            if clusters := cluster_ids(task.clusters, ids):
                write_json(folder / CLUSTERS, clusters)
            write_json(folder / DATA, {name: fingerprint(part) for name, part in parts.items()})
    write_json(folder / METRICS, metrics)
    return metrics
