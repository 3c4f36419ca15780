"""Insert markers around mentions into encoded texts, and give each marker a position in the tree.

Texts are parsed without markers; these are inserted between the pieces afterwards (SEPREM sections
5.1 and 5.3: ``@`` around one mention, ``#`` around a second one).  A marker takes the position of
the head word of its mention, that is, its word closest to the root (the first one on ties): it
copies the interval, depth, sentence and tag of that word's first piece, attends to what that piece
attends to, and is attended to likewise.  It counts as a word of its own, and distances to and from
it are those of the head word.

The columns of other pieces do not change, even in the mode ``projection``, whose intervals are over
sequence positions: the values are only compared with one another, and a marker's are copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.syntax.encode import EncodedText
from syntagma.syntax.pieces import COLUMNS, NO_WORD, PieceSyntax
from syntagma.text.alignment import first_pieces

IntArray = NDArray[np.int32]
MarkerPlace = Literal["head", "special"]


class MarkedText(NamedTuple):
    """A text with markers.

    Args:
        text: the pieces, including markers.
        places: positions of the opening and the closing marker of each mention, ``[n_mentions]``.
    """

    text: EncodedText
    places: tuple[tuple[int, int], ...]


class _Marker(NamedTuple):
    """A marker to insert.

    Args:
        before: position of the piece to insert it before, in the text without markers.
        rank: sorting key among several markers at one position.
        mention: index of its mention.
        closes: whether it is the closing marker.
    """

    before: int
    rank: tuple[int, int, int]
    mention: int
    closes: bool


def marker_pieces(tokenizer: Any, signs: Sequence[str]) -> list[int]:
    """Return the piece id of each marker sign, as tokenized between two words.

    Args:
        tokenizer: a fast tokenizer.
        signs: the signs, such as ``@``; one that is not in the vocabulary maps to the unknown
            token.

    Raises:
        InputError: the tokenizer drops a sign.
    """
    pieces = []
    for sign in signs:
        encoding = tokenizer.backend_tokenizer.encode(f" {sign}", add_special_tokens=False)
        if not encoding.ids:
            raise InputError(f"{type(tokenizer).__name__} has no piece for the marker {sign!r}")
        # Take the last piece: some tokenizers make the space a piece of its own.
        pieces.append(int(encoding.ids[-1]))
    return pieces


def insert_markers(
    text: EncodedText,
    mentions: Sequence[tuple[int, int]],
    pieces: Sequence[int],
    *,
    place: MarkerPlace = "head",
) -> MarkedText:
    """Insert a marker before and after each mention.

    Markers enclose all pieces that share a character with the mention.  At a common position,
    closing markers precede opening ones, and markers of longer mentions enclose those of shorter
    ones.  The two markers of a mention without pieces are adjacent.

    Args:
        text: a text with or without syntax.
        mentions: start and end offset of each mention in characters, ``[n_mentions]``.
        pieces: piece id of the marker of each mention, ``[n_mentions]``.
        place: position of markers in the tree; ``head``: that of the mention's head word;
            ``special``: none, like the special tokens of a sequence.

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
    # A marker covers no text: an empty interval at its end of the mention.
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
    # Each marker shifts the following ones by one piece.
    places = {
        (marker.mention, marker.closes): marker.before + number
        for number, marker in enumerate(markers)
    }
    return MarkedText(
        marked,
        tuple((places[number, False], places[number, True]) for number in range(len(spans))),
    )


def _pieces_of(text: EncodedText, start: int, end: int) -> tuple[int, int]:
    """Return the first piece of a mention and the one after its last; equal if it has none."""
    begin = int(np.searchsorted(text.ends, start, side="right"))
    stop = int(np.searchsorted(text.starts, end, side="left")) if start < end else begin
    return begin, max(begin, stop)


def _around(mention: int, begin: int, end: int) -> tuple[_Marker, _Marker]:
    """Return the opening and the closing marker of a mention.

    The first item of a rank orders kinds of markers at one position: closing (0), around nothing
    (1), opening (2).  The second makes markers nest: the mention that ends later opens first, and
    the one that started later closes first.
    """
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
    """Return the syntax columns of the markers, ``[n_columns, n_markers]``."""
    assert text.syntax is not None
    heads = [_head(text, *span) if place == "head" else None for span in spans]
    columns = np.empty((len(COLUMNS), len(markers)), np.int32)
    for number, marker in enumerate(markers):
        head = heads[marker.mention]
        columns[:, number] = NO_WORD if head is None else text.syntax.table[:, head]
        if head is not None:
            # Markers are numbered after all words of the text.
            columns[COLUMNS.index("word"), number] = text.n_words + number
    return columns


def _head(text: EncodedText, begin: int, end: int) -> int | None:
    """Return the first piece of a mention's head word; ``None`` if no piece has a word."""
    assert text.syntax is not None
    inside = text.syntax["word"][begin:end]
    words = np.unique(inside[inside >= 0])
    if not len(words):
        return None
    first = first_pieces(text.syntax["word"], text.n_words)[words]
    # `argmin` returns the first of several words at the same depth.
    return int(first[np.argmin(text.syntax["depth"][first])])
