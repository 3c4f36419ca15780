"""Encoded mentions of a whole training set in little memory.

FIGER has two million mentions.  As arrays of their own, each would take several kilobytes, most of
it for the headers of arrays of a few dozen numbers.  Here a block of mentions shares its arrays, in
the smallest integers that hold them, and an item is built when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from syntagma.syntax.encode import EncodedText
from syntagma.syntax.pieces import COLUMNS, PieceSyntax
from syntagma.tasks.mentions.classifier import MentionItem
from syntagma.tasks.task import Features

BLOCK = 1024
"""Number of items that share arrays."""


def _smallest(values: NDArray[Any]) -> NDArray[Any]:
    """Copy integers to the smallest dtype that holds them."""
    if not values.size:
        return values.astype(np.int8)
    needed = np.result_type(np.min_scalar_type(values.min()), np.min_scalar_type(values.max()))
    return values.astype(needed)


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Items that share arrays.

    Args:
        lengths: number of pieces of each item, special ones included, ``[n_items]``.
        bounds: index of the first piece of each item in ``pieces``, ``[n_items + 1]``.
        pieces: ids of all pieces, ``[n_pieces]``.
        syntax: rows of the syntax table, ``[n_rows, n_pieces]``; without rows for texts without
            syntax.
        markers: positions of the markers, ``[n_items, n_mentions]``.
        truncated: whether each text was truncated, ``[n_items]``.
        label_bounds: index of the first label of each item in ``labels``, ``[n_items + 1]``.
        labels: codes of all labels.
    """

    lengths: NDArray[Any]
    bounds: NDArray[Any]
    pieces: NDArray[Any]
    syntax: NDArray[Any]
    markers: NDArray[Any]
    truncated: NDArray[np.bool_]
    label_bounds: NDArray[Any]
    labels: NDArray[Any]


def _pack(items: Sequence[MentionItem], rows: slice) -> _Block:
    n_pieces = [len(item.text) for item in items]
    n_labels = [len(item.labels or ()) for item in items]
    tables = [item.text.syntax.table[rows] for item in items if item.text.syntax is not None]
    return _Block(
        _smallest(np.array([item.length for item in items])),
        _smallest(np.cumsum([0, *n_pieces])),
        _smallest(np.concatenate([item.text.pieces for item in items])),
        _smallest(np.concatenate(tables, 1)) if tables else np.empty((0, 0), np.int8),
        _smallest(np.array([item.markers for item in items])),
        np.array([item.truncated for item in items]),
        _smallest(np.cumsum([0, *n_labels])),
        _smallest(np.array([code for item in items for code in item.labels or ()], np.int64)),
    )


class PackedItems(Sequence[MentionItem]):
    """Items of a training set, built when they are read.

    They have what a batch is made of: pieces, labels, and the rows of the syntax table that the
    model reads.  Character offsets and other rows are 0.

    Args:
        items: the items, all with syntax or all without.
        rows: rows of the syntax table that the model reads.
    """

    def __init__(self, items: Iterable[MentionItem], *, rows: slice) -> None:
        self._rows = rows
        source = iter(items)
        self._blocks: list[_Block] = []
        while block := list(islice(source, BLOCK)):
            self._blocks.append(_pack(block, rows))

    @property
    def lengths(self) -> list[int]:
        """Number of pieces of each item, special ones included."""
        return [length for block in self._blocks for length in block.lengths.tolist()]

    def __len__(self) -> int:
        return sum(len(block.lengths) for block in self._blocks[-1:]) + BLOCK * max(
            len(self._blocks) - 1, 0
        )

    @overload
    def __getitem__(self, index: int) -> MentionItem: ...

    @overload
    def __getitem__(self, index: slice) -> list[MentionItem]: ...

    def __getitem__(self, index: int | slice) -> MentionItem | list[MentionItem]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        block, place = divmod(index % len(self), BLOCK)
        return self._item(self._blocks[block], place)

    def __iter__(self) -> Iterator[MentionItem]:
        for block in self._blocks:
            for place in range(len(block.lengths)):
                yield self._item(block, place)

    def _item(self, block: _Block, place: int) -> MentionItem:
        own = slice(int(block.bounds[place]), int(block.bounds[place + 1]))
        labels = block.labels[int(block.label_bounds[place]) : int(block.label_bounds[place + 1])]
        pieces = block.pieces[own].astype(np.int32)
        syntax = None
        if len(block.syntax):
            table = np.zeros((len(COLUMNS), len(pieces)), np.int32)
            table[self._rows] = block.syntax[:, own]
            syntax = PieceSyntax(table)
        none = np.zeros(len(pieces), np.int32)
        return MentionItem(
            EncodedText(pieces, none, none, syntax),
            tuple(block.markers[place].tolist()),
            int(block.lengths[place]),
            bool(block.truncated[place]),
            tuple(labels.tolist()),
        )


class PackedFeatures(Features):
    """Features whose items are packed."""

    items: PackedItems

    @property
    def lengths(self) -> list[int]:
        """Pieces of each item, padding included."""
        return self.padded_lengths(self.items.lengths)
