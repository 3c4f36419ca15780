"""Encode parsed texts as subword pieces with the syntax columns that guides read.

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.parse.columns import Labels, ParsedText
from syntagma.syntax.ancestors import projections, tour
from syntagma.syntax.tags import ERR, TagSet, tag_ids
from syntagma.text.alignment import (
    ABSENT,
    align,
    cut,
    encodable,
    first_pieces,
    require_offsets,
    spread,
)
from syntagma.text.unescaped import unescape_text

IntArray = NDArray[np.int32]
PieceMode = Literal["share", "first_piece", "projection"]


COLUMNS = ("enter", "exit", "word", "sentence", "depth", "tag", "point")
"""Names of the table's rows.  A model reads one contiguous block of rows (see
:class:`syntagma.syntax.sequences.SequenceBuilder`), so the most used ones come first."""


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
            ``projection``.
    """

    table: IntArray

    def __getitem__(self, column: str) -> IntArray:
        return self.table[COLUMNS.index(column)]

    def part(self, begin: int, end: int) -> PieceSyntax:
        """Return the columns of the pieces ``begin`` to ``end`` − 1."""
        return PieceSyntax(self.table[:, begin:end])


@dataclass(frozen=True, slots=True, eq=False)
class EncodedText:
    """One text as pieces, without special tokens.

    Args:
        pieces: ids of the pieces, ``[n_pieces]``.
        starts: start offset of each piece in characters, ``[n_pieces]``.
        ends: end offset of each piece in characters, ``[n_pieces]``.
        syntax: syntax columns of the pieces, or ``None`` if the text was not parsed.
        span: a number greater than all values of ``enter``, ``exit`` and ``point``; shifting
            another text by it keeps their intervals disjoint.
        n_words: number of words in the text.
        n_sentences: number of sentences in the text.
    """

    pieces: IntArray
    starts: IntArray
    ends: IntArray
    syntax: PieceSyntax | None = None
    span: int = 0
    n_words: int = 0
    n_sentences: int = 0

    def __len__(self) -> int:
        return len(self.pieces)

    def part(self, begin: int, end: int) -> EncodedText:
        """Return the pieces ``begin`` to ``end`` − 1 with their syntax."""
        return replace(
            self,
            pieces=self.pieces[begin:end],
            starts=self.starts[begin:end],
            ends=self.ends[begin:end],
            syntax=None if self.syntax is None else self.syntax.part(begin, end),
        )

    def take(self, positions: NDArray[np.intp]) -> EncodedText:
        """Return the pieces at the given positions, ascending, with their syntax."""
        return replace(
            self,
            pieces=self.pieces[positions],
            starts=self.starts[positions],
            ends=self.ends[positions],
            syntax=None if self.syntax is None else PieceSyntax(self.syntax.table[:, positions]),
        )


def piece_mode(guides: Mapping[str, Any]) -> PieceMode:
    """Return the rule for transferring the tree to pieces that the guides of a model need.

    Args:
        guides: settings of each guide, as dataclasses or as plain values.  Guides of one model have
            the same rule, as :func:`syntagma.models.guides.read_guides` checks.
    """
    for settings in guides.values():
        values = settings if isinstance(settings, Mapping) else vars(settings)
        if "pieces" in values:
            mode: PieceMode = values["pieces"]
            return mode
    return "share"


def encode_texts(
    texts: Sequence[str],
    tokenizer: Any,
    parsed: Sequence[ParsedText] | None = None,
    *,
    mode: PieceMode = "share",
    tags: TagSet = "penn",
    spaced: bool = False,
    given_words: bool = False,
) -> list[EncodedText]:
    """Tokenize texts into pieces and attach the syntax of each piece.

    Args:
        texts: raw texts, ``[n_texts]``.
        tokenizer: a fast tokenizer.
        parsed: the parse of each text, ``[n_texts]``; ``None`` to encode without syntax.
        mode: rule for transferring the tree from words to pieces.
        tags: the tag set whose ids the column ``tag`` has.
        spaced: tokenize as if a space preceded the text; byte-level vocabularies have different
            pieces for a word at the start of a text and after a space.
        given_words: whether texts are words separated by spaces; Penn escapes among them, such as
            ``-LRB-``, are then read as what they stand for.

    Raises:
        InputError: the tokenizer has no character offsets.
    """
    require_offsets(tokenizer)
    if not texts:
        return []
    columns = _columns(texts, tokenizer, spaced=spaced, given_words=given_words)
    if parsed is None:
        return [EncodedText(*parts) for parts in columns]
    n_pieces = np.array([len(pieces) for pieces, _, _ in columns])
    slices = [slice(*pair) for pair in pairwise(np.cumsum([0, *n_pieces]).tolist())]
    _, starts, ends = map(np.concatenate, zip(*columns, strict=True))
    # Lay all texts end to end: one alignment and one tour replace many NumPy calls on short arrays.
    text_starts = np.concatenate([[0], np.cumsum([len(text) + 1 for text in texts])[:-1]])
    shift = np.repeat(text_starts, n_pieces)
    if tags == "upos":
        parsed = [replace(p, xpos=p.upos, xpos_labels=p.upos_labels) for p in parsed]
    together, n_words, n_sentences = _join(parsed, text_starts)
    words = align(together.starts, together.ends, starts + shift, ends + shift)
    syntax = piece_syntax(together, words, mode=mode, tags=tags)
    # Subtract what earlier texts counted, so that each text gets the values it has alone.
    tour_starts = _tour_starts(mode, words, n_pieces, n_words)
    bases = {
        "word": np.cumsum(n_words) - n_words,
        "sentence": np.cumsum(n_sentences) - n_sentences,
        **dict.fromkeys(("enter", "exit", "point"), tour_starts),
    }
    base = np.stack([bases.get(name, 0 * tour_starts) for name in COLUMNS]).astype(np.int32)
    # Pieces without a word keep their fill values.
    table = np.where(words >= 0, syntax.table - np.repeat(base, n_pieces, 1), syntax.table)
    return [
        EncodedText(
            *column,
            syntax=PieceSyntax(table[:, slices[number]]),
            # Bounds the tour in every mode: it counts words or pieces.
            span=int(n_words[number] + n_pieces[number]) + 1,
            n_words=int(n_words[number]),
            n_sentences=int(n_sentences[number]),
        )
        for number, column in enumerate(columns)
    ]


def _columns(
    texts: Sequence[str], tokenizer: Any, *, spaced: bool, given_words: bool
) -> list[tuple[IntArray, IntArray, IntArray]]:
    """Return id, start and end of the pieces of each text, ``[n_pieces]`` each."""
    unescaped = [unescape_text(text) if given_words else None for text in texts]
    read = [found.text if found else text for text, found in zip(texts, unescaped, strict=True)]
    lead = " " if spaced else ""
    columns = []
    encodings = cut(tokenizer, [lead + encodable(text) for text in read])
    for encoding, found in zip(encodings, unescaped, strict=True):
        offsets = np.asarray(encoding.offsets, np.int32).reshape(-1, 2)
        # The leading space is not part of the text.
        starts, ends = np.ascontiguousarray(np.maximum(offsets - len(lead), 0).T)
        if found is not None:
            starts, ends = found.original(starts, ends)
        columns.append((np.asarray(encoding.ids, np.int32), starts, ends))
    return columns


def concatenate(texts: Sequence[EncodedText]) -> EncodedText:
    """Concatenate encoded texts; words, sentences and intervals are numbered continuously.

    Character offsets stay relative to each text.
    """
    if len(texts) == 1:
        return texts[0]
    syntax = None
    if all(text.syntax is not None for text in texts):
        tables, totals = [], dict.fromkeys(("span", "n_words", "n_sentences"), 0)
        for text in texts:
            assert text.syntax is not None
            tables.append(_shifted(text.syntax.table, totals))
            for name in totals:
                totals[name] += getattr(text, name)
        syntax = PieceSyntax(np.concatenate(tables, 1))
    return EncodedText(
        np.concatenate([text.pieces for text in texts]),
        np.concatenate([text.starts for text in texts]),
        np.concatenate([text.ends for text in texts]),
        syntax,
        span=sum(text.span for text in texts),
        n_words=sum(text.n_words for text in texts),
        n_sentences=sum(text.n_sentences for text in texts),
    )


def _shifted(table: IntArray, totals: dict[str, int]) -> IntArray:
    """Shift the numbers in a table past those of the preceding texts."""
    shift = {"word": totals["n_words"], "sentence": totals["n_sentences"]}
    shift |= dict.fromkeys(("enter", "exit", "point"), totals["span"])
    column = np.array([shift.get(name, 0) for name in COLUMNS], np.int32)[:, None]
    has_word = table[COLUMNS.index("word")] >= 0
    return np.where(has_word, table + column, table)


def _join(
    parsed: Sequence[ParsedText], text_starts: NDArray[np.int64]
) -> tuple[ParsedText, NDArray[np.int64], NDArray[np.int64]]:
    """Concatenate parsed texts; also return the number of words and of sentences of each."""
    n_words = np.array([len(parse) for parse in parsed])
    n_sentences = np.array([int(p.sentences[-1]) + 1 if len(p) else 0 for p in parsed])
    shift = np.repeat(text_starts, n_words).astype(np.int32)
    # Each parse may number its tags in its own way; recode every label set once.
    labels = Labels()
    label_sets = {id(p.xpos_labels): p.xpos_labels for p in parsed}
    codes = {key: np.asarray(labels.encode(own.names), np.int32) for key, own in label_sets.items()}
    tags = [codes[id(p.xpos_labels)][p.xpos] for p in parsed]
    together = replace(
        parsed[0],
        starts=np.concatenate([p.starts for p in parsed]) + shift,
        ends=np.concatenate([p.ends for p in parsed]) + shift,
        sentences=np.concatenate([p.sentences for p in parsed])
        + np.repeat(np.cumsum(n_sentences) - n_sentences, n_words).astype(np.int32),
        heads=np.concatenate([p.heads for p in parsed]),
        xpos=np.concatenate(tags),
        parts=np.concatenate([p.parts for p in parsed]),
        xpos_labels=labels,
    )
    return together, n_words, n_sentences


def _tour_starts(
    mode: PieceMode,
    word_of_piece: NDArray[np.int64],
    n_pieces: NDArray[np.int64],
    n_words: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the first tour position of each text, ``[n_texts]``.

    The tour counts words (``share``), pieces with a word (``first_piece``) or all pieces
    (``projection``).
    """
    if mode == "share":
        counts = n_words
    elif mode == "projection":
        counts = n_pieces
    else:
        ends = np.cumsum(n_pieces)
        sums = np.concatenate([[0], np.cumsum(word_of_piece >= 0)])
        counts = sums[ends] - sums[ends - n_pieces]
    return np.asarray(np.cumsum(counts) - counts, np.int64)


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
    columns = {
        "enter": enter,
        "exit": exit_,
        "word": np.where(word_of_piece == ABSENT, -1, word_of_piece),
        "sentence": spread(parsed.sentences, word_of_piece, fill=-1),
        "depth": depth,
        "tag": spread(word_tags, word_of_piece, fill=ERR),
        "point": point,
    }
    return PieceSyntax(np.stack([columns[name] for name in COLUMNS]).astype(np.int32))


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
