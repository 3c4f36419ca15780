"""Split a SemEval-2010 Task 8 file into a train and a dev file.

    python experiments/split_relations.py TRAIN_FILE.TXT.gz --out runs/train.txt runs/dev.txt

The corpus has no development set.  The split depends on the seed only.
"""

from __future__ import annotations

import argparse
from itertools import groupby
from pathlib import Path

import numpy as np

from syntagma.errors import InputError, in_one_line
from syntagma.files import read_lines
from syntagma.outputs import write_text
from syntagma.tasks.relations.data import read_relations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("relations", help="a file in SemEval's format")
    parser.add_argument("--out", type=Path, nargs=2, required=True, help="train and dev")
    parser.add_argument("--dev", type=int, default=1000, help="sentences of the second file")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    try:
        read_relations(given.relations)
    except InputError as error:
        parser.error(str(error))
    groups = groupby(read_lines(given.relations), key=lambda line: bool(line.strip()))
    blocks = ["\n".join(lines) + "\n\n" for full, lines in groups if full]
    if not 0 < given.dev < len(blocks):
        parser.error(f"--dev: expected 1 to {len(blocks) - 1} of {len(blocks)}, got {given.dev}")
    chosen = np.zeros(len(blocks), bool)
    chosen[np.random.default_rng(given.seed).permutation(len(blocks))[: given.dev]] = True
    for path, wanted in zip(given.out, (False, True), strict=True):
        write_text(path, "".join(b for b, dev in zip(blocks, chosen, strict=True) if dev == wanted))


if __name__ == "__main__":
    with in_one_line():
        main()
