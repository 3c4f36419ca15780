"""Check and print annotated corpora."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from syntagma.cli.printing import FORMATS
from syntagma.errors import InputError
from syntagma.parse.corpora.corpus import AnnotatedCorpus
from syntagma.parse.sources.stream import ParsedSentence
from syntagma.text.conllu import TreebankSentence

__all__ = ["check_corpora", "write_corpora"]


def check_corpora(folders: Sequence[str | Path]) -> int:
    """Compare corpora with their manifests.

    Returns:
        Sentences that were found whole.

    Raises:
        InputError: something is wrong; the first problem is named and the others counted.
    """
    total = 0
    for folder in folders:
        corpus = AnnotatedCorpus(folder)
        if problems := corpus.check():
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise InputError(
                f"{folder}: {problems[0]}{more}; annotate again with --resume to make what is "
                f"missing or damaged anew"
            )
        total += len(corpus)
    return total


def write_corpora(folders: Sequence[str | Path], *, to: str, out: IO[str]) -> None:
    """Print annotated corpora.

    Args:
        folders: of corpora with text.
        to: ``conllu`` or ``json``.
        out: where to.

    Raises:
        InputError: a folder holds no corpus with text, or ``to`` is another format.
    """
    if to not in ("conllu", "json"):
        raise InputError(f"--from parquet can be printed --to conllu or json; got {to!r}")
    for folder in folders:
        for found in AnnotatedCorpus(folder).sentences():
            sentence = found.parse.sentence
            local = replace(found.parse, sentence=sentence.shift(-sentence.start))
            rows = TreebankSentence.from_parse(local, text=found.text)
            out.write(FORMATS[to](ParsedSentence(found.parse, rows)))
