"""Markers around mentions: pieces that no parser saw, each with a place in the tree.

Texts are parsed as they are; markers are put between their pieces afterwards (SEPREM sections 5.1
and 5.3: ``@`` around a mention, ``#`` around a second one).  A marker stands where the head word of
its mention stands, which is the shallowest one, the first of equals: it has that word's interval,
depth, sentence and tag, sees what the word's first piece sees, and is seen by whatever sees that
piece.  It counts as a word of its own: distances run to it and from it as if it were the head word.

Values of the other pieces stay, also in ``projection`` mode, whose intervals are over places: they
are only ever compared with one another, and a marker's are copies of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.syntax.encode import COLUMNS, EncodedText, PieceSyntax
from syntagma.syntax.tags import SPE
from syntagma.text.alignment import first_pieces

__all__ = ["MarkedText", "MarkerPlace", "insert_markers", "marker_pieces"]

IntArray = NDArray[np.int32]
MarkerPlace = Literal["head", "special"]

_SPECIAL = np.array(
    [{"word": -1, "sentence": -1, "tag": SPE}.get(name, 0) for name in COLUMNS], np.int32
)
"""The column of a piece without a word."""


class MarkedText(NamedTuple):
    """A text with markers.

    Args:
        text: its pieces, the markers among them.
        places: where the opening and the closing marker of each mention stand.
    """

    text: EncodedText
    places: tuple[tuple[int, int], ...]


class _Marker(NamedTuple):
    """A marker before a piece.

    Args:
        before: the piece, in the text without markers.
        rank: which of several markers at one place comes first.
        mention: number of its mention.
        closes: whether it stands behind the mention.
    """

    before: int
    rank: tuple[int, int, int]
    mention: int
    closes: bool


def marker_pieces(tokenizer: Any, signs: Sequence[str]) -> list[int]:
    """The piece of each sign, as it is written between two words.

    Args:
        tokenizer: a fast tokenizer.
        signs: such as ``@``; the unknown piece stands for one that the encoder has never seen.

    Raises:
        InputError: the tokenizer drops a sign.
    """
    pieces = []
    for sign in signs:
        encoding = tokenizer.backend_tokenizer.encode(f" {sign}", add_special_tokens=False)
        if not encoding.ids:
            raise InputError(f"{type(tokenizer).__name__} has no piece for the marker {sign!r}")
        # A space that became a piece of its own comes before it.
        pieces.append(int(encoding.ids[-1]))
    return pieces


def insert_markers(
    text: EncodedText,
    mentions: Sequence[tuple[int, int]],
    pieces: Sequence[int],
    *,
    place: MarkerPlace = "head",
) -> MarkedText:
    """Put a marker before and behind each mention.

    Markers surround all pieces that share a character with the mention; of two mentions at one
    place, the one that ends stands before the one that begins, and the longer outside the shorter.
    A mention without pieces has its markers side by side.

    Args:
        text: with syntax or without.
        mentions: first character of each, and the one after its last.
        pieces: the marker of each mention, ``[n_mentions]``.
        place: ``head``: in the tree, where the mention's head word stands; ``special``: apart, like
            the special pieces at the ends of a sequence.

    Raises:
        InputError: the place is unknown.
    """
    if place not in ("head", "special"):
        raise InputError(f"markers must be head or special, got {place!r}")
    spans = [_pieces_of(text, *mention) for mention in mentions]
    markers = sorted(
        (marker for number, span in enumerate(spans) for marker in _around(number, *span)),
        key=lambda marker: (marker.before, marker.rank),
    )
    before = [marker.before for marker in markers]
    # No characters belong to a marker: an empty interval at its side of the mention.
    offsets = [mentions[marker.mention][marker.closes] for marker in markers]
    marked = replace(
        text,
        pieces=np.insert(text.pieces, before, [pieces[marker.mention] for marker in markers]),
        starts=np.insert(text.starts, before, offsets),
        ends=np.insert(text.ends, before, offsets),
    )
    if text.syntax is not None:
        columns = _columns(text, spans, markers, place)
        table = PieceSyntax(np.insert(text.syntax.table, before, columns, axis=1))
        marked = replace(marked, syntax=table, n_words=text.n_words + len(markers))
    places = {
        (marker.mention, marker.closes): marker.before + number
        for number, marker in enumerate(markers)
    }
    return MarkedText(
        marked,
        tuple((places[number, False], places[number, True]) for number in range(len(spans))),
    )


def _pieces_of(text: EncodedText, start: int, end: int) -> tuple[int, int]:
    """First piece of a mention, and the one after its last; equal where it has none."""
    begin = int(np.searchsorted(text.ends, start, side="right"))
    stop = int(np.searchsorted(text.starts, end, side="left")) if start < end else begin
    return begin, max(begin, stop)


def _around(mention: int, begin: int, end: int) -> tuple[_Marker, _Marker]:
    if begin == end:
        return (
            _Marker(begin, (1, mention, 0), mention, False),
            _Marker(begin, (1, mention, 1), mention, True),
        )
    return (
        _Marker(begin, (2, -end, mention), mention, False),
        _Marker(end, (0, -begin, -mention), mention, True),
    )


def _columns(
    text: EncodedText,
    spans: Sequence[tuple[int, int]],
    markers: Sequence[_Marker],
    place: MarkerPlace,
) -> IntArray:
    """What the table says of each marker, ``[n_columns, n_markers]``."""
    assert text.syntax is not None
    heads = [_head(text, *span) if place == "head" else None for span in spans]
    columns = np.empty((len(COLUMNS), len(markers)), np.int32)
    for number, marker in enumerate(markers):
        head = heads[marker.mention]
        columns[:, number] = _SPECIAL if head is None else text.syntax.table[:, head]
        if head is not None:
            columns[COLUMNS.index("word"), number] = text.n_words + number
    return columns


def _head(text: EncodedText, begin: int, end: int) -> int | None:
    """The first piece of the head word of a mention; ``None`` where no piece has a word."""
    assert text.syntax is not None
    inside = text.syntax["word"][begin:end]
    words = np.unique(inside[inside >= 0])
    if not len(words):
        return None
    first = first_pieces(text.syntax["word"], text.n_words)[words]
    return int(first[np.argmin(text.syntax["depth"][first])])
