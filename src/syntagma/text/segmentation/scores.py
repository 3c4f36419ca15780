"""Score words and sentences as the scorer of the CoNLL 2018 shared task does.

Spans are compared by characters without whitespace, so that it does not matter whether a predicted
sentence includes the line break after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from syntagma.text.documents import RawDocument
from syntagma.text.sentence import Sentence

Spans = set[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class SpanScore:
    """Counts of spans, which can be added over documents.

    Args:
        correct: number of predicted spans that are gold spans.
        gold: number of gold spans.
        predicted: number of predicted spans.
    """

    correct: int = 0
    gold: int = 0
    predicted: int = 0

    @classmethod
    def of(cls, gold: Spans, predicted: Spans) -> SpanScore:
        """Compare the spans of one document."""
        return cls(len(gold & predicted), len(gold), len(predicted))

    def __add__(self, other: SpanScore) -> SpanScore:
        return SpanScore(
            self.correct + other.correct,
            self.gold + other.gold,
            self.predicted + other.predicted,
        )

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, as a percentage; 0 if there is no span."""
        total = self.gold + self.predicted
        return 200 * self.correct / total if total else 0.0


def without_gaps(text: str, spans: Iterable[tuple[int, int]]) -> Spans:
    """Convert offsets to numbers of characters that are not whitespace.

    Args:
        text: the text.
        spans: start and end offset of each span in it.

    >>> without_gaps("No way", [(3, 6)])
    {(2, 5)}
    """
    position = [0]
    for character in text:
        position.append(position[-1] + (not character.isspace()))
    return {(position[start], position[end]) for start, end in spans}


def score_segmentation(
    documents: Iterable[RawDocument], predict: Callable[[RawDocument], list[Sentence]]
) -> tuple[SpanScore, SpanScore]:
    """Score the words and the sentences of documents.

    Args:
        documents: documents with gold words and sentences.
        predict: returns the sentences of a document, with offsets into its text.

    Returns:
        The scores of words and of sentences.
    """
    words, sentences = SpanScore(), SpanScore()
    for document in documents:
        predicted = predict(document)
        found_words = [(word.start, word.end) for each in predicted for word in each.words]
        found_sentences = [(each.start, each.end) for each in predicted]
        text = document.text
        words += SpanScore.of(without_gaps(text, document.words), without_gaps(text, found_words))
        sentences += SpanScore.of(
            without_gaps(text, document.sentences), without_gaps(text, found_sentences)
        )
    return words, sentences
