"""Readers on files that they were not chosen by: the first is the baseline, the others beside it.

    python experiments/reader_table.py runs/reader_plain runs/reader_sg-net default-reader \
        --data data/squad/dev-v1.1.json.gz runs/v2_held.json

Where questions without an answer are among a file's, the last column is F1 if the reader may not
abstain.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from syntagma.errors import in_one_line
from syntagma.evaluation import open_model
from syntagma.report.significance import mcnemar
from syntagma.tasks.spans.squad import SpanExample
from syntagma.tasks.task import Task

HEAD = ("file", "reader", "parameters", "EM", "F1", "only it", "only baseline", "McNemar p", "F1*")


def scored(task: Task, examples: list[SpanExample]) -> tuple[dict[str, float], dict[str, bool]]:
    """Metrics, and whether each question is answered exactly."""
    answers = task.predict(examples)
    rows = task.score_examples(examples, answers)
    metrics = task.score(examples, answers)
    if any(example.is_impossible for example in examples):
        pairs = ((example.passage, example.question) for example in examples)
        forced = list(task.predictor.stream(pairs, threshold=math.inf))
        metrics["forced"] = task.score(examples, forced)["f1"]
    return metrics, {key: row["exact"] > 0 for key, row in rows.items()}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("readers", nargs="+")
    arguments.add_argument("--data", nargs="+", required=True)
    options = arguments.parse_args()
    tasks = {name: open_model(name) for name in options.readers}
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
                cells += [str(gained), str(lost), f"{mcnemar(gained, lost):.4f}"]
            else:
                baseline = right
                cells += ["", "", "baseline"]
            cells.append(f"{metrics['forced']:.2f}" if "forced" in metrics else "")
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    with in_one_line():
        main()
