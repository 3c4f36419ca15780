"""Each test against a manually computed case, or against scipy and sacrebleu."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

pytest.importorskip("scipy")

from syntagma.analysis.significance import (
    holm,
    paired_bootstrap,
    paired_t_test,
    permutation_test,
    randomisation_test,
    sign_test,
)
from syntagma.tasks.comparison.metric_sums import ARCS, BLEU, MICRO_F1, bleu_of_sums


def test_the_sign_test_is_twice_the_binomial_tail():
    # 9 gained, 2 lost: P(X ≤ 2) of 11 fair coins, twice.
    expected = 2 * sum(comb(11, k) for k in range(3)) / 2**11
    assert sign_test(9, 2) == pytest.approx(expected)
    assert sign_test(2, 9) == pytest.approx(expected)
    assert sign_test(0, 0) == 1
    assert sign_test(5, 5) == 1


def test_the_t_test_follows_the_formula():
    ours, theirs = [3.0, 5, 4, 8, 7], [2.0, 4, 5, 5, 6]
    differences = np.subtract(ours, theirs)
    t = differences.mean() / (differences.std(ddof=1) / np.sqrt(5))
    from scipy.stats import t as distribution

    assert paired_t_test(ours, theirs) == pytest.approx(2 * distribution.sf(t, 4))
    assert paired_t_test(ours, ours) == 1
    # All differ by one: the variance is 0, and t is undefined.
    assert paired_t_test([1, 1], [0, 0]) == sign_test(2, 0) == 0.5
    # The same up to rounding errors of the differences.
    assert paired_t_test([0.3, 0.4, 0.5], [0.2, 0.3, 0.4]) == sign_test(3, 0)


def test_the_permutation_test_is_exact_for_few_examples():
    ours, theirs = [3.0, 5, 4, 8, 7], [2.0, 4, 5, 5, 6]
    differences = np.subtract(ours, theirs)
    signs = [[1 - 2 * (number >> bit & 1) for bit in range(5)] for number in range(32)]
    means = [np.mean(sign * differences) for sign in signs]
    observed = abs(differences.mean())
    expected = np.mean([abs(value) >= observed - 1e-12 for value in means])
    assert permutation_test(ours, theirs) == pytest.approx(expected)


@pytest.mark.parametrize("n_examples", [8, 400])
def test_the_permutation_test_agrees_with_scipy(n_examples):
    from scipy import stats

    random = np.random.default_rng(3)
    theirs = random.integers(0, 3, n_examples) / 3
    ours = np.clip(
        theirs + random.integers(-1, 3, n_examples) / 3 * (random.random(n_examples) < 0.2), 0, 1
    )
    expected = stats.permutation_test(
        (ours - theirs,), np.mean, permutation_type="samples", n_resamples=20_000, rng=4
    )
    found = permutation_test(ours.tolist(), theirs.tolist())
    assert found == pytest.approx(expected.pvalue, abs=0.01)
    assert permutation_test(theirs.tolist(), theirs.tolist()) == 1.0


def test_the_permutation_test_is_deterministic_and_detects_a_difference():
    random = np.random.default_rng(1)
    theirs = random.random(400)
    ours = theirs + 0.02 + 0.1 * random.standard_normal(400)
    p_value = permutation_test(ours.tolist(), theirs.tolist())
    assert p_value == permutation_test(ours.tolist(), theirs.tolist())
    assert p_value == pytest.approx(paired_t_test(ours.tolist(), theirs.tolist()), abs=5e-3)


def test_a_difference_that_no_resample_reaches_has_the_smallest_p_value():
    """The observed difference counts as one of the resamples: p is never 0."""
    theirs = np.zeros(400)
    ours = theirs + np.random.default_rng(1).random(400) + 1
    assert permutation_test(ours.tolist(), theirs.tolist()) == 1 / 10_000
    tally = [np.stack([np.full(400, right), np.ones(400)], 1) for right in (90.0, 10.0)]

    class Mean:
        def value(self, sums):
            return sums[..., 0] / sums[..., 1]

    assert randomisation_test([tally[0]], [tally[1]], Mean()) == 1 / 10_000
    assert paired_bootstrap([tally[0]], [tally[1]], Mean()) == pytest.approx(1 / 1001, abs=1e-12)
    assert paired_bootstrap([tally[0]], [tally[0]], Mean()) == 1.0


def test_holm_agrees_with_a_manual_computation():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


def test_bleu_from_sums_agrees_with_sacrebleu():
    metrics = pytest.importorskip("sacrebleu.metrics")
    from syntagma.tasks.translation.scores import sentence_bleu

    hypotheses = [
        "a cat sat on the old mat .",
        "a dog ran over the hill",
        "so it goes again today",
    ]
    references = [
        "the cat sat on the old mat .",
        "the dog ran down the hill again",
        "so it goes again",
    ]
    rows = sentence_bleu(hypotheses, references, tokenized=True)
    counts = np.array([[row[name] for name in BLEU.names] for row in rows])
    expected = metrics.BLEU(tokenize="none", force=True).corpus_score(hypotheses, [references])
    assert BLEU.value(counts.sum(0)) == pytest.approx(expected.score)
    # Short sentences may have no matching 4-gram or 3-gram.
    for number in range(3):
        expected = metrics.BLEU(tokenize="none", force=True).corpus_score(
            hypotheses[number : number + 1], [references[number : number + 1]]
        )
        assert BLEU.value(counts[number]) == pytest.approx(expected.score)
    assert BLEU.value(counts * 0).tolist() == [0, 0, 0]


def test_the_bootstrap_agrees_with_sacrebleu():
    metrics = pytest.importorskip("sacrebleu.metrics")
    from sacrebleu.significance import PairedTest

    from syntagma.tasks.translation.scores import sentence_bleu

    random = np.random.default_rng(3)
    words = [f"w{number}" for number in range(30)]
    references = [list(random.choice(words, 12)) for _ in range(120)]

    def noisy(share):
        return [
            " ".join(w if random.random() > share else str(random.choice(words)) for w in reference)
            for reference in references
        ]

    texts = [" ".join(reference) for reference in references]
    theirs, ours = noisy(0.12), noisy(0.10)
    counts = [
        np.array(
            [
                [row[name] for name in BLEU.names]
                for row in sentence_bleu(system, texts, tokenized=True)
            ]
        )
        for system in (ours, theirs)
    ]
    found = paired_bootstrap([counts[0]], [counts[1]], BLEU)
    _, tested = PairedTest(
        [("theirs", theirs), ("ours", ours)],
        {"BLEU": metrics.BLEU(tokenize="none", force=True, references=[texts])},
        references=None,
        test_type="bs",
        n_samples=1000,
    )()
    # The test of sacrebleu is one-sided.
    assert found == pytest.approx(2 * tested["BLEU"][1].p_value, abs=0.05)
    assert paired_bootstrap([counts[0]], [counts[0]], BLEU) == 1


def test_micro_f1_from_sums_follows_the_definition():
    sums = np.array([[3.0, 5, 4], [0, 0, 0], [2, 2, 6]])
    # 2 · 3 / (5 + 4), nothing found of nothing, 2 · 2 / (2 + 6).
    assert MICRO_F1.value(sums).tolist() == pytest.approx([600 / 9, 0, 50])
    assert float(MICRO_F1.value(sums.sum(0))) == pytest.approx(1000 / 17)


def test_approximate_randomisation_is_close_to_the_exact_test():
    """The exact p-value of this small case is computed over all 2⁶ exchanges."""
    ours = np.array([[2.0, 2, 2], [1, 1, 3], [1, 2, 1], [0, 1, 1], [2, 3, 2], [1, 1, 1]])
    theirs = np.array([[1.0, 2, 2], [0, 1, 3], [1, 3, 1], [0, 2, 1], [1, 3, 2], [1, 1, 1]])

    def difference(swapped):
        chosen = np.array(swapped, bool)[:, None]
        first, second = np.where(chosen, theirs, ours), np.where(chosen, ours, theirs)
        return float(MICRO_F1.value(first.sum(0)) - MICRO_F1.value(second.sum(0)))

    observed = abs(difference([0] * 6))
    all_swaps = [[number >> bit & 1 for bit in range(6)] for number in range(64)]
    exact = np.mean([abs(difference(swaps)) >= observed - 1e-9 for swaps in all_swaps])
    assert randomisation_test([ours], [theirs], MICRO_F1) == pytest.approx(exact, abs=0.015)
    assert randomisation_test([ours], [ours], MICRO_F1) == 1


def test_randomisation_equals_the_permutation_test_for_equal_lengths():
    random = np.random.default_rng(5)
    theirs = random.integers(3, 9, 40).astype(float)
    ours = np.minimum(theirs + random.integers(-1, 3, 40), 10)
    rows = [[np.stack([right, np.full(40, 10.0)], 1)] for right in (ours, theirs)]
    expected = permutation_test(ours.tolist(), theirs.tolist())
    assert randomisation_test(*rows, ARCS) == pytest.approx(expected, abs=0.01)


def test_seeds_are_exchanged_with_their_examples():
    """Seeds of an example are exchanged together: an identical second seed changes nothing."""
    random = np.random.default_rng(6)
    ours, theirs = random.integers(0, 4, (2, 60, 3)).astype(float)
    once = randomisation_test([ours], [theirs], MICRO_F1)
    assert randomisation_test([ours, ours], [theirs, theirs], MICRO_F1) == once


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_bleu_of_nothing_is_zero_without_a_warning():
    """Resamples of few sentences may have no words, or no four of them in a row."""
    sums = np.zeros((3, 10))
    sums[1] = [2, 1, 0, 0, 2, 1, 0, 0, 0, 3]
    sums[2] = [4, 3, 2, 1, 4, 3, 2, 1, 4, 4]
    assert bleu_of_sums(sums) == pytest.approx([0, 0, 100])
