"""Rank the candidates for a question from several paragraphs, and compute their features.

To the features of an answer from one passage (:mod:`syntagma.tasks.spans.features`), these add
how many paragraphs were read and agree, what the best candidate's own paragraph shares with the
question, and what a retriever says of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from syntagma.models.open_model import OpenHead
from syntagma.tasks.open_qa.answers import Candidate, OpenPrediction
from syntagma.tasks.open_qa.data import Paragraph
from syntagma.tasks.spans.columns import within_cells
from syntagma.tasks.spans.features import Ranked, overlap, score_features, sentence_of, unknown
from syntagma.tasks.spans.tables import in_named_cell
from syntagma.tasks.spans.tidy import tidy_interval


def rank_paragraphs(
    prediction: OpenPrediction, paragraphs: Mapping[int, Paragraph], head: OpenHead
) -> Ranked[Candidate]:
    """Find the distinct candidates of a prediction for several paragraphs.

    Args:
        prediction: the pooled candidates.
        paragraphs: those that were read, by their index.
        head: settings of the reader.
    """
    distinct = distinct_candidates(prediction.candidates, paragraphs)
    if not distinct:
        return Ranked((), "", None, {})
    here = distinct[0].paragraph
    passage = paragraphs[here].text
    candidates = in_named_cell(
        prediction.question, passage, distinct, lambda candidate: candidate.paragraph == here
    )
    best = candidates[0]
    sentence = sentence_of(passage, best.start, best.end)
    features = score_features(
        prediction.question,
        "\n".join(paragraph.text for paragraph in paragraphs.values()),
        candidates,
        lowest=prediction.candidates[-1].score,
        # Evidence is relative to the empty answer, minus what the verifier says.
        null_score=-head.answerability_weight * prediction.verification,
        verification=prediction.verification,
        n_windows=prediction.n_windows,
        sentence=sentence,
    )
    features |= _paragraph_features(prediction.question, best, paragraphs)
    return Ranked(candidates, passage, sentence, features)


def _paragraph_features(
    question: str, best: Candidate, paragraphs: Mapping[int, Paragraph]
) -> dict[str, float]:
    """Compute what several paragraphs add to the features of a question.

    ``paragraphs``: log of the number that were read.  ``support``: log of the number with the best
    candidate.  ``nearby``: share of the question's content words in the best candidate's paragraph.
    ``missing``: share of the question's names and numbers that this paragraph lacks.  If a
    retriever scored all paragraphs, ``retrieval``: the score of that paragraph, and
    ``retrieval_gap``: how far it is below the highest one.
    """
    own = paragraphs[best.paragraph]
    values = {
        "paragraphs": math.log(len(paragraphs)),
        "support": math.log(best.n_paragraphs),
        "nearby": overlap(question, own.text),
        "missing": unknown(question, own.text),
    }
    scores = [each.score for each in paragraphs.values() if each.score is not None]
    if own.score is not None and len(scores) == len(paragraphs):
        values |= {"retrieval": own.score, "retrieval_gap": max(scores) - own.score}
    return values


def distinct_candidates(
    candidates: tuple[Candidate, ...], paragraphs: Mapping[int, Paragraph]
) -> tuple[Candidate, ...]:
    """Tidy candidates, and drop those that overlap a better one of the same paragraph.

    One that runs over cells of a table makes room for the best one in one of these cells.

    Args:
        candidates: best first.
        paragraphs: those that were read, by their index.
    """
    intervals = [
        tidy_interval(paragraphs[each.paragraph].text, each.start, each.end) for each in candidates
    ]
    tidied = [
        replace(
            candidate, text=paragraphs[candidate.paragraph].text[start:end], start=start, end=end
        )
        for candidate, (start, end) in zip(candidates, intervals, strict=True)
    ]
    kept: list[Candidate] = []
    for candidate in _in_cells(tidied, paragraphs):
        if not any(
            better.paragraph == candidate.paragraph
            and candidate.start < better.end
            and better.start < candidate.end
            for better in kept
        ):
            kept.append(candidate)
    return tuple(kept)


def _in_cells(
    candidates: Sequence[Candidate], paragraphs: Mapping[int, Paragraph]
) -> list[Candidate]:
    """Replace candidates that run over cells of a table by the best ones in one of these cells."""
    found = list(candidates)
    for index in {each.paragraph for each in candidates}:
        here = [number for number, each in enumerate(candidates) if each.paragraph == index]
        intervals = [(candidates[number].start, candidates[number].end) for number in here]
        for number, cell in zip(here, within_cells(paragraphs[index].text, intervals), strict=True):
            found[number] = candidates[here[cell]]
    return found
