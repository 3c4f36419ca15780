"""Decode spans and arcs together: the tree that is best as a phrase and as a dependency tree.

Joint-span decoding of head-driven phrase structure (Zhou & Zhao 2019, section 3.3): each span has a
head word, and joining two spans makes the head of the one depend on the head of the other, so that
each tree is a binary phrase tree and a projective dependency tree in one.

Chart entries are ``V[i, j, h]``, the best tree over words *i* to *j* whose outside contact is word
*h*: its own head where *h* lies inside, the word that its head depends on where *h* lies outside.
Of the two parts of a span with head *h* exactly one contains *h*, so that

    V[i, j, h] = score(i, j) + max over m of V[i, m, h] + V[m, j, h]          h inside
    V[i, j, h] = max over r inside of V[i, j, r] + arc(r, h)                  h outside

which is ``O(n⁴)`` (Eisner & Satta 1999).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from syntagma.parse.constituency import (
    LOWEST,
    ChartSpans,
    parts_of_batch,
    two_parts,
    whole_sentences,
    widths_of_parts,
)

__all__ = ["MOST_WORDS", "JointTrees", "best_joint_trees"]

MOST_WORDS = 240
"""Longer sentences are to be decoded separately: a chart has the cube of their length in cells."""


class JointTrees(NamedTuple):
    """Trees that are phrase and dependency trees.

    Args:
        spans: of the binary phrase trees.
        heads: 1-based, 0 for the root and beyond a sentence's words, ``[batch, longest]``.
    """

    spans: ChartSpans
    heads: Tensor


def best_joint_trees(spans: Tensor, arcs: Tensor, n_words: Tensor) -> JointTrees:
    """The tree of each sentence with the greatest sum of its spans' and its arcs' scores.

    Args:
        spans: score of each span's best label, ``[batch, 1 + longest, 1 + longest]`` by start and
            end; a span without a label scores 0.  Only ``start < end`` is read.
        arcs: score of each head for each word, ``[batch, longest, 1 + longest]``, position 0 is
            the root; minus infinity forbids an arc.
        n_words: words of each sentence, at least one, ``[batch]``.
    """
    longest = arcs.shape[1]
    found = [
        (part.start, _decode(spans[part], arcs[part], n_words[part]))
        for part in parts_of_batch(len(arcs), (longest + 1) ** 3)
    ]
    return JointTrees(
        ChartSpans(
            torch.cat([trees.spans.rows + start for start, trees in found]),
            torch.cat([trees.spans.starts for _, trees in found]),
            torch.cat([trees.spans.ends for _, trees in found]),
        ),
        torch.cat([trees.heads for _, trees in found]),
    )


def _decode(spans: Tensor, arcs: Tensor, n_words: Tensor) -> JointTrees:
    batch, longest, size = arcs.shape
    contact = torch.arange(size, device=arcs.device)
    # By start and width; by end and `longest` − width, so that both run in one direction.
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
        own = starts.unsqueeze(-1) + contact[1 : width + 1]  # [n_starts, width], words from 1
        as_head = best.gather(2, own.expand(batch, -1, -1)).unsqueeze(2)
        outside = (as_head + arcs.unfold(1, width, 1)).amax(-1)  # [batch, n_starts, 1 + longest]
        is_inside = (contact > starts.unsqueeze(-1)) & (contact <= starts.unsqueeze(-1) + width)
        best = torch.where(is_inside, best, outside)
        left[:, : size - width, width] = best
        right[:, width:, longest - width] = best
    return _read_off(left, right, arcs, n_words)


def _read_off(left: Tensor, right: Tensor, arcs: Tensor, n_words: Tensor) -> JointTrees:
    """From the top: choose each span's head for its contact, then where it is split."""
    longest = arcs.shape[1]
    heads = torch.zeros(arcs.shape[:2], dtype=torch.long, device=arcs.device)
    level, contacts = whole_sentences(n_words), torch.zeros_like(n_words).unsqueeze(-1)
    found = [level]
    while True:
        head = _choose_heads(left, arcs, level, contacts)
        depends = (head != contacts).squeeze(-1)
        heads[level.rows[depends], head[depends, 0] - 1] = contacts[depends, 0]
        inner = level.ends - level.starts > 1
        if not inner.any():
            break
        rows, starts, ends = (values[inner].unsqueeze(-1) for values in level)
        contacts = head[inner]
        first, second = widths_of_parts(starts, ends)  # [n_spans, widest]
        sums = left[rows, starts, first, contacts] + right[rows, ends, longest - second, contacts]
        level = two_parts(rows, starts, ends, sums.masked_fill(second < 1, LOWEST))
        found.append(level)
        contacts = contacts.repeat(2, 1)
    spans = ChartSpans(*(torch.cat(values) for values in zip(*found, strict=True)))
    return JointTrees(spans, heads)


def _choose_heads(left: Tensor, arcs: Tensor, level: ChartSpans, contacts: Tensor) -> Tensor:
    """The head of each span, given the word through which it meets the rest of the tree.

    Args:
        left: the chart by start and width.
        arcs: ``[batch, longest, 1 + longest]``.
        level: the spans.
        contacts: ``[n_spans, 1]``; the head itself where it lies inside.

    Returns:
        ``[n_spans, 1]``, words from 1.
    """
    rows, starts, ends = (values.unsqueeze(-1) for values in level)
    widths = ends - starts
    step = torch.arange(int(widths.max()), device=arcs.device)
    beyond = step >= widths  # [n_spans, widest]
    words = (starts + 1 + step).masked_fill(beyond, 1)
    sums = left[rows, starts, widths, words] + arcs[rows, words - 1, contacts]
    best = words.gather(1, sums.masked_fill(beyond, LOWEST).argmax(1, keepdim=True))
    inside = (contacts > starts) & (contacts <= ends)
    return torch.where(inside, contacts, best)
