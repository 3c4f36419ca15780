"""Decode span scores into phrase trees: CKY over the spans of a whole batch at once.

A tree is binary here: spans that carry no phrase score 0 and are left out of the phrase tree, so
that phrases may have any number of parts (Stern et al. 2017, section 3).  Charts fill by width, all
starts of all sentences in one step; the best tree is then read off from the top, all spans of one
depth in one step.  No recursion, no back pointers.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["ChartSpans", "best_spans", "parts_of_batch"]

CHART = 1 << 24
"""The most cells of the charts of sentences that are decoded together: 64 MiB each."""

LOWEST = -torch.inf


class ChartSpans(NamedTuple):
    """The spans of the best trees of a batch, all sentences in one list; each ``[n_spans]``.

    Args:
        rows: which sentence.
        starts: first word, from 0.
        ends: after the last word.
    """

    rows: Tensor
    starts: Tensor
    ends: Tensor


def best_spans(scores: Tensor, n_words: Tensor) -> ChartSpans:
    """The binary tree of each sentence whose spans have the greatest sum of scores.

    ``O(n³)`` in the longest sentence.

    Args:
        scores: score of each span's best label, ``[batch, 1 + longest, 1 + longest]`` by start and
            end; a span without a label scores 0.  Only ``start < end`` is read.
        n_words: words of each sentence, at least one, ``[batch]``.
    """
    size = scores.shape[1]
    longest = size - 1
    # By start and width; by end and `longest` − width, so that both run in one direction.
    left, right = torch.zeros_like(scores), torch.zeros_like(scores)
    for width in range(1, size):
        best = scores.diagonal(width, 1, 2)  # [batch, n_starts]
        if width > 1:
            first = left[:, : size - width, 1:width]
            second = right[:, width:, longest - width + 1 : longest]
            best = best + (first + second).amax(-1)
        left[:, : size - width, width] = best
        right[:, width:, longest - width] = best

    found = [level := whole_sentences(n_words)]
    while (inner := level.ends - level.starts > 1).any():
        rows, starts, ends = (values[inner].unsqueeze(-1) for values in level)
        first, second = widths_of_parts(starts, ends)  # [n_spans, widest]
        sums = left[rows, starts, first] + right[rows, ends, longest - second]
        found.append(level := two_parts(rows, starts, ends, sums.masked_fill(second < 1, LOWEST)))
    return ChartSpans(*(torch.cat(values) for values in zip(*found, strict=True)))


def whole_sentences(n_words: Tensor) -> ChartSpans:
    """The span of each sentence."""
    rows = torch.arange(len(n_words), device=n_words.device)
    return ChartSpans(rows, torch.zeros_like(n_words), n_words)


def widths_of_parts(starts: Tensor, ends: Tensor) -> tuple[Tensor, Tensor]:
    """All ways to cut each span in two, as the widths of the parts.

    Args:
        starts: ``[n_spans, 1]``.
        ends: ``[n_spans, 1]``, at least two words after the start.

    Returns:
        Widths of the first parts, ``[1, widest]``, and of the second, ``[n_spans, widest]``; 0
        where the span is no wider than the first part.
    """
    widths = ends - starts
    first = torch.arange(1, int(widths.max()), device=starts.device).unsqueeze(0)
    return first, (widths - first).clamp(min=0)


def two_parts(rows: Tensor, starts: Tensor, ends: Tensor, sums: Tensor) -> ChartSpans:
    """Both parts of each span where it is best cut, the left ones first.

    Args:
        rows: ``[n_spans, 1]``.
        starts: ``[n_spans, 1]``.
        ends: ``[n_spans, 1]``.
        sums: score of each width of the first part, from 1, ``[n_spans, widest]``.
    """
    splits = starts + 1 + sums.argmax(-1, keepdim=True)
    return ChartSpans(
        torch.cat([rows, rows]).squeeze(-1),
        torch.cat([starts, splits]).squeeze(-1),
        torch.cat([splits, ends]).squeeze(-1),
    )


def parts_of_batch(batch: int, cells: int) -> list[slice]:
    """Cut a batch so that the charts of a part fit in memory.

    Args:
        batch: sentences.
        cells: of one sentence's chart.

    >>> parts_of_batch(5, CHART // 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, CHART // cells)
    return [slice(begin, min(begin + step, batch)) for begin in range(0, batch, step)]
