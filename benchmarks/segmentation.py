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
from collections.abc import Callable, Iterable
from pathlib import Path

from syntagma.text.documents import RawDocument, read_documents
from syntagma.text.segmentation.segment import segment, split_words
from syntagma.text.sentence import Sentence

Spans = set[tuple[int, int]]


class Score:
    """Counts of spans, summed over documents."""

    def __init__(self) -> None:
        self.correct = self.gold = self.predicted = 0

    def add(self, gold: Spans, predicted: Spans) -> None:
        self.correct += len(gold & predicted)
        self.gold += len(gold)
        self.predicted += len(predicted)

    @property
    def f1(self) -> float:
        return 200 * self.correct / (self.gold + self.predicted)


def without_gaps(text: str, spans: Iterable[tuple[int, int]]) -> Spans:
    """Convert offsets to counts of characters that are not whitespace."""
    position = [0]
    for character in text:
        position.append(position[-1] + (not character.isspace()))
    return {(position[start], position[end]) for start, end in spans}


def score(
    documents: list[RawDocument], predict: Callable[[RawDocument], list[Sentence]]
) -> tuple[float, float]:
    """Return word and sentence F1, as percentages."""
    words, sentences = Score(), Score()
    for document in documents:
        predicted = predict(document)
        gold_words = without_gaps(document.text, document.words)
        predicted_words = [
            (word.start, word.end) for sentence in predicted for word in sentence.words
        ]
        words.add(gold_words, without_gaps(document.text, predicted_words))
        gold_sentences = without_gaps(document.text, document.sentences)
        predicted_sentences = [(sentence.start, sentence.end) for sentence in predicted]
        sentences.add(gold_sentences, without_gaps(document.text, predicted_sentences))
    return words.f1, sentences.f1


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
            word_f1, sentence_f1 = score(documents, predict)
            print(f"{Path(path).name[:28]:28} {setting:28} {word_f1:8.2f} {sentence_f1:12.2f}")

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
