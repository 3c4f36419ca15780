"""Speed of the component of spaCy, relative to our own loop over the same texts.

    python -m benchmarks.spacy_pipeline

`nlp.pipe` also tokenizes as spaCy does, makes documents, and writes trees and phrases into them.
Both find sentences by our splitter.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import spacy

from benchmarks.quick import size
from benchmarks.tables import Measured, show
from benchmarks.text import example_texts
from benchmarks.timing import rounds
from syntagma.parse.parser import JointParser
from syntagma.parse.sources.load import load_parser

PARSERS = ("default-parser", "fast-parser")
DECODINGS = {"dependencies": "dependencies", "with phrases": "separate"}
AT_LEAST = 0.9
"""The lowest speed of the component relative to our own loop."""
TEXTS = size(60, 2)


def own_loop(parser: JointParser, texts: list[str]) -> None:
    for _ in parser.parse_texts(texts):
        pass


def component(nlp: Any, texts: list[str]) -> None:
    for _ in nlp.pipe(texts):
        pass


def main() -> None:
    texts = example_texts(TEXTS)
    n_words = sum(map(len, spacy.blank("en").pipe(texts)))
    calls: dict[str, Callable[[], None]] = {}
    for name in PARSERS:
        for finds, decoding in DECODINGS.items():
            nlp = spacy.blank("en")
            nlp.add_pipe("syntagma", config={"parser": name, "decoding": decoding})
            calls[f"{name}, {finds}: ours"] = partial(
                own_loop, load_parser(name, decoding=decoding), texts
            )
            calls[f"{name}, {finds}: spaCy"] = partial(component, nlp, texts)
    seconds = rounds(calls, repeat=3)
    rows = []
    for name in PARSERS:
        for finds in DECODINGS:
            ours, theirs = (seconds[f"{name}, {finds}: {whose}"] for whose in ("ours", "spaCy"))
            rows.append(
                {
                    "parser": f"{name}, {finds}",
                    "nlp.pipe, words/s": Measured(n_words / theirs),
                    "÷ our own loop": Measured(ours / theirs, at_least=AT_LEAST),
                }
            )
    show("Component of spaCy", rows, {"texts": len(texts), "words": n_words})


if __name__ == "__main__":
    main()
