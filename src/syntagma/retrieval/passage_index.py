"""An index of documents that can be searched."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Self

from syntagma.checks import require_count, require_several, require_text
from syntagma.encoders.reference import full_name
from syntagma.errors import DamagedFileError, InputError
from syntagma.retrieval.bm25 import KeywordScorer
from syntagma.retrieval.build import BuildReport, build_index
from syntagma.retrieval.index_folder import (
    EXTRACTION,
    KEYWORDS,
    IndexSettings,
    IndexState,
    read_state,
)
from syntagma.retrieval.passages import MOST_WORDS
from syntagma.retrieval.ranking import Method, Ranker
from syntagma.retrieval.retriever import Hit, Passage
from syntagma.retrieval.store import REMEDY, Store, StoredDocument
from syntagma.retrieval.terms import TermFinder
from syntagma.retrieval.vectors import SentenceEncoder

log = logging.getLogger(__name__)


def print_problem(line: str) -> None:
    """Print a line on standard error."""
    print(line, file=sys.stderr)


class PassageIndex:
    """The passages of documents, searched by keywords and by meaning.

    It is a :class:`syntagma.retrieval.retriever.Retriever`.  An open index does not change, even
    while another process brings its folder up to date; open it again to see the changes.

    Args:
        folder: of the index.
        state: what its ``index.json`` says.
        store: its passages.
        keywords: scores them by terms.
        device: where to compute the vectors of questions.

    Attributes:
        report: what :meth:`build` did; ``None`` for an index that was only opened.
    """

    def __init__(
        self,
        folder: Path,
        state: IndexState,
        store: Store,
        keywords: KeywordScorer,
        *,
        device: str = "cpu",
    ) -> None:
        self.folder = folder
        self.state = state
        self.store = store
        self._keywords = keywords
        self.device = device
        self.report: BuildReport | None = None

    @classmethod
    def build(
        cls,
        sources: Iterable[str | Path],
        folder: str | Path,
        *,
        encoder: str | Path = "default",
        language: str = "english",
        passage_words: int = MOST_WORDS,
        on_problem: Callable[[str], None] = print_problem,
        progress: bool = False,
        device: str = "cpu",
    ) -> Self:
        """Index documents, or bring an existing index up to date, and open it.

        Args:
            sources: files and folders; afterwards the index holds what they hold.
            folder: of the index; absent, empty, or an index.
            encoder: computes the vectors: ``default``, ``accurate``, a folder or a hub name of a
                sentence encoder; ``none`` for keywords alone, which needs no model.
            language: of the texts, whose words are reduced to stems: ``english`` or ``none``.
            passage_words: the greatest number of words of a passage.
            on_problem: called with one line for each file that cannot be read; by default the line
                is printed on standard error.
            progress: whether to show a progress bar.
            device: where to compute vectors.

        Raises:
            InputError: a source does not exist, nothing could be read, or the folder is something
                else.
            MissingExtraError: the packages that read documents are not installed.
        """
        if isinstance(sources, str | Path):
            raise InputError(
                f"sources: expected a list of paths, got one; write [{str(sources)!r}]"
            )
        require_count(passage_words, "passage_words", least=20)
        with_vectors = encoder not in ("", "none")
        vectors_by = SentenceEncoder(encoder, device=device) if with_vectors else None
        settings = IndexSettings(
            encoder=full_name(vectors_by.ref) if vectors_by is not None else "",
            encoder_digest=vectors_by.digest if vectors_by is not None else "",
            language=language,
            passage_words=passage_words,
        )
        report = build_index(
            sources,
            folder,
            settings=settings,
            encoder=vectors_by,
            on_problem=on_problem,
            progress=progress,
        )
        index = cls.open(folder, device=device)
        index.report = report
        return index

    @classmethod
    def open(cls, folder: str | Path, *, device: str = "cpu") -> Self:
        """Open an index; its files are mapped into memory, not read.

        Args:
            folder: of the index.
            device: where to compute the vectors of questions.

        Raises:
            InputError: the folder is no index, or was written by a later version.
            DamagedFileError: a file is missing or broken.
            MissingExtraError: the packages that search documents are not installed.
        """
        folder = Path(folder)
        state = read_state(folder)
        if state.settings.extraction != EXTRACTION:
            log.warning(
                "%s: was built by another version, whose keywords differ in scripts without spaces "
                "and with combining marks; bring it up to date: syntagma index SOURCE --out %s",
                folder,
                folder,
            )
        while True:
            try:
                store = Store(folder / state.generation)
                finder = TermFinder(state.settings.language)
                path = folder / state.generation / KEYWORDS
                keywords = KeywordScorer.open(path, finder, len(store))
            except DamagedFileError:
                # Another process may have replaced the generation since.
                before, state = state, read_state(folder)
                if state == before:
                    raise
                continue
            return cls(folder, state, store, keywords, device=device)

    @property
    def documents(self) -> list[StoredDocument]:
        """The documents, with those that could not be read."""
        return self.store.documents

    def __len__(self) -> int:
        return len(self.store)

    def __repr__(self) -> str:
        state = self.state
        return (
            f"{type(self).__name__}({str(self.folder)!r}: {state.n_documents} documents, "
            f"{state.n_passages} passages)"
        )

    @cached_property
    def _ranker(self) -> Ranker:
        encoder = None
        if self.store.vectors is not None:
            encoder = SentenceEncoder(self.state.settings.encoder, device=self.device)
            known = self.state.settings.encoder_digest
            # An earlier version stored no digest of encoders of the hub.
            if known and encoder.digest != known:
                raise DamagedFileError(
                    f"{self.folder}: its vectors are of other weights than those of the encoder "
                    f"{self.state.settings.encoder!r} on this machine; {REMEDY}"
                )
        return Ranker(self._keywords, self.store.vectors, encoder)

    def search(
        self, questions: Sequence[str], *, top: int = 10, by: Method = "fused"
    ) -> list[list[Hit]]:
        """Find the best passages for each question.

        Args:
            questions: the questions.
            top: the greatest number of passages for each.
            by: the kind of scores: ``fused``, ``bm25`` or ``vectors``.  Scores of one kind compare
                between questions: a cosine similarity from -1 to 1, a share of the highest keyword
                score from 0 to 1, or the sum of both.

        Raises:
            InputError: the questions are one string, one of them is blank, ``top`` is no whole
                number of at least 1, or there is no such kind of scores.
        """
        if isinstance(questions, str):
            raise InputError("search: expected a list of questions, got one; write [question]")
        require_several(questions, "questions")
        for question in questions:
            require_text(question, "question")
        require_count(top, "top")
        return [
            [Hit(str(number), float(score)) for number, score in zip(*found, strict=True)]
            for found in self._ranker.rank(questions, top=top, by=by)
        ]

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """Return passages by their ids, as :meth:`search` gives them.

        Raises:
            InputError: there is no such passage.
        """
        return [self.store.passage(self._number(each)) for each in ids]

    def _number(self, id_: str) -> int:
        if not (isinstance(id_, str) and id_.isdecimal() and int(id_) < len(self)):
            raise InputError(f"passage {id_!r}: expected an id that search() returned")
        return int(id_)
