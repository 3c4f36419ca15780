"""Score the phrase labels of spans (Kitaev & Klein 2018, section 4.3).

A span is represented by the difference of two fence posts: the gap after its last word and the gap
before its first word.  The empty label, for spans that are not phrases, has a fixed score of 0.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from syntagma.parse.constituency import ChartSpans, best_spans
from syntagma.parse.joint import MAX_JOINT_WORDS, best_joint_trees

PhraseDecoding = Literal["joint", "separate"]
"""How phrases are decoded: as one tree with the dependencies, or independently."""

SPANS_PER_STEP = 1 << 14
"""Number of spans whose labels are scored in one step."""


class BestLabels(NamedTuple):
    """The best label of every span of a batch, indexed by start and end.

    Args:
        scores: score of the best label, at least 0, which is the score of the empty label,
            ``[batch, 1 + longest, 1 + longest]``.
        labels: code of the best label, 0 for the empty label,
            ``[batch, 1 + longest, 1 + longest]``.
    """

    scores: Tensor
    labels: Tensor


class GoldSpans(NamedTuple):
    """The gold phrases of a batch.

    Args:
        spans: batch index, start, end and label code (from 1) of each phrase, ``[n_spans, 4]``.
        kinds: what is known about each sentence: 0 if its phrases are unknown, 1 if they are known,
            2 if they also agree with its dependencies (see :func:`syntagma.parse.phrases.agree`),
            ``[batch]``.
    """

    spans: Tensor
    kinds: Tensor


class SpanScorer(nn.Module):
    """Scores phrase labels of spans.

    Args:
        width: width of the word states.
        hidden_width: width of the span representations.
        n_labels: number of phrase labels, without the empty label.
    """

    def __init__(self, width: int, hidden_width: int, n_labels: int) -> None:
        super().__init__()
        # Two projections of each word: onto the fence post on its right and the one on its left.
        self.fence = nn.Linear(width, 2 * hidden_width)
        self.norm = nn.LayerNorm(hidden_width)
        self.labels = nn.Linear(hidden_width, n_labels)

    def fence_posts(self, states: Tensor, n_words: Tensor) -> Tensor:
        """Represent the fence posts between words.

        Args:
            states: states of the root and the words, ``[batch, 1 + longest, width]``.
            n_words: number of words of each sentence, ``[batch]``.

        Returns:
            Post *i* lies after word *i*, and post 0 before the first word,
            ``[batch, 1 + longest, hidden_width]``.
        """
        to_right, to_left = self.fence(states).chunk(2, -1)
        # After the last word follows the root, which also precedes the first word.
        following = torch.cat([to_left[:, 1:], to_left[:, :1]], 1)
        last = torch.arange(states.shape[1], device=states.device) == n_words.unsqueeze(1)
        posts: Tensor = to_right + torch.where(last.unsqueeze(-1), to_left[:, :1], following)
        return posts

    def score(self, posts: Tensor, rows: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        """Score every label of given spans.

        Args:
            posts: output of :meth:`fence_posts`.
            rows: index of each span's sentence in the batch, ``[n_spans]``.
            starts: position of each span's first word, ``[n_spans]``.
            ends: position after each span's last word, ``[n_spans]``.

        Returns:
            Scores in float32, the empty label first, ``[n_spans, 1 + n_labels]``.
        """
        spans = posts[rows, ends] - posts[rows, starts]
        return F.pad(self.labels(F.relu(self.norm(spans))).float(), (1, 0))

    def best_labels(self, posts: Tensor, n_words: Tensor) -> BestLabels:
        """Find the best label of every span; needs constant memory in addition to the result.

        Args:
            posts: output of :meth:`fence_posts`.
            n_words: number of words of each sentence, ``[batch]``.
        """
        rows, starts, ends = all_spans(posts.shape[1], n_words)
        shape = (len(posts), posts.shape[1], posts.shape[1])
        scores = torch.zeros(shape, device=posts.device)
        labels = torch.zeros(shape, dtype=torch.long, device=posts.device)
        steps = (index.split(SPANS_PER_STEP) for index in (rows, starts, ends))
        for spans in zip(*steps, strict=True):
            scores[spans], labels[spans] = self.score(posts, *spans).max(-1)
        return BestLabels(scores, labels)


def all_spans(size: int, n_words: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Enumerate all spans inside their sentences.

    Args:
        size: number of fence posts, ``1 + longest``.
        n_words: number of words of each sentence, ``[batch]``.

    Returns:
        Batch index, start and end of each span, ``[n_spans]`` each.
    """
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
    decoding: PhraseDecoding,
    span_share: float,
) -> Tensor:
    """Compute the structured margin loss of phrase trees.

    The loss of a sentence is the margin by which the best tree, after cost augmentation, exceeds
    the gold tree.  The augmentation adds 1 to the score of each wrong label (Stern et al. 2017,
    section 3.2).

    With joint decoding, the score of a tree is ``λ·spans + (1 − λ)·arcs`` (Zhou & Zhao 2019,
    section 3.4).  Only the spans are scored where joint decoding cannot produce the gold tree,
    because gold phrases and dependencies disagree, or where the sentence is too long for it.

    Args:
        scorer: the span scorer.
        posts: output of :meth:`SpanScorer.fence_posts`, ``[batch, 1 + longest, hidden_width]``.
        arcs: arc scores, ``[batch, longest, 1 + longest]``.
        heads: gold heads, negative for padding, ``[batch, longest]``.
        n_words: number of words of each sentence, ``[batch]``.
        gold: gold phrases.
        decoding: ``joint`` or ``separate``.
        span_share: λ.

    Returns:
        The loss per word, over the sentences whose phrases are known.
    """
    size = posts.shape[1]
    known = gold.kinds > 0
    counted = n_words * known
    rows, starts, ends = all_spans(size, counted)
    gold_chart = torch.zeros(len(posts), size, size, dtype=torch.long, device=posts.device)
    gold_chart[tuple(gold.spans[:, :3].T)] = gold.spans[:, 3]
    gold_labels = gold_chart[rows, starts, ends]
    share = span_share if decoding == "joint" else 1.0
    scores = share * scorer.score(posts, rows, starts, ends)  # [n_spans, 1 + n_labels]
    gold_scores = scores.gather(1, gold_labels.unsqueeze(1)).squeeze(1)
    cost = torch.ones_like(scores).scatter_(1, gold_labels.unsqueeze(1), 0.0)
    augmented, _ = (scores + cost).max(1)

    # Decoding only selects spans and arcs, so it needs no gradients: they flow through the scores
    # of the selected spans and arcs below.
    chart = torch.zeros(gold_chart.shape, device=posts.device)
    chart[rows, starts, ends] = augmented.detach()
    decode_jointly = (gold.kinds == 2) & (n_words <= MAX_JOINT_WORDS) & (decoding == "joint")
    selected = torch.zeros_like(gold_chart, dtype=torch.bool)
    best_heads = heads
    with torch.no_grad():
        separate = (known & ~decode_jointly).nonzero().squeeze(1)
        if len(separate):
            _select(selected, separate, best_spans(chart[separate], n_words[separate]))
        joint = decode_jointly.nonzero().squeeze(1)
        if len(joint):
            trees = best_joint_trees(chart[joint], (1 - share) * arcs[joint], n_words[joint])
            _select(selected, joint, trees.spans)
            best_heads = heads.index_copy(0, joint, trees.heads)
    in_best_tree = selected[rows, starts, ends]
    span_margin = torch.where(in_best_tree, augmented, 0.0) - gold_scores
    margin = span_margin.new_zeros(len(posts)).index_add(0, rows, span_margin)
    if len(joint):
        best_arcs = arcs.gather(2, best_heads.clamp(min=0).unsqueeze(2)).squeeze(2)
        gold_arcs = arcs.gather(2, heads.clamp(min=0).unsqueeze(2)).squeeze(2)
        # Arcs that both trees share cancel out, and padding has no gold head.
        differs = (heads >= 0) & (best_heads != heads)
        arc_margin = torch.where(differs, best_arcs - gold_arcs, 0.0).sum(1)
        margin = margin + (1 - share) * arc_margin
    return margin.clamp(min=0).sum() / counted.sum().clamp(min=1)


def _select(selected: Tensor, sentences: Tensor, spans: ChartSpans) -> None:
    """Mark the spans of the best trees of some sentences."""
    selected[sentences[spans.rows], spans.starts, spans.ends] = True
