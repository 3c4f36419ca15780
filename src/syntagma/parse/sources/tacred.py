"""The dependency trees in TACRED's files as a parse source, and its tokens as texts.

The text of an example is its tokens joined by single spaces, with brackets unescaped (``(`` for
``-LRB-``).  File format: https://nlp.stanford.edu/projects/tacred.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from syntagma.encoders.default import sha256
from syntagma.errors import InputError
from syntagma.files import read_objects
from syntagma.text.conllu import TreebankSentence
from syntagma.text.escapes import unescape
from syntagma.text.sentence import Parse, Sentence

log = logging.getLogger(__name__)

COLUMNS = ("stanford_pos", "stanford_head", "stanford_deprel")


def tacred_words(row: Mapping[str, Any]) -> Sentence | None:
    """Return the words of an example with offsets in its text.

    Args:
        row: the JSON object of the example.

    Returns:
        ``None`` if ``token`` is not a list of strings.
    """
    tokens = row.get("token")
    if not isinstance(tokens, list) or not tokens:
        return None
    if not all(isinstance(token, str) for token in tokens):
        return None
    return Sentence.spaced([unescape(token) for token in tokens])


class TacredSource:
    """Looks up parses in TACRED files; each text must be a sentence of these files.

    Args:
        paths: the files, ``.json`` or ``.jsonl``.

    Raises:
        InputError: a file cannot be read, or the heads of a sentence do not form a tree.
    """

    def __init__(self, paths: Sequence[str | Path]) -> None:
        self.paths = list(paths)
        self._parses: dict[str, Parse] = {}
        for path in self.paths:
            for place, row in read_objects(path):
                parse = _parse(row, place)
                # A sentence occurs once for each pair of its mentions, normally with the same tree.
                text = " ".join(parse.sentence.forms)
                if self._parses.setdefault(text, parse).heads != parse.heads:
                    log.warning("%s: the tree differs from the first one of the same text; the "
                                "first one is used", place)  # fmt: skip

    @functools.cached_property
    def fingerprint(self) -> str:
        """Hashes of the files, the same wherever they are copied."""
        return f"tacred:{','.join(sha256(Path(path)) for path in self.paths)}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """Look up the parse of each text.

        Args:
            texts: sentences of the files.

        Raises:
            InputError: a text is not in the files.
        """
        for text in texts:
            if text not in self._parses:
                raise InputError(
                    f"{', '.join(map(str, self.paths))}: no sentence with the text {text[:60]!r}; "
                    f"name all files whose texts are needed, as in tacred:train.json,dev.json"
                )
            yield [self._parses[text]]


def _parse(row: dict[str, Any] | str, place: str) -> Parse:
    """Convert an example; ``row`` is an error message if it could not be read."""
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
    # The treebank reader checks the tree; its origin is the beginning of its messages.
    tree = TreebankSentence((), rows, f"{place}: the given heads do not form a tree")
    return replace(tree.parse(), sentence=sentence)


def _column(row: dict[str, Any], name: str, n_words: int, place: str) -> list[str]:
    """Return one value per word, as strings, as in a treebank."""
    values = row.get(name)
    if not isinstance(values, list) or len(values) != n_words:
        raise InputError(
            f"{place}: expected a list of {n_words} values as `{name}`, one per word; if the file "
            f"has no trees, use another parser"
        )
    return list(map(str, values))
