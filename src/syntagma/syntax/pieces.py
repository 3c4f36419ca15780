"""The syntax columns of pieces: the tree of their words as integers.

There are three rules for transferring the tree from words to their pieces (SG-Net journal version,
section 5.1):

``share``
    All pieces of a word share its interval: they see its ancestors and one another.
``first_piece``
    The later pieces of a word are children of its first piece.
``projection``
    For parity with the authors' released script: piece ``i`` sees the first piece of word ``j`` iff
    ``i`` lies between the leftmost and the rightmost word of the subtree of ``j``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.parse.columns import ParsedText
from syntagma.syntax.ancestors import head_indices, projections, tour
from syntagma.syntax.relations import relation_ids
from syntagma.syntax.tags import ERR, SPE, TagSet, tag_ids
from syntagma.text.alignment import ABSENT, first_pieces, spread

IntArray = NDArray[np.int32]
PieceMode = Literal["share", "first_piece", "projection"]


COLUMNS = ("enter", "exit", "word", "sentence", "depth", "tag", "point", "parent", "relation")
"""Names of the table's rows.  A model reads one contiguous block of rows (see
:class:`syntagma.syntax.sequences.SequenceBuilder`), so the most used ones come first."""

NO_WORD = np.array(
    [{"word": -1, "sentence": -1, "tag": SPE, "parent": -1}.get(name, 0) for name in COLUMNS],
    np.int32,
)
"""Columns of special tokens and padding, before they get intervals of their own."""


@dataclass(frozen=True, slots=True, eq=False)
class PieceSyntax:
    """Syntax columns of a sequence of pieces.

    Args:
        table: one row for each name in :data:`COLUMNS`, ``[n_columns, n_pieces]``:

            ``enter``, ``exit``: interval of the piece; ``j`` is an ancestor of ``i``, or ``i``
            itself, iff ``enter[j] ≤ point[i] < exit[j]``;
            ``word``, ``sentence``: numbers of its word and sentence, −1 for pieces without a word;
            ``depth``: number of arcs to the root of the sentence;
            ``tag``: tag id, see :mod:`syntagma.syntax.tags`;
            ``point``: position looked up in the intervals; equals ``enter`` except in the mode
            ``projection``;
            ``parent``: number of the head of its word; for a root, the number before the first word
            of the sentence;
            ``relation``: id of the relation to that head, see :mod:`syntagma.syntax.relations`.
    """

    table: IntArray

    def __getitem__(self, column: str) -> IntArray:
        return self.table[COLUMNS.index(column)]

    def part(self, begin: int, end: int) -> PieceSyntax:
        """Return the columns of the pieces ``begin`` to ``end`` − 1."""
        return PieceSyntax(self.table[:, begin:end])


def column_shifts(*, words: Any, sentences: Any, positions: Any) -> IntArray:
    """Return what to add to each column, so that it continues the numbers of preceding texts.

    Args:
        words: numbers of words that precede; one number, or one for each text.
        sentences: numbers of sentences.
        positions: numbers of positions in the tour over the trees.

    Returns:
        ``[n_columns]``, or ``[n_columns, n_texts]``.
    """
    shifts = {"word": words, "parent": words, "sentence": sentences}
    shifts |= dict.fromkeys(("enter", "exit", "point"), positions)
    return np.stack([shifts.get(name, np.zeros_like(words)) for name in COLUMNS]).astype(np.int32)


def piece_syntax(
    parsed: ParsedText,
    word_of_piece: NDArray[np.int64],
    *,
    mode: PieceMode = "share",
    tags: TagSet = "penn",
) -> PieceSyntax:
    """Compute the syntax columns of pieces from the parse of their words.

    Args:
        parsed: the parsed text.
        word_of_piece: index of each piece's word, ``[n_pieces]``, negative without a word.
        mode: rule for transferring the tree from words to pieces, see the module docstring.
        tags: the tag set of the labels in ``parsed.xpos_labels``.

    Raises:
        InputError: the mode is unknown.
    """
    trees = tour(parsed.heads, parsed.sentences)
    depth = spread(trees.depth, word_of_piece, fill=0)
    if mode == "share":
        enter, exit_ = (spread(column, word_of_piece, fill=0) for column in trees[:2])
        point = enter
    elif mode == "first_piece":
        enter, exit_, later = _first_piece_intervals(trees.enter, trees.exit, word_of_piece)
        # Later pieces are children of the first piece: one arc deeper.
        point, depth = enter, depth + later
    elif mode == "projection":
        enter, exit_ = _projection_intervals(parsed, word_of_piece)
        point = np.arange(len(word_of_piece), dtype=np.int64)
    else:
        raise InputError(f"mode must be share, first_piece or projection, got {mode!r}")
    ids = np.array(tag_ids(parsed.xpos_labels.names, tags), np.int64)
    word_tags = ids[parsed.xpos] if len(parsed) else ids
    relations = np.array(relation_ids(parsed.relation_labels.names), np.int64)
    columns = {
        "enter": enter,
        "exit": exit_,
        "word": np.where(word_of_piece == ABSENT, -1, word_of_piece),
        "sentence": spread(parsed.sentences, word_of_piece, fill=-1),
        "depth": depth,
        "tag": spread(word_tags, word_of_piece, fill=ERR),
        "point": point,
        "parent": spread(_parent_numbers(parsed), word_of_piece, fill=-1),
        "relation": spread(relations[parsed.relations], word_of_piece, fill=0),
    }
    return PieceSyntax(np.stack([columns[name] for name in COLUMNS]).astype(np.int32))


def _parent_numbers(parsed: ParsedText) -> IntArray:
    """Return the number of each word's head, ``[n_words]``.

    All roots of a sentence get the same number, which no word of it has.
    """
    above = head_indices(parsed.heads, parsed.sentences)
    firsts = np.searchsorted(parsed.sentences, parsed.sentences)
    return np.where(above >= 0, above, firsts - 1).astype(np.int32)


def _first_piece_intervals(
    enter: IntArray, exit: IntArray, word_of_piece: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Compute intervals of a tour over pieces: first piece of a word, later pieces, dependents.

    Also return whether each piece is a later piece of its word.
    """
    n_words = len(enter)
    # The interval of a word covers its own pieces and those of its subtree.
    counts = np.bincount(word_of_piece[word_of_piece >= 0], minlength=n_words)
    # Number of pieces of each word, in the order of the word tour.
    in_tour_order = np.zeros(n_words, np.int64)
    in_tour_order[enter] = counts
    pieces_before = np.concatenate([[0], np.cumsum(in_tour_order)])
    word_enter, word_exit = pieces_before[enter], pieces_before[exit]
    first = first_pieces(word_of_piece, n_words)
    later = np.arange(len(word_of_piece)) - spread(first, word_of_piece, fill=0)
    later = np.where(word_of_piece >= 0, later, 0)
    begin = spread(word_enter, word_of_piece, fill=0) + later
    end = np.where(later > 0, begin + 1, spread(word_exit, word_of_piece, fill=0))
    return begin, end, (later > 0).astype(np.int64)


def _projection_intervals(
    parsed: ParsedText, word_of_piece: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Compute intervals over sequence positions; only first pieces cover other pieces."""
    left, right = projections(parsed.heads, parsed.sentences)
    position = np.arange(len(word_of_piece), dtype=np.int64)
    word_at = _fill_gaps(word_of_piece)
    begins = np.searchsorted(word_at, left, side="left")
    ends = np.searchsorted(word_at, right, side="right")
    first = first_pieces(word_of_piece, len(left))
    is_first = position == spread(first, word_of_piece, fill=-1)
    begin = np.where(is_first, spread(begins, word_of_piece, fill=0), position)
    end = np.where(is_first, spread(ends, word_of_piece, fill=0), position + 1)
    return begin, end


def _fill_gaps(word_of_piece: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give pieces without a word the word before them, so that the result is sorted."""
    return np.asarray(np.maximum.accumulate(np.append(-1, word_of_piece))[1:], np.int64)
