"""Parses of texts whose words are given, with spaces between them."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from syntagma.text.segmentation.segment import segment
from syntagma.text.sentence import Parse, Sentence

if TYPE_CHECKING:
    from syntagma.parse.parser import JointParser

__all__ = ["GivenWordsSource"]

GROUP = 256
"""Texts that are parsed together."""
HYPHEN = "@-@"


class GivenWordsSource:
    """A parser that leaves the words between spaces as they are; each line is a sentence.

    The parser reads what the tokenisers of machine translation have escaped (``&apos;``, ``@-@``)
    as it was before.

    Args:
        parser: of the sentences.
    """

    def __init__(self, parser: JointParser) -> None:
        self.parser = parser

    @property
    def fingerprint(self) -> str:
        """Of the parser, and that words are given."""
        return f"words:{self.parser.fingerprint}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """The sentences of each text, in order; offsets index into the text."""
        source = iter(texts)
        while group := list(islice(source, GROUP)):
            sentences = [segment(text, mode="words") for text in group]
            parses = self.parser.parse_stream(map(_unescaped, chain.from_iterable(sentences)))
            for part in sentences:
                yield [replace(next(parses), sentence=sentence) for sentence in part]


def _unescaped(sentence: Sentence) -> Sentence:
    """The sentence with its words as they are written in running text."""
    forms = tuple("-" if form == HYPHEN else html.unescape(form) for form in sentence.forms)
    return replace(sentence, forms=forms)
