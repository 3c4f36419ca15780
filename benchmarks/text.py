"""Texts for benchmarks: variations of the example passage, or external files.

Set ``SYNTAGMA_BENCH_TREEBANK`` to a CoNLL-U file for benchmarks of parsing, and
``SYNTAGMA_BENCH_TEXT`` to a text file with one paragraph per line for the annotation benchmark.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from syntagma.files import read_lines
from syntagma.text.conllu import read_conllu
from syntagma.text.segmentation.segment import segment
from syntagma.text.sentence import Sentence

EXAMPLE = Path(__file__).parent.parent / "examples" / "ferry.txt"


def example_texts(copies: int = 16) -> list[str]:
    """Return passages of different lengths, composed of the example's sentences."""
    text = EXAMPLE.read_text(encoding="utf-8")
    sentences = [text[sentence.start : sentence.end] for sentence in segment(text)]
    return [
        " ".join(sentences[k % len(sentences)] for k in range(start, start + 9 + start % 4))
        for start in range(copies)
    ]


def example_questions() -> list[str]:
    """Return the questions of the example."""
    return EXAMPLE.with_suffix(".questions").read_text(encoding="utf-8").splitlines()


def treebank_sentences(limit: int = 2000) -> list[Sentence]:
    """Return pretokenized sentences."""
    if path := os.environ.get("SYNTAGMA_BENCH_TREEBANK"):
        return [item.sentence() for item in islice(read_conllu(path), limit)]
    sentences = segment(EXAMPLE.read_text(encoding="utf-8"))
    return [
        Sentence.from_words(sentences[k % len(sentences)].forms[: 4 + k % 29]) for k in range(limit)
    ]


def paragraphs() -> Iterator[str]:
    """Yield paragraphs of running text."""
    if path := os.environ.get("SYNTAGMA_BENCH_TEXT"):
        yield from (line for line in read_lines(path) if line.strip())
    else:
        yield from islice(cycle(text.replace("\n", " ") for text in example_texts(400)), 1200)
