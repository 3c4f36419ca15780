"""Put every second article of a SQuAD file into one file, the others into another.

    python experiments/split_squad.py v2.0-part.json.gz --out runs/v2_fit.json runs/v2_held.json

Thresholds are fitted on the one and scored on the other.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from syntagma.errors import in_one_line
from syntagma.files import read_json
from syntagma.outputs import write_json


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("squad", help="a SQuAD file")
    parser.add_argument("--out", type=Path, nargs=2, required=True, help="the two files")
    given = parser.parse_args()
    content = read_json(given.squad)
    for first, path in enumerate(given.out):
        write_json(path, content | {"data": content["data"][first::2]}, indent=None)


if __name__ == "__main__":
    with in_one_line():
        main()
