"""What the guided layer of a reader attended to, word by word, for pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from syntagma.syntax.encode import EncodedText
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.windows import SpanWindow
from syntagma.text.alignment import word_attention

__all__ = ["ancestor_weights"]


@torch.inference_mode()
def ancestor_weights(
    reader: Reader, passage: str, question: str, rows: Sequence[Sequence[int]]
) -> list[list[float]]:
    """The weights of a guided reader's attention from each word of a passage to some words.

    The mean over the heads of the last guided layer; the weight of a word is the sum over its
    pieces, that from a word the mean over its pieces.

    Args:
        reader: must read syntax.
        passage: the text.
        question: asked of it.
        rows: for each word of the passage the words to look at, numbered from 0 over the whole
            passage, ``[n_words][…]``.

    Returns:
        A weight for each word in ``rows``; a word without a piece of its own gives all weight to
        itself, the first of its row.
    """
    texts = reader.texts.encode([passage, question])
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
    assert passage.syntax is not None
    batch = reader.batch([window])
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
