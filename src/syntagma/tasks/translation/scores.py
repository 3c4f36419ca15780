"""BLEU of translations, by sacrebleu (Post 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from syntagma.errors import MissingExtraError

__all__ = ["bleu", "sentence_bleu", "signature"]


def _metric(*, tokenized: bool, effective_order: bool = False) -> Any:
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise MissingExtraError("BLEU", "mt") from error
    # `force` keeps sacrebleu from warning that the text looks tokenised: it may be, on purpose.
    tokenize = "none" if tokenized else "13a"
    return BLEU(tokenize=tokenize, force=True, effective_order=effective_order)


def bleu(hypotheses: Sequence[str], references: Sequence[str], *, tokenized: bool = False) -> float:
    """Case-sensitive BLEU with four-grams over all sentences together, in per cent.

    Args:
        hypotheses: ``[n]``.
        references: ``[n]``.
        tokenized: whether both are words with spaces between them, which are kept (the number of
            Moses' multi-bleu, but that it says 0 where no four words match); else mteval's ``13a``
            tokenisation is applied to raw text.

    Raises:
        MissingExtraError: sacrebleu is not installed.
    """
    score = _metric(tokenized=tokenized).corpus_score(list(hypotheses), [list(references)])
    return float(score.score)


def sentence_bleu(
    hypotheses: Sequence[str], references: Sequence[str], *, tokenized: bool = False
) -> list[dict[str, float]]:
    """What tests by sentence need.

    Returns:
        For each sentence ``bleu``, over the orders that it has n-grams of, and the counts that
        BLEU over many sentences is computed from: ``matches_1`` to ``matches_4``, ``totals_1`` to
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
    """How the score was computed, as sacrebleu writes it."""
    metric = _metric(tokenized=tokenized)
    metric.corpus_score(["a"], [["a"]])
    return str(metric.get_signature())
