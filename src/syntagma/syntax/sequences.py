"""One or two texts in one sequence, cut into windows together with their syntax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma.batches import padded_length
from syntagma.errors import InputError
from syntagma.syntax.encode import COLUMNS, EncodedText
from syntagma.syntax.tags import PAD, SPE

__all__ = ["DOMAIN", "Part", "SequenceBuilder", "fit_two", "window_starts"]

IntArray = NDArray[np.int32]

DOMAIN = "domain"
"""The column that tells two texts apart."""
_WORD = COLUMNS.index("word")
_FILL = {"enter": 0, "exit": 0, "word": -1, "sentence": -1, "depth": 0, "tag": SPE, "point": 0}


class Part(NamedTuple):
    """A stretch of a text in a sequence.

    Args:
        text: the whole text.
        begin: first piece that is taken.
        end: piece after the last.
    """

    text: EncodedText
    begin: int
    end: int

    def __len__(self) -> int:
        return self.end - self.begin


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


def fit_two(first: int, second: int, room: int) -> tuple[int, int]:
    """Lengths of two texts that fit together, pieces taken from the longer one first.

    Args:
        first: pieces of the first text.
        second: pieces of the second.
        room: pieces of both together.

    >>> fit_two(10, 3, 8), fit_two(10, 9, 8), fit_two(2, 3, 8)
    ((5, 3), (4, 4), (2, 3))
    """
    if first + second <= room:
        return first, second
    shorter = min(first, second, room // 2)
    longer = min(max(first, second), room - shorter)
    return (longer, shorter) if first >= second else (shorter, longer)


class SequenceBuilder:
    """Puts texts between the special pieces that an encoder expects.

    Args:
        tokenizer: the encoder's tokenizer; how it joins one or two texts is found by trying.
        columns: the syntax columns that the model reads, and ``domain`` if it reads that.
        longest: pieces that the encoder reads at most.
    """

    def __init__(self, tokenizer: Any, *, columns: Sequence[str], longest: int = 8192) -> None:
        self.longest = longest
        self.pad_id = int(tokenizer.pad_token_id or 0)
        self.gives_domains = DOMAIN in columns
        self.columns = tuple(name for name in columns if name != DOMAIN)
        # The columns that are read lie in one block of the table.
        places = [COLUMNS.index(name) for name in self.columns] or [0]
        self._rows = slice(min(places), max(places) + 1)
        self._fills = np.array([_FILL[name] for name in COLUMNS[self._rows]], np.int32)
        self._one = _template(tokenizer, ("a",))
        self._two = _template(tokenizer, ("a", "b"))

    def prefix(self, n_texts: int) -> IntArray:
        """Special pieces before the first of one or two texts."""
        specials, _ = self._one if n_texts == 1 else self._two
        return specials[0]

    def n_special(self, n_texts: int) -> int:
        """Special pieces around one or two texts."""
        specials, _ = self._one if n_texts == 1 else self._two
        return sum(map(len, specials))

    def begins(self, parts: Sequence[Part]) -> list[int]:
        """Position in the sequence of the first piece of each of one or two parts."""
        specials, _ = self._one if len(parts) == 1 else self._two
        begins, position = [], 0
        for special, part in zip(specials, parts, strict=False):
            position += len(special)
            begins.append(position)
            position += len(part)
        return begins

    def collate(self, sequences: Sequence[Sequence[Part]]) -> dict[str, Tensor]:
        """One padded batch.

        Args:
            sequences: the one or two parts of each sequence.

        Returns:
            ``input_ids``, ``attention_mask``, ``token_type_ids`` and the syntax columns, each
            ``[batch, n_pieces]``; ``domain`` is 0 up to the special piece that ends the first text,
            1 after it, and −1 at padding.

        Raises:
            InputError: the model reads syntax and a text was encoded without.
        """
        lengths = [sum(map(len, parts)) + self.n_special(len(parts)) for parts in sequences]
        width = max(max(lengths), min(padded_length(max(lengths)), self.longest))
        shape = (len(sequences), width)
        batch: dict[str, NDArray[Any]] = {
            "input_ids": np.full(shape, self.pad_id, np.int64),
            "attention_mask": np.zeros(shape, np.int64),
            "token_type_ids": np.zeros(shape, np.int64),
        }
        if self.gives_domains:
            batch[DOMAIN] = np.full(shape, -1, np.int64)
        rows = self._rows
        syntax = np.empty((rows.stop - rows.start, *shape), np.int32)
        syntax[:] = self._fills[:, None, None]
        for row, parts in enumerate(sequences):
            self._fill(row, parts, batch, syntax)
        columns = dict(zip(COLUMNS[rows], syntax, strict=True))
        self._set_apart(columns, lengths)
        batch |= {name: columns[name] for name in self.columns}
        return {name: torch.from_numpy(array) for name, array in batch.items()}

    def _fill(
        self, row: int, parts: Sequence[Part], batch: dict[str, NDArray[Any]], syntax: IntArray
    ) -> None:
        specials, types = self._one if len(parts) == 1 else self._two
        ids, token_types = batch["input_ids"][row], batch["token_type_ids"][row]
        position = 0
        shift: IntArray | None = None
        for number, special in enumerate(specials):
            after = position + len(special)
            ids[position:after] = special
            token_types[position:after] = types[2 * number]
            if self.gives_domains:
                # What stands between two texts ends the first; what stands last ends the second.
                batch[DOMAIN][row, position:after] = len(parts) - 1 if number == len(parts) else 0
            position = after
            if number == len(parts):
                break
            text, begin, end = parts[number]
            after = position + end - begin
            ids[position:after] = text.pieces[begin:end]
            token_types[position:after] = types[2 * number + 1][0]
            if self.gives_domains:
                batch[DOMAIN][row, position:after] = number
            if self.columns:
                if text.syntax is None:
                    raise InputError("this model reads syntax: encode its texts with their parses")
                table = text.syntax.table[self._rows, begin:end]
                if shift is not None:
                    table = np.where(text.syntax.table[_WORD, begin:end] >= 0, table + shift, table)
                syntax[:, row, position:after] = table
                if number + 1 < len(parts):
                    shift = self._shift(text)
            position = after
        batch["attention_mask"][row, :position] = 1

    def _shift(self, text: EncodedText) -> IntArray:
        """What counts over texts goes on counting after one: a number a row, ``[n_rows, 1]``."""
        counts = {"word": text.n_words, "sentence": text.n_sentences}
        counts |= dict.fromkeys(("enter", "exit", "point"), text.span)
        rows = [counts.get(name, 0) for name in COLUMNS[self._rows]]
        return np.array(rows, np.int32)[:, None]

    @staticmethod
    def _set_apart(columns: dict[str, IntArray], lengths: Sequence[int]) -> None:
        """Give pieces without a word intervals below zero, each its own, that no other touches."""
        place = np.arange(next(iter(columns.values())).shape[1], dtype=np.int32)
        if "word" in columns:
            alone = {"enter": -1 - place, "exit": -place, "point": -1 - place}
            for name in alone.keys() & columns.keys():
                columns[name] = np.where(columns["word"] >= 0, columns[name], alone[name])
        if "tag" in columns:
            columns["tag"][place >= np.asarray(lengths)[:, None]] = PAD


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
