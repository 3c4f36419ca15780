"""One or two texts in one sequence, cut into windows together with their syntax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma.errors import InputError
from syntagma.syntax.encode import EncodedText
from syntagma.syntax.tags import PAD, SPE

__all__ = ["COLUMNS", "PieceSequence", "SequenceBuilder", "collate", "window_starts"]

IntArray = NDArray[np.int32]

COLUMNS = ("enter", "exit", "point", "depth", "sentence", "word", "tag")
"""Names of the syntax tensors of a batch."""

_FILL = {"depth": 0, "sentence": -1, "word": -1, "tag": SPE}


@dataclass(frozen=True, slots=True, eq=False)
class PieceSequence:
    """What the encoder reads, special pieces included; all columns are ``[n_pieces]``.

    Args:
        input_ids: ids of the pieces.
        token_type_ids: which text a piece belongs to, as the encoder counts them.
        text: 0 or 1 for pieces of the first or second text, −1 for special ones.
        piece: index of each piece in its text, −1 for special ones.
        syntax: the columns named in :data:`COLUMNS`; empty where the texts were not parsed.
    """

    input_ids: IntArray
    token_type_ids: IntArray
    text: IntArray
    piece: IntArray
    syntax: dict[str, IntArray]

    def __len__(self) -> int:
        return len(self.input_ids)


def window_starts(n_pieces: int, size: int, stride: int) -> list[int]:
    """Where the windows over a text begin; the last one ends with the text.

    Args:
        n_pieces: of the text.
        size: pieces of a window.
        stride: pieces by which a window advances.

    >>> window_starts(10, 4, 3), window_starts(3, 4, 3)
    ([0, 3, 6], [0])
    """
    starts = [0]
    while starts[-1] + size < n_pieces:
        starts.append(starts[-1] + stride)
    return starts


class SequenceBuilder:
    """Puts texts between the special pieces that an encoder expects.

    Args:
        tokenizer: the encoder's tokenizer; how it joins one or two texts is found by trying.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.pad_id = int(tokenizer.pad_token_id or 0)
        self._one = _template(tokenizer, ("a",))
        self._two = _template(tokenizer, ("a", "b"))

    @property
    def prefix(self) -> IntArray:
        """Special pieces before the first of two texts."""
        return self._two[0][0]

    def n_special(self, n_texts: int) -> int:
        """Special pieces around one or two texts."""
        specials, _ = self._one if n_texts == 1 else self._two
        return sum(map(len, specials))

    def build(self, parts: Sequence[tuple[EncodedText, int, int]]) -> PieceSequence:
        """A sequence of parts of one or two texts.

        Args:
            parts: each a text with the first and the end of the pieces that are taken.
        """
        specials, types = self._one if len(parts) == 1 else self._two
        ids: list[IntArray] = []
        text: list[IntArray] = []
        piece: list[IntArray] = []
        token_types: list[IntArray] = []
        for number, special in enumerate(specials):
            ids.append(special)
            text.append(np.full(len(special), -1, np.int32))
            piece.append(np.full(len(special), -1, np.int32))
            token_types.append(types[2 * number])
            if number < len(parts):
                encoded, begin, end = parts[number]
                ids.append(encoded.pieces[begin:end])
                text.append(np.full(end - begin, number, np.int32))
                piece.append(np.arange(begin, end, dtype=np.int32))
                token_types.append(np.full(end - begin, types[2 * number + 1][0], np.int32))
        return PieceSequence(
            np.concatenate(ids),
            np.concatenate(token_types),
            np.concatenate(text),
            np.concatenate(piece),
            self._syntax(parts, [len(special) for special in specials]),
        )

    @staticmethod
    def _syntax(
        parts: Sequence[tuple[EncodedText, int, int]], n_specials: list[int]
    ) -> dict[str, IntArray]:
        if any(encoded.syntax is None for encoded, _, _ in parts):
            return {}
        length = sum(n_specials) + sum(end - begin for _, begin, end in parts)
        place = np.arange(length, dtype=np.int32)
        # A piece without a word stands alone, in an interval below zero that no other touches.
        columns = {name: np.full(length, fill, np.int32) for name, fill in _FILL.items()}
        columns |= {"enter": -1 - place, "exit": -place, "point": -1 - place}
        position, shift, words, sentences = n_specials[0], 0, 0, 0
        for (encoded, begin, end), n_special in zip(parts, n_specials[1:], strict=True):
            assert encoded.syntax is not None
            source = encoded.syntax.columns()
            has_word = source["word"][begin:end] >= 0
            target = np.flatnonzero(has_word) + position
            shifts = {
                "enter": shift,
                "exit": shift,
                "point": shift,
                "word": words,
                "sentence": sentences,
            }
            for name, column in columns.items():
                column[target] = source[name][begin:end][has_word] + shifts.get(name, 0)
            position += end - begin + n_special
            shift += encoded.span
            words += encoded.n_words
            sentences += encoded.n_sentences
        return columns


def _template(tokenizer: Any, texts: tuple[str, ...]) -> tuple[list[IntArray], list[IntArray]]:
    """Special pieces before, between and after texts, and the token types of every stretch."""
    encoding = tokenizer(*texts, return_special_tokens_mask=True, return_token_type_ids=True)
    ids = np.array(encoding["input_ids"], np.int32)
    special = np.array(encoding["special_tokens_mask"], bool)
    types = np.array(encoding["token_type_ids"], np.int32)
    sequence = encoding.sequence_ids()
    specials, stretches, begin = [], [], 0
    for number in range(len(texts)):
        places = [place for place, owner in enumerate(sequence) if owner == number]
        specials.append(ids[begin : places[0]])
        stretches += [types[begin : places[0]], types[places[0] : places[-1] + 1]]
        begin = places[-1] + 1
    if not special[begin:].all():
        raise InputError(f"{type(tokenizer).__name__} joins texts in a way that is not understood")
    return [*specials, ids[begin:]], [*stretches, types[begin:]]


def collate(sequences: Sequence[PieceSequence], *, pad_id: int) -> dict[str, Tensor]:
    """One padded batch.

    Returns:
        ``input_ids``, ``attention_mask``, ``token_type_ids`` and, where the texts were parsed,
        the syntax tensors of :data:`COLUMNS`, each ``[batch, n_pieces]``.
    """
    shape = (len(sequences), max(map(len, sequences)))
    place = np.broadcast_to(np.arange(shape[1], dtype=np.int32), shape)
    fills: dict[str, Any] = {"input_ids": pad_id, "attention_mask": 0, "token_type_ids": 0}
    if sequences[0].syntax:
        fills |= _FILL | {"tag": PAD, "enter": -1 - place, "exit": -place, "point": -1 - place}
    batch = {name: np.empty(shape, np.int32) for name in fills}
    for name, fill in fills.items():
        batch[name][:] = fill
    for row, sequence in enumerate(sequences):
        length = len(sequence)
        batch["input_ids"][row, :length] = sequence.input_ids
        batch["token_type_ids"][row, :length] = sequence.token_type_ids
        batch["attention_mask"][row, :length] = 1
        for name, column in sequence.syntax.items():
            batch[name][row, :length] = column
    tensors = {name: torch.from_numpy(array) for name, array in batch.items()}
    for name in ("input_ids", "attention_mask", "token_type_ids"):
        tensors[name] = tensors[name].long()
    return tensors
