"""The one map between words and an encoder's word pieces, by character intervals.

A piece belongs to the word that it shares most characters with (the first of equals); a piece
without a word (special tokens, padding) has :data:`ABSENT`.  A word may own several pieces, or
none, where a tokenizer drops its characters or one piece covers two words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from syntagma.errors import InputError

__all__ = [
    "ABSENT",
    "Pooling",
    "align",
    "cut",
    "encodable",
    "first_pieces",
    "pool",
    "require_offsets",
    "spread",
    "word_attention",
]

ABSENT = -100
"""Marks a piece without a word, and a word without a piece."""

Pooling = Literal["first", "mean"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


def require_offsets(tokenizer: Any) -> None:
    """Check that a tokenizer can say which characters a piece stands for.

    Raises:
        InputError: it is not a fast tokenizer.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise InputError(
            f"{type(tokenizer).__name__} gives no character offsets; use a fast tokenizer "
            f"(a model folder with tokenizer.json, or AutoTokenizer with use_fast=True)"
        )


def encodable(text: str) -> str:
    """The text with ``?`` for each lone half of a surrogate pair; offsets stay.

    Tokenizers cannot hold such halves; they occur where JSON or file names were cut.
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def cut(tokenizer: Any, texts: Sequence[str]) -> list[Any]:
    """Each text as pieces, whole, without special ones; as ``tokenizers`` gives them.

    Whoever calls the tokenizer with a length or with padding leaves both switched on.

    Args:
        tokenizer: a fast tokenizer.
        texts: encodable ones.
    """
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    encodings: list[Any] = backend.encode_batch(texts, add_special_tokens=False)
    return encodings


def align(
    word_starts: ArrayLike, word_ends: ArrayLike, piece_starts: ArrayLike, piece_ends: ArrayLike
) -> IntArray:
    """Index of the word of each piece.

    Many texts are aligned in one call by shifting each text's offsets past the text before.

    Args:
        word_starts: ``[n_words]``, in order.
        word_ends: ``[n_words]``, in order.
        piece_starts: ``[n_pieces]``.
        piece_ends: ``[n_pieces]``; an empty interval stands for no text.

    Returns:
        ``[n_pieces]``, :data:`ABSENT` where a piece touches no word.

    >>> align([0, 2], [2, 5], [0, 0, 2, 3, 0], [0, 2, 3, 5, 0]).tolist()  # [CLS] do n ##'t [SEP]
    [-100, 0, 1, 1, -100]
    """
    word_start, word_end = np.asarray(word_starts, np.int64), np.asarray(word_ends, np.int64)
    start, end = np.asarray(piece_starts, np.int64), np.asarray(piece_ends, np.int64)
    words = np.full(start.shape, ABSENT, np.int64)
    # The words that a piece touches are those from `first` up to, not including, `beyond`.
    first = np.searchsorted(word_end, start, side="right")
    beyond = np.searchsorted(word_start, end, side="left")
    touches = (end > start) & (first < beyond)
    words[touches] = first[touches]
    for piece in np.flatnonzero(touches & (beyond - first > 1)):
        candidates = slice(first[piece], beyond[piece])
        shared = np.minimum(word_end[candidates], end[piece]) - np.maximum(
            word_start[candidates], start[piece]
        )
        words[piece] = first[piece] + int(np.argmax(shared))
    return words


def first_pieces(word_of_piece: ArrayLike, n_words: int) -> IntArray:
    """Index of the first piece of each word, ``[n_words]``; :data:`ABSENT` for words without.

    >>> first_pieces([-100, 0, 0, 2, -100], 3).tolist()
    [1, -100, 3]
    """
    words = np.asarray(word_of_piece, np.int64)
    pieces = np.flatnonzero(words >= 0)[::-1]
    first = np.full(n_words, ABSENT, np.int64)
    first[words[pieces]] = pieces  # the last assignment, that of the first piece, stays
    return first


def pool(states: Tensor, word_of_piece: Tensor, n_words: int, *, how: Pooling = "first") -> Tensor:
    """One vector a word from the vectors of its pieces.

    Args:
        states: ``[batch, n_pieces, width]``.
        word_of_piece: ``[batch, n_pieces]``, negative where a piece has no word.
        n_words: the largest number of words in the batch.
        how: the word's ``first`` piece, or the ``mean`` of its pieces.

    Returns:
        ``[batch, n_words, width]``; zeros for words without pieces.
    """
    if how not in ("first", "mean"):
        raise InputError(f"pooling must be 'first' or 'mean', got {how!r}")
    batch, _, width = states.shape
    present = word_of_piece >= 0
    if how == "first":
        previous = torch.nn.functional.pad(word_of_piece[:, :-1], (1, 0), value=ABSENT)
        present = present & (word_of_piece != previous)
    # Row `n_words` collects the pieces that do not count.
    target = torch.where(present, word_of_piece, n_words)
    words = states.new_zeros(batch, n_words + 1, width)
    words.scatter_add_(1, target.unsqueeze(-1).expand(-1, -1, width), states)
    words = words[:, :n_words]
    if how == "mean":
        counts = states.new_zeros(batch, n_words + 1)
        counts.scatter_add_(1, target, torch.ones_like(target, dtype=states.dtype))
        words = words / counts[:, :n_words].clamp(min=1).unsqueeze(-1)
    return words


def spread(word_values: ArrayLike, word_of_piece: ArrayLike, *, fill: int = ABSENT) -> IntArray:
    """Give each piece the value of its word.

    Args:
        word_values: ``[n_words]``.
        word_of_piece: ``[n_pieces]``.
        fill: the value for pieces without a word.

    Returns:
        ``[n_pieces]``.

    >>> spread([7, 8], [-100, 0, 0, 1, -100]).tolist()
    [-100, 7, 7, 8, -100]
    """
    values, words = np.asarray(word_values, np.int64), np.asarray(word_of_piece, np.int64)
    if not len(values):
        return np.full(words.shape, fill, np.int64)
    return np.where(words >= 0, values[np.maximum(words, 0)], fill)


def word_attention(weights: ArrayLike, word_of_piece: ArrayLike, n_words: int) -> FloatArray:
    """Attention between words from attention between their pieces.

    The attention to a word is the sum over its pieces, that from a word the mean over its pieces,
    so that a row still sums to 1 together with what goes to pieces without a word.

    Args:
        weights: from each piece to each piece, ``[n_pieces, n_pieces]``.
        word_of_piece: ``[n_pieces]``, negative where a piece has no word.
        n_words: how many there are.

    Returns:
        ``[n_words, n_words]``; zeros for words without pieces.

    >>> word_attention([[0.5, 0.5, 0], [0.1, 0.4, 0.5], [0, 0, 1]], [0, 0, 1], 2).tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """
    words = np.asarray(word_of_piece, np.int64)
    member = (words == np.arange(n_words)[:, None]).astype(np.float64)  # [n_words, n_pieces]
    counts = np.maximum(member.sum(1, keepdims=True), 1)
    found: FloatArray = member @ np.asarray(weights, np.float64) @ member.T / counts
    return found
