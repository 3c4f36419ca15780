"""Print parses as CoNLL-U, JSON lines, Penn brackets, or one picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from syntagma.drawing.tree_svg import document_svg
from syntagma.encoders.default import DEFAULT_PARSER
from syntagma.errors import InputError
from syntagma.parse.parser import JointParser
from syntagma.parse.sources.source import ParseSource
from syntagma.parse.sources.stream import ParsedSentence, parse_file
from syntagma.parse.sources.tokenizers import TokenizedSource
from syntagma.progress import DELAY, progress_bar
from syntagma.text.brackets import format_brackets
from syntagma.text.json_format import format_json


def _json_line(item: ParsedSentence) -> str:
    return format_json(item.parse) + "\n"


def _brackets_line(item: ParsedSentence) -> str:
    parse = item.parse
    return format_brackets(parse.sentence.forms, parse.xpos, parse.constituents or ()) + "\n"


FORMATS: dict[str, Callable[[ParsedSentence], str]] = {
    "conllu": ParsedSentence.conllu,
    "json": _json_line,
    "brackets": _brackets_line,
}


def write_parses(
    paths: Sequence[str | Path],
    parser: JointParser | ParseSource,
    *,
    kind: str = "text",
    to: str = "conllu",
    out: IO[str],
) -> None:
    """Parse files, and write each parse as soon as it is ready.

    Sentences of texts written as CoNLL-U are numbered from 1, over all files (``# sent_id``).

    Args:
        paths: files, or ``-`` for standard input.
        parser: the parser, or another source of parses of running text.
        kind: input format, see :func:`parse_file`.
        to: ``conllu``; ``json``, one object per line and sentence; ``brackets``, one phrase tree
            per line; or ``svg``, one picture of all trees, which are kept in memory for it.
        out: stream to write to.

    Raises:
        InputError: a file cannot be read, ``to`` is unknown, or brackets are requested from a
            parser that decodes dependencies only.
    """
    if to not in (*FORMATS, "svg"):
        raise InputError(f"--to: expected one of {', '.join(FORMATS)}, svg; got {to!r}")
    if to == "brackets":
        own = parser.parser if isinstance(parser, TokenizedSource) else parser
        if not isinstance(own, JointParser):
            raise InputError(f"--to brackets needs a parser with phrases, such as {DEFAULT_PARSER}")
        if own.decoding == "dependencies":
            raise InputError("--to brackets needs --decoding separate or joint")
    found = (item for path in paths for item in parse_file(path, parser, kind=kind))
    if to == "svg":
        out.write(document_svg([item.parse for item in found]))
        return
    # On a terminal, the parses themselves show the progress.
    options = {"desc": "parsing", "unit": "sentence", "delay": DELAY, "disable": out.isatty()}
    for number, item in enumerate(progress_bar(iterable=found, **options), start=1):
        if to == "conllu" and kind != "conllu":
            item = item.with_id(number)
        out.write(FORMATS[to](item))
