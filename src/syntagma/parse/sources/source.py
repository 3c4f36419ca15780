"""The interface of parse sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, Protocol

from syntagma.text.sentence import Parse

Mode = Literal["raw", "words"]
"""Running text, or words separated by spaces."""


class ParseSource(Protocol):
    """Anything that returns parses of texts.

    An object with these two attributes can be given wherever a parser is named.  It need not be
    derived from this class.
    """

    @property
    def fingerprint(self) -> str:
        """A string that changes whenever the parses of the same text may change."""
        ...

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """Return the parses of each text's sentences, in order; offsets refer to the text.

        Args:
            texts: any texts.
        """
        ...
