"""Read the records of a corpus; blank and invalid ones are yielded too, so that all are counted."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from glob import glob
from pathlib import Path
from typing import IO, NamedTuple

from syntagma.errors import DiskError, InputError
from syntagma.file_names import is_named
from syntagma.files import STANDARD_INPUT, bounded_lines, nul_error, require_end, unpacked
from syntagma.json_values import parse_json
from syntagma.text.conllu import parse_conllu
from syntagma.text.sentence import Sentence

KINDS = ("text", "lines", "words", "jsonl", "conllu")
ENDINGS = {"jsonl": (".jsonl", ".ndjson"), "conllu": (".conllu", ".conll")}


class Record(NamedTuple):
    """A record of the input.

    Args:
        number: number of the line, or of the treebank sentence, from 1.
        text: the text to parse; empty for a blank record.
        sentences: the sentences if their words are given, otherwise ``None``.
        bad: where and why the record is invalid; empty for a valid record.
        position: number of bytes read from the file so far, before decompression.
    """

    number: int
    text: str
    sentences: tuple[Sentence, ...] | None = None
    bad: str = ""
    position: int = 0


Reader = Callable[[str], Iterator[Record]]
"""Reads the records of a file, given its path."""


def kind_of(path: str) -> str:
    """Infer the kind of a file from its name; ``text`` if the suffix is unknown.

    Args:
        path: path of the file, with or without ``.gz``.
    """
    return next((kind for kind, known in ENDINGS.items() if is_named(path, *known)), "text")


def kind_of_all(paths: list[str]) -> str:
    """Infer the common kind of several files from their names.

    Args:
        paths: paths of the files.

    Raises:
        InputError: the files are of different kinds.
    """
    kinds = {kind_of(path) for path in paths}
    if len(kinds) > 1:
        raise InputError(
            f"the input files have several kinds by their names ({', '.join(sorted(kinds))}); "
            f"annotate each kind separately, or give the kind of all with --from"
        )
    return kinds.pop()


def reader_of(kind: str, *, field: str = "text") -> Reader:
    """Return the reader of a kind of input.

    Args:
        kind: ``text`` for a document or paragraph per line; ``lines`` for a sentence per line;
            ``words`` for a sentence per line with words separated by spaces, which are kept;
            ``jsonl`` for a JSON object per line; ``conllu`` for treebank sentences, whose words are
            kept.
        field: field of a JSON object that contains the text.

    Raises:
        InputError: the kind is unknown.
    """
    if kind == "jsonl":
        return partial(_json_records, field=field)
    if kind == "conllu":
        return _treebank_records
    if kind in KINDS:
        return _line_records
    raise InputError(f"--from must be one of {', '.join(KINDS)}; got {kind!r}")


def expand_paths(inputs: list[str]) -> list[str]:
    """Expand glob patterns; the files of a pattern are in alphabetical order.

    Args:
        inputs: paths, patterns, or ``-`` for standard input.

    Raises:
        InputError: a pattern matches nothing, or a file is missing or given twice.
    """
    paths: list[str] = []
    for name in inputs:
        # A file whose name contains the characters of a pattern is taken literally.
        if name == STANDARD_INPUT or (Path(name).exists() and not Path(name).is_dir()):
            matches = [name]
        elif any(character in name for character in "*?["):
            matches = sorted(path for path in glob(name, recursive=True) if Path(path).is_file())
            if not matches:
                raise InputError(f"{name}: the pattern matches no file")
        elif Path(name).is_dir():
            raise InputError(f"{name}: is a folder; give its files, as in '{name}/*.txt'")
        else:
            raise InputError(f"{name}: no such file; give an existing file or a pattern")
        paths += matches
    if repeated := [path for path, count in Counter(paths).items() if count > 1]:
        raise InputError(f"{min(repeated)}: given twice; give each file once")
    return paths


class _Line(NamedTuple):
    """A line, or the reason why it is invalid."""

    number: int
    text: str
    bad: str
    position: int


def _lines(path: str) -> Iterator[_Line]:
    """Yield lines without their ends; lines that are not UTF-8 text are yielded as invalid ones."""
    with _open_bytes(path) as (file, raw):
        number = 0
        try:
            for line in bounded_lines(file, path):
                number += 1
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                # In a compressed file this is ahead of the line: decompression reads blocks.
                position = raw.tell() if raw is not None else 0
                text = bad = ""
                try:
                    text = line.rstrip(b"\r\n").decode("utf-8")
                except UnicodeDecodeError as error:
                    bad = f"{path}, line {number}: not UTF-8 ({error.reason})"
                if "\0" in text:
                    text, bad = "", str(nul_error(path, f"in line {number}"))
                yield _Line(number, text, bad, position)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(
                f"{path}: damaged gzip file after line {number}; get the file again"
            ) from error
        except OSError as error:
            raise DiskError(
                f"{path}: cannot be read after line {number} ({error.strerror})"
            ) from error


class _open_bytes:
    """Open a file for reading bytes, decompressed.

    Yields that file, and the underlying file, whose position tells the progress; ``None`` if it has
    no position.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.raw: io.BufferedReader | None = None

    def __enter__(self) -> tuple[IO[bytes], IO[bytes] | None]:
        if self.path == STANDARD_INPUT:
            return sys.stdin.buffer, None
        try:
            self.raw = open(self.path, "rb")
            require_end(self.raw, self.path)
            # Pipes have no position.
            return unpacked(self.raw), self.raw if self.raw.seekable() else None
        except OSError as error:
            raise DiskError(f"{self.path}: cannot be read ({error.strerror})") from error

    def __exit__(self, *_: object) -> None:
        if self.raw is not None:
            self.raw.close()


def _line_records(path: str) -> Iterator[Record]:
    """Yield a record for each line."""
    for number, text, bad, position in _lines(path):
        yield Record(number, text if text.strip() else "", None, bad, position)


def _json_records(path: str, field: str) -> Iterator[Record]:
    """Yield a record for each line, which is a JSON object."""
    for number, line, bad, position in _lines(path):
        text = ""
        if line.strip() and not bad:
            text, bad = _text_of_object(line, field, f"{path}, line {number}")
        yield Record(number, text if text.strip() else "", None, bad, position)


def _text_of_object(line: str, field: str, place: str) -> tuple[str, str]:
    """Return the text of a JSON object, and what is wrong with the object."""
    try:
        value = parse_json(line)
    except ValueError as error:
        return "", f"{place}: broken JSON ({error})"
    if not isinstance(value, dict):
        return "", f"{place}: expected a JSON object with the field {field!r}, got {line[:40]!r}"
    if not isinstance(value.get(field), str):
        fields = ", ".join(map(repr, value)) or "none"
        return "", f"{place}: expected text in the field {field!r}, got the fields {fields}"
    return value[field], ""


def _treebank_records(path: str) -> Iterator[Record]:
    """Yield a record for each sentence of a CoNLL-U file."""
    number = 0
    for first_line, lines, bad, position in _split_treebank(path):
        number += 1
        if bad:
            yield Record(number, "", None, bad, position)
            continue
        try:
            for sentence in parse_conllu(lines, name=path, first_line=first_line):
                yield Record(number, sentence.text, (sentence.sentence(),), "", position)
        except InputError as error:
            yield Record(number, "", None, str(error), position)


class _SentenceLines(NamedTuple):
    """The lines of one treebank sentence."""

    first_line: int
    lines: list[str]
    bad: str
    position: int


def _split_treebank(path: str) -> Iterator[_SentenceLines]:
    """Split a file at blank lines; blocks that consist of comments only are dropped."""
    lines: list[str] = []
    first_line, bad, position = 1, "", 0
    for number, line, bad_line, position in _lines(path):
        if line.strip() or bad_line:
            if not lines:
                first_line = number
            lines.append(line)
            # One invalid line makes the sentence invalid; the first one is reported.
            bad = bad or bad_line
            continue
        if any(not row.startswith("#") for row in lines) or bad:
            yield _SentenceLines(first_line, lines, bad, position)
        lines, bad = [], ""
    if any(not row.startswith("#") for row in lines) or bad:
        yield _SentenceLines(first_line, lines, bad, position)
