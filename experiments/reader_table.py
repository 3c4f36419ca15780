"""Score readers on files that did not choose them, and compare them with the first.

    python experiments/reader_table.py runs/reader_plain runs/reader_sg-net default-reader \
        --data data/squad/dev-v1.1.json.gz runs/v2_held.json

For files with unanswerable questions, the last columns are EM and F1 if the reader may not abstain,
which `syntagma compare --data` does not show.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from syntagma.analysis.significance import sign_test
from syntagma.errors import InputError, in_one_line
from syntagma.evaluation import open_model
from syntagma.tasks.spans.squad import SpanExample
from syntagma.tasks.spans.task import SpanTask

HEAD = (
    *("file", "reader", "parameters", "EM", "F1", "only it", "only baseline", "McNemar p"),
    *("EM*", "F1*"),
)


def open_reader(name: str) -> SpanTask:
    """The reader in a folder, or of a name."""
    task = open_model(name)
    if not isinstance(task, SpanTask):
        raise InputError(f"{name}: expected a reader of passages, got a model of {task.name}")
    return task


def scored(task: SpanTask, examples: list[SpanExample]) -> tuple[dict[str, float], dict[str, bool]]:
    """Metrics, and whether each question is answered exactly."""
    answers = task.predict(examples)
    rows = task.score_examples(examples, answers)
    metrics = task.score(examples, answers)
    if any(example.is_impossible for example in examples):
        pairs = ((example.passage, example.question) for example in examples)
        forced = list(task.predictor.stream(pairs, threshold=math.inf))
        for name, value in task.score(examples, forced).items():
            metrics[f"forced_{name}"] = value
    return metrics, {key: row["exact"] > 0 for key, row in rows.items()}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("readers", nargs="+")
    arguments.add_argument("--data", nargs="+", required=True)
    options = arguments.parse_args()
    tasks = {name: open_reader(name) for name in options.readers}
    print(f"| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|")
    for path in options.data:
        baseline: dict[str, bool] = {}
        for name, task in tasks.items():
            metrics, right = scored(task, task.read(path))
            size = sum(parameter.numel() for parameter in task.model.parameters())
            cells = [Path(path).name, name, f"{size / 1e6:.1f}M"]
            cells += [f"{metrics['exact']:.2f}", f"{metrics['f1']:.2f}"]
            if baseline:
                gained = sum(right[key] and not baseline[key] for key in right)
                lost = sum(baseline[key] and not right[key] for key in right)
                cells += [str(gained), str(lost), f"{sign_test(gained, lost):.4f}"]
            else:
                baseline = right
                cells += ["", "", "baseline"]
            for name in ("forced_exact", "forced_f1"):
                cells.append(f"{metrics[name]:.2f}" if name in metrics else "")
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    with in_one_line():
        main()
