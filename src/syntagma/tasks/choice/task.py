"""The task of multiple-choice reading comprehension: RACE, DREAM, CosmosQA, SWAG, MCTest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from syntagma.errors import InputError
from syntagma.models.choice_model import ChoiceModel
from syntagma.outputs import write_json
from syntagma.tasks.choice.chooser import Choice, Chooser
from syntagma.tasks.choice.data import ChoiceExample, read_choices
from syntagma.tasks.choice.sample import SAMPLE
from syntagma.tasks.collect import warn_of_skipped
from syntagma.tasks.comparison.comparisons import ACCURACY
from syntagma.tasks.comparison.properties import QUESTION, ExampleProperty, length_of
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.new_model import new_model, training_options
from syntagma.tasks.predictor import PredictorTask
from syntagma.tasks.task import ErrorExample, Features


class ChoiceTask(PredictorTask[ChoiceExample, Choice, Chooser]):
    """One of several options."""

    name = "choice"
    model_class = ChoiceModel
    predictor_class = Chooser
    primary = "accuracy"
    breakdowns = ("subset",)
    comparisons = (ACCURACY,)
    groupings = {  # noqa: RUF012
        **QUESTION,
        "passage_length": length_of("passage"),
        "options": ExampleProperty(lambda example: len(example.options), is_number=True),
        "subset": ExampleProperty(lambda example: example.subset or "all"),
    }
    sample = SAMPLE

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[ChoiceExample]) -> Self:
        """A new chooser with the experiment's guides."""
        model = new_model(ChoiceModel, experiment)
        return cls(Chooser(model, **training_options(model, experiment)))

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[ChoiceExample]:
        """Questions of a file, see :mod:`syntagma.tasks.choice.data`."""
        examples, wrong = read_choices(path, skip_bad=skip_bad)
        warn_of_skipped(path, wrong, "questions")
        return examples

    @classmethod
    def is_labelled(cls, example: ChoiceExample) -> bool:
        """Whether the right option is known."""
        return example.answer is not None

    @classmethod
    def texts(cls, examples: Sequence[ChoiceExample]) -> Iterator[str]:
        """Each passage, question and option once."""
        seen: set[str] = set()
        for example in examples:
            for text in (example.passage, example.question.strip(), *example.options):
                if text.strip() and text not in seen:
                    seen.add(text)
                    yield text

    @classmethod
    def describe(cls, example: ChoiceExample) -> ErrorExample:
        """The question, its passage and its options."""
        gold = () if example.answer is None else (example.options[example.answer],)
        return ErrorExample(
            example.question,
            gold,
            example.passage,
            options=example.options,
            asked_name="question",
        )

    def features(self, examples: Sequence[ChoiceExample]) -> Features:
        """Training items.

        Raises:
            InputError: an example has no answer to learn from.
        """
        answers = []
        for example in examples:
            if example.answer is None:
                raise InputError(f"question {example.id}: has no answer to learn from")
            answers.append(example.answer)
        items = self.predictor.items([(e.passage, e.question, e.options) for e in examples])
        return Features(
            [replace(item, answer=answer) for item, answer in zip(items, answers, strict=True)]
        )

    def predict(self, examples: Sequence[ChoiceExample]) -> list[Choice]:
        """The chosen options."""
        self.model.eval()
        return list(
            self.predictor.stream(
                (example.passage, example.question, example.options) for example in examples
            )
        )

    def score(
        self, examples: Sequence[ChoiceExample], predictions: Sequence[Choice]
    ) -> dict[str, float]:
        """Accuracy over the questions with a gold answer, in per cent."""
        labelled = self.labelled(examples, predictions)
        right = sum(example.answer == choice.chosen for example, choice in labelled)
        truncated = sum(choice.truncated for _, choice in labelled)
        total = max(len(labelled), 1)
        values = {"accuracy": 100 * right / total, "total": float(len(labelled))}
        for subset, scores in self.breakdown("subset", examples, predictions).items():
            values[f"accuracy_{subset}"] = scores["accuracy"]
        return values | {"truncated": 100 * truncated / total}

    def breakdown(
        self, by: str, examples: Sequence[ChoiceExample], predictions: Sequence[Choice]
    ) -> dict[str, dict[str, float]]:
        """Accuracy of each subset; questions without one are skipped."""
        groups: dict[str, list[bool]] = {}
        for example, choice in self.labelled(examples, predictions):
            if example.subset:
                groups.setdefault(example.subset, []).append(example.answer == choice.chosen)
        return {
            subset: {"accuracy": 100 * sum(right) / len(right), "total": float(len(right))}
            for subset, right in sorted(groups.items())
        }

    def score_examples(
        self, examples: Sequence[ChoiceExample], predictions: Sequence[Choice]
    ) -> dict[str, dict[str, float]]:
        """Whether each question is answered right."""
        return {
            example.id: {"accuracy": float(example.answer == choice.chosen)}
            for example, choice in self.labelled(examples, predictions)
        }

    def write_predictions(
        self, examples: Sequence[ChoiceExample], predictions: Sequence[Choice], path: Path
    ) -> None:
        """Write an object of each question's option, its number, and all probabilities."""
        rows: dict[str, Any] = {
            example.id: {
                "chosen": choice.chosen,
                "option": choice.option,
                "probabilities": [round(p, 6) for p in choice.probabilities],
            }
            for example, choice in zip(examples, predictions, strict=True)
        }
        write_json(path, rows)
