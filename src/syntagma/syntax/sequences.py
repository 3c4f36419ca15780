"""Build padded model inputs from one or two encoded texts, including their syntax columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma.batches import padded_length
from syntagma.errors import InputError
from syntagma.syntax.encode import EncodedText
from syntagma.syntax.pieces import COLUMNS, NO_WORD, column_shifts
from syntagma.syntax.tags import PAD

IntArray = NDArray[np.int32]

DOMAIN = "domain"
"""Name of the column that tells which of two texts a piece belongs to."""
_WORD = COLUMNS.index("word")


class Part(NamedTuple):
    """The part of a text that goes into a sequence.

    Args:
        text: the whole text.
        begin: first piece of the part.
        end: piece after its last.
    """

    text: EncodedText
    begin: int
    end: int

    def __len__(self) -> int:
        return self.end - self.begin


def window_starts(n_pieces: int, size: int, stride: int) -> list[int]:
    """Return the first piece of each window over a text; the last window reaches its end.

    Args:
        n_pieces: number of pieces of the text.
        size: number of pieces of a window.
        stride: number of pieces between the starts of two windows.

    >>> window_starts(10, 4, 3), window_starts(3, 4, 3)
    ([0, 3, 6], [0])
    """
    starts = [0]
    while starts[-1] + size < n_pieces:
        starts.append(starts[-1] + stride)
    return starts


def fit_two(first: int, second: int, room: int) -> tuple[int, int]:
    """Truncate two lengths to a common limit, shortening the longer text first.

    Args:
        first: number of pieces of the first text.
        second: number of pieces of the second text.
        room: maximum number of pieces of both together.

    >>> fit_two(10, 3, 8), fit_two(10, 9, 8), fit_two(2, 3, 8)
    ((5, 3), (4, 4), (2, 3))
    """
    if first + second <= room:
        return first, second
    shorter = min(first, second, room // 2)
    longer = min(max(first, second), room - shorter)
    return (longer, shorter) if first >= second else (shorter, longer)


class SequenceBuilder:
    """Build sequences with the special tokens that an encoder expects.

    Args:
        tokenizer: the encoder's tokenizer; a probe call reveals how it joins one or two texts.
        columns: syntax columns that the model reads, and ``domain`` if it reads that.
        longest: maximum number of pieces that the encoder accepts.
    """

    def __init__(self, tokenizer: Any, *, columns: Sequence[str], longest: int = 8192) -> None:
        self.longest = longest
        # Padding is masked, so any id serves a tokenizer without a padding token.
        self.pad_id = int(tokenizer.pad_token_id or 0)
        self.gives_domains = DOMAIN in columns
        self.columns = tuple(name for name in columns if name != DOMAIN)
        # Read one contiguous block of rows: a slice is a view, a list of rows would be a copy.
        rows = [COLUMNS.index(name) for name in self.columns] or [0]
        self._rows = slice(min(rows), max(rows) + 1)
        self._one = _template(tokenizer, ("a",))
        self._two = _template(tokenizer, ("a", "b"))

    @property
    def rows(self) -> slice:
        """The rows of the syntax table that are read."""
        return self._rows

    def prefix(self, n_texts: int) -> IntArray:
        """Return the special tokens before the first text, for a sequence of one or two texts."""
        specials, _ = self._one if n_texts == 1 else self._two
        return specials[0]

    def n_special(self, n_texts: int) -> int:
        """Return the number of special tokens in a sequence of one or two texts."""
        specials, _ = self._one if n_texts == 1 else self._two
        return sum(map(len, specials))

    def template(self, n_texts: int) -> dict[str, list[Any]]:
        """Return how sequences of one or two texts are built, as plain lists.

        Args:
            n_texts: 1 or 2.

        Returns:
            ``special``: the special tokens before, between and after the texts; ``special_types``:
            their token types; ``text_types``: the token type of each text.
        """
        specials, types = self._one if n_texts == 1 else self._two
        return {
            "special": [tokens.tolist() for tokens in specials],
            "special_types": [each.tolist() for each in types[::2]],
            "text_types": [int(each[0]) for each in types[1::2]],
        }

    def begins(self, parts: Sequence[Part]) -> list[int]:
        """Return the position in the sequence of the first piece of each part."""
        specials, _ = self._one if len(parts) == 1 else self._two
        begins, position = [], 0
        for special, part in zip(specials, parts, strict=False):
            position += len(special)
            begins.append(position)
            position += len(part)
        return begins

    def collate(self, sequences: Sequence[Sequence[Part]]) -> dict[str, Tensor]:
        """Build one padded batch.

        Args:
            sequences: one or two parts for each sequence.

        Returns:
            ``input_ids``, ``attention_mask``, ``token_type_ids`` and the syntax columns, each
            ``[batch, n_pieces]``; ``domain`` is 0 up to and including the special token that ends
            the first text, 1 after it, and −1 for padding.

        Raises:
            InputError: the model reads syntax, but a text was encoded without it.
        """
        lengths = [sum(map(len, parts)) + self.n_special(len(parts)) for parts in sequences]
        # Round up for fast kernels, but not beyond the encoder's position embeddings.
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
        syntax = np.empty((rows.stop - rows.start, *shape), np.int32)  # [n_rows, batch, width]
        syntax[:] = NO_WORD[rows, None, None]
        for row, parts in enumerate(sequences):
            self._fill(row, parts, batch, syntax)
        columns = dict(zip(COLUMNS[rows], syntax, strict=True))
        self._isolate_special(columns, lengths)
        batch |= {name: columns[name] for name in self.columns}
        return {name: torch.from_numpy(array) for name, array in batch.items()}

    def _fill(
        self, row: int, parts: Sequence[Part], batch: dict[str, NDArray[Any]], syntax: IntArray
    ) -> None:
        """Write one sequence into its row of the batch arrays."""
        specials, types = self._one if len(parts) == 1 else self._two
        ids, token_types = batch["input_ids"][row], batch["token_type_ids"][row]
        position = 0
        shift: IntArray | None = None
        for number, special in enumerate(specials):
            after = position + len(special)
            ids[position:after] = special
            token_types[position:after] = types[2 * number]
            if self.gives_domains:
                # Special tokens between two texts belong to the first, the last to the second.
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
                    raise InputError(
                        "this model reads syntax, got a text without; encode texts with their "
                        "parses"
                    )
                table = text.syntax.table[self._rows, begin:end]
                if shift is not None:
                    # Pieces without a word keep their fill values.
                    table = np.where(text.syntax.table[_WORD, begin:end] >= 0, table + shift, table)
                syntax[:, row, position:after] = table
                if number + 1 < len(parts):
                    shift = self._shift(text)
            position = after
        batch["attention_mask"][row, :position] = 1

    def _shift(self, text: EncodedText) -> IntArray:
        """Return the shift for columns of the text after this one, ``[n_rows, 1]``.

        Words, sentences and intervals are numbered continuously, so that two texts in one sequence
        have nothing in common.
        """
        shifts = column_shifts(words=text.n_words, sentences=text.n_sentences, positions=text.span)
        return shifts[self._rows, None]

    @staticmethod
    def _isolate_special(columns: dict[str, IntArray], lengths: Sequence[int]) -> None:
        """Give each piece without a word an interval below zero that overlaps no other.

        In the ancestor mask such a piece then sees only itself, and no row is empty.
        """
        position = np.arange(next(iter(columns.values())).shape[1], dtype=np.int32)
        if "word" in columns:
            isolated = {"enter": -1 - position, "exit": -position, "point": -1 - position}
            for name in isolated.keys() & columns.keys():
                columns[name] = np.where(columns["word"] >= 0, columns[name], isolated[name])
        if "tag" in columns:
            columns["tag"][position >= np.asarray(lengths)[:, None]] = PAD


def _template(tokenizer: Any, texts: tuple[str, ...]) -> tuple[list[IntArray], list[IntArray]]:
    """Find out how a tokenizer joins texts.

    A probe call works for every post-processor, unlike reading the tokenizer's configuration.

    Returns:
        The special tokens before, between and after the texts, and the token types of each
        stretch: special tokens and texts alternate.
    """
    # Named explicitly: tokenizers such as RoBERTa's do not return token types by default.
    encoding = tokenizer(*texts, return_special_tokens_mask=True, return_token_type_ids=True)
    ids = np.array(encoding["input_ids"], np.int32)
    special = np.array(encoding["special_tokens_mask"], bool)
    types = np.array(encoding["token_type_ids"], np.int32)
    sequence = encoding.sequence_ids()
    specials, stretches, begin = [], [], 0
    for number in range(len(texts)):
        positions = [position for position, owner in enumerate(sequence) if owner == number]
        specials.append(ids[begin : positions[0]])
        stretches += [types[begin : positions[0]], types[positions[0] : positions[-1] + 1]]
        begin = positions[-1] + 1
    if not special[begin:].all():
        raise InputError(
            f"{type(tokenizer).__name__} adds ordinary pieces after the texts; expected special "
            f"tokens only; use another tokenizer"
        )
    return [*specials, ids[begin:]], [*stretches, types[begin:]]
