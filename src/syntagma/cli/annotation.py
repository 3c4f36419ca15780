"""Verify and print annotated corpora."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count, pairwise
from pathlib import Path
from typing import IO

from syntagma.cli.printing import FORMATS
from syntagma.errors import InputError
from syntagma.parse.corpora.corpus import AnnotatedCorpus, CorpusSentence
from syntagma.parse.sources.stream import ParsedSentence
from syntagma.text.conllu import TreebankSentence


def check_corpora(folders: Sequence[str | Path]) -> int:
    """Verify corpora against their manifests.

    Args:
        folders: folders of annotated corpora.

    Returns:
        The number of verified sentences.

    Raises:
        InputError: a file is damaged or missing; names the first problem and counts the others.
    """
    total = 0
    for folder in folders:
        corpus = AnnotatedCorpus(folder)
        if problems := corpus.check():
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise InputError(
                f"{folder}: {problems[0]}{more}; run annotate again with --resume to repair the "
                f"missing or damaged files"
            )
        total += len(corpus)
    return total


def write_corpora(folders: Sequence[str | Path], *, to: str, out: IO[str]) -> None:
    """Print annotated corpora; sentences are numbered from 1, over all folders.

    Args:
        folders: folders of annotated corpora with text.
        to: ``conllu`` or ``json``.
        out: stream to write to.

    Raises:
        InputError: a folder does not contain a corpus with text, or ``to`` is another format.
    """
    if to not in ("conllu", "json"):
        raise InputError(f"--from parquet supports --to conllu and --to json, got {to!r}")
    documents: set[tuple[int, int, int]] = set()
    numbers = count(1)
    for place, folder in enumerate(folders):
        for found, after in _with_next(AnnotatedCorpus(folder).sentences()):
            sentence = found.parse.sentence
            local = replace(found.parse, sentence=sentence.shift(-sentence.start))
            document = (place, found.file, found.document)
            comments = () if document in documents else ("# newdoc",)
            documents = {document}
            rows = TreebankSentence.from_parse(local, text=found.text + after, comments=comments)
            out.write(FORMATS[to](ParsedSentence(found.parse, rows.with_id(str(next(numbers))))))


def _with_next(sentences: Iterable[CorpusSentence]) -> Iterator[tuple[CorpusSentence, str]]:
    """Yield each sentence with the text that follows it without a space; empty if none does."""
    for found, following in pairwise(chain(sentences, [None])):
        assert found is not None
        touches = (
            following is not None
            and (following.file, following.document) == (found.file, found.document)
            and following.parse.sentence.start == found.parse.sentence.end
        )
        yield found, following.text if following is not None and touches else ""
