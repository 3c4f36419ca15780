"""The trees that TACRED's files bring along, as a parse source; and their words as texts.

A text is the words of a sentence with one space between them, written as people write them
(``(`` for ``-LRB-``).  The files: https://nlp.stanford.edu/projects/tacred.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.files import read_objects
from syntagma.text.brackets import unescape
from syntagma.text.conllu import TreebankSentence
from syntagma.text.sentence import Parse, Sentence

__all__ = ["TacredSource", "tacred_words"]

log = logging.getLogger(__name__)

COLUMNS = ("stanford_pos", "stanford_head", "stanford_deprel")


def tacred_words(row: Mapping[str, Any]) -> Sentence | None:
    """The words of an example with their offsets in its text; ``None`` where they are no words."""
    tokens = row.get("token")
    if not isinstance(tokens, list) or not tokens:
        return None
    if not all(isinstance(token, str) for token in tokens):
        return None
    return Sentence.spaced([unescape(token) for token in tokens])


class TacredSource:
    """Parses read from TACRED files: each text must be one of their sentences.

    Args:
        paths: the files, ``.json`` or ``.jsonl``.

    Raises:
        InputError: a file cannot be read, or the given heads of a sentence are no tree.
    """

    def __init__(self, paths: Sequence[str | Path]) -> None:
        self.paths = list(paths)
        self._parses: dict[str, Parse] = {}
        for path in self.paths:
            for place, row in read_objects(path):
                parse = _parse(row, place)
                # A sentence stands there once for each pair of its names, with the same tree.
                text = " ".join(parse.sentence.forms)
                if self._parses.setdefault(text, parse).heads != parse.heads:
                    log.warning("%s: the tree is another than the first one of this text, which is "
                                "the one that is read", place)  # fmt: skip

    @property
    def fingerprint(self) -> str:
        """Paths and times of the last change."""
        stamps = (f"{path}:{Path(path).stat().st_mtime_ns}" for path in self.paths)
        return f"tacred:{','.join(stamps)}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """The one sentence of each text.

        Raises:
            InputError: the files do not hold a text.
        """
        for text in texts:
            if text not in self._parses:
                raise InputError(
                    f"{', '.join(map(str, self.paths))}: no sentence with the text {text[:60]!r}; "
                    f"name all files that are read, as in tacred:train.json,dev.json"
                )
            yield [self._parses[text]]


def _parse(row: dict[str, Any] | str, place: str) -> Parse:
    """The tree of an example."""
    if isinstance(row, str):
        raise InputError(row)
    place = f"{place} (id {row['id']})" if "id" in row else place
    sentence = tacred_words(row)
    if sentence is None:
        raise InputError(f"{place}: expected a list of words as `token`")
    tags, heads, relations = (_column(row, name, len(sentence), place) for name in COLUMNS)
    rows = tuple(
        (str(index + 1), form, "_", "_", tags[index], "_", heads[index], relations[index], "_", "_")
        for index, form in enumerate(sentence.forms)
    )
    tree = TreebankSentence((), rows, f"{place}: the given heads are no tree")
    return replace(tree.parse(), sentence=sentence)


def _column(row: dict[str, Any], name: str, n_words: int, place: str) -> list[str]:
    """A value of each word, as a treebank writes it."""
    values = row.get(name)
    if not isinstance(values, list) or len(values) != n_words:
        raise InputError(
            f"{place}: expected a list of {n_words} values as `{name}`, one a word; where there is "
            f"none, take another parser"
        )
    return list(map(str, values))
