"""The gold trees of a treebank as a parse source."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from syntagma.encoders.default import sha256
from syntagma.errors import InputError
from syntagma.parse.sources.source import Mode
from syntagma.text.conllu import read_conllu
from syntagma.text.sentence import Parse, Sentence


class TreebankSource:
    """Looks up parses in CoNLL-U files; each text must be a sentence of these files.

    Args:
        paths: one file or several.
        mode: ``words`` if texts are the sentences' words separated by spaces.

    Raises:
        InputError: a file cannot be read, or a sentence is not a tree.
    """

    def __init__(self, paths: str | Path | Sequence[str | Path], *, mode: Mode = "raw") -> None:
        paths = [paths] if isinstance(paths, str | Path) else paths
        self.paths = paths
        self.mode = mode
        self._parses: dict[str, Parse] = {}
        for path in paths:
            for rows in read_conllu(path):
                parse = rows.parse()
                if mode == "words":
                    forms = parse.sentence.forms
                    parse = replace(parse, sentence=Sentence.from_words(forms))
                    self._parses[" ".join(forms)] = parse
                else:
                    self._parses[rows.text] = parse

    @functools.cached_property
    def fingerprint(self) -> str:
        """Hashes of the files, the same wherever they are copied."""
        files = ",".join(sha256(Path(path)) for path in self.paths)
        return f"conllu:{files}{'' if self.mode == 'raw' else f':{self.mode}'}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """Look up the parse of each text.

        Args:
            texts: sentences of the files.

        Raises:
            InputError: a text is not in the files.
        """
        for text in texts:
            if text not in self._parses:
                files = ", ".join(map(str, self.paths))
                raise InputError(f"{files}: no sentence with the text {text[:60]!r}")
            yield [self._parses[text]]
