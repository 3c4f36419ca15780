"""The task of open-domain question answering over retrieved paragraphs: SearchQA, Quasar-T."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np
from torch import Tensor

from syntagma.encoders.precision import Precision
from syntagma.encoders.reference import ModelName
from syntagma.errors import InputError
from syntagma.models.open_model import OpenModel
from syntagma.outputs import write_json
from syntagma.tasks.collect import warn_of_skipped
from syntagma.tasks.comparison.properties import ANSWERS, QUESTION
from syntagma.tasks.experiment import Experiment, TrainingSettings
from syntagma.tasks.new_model import new_model, training_options
from syntagma.tasks.open_qa.answers import OpenAnswer
from syntagma.tasks.open_qa.data import OpenExample, Paragraph, read_open_qa
from syntagma.tasks.open_qa.distant import AnswerFinder, Place
from syntagma.tasks.open_qa.reader import OpenReader, ParagraphReader
from syntagma.tasks.open_qa.sample import SAMPLE
from syntagma.tasks.spans.metrics import QuestionScore, Tally, exact_of, f1_of
from syntagma.tasks.spans.reader import verifier_of
from syntagma.tasks.spans.squad import SpanExample
from syntagma.tasks.spans.task import EXACT, F1, SpanTask
from syntagma.tasks.spans.windows import SpanWindow
from syntagma.tasks.task import ErrorExample, Features, Task

log = logging.getLogger(__name__)

MANY = 10
"""From so many paragraphs with an answer on, questions are one group."""

NO_PARAGRAPHS = "without paragraphs"
NO_POSITIVE = "whose paragraphs do not contain an answer"


class OpenQaTask(Task[OpenExample, OpenAnswer]):
    """One answer from several paragraphs; trained by distant supervision.

    Args:
        reader: the reader to train or use.
        seed: by which paragraphs to learn from are chosen.
    """

    name = "open_qa"
    model_class = OpenModel
    primary = "f1"
    breakdowns = ("evidence",)
    comparisons = (EXACT, F1)
    groupings = QUESTION | ANSWERS
    sample = SAMPLE

    def __init__(self, reader: OpenReader, *, seed: int = TrainingSettings.seed) -> None:
        self.reader = reader
        self.tokenizer = reader.reader.tokenizer
        self.seed = seed
        # Training is that of single paragraphs: the empty answer where there is none.
        self.spans = SpanTask(reader.reader)

    @property
    def model(self) -> OpenModel:  # type: ignore[override]
        """The scorer."""
        model = self.reader.reader.model
        assert isinstance(model, OpenModel)
        return model

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[OpenExample]) -> Self:
        """A new reader with the experiment's guides."""
        model = new_model(OpenModel, experiment)
        options = training_options(model, experiment)
        verifier = verifier_of(model.head, experiment.training.precision)
        reader = ParagraphReader(model, verifier=verifier, **options)
        return cls(OpenReader(reader), seed=experiment.training.seed)

    @classmethod
    def from_pretrained(
        cls,
        name: ModelName,
        *,
        device: str = "cpu",
        parser: str = "",
        precision: Precision | None = None,
    ) -> Self:
        """A saved reader of this task, or of the task ``spans``."""
        reader = OpenReader.from_pretrained(
            name, device=device, parser=parser, precision=precision or "auto"
        )
        return cls(reader)

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[OpenExample]:
        """Questions with their paragraphs, see :mod:`syntagma.tasks.open_qa.data`."""
        examples, wrong = read_open_qa(path, skip_bad=skip_bad)
        warn_of_skipped(path, wrong, "lines")
        return examples

    @classmethod
    def is_labelled(cls, example: OpenExample) -> bool:
        """Whether it has gold answers."""
        return bool(example.answers)

    @classmethod
    def texts(cls, examples: Sequence[OpenExample]) -> Iterator[str]:
        """Each paragraph and question once."""
        seen: set[str] = set()
        for example in examples:
            paragraphs = [*example.paragraphs, *([example.gold] if example.gold else [])]
            for text in (*(paragraph.text for paragraph in paragraphs), example.question):
                if text.strip() and text not in seen:
                    seen.add(text)
                    yield text

    @classmethod
    def describe(cls, example: OpenExample) -> ErrorExample:
        """The question, with the paragraph that it was asked about, or the first one."""
        known = example.gold or next(iter(example.paragraphs), None)
        return ErrorExample(
            example.question, example.answers, known.text if known else "", asked_name="question"
        )

    def features(self, examples: Sequence[OpenExample]) -> Features:
        """Training windows over some paragraphs of each question.

        Of the paragraphs that contain an answer, ``train_positives`` are learned from, its first
        place as the gold span; of the others ``train_negatives``, with the empty answer. Which ones
        is drawn with the seed, but for the paragraph that was asked about: where the data name it
        and it contains an answer, it always is one. Questions without a positive are left out, and
        counted.

        Raises:
            InputError: a question has no gold answers, or no question is left.
        """
        chosen: list[SpanExample] = []
        left_out: Counter[str] = Counter()
        for number, example in enumerate(examples):
            if not example.answers:
                raise InputError(f"question {example.id}: has no answers to learn from")
            found = self.choose(example, np.random.default_rng((self.seed, number)))
            chosen += found
            if not found:
                left_out[NO_POSITIVE if example.paragraphs else NO_PARAGRAPHS] += 1
        if left_out:
            reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
            count = left_out.total()
            log.warning("training: left out %d of %d questions: %s", count, len(examples), reasons)
        if not chosen:
            raise InputError("nothing to learn from: no question has a paragraph with its answer")
        return self.spans.features(chosen)

    def choose(self, example: OpenExample, random: np.random.Generator) -> list[SpanExample]:
        """The paragraphs of one question to learn from; none if none contains an answer."""
        head = self.reader.head
        finder = AnswerFinder(example.answers)
        first = [example.gold] if example.gold is not None else []
        candidates: dict[str, Paragraph] = {}
        for paragraph in (*first, *example.paragraphs[: head.train_paragraphs]):
            candidates.setdefault(paragraph.text, paragraph)
        positives: list[tuple[Paragraph, Place]] = []
        negatives: list[Paragraph] = []
        for paragraph in candidates.values():
            if (place := finder.find(paragraph.text)) is not None:
                positives.append((paragraph, place))
            elif paragraph.text.strip():
                negatives.append(paragraph)
        if not positives:
            return []
        asked_about = int(positives[0][0] is example.gold)
        drawn = _draw(len(positives) - asked_about, head.train_positives - asked_about, random)
        kept = [*positives[:asked_about], *(positives[asked_about + index] for index in drawn)]
        return [
            *(_span_example(example, paragraph, place) for paragraph, place in kept),
            *(
                _span_example(example, negatives[index])
                for index in _draw(len(negatives), head.train_negatives, random)
            ),
        ]

    def collate(self, items: Sequence[SpanWindow]) -> dict[str, Tensor]:
        """A padded batch with gold positions."""
        return self.spans.collate(items)

    def predict(self, examples: Sequence[OpenExample]) -> list[OpenAnswer]:
        """Answers from the paragraphs that were retrieved first; never the empty one."""
        self.model.eval()
        most = self.reader.head.paragraphs
        return list(self.reader.stream((e.question, e.paragraphs[:most]) for e in examples))

    def score(
        self, examples: Sequence[OpenExample], predictions: Sequence[OpenAnswer]
    ) -> dict[str, float]:
        """Exact match and F1 by the rules of SQuAD 1.1, as the field scores these data.

        ``answerable`` is the share of questions of which a paragraph that was read contains an
        answer, the most that exact match can reach but by chance; ``answerable_exact`` and
        ``answerable_f1`` are the metrics of these.
        """
        labelled, rows = _judge(examples, predictions)
        answerable = [row for row, n in zip(rows, self._evidence(labelled), strict=True) if n]
        values = Tally.of(rows).as_dict()
        values["answerable"] = 100 * len(answerable) / max(len(rows), 1)
        return values | Tally.of(answerable).as_dict("answerable_")

    def score_examples(
        self, examples: Sequence[OpenExample], predictions: Sequence[OpenAnswer]
    ) -> dict[str, dict[str, float]]:
        """Exact match and F1 of each labelled question."""
        return {
            example.id: {"exact": row.exact, "f1": row.f1}
            for example, row in zip(*_judge(examples, predictions), strict=True)
        }

    def breakdown(
        self, by: str, examples: Sequence[OpenExample], predictions: Sequence[OpenAnswer]
    ) -> dict[str, dict[str, float]]:
        """By ``evidence``: in how many paragraphs that were read an answer stands."""
        groups: dict[int, list[QuestionScore]] = {}
        labelled, rows = _judge(examples, predictions)
        for row, count in zip(rows, self._evidence(labelled), strict=True):
            groups.setdefault(min(count, MANY), []).append(row)
        return {
            f"{count}+" if count == MANY else str(count): Tally.of(rows).as_dict()
            for count, rows in sorted(groups.items())
        }

    def _evidence(self, examples: Sequence[OpenExample]) -> Iterator[int]:
        """How many of the paragraphs that are read contain an answer."""
        for example in examples:
            finder = AnswerFinder(example.answers)
            paragraphs = example.paragraphs[: self.reader.head.paragraphs]
            yield sum(map(finder.is_in, {paragraph.text for paragraph in paragraphs}))

    def write_predictions(
        self, examples: Sequence[OpenExample], predictions: Sequence[OpenAnswer], path: Path
    ) -> None:
        """Write texts by question id, as for SQuAD, and the candidates of each as ``nbest``."""
        pairs = list(zip(examples, predictions, strict=True))
        write_json(path, {example.id: answer.text for example, answer in pairs})
        nbest: dict[str, list[dict[str, Any]]] = {
            example.id: [asdict(candidate) for candidate in answer.candidates]
            for example, answer in pairs
        }
        write_json(path.with_name(f"{path.stem}.nbest{path.suffix}"), nbest)

    def save(self, folder: Path, *, bits: int | None = None) -> None:
        """Write the reader, its verifier beside it."""
        self.spans.save(folder, bits=bits)


def _draw(n_items: int, most: int, random: np.random.Generator) -> list[int]:
    """Places of some items, in their order."""
    return sorted(random.permutation(n_items)[: max(most, 0)].tolist())


def _span_example(
    example: OpenExample, paragraph: Paragraph, place: Place | None = None
) -> SpanExample:
    return SpanExample(
        id=f"{example.id} {paragraph.id}",
        passage=paragraph.text,
        question=example.question,
        title=paragraph.title,
        answers=() if place is None else (paragraph.text[place.start : place.end],),
        answer_starts=() if place is None else (place.start,),
        is_impossible=place is None,
    )


def _judge(
    examples: Sequence[OpenExample], predictions: Sequence[OpenAnswer]
) -> tuple[list[OpenExample], list[QuestionScore]]:
    """The labelled questions and their scores; a missing answer is wrong."""
    labelled, rows = [], []
    for example, answer in zip(examples, predictions, strict=True):
        if not example.answers:
            continue
        labelled.append(example)
        rows.append(
            QuestionScore(
                exact=exact_of(answer.text, example.answers, rules="1.1") if answer.text else 0,
                f1=f1_of(answer.text, example.answers, rules="1.1") if answer.text else 0.0,
                has_answers=True,
                answered=bool(answer.text),
            )
        )
    return labelled, rows
