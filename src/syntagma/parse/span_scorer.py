"""Score phrase labels of spans over an encoder's states (Kitaev & Klein 2018, section 4.3).

A span is the difference of its two fence posts, the gaps before its first and after its last word.
A span without a label scores 0, so that labels compete with being no phrase at all.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from syntagma.parse.constituency import ChartSpans, best_spans
from syntagma.parse.joint import MOST_WORDS, best_joint_trees

__all__ = ["BestLabels", "Decoding", "GoldSpans", "SpanScorer", "margin_loss"]

Decoding = Literal["joint", "separate"]

PART = 1 << 14
"""Spans whose labels are scored together."""


class BestLabels(NamedTuple):
    """The best label of every span of a batch, by start and end.

    Args:
        scores: at least 0, the score of no label, ``[batch, 1 + longest, 1 + longest]``.
        labels: from 1, 0 for none, of the same shape.
    """

    scores: Tensor
    labels: Tensor


class GoldSpans(NamedTuple):
    """The phrases of a batch.

    Args:
        spans: row, start, end and label (from 1) of each phrase, ``[n_spans, 4]``.
        kinds: what is known of each sentence, ``[batch]``: 0 no phrases, 1 phrases, 2 phrases that
            agree with its dependencies (see :func:`syntagma.parse.phrases.agree`).
    """

    spans: Tensor
    kinds: Tensor


class SpanScorer(nn.Module):
    """Label scores of spans.

    Args:
        width: of the word states.
        hidden_width: of a span's representation.
        n_labels: phrase labels, none not counted.
    """

    def __init__(self, width: int, hidden_width: int, n_labels: int) -> None:
        super().__init__()
        # What a word gives to the fence post on its right and to the one on its left.
        self.fence = nn.Linear(width, 2 * hidden_width)
        self.norm = nn.LayerNorm(hidden_width)
        self.labels = nn.Linear(hidden_width, n_labels)

    def fence_posts(self, states: Tensor, n_words: Tensor) -> Tensor:
        """The gaps between words.

        Args:
            states: of the root and the words, ``[batch, 1 + longest, width]``.
            n_words: ``[batch]``.

        Returns:
            ``[batch, 1 + longest, hidden_width]``; the last that counts lies after the last word.
        """
        to_right, to_left = self.fence(states).chunk(2, -1)
        # The sentence ends where it began: at the root.
        following = torch.cat([to_left[:, 1:], to_left[:, :1]], 1)
        last = torch.arange(states.shape[1], device=states.device) == n_words.unsqueeze(1)
        posts: Tensor = to_right + torch.where(last.unsqueeze(-1), to_left[:, :1], following)
        return posts

    def score(self, posts: Tensor, rows: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        """Scores of every label, no label first.

        Args:
            posts: from :meth:`fence_posts`.
            rows: sentence of each span, ``[n_spans]``.
            starts: first word, ``[n_spans]``.
            ends: after the last word, ``[n_spans]``.

        Returns:
            ``[n_spans, 1 + n_labels]``.
        """
        spans = posts[rows, ends] - posts[rows, starts]
        return F.pad(self.labels(F.relu(self.norm(spans))).float(), (1, 0))

    def best_labels(self, posts: Tensor, n_words: Tensor) -> BestLabels:
        """The best label of every span, in constant memory beside the result.

        Args:
            posts: from :meth:`fence_posts`.
            n_words: ``[batch]``.
        """
        rows, starts, ends = all_spans(posts.shape[1], n_words)
        shape = (len(posts), posts.shape[1], posts.shape[1])
        scores = torch.zeros(shape, device=posts.device)
        labels = torch.zeros(shape, dtype=torch.long, device=posts.device)
        for part in zip(rows.split(PART), starts.split(PART), ends.split(PART), strict=True):
            scores[part], labels[part] = self.score(posts, *part).max(-1)
        return BestLabels(scores, labels)


def all_spans(size: int, n_words: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Row, start and end of every span inside its sentence, ``[n_spans]`` each."""
    position = torch.arange(size, device=n_words.device)
    inside = (position.unsqueeze(1) < position) & (position <= n_words.view(-1, 1, 1))
    rows, starts, ends = inside.nonzero(as_tuple=True)
    return rows, starts, ends


def margin_loss(
    scorer: SpanScorer,
    posts: Tensor,
    arcs: Tensor,
    heads: Tensor,
    n_words: Tensor,
    gold: GoldSpans,
    *,
    decoding: Decoding,
    span_share: float,
) -> Tensor:
    """Structured margin: by how much the best wrong tree beats the right one.

    A span with a wrong label counts 1 on top of its score (Stern et al. 2017, section 3.2).  With
    joint decoding trees are judged by ``λ·spans + (1 − λ)·arcs`` (Zhou & Zhao 2019, section 3.4)
    wherever phrases and dependencies agree; the right tree of other sentences lies outside what
    joint decoding can build, so they are judged by their spans alone.

    Args:
        scorer: of the spans.
        posts: from :meth:`SpanScorer.fence_posts`.
        arcs: ``[batch, longest, 1 + longest]``.
        heads: gold heads, ``[batch, longest]``; negative beyond a sentence's words.
        n_words: ``[batch]``.
        gold: the right phrases.
        decoding: ``joint`` or ``separate``.
        span_share: λ.

    Returns:
        The mean over the words of sentences whose phrases are known.
    """
    size = posts.shape[1]
    known = gold.kinds > 0
    counted = n_words * known
    rows, starts, ends = all_spans(size, counted)
    right = torch.zeros(len(posts), size, size, dtype=torch.long, device=posts.device)
    right[tuple(gold.spans[:, :3].T)] = gold.spans[:, 3]
    right_labels = right[rows, starts, ends]
    share = span_share if decoding == "joint" else 1.0
    scores = share * scorer.score(posts, rows, starts, ends)  # [n_spans, 1 + n_labels]
    right_scores = scores.gather(1, right_labels.unsqueeze(1)).squeeze(1)
    wrong = torch.ones_like(scores).scatter_(1, right_labels.unsqueeze(1), 0.0)
    worst, _ = (scores + wrong).max(1)

    chart = torch.zeros(right.shape, device=posts.device)
    chart[rows, starts, ends] = worst.detach()
    jointly = (gold.kinds == 2) & (n_words <= MOST_WORDS) & (decoding == "joint")
    chosen = torch.zeros_like(right, dtype=torch.bool)
    found_heads = heads
    with torch.no_grad():
        alone = (known & ~jointly).nonzero().squeeze(1)
        if len(alone):
            _mark(chosen, alone, best_spans(chart[alone], n_words[alone]))
        together = jointly.nonzero().squeeze(1)
        if len(together):
            trees = best_joint_trees(
                chart[together], (1 - share) * arcs[together], n_words[together]
            )
            _mark(chosen, together, trees.spans)
            found_heads = heads.index_copy(0, together, trees.heads)
    in_best = chosen[rows, starts, ends]
    by_span = torch.where(in_best, worst, 0.0) - right_scores
    total = by_span.new_zeros(len(posts)).index_add(0, rows, by_span)
    if len(together):
        real = heads >= 0
        found = arcs.gather(2, found_heads.clamp(min=0).unsqueeze(2)).squeeze(2)
        true = arcs.gather(2, heads.clamp(min=0).unsqueeze(2)).squeeze(2)
        gain = torch.where(real & (found_heads != heads), found - true, 0.0).sum(1)
        total = total + (1 - share) * gain
    return total.clamp(min=0).sum() / counted.sum().clamp(min=1)


def _mark(chosen: Tensor, sentences: Tensor, spans: ChartSpans) -> None:
    chosen[sentences[spans.rows], spans.starts, spans.ends] = True
