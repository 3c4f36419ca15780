"""What a source of parses is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, Protocol

from syntagma.text.sentence import Parse

__all__ = ["Mode", "ParseSource"]

Mode = Literal["raw", "words"]
"""Running text, or words with spaces between them."""


class ParseSource(Protocol):
    """Anything that parses texts."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the parses of the same text may change."""
        ...

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """The sentences of each text, in order; offsets index into the text."""
        ...
