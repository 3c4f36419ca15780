"""Score segmentation on treebanks and time it.

    python benchmarks/segmentation.py FILE.conllu.gz... --parser default-parser

Spans are compared as in the scorer of the CoNLL 2018 shared task, by characters without whitespace.
There are four settings: words within gold sentences; words and sentences of raw text with blank
lines between paragraphs; the same with paragraph breaks replaced by spaces; and, as a lower bound,
splitting at whitespace.  Speed is relative to ``str.split``, timed in the same run with some
one-line tokenizers.

With ``--parser``, the sentences of parsers are scored too, whose encoders decide on doubtful ends
(``head.sentence_ends``), and the time from raw text to trees is compared with that of the same
parser without them, in turns.
"""

from __future__ import annotations

import argparse
import copy
import re
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syntagma import load_parser
from syntagma.parse.languages import Languages
from syntagma.parse.parser import JointParser
from syntagma.text.documents import RawDocument, read_documents
from syntagma.text.segmentation.gaps import GapFeatures, Integers
from syntagma.text.segmentation.scores import score_segmentation
from syntagma.text.segmentation.segment import segment, split_words
from syntagma.text.segmentation.splitter import Rescorer
from syntagma.text.sentence import Sentence


def given_sentences(document: RawDocument) -> list[Sentence]:
    return [split_words(document.text, *span) for span in document.sentences]


def from_raw(document: RawDocument) -> list[Sentence]:
    return segment(document.text)


def at_whitespace(document: RawDocument) -> list[Sentence]:
    return segment(document.text, mode="words")


def seconds(action: Callable[[], object], repeats: int = 5) -> float:
    """Return the shortest time of several runs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


def ratios(one: Callable[[], object], other: Callable[[], object], repeats: int = 5) -> list[float]:
    """Return the time of one action, divided by that of the other, of several turns."""
    one(), other()  # A warm-up.
    return [seconds(one, 1) / seconds(other, 1) for _ in range(repeats)]


def parse_all(parser: JointParser, texts: list[str]) -> None:
    """Parse texts in one call."""
    for _ in parser.parse_texts(texts):
        pass


def parsers(names: list[str], paths: list[str]) -> None:
    """Print the sentences of parsers, and what their encoders' decisions cost."""
    print(f"\n{'file':28} {'parser':24} {'sentence F1':>12} {'asked':>8} {'time':>6}  range")
    for name in names:
        parser = load_parser(name)
        plain = copy.copy(parser)
        plain.languages = parser.languages.rescored_by(None, [])
        for path in paths:
            documents = list(read_documents(path))
            counter = (
                None if parser.languages.rescorer is None else Counting(parser.languages.rescorer)
            )
            counted = parser.languages.rescored_by(counter, parser.languages.codes)
            _, sentences = score_segmentation(documents, partial(cut, languages=counted))
            asked = counter.asked if counter is not None else 0
            n_words = sum(len(cut) for document in documents for cut in document.words)
            texts = [document.text for document in documents]
            found = ratios(partial(parse_all, parser, texts), partial(parse_all, plain, texts))
            print(
                f"{Path(path).name[:28]:28} {name[:24]:24} {sentences.f1:12.2f} "
                f"{1000 * asked / n_words:6.1f} ‰ {statistics.median(found):6.2f}  "
                f"{min(found):.2f} to {max(found):.2f}"
            )


class Counting:
    """Counts the places that another scorer is asked about."""

    def __init__(self, rescorer: Rescorer) -> None:
        self.rescorer, self.doubt, self.asked = rescorer, rescorer.doubt, 0

    def __call__(
        self,
        forms: Sequence[str],
        first_words: Integers,
        features: GapFeatures,
        scores: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        self.asked += len(scores)
        return self.rescorer(forms, first_words, features, scores)


def cut(document: RawDocument, *, languages: Languages) -> list[Sentence]:
    """Return the sentences of a document, as a parser cuts it."""
    return segment(document.text, segmenter=languages.segmenter_for(document.text))


def main() -> None:
    """Print the tables."""
    flags = argparse.ArgumentParser(description="Score segmentation on treebanks and time it.")
    flags.add_argument("paths", nargs="+", metavar="FILE", help="CoNLL-U files")
    flags.add_argument("--parser", action="append", default=[], help="score this too; repeatable")
    given = flags.parse_args()
    paths = given.paths
    print(f"{'file':28} {'setting':28} {'word F1':>8} {'sentence F1':>12}")
    texts = []
    for path in paths:
        marked = list(read_documents(path))
        joined = list(read_documents(path, paragraphs=False))
        texts += [document.text for document in marked]
        for setting, documents, predict in (
            ("gold sentences", marked, given_sentences),
            ("raw, with paragraphs", marked, from_raw),
            ("raw, joined by spaces", joined, from_raw),
            ("whitespace (lower bound)", marked, at_whitespace),
        ):
            words, sentences = score_segmentation(documents, predict)
            name = Path(path).name[:28]
            print(f"{name:28} {setting:28} {words.f1:8.2f} {sentences.f1:12.2f}")

    text = "\n\n".join(texts)
    n_words = sum(map(len, segment(text)))
    simple = re.compile(r"\w+|[^\w\s]")
    print(f"\n{'task (one core)':36} {'words/s':>12} {'characters/s':>14} {'× str.split':>12}")
    floor = seconds(text.split)
    for name, action in (
        ("str.split", text.split),
        ("re.findall, one line", lambda: simple.findall(text)),
        ("re.finditer with offsets", lambda: [(m[0], *m.span()) for m in simple.finditer(text)]),
        ("segment, raw", lambda: segment(text)),
        ("segment, lines", lambda: segment(text, mode="lines")),
        ("segment, words", lambda: segment(text, mode="words")),
    ):
        took = seconds(action)
        print(f"{name:36} {n_words / took:12,.0f} {len(text) / took:14,.0f} {took / floor:12.1f}")
    if given.parser:
        parsers(given.parser, paths)


if __name__ == "__main__":
    main()
