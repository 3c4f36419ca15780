"""A parse source for pretokenized texts, whose words are separated by spaces."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from syntagma.batches import batched
from syntagma.text.segmentation.segment import segment
from syntagma.text.sentence import Parse, Sentence

if TYPE_CHECKING:
    from syntagma.parse.parser import JointParser

BATCH_SIZE = 256
"""Number of texts that are parsed together."""
HYPHEN = "@-@"


class GivenWordsSource:
    """Parses texts with one sentence per line and words separated by spaces.

    Words that a machine translation tokenizer has escaped (``&apos;``, ``@-@``) are unescaped
    before they are parsed.

    Args:
        parser: parses the sentences.
    """

    def __init__(self, parser: JointParser) -> None:
        self.parser = parser

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the parser, marked as that of pretokenized texts."""
        return f"words:{self.parser.fingerprint}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """Parse texts; offsets refer to the text as it was given.

        Args:
            texts: texts with words separated by spaces.
        """
        for batch in batched(texts, BATCH_SIZE):
            sentences = [segment(text, mode="words") for text in batch]
            parses = self.parser.parse_stream(map(_unescape, chain.from_iterable(sentences)))
            for sentences_of_text in sentences:
                # The parses get the original words back.
                yield [replace(next(parses), sentence=sentence) for sentence in sentences_of_text]


def _unescape(sentence: Sentence) -> Sentence:
    """Restore the words as they are written in running text."""
    forms = tuple("-" if form == HYPHEN else html.unescape(form) for form in sentence.forms)
    return replace(sentence, forms=forms)
