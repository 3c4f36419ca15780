"""The terms of a text: what a keyword search compares."""

from __future__ import annotations

import re
from collections.abc import Iterable

from syntagma.errors import InputError, MissingExtraError

_WORD = re.compile(r"\w+")
LANGUAGES = ("english", "none")
"""Languages whose words are reduced to stems; with ``none`` words are compared as they are."""


class TermFinder:
    """Splits texts into terms: words in lower case, reduced to their stems.

    Function words are kept, since their weight in BM25 is next to nothing, and a question may
    consist of nothing else.

    Args:
        language: one of :data:`LANGUAGES`.

    Raises:
        InputError: there is no such language.
        MissingExtraError: the package of the stemmer is not installed.
    """

    def __init__(self, language: str = "english") -> None:
        if language not in LANGUAGES:
            raise InputError(f"language: expected one of {', '.join(LANGUAGES)}, got {language!r}")
        self.language = language
        self._stemmer = None
        if language != "none":
            try:
                import Stemmer
            except ImportError as error:
                raise MissingExtraError("searching documents", "documents") from error
            self._stemmer = Stemmer.Stemmer(language)

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text, in its order.

        Args:
            text: any text.
        """
        words = _WORD.findall(text.lower())
        return words if self._stemmer is None else self._stemmer.stemWords(words)

    def numbered(self, texts: Iterable[str]) -> tuple[list[list[int]], dict[str, int]]:
        """Return the terms of texts as numbers.

        Args:
            texts: any texts.

        Returns:
            The numbers of the terms of each text, and the number of each term.
        """
        numbers: dict[str, int] = {}
        rows = []
        for text in texts:
            rows.append([numbers.setdefault(term, len(numbers)) for term in self.terms(text)])
        return rows, numbers
