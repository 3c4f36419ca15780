"""Rank the candidates for a question, and compute the features of their scores.

The two numbers of an answer are computed from the features.  All of them are of about the same
size, so that one penalty suits their weights (:mod:`syntagma.tasks.spans.logistic`).
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from syntagma.models.calibration import FEATURES
from syntagma.tasks.spans.answers import Excerpt, Span, SpanPrediction, SpanT
from syntagma.tasks.spans.questions import (
    asks_number,
    core_question,
    has_number,
    names_time,
    question_kind,
)
from syntagma.tasks.spans.tables import in_named_cell
from syntagma.tasks.spans.tidy import distinct_spans
from syntagma.text.segmentation.lookup import sentence_at

LOGITS = 5.0
"""Logits that count as one unit."""
MAX_UNITS = 5.0
MANY_WINDOWS = 4
"""Windows from which on more of them change nothing: readers are calibrated on short passages."""
SHORT_LINE = 10
"""Words a line, on average, up to which a passage counts as laid out in lines."""
STEM = 5
"""Characters by which words are compared, so that "fitted" and "fitting" agree."""
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_FUNCTION_WORDS = frozenset(
    """
    a about after all also am an and any are as at be because been before being between both but by
    can could did do does doing done during each else few for from further get give had has have
    having he her here hers him his how i if in into is it its itself just know like many may me
    might more most much must my name no nor not of off on once one only or other our out over own
    please same shall she should so some such than that the their them then there these they this
    those through to too type under until up upon us very was we were what when where whether which
    while who whom whose why will with would you your
    """.split()
)


@dataclass(frozen=True, slots=True)
class Ranked(Generic[SpanT]):
    """The distinct candidates for a question, and what is known of the best one.

    Args:
        candidates: distinct spans, best first; none if nothing was found.
        passage: the passage of the best one.
        sentence: its sentence; ``None`` without candidates.
        features: from which a calibration computes the two numbers; empty without candidates.
    """

    candidates: tuple[SpanT, ...]
    passage: str
    sentence: Excerpt | None
    features: Mapping[str, float]


def rank(prediction: SpanPrediction, passage: str) -> Ranked[Span]:
    """Find the distinct candidates of a prediction for one passage.

    Args:
        prediction: the scored spans.
        passage: the passage.
    """
    distinct = distinct_spans(passage, prediction.spans)
    candidates = in_named_cell(prediction.question, passage, distinct)
    if not candidates:
        return Ranked((), passage, None, {})
    sentence = sentence_of(passage, candidates[0].start, candidates[0].end)
    features = score_features(
        prediction.question,
        passage,
        candidates,
        lowest=prediction.spans[-1].score,
        null_score=prediction.null_score,
        verification=prediction.verification,
        n_windows=prediction.n_windows,
        sentence=sentence,
    )
    return Ranked(candidates, passage, sentence, features)


def score_features(
    question: str,
    passage: str,
    candidates: Sequence[Span],
    *,
    lowest: float,
    null_score: float,
    verification: float,
    n_windows: int,
    sentence: Excerpt | None,
) -> dict[str, float]:
    """Compute the features of one question.

    ``margin``: best score minus score of no answer.  ``verification``: as the verifier says.
    ``lead``: best score minus that of the next distinct candidate.  ``share``: log of the best
    candidate's share of the softmax over the candidates.  ``length``: log of its words.
    ``windows``: log of the number of windows.  ``overlap``: share of the question's content words
    in the sentence of the best candidate.  ``unknown``: share of the question's names and numbers
    that the passage lacks.  ``number``: the question asks for a number or time; ``unfit``: it does,
    and the best candidate has none.  ``several``: the question is one that a single span rarely
    answers.  ``layout``: how far the passage is laid out in lines, as tables, lists and letters are
    (:func:`layout`).  ``layout_margin``: the product of ``layout`` and ``margin``.

    Args:
        question: the question.
        passage: the passage, or all passages that were read.
        candidates: distinct spans, best first; at least one.
        lowest: the lowest score that was kept, in place of the next candidate if there is none.
        null_score: score of no answer.
        verification: logit of unanswerable minus logit of answerable.
        n_windows: number of windows that were read.
        sentence: the sentence of the best candidate.
    """
    best = candidates[0]
    next_score = candidates[1].score if len(candidates) > 1 else lowest
    shares = math.fsum(span.probability for span in candidates)
    wanted = asks_number(question)
    fits = has_number(best.text) or names_time(best.text)
    margin = _units(best.score - null_score)
    lines = layout(passage)
    values = (
        margin,
        _units(verification),
        _units(best.score - next_score),
        math.log(max(best.probability, 1e-6) / max(shares, 1e-6)),
        math.log(len(best.text.split()) or 1),
        math.log(min(n_windows, MANY_WINDOWS)),
        overlap(question, sentence.text if sentence else ""),
        unknown(question, passage),
        float(wanted),
        float(wanted and not fits),
        float(question_kind(question) in ("yes_no", "comparison")),
        lines,
        lines * margin,
    )
    return dict(zip(FEATURES, values, strict=True))


def _units(logits: float) -> float:
    return max(-MAX_UNITS, min(MAX_UNITS, logits / LOGITS))


def _stem(word: str) -> str:
    return word.lower()[:STEM]


def layout(passage: str) -> float:
    """Return how far a passage is laid out in lines: line breaks for ten words, at most 1.

    Running text in paragraphs has nearly none.  There, scores of readers mean something else than
    in tables and lists.

    Args:
        passage: the passage.
    """
    n_words = len(passage.split())
    return min(1.0, SHORT_LINE * passage.strip().count("\n") / n_words) if n_words else 0.0


def overlap(question: str, text: str) -> float:
    """Return the share of a question's content words that a text has; 0.5 if it has no such words.

    Args:
        question: the question.
        text: a sentence or paragraph.
    """
    asked = {
        _stem(word)
        for word in _WORD.findall(core_question(question))
        if word.lower() not in _FUNCTION_WORDS
    }
    found = set(map(_stem, _WORD.findall(text)))
    return len(asked & found) / len(asked) if asked else 0.5


def unknown(question: str, passage: str) -> float:
    """Return the share of a question's names and numbers that a passage lacks; 0 without any.

    Args:
        question: the question.
        passage: the passage.
    """
    words = _WORD.findall(core_question(question))
    names = {
        _stem(word)
        for number, word in enumerate(words)
        if word[0].isdigit()
        or (number and word[0].isupper() and word.lower() not in _FUNCTION_WORDS)
    }
    if not names:
        return 0.0
    return len(names - _stems_of(passage)) / len(names)


@functools.lru_cache(maxsize=8)
def _stems_of(passage: str) -> frozenset[str]:
    # Questions about one passage come together.
    return frozenset(map(_stem, _WORD.findall(passage)))


def sentence_of(passage: str, start: int, end: int) -> Excerpt:
    """Return the sentence of a passage that holds the start of a span, as far as the span's end.

    Args:
        passage: the passage.
        start: character offset of the span's start.
        end: character offset of its end (exclusive).
    """
    left, right = start, end
    if found := sentence_at(passage, start):
        left, right = found[0], max(end, found[1])
    return Excerpt(passage[left:right], left, right)
