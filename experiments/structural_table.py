"""Probe every layer of models for trees and print one table (Hewitt & Manning 2019).

    python experiments/structural_table.py --out runs/structural \
        --train data/treebanks/ewt/en_ewt-ud-train.conllu.gz \
        --dev data/treebanks/ewt/en_ewt-ud-dev.conllu.gz plain=default

The control reads the vectors of the pieces, which know nothing of the sentence; neighbours are
words next to each other.  Each model is read with its own guides; the last column is what a task
reads, after all of them.  Scores are of the dev file, which also stops training.  An interrupted
table is resumed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from syntagma.encoders.load import load_encoder_config
from syntagma.encoders.reference import find_model
from syntagma.errors import in_one_line
from syntagma.tasks.experiment import load_experiment
from syntagma.training.run import train

EXPERIMENT = Path(__file__).parent / "structural_distance.yaml"
SHOWN = {"distance": ("uuas", "spearman"), "depth": ("root_accuracy", "spearman")}


def columns(encoder: str) -> dict[str, list[str]]:
    """The settings of each column."""
    n_layers = load_encoder_config(encoder).num_hidden_layers
    layers = {str(layer): [f"head.layer={layer}"] for layer in range(1, n_layers + 1)}
    last = ["head.layer=null"]
    return {"control": [*last, "head.states=embeddings"], **layers, "behind guides": last}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("models", nargs="+", help="NAME=ENCODER")
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--train", required=True)
    arguments.add_argument("--dev", required=True)
    arguments.add_argument("--kind", choices=sorted(SHOWN), default="distance")
    arguments.add_argument("--set", action="append", default=[], dest="overrides")
    options = arguments.parse_args()
    shown = SHOWN[options.kind]
    head: list[str] = []
    for model in options.models:
        label, _, encoder = model.rpartition("=")
        read = columns(encoder)
        if head != list(read):
            head = list(read)
            print(f"\n| | {' | '.join(head)} |\n|{'---|' * (len(head) + 1)}", flush=True)
        scores = []
        for column, settings in read.items():
            folder = options.out / f"{options.kind}-{label or encoder}-{column.replace(' ', '_')}"
            changes = [
                f"data.train={options.train}",
                f"data.dev={options.dev}",
                f"encoder={encoder}",
                f"preset={'saved' if find_model(encoder).kind == 'model' else 'none'}",
                f"head.kind={options.kind}",
                *settings,
                *options.overrides,
            ]
            experiment = load_experiment(EXPERIMENT, changes)
            scores.append(train(experiment, folder, resume=folder.exists()))
        for name in shown:
            cells = " | ".join(f"{values[name]:.1f}" for values in scores)
            print(f"| {label or encoder}, {name} | {cells} |", flush=True)
        if options.kind == "distance":
            print(f"\nNeighbours: {scores[0]['chain_uuas']:.1f} uuas", flush=True)


if __name__ == "__main__":
    with in_one_line():
        main()
