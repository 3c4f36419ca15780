"""Draw the objectives of pre-training runs over their steps, against chance.

python experiments/pretraining_curves.py RUN NAME=RUN... --out curves.svg
"""

from __future__ import annotations

import argparse
from pathlib import Path

from syntagma.analysis.curves import write_curves
from syntagma.errors import in_one_line

PANELS = {
    "hidden pieces, accuracy": ("mlm_accuracy", "mlm_chance"),
    "distances, accuracy": ("distances_accuracy", "distances_chance"),
    "heads, accuracy": ("heads_accuracy", "heads_chance"),
    "hidden heads, accuracy": ("heads_hidden_accuracy", "heads_chance"),
    "hidden pieces, loss": ("mlm_loss", ""),
    "distances, loss": ("distances_loss", ""),
    "heads, loss": ("heads_loss", ""),
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("runs", nargs="+", help="RUN or NAME=RUN")
    arguments.add_argument("--out", required=True)
    options = arguments.parse_args()
    named = [run.rpartition("=") for run in options.runs]
    names = [name or Path(run).name for name, _, run in named]
    write_curves([run for _, _, run in named], PANELS, options.out, names=names)


if __name__ == "__main__":
    with in_one_line():
        main()
