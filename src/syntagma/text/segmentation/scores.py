"""Score words and sentences as the scorer of the CoNLL 2018 shared task does.

Spans are compared by characters without whitespace, so that it does not matter whether a predicted
sentence includes the line break after it.  Words of a multi-word token are compared by their forms
(:mod:`syntagma.text.word_matching`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from syntagma.text.documents import RawDocument
from syntagma.text.sentence import Sentence
from syntagma.text.word_matching import WordSpan, match_words

Spans = set[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class SpanScore:
    """Counts of words or sentences, which can be added over documents.

    Args:
        correct: how many of those predicted are right.
        gold: how many there are.
        predicted: how many are predicted.
    """

    correct: int = 0
    gold: int = 0
    predicted: int = 0

    @classmethod
    def of(cls, gold: Spans, predicted: Spans) -> SpanScore:
        """Compare the sentences of one document."""
        return cls(len(gold & predicted), len(gold), len(predicted))

    @classmethod
    def of_words(cls, gold: Sequence[WordSpan], predicted: Sequence[WordSpan]) -> SpanScore:
        """Compare the words of one document."""
        return cls(len(match_words(gold, predicted)), len(gold), len(predicted))

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


def positions_without_gaps(text: str) -> list[int]:
    """Return how many characters before each offset are not whitespace, ``[n_characters + 1]``.

    >>> positions_without_gaps("No way")
    [0, 1, 2, 2, 3, 4, 5]
    """
    return list(accumulate((not character.isspace() for character in text), initial=0))


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
        position = positions_without_gaps(document.text)
        words += SpanScore.of_words(
            _word_spans(document.words, position), _word_spans(predicted, position)
        )
        sentences += SpanScore.of(
            {(position[start], position[end]) for start, end in document.sentences},
            {(position[each.start], position[each.end]) for each in predicted},
        )
    return words, sentences


def _word_spans(sentences: Iterable[Sentence], position: Sequence[int]) -> list[WordSpan]:
    """Return the words of a document.

    Args:
        sentences: its sentences.
        position: as :func:`positions_without_gaps` returns it.
    """
    found: list[WordSpan] = []
    for sentence in sentences:
        tokens = {
            place: (sentence.starts[first], sentence.ends[end - 1])
            for first, end in sentence.multiword or ()
            for place in range(first, end)
        }
        for place, (form, *own) in enumerate(sentence.words):
            start, end = tokens.get(place, own)
            found.append(WordSpan(form, position[start], position[end], place in tokens))
    return found
