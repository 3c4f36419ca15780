"""Probe models for all properties and print one table, the first model as the baseline.

    python experiments/probing_table.py --out runs/probes plain=runs/nli_plain sg=runs/nli_sg-net

Each model is probed with its own guides; accuracy on the test part, `++` and `+` where it is above
the baseline by the paired t-test with p < 0.01 and p < 0.05.  Goes on where it was stopped.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from syntagma.encoders.saved import is_saved_model
from syntagma.errors import in_one_line
from syntagma.evaluation import open_model
from syntagma.files import read_json, write_json
from syntagma.report.significance import paired_t_test
from syntagma.tasks.experiment import load_experiment
from syntagma.tasks.probing.sets import PROPERTIES
from syntagma.training.run import train

HERE = Path(__file__).parent


def probe(name: str, encoder: str, folder: Path, overrides: list[str]) -> dict[str, float]:
    """Whether each example of the test part is right, by its id."""
    kept = folder / "test.json"
    if not kept.is_file():
        preset = "saved" if is_saved_model(encoder) else "none"
        changes = [f"encoder={encoder}", f"preset={preset}", *overrides]
        experiment = load_experiment(HERE / f"probe_{name}.yaml", changes)
        if not (folder / "metrics.json").is_file():
            train(experiment, folder, resume=folder.exists())
        task = open_model(folder)
        examples = task.read(experiment.data.train[0].replace("#tr", "#te"))
        rows = task.score_examples(examples, task.predict(examples))
        write_json(kept, {key: row["accuracy"] for key, row in rows.items()})
    found: dict[str, float] = read_json(kept)
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("models", nargs="+", help="NAME=ENCODER, the baseline first")
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--set", action="append", default=[], dest="overrides")
    options = arguments.parse_args()
    models = dict(model.split("=", 1) for model in options.models)
    print(f"| | {' | '.join(PROPERTIES)} |\n|{'---|' * (len(PROPERTIES) + 1)}", flush=True)
    baseline: dict[str, dict[str, float]] = {}
    for label, encoder in models.items():
        cells = []
        for name in PROPERTIES:
            rows = probe(name, encoder, options.out / f"{name}-{label}", options.overrides)
            first = baseline.setdefault(name, rows)
            mean = sum(rows.values()) / len(rows)
            p = paired_t_test([rows[key] for key in first], list(first.values()))
            better = mean > sum(first.values()) / len(first)
            mark = ("++" if p < 0.01 else "+" if p < 0.05 else "") if better else ""
            cells.append(f"{100 * mean:.1f}{mark}")
        print(f"| {label} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    with in_one_line():
        main()
