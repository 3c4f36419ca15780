"""A parsed text as pieces, each with the integers that its guides read.

How a word's place in the tree reaches its pieces (SG-Net journal version, section 5.1):

``share``
    all pieces of a word share its interval: they see its ancestors and one another.
``first_piece``
    the pieces after the first are children of the first.
``projection``
    for parity with the authors' released script: piece ``i`` sees the first piece of word ``j``
    iff ``i`` lies between the leftmost and the rightmost word below ``j``.
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
from syntagma.syntax.tags import ERR, tag_ids
from syntagma.text.alignment import (
    ABSENT,
    align,
    cut,
    encodable,
    first_pieces,
    require_offsets,
    spread,
)

__all__ = [
    "COLUMNS",
    "EncodedText",
    "PieceMode",
    "PieceSyntax",
    "concatenate",
    "encode_texts",
    "piece_mode",
    "piece_syntax",
]

IntArray = NDArray[np.int32]
PieceMode = Literal["share", "first_piece", "projection"]


COLUMNS = ("enter", "exit", "word", "sentence", "depth", "tag", "point")
"""The integers of a piece, in the order of the table's rows; guides read the first ones most."""


@dataclass(frozen=True, slots=True, eq=False)
class PieceSyntax:
    """The syntax of a sequence of pieces.

    Args:
        table: a row a column of :data:`COLUMNS`, ``[n_columns, n_pieces]``:

            ``enter``, ``exit``: the piece's interval; ``j`` is an ancestor of ``i``, or ``i``,
            iff ``enter[j] ≤ point[i] < exit[j]``;
            ``word``, ``sentence``: their numbers, −1 for pieces without a word;
            ``depth``: arcs to the root of the sentence;
            ``tag``: see :mod:`syntagma.syntax.tags`;
            ``point``: what is looked up in the intervals; ``enter`` except for ``projection``.
    """

    table: IntArray

    def __getitem__(self, column: str) -> IntArray:
        return self.table[COLUMNS.index(column)]

    def part(self, begin: int, end: int) -> PieceSyntax:
        """The syntax of some of the pieces."""
        return PieceSyntax(self.table[:, begin:end])


@dataclass(frozen=True, slots=True, eq=False)
class EncodedText:
    """One text as pieces, without special ones.

    Args:
        pieces: ids, ``[n_pieces]``.
        starts: character offset of each piece, ``[n_pieces]``.
        ends: character offset after each piece, ``[n_pieces]``.
        syntax: of the pieces; ``None`` for a text that was not parsed.
        span: a number above all values of ``enter`` and ``exit``.
        n_words: words of the text.
        n_sentences: sentences of the text.
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
        """Some of the pieces, with their syntax."""
        return replace(
            self,
            pieces=self.pieces[begin:end],
            starts=self.starts[begin:end],
            ends=self.ends[begin:end],
            syntax=None if self.syntax is None else self.syntax.part(begin, end),
        )

    def take(self, places: NDArray[np.intp]) -> EncodedText:
        """Some of the pieces, with their syntax, by their places in rising order."""
        return replace(
            self,
            pieces=self.pieces[places],
            starts=self.starts[places],
            ends=self.ends[places],
            syntax=None if self.syntax is None else PieceSyntax(self.syntax.table[:, places]),
        )


def piece_mode(guides: Mapping[str, Any]) -> PieceMode:
    """How the pieces of a word take its place in the tree, as the guides of a model read it.

    Args:
        guides: the settings of each guide, dataclasses or as they are saved. Those of a model do
            not contradict one another: :func:`syntagma.models.guides.read_guides` checks it.
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
    spaced: bool = False,
) -> list[EncodedText]:
    """Cut texts into pieces and give each piece its place in the tree.

    Args:
        texts: raw texts, ``[n_texts]``.
        tokenizer: a fast tokenizer.
        parsed: the parse of each text, ``[n_texts]``; ``None`` to do without syntax.
        mode: how words reach their pieces.
        spaced: cut as after a space in running text: to a byte-level vocabulary a word that begins
            a text is another one than a word after others.

    Raises:
        InputError: the tokenizer gives no character offsets.
    """
    require_offsets(tokenizer)
    if not texts:
        return []
    lead = " " if spaced else ""
    encodings = cut(tokenizer, [lead + encodable(text) for text in texts])
    n_pieces = np.array([len(encoding.ids) for encoding in encodings])
    bounds = np.concatenate([[0], np.cumsum(n_pieces)]).tolist()
    slices = [slice(*pair) for pair in pairwise(bounds)]
    pieces = np.concatenate([np.asarray(encoding.ids, np.int32) for encoding in encodings])
    offsets = np.concatenate(
        [np.asarray(encoding.offsets, np.int32).reshape(-1, 2) for encoding in encodings]
    )
    starts, ends = np.ascontiguousarray(np.maximum(offsets - len(lead), 0).T)
    columns = [(pieces[own], starts[own], ends[own]) for own in slices]
    if parsed is None:
        return [EncodedText(*parts) for parts in columns]
    # All texts laid end to end: one alignment and one walk serve them all.
    text_starts = np.concatenate([[0], np.cumsum([len(text) + 1 for text in texts])[:-1]])
    shift = np.repeat(text_starts, n_pieces)
    together, n_words, n_sentences = _join(parsed, text_starts)
    words = align(together.starts, together.ends, starts + shift, ends + shift)
    syntax = piece_syntax(together, words, mode=mode)
    in_walk = _first_in_walk(mode, words, n_pieces, n_words)
    bases = {
        "word": np.cumsum(n_words) - n_words,
        "sentence": np.cumsum(n_sentences) - n_sentences,
        **dict.fromkeys(("enter", "exit", "point"), in_walk),
    }
    base = np.stack([bases.get(name, 0 * in_walk) for name in COLUMNS]).astype(np.int32)
    table = np.where(words >= 0, syntax.table - np.repeat(base, n_pieces, 1), syntax.table)
    return [
        EncodedText(
            *column,
            syntax=PieceSyntax(table[:, slices[number]]),
            span=int(n_words[number] + n_pieces[number]) + 1,
            n_words=int(n_words[number]),
            n_sentences=int(n_sentences[number]),
        )
        for number, column in enumerate(columns)
    ]


def concatenate(texts: Sequence[EncodedText]) -> EncodedText:
    """Encoded texts one after another as one; what counts over a text goes on counting.

    Character offsets stay those of each text by itself.
    """
    if len(texts) == 1:
        return texts[0]
    syntax = None
    if all(text.syntax is not None for text in texts):
        tables, counted = [], dict.fromkeys(("span", "n_words", "n_sentences"), 0)
        for text in texts:
            assert text.syntax is not None
            tables.append(_shifted(text.syntax.table, counted))
            for name in counted:
                counted[name] += getattr(text, name)
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


def _shifted(table: IntArray, counted: dict[str, int]) -> IntArray:
    """A table that goes on after what other texts have counted."""
    shift = {"word": counted["n_words"], "sentence": counted["n_sentences"]}
    shift |= dict.fromkeys(("enter", "exit", "point"), counted["span"])
    column = np.array([shift.get(name, 0) for name in COLUMNS], np.int32)[:, None]
    has_word = table[COLUMNS.index("word")] >= 0
    return np.where(has_word, table + column, table)


def _join(
    parsed: Sequence[ParsedText], text_starts: NDArray[np.int64]
) -> tuple[ParsedText, NDArray[np.int64], NDArray[np.int64]]:
    """Parsed texts end to end, with the words and the sentences of each."""
    n_words = np.array([len(parse) for parse in parsed])
    n_sentences = np.array([int(p.sentences[-1]) + 1 if len(p) else 0 for p in parsed])
    shift = np.repeat(text_starts, n_words).astype(np.int32)
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
        xpos_labels=labels,
    )
    return together, n_words, n_sentences


def _first_in_walk(
    mode: PieceMode,
    word_of_piece: NDArray[np.int64],
    n_pieces: NDArray[np.int64],
    n_words: NDArray[np.int64],
) -> NDArray[np.int64]:
    """What the walk has counted before each text: words, pieces with a word, or places."""
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
    parsed: ParsedText, word_of_piece: NDArray[np.int64], *, mode: PieceMode = "share"
) -> PieceSyntax:
    """The syntax of pieces from that of their words.

    Args:
        parsed: the parsed text.
        word_of_piece: ``[n_pieces]``, negative for pieces without a word.
        mode: see the module.

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
        point, depth = enter, depth + later
    elif mode == "projection":
        enter, exit_ = _projection_intervals(parsed, word_of_piece)
        point = np.arange(len(word_of_piece), dtype=np.int64)
    else:
        raise InputError(f"mode must be share, first_piece or projection, got {mode!r}")
    tags = np.array(tag_ids(parsed.xpos_labels.names), np.int64)
    word_tags = tags[parsed.xpos] if len(parsed) else tags
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
    """Intervals of a walk over pieces: a word's first piece, its other pieces, its dependents."""
    n_words = len(enter)
    counts = np.bincount(word_of_piece[word_of_piece >= 0], minlength=n_words)
    in_walk = np.zeros(n_words, np.int64)
    in_walk[enter] = counts
    pieces_before = np.concatenate([[0], np.cumsum(in_walk)])
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
    """Intervals over places in the sequence; only first pieces reach beyond themselves."""
    left, right = projections(parsed.heads, parsed.sentences)
    place = np.arange(len(word_of_piece), dtype=np.int64)
    begins = np.searchsorted(place_words := _filled(word_of_piece), left, side="left")
    ends = np.searchsorted(place_words, right, side="right")
    first = first_pieces(word_of_piece, len(left))
    is_first = place == spread(first, word_of_piece, fill=-1)
    begin = np.where(is_first, spread(begins, word_of_piece, fill=0), place)
    end = np.where(is_first, spread(ends, word_of_piece, fill=0), place + 1)
    return begin, end


def _filled(word_of_piece: NDArray[np.int64]) -> NDArray[np.int64]:
    """Words of pieces in which pieces without a word count to the word before them."""
    return np.asarray(np.maximum.accumulate(np.append(-1, word_of_piece))[1:], np.int64)
