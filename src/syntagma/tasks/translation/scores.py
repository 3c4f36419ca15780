"""Compute BLEU with sacrebleu (Post 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from syntagma.errors import MissingExtraError


def _metric(*, tokenized: bool, effective_order: bool = False) -> Any:
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise MissingExtraError("BLEU", "mt") from error
    # `force` silences the warning that the text looks tokenised, which may be intended.
    tokenize = "none" if tokenized else "13a"
    return BLEU(tokenize=tokenize, force=True, effective_order=effective_order)


def bleu(hypotheses: Sequence[str], references: Sequence[str], *, tokenized: bool = False) -> float:
    """Compute case-sensitive corpus BLEU with up to four-grams, in per cent.

    Args:
        hypotheses: translations, ``[n]``.
        references: one reference each, ``[n]``.
        tokenized: whether the texts are tokenised, with spaces between words; otherwise mteval's
            ``13a`` tokenisation is applied.  The value then equals that of Moses' multi-bleu,
            except that the latter is 0 if no four-gram matches.

    Raises:
        MissingExtraError: sacrebleu is not installed.
    """
    score = _metric(tokenized=tokenized).corpus_score(list(hypotheses), [list(references)])
    return float(score.score)


def sentence_bleu(
    hypotheses: Sequence[str], references: Sequence[str], *, tokenized: bool = False
) -> list[dict[str, float]]:
    """Compute the scores of single sentences, for significance tests.

    Returns:
        For each sentence, ``bleu`` over the n-gram orders that it is long enough for, and the
        counts from which corpus BLEU is computed: ``matches_1`` to ``matches_4``, ``totals_1`` to
        ``totals_4``, ``length`` and ``reference_length``.
    """
    metric = _metric(tokenized=tokenized, effective_order=True)
    found = []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        score = metric.sentence_score(hypothesis, [reference])
        row = {"bleu": float(score.score)}
        for order, (matches, total) in enumerate(zip(score.counts, score.totals, strict=True), 1):
            row |= {f"matches_{order}": float(matches), f"totals_{order}": float(total)}
        row |= {"length": float(score.sys_len), "reference_length": float(score.ref_len)}
        found.append(row)
    return found


def signature(*, tokenized: bool = False) -> str:
    """Return sacrebleu's signature, which records how the score is computed."""
    metric = _metric(tokenized=tokenized)
    metric.corpus_score(["a"], [["a"]])  # The signature contains the number of references.
    return str(metric.get_signature())
