"""Each statistic against a case computed by hand, or against scipy and sacrebleu themselves."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

pytest.importorskip("scipy")

from syntagma.report.significance import (
    bleu_of_counts,
    holm,
    mcnemar,
    paired_bootstrap,
    paired_t_test,
    permutation_test,
    sign_test,
)


def test_mcnemar_is_the_binomial_tail_twice():
    # 9 gained, 2 lost: P(X ≤ 2) of 11 fair coins, twice.
    expected = 2 * sum(comb(11, k) for k in range(3)) / 2**11
    assert mcnemar(9, 2) == pytest.approx(expected)
    assert mcnemar(2, 9) == pytest.approx(expected)
    assert mcnemar(0, 0) == 1
    assert mcnemar(5, 5) == 1


def test_the_sign_test_agrees_with_mcnemar_on_discordant_pairs():
    assert sign_test(9, 2) == mcnemar(9, 2)


def test_the_t_test_is_the_formula():
    ours, theirs = [3.0, 5, 4, 8, 7], [2.0, 4, 5, 5, 6]
    differences = np.subtract(ours, theirs)
    t = differences.mean() / (differences.std(ddof=1) / np.sqrt(5))
    from scipy.stats import t as distribution

    assert paired_t_test(ours, theirs) == pytest.approx(2 * distribution.sf(t, 4))
    assert paired_t_test(ours, ours) == 1


def test_the_permutation_test_is_exact_for_few_examples():
    ours, theirs = [3.0, 5, 4, 8, 7], [2.0, 4, 5, 5, 6]
    differences = np.subtract(ours, theirs)
    signs = [[1 - 2 * (number >> bit & 1) for bit in range(5)] for number in range(32)]
    means = [np.mean(sign * differences) for sign in signs]
    observed = abs(differences.mean())
    expected = np.mean([abs(value) >= observed - 1e-12 for value in means])
    assert permutation_test(ours, theirs) == pytest.approx(expected)


def test_the_permutation_test_repeats_itself_and_sees_a_difference():
    random = np.random.default_rng(1)
    theirs = random.random(400)
    ours = theirs + 0.02 + 0.1 * random.standard_normal(400)
    p_value = permutation_test(ours.tolist(), theirs.tolist())
    assert p_value == permutation_test(ours.tolist(), theirs.tolist())
    assert p_value == pytest.approx(paired_t_test(ours.tolist(), theirs.tolist()), abs=5e-3)


def test_holm_is_that_of_a_hand_count():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


def test_bleu_of_counts_is_that_of_sacrebleu():
    metrics = pytest.importorskip("sacrebleu.metrics")
    from syntagma.tasks.translation.scores import sentence_bleu

    names = [*(f"matches_{k}" for k in range(1, 5)), *(f"totals_{k}" for k in range(1, 5)),
             "length", "reference_length"]  # fmt: skip
    hypotheses = [
        "a cat sat on the old mat .",
        "the dog ran over the hill",
        "so it goes again today",
    ]
    references = [
        "the cat sat on the old mat .",
        "the dog ran down the hill again",
        "so it goes again",
    ]
    rows = sentence_bleu(hypotheses, references, tokenized=True)
    counts = np.array([[row[name] for name in names] for row in rows])
    expected = metrics.BLEU(tokenize="none", force=True).corpus_score(hypotheses, [references])
    assert bleu_of_counts(counts.sum(0)) == pytest.approx(expected.score)


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
    names = [*(f"matches_{k}" for k in range(1, 5)), *(f"totals_{k}" for k in range(1, 5)),
             "length", "reference_length"]  # fmt: skip
    counts = [
        np.array(
            [[row[name] for name in names] for row in sentence_bleu(system, texts, tokenized=True)]
        )
        for system in (ours, theirs)
    ]
    found = paired_bootstrap([counts[0]], [counts[1]])
    _, tested = PairedTest(
        [("theirs", theirs), ("ours", ours)],
        {"BLEU": metrics.BLEU(tokenize="none", force=True, references=[texts])},
        references=None,
        test_type="bs",
        n_samples=1000,
    )()
    # Theirs counts the differences on the side of the observed one only.
    assert found == pytest.approx(2 * tested["BLEU"][1].p_value, abs=0.05)
    assert paired_bootstrap([counts[0]], [counts[0]]) == 1
