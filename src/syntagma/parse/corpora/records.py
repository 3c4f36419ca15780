"""Records of a corpus: one a line or one a sentence, every one of them accounted for."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from glob import glob
from pathlib import Path
from typing import IO, NamedTuple

from syntagma.errors import InputError
from syntagma.files import STANDARD_INPUT, unpacked
from syntagma.text.conllu import parse_conllu
from syntagma.text.sentence import Sentence

__all__ = ["KINDS", "Reader", "Record", "expand", "kind_of", "reader_of"]

KINDS = ("text", "lines", "words", "jsonl", "conllu")
ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".conllu": "conllu", ".conll": "conllu"}

SURROGATE = re.compile("[\ud800-\udfff]")


class Record(NamedTuple):
    """A record of the input.

    Args:
        number: from 1: the line, or the sentence of a treebank.
        text: what to parse; empty for a blank record.
        sentences: its words where they are given, else ``None``.
        bad: why the record cannot be used, with its place; empty if it can.
        position: bytes of the file that are read so far, as they lie on disk.
    """

    number: int
    text: str
    sentences: tuple[Sentence, ...] | None = None
    bad: str = ""
    position: int = 0


Reader = Callable[[str], Iterator[Record]]
"""From a path to its records."""


def kind_of(path: str) -> str:
    """The kind of a file by the end of its name; ``text`` for all others."""
    return ENDINGS.get(Path(path.removesuffix(".gz")).suffix, "text")


def kind_of_all(paths: list[str]) -> str:
    """The one kind of several files, by their names.

    Raises:
        InputError: they are of several kinds.
    """
    kinds = {kind_of(path) for path in paths}
    if len(kinds) > 1:
        raise InputError(
            f"the names of the input files speak of several kinds ({', '.join(sorted(kinds))}); "
            f"annotate each by itself, or say what they are with --from"
        )
    return kinds.pop()


def reader_of(kind: str, *, field: str = "text") -> Reader:
    """The reader of a kind of input.

    Args:
        kind: ``text`` has a document or paragraph a line; ``lines`` a sentence a line; ``words`` a
            sentence a line with spaces between its words, which are kept; ``jsonl`` an object a
            line; ``conllu`` treebank sentences, whose words are kept.
        field: of a JSON object, where its text is.

    Raises:
        InputError: there is no such kind.
    """
    if kind == "jsonl":
        return partial(_json_records, field=field)
    if kind == "conllu":
        return _treebank_records
    if kind in KINDS:
        return _line_records
    raise InputError(f"--from must be one of {', '.join(KINDS)}; got {kind!r}")


def expand(inputs: list[str]) -> list[str]:
    """Paths and glob patterns as paths, each pattern's in order of the alphabet.

    Raises:
        InputError: a pattern matches nothing, or a file is missing or named twice.
    """
    paths: list[str] = []
    for name in inputs:
        if name == STANDARD_INPUT or (Path(name).exists() and not Path(name).is_dir()):
            found = [name]
        elif any(sign in name for sign in "*?["):
            found = sorted(path for path in glob(name, recursive=True) if Path(path).is_file())
            if not found:
                raise InputError(f"{name}: matches no file")
        elif Path(name).is_dir():
            raise InputError(f"{name}: is a folder; give its files, as in '{name}/*.txt'")
        else:
            raise InputError(f"{name}: no such file; give an existing file or a pattern")
        paths += found
    if twice := [path for path, count in Counter(paths).items() if count > 1]:
        raise InputError(f"{min(twice)}: named twice")
    return paths


class _Line(NamedTuple):
    number: int
    text: str
    bad: str
    position: int


def _lines(path: str) -> Iterator[_Line]:
    """Lines without their ends; those that are not UTF-8 are bad, the others still come."""
    with _open_bytes(path) as (file, raw):
        number = 0
        try:
            for line in file:
                number += 1
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                position = raw.tell() if raw is not None else 0
                try:
                    yield _Line(number, line.rstrip(b"\r\n").decode("utf-8"), "", position)
                except UnicodeDecodeError as error:
                    bad = f"{path}, line {number}: not UTF-8 ({error.reason})"
                    yield _Line(number, "", bad, position)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(
                f"{path}: damaged gzip file after line {number}; fetch it again"
            ) from error


class _open_bytes:
    """A file as bytes, unpacked, and the file below that knows how far it is read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.raw: io.BufferedReader | None = None

    def __enter__(self) -> tuple[IO[bytes], IO[bytes] | None]:
        if self.path == STANDARD_INPUT:
            return sys.stdin.buffer, None
        try:
            self.raw = open(self.path, "rb")
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({error.strerror})") from error
        # How far a pipe is read it cannot say.
        return unpacked(self.raw), self.raw if self.raw.seekable() else None

    def __exit__(self, *_: object) -> None:
        if self.raw is not None:
            self.raw.close()


def _line_records(path: str) -> Iterator[Record]:
    for number, text, bad, position in _lines(path):
        yield Record(number, text if text.strip() else "", None, bad, position)


def _json_records(path: str, field: str) -> Iterator[Record]:
    for number, line, bad, position in _lines(path):
        text = ""
        if line.strip() and not bad:
            text, bad = _text_of_object(line, field, f"{path}, line {number}")
        yield Record(number, text if text.strip() else "", None, bad, position)


def _text_of_object(line: str, field: str, place: str) -> tuple[str, str]:
    """The text, or what is wrong."""
    try:
        value = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        return "", f"{place}: broken JSON ({error})"
    if not isinstance(value, dict):
        return "", f"{place}: expected a JSON object with the field {field!r}, got {line[:40]!r}"
    if not isinstance(value.get(field), str):
        found = ", ".join(map(repr, value)) or "none"
        return "", f"{place}: expected text in the field {field!r}; it has the fields {found}"
    # JSON can spell halves of characters, which no file can hold.
    return SURROGATE.sub("\ufffd", value[field]), ""


def _treebank_records(path: str) -> Iterator[Record]:
    number = 0
    for first_line, lines, bad, position in _treebank_blocks(path):
        number += 1
        if bad:
            yield Record(number, "", None, bad, position)
            continue
        try:
            for found in parse_conllu(lines, name=path, first_line=first_line):
                yield Record(number, found.text, (found.sentence(),), "", position)
        except InputError as error:
            yield Record(number, "", None, str(error), position)


class _TreebankBlock(NamedTuple):
    first_line: int
    lines: list[str]
    bad: str
    position: int


def _treebank_blocks(path: str) -> Iterator[_TreebankBlock]:
    """The lines of each sentence, comments that stand alone left out."""
    lines: list[str] = []
    first_line, bad, position = 1, "", 0
    for number, line, wrong, position in _lines(path):
        if line.strip() or wrong:
            if not lines:
                first_line = number
            lines.append(line)
            bad = bad or wrong
            continue
        if any(not row.startswith("#") for row in lines) or bad:
            yield _TreebankBlock(first_line, lines, bad, position)
        lines, bad = [], ""
    if any(not row.startswith("#") for row in lines) or bad:
        yield _TreebankBlock(first_line, lines, bad, position)
