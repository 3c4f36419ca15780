"""Score segmentation on treebanks and time it: python benchmarks/segmentation.py FILE.conllu.gz...

Spans are compared as the scorer of the CoNLL 2018 shared task does: characters without whitespace.
Four settings: words given the treebank's sentences; words and sentences from raw text with a blank
line between paragraphs; the same with paragraph breaks made spaces; and, as a floor, what
splitting at whitespace gives.  Speed is a ratio to ``str.split`` and to a one-line tokeniser,
timed in the same run.
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
        self.right = self.gold = self.found = 0

    def add(self, gold: Spans, found: Spans) -> None:
        self.right += len(gold & found)
        self.gold += len(gold)
        self.found += len(found)

    @property
    def f1(self) -> float:
        return 200 * self.right / (self.gold + self.found)


def without_gaps(text: str, spans: Iterable[tuple[int, int]]) -> Spans:
    """Spans counted in characters that are no whitespace."""
    place = [0]
    for character in text:
        place.append(place[-1] + (not character.isspace()))
    return {(place[start], place[end]) for start, end in spans}


def score(
    documents: list[RawDocument], find: Callable[[RawDocument], list[Sentence]]
) -> tuple[float, float]:
    """Word and sentence F1 in percent."""
    words, sentences = Score(), Score()
    for document in documents:
        found = find(document)
        gold_words = without_gaps(document.text, document.words)
        found_words = [(word.start, word.end) for sentence in found for word in sentence.words]
        words.add(gold_words, without_gaps(document.text, found_words))
        gold_sentences = without_gaps(document.text, document.sentences)
        found_sentences = [(sentence.start, sentence.end) for sentence in found]
        sentences.add(gold_sentences, without_gaps(document.text, found_sentences))
    return words.f1, sentences.f1


def given_sentences(document: RawDocument) -> list[Sentence]:
    return [split_words(document.text, *span) for span in document.sentences]


def from_raw(document: RawDocument) -> list[Sentence]:
    return segment(document.text)


def at_whitespace(document: RawDocument) -> list[Sentence]:
    return segment(document.text, mode="words")


def seconds(action: Callable[[], object], repeats: int = 5) -> float:
    """The best of some runs."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - begin)
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
        for setting, documents, find in (
            ("gold sentences", marked, given_sentences),
            ("raw, paragraphs given", marked, from_raw),
            ("raw, all joined with spaces", joined, from_raw),
            ("whitespace (floor)", marked, at_whitespace),
        ):
            word_f1, sentence_f1 = score(documents, find)
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
