"""Make questions that their passage does not answer from a SQuAD file.

    python experiments/make_unanswerable.py data/squad/train-v1.1.json.gz --out runs/made.json

The rules are in `syntagma.datasets.unanswerable`; the output is in SQuAD 2.0's format.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from syntagma.datasets.unanswerable import make_unanswerable
from syntagma.errors import in_one_line
from syntagma.outputs import write_json
from syntagma.tasks.spans.squad import read_squad


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("squad", help="a SQuAD 1.1 file")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=30_000)
    parser.add_argument("--parser", default="default-parser")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    examples, _ = read_squad(given.squad)
    data, counts = make_unanswerable(
        examples, count=given.count, parser=given.parser, seed=given.seed
    )
    print(counts)
    write_json(given.out, data, indent=None)


if __name__ == "__main__":
    with in_one_line():
        main()
