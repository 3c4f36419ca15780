"""Make SentEval-style probing sets from text, parsed with the parser that ships.

    python experiments/make_probing_sets.py --out runs/probing FILE.txt.gz FILE.txt.gz

One file a property, in SentEval's format; the rules are in `syntagma.tasks.probing_sets`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from syntagma.files import read_lines
from syntagma.parse.source import DEFAULT_PARSER, load_parser
from syntagma.tasks.probing_data import write_probe
from syntagma.tasks.probing_sets import PROPERTIES, make_set
from syntagma.text.sentence import Parse


def parses(files: list[str], parser: str, most: int) -> Iterator[Parse]:
    source = load_parser(parser, decoding="separate")
    lines = (line for path in files for line in read_lines(path) if line.strip())
    n_found = 0
    for sentences in source.parse_texts(lines):
        for parse in sentences:
            yield parse
            n_found += 1
            if n_found == most:
                return


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="+")
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--parser", default=DEFAULT_PARSER)
    arguments.add_argument("--size", type=int, default=12000)
    arguments.add_argument("--sentences", type=int, default=120000)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    found = list(parses(options.files, options.parser, options.sentences))
    options.out.mkdir(parents=True, exist_ok=True)
    for name in PROPERTIES:
        examples = make_set(name, found, size=options.size, seed=options.seed)
        if not examples:
            print(f"{name}: the text gives no example")
            continue
        write_probe(options.out / f"{name}.txt", examples)
        labels = len({example.label for example in examples})
        print(f"{name}: {len(examples):,} examples, {labels} labels")


if __name__ == "__main__":
    main()
