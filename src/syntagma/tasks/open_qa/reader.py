"""A reader of many paragraphs: give it a question and what was retrieved, get one answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Self

from syntagma.checks import checked_rows, require_several, require_string, require_text
from syntagma.encoders.reference import ModelName
from syntagma.errors import InputError
from syntagma.models.open_model import OpenHead, OpenModel
from syntagma.tasks.open_qa.answers import OpenAnswer, ReadParagraph, pool
from syntagma.tasks.open_qa.data import Paragraph
from syntagma.tasks.spans.reader import Reader

CHUNK = 64
"""Questions whose paragraphs are read together."""

Texts = Sequence["str | Paragraph"]


class ParagraphReader(Reader):
    """Reads single paragraphs, with the settings of open-domain question answering."""

    model_class = OpenModel
    task = ("open_qa", "spans")


class OpenReader:
    """Answers a question from several paragraphs.

    Args:
        reader: of each paragraph.
    """

    def __init__(self, reader: ParagraphReader) -> None:
        self.reader = reader

    @classmethod
    def from_pretrained(
        cls, name: ModelName = "default", *, device: str = "cpu", **options: Any
    ) -> Self:
        """A saved reader.

        Args:
            name: the folder of a model of the task ``open_qa`` or ``spans``; ``default`` is the
                reader that comes with the package.
            device: where to compute.
            options: of :class:`syntagma.tasks.spans.reader.Reader`.

        Raises:
            InputError: there is no such reader.
        """
        return cls(ParagraphReader.from_pretrained(name, device=device, **options))

    @property
    def head(self) -> OpenHead:
        """Its settings."""
        head = self.reader.model.head
        assert isinstance(head, OpenHead)
        return head

    def answer(self, question: str, paragraphs: Texts) -> OpenAnswer:
        """The answer to one question.

        Args:
            question: any question.
            paragraphs: texts, or paragraphs with ids; all are read, blank ones left out.

        Raises:
            InputError: the question is empty, or the paragraphs are one string.
        """
        return next(self.stream([(question, paragraphs)]))

    def stream(self, asked: Iterable[tuple[str, Texts]]) -> Iterator[OpenAnswer]:
        """Answer questions as they come, many paragraphs at a time, in constant memory.

        A text that is given twice for one question is read and counted once.

        Raises:
            InputError: one is something else, or cannot be answered, see :meth:`answer`.
        """
        source = checked_rows(asked, "question", "paragraphs", called="question")
        while chunk := list(islice(source, CHUNK)):
            for question, _ in chunk:
                require_text(question, "question")
            reads = [
                (number, question, paragraph, place)
                for number, (question, paragraphs) in enumerate(chunk)
                for paragraph, place in _different(paragraphs)
            ]
            answers = self.reader.stream(
                ((paragraph.text, question) for _, question, paragraph, _ in reads),
                threshold=math.inf,
            )
            found: list[list[ReadParagraph]] = [[] for _ in chunk]
            for (number, _, paragraph, place), answer in zip(reads, answers, strict=True):
                found[number].append(ReadParagraph(place, paragraph.id, answer))
            for (question, _), read in zip(chunk, found, strict=True):
                yield pool(question, read, self.head)


def _different(paragraphs: Texts) -> list[tuple[Paragraph, int]]:
    """The different texts with something to read, and their places in the list.

    Raises:
        InputError: it is one text instead of several, or no list of them.
    """
    if isinstance(paragraphs, str):
        raise InputError("paragraphs: expected a list of texts, got one text; write [text]")
    require_several(paragraphs, "paragraphs")
    first: dict[str, tuple[Paragraph, int]] = {}
    for place, given in enumerate(paragraphs):
        if isinstance(given, Paragraph):
            paragraph = given
        else:
            require_string(given, "paragraph")
            paragraph = Paragraph(str(place), given)
        if paragraph.text.strip():
            first.setdefault(paragraph.text, (paragraph, place))
    return list(first.values())
