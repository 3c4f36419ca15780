"""Attention between words, of one model or of several."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from syntagma.analysis.attention.observation import Look, Shown, word_places
from syntagma.drawing.attention_svg import AttentionMatrix
from syntagma.errors import InputError
from syntagma.text.alignment import word_attention

__all__ = ["GUIDED", "attention_matrices", "attention_matrix"]

GUIDED = "guided"
"""The layer that ancestor attention adds."""


def attention_matrix(
    seen: Look, shown: Shown, *, layer: int | str | None = None, head: int | None = None
) -> AttentionMatrix:
    """The attention between some words in one layer.

    The attention to a word is the sum over its pieces, that from a word the mean over its pieces.

    Args:
        seen: a model.
        shown: the words.
        layer: of the encoder, from 1, or ``guided``; the last one, the guided one where there is
            one, if not given.
        head: from 1; the mean over all heads if not given.

    Raises:
        InputError: there is no such layer or head.
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
    seen: Sequence[Look], shown: Shown, *, layer: int | str | None = None, head: int | None = None
) -> list[AttentionMatrix]:
    """The attention of several models over the same words.

    A guided model that stands alone has its encoder's last layer beside the guided one where no
    layer is named.

    Args:
        seen: the models.
        shown: as for :func:`attention_matrix`, and so are the others.
        layer: of each.
        head: of each.

    Raises:
        InputError: there is no such layer or head.
    """
    found = []
    for each in seen:
        if len(seen) == 1 and layer is None and each.observed.guided:
            last = len(each.observed.layers)
            found.append(attention_matrix(each, shown, layer=last, head=head))
        found.append(attention_matrix(each, shown, layer=layer, head=head))
    return found


def _layer(seen: Look, layer: int | str | None) -> tuple[torch.Tensor, str]:
    """The weights of a layer, ``[1, n_heads, n, n]``, and what it is called."""
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
