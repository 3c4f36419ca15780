"""Parse files of any size as a stream: text, one sentence a line, words, or CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from syntagma.errors import InputError
from syntagma.files import BYTE_ORDER_MARK, read_lines
from syntagma.parse.parser import JointParser
from syntagma.text.conllu import TreebankSentence, format_conllu, read_conllu
from syntagma.text.segmentation.segment import segment_stream
from syntagma.text.sentence import Parse, Sentence

__all__ = ["ParsedSentence", "parse_file"]

MODES = {"text": "raw", "lines": "lines", "words": "words"}
GROUP = 1024
"""Sentences that are parsed together: enough to sort by length, few enough to stream."""


class ParsedSentence(NamedTuple):
    """A parse with the treebank rows that it is printed as.

    Args:
        parse: offsets index into the whole input, for CoNLL-U into the sentence's text.
        source: rows of the input, or new ones.
    """

    parse: Parse
    source: TreebankSentence

    def conllu(self) -> str:
        """Its lines in CoNLL-U."""
        return format_conllu(self.source.with_parse(self.parse))


def parse_file(
    path: str | Path, parser: JointParser, *, kind: str = "text"
) -> Iterator[ParsedSentence]:
    """Parse a file sentence by sentence, in constant memory.

    Args:
        path: a file, its ``.gz``, or ``-`` for standard input.
        parser: parses.
        kind: ``text``; ``lines``, one sentence a line; ``words``, one sentence a line with spaces
            between its words, which are kept; or ``conllu``, whose words are kept.

    Raises:
        InputError: the file cannot be read as what ``kind`` says.
    """
    if kind not in (*MODES, "conllu"):
        known = ", ".join((*MODES, "conllu"))
        raise InputError(
            f"--from must be one of {known}, or parquet, of `syntagma annotate`; got {kind!r}"
        )
    if kind == "conllu":
        yield from _parse_treebank(read_conllu(path), parser)
        return
    empty = True
    for found in _parse_lines(read_lines(path, whole=True), parser, kind):
        empty = False
        yield found
    if empty:
        raise InputError(f"{path}: is empty; expected text")


def _parse_treebank(
    sentences: Iterable[TreebankSentence], parser: JointParser
) -> Iterator[ParsedSentence]:
    source = iter(sentences)
    while group := list(islice(source, GROUP)):
        parses = parser.parse(sentence.sentence() for sentence in group)
        yield from map(ParsedSentence, parses, group)


def _parse_lines(lines: Iterator[str], parser: JointParser, kind: str) -> Iterator[ParsedSentence]:
    """Parse lines with their ends, which count in offsets, as a byte-order mark does."""
    pending: list[_Pending] = []
    first = next(lines, "")
    begin = first.removeprefix(BYTE_ORDER_MARK)
    offset = len(first) - len(begin)
    for text, sentences in segment_stream(chain([begin], lines), mode=MODES[kind]):
        pending += [_Pending(sentence, text, offset) for sentence in sentences]
        offset += len(text)
        if len(pending) >= GROUP:
            yield from _parse_group(pending, parser)
            pending = []
    yield from _parse_group(pending, parser)


class _Pending(NamedTuple):
    sentence: Sentence
    text: str
    offset: int


def _parse_group(group: Sequence[_Pending], parser: JointParser) -> Iterator[ParsedSentence]:
    parses = parser.parse(item.sentence for item in group)
    for item, parse in zip(group, parses, strict=True):
        rows = TreebankSentence.from_parse(parse, text=item.text)
        yield ParsedSentence(replace(parse, sentence=item.sentence.shift(item.offset)), rows)
