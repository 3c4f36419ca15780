"""Answer questions from documents: a retriever finds passages, a reader reads them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from syntagma.batches import batched
from syntagma.checks import require_count, require_several, require_text
from syntagma.encoders.default import DEFAULT_READER
from syntagma.errors import InputError
from syntagma.retrieval.passage_index import PassageIndex
from syntagma.retrieval.retriever import Passage, Retriever
from syntagma.tasks.open_qa.answers import Candidate
from syntagma.tasks.open_qa.data import Paragraph
from syntagma.tasks.open_qa.outcomes import OpenAnswer
from syntagma.tasks.open_qa.reader import OpenReader
from syntagma.tasks.predictor import OneOrMany
from syntagma.tasks.spans.answers import BaseAnswer, Excerpt, Mode
from syntagma.tasks.spans.outcomes import DEFAULT_MODE

READ_PASSAGES = 10
"""Passages that are read for a question; docs/documents.md says what more of them would add."""
CHUNK = 32
"""Number of questions that are searched for together."""


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """A passage that was read for a question.

    Args:
        passage: the passage.
        score: the retriever's score.
    """

    passage: Passage
    score: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        found = self.passage
        return {
            "source": found.source,
            "page": found.page,
            "heading": found.heading,
            "start": found.start,
            "end": found.end,
            "text": found.text,
            "score": self.score,
        }


@dataclass(frozen=True, slots=True, repr=False)
class DocumentAnswer(OpenAnswer):
    """What a user gets for a question about documents.

    Its fields are those of :class:`~syntagma.tasks.spans.answers.BaseAnswer`, and ``passages``.
    All offsets (``start``, ``end``, those of spans, candidates and the sentence) are in the text of
    a document: that of ``source`` for the answer, and that of ``passages[c.paragraph]`` for a
    candidate ``c``.

    Args:
        passages: the passages that were read, best first.
    """

    passages: tuple[ReadPassage, ...] = ()

    @property
    def passage(self) -> Passage | None:
        """The passage with the answer, or with what may be one; ``None`` without text."""
        return None if self.paragraph is None else self.passages[self.paragraph].passage

    @property
    def source(self) -> str:
        """Path of the document with the answer; empty without text."""
        return self.passage.source if self.passage is not None else ""

    def place(self) -> dict[str, Any]:
        """Return where ``text`` is, as plain values."""
        found = self.passage
        return {
            "source": self.source,
            "page": found.page if found is not None else None,
            "heading": found.heading if found is not None else "",
            **BaseAnswer.place(self),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as in the JSON files of ``syntagma answer``."""
        return OpenAnswer.to_dict(self) | {"passages": [each.to_dict() for each in self.passages]}


class DocumentReader(OneOrMany):
    """Answers questions from the passages that a retriever finds.

    Threads may share it, see :class:`syntagma.tasks.predictor.TextPredictor`.

    Args:
        retriever: finds passages: an :class:`Index`, or anything with the two methods of
            :class:`syntagma.retrieval.retriever.Retriever`.
        reader: reads them.
        top: the number of passages that are read for a question.
    """

    inputs = ("question",)

    def __init__(
        self, retriever: Retriever, reader: OpenReader, *, top: int = READ_PASSAGES
    ) -> None:
        require_count(top, "top")
        self.retriever = retriever
        self.reader = reader
        self.top = top

    def answer(self, question: str, *, mode: Mode = DEFAULT_MODE) -> DocumentAnswer:
        """Answer one question.

        Args:
            question: any question.
            mode: how sure the reader must be to answer, ``strict``, ``balanced`` or ``lenient``,
                see :mod:`syntagma.tasks.spans.outcomes`.

        Raises:
            InputError: the question is empty, or there is no such mode.
        """
        return next(self.stream([question], mode=mode))

    def stream(
        self, questions: Iterable[str], *, mode: Mode = DEFAULT_MODE
    ) -> Iterator[DocumentAnswer]:
        """Lazily answer questions in batches, in constant memory.

        Raises:
            InputError: a question is not a string or is empty, or there is no such mode.
        """
        if isinstance(questions, str):
            raise InputError("expected several questions, got one string; use answer()")
        require_several(questions, "questions")
        for chunk in batched(questions, CHUNK):
            for question in chunk:
                require_text(question, "question")
            found = [self._read(hits) for hits in self.retriever.search(chunk, top=self.top)]
            rows = zip(chunk, map(_paragraphs, found), strict=True)
            for read, answer in zip(found, self.reader.stream(rows, mode=mode), strict=True):
                yield _in_documents(answer, read)

    def _read(self, hits: Sequence[Any]) -> tuple[ReadPassage, ...]:
        passages = self.retriever.passages([hit.id for hit in hits])
        return tuple(
            ReadPassage(passage, hit.score) for passage, hit in zip(passages, hits, strict=True)
        )


def _paragraphs(found: Sequence[ReadPassage]) -> list[Paragraph]:
    return [
        Paragraph(each.passage.id, each.passage.text, each.passage.heading, each.score)
        for each in found
    ]


def _in_documents(answer: OpenAnswer, read: tuple[ReadPassage, ...]) -> DocumentAnswer:
    """Move the offsets of an answer from its passages to their documents."""

    def moved(candidate: Candidate) -> Candidate:
        by = read[candidate.paragraph].passage.start
        return replace(candidate, start=candidate.start + by, end=candidate.end + by)

    values = {each.name: getattr(answer, each.name) for each in fields(answer)}
    if answer.candidates:
        first = read[answer.candidates[0].paragraph].passage.start
        if answer.start is not None and answer.end is not None:
            values |= {"start": answer.start + first, "end": answer.end + first}
        if (sentence := answer.sentence) is not None:
            values["sentence"] = Excerpt(
                sentence.text, sentence.start + first, sentence.end + first
            )
        values["spans"] = tuple(map(moved, answer.spans))
        values["candidates"] = tuple(map(moved, answer.candidates))
    return DocumentAnswer(**values, passages=read)


class Index(PassageIndex):
    """An index of documents that can be searched and asked.

    >>> index = Index.build(["reports"], "reports.index")  # doctest: +SKIP
    >>> index.answer("Who chairs the committee?").text  # doctest: +SKIP
    'Ines Okafor'
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._readers: dict[str, OpenReader] = {}
        self._alone = threading.Lock()

    def reader(
        self, model: str | Path = DEFAULT_READER, *, top: int = READ_PASSAGES
    ) -> DocumentReader:
        """Return a reader of this index; its model is loaded once.

        Args:
            model: ``default-reader``, ``accurate-reader``, or the folder or hub name of a reader.
            top: the number of passages that are read for a question.

        Raises:
            InputError: there is no such reader.
        """
        with self._alone:
            name = str(model)
            if name not in self._readers:
                self._readers[name] = OpenReader.from_pretrained(name, device=self.device)
            return DocumentReader(self, self._readers[name], top=top)

    def answer(
        self,
        question: str,
        *,
        model: str | Path = DEFAULT_READER,
        mode: Mode = DEFAULT_MODE,
        top: int = READ_PASSAGES,
    ) -> DocumentAnswer:
        """Answer a question from the documents.

        Args:
            question: any question.
            model: as for :meth:`reader`.
            mode: how sure the reader must be to answer: ``strict``, ``balanced`` or ``lenient``.
            top: the number of passages that are read.

        Raises:
            InputError: the question is empty, or there is no such mode or reader.
        """
        return self.reader(model, top=top).answer(question, mode=mode)
