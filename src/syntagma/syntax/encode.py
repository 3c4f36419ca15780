"""Encode parsed texts as subword pieces with the syntax columns that guides read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagma.parse.columns import Labels, ParsedText
from syntagma.syntax.pieces import COLUMNS, PieceMode, PieceSyntax, column_shifts, piece_syntax
from syntagma.syntax.tags import TagSet
from syntagma.text.alignment import align, cut, encodable, require_offsets
from syntagma.text.unescaped import unescape_text

IntArray = NDArray[np.int32]


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
    base = column_shifts(
        words=np.cumsum(n_words) - n_words,
        sentences=np.cumsum(n_sentences) - n_sentences,
        positions=tour_starts,
    )
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
    shift = column_shifts(
        words=totals["n_words"], sentences=totals["n_sentences"], positions=totals["span"]
    )
    has_word = table[COLUMNS.index("word")] >= 0
    return np.where(has_word, table + shift[:, None], table)


def _join(
    parsed: Sequence[ParsedText], text_starts: NDArray[np.int64]
) -> tuple[ParsedText, NDArray[np.int64], NDArray[np.int64]]:
    """Concatenate parsed texts; also return the number of words and of sentences of each."""
    n_words = np.array([len(parse) for parse in parsed])
    n_sentences = np.array([int(p.sentences[-1]) + 1 if len(p) else 0 for p in parsed])
    shift = np.repeat(text_starts, n_words).astype(np.int32)
    tags, tag_labels = _recoded([(p.xpos, p.xpos_labels) for p in parsed])
    relations, relation_labels = _recoded([(p.relations, p.relation_labels) for p in parsed])
    together = replace(
        parsed[0],
        starts=np.concatenate([p.starts for p in parsed]) + shift,
        ends=np.concatenate([p.ends for p in parsed]) + shift,
        sentences=np.concatenate([p.sentences for p in parsed])
        + np.repeat(np.cumsum(n_sentences) - n_sentences, n_words).astype(np.int32),
        heads=np.concatenate([p.heads for p in parsed]),
        relations=relations,
        xpos=tags,
        parts=np.concatenate([p.parts for p in parsed]),
        relation_labels=relation_labels,
        xpos_labels=tag_labels,
    )
    return together, n_words, n_sentences


def _recoded(columns: Sequence[tuple[IntArray, Labels]]) -> tuple[IntArray, Labels]:
    """Concatenate label codes of several texts, each of which may number them in its own way."""
    labels = Labels()
    # Texts that share a label set recode it once.
    sets = {id(own): own for _, own in columns}
    codes = {key: np.asarray(labels.encode(own.names), np.int32) for key, own in sets.items()}
    return np.concatenate([codes[id(own)][column] for column, own in columns]), labels


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
