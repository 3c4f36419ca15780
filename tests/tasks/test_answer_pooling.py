"""Pooling the answers of several paragraphs into one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from syntagma.models.open_model import OpenHead
from syntagma.tasks.open_qa.answers import ReadParagraph, pool
from syntagma.tasks.spans.answers import Span, SpanPrediction
from syntagma.tasks.spans.metrics import normalise


def read(place, *spans, null=0.0, verification=0.0, pid=None):
    """Make a reader's output for a paragraph: texts with scores, each at offset 10 × its index."""
    found = tuple(
        Span(text, 10 * n, 10 * n + len(text), score, 0.0)
        for n, (text, score) in enumerate(sorted(spans, key=lambda span: -span[1]))
    )
    best = found[0].score if found else -math.inf
    answer = SpanPrediction("?", "", None, None, best, null, verification, 0.0, 0.0, 0.0, found)
    return ReadParagraph(place, pid or f"p{place}", answer)


class TestPool:
    def test_equal_answers_are_one_candidate(self):
        found = [
            read(0, ("The gull", 2.0), ("a crew", 1.0)),
            read(1, ("gull.", 1.0), ("crew", 1.5), null=1.0),
        ]
        best = pool("Who?", found, OpenHead())
        assert [(c.text, c.n_paragraphs) for c in best.candidates] == [
            ("The gull", 2),
            ("a crew", 2),
        ]
        assert (best.text, best.paragraph, best.pid, best.start, best.end) == (
            "The gull", 0, "p0", 0, 8,
        )  # fmt: skip
        assert best.candidates[0].score == pytest.approx(math.log(math.exp(2) + math.exp(0)))
        assert pool("Who?", found, OpenHead(aggregate="max")).score == 2.0

    @pytest.mark.parametrize("aggregate", ["sum", "max"])
    @pytest.mark.parametrize("seed", range(4))
    def test_pool_equals_a_naive_implementation(self, aggregate, seed):
        random = np.random.default_rng(seed)
        words = ["gull", "The gull", "crew", "a", "two crews", "pier!"]
        found = [
            read(
                place,
                *((word, float(random.normal() * 4)) for word in words if random.random() < 0.7),
                null=float(random.normal() * 4),
                verification=float(random.normal()),
            )
            for place in range(5)
        ]
        head = OpenHead(
            aggregate=aggregate, span_weight=0.5, answerability_weight=2.0, objective="both"
        )
        weights: dict[str, list[float]] = {}
        for _, _, answer in found:
            for span in answer.spans:
                odds = 0.5 * (span.score - answer.null_score) - 2.0 * answer.verification
                if normalise(span.text):
                    weights.setdefault(normalise(span.text), []).append(math.exp(odds))
        counted = {
            text: sum(own) if aggregate == "sum" else max(own) for text, own in weights.items()
        }
        total = 1 + sum(counted.values())
        answer = pool("?", found, head)
        got = {normalise(c.text): c.probability for c in answer.candidates}
        assert got == pytest.approx({text: weight / total for text, weight in counted.items()})
        assert answer.null_probability == pytest.approx(1 / total)
        assert normalise(answer.text) == max(counted, key=counted.__getitem__)
        assert answer.probability == max(got.values())
        for candidate in answer.candidates:
            assert max(weights[normalise(candidate.text)]) == pytest.approx(
                max(
                    math.exp(0.5 * (span.score - own.null_score) - 2.0 * own.verification)
                    for _, pid, own in found for span in own.spans
                    if (pid, span.start, span.text)
                    == (candidate.pid, candidate.start, candidate.text)
                )
            )  # fmt: skip

    def test_an_irrelevant_paragraph_has_little_weight(self):
        # The irrelevant paragraph has the higher span score, but an even higher null score.
        irrelevant = read(0, ("gull", 9.0), null=12.0)
        relevant = read(1, ("crew", 3.0), null=-3.0)
        answer = pool("?", [irrelevant, relevant], OpenHead())
        assert answer.text == "crew"
        assert answer.probability > 0.98

    def test_no_paragraph_and_no_candidate_give_an_empty_answer(self):
        for found in ([], [read(0)], [read(0, ("the", 3.0), (",", 2.0))]):
            answer = pool("?", found, OpenHead())
            assert (answer.text, answer.paragraph, answer.start) == ("", None, None)
            assert answer.null_probability == 1.0
            assert answer.candidates == ()

    def test_ties_keep_retrieval_order_and_huge_scores_do_not_overflow(self):
        found = [
            read(3, ("crew", 900.0), pid="x"),
            read(4, ("gull", 900.0)),
            read(5, ("Crew", 900.0)),
        ]
        answer = pool("?", found, OpenHead(aggregate="max"))
        assert [c.pid for c in answer.candidates] == ["x", "p4"]
        assert answer.probability == pytest.approx(0.5)
        assert pool("?", found, OpenHead()).probability == pytest.approx(2 / 3)

    def test_n_best_size_limits_the_candidates(self):
        found = [read(0, *((f"gull {n}", float(n)) for n in range(9)))]
        assert len(pool("?", found, OpenHead(n_best_size=4)).candidates) == 4
