"""Decode span scores into phrase trees with a batched CKY algorithm.

Trees are binary during decoding.  Spans without a label score 0 and are dropped afterwards, so that
phrases may have any number of children (Stern et al. 2017, section 3).  The chart is filled by span
width, with all start positions of all sentences in one step.  The best tree is then read off top
down, with all spans of one depth in one step: no recursion and no back-pointers.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

MAX_CHART_CELLS = 1 << 24
"""Upper limit on the cells of one chart tensor, summed over a batch; 64 MiB in float32."""


class ChartSpans(NamedTuple):
    """The spans of the best trees of a batch, as one flat list; all tensors are ``[n_spans]``.

    Args:
        rows: index of the sentence in the batch.
        starts: position of the first word, from 0.
        ends: position after the last word.
    """

    rows: Tensor
    starts: Tensor
    ends: Tensor


def best_spans(scores: Tensor, n_words: Tensor) -> ChartSpans:
    """Find the binary tree with the highest total span score for each sentence.

    Takes ``O(n³)`` time in the length of the longest sentence.

    Args:
        scores: score of each span's best label, indexed by start and end, 0 for a span without a
            label, ``[batch, 1 + longest, 1 + longest]``.  Only ``start < end`` is read.
        n_words: number of words of each sentence, at least 1, ``[batch]``.
    """
    size = scores.shape[1]
    longest = size - 1
    # The same chart twice: `left` is indexed by start and width, `right` by end and `longest` −
    # width.  The two parts of a span then lie in slices that run in the same direction, so that one
    # addition scores all splits.
    left, right = torch.zeros_like(scores), torch.zeros_like(scores)
    for width in range(1, size):
        best = scores.diagonal(width, 1, 2)  # [batch, n_starts]
        if width > 1:
            first = left[:, : size - width, 1:width]
            second = right[:, width:, longest - width + 1 : longest]
            best = best + (first + second).amax(-1)
        left[:, : size - width, width] = best
        right[:, width:, longest - width] = best

    levels = [level := sentence_spans(n_words)]
    while (can_split := level.ends - level.starts > 1).any():
        rows, starts, ends = (values[can_split].unsqueeze(-1) for values in level)
        first, second = split_widths(starts, ends)  # [n_spans, widest]
        totals = left[rows, starts, first] + right[rows, ends, longest - second]
        totals = totals.masked_fill(second < 1, -torch.inf)
        levels.append(level := split_at_best(rows, starts, ends, totals))
    return ChartSpans(*(torch.cat(values) for values in zip(*levels, strict=True)))


def sentence_spans(n_words: Tensor) -> ChartSpans:
    """Return the span that covers each sentence.

    Args:
        n_words: ``[batch]``.
    """
    rows = torch.arange(len(n_words), device=n_words.device)
    return ChartSpans(rows, torch.zeros_like(n_words), n_words)


def split_widths(starts: Tensor, ends: Tensor) -> tuple[Tensor, Tensor]:
    """Enumerate the ways to split each span in two, as the widths of both parts.

    Args:
        starts: ``[n_spans, 1]``.
        ends: ``[n_spans, 1]``, at least two words after the start.

    Returns:
        Widths of the first part, ``[1, widest]``, and of the second part, ``[n_spans, widest]``,
        which is 0 where the first part is as wide as the span or wider.
    """
    widths = ends - starts
    first = torch.arange(1, int(widths.max()), device=starts.device).unsqueeze(0)
    return first, (widths - first).clamp(min=0)


def split_at_best(rows: Tensor, starts: Tensor, ends: Tensor, scores: Tensor) -> ChartSpans:
    """Split each span where the score is highest; all left parts come before all right parts.

    Args:
        rows: ``[n_spans, 1]``.
        starts: ``[n_spans, 1]``.
        ends: ``[n_spans, 1]``.
        scores: score of each width of the left part, from 1, ``[n_spans, widest]``.
    """
    splits = starts + 1 + scores.argmax(-1, keepdim=True)
    return ChartSpans(
        torch.cat([rows, rows]).squeeze(-1),
        torch.cat([starts, splits]).squeeze(-1),
        torch.cat([splits, ends]).squeeze(-1),
    )


def split_batch(batch: int, cells: int) -> list[slice]:
    """Split a batch into parts whose charts fit into :data:`MAX_CHART_CELLS`.

    Args:
        batch: number of sentences.
        cells: number of cells in the chart of one sentence.

    >>> split_batch(5, MAX_CHART_CELLS // 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, MAX_CHART_CELLS // cells)
    return [slice(begin, min(begin + step, batch)) for begin in range(0, batch, step)]
