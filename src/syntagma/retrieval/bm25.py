"""Keyword search: BM25 by the package ``bm25s``, with scores that compare between questions."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import DamagedFileError, MissingExtraError
from syntagma.retrieval.terms import TermFinder

K1, B = 0.9, 0.4
"""Saturation of repeated terms and weight of the length, as Anserini sets them for passages: BM25's
usual 1.5 and 0.75 find a passage less among the first (docs/ask-documents.md)."""


def _package() -> Any:
    try:
        import bm25s
    except ImportError as error:
        raise MissingExtraError("searching documents", "documents") from error
    # It asks for messages that are for its own developers.
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    return bm25s


class KeywordScorer:
    """Scores passages by the terms that they share with a question.

    Args:
        engine: the index of ``bm25s``.
        finder: splits questions into terms as the passages were split.
        n_passages: number of passages.
    """

    def __init__(self, engine: Any, finder: TermFinder, n_passages: int) -> None:
        self._engine = engine
        self.finder = finder
        self.n_passages = n_passages

    @classmethod
    def build(cls, texts: Iterable[str], finder: TermFinder) -> KeywordScorer:
        """Index texts.

        Args:
            texts: the passages.
            finder: splits them into terms.

        Raises:
            MissingExtraError: a package is not installed.
        """
        rows, numbers = finder.numbered(texts)
        engine = _package().BM25(k1=K1, b=B)
        if numbers:
            engine.index((rows, numbers), show_progress=False)
        return cls(engine if numbers else None, finder, len(rows))

    def save(self, folder: Path) -> None:
        """Write the index into a folder, which does not exist yet."""
        folder.mkdir()
        if self._engine is not None:
            self._engine.save(folder, show_progress=False)

    @classmethod
    def open(cls, folder: Path, finder: TermFinder, n_passages: int) -> KeywordScorer:
        """Map an index into memory.

        Args:
            folder: written by :meth:`save`.
            finder: the one that it was built with.
            n_passages: number of passages.

        Raises:
            DamagedFileError: a file is missing or broken.
            MissingExtraError: a package is not installed.
        """
        package = _package()
        try:
            if not any(folder.iterdir()):
                return cls(None, finder, n_passages)
            engine = package.BM25.load(folder, mmap=True, show_progress=False)
            found = int(engine.scores["num_docs"])
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise DamagedFileError(
                f"{folder}: cannot be read ({type(error).__name__}); build the index again"
            ) from error
        if found != n_passages:
            raise DamagedFileError(
                f"{folder}: has {found} passages, and the index {n_passages}; build the index again"
            )
        return cls(engine, finder, n_passages)

    def scores(self, question: str) -> NDArray[np.float32]:
        """Score every passage, from 0 to 1.

        A score is the share of the highest that any passage could reach: of one that repeats every
        term of the question without end.  Terms that no passage has count, so that a question about
        something else scores low.

        Args:
            question: any question.

        Returns:
            The scores, ``[n_passages]``.
        """
        terms = self.finder.terms(question)
        if self._engine is None or not terms:
            return np.zeros(self.n_passages, dtype=np.float32)
        numbers = self._engine.get_tokens_ids(terms)
        found = np.zeros(self.n_passages, dtype=np.float32)
        if numbers:
            found = self._engine.get_scores_from_ids(numbers)
        starts = self._engine.scores["indptr"]
        known = [int(starts[number + 1] - starts[number]) for number in numbers]
        frequencies = np.array(known + [0] * (len(terms) - len(known)))
        # The part of a term that repeats without end tends to its inverse document frequency.
        highest = np.log1p((self.n_passages - frequencies + 0.5) / (frequencies + 0.5)).sum()
        return np.asarray(found / highest, dtype=np.float32)
