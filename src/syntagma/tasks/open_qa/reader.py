"""Answer a question from several retrieved paragraphs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

from syntagma.checks import checked_rows, require_several, require_string, require_text
from syntagma.encoders.reference import ModelName
from syntagma.errors import InputError
from syntagma.models.open_model import OpenHead, OpenModel
from syntagma.progress import chunks
from syntagma.tasks.open_qa.answers import OpenPrediction, ReadParagraph, pool
from syntagma.tasks.open_qa.data import Paragraph, score_problem
from syntagma.tasks.open_qa.outcomes import OpenAnswer, give_open_answer
from syntagma.tasks.predictor import OneOrMany
from syntagma.tasks.spans.answers import Mode
from syntagma.tasks.spans.outcomes import DEFAULT_MODE, require_mode
from syntagma.tasks.spans.reader import Reader

CHUNK = 64
"""Number of questions whose paragraphs are encoded and batched together."""

Texts = Sequence["str | Paragraph"]


class ParagraphReader(Reader):
    """A reader of single paragraphs with the settings of open-domain question answering."""

    model_class = OpenModel
    task = ("open_qa", "spans")


class OpenReader(OneOrMany):
    """Answers a question from several paragraphs.

    Threads may share it, see :class:`syntagma.tasks.predictor.TextPredictor`.

    Args:
        reader: reads each paragraph.
    """

    inputs = ("question", "paragraphs")

    def __init__(self, reader: ParagraphReader) -> None:
        self.reader = reader

    @classmethod
    def from_pretrained(
        cls, name: ModelName = "default", *, device: str = "cpu", **options: Any
    ) -> Self:
        """Load a saved reader.

        Args:
            name: the folder of a model of the task ``open_qa`` or ``spans``; ``default`` is the
                reader that comes with the package.
            device: where to compute.
            options: see :meth:`syntagma.tasks.spans.reader.Reader.from_pretrained`.

        Raises:
            InputError: there is no such reader.
        """
        return cls(ParagraphReader.from_pretrained(name, device=device, **options))

    @property
    def head(self) -> OpenHead:
        """The settings of the model."""
        head = self.reader.model.head
        assert isinstance(head, OpenHead)
        return head

    def answer(self, question: str, paragraphs: Texts, *, mode: Mode = DEFAULT_MODE) -> OpenAnswer:
        """Answer one question.

        Args:
            question: any question.
            paragraphs: texts, or paragraphs with ids and a retriever's scores; blank ones are
                skipped.
            mode: how sure the reader must be to answer, ``strict``, ``balanced`` or ``lenient``,
                see :mod:`syntagma.tasks.spans.outcomes`.

        Raises:
            InputError: the question is empty, the paragraphs are one string, some have a score and
                others none, or there is no such mode.
        """
        return next(self.stream([(question, paragraphs)], mode=mode))

    def stream(
        self, questions: Iterable[tuple[str, Texts]], *, mode: Mode = DEFAULT_MODE
    ) -> Iterator[OpenAnswer]:
        """Lazily answer (question, paragraphs) pairs in batches, in constant memory.

        A text that occurs twice among the paragraphs of a question is read and counted once.

        Raises:
            InputError: an item is not such a pair, or :meth:`answer` would reject it.
        """
        chosen = require_mode(mode)
        for paragraphs, prediction in self._read(questions):
            yield give_open_answer(prediction, paragraphs, self.head, chosen)

    def predictions(self, questions: Iterable[tuple[str, Texts]]) -> Iterator[OpenPrediction]:
        """Lazily pool the candidates for (question, paragraphs) pairs, without abstaining.

        Raises:
            InputError: as for :meth:`stream`.
        """
        for _, prediction in self._read(questions):
            yield prediction

    def _read(
        self, questions: Iterable[tuple[str, Texts]]
    ) -> Iterator[tuple[dict[int, Paragraph], OpenPrediction]]:
        """Yield the paragraphs that were read for each question, by index, and what was found."""
        source = checked_rows(questions, "question", "paragraphs", called="question")
        for chunk in chunks(source, CHUNK):
            for question, _ in chunk:
                require_text(question, "question")
            distinct = [distinct_paragraphs(paragraphs) for _, paragraphs in chunk]
            pairs = [
                (paragraph.text, question)
                for (question, _), by_index in zip(chunk, distinct, strict=True)
                for paragraph in by_index.values()
            ]
            answers = iter(list(self.reader.predictions(pairs, threshold=math.inf)))
            for (question, _), by_index in zip(chunk, distinct, strict=True):
                found = [
                    ReadParagraph(index, paragraph.id, next(answers))
                    for index, paragraph in by_index.items()
                ]
                yield by_index, pool(question, found, self.head)


def distinct_paragraphs(paragraphs: Texts) -> dict[int, Paragraph]:
    """Return the distinct paragraphs that are not blank, by their index in the list.

    Args:
        paragraphs: texts or paragraphs.

    Raises:
        InputError: ``paragraphs`` is a single string, or not a list; or a retriever's scores are
            missing for some of them, or not finite.
    """
    if isinstance(paragraphs, str):
        raise InputError("paragraphs: expected a list of texts, got one text; write [text]")
    require_several(paragraphs, "paragraphs")
    first: dict[str, tuple[int, Paragraph]] = {}
    for index, given in enumerate(paragraphs):
        if isinstance(given, Paragraph):
            paragraph = given
        else:
            require_string(given, "paragraph")
            paragraph = Paragraph(str(index), given)
        if paragraph.text.strip():
            first.setdefault(paragraph.text, (index, paragraph))
    found = dict(first.values())
    if problem := score_problem(list(found.values())):
        raise InputError(f"paragraphs: {problem}")
    return found
