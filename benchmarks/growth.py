"""How the cost of parsing grows with the number of words, the sentence length and the batch.

    python -m benchmarks.growth --plot runs/bench/growth.svg

Sentences are made of words of the example text.  Each panel of the plot changes one quantity.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from benchmarks.parsing import present_parsers
from benchmarks.quick import size
from benchmarks.tables import Measured, show
from benchmarks.text import EXAMPLE
from benchmarks.timing import timings
from syntagma.drawing.plotting import draw_panels
from syntagma.parse.parser import JointParser
from syntagma.parse.sources.load import load_parser
from syntagma.text.segmentation.segment import segment
from syntagma.text.sentence import Sentence

USUAL = 15
"""Words of a sentence where another quantity changes, about the mean of UD English-EWT."""
WORDS = size((500, 1_000, 2_000, 4_000, 8_000), (60, 120))
LENGTHS = size((5, 10, 20, 40, 80, 160, 320), (5, 10))
BATCHES = size((1, 2, 4, 8, 16, 32, 64), (1, 2))
PANELS = {
    "words of a text": "seconds",
    "words of a sentence": "words/s",
    "sentences of a call": "words/s",
}
"""What changes, and what is measured."""


def sentences_of(n_sentences: int, n_words: int) -> list[Sentence]:
    """Return sentences of the given length, each with other words of the example."""
    text = EXAMPLE.read_text(encoding="utf-8")
    forms = [form for sentence in segment(text) for form in sentence.forms if form != "."]
    words = cycle(forms)
    return [Sentence.from_words([*islice(words, n_words - 1), "."]) for _ in range(n_sentences)]


def calls_of(parser: JointParser) -> dict[tuple[str, int], tuple[int, Callable[[], object]]]:
    """Return the words that a call parses, and the call, by quantity and its value."""
    calls: dict[tuple[str, int], tuple[int, Callable[[], object]]] = {}

    def add(panel: str, value: int, given: Sequence[Sequence[Sentence]]) -> None:
        n_words = sum(len(sentence) for each in given for sentence in each)
        calls[panel, value] = n_words, partial(_parse_each, parser, given)

    whole, lengths, batches = PANELS
    for n_words in WORDS:
        add(whole, n_words, [sentences_of(n_words // USUAL, USUAL)])
    for length in LENGTHS:
        add(lengths, length, [sentences_of(size(3_200, 100) // length, length)])
    given = sentences_of(size(128, 4), USUAL)
    for n_sentences in BATCHES:
        parts = [given[i : i + n_sentences] for i in range(0, len(given), n_sentences)]
        add(batches, n_sentences, parts)
    return calls


def _parse_each(parser: JointParser, given: Sequence[Sequence[Sentence]]) -> None:
    for sentences in given:
        parser.parse(sentences)


def draw(results: dict[tuple[str, str, int], Measured], out: Path) -> None:
    """Draw a panel for each quantity and a line for each parser."""

    def panel(axis: Any, what: str) -> tuple[str, str]:
        for parser in dict.fromkeys(name for name, _, _ in results):
            points = [
                (value, found)
                for (name, kind, value), found in results.items()
                if (name, kind) == (parser, what)
            ]
            axis.plot(
                [value for value, _ in points],
                [found.value for _, found in points],
                marker="o", markersize=3, label=parser,
            )  # fmt: skip
        axis.set_ylim(bottom=0)
        if what != next(iter(PANELS)):
            axis.set_xscale("log", base=2)
            axis.xaxis.set_major_formatter("{x:g}")
        return what, PANELS[what]

    draw_panels(list(PANELS), panel, out)


def main(arguments: Sequence[str] = ()) -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    folder = Path(os.environ.get("SYNTAGMA_BENCH", "runs/bench"))
    options.add_argument("--plot", type=Path, default=folder / "growth.svg", help="of the plot")
    options.add_argument("--repeat", type=int, default=size(5, 1), help="number of rounds")
    chosen = options.parse_args(arguments)
    results: dict[tuple[str, str, int], Measured] = {}
    for name in present_parsers():
        calls = calls_of(load_parser(name))
        keys = {f"{panel} {value}": (panel, value) for panel, value in calls}
        seconds = timings({key: calls[keys[key]][1] for key in keys}, repeat=chosen.repeat)
        for key, (panel, value) in keys.items():
            n_words = calls[panel, value][0]
            found = sorted(
                each if PANELS[panel] == "seconds" else n_words / each for each in seconds[key]
            )
            middle = found[len(found) // 2]
            results[name, panel, value] = Measured(middle, lowest=found[0], highest=found[-1])
    rows: list[dict[str, object]] = []
    for panel, unit in PANELS.items():
        values = dict.fromkeys(value for _, kind, value in results if kind == panel)
        for value in values:
            rows.append(
                {"": f"{value:,} {panel}, {unit}"}
                | {
                    name: found
                    for (name, kind, number), found in results.items()
                    if (kind, number) == (panel, value)
                }
            )
    show("Growth of the cost of parsing", rows)
    chosen.plot.parent.mkdir(parents=True, exist_ok=True)
    draw(results, chosen.plot)


if __name__ == "__main__":
    main(sys.argv[1:])
