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

_FILL = {"enter": 0, "exit": 0, "point": 0, "depth": 0, "sentence": -1, "word": -1, "tag": SPE}


@dataclass(frozen=True, slots=True, eq=False)
class PieceSequence:
    """What the encoder reads, special pieces included; all columns are ``[n_pieces]``.

    Args:
        input_ids: ids of the pieces.
        token_type_ids: which text a piece belongs to, as the encoder counts them.
        syntax: the columns that the model reads; empty where it reads none.
    """

    input_ids: IntArray
    token_type_ids: IntArray
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
        columns: the syntax columns that the model reads.
    """

    def __init__(self, tokenizer: Any, *, columns: Sequence[str] = COLUMNS) -> None:
        self.pad_id = int(tokenizer.pad_token_id or 0)
        self.columns = tuple(columns)
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
        ids = [specials[0]]
        token_types = [types[0]]
        for number, (encoded, begin, end) in enumerate(parts):
            ids += [encoded.pieces[begin:end], specials[number + 1]]
            inside = np.full(end - begin, types[2 * number + 1][0], np.int32)
            token_types += [inside, types[2 * number + 2]]
        n_specials = [len(special) for special in specials]
        syntax = {name: self._column(name, parts, n_specials) for name in self.columns}
        return PieceSequence(np.concatenate(ids), np.concatenate(token_types), syntax)

    @staticmethod
    def _column(
        name: str, parts: Sequence[tuple[EncodedText, int, int]], n_specials: list[int]
    ) -> IntArray:
        """One column over all parts; what counts over texts goes on counting."""
        fill = _FILL[name]
        stretches = [np.full(n_specials[0], fill, np.int32)]
        shift = 0
        for (encoded, begin, end), n_special in zip(parts, n_specials[1:], strict=True):
            if encoded.syntax is None:
                raise InputError("this model reads syntax: encode its texts with their parses")
            column = getattr(encoded.syntax, name)[begin:end]
            if shift:
                column = np.where(encoded.syntax.word[begin:end] >= 0, column + shift, column)
            stretches += [column, np.full(n_special, fill, np.int32)]
            if name in ("enter", "exit", "point"):
                shift += encoded.span
            elif name == "word":
                shift += encoded.n_words
            elif name == "sentence":
                shift += encoded.n_sentences
        return np.concatenate(stretches)


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
        ``input_ids``, ``attention_mask``, ``token_type_ids`` and the syntax columns of the
        sequences, each ``[batch, n_pieces]``.
    """
    shape = (len(sequences), max(map(len, sequences)))
    fills = {"input_ids": pad_id, "attention_mask": 0, "token_type_ids": 0}
    fills |= {name: _FILL[name] for name in sequences[0].syntax}
    if "tag" in fills:
        fills["tag"] = PAD
    batch = {name: np.full(shape, fill, np.int32) for name, fill in fills.items()}
    for row, sequence in enumerate(sequences):
        length = len(sequence)
        batch["input_ids"][row, :length] = sequence.input_ids
        batch["token_type_ids"][row, :length] = sequence.token_type_ids
        batch["attention_mask"][row, :length] = 1
        for name, column in sequence.syntax.items():
            batch[name][row, :length] = column
    if "word" in batch:
        # A piece without a word stands alone, in an interval below zero that no other touches.
        place = np.arange(shape[1], dtype=np.int32)
        for name, value in (("enter", -1 - place), ("exit", -place), ("point", -1 - place)):
            if name in batch:
                batch[name] = np.where(batch["word"] >= 0, batch[name], value)
    tensors = {name: torch.from_numpy(array) for name, array in batch.items()}
    for name in ("input_ids", "attention_mask", "token_type_ids"):
        tensors[name] = tensors[name].long()
    return tensors
