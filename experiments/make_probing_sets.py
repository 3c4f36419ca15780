"""Make SentEval-style probing sets from text or treebanks.

    python experiments/make_probing_sets.py --out runs/probing FILE.txt.gz FILE.conllu FILE.ptb

One file per property, in SentEval's format; the rules are in `syntagma.datasets.probing`.  Text is
parsed with `--parser`; sentences are taken from the files in turn.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from syntagma.encoders.default import DEFAULT_PARSER
from syntagma.errors import in_one_line
from syntagma.reproduce.recipes import make_probing_sets


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="+")
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--parser", default=DEFAULT_PARSER)
    arguments.add_argument("--size", type=int, default=12000)
    arguments.add_argument("--sentences", type=int, default=120000)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    counts = make_probing_sets(
        options.files,
        options.out,
        options.parser,
        size=options.size,
        n_sentences=options.sentences,
        seed=options.seed,
    )
    for name, count in counts.items():
        print(f"{name}: {count:,} examples" if count else f"{name}: no example in these files")


if __name__ == "__main__":
    with in_one_line():
        main()
