"""Decode a batch of scores into heads, relations, tags and phrases."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma.parse.constituency import ChartSpans, best_spans
from syntagma.parse.dependency import decode_heads
from syntagma.parse.joint import MAX_JOINT_WORDS, best_joint_trees
from syntagma.parse.phrases import LabelledSpan
from syntagma.parse.scorer import ParserModel, WordStates
from syntagma.parse.validity.punctuation import attach_punctuation
from syntagma.parse.validity.relations import choose_relations
from syntagma.parse.validity.rules import CROSSING, rules_for
from syntagma.text.alignment import ABSENT
from syntagma.text.morphology import UNKNOWN

DecodingMode = Literal["dependencies", "separate", "joint"]
"""Decode dependencies only, phrases separately as well, or both jointly as one tree."""


class DecodedSentence(NamedTuple):
    """The decoded labels of one sentence.

    Args:
        heads: 1-based, 0 for the root, ``[n_words]``.
        relations: label codes, ``[n_words]``.
        upos: label codes, ``[n_words]``.
        xpos: label codes, ``[n_words]``.
        probabilities: probability of each arc, ``[n_words]``.
        phrases: labelled spans; ``None`` if no phrases were decoded.
        feats: label codes, ``[n_words]``; ``None`` from a parser that predicts none.
        lemmas: codes of edit scripts, :data:`syntagma.text.alignment.ABSENT` for later parts of an
            interrupted word, ``[n_words]``; ``None`` from a parser that predicts none.
    """

    heads: NDArray[np.int64]
    relations: NDArray[np.int64]
    upos: NDArray[np.int64]
    xpos: NDArray[np.int64]
    probabilities: NDArray[np.float32]
    phrases: list[LabelledSpan] | None
    feats: NDArray[np.int64] | None = None
    lemmas: NDArray[np.int64] | None = None


def decode(
    model: ParserModel, states: WordStates, n_words: NDArray[np.int64], *, mode: DecodingMode
) -> list[DecodedSentence]:
    """Decode each sentence of a batch.

    In mode ``joint``, sentences longer than :data:`syntagma.parse.joint.MAX_JOINT_WORDS` words are
    decoded separately, because a joint chart grows with the cube of the length.

    Args:
        model: the model that computed the scores.
        states: the scores.
        n_words: number of words of each sentence, at least 1, ``[batch]``.
        mode: what to decode.
    """
    is_long = n_words > MAX_JOINT_WORDS
    if mode == "joint" and is_long.any():
        decoded: dict[int, DecodedSentence] = {}
        groups: tuple[tuple[NDArray[np.bool_], DecodingMode], ...] = (
            (~is_long, "joint"),
            (is_long, "separate"),
        )
        for in_group, group_mode in groups:
            if len(rows := np.flatnonzero(in_group)):
                selected = _select(states, rows, n_words)
                group = decode(model, selected, n_words[rows], mode=group_mode)
                decoded |= dict(zip(rows.tolist(), group, strict=True))
        return [decoded[row] for row in range(len(n_words))]
    arcs, labels = states.arcs.float(), model.config.labels
    upos, xpos, feats, lemmas = (
        None if scores is None else best_codes(scores)
        for scores in (states.upos, states.xpos, states.feats, states.lemmas)
    )
    assert upos is not None
    assert xpos is not None
    inside = np.arange(arcs.shape[1]) < n_words[:, None]
    rules = rules_for(
        *(tuple(labels.get(name, ())) for name in ("relations", "upos", "feats", "exceptions"))
    )
    is_punctuation = inside & (np.array(labels["upos"]) == "PUNCT")[upos]
    if CROSSING in rules.exceptions:
        is_punctuation[:] = False
    phrases: list[list[LabelledSpan]] | list[None] = [None] * len(n_words)
    if mode == "dependencies":
        heads = _dependencies(arcs, n_words, is_punctuation)
    else:
        heads, phrases = _with_phrases(
            model, states, arcs, n_words, is_punctuation, jointly=mode == "joint"
        )
    # Relations are scored for the decoded heads only, not for all pairs of words.
    padding = ~torch.from_numpy(inside).to(heads.device)
    relations = model.relation_scores(states, heads.masked_fill(padding, ABSENT))
    relations = _mask_root_relation(relations, heads, labels["relations"])
    arc_probabilities = arcs.softmax(-1).gather(-1, heads.unsqueeze(-1)).squeeze(-1)
    probabilities = arc_probabilities.cpu().numpy()
    head_indices = heads.cpu().numpy()
    relation_codes = choose_relations(
        relations.float().cpu().numpy(), head_indices, upos, feats, rules
    )
    rest = inside & rules.is_part[relation_codes]
    if rest.any():
        # An interrupted word has its lemma and features at its first part.
        if lemmas is not None:
            lemmas[rest] = ABSENT
        if feats is not None and UNKNOWN in labels["feats"]:
            feats[rest] = labels["feats"].index(UNKNOWN)
    return [
        DecodedSentence(
            heads=head_indices[row, :length],
            relations=relation_codes[row, :length],
            upos=upos[row, :length],
            xpos=xpos[row, :length],
            probabilities=probabilities[row, :length],
            phrases=phrases[row],
            feats=None if feats is None else feats[row, :length],
            lemmas=None if lemmas is None else lemmas[row, :length],
        )
        for row, length in enumerate(n_words)
    ]


def best_codes(scores: Tensor) -> NDArray[np.int64]:
    """Return the code of the highest score of each word.

    Args:
        scores: ``[batch, n_words, n_labels]``.

    Returns:
        ``[batch, n_words]``.
    """
    if scores.device.type == "cpu":
        # Up to ten times as fast as torch, most of all for scores in 16 bits.
        codes: NDArray[np.int64] = scores.float().numpy().argmax(-1)
        return codes
    return scores.argmax(-1).cpu().numpy()


def _select(states: WordStates, rows: NDArray[np.intp], n_words: NDArray[np.int64]) -> WordStates:
    """Select sentences of a batch, with only as much padding as these need."""
    n, index = int(n_words[rows].max()), torch.from_numpy(rows).to(states.arcs.device)
    return WordStates(
        arcs=states.arcs[index, :n, : n + 1],
        heads=states.heads[index, : n + 1],
        dependents=states.dependents[index, :n],
        upos=states.upos[index, :n],
        xpos=states.xpos[index, :n],
        posts=None if states.posts is None else states.posts[index, : n + 1],
        feats=None if states.feats is None else states.feats[index, :n],
        lemmas=None if states.lemmas is None else states.lemmas[index, :n],
    )


def _dependencies(
    arcs: Tensor, n_words: NDArray[np.int64], is_punctuation: NDArray[np.bool_]
) -> Tensor:
    """Decode heads on their own."""
    scores = arcs.cpu().numpy()
    heads = attach_punctuation(scores, decode_heads(scores, n_words), is_punctuation)
    return torch.from_numpy(heads).to(arcs.device)


def _with_phrases(
    model: ParserModel,
    states: WordStates,
    arcs: Tensor,
    n_words: NDArray[np.int64],
    is_punctuation: NDArray[np.bool_],
    *,
    jointly: bool,
) -> tuple[Tensor, list[list[LabelledSpan]]]:
    """Decode heads and phrases."""
    assert model.spans is not None
    assert states.posts is not None
    lengths = torch.from_numpy(n_words).to(arcs.device)
    best = model.spans.best_labels(states.posts, lengths)
    if jointly:
        share = model.head.span_share
        spans, heads = best_joint_trees(share * best.scores, (1 - share) * arcs, lengths)
    else:
        spans = best_spans(best.scores, lengths)
        heads = _dependencies(arcs, n_words, is_punctuation)
    names = model.config.labels["constituents"]
    return heads, _labelled_spans(spans, best.labels, len(n_words), names)


def _labelled_spans(
    spans: ChartSpans, labels: Tensor, batch: int, names: list[str]
) -> list[list[LabelledSpan]]:
    """Drop spans without a label and group the others by sentence."""
    codes = labels[spans.rows, spans.starts, spans.ends]
    phrases: list[list[LabelledSpan]] = [[] for _ in range(batch)]
    columns = [column[codes > 0].tolist() for column in (*spans, codes)]
    for row, start, end, code in zip(*columns, strict=True):
        phrases[row].append(LabelledSpan(start, end, names[code - 1]))
    return phrases


def _mask_root_relation(relations: Tensor, heads: Tensor, names: list[str]) -> Tensor:
    """Mask relation scores so that the root, and no other word, gets the relation ``root``."""
    if "root" not in names:
        return relations
    at_root = (heads == 0).unsqueeze(-1)
    is_root = torch.arange(len(names), device=heads.device) == names.index("root")
    return relations.masked_fill(at_root != is_root, -torch.inf)
