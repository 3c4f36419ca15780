"""Compute attention between words from attention between pieces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from syntagma.analysis.attention.observation import Observation, Shown, word_places
from syntagma.drawing.attention_svg import AttentionMatrix
from syntagma.errors import InputError
from syntagma.syntax.encode import EncodedText
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.windows import SpanWindow
from syntagma.text.alignment import word_attention

GUIDED = "guided"
"""Name of the layer that ancestor attention adds."""


def attention_matrix(
    seen: Observation, shown: Shown, *, layer: int | str | None = None, head: int | None = None
) -> AttentionMatrix:
    """Compute the attention between the shown words in one layer.

    The attention to a word is the sum over its pieces; the attention from a word is the mean over
    its pieces.

    Args:
        seen: the observation of a model.
        shown: the words to show.
        layer: number of a layer of the encoder from 1, or ``guided``; defaults to the guided layer
            if there is one, otherwise to the last layer.
        head: number of a head from 1; defaults to the mean over all heads.

    Raises:
        InputError: the layer or head does not exist.
    """
    weights, where = _layer(seen, layer)
    n_heads = weights.shape[1]
    if head is None:
        chosen, which = weights[0].mean(0), f"mean of {n_heads} heads"
    elif 1 <= head <= n_heads:
        chosen, which = weights[0, head - 1], f"head {head} of {n_heads}"
    else:
        raise InputError(f"{seen.name}: expected a head from 1 to {n_heads}, got {head}")
    words = tuple(form for _, sentence in shown for form in sentence.forms)
    matrix = word_attention(chosen.float().cpu().numpy(), word_places(seen, shown), len(words))
    rows = tuple(tuple(round(value, 5) for value in row) for row in matrix.tolist())
    return AttentionMatrix(f"{seen.name}: {where}, {which}", words, words, rows)


def attention_matrices(
    seen: Sequence[Observation],
    shown: Shown,
    *,
    layer: int | str | None = None,
    head: int | None = None,
) -> list[AttentionMatrix]:
    """Compute the attention of several models between the same words.

    For a single guided model without a given layer, the encoder's last layer comes before the
    guided one.

    Args:
        seen: the observation of each model.
        shown: see :func:`attention_matrix`.
        layer: see :func:`attention_matrix`.
        head: see :func:`attention_matrix`.

    Raises:
        InputError: the layer or head does not exist.
    """
    found = []
    for each in seen:
        if len(seen) == 1 and layer is None and each.observed.guided:
            last = len(each.observed.layers)
            found.append(attention_matrix(each, shown, layer=last, head=head))
        found.append(attention_matrix(each, shown, layer=layer, head=head))
    return found


def _layer(seen: Observation, layer: int | str | None) -> tuple[torch.Tensor, str]:
    """Return the weights of a layer, ``[1, n_heads, n, n]``, and its name for a title."""
    observed = seen.observed
    if layer == GUIDED and not observed.guided:
        raise InputError(
            f"{seen.name}: has no guided layer (guides: "
            f"{', '.join(seen.predictor.model.config.guides) or 'none'}); give a layer from 1 to "
            f"{len(observed.layers)}"
        )
    if layer == GUIDED or (layer is None and observed.guided):
        return observed.guided[-1], "guided layer"
    n_layers = len(observed.layers)
    number = n_layers if layer is None else layer
    if not isinstance(number, int) or not 1 <= number <= n_layers:
        guided = f", or {GUIDED}" if observed.guided else ""
        raise InputError(f"{seen.name}: expected a layer from 1 to {n_layers}{guided}, got {layer}")
    return observed.layers[number - 1], f"layer {number} of {n_layers}"


@torch.inference_mode()
def ancestor_weights(
    reader: Reader, passage: str, question: str, rows: Sequence[Sequence[int]]
) -> list[list[float]]:
    """Compute the guided attention of a reader from each word of a passage to selected words.

    The weights are means over the heads of the last guided layer, summed and averaged over pieces
    as in :func:`attention_matrix`.

    Args:
        reader: a reader with ancestor attention.
        passage: the passage.
        question: the question.
        rows: for each word of the passage, itself and other words, as indices from 0 in the whole
            passage, ``[n_words][n_row]``.

    Returns:
        The weight of each word in ``rows``, ``[n_words][n_row]``.  A word that has no piece gives
        all weight to itself, the first of its row.
    """
    texts = reader.texts.encode([passage, question])
    # Windows overlap: keep the weights from the first window that contains a word.
    weights: dict[int, dict[int, float]] = {}
    for window in reader.maker.windows(0, texts[passage], texts[question]):
        for word, row in _rows_of_window(reader, window, texts[passage]).items():
            weights.setdefault(word, row)
    return [
        [weights[word].get(other, 0.0) for other in row]
        if word in weights
        else [1.0] + [0.0] * (len(row) - 1)
        for word, row in enumerate(rows)
    ]


def _rows_of_window(
    reader: Reader, window: SpanWindow, passage: EncodedText
) -> dict[int, dict[int, float]]:
    """Compute the weights from each word in a window to the others, by word of the passage."""
    assert passage.syntax is not None
    batch = reader.batch([window])
    # `context` is an input of the answer scores; `encode` does not take it.
    del batch["context"]
    attention = reader.model.encode(**batch, observe=True).observed["ancestor_attention"][-1]
    inside = slice(window.offset, window.offset + window.end - window.begin)
    matrix = attention[0].mean(0)[inside, inside].float().cpu().numpy()
    words = passage.syntax["word"][window.begin : window.end]
    there = np.unique(words[words >= 0])
    if not len(there):
        return {}
    first, last = int(there[0]), int(there[-1])
    table = word_attention(matrix, np.where(words >= 0, words - first, -1), last - first + 1)
    return {
        int(word): {
            first + int(other): float(table[word - first, other])
            for other in np.flatnonzero(table[word - first])
        }
        for word in there
    }
