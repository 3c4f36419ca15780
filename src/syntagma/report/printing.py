"""Parses on an output stream: CoNLL-U, JSON lines, or one picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from syntagma.errors import InputError
from syntagma.parse.parser import JointParser
from syntagma.parse.stream import parse_file
from syntagma.report.tree_svg import document_svg
from syntagma.text.sentence import Parse

__all__ = ["format_json", "write_parses"]


def write_parses(
    paths: Sequence[str | Path],
    parser: JointParser,
    *,
    kind: str = "text",
    to: str = "conllu",
    out: IO[str],
) -> None:
    """Parse files and write the parses as they come.

    Args:
        paths: files, or ``-``.
        parser: parses.
        kind: of the input, see :func:`parse_file`.
        to: ``conllu``; ``json``, an object a sentence and line; or ``svg``, one picture of all
            trees, for which they are kept in memory.
        out: where to.

    Raises:
        InputError: a file cannot be read, or ``to`` is unknown.
    """
    if to not in ("conllu", "json", "svg"):
        raise InputError(f"--to must be one of conllu, json, svg; got {to!r}")
    found = (item for path in paths for item in parse_file(path, parser, kind=kind))
    if to == "svg":
        out.write(document_svg([item.parse for item in found]))
        return
    for item in found:
        out.write(item.conllu() if to == "conllu" else format_json(item.parse) + "\n")


def format_json(parse: Parse) -> str:
    """One line of JSON: words with offsets, heads, relations, tags and probabilities."""
    sentence = parse.sentence
    words: list[dict[str, Any]] = [
        {
            "form": form,
            "start": start,
            "end": end,
            "head": head,
            "relation": relation,
            "upos": upos,
            "xpos": xpos,
        }
        for form, start, end, head, relation, upos, xpos in zip(
            sentence.forms,
            sentence.starts,
            sentence.ends,
            parse.heads,
            parse.relations,
            parse.upos,
            parse.xpos,
            strict=True,
        )
    ]
    if parse.probabilities is not None:
        for word, probability in zip(words, parse.probabilities, strict=True):
            word["probability"] = round(probability, 4)
    return json.dumps({"words": words}, ensure_ascii=False)
