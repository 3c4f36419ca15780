"""From scores to labels: heads, relations, tags and phrases of a batch."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma.parse.constituency import ChartSpans, best_spans
from syntagma.parse.dependency import decode_heads
from syntagma.parse.joint import MOST_WORDS, best_joint_trees
from syntagma.parse.phrases import LabelledSpan
from syntagma.parse.scorer import ParserModel, WordStates

__all__ = ["Codes", "How", "decode"]

How = Literal["dependencies", "separate", "joint"]
"""Dependencies alone; phrases beside them; or both as one tree."""


class Codes(NamedTuple):
    """The labels of one sentence as codes, each ``[n_words]``, and its phrases."""

    heads: NDArray[np.int64]
    relations: NDArray[np.int64]
    upos: NDArray[np.int64]
    xpos: NDArray[np.int64]
    probabilities: NDArray[np.float32]
    phrases: list[LabelledSpan] | None


def decode(
    model: ParserModel, states: WordStates, n_words: NDArray[np.int64], *, how: How
) -> list[Codes]:
    """The labels of each sentence of a batch.

    Joint trees are built up to :data:`syntagma.parse.joint.MOST_WORDS` words; longer sentences are
    decoded separately.

    Args:
        model: that made the scores.
        states: the scores.
        n_words: words of each sentence, at least one, ``[batch]``.
        how: what to decode.
    """
    if how == "joint" and (n_words > MOST_WORDS).any():
        long = n_words > MOST_WORDS
        found: dict[int, Codes] = {}
        parts: tuple[tuple[NDArray[np.bool_], How], ...] = ((~long, how), (long, "separate"))
        for mine, own in parts:
            if len(rows := np.flatnonzero(mine)):
                part = decode(model, _rows(states, rows, n_words), n_words[rows], how=own)
                found |= dict(zip(rows.tolist(), part, strict=True))
        return [found[row] for row in range(len(n_words))]
    arcs = states.arcs.float()
    phrases: list[list[LabelledSpan]] | list[None] = [None] * len(n_words)
    if how == "dependencies":
        heads = torch.from_numpy(decode_heads(arcs.cpu().numpy(), n_words)).to(arcs.device)
    else:
        heads, phrases = _with_phrases(model, states, arcs, n_words, jointly=how == "joint")
    relations = model.relation_scores(states, heads)
    relations = _root_relation_at_root(relations, heads, model.config.labels["relations"])
    chosen = arcs.softmax(-1).gather(-1, heads.unsqueeze(-1)).squeeze(-1)
    probabilities = chosen.cpu().numpy()
    heads_found, relations_found, upos, xpos = (
        labels.cpu().numpy()
        for labels in (heads, relations.argmax(-1), states.upos.argmax(-1), states.xpos.argmax(-1))
    )
    return [
        Codes(
            heads=heads_found[row, :length],
            relations=relations_found[row, :length],
            upos=upos[row, :length],
            xpos=xpos[row, :length],
            probabilities=probabilities[row, :length],
            phrases=phrases[row],
        )
        for row, length in enumerate(n_words)
    ]


def _rows(states: WordStates, rows: NDArray[np.intp], n_words: NDArray[np.int64]) -> WordStates:
    """The scores of some sentences, without the padding for others."""
    n, chosen = int(n_words[rows].max()), torch.from_numpy(rows).to(states.arcs.device)
    return WordStates(
        arcs=states.arcs[chosen, :n, : n + 1],
        heads=states.heads[chosen, : n + 1],
        dependents=states.dependents[chosen, :n],
        upos=states.upos[chosen, :n],
        xpos=states.xpos[chosen, :n],
        posts=None if states.posts is None else states.posts[chosen, : n + 1],
    )


def _with_phrases(
    model: ParserModel,
    states: WordStates,
    arcs: Tensor,
    n_words: NDArray[np.int64],
    *,
    jointly: bool,
) -> tuple[Tensor, list[list[LabelledSpan]]]:
    assert model.spans is not None
    assert states.posts is not None
    lengths = torch.from_numpy(n_words).to(arcs.device)
    best = model.spans.best_labels(states.posts, lengths)
    if jointly:
        share = model.head.span_share
        spans, heads = best_joint_trees(share * best.scores, (1 - share) * arcs, lengths)
    else:
        spans = best_spans(best.scores, lengths)
        heads = torch.from_numpy(decode_heads(arcs.cpu().numpy(), n_words)).to(arcs.device)
    return heads, _phrases(spans, best.labels, len(n_words), model.config.labels["constituents"])


def _phrases(
    spans: ChartSpans, labels: Tensor, batch: int, names: list[str]
) -> list[list[LabelledSpan]]:
    """The spans that have a label, by sentence."""
    codes = labels[spans.rows, spans.starts, spans.ends]
    phrases: list[list[LabelledSpan]] = [[] for _ in range(batch)]
    columns = (*spans, codes)
    kept = [column[codes > 0].tolist() for column in columns]
    for row, start, end, code in zip(*kept, strict=True):
        phrases[row].append(LabelledSpan(start, end, names[code - 1]))
    return phrases


def _root_relation_at_root(relations: Tensor, heads: Tensor, names: list[str]) -> Tensor:
    """Scores in which the root, and only the root, has the relation ``root``."""
    if "root" not in names:
        return relations
    at_root = (heads == 0).unsqueeze(-1)
    is_root = torch.arange(len(names), device=heads.device) == names.index("root")
    return relations.masked_fill(at_root != is_root, -torch.inf)
