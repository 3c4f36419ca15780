"""Annotate text files for pre-training, one paragraph per line, and split off a dev corpus.

    python experiments/pretraining_corpus.py --out runs/corpora FILE.txt.gz FILE.txt.gz

Every fiftieth paragraph goes to `dev`, all others to `train`; both are folders of Parquet shards.
An interrupted corpus is resumed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from syntagma.errors import in_one_line
from syntagma.reproduce.recipes import make_corpora


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="+")
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--workers", type=int)
    options = arguments.parse_args()
    make_corpora(options.files, options.out, workers=options.workers)
    for name in ("train", "dev"):
        print(options.out / name)


if __name__ == "__main__":
    with in_one_line():
        main()
