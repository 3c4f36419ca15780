"""Align words with an encoder's subword pieces by character offsets.

This is the only place that maps words to pieces.  A piece belongs to the word with which it shares
the most characters, ties going to the first; a piece without a word (special tokens, padding) maps
to :data:`ABSENT`.  A word may have several pieces, or none if the tokenizer drops its characters or
a piece covers two words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from syntagma.errors import InputError
from syntagma.text.limits import READ_CHARACTERS, long_words
from syntagma.text.special_tokens import TOKENIZER_STATE, special_tokens

ABSENT = -100
"""Index of a piece without a word, and of a word without a piece."""

Pooling = Literal["first", "last", "mean"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


def require_offsets(tokenizer: Any) -> None:
    """Check that a tokenizer reports the character offsets of its pieces.

    Raises:
        InputError: the tokenizer is not a fast tokenizer.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise InputError(
            f"{type(tokenizer).__name__} has no character offsets; use a fast tokenizer "
            f"(a model folder with tokenizer.json, or AutoTokenizer with use_fast=True)"
        )


def encodable(text: str) -> str:
    """Replace each unpaired surrogate with ``?``, keeping all character offsets.

    Tokenizers need valid UTF-8.  Unpaired surrogates come from truncated JSON strings and from
    undecodable file names.
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


class Pieces(NamedTuple):
    """The pieces of a text.

    Args:
        ids: vocabulary ids, ``[n_pieces]``.
        offsets: start and end of each piece in characters, ``[n_pieces, 2]``.
    """

    ids: IntArray
    offsets: IntArray


def cut(tokenizer: Any, texts: Sequence[str]) -> list[Pieces]:
    """Tokenize whole texts into pieces, without special tokens, truncation or padding.

    A text that spells a special token, such as ``[SEP]``, gets ordinary pieces for it.  Of a long
    word (:mod:`syntagma.text.limits`), only the first pieces are kept; the last of them covers the
    rest of the word.

    Args:
        tokenizer: a fast tokenizer.
        texts: texts without unpaired surrogates; see :func:`encodable`.

    Returns:
        The pieces of each text.

    Raises:
        InputError: the tokenizer crashes on a text, or lacks the token for unknown characters.
    """
    # Call the Rust backend directly; `__call__` would convert every encoding to Python lists.
    # These three are state of the backend, left on by any earlier call that used them.
    with TOKENIZER_STATE:
        backend = tokenizer.backend_tokenizer
        # Only where it must: a backend with which another thread encodes cannot be changed.
        if backend.truncation is not None:
            backend.no_truncation()
        if backend.padding is not None:
            backend.no_padding()
        if not backend.encode_special_tokens:
            backend.encode_special_tokens = True
    try:
        encodings: list[Any] = backend.encode_batch(texts, add_special_tokens=False)
    except BaseException as error:
        # Rust's own errors have no class of their own.
        if not is_panic(error) and type(error) is not Exception:
            raise
        raise InputError(
            f"the tokenizer cannot read a text ({str(error)[:200]}); use the tokenizer of the "
            f"published encoder"
        ) from error
    special = special_tokens(tokenizer)
    return [
        _read(special.replaced(encoding.ids, encoding.offsets, text) or encoding, text)
        for encoding, text in zip(encodings, texts, strict=True)
    ]


def _read(encoding: Any, text: str) -> Pieces:
    """Return the pieces of a text that encoders read."""
    pieces = Pieces(
        np.asarray(encoding.ids, np.int64), np.asarray(encoding.offsets, np.int64).reshape(-1, 2)
    )
    long = long_words(text)
    if not long:
        return pieces
    starts, ends = np.array(long).T
    # Offsets ascend, so the pieces of a word are a slice: its first one to the first of the next.
    firsts = np.searchsorted(pieces.offsets[:, 1], starts, side="right")
    unread = np.searchsorted(pieces.offsets[:, 0], starts + READ_CHARACTERS)
    beyond = np.searchsorted(pieces.offsets[:, 0], ends)
    # A word that is a single piece (an unknown one, as a rule) is kept.
    unread = np.minimum(np.maximum(unread, firsts + 1), beyond)
    offsets = pieces.offsets.copy()
    kept = np.ones(len(offsets), np.bool_)
    for end, first, from_, to in zip(ends, firsts, unread, beyond, strict=True):
        if first < from_ <= to:
            offsets[from_ - 1, 1] = max(end, offsets[from_ - 1, 1])
            kept[from_:to] = False
    return Pieces(pieces.ids[kept], offsets[kept])


def is_panic(error: BaseException) -> bool:
    """Whether an exception is a crash inside ``tokenizers``, which is not an ``Exception``.

    One cause is a pattern in ``tokenizer.json`` that backtracks too long.
    """
    return type(error).__name__ == "PanicException"


def align(
    word_starts: ArrayLike, word_ends: ArrayLike, piece_starts: ArrayLike, piece_ends: ArrayLike
) -> IntArray:
    """Find the word of each piece.

    To align many texts in one call, shift the offsets of each text past the end of the previous
    one.

    Args:
        word_starts: start offset of each word, ascending, ``[n_words]``.
        word_ends: end offset of each word, ascending, ``[n_words]``.
        piece_starts: start offset of each piece, ``[n_pieces]``.
        piece_ends: end offset of each piece, ``[n_pieces]``; equal to its start for a piece that
            covers no text.

    Returns:
        Index of the word of each piece, ``[n_pieces]``; :data:`ABSENT` if it overlaps no word.

    >>> align([0, 2], [2, 5], [0, 0, 2, 3, 0], [0, 2, 3, 5, 0]).tolist()  # [CLS] do n ##'t [SEP]
    [-100, 0, 1, 1, -100]
    """
    word_start, word_end = np.asarray(word_starts, np.int64), np.asarray(word_ends, np.int64)
    start, end = np.asarray(piece_starts, np.int64), np.asarray(piece_ends, np.int64)
    words = np.full(start.shape, ABSENT, np.int64)
    # A piece overlaps the words in `first:beyond`.
    first = np.searchsorted(word_end, start, side="right")
    beyond = np.searchsorted(word_start, end, side="left")
    overlaps = (end > start) & (first < beyond)
    words[overlaps] = first[overlaps]
    # Pieces over several words are rare (mostly clitics), so a loop over them is cheap.
    for piece in np.flatnonzero(overlaps & (beyond - first > 1)):
        candidates = slice(first[piece], beyond[piece])
        shared = np.minimum(word_end[candidates], end[piece]) - np.maximum(
            word_start[candidates], start[piece]
        )
        words[piece] = first[piece] + int(np.argmax(shared))
    return words


def first_pieces(word_of_piece: ArrayLike, n_words: int) -> IntArray:
    """Find the first piece of each word.

    Args:
        word_of_piece: index of the word of each piece, ``[n_pieces]``, negative if it has none.
        n_words: number of words.

    Returns:
        Index of the first piece of each word, ``[n_words]``; :data:`ABSENT` for words without
        pieces.

    >>> first_pieces([-100, 0, 0, 2, -100], 3).tolist()
    [1, -100, 3]
    """
    words = np.asarray(word_of_piece, np.int64)
    pieces = np.flatnonzero(words >= 0)[::-1]
    first = np.full(n_words, ABSENT, np.int64)
    first[words[pieces]] = pieces  # in reverse order, so that the first piece is written last
    return first


def pool(states: Tensor, word_of_piece: Tensor, n_words: int, *, how: Pooling = "first") -> Tensor:
    """Pool piece vectors into one vector per word.

    Args:
        states: vectors of the pieces, ``[batch, n_pieces, width]``.
        word_of_piece: index of the word of each piece, ``[batch, n_pieces]``, negative if it has
            none.
        n_words: the largest number of words in the batch.
        how: take the ``first`` or ``last`` piece of a word, or the ``mean`` over its pieces.

    Returns:
        Vectors of the words, ``[batch, n_words, width]``; zeros for words without pieces.
    """
    if how not in get_args(Pooling):
        raise InputError(f"pooling must be 'first', 'last' or 'mean', got {how!r}")
    batch, _, width = states.shape
    present = word_of_piece >= 0
    if how != "mean":
        # Pieces of a word are adjacent, so its first and last piece are where the index changes.
        kept, sides = (slice(None, -1), (1, 0)) if how == "first" else (slice(1, None), (0, 1))
        neighbour = torch.nn.functional.pad(word_of_piece[:, kept], sides, value=ABSENT)
        present = present & (word_of_piece != neighbour)
    # An extra row `n_words` absorbs ignored pieces, so that shapes stay static.
    target = torch.where(present, word_of_piece, n_words)
    if how != "mean":
        return _chosen_pieces(states, target, n_words)
    words = states.new_zeros(batch, n_words + 1, width)
    words.scatter_add_(1, target.unsqueeze(-1).expand(-1, -1, width), states)
    counts = states.new_zeros(batch, n_words + 1)
    counts.scatter_add_(1, target, torch.ones_like(target, dtype=states.dtype))
    return words[:, :n_words] / counts[:, :n_words].clamp(min=1).unsqueeze(-1)


def _chosen_pieces(states: Tensor, word_of_piece: Tensor, n_words: int) -> Tensor:
    """Return the vector of the one piece of each word; zeros for words that have none.

    Copying whole rows takes a tenth of the time of adding them up number by number.

    Args:
        states: vectors of the pieces, ``[batch, n_pieces, width]``.
        word_of_piece: word of each piece, ``n_words`` for pieces that are ignored,
            ``[batch, n_pieces]``.
        n_words: the largest number of words in the batch.
    """
    batch, n_pieces, width = states.shape
    number = torch.arange(batch * n_pieces, device=states.device).view(batch, n_pieces)
    pieces = torch.full((batch, n_words + 1), ABSENT, device=states.device)
    pieces = pieces.scatter(1, word_of_piece, number)[:, :n_words]
    words = states.reshape(-1, width).index_select(0, pieces.clamp(min=0).flatten())
    return words.view(batch, n_words, width).masked_fill((pieces < 0).unsqueeze(-1), 0)


def spread(word_values: ArrayLike, word_of_piece: ArrayLike, *, fill: int = ABSENT) -> IntArray:
    """Copy a value of each word to all of its pieces.

    Args:
        word_values: value of each word, ``[n_words]``.
        word_of_piece: index of the word of each piece, ``[n_pieces]``, negative if it has none.
        fill: value for pieces without a word.

    Returns:
        Value of each piece, ``[n_pieces]``.

    >>> spread([7, 8], [-100, 0, 0, 1, -100]).tolist()
    [-100, 7, 7, 8, -100]
    """
    values, words = np.asarray(word_values, np.int64), np.asarray(word_of_piece, np.int64)
    if not len(values):
        return np.full(words.shape, fill, np.int64)
    return np.where(words >= 0, values[np.maximum(words, 0)], fill)


def word_attention(weights: ArrayLike, word_of_piece: ArrayLike, n_words: int) -> FloatArray:
    """Aggregate attention between pieces into attention between words.

    Attention to a word is the sum over its pieces; attention from a word is the mean over its
    pieces.  A row thus sums to 1 minus the attention paid to pieces without a word.

    Args:
        weights: attention from each piece (row) to each piece, ``[n_pieces, n_pieces]``.
        word_of_piece: index of the word of each piece, ``[n_pieces]``, negative if it has none.
        n_words: number of words.

    Returns:
        Attention from each word (row) to each word, ``[n_words, n_words]``; zeros for words
        without pieces.

    >>> word_attention([[0.5, 0.5, 0], [0.1, 0.4, 0.5], [0, 0, 1]], [0, 0, 1], 2).tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """
    words = np.asarray(word_of_piece, np.int64)
    member = (words == np.arange(n_words)[:, None]).astype(np.float64)  # [n_words, n_pieces]
    counts = np.maximum(member.sum(1, keepdims=True), 1)
    between_words: FloatArray = member @ np.asarray(weights, np.float64) @ member.T / counts
    return between_words
