"""Score segmentation on treebanks and time it: python benchmarks/segmentation.py FILE.conllu.gz...

Spans are compared as in the scorer of the CoNLL 2018 shared task, by characters without whitespace.
There are four settings: words within gold sentences; words and sentences of raw text with blank
lines between paragraphs; the same with paragraph breaks replaced by spaces; and, as a lower bound,
splitting at whitespace.  Speed is relative to ``str.split``, timed in the same run with some
one-line tokenizers.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

from syntagma.text.documents import RawDocument, read_documents
from syntagma.text.segmentation.scores import score_segmentation
from syntagma.text.segmentation.segment import segment, split_words
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


def main() -> None:
    """Print both tables."""
    paths = sys.argv[1:]
    if not paths:
        sys.exit("give one or more CoNLL-U files")
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


if __name__ == "__main__":
    main()
