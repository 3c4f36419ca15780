"""Decode spans and arcs jointly into one tree that is both a phrase and a dependency tree.

This is joint span decoding of head-driven phrase structure (Zhou & Zhao 2019, section 3.3).  Each
span has a head word, and joining two spans makes the head of one depend on the head of the other.
So every tree is a binary phrase tree and a projective dependency tree at once.

The chart entry ``V[i, j, h]`` is the score of the best tree over words *i* to *j* with contact word
*h*.  If *h* lies inside the span, it is the head of the span; if it lies outside, it is the word
that the head of the span depends on.  Exactly one of the two parts of a span with head *h* contains
*h*, so that

    V[i, j, h] = score(i, j) + max over m of V[i, m, h] + V[m, j, h]          h inside
    V[i, j, h] = max over r inside of V[i, j, r] + arc(r, h)                  h outside

which is ``O(n⁴)`` (Eisner & Satta 1999).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from syntagma.parse.constituency import (
    ChartSpans,
    sentence_spans,
    split_at_best,
    split_batch,
    split_widths,
)

MAX_JOINT_WORDS = 240
"""Sentences longer than this must be decoded separately: a chart has ``n³`` cells."""


class JointTrees(NamedTuple):
    """The best joint trees of a batch.

    Args:
        spans: spans of the binary phrase trees.
        heads: 1-based, 0 for the root and for padding, ``[batch, longest]``.
    """

    spans: ChartSpans
    heads: Tensor


def best_joint_trees(spans: Tensor, arcs: Tensor, n_words: Tensor) -> JointTrees:
    """Find the tree with the highest total of span and arc scores for each sentence.

    Args:
        spans: score of each span's best label, indexed by start and end, 0 for a span without a
            label, ``[batch, 1 + longest, 1 + longest]``.  Only ``start < end`` is read.
        arcs: score of each candidate head of each word, position 0 is the root, minus infinity for
            a forbidden arc, ``[batch, longest, 1 + longest]``.
        n_words: number of words of each sentence, at least 1, ``[batch]``.
    """
    longest = arcs.shape[1]
    decoded = [
        (part.start, _decode(spans[part], arcs[part], n_words[part]))
        for part in split_batch(len(arcs), (longest + 1) ** 3)
    ]
    return JointTrees(
        ChartSpans(
            torch.cat([trees.spans.rows + start for start, trees in decoded]),
            torch.cat([trees.spans.starts for _, trees in decoded]),
            torch.cat([trees.spans.ends for _, trees in decoded]),
        ),
        torch.cat([trees.heads for _, trees in decoded]),
    )


def _decode(spans: Tensor, arcs: Tensor, n_words: Tensor) -> JointTrees:
    """Fill the chart and read the best trees off it."""
    batch, longest, size = arcs.shape
    contact = torch.arange(size, device=arcs.device)
    # The same chart twice: `left` is indexed by start and width, `right` by end and `longest` −
    # width.  The two parts of a span then lie in slices that run in the same direction, so that one
    # addition scores all splits.
    left = arcs.new_zeros(batch, size, size, size)
    right = torch.zeros_like(left)
    for width in range(1, size):
        starts = torch.arange(size - width, device=arcs.device)
        best = spans.diagonal(width, 1, 2).unsqueeze(-1)  # [batch, n_starts, 1]
        if width > 1:
            first = left[:, : size - width, 1:width]
            second = right[:, width:, longest - width + 1 : longest]
            best = best + (first + second).amax(2)  # [batch, n_starts, 1 + longest]
        else:
            best = best.expand(-1, -1, size)
        # First the entries with the head inside the span, then those outside, which choose the
        # best head and add the arc from it to the contact word.
        inner = starts.unsqueeze(-1) + contact[1 : width + 1]  # [n_starts, width], words from 1
        as_head = best.gather(2, inner.expand(batch, -1, -1)).unsqueeze(2)
        outside = (as_head + arcs.unfold(1, width, 1)).amax(-1)  # [batch, n_starts, 1 + longest]
        is_inside = (contact > starts.unsqueeze(-1)) & (contact <= starts.unsqueeze(-1) + width)
        best = torch.where(is_inside, best, outside)
        left[:, : size - width, width] = best
        right[:, width:, longest - width] = best
    return _read_off(left, right, arcs, n_words)


def _read_off(left: Tensor, right: Tensor, arcs: Tensor, n_words: Tensor) -> JointTrees:
    """Read the best trees off the chart, top down.

    For each span, choose the head that fits its contact word best, then the best split.
    """
    longest = arcs.shape[1]
    heads = torch.zeros(arcs.shape[:2], dtype=torch.long, device=arcs.device)
    # The contact word of a whole sentence is the root, which is position 0.
    level, contacts = sentence_spans(n_words), torch.zeros_like(n_words).unsqueeze(-1)
    levels = [level]
    while True:
        head = _choose_heads(left, arcs, level, contacts)
        depends = (head != contacts).squeeze(-1)
        heads[level.rows[depends], head[depends, 0] - 1] = contacts[depends, 0]
        can_split = level.ends - level.starts > 1
        if not can_split.any():
            break
        rows, starts, ends = (values[can_split].unsqueeze(-1) for values in level)
        contacts = head[can_split]
        first, second = split_widths(starts, ends)  # [n_spans, widest]
        totals = left[rows, starts, first, contacts] + right[rows, ends, longest - second, contacts]
        level = split_at_best(rows, starts, ends, totals.masked_fill(second < 1, -torch.inf))
        levels.append(level)
        # Both parts meet the rest of the tree through the head of the span that was split.
        contacts = contacts.repeat(2, 1)
    spans = ChartSpans(*(torch.cat(values) for values in zip(*levels, strict=True)))
    return JointTrees(spans, heads)


def _choose_heads(left: Tensor, arcs: Tensor, level: ChartSpans, contacts: Tensor) -> Tensor:
    """Choose the head of each span, given its contact word.

    Args:
        left: the chart, indexed by start, width and contact word,
            ``[batch, 1 + longest, 1 + longest, 1 + longest]``.
        arcs: ``[batch, longest, 1 + longest]``.
        level: the spans.
        contacts: the contact words, ``[n_spans, 1]``.

    Returns:
        Words from 1, ``[n_spans, 1]``; the contact word itself if it lies inside the span.
    """
    rows, starts, ends = (values.unsqueeze(-1) for values in level)
    widths = ends - starts
    step = torch.arange(int(widths.max()), device=arcs.device)
    beyond = step >= widths  # [n_spans, widest]
    words = (starts + 1 + step).masked_fill(beyond, 1)
    totals = left[rows, starts, widths, words] + arcs[rows, words - 1, contacts]
    best = words.gather(1, totals.masked_fill(beyond, -torch.inf).argmax(1, keepdim=True))
    inside = (contacts > starts) & (contacts <= ends)
    return torch.where(inside, contacts, best)
