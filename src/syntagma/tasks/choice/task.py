"""The task of multiple-choice reading comprehension: RACE, DREAM, CosmosQA, SWAG, MCTest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from syntagma.errors import InputError
from syntagma.models.choice_model import ChoiceModel
from syntagma.outputs import write_json
from syntagma.tasks import BREAKDOWNS
from syntagma.tasks.choice.chooser import Choice, Chooser, fill_blank, has_blank
from syntagma.tasks.choice.data import read_choices
from syntagma.tasks.choice.example import ChoiceExample
from syntagma.tasks.choice.sample import SAMPLE
from syntagma.tasks.collect import warn_of_skipped
from syntagma.tasks.comparison.clusters import text_of
from syntagma.tasks.comparison.comparisons import ACCURACY
from syntagma.tasks.comparison.properties import QUESTION, ExampleProperty, length_of
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.label_counts import accuracy_of
from syntagma.tasks.new_model import new_model, training_options
from syntagma.tasks.prediction_files import read_json_by_id
from syntagma.tasks.predictor import PredictorTask
from syntagma.tasks.task import ErrorExample, Features


class ChoiceTask(PredictorTask[ChoiceExample, Choice, Chooser]):
    """Chooses one of several options."""

    name = "choice"
    model_class = ChoiceModel
    predictor_class = Chooser
    primary = "accuracy"
    breakdowns = BREAKDOWNS["choice"]
    comparisons = (ACCURACY,)
    groupings = {  # noqa: RUF012
        **QUESTION,
        "passage_length": length_of("passage"),
        "options": ExampleProperty(lambda example: len(example.options), is_number=True),
        "subset": ExampleProperty(lambda example: example.subset or "all"),
    }
    clusters = {"paragraph": text_of("passage")}  # noqa: RUF012
    sample = SAMPLE

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[ChoiceExample]) -> Self:
        """Create a chooser with the experiment's encoder and guides."""
        model = new_model(ChoiceModel, experiment)
        return cls(Chooser(model, **training_options(model, experiment)))

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[ChoiceExample]:
        """Read the questions of a file, see :mod:`syntagma.tasks.choice.data`."""
        examples, wrong = read_choices(path, skip_bad=skip_bad)
        warn_of_skipped(path, wrong, "questions")
        return examples

    @classmethod
    def is_labelled(cls, example: ChoiceExample) -> bool:
        """Whether the right option is known."""
        return example.answer is not None

    @classmethod
    def texts(cls, examples: Sequence[ChoiceExample]) -> Iterator[str]:
        """Yield each distinct passage, question and option, and the sentences of cloze questions.

        These are what a model with ``head.fill_blank`` reads in place of question and options.
        """
        yield from dict.fromkeys(
            text for example in examples for text in _texts(example) if text.strip()
        )

    @classmethod
    def describe(cls, example: ChoiceExample) -> ErrorExample:
        """Show the question with its passage and options."""
        gold = () if example.answer is None else (example.options[example.answer],)
        return ErrorExample(
            example.question,
            gold,
            example.passage,
            options=example.options,
            asked_name="question",
        )

    def features(self, examples: Sequence[ChoiceExample]) -> Features:
        """Encode the training examples.

        Raises:
            InputError: an example is unlabelled.
        """
        answers = []
        for example in examples:
            if example.answer is None:
                raise InputError(f"question {example.id}: has no gold answer to train on")
            answers.append(example.answer)
        items = self.predictor.items([(e.passage, e.question, e.options) for e in examples])
        return Features(
            [replace(item, answer=answer) for item, answer in zip(items, answers, strict=True)]
        )

    def predict(self, examples: Sequence[ChoiceExample]) -> list[Choice]:
        """Choose an option for each question."""
        return list(
            self.predictor.stream(
                (example.passage, example.question, example.options) for example in examples
            )
        )

    def score(
        self, examples: Sequence[ChoiceExample], predictions: Sequence[Choice]
    ) -> dict[str, float]:
        """Return the accuracy over the labelled questions, overall and by subset, in per cent.

        ``truncated`` is the share of them that were too long to be read whole.
        """
        labelled = self.labelled(examples, predictions)
        values = accuracy_of([example.answer == choice.chosen for example, choice in labelled])
        for subset, scores in self.breakdown("subset", examples, predictions).items():
            values[f"accuracy_{subset}"] = scores["accuracy"]
        truncated = sum(choice.truncated for _, choice in labelled)
        return values | {"truncated": 100 * truncated / max(len(labelled), 1)}

    def breakdown(
        self, by: str, examples: Sequence[ChoiceExample], predictions: Sequence[Choice]
    ) -> dict[str, dict[str, float]]:
        """Return the accuracy of each subset; questions that belong to none are skipped."""
        groups: dict[str, list[bool]] = {}
        for example, choice in self.labelled(examples, predictions):
            if example.subset:
                groups.setdefault(example.subset, []).append(example.answer == choice.chosen)
        return {subset: accuracy_of(right) for subset, right in sorted(groups.items())}

    def score_examples(
        self, examples: Sequence[ChoiceExample], predictions: Sequence[Choice]
    ) -> dict[str, dict[str, float]]:
        """Return 1 or 0 for each labelled question, by whether its answer is right."""
        return {
            example.id: {"accuracy": float(example.answer == choice.chosen)}
            for example, choice in self.labelled(examples, predictions)
        }

    @classmethod
    def score_file(cls, examples: Sequence[ChoiceExample], path: Path) -> dict[str, float]:
        """Return the accuracy of a JSON file of choices by question id.

        A choice is the number of an option from 0, its letter from A, or an object with the number
        as ``chosen``, as :meth:`write_predictions` writes it.

        Raises:
            InputError: the file cannot be read, or does not answer exactly these questions.
        """
        chosen = read_json_by_id(path, [example.id for example in examples])
        return accuracy_of(
            [
                example.answer == _chosen(example, value, path)
                for example, value in zip(examples, chosen, strict=True)
                if example.answer is not None
            ]
        )

    def write_predictions(
        self, examples: Sequence[ChoiceExample], predictions: Sequence[Choice], path: Path
    ) -> None:
        """Write an object with the chosen option and the probabilities of each question."""
        rows: dict[str, Any] = {
            example.id: {
                "chosen": choice.chosen,
                "option": choice.option,
                "probabilities": [round(p, 6) for p in choice.probabilities],
            }
            for example, choice in zip(examples, predictions, strict=True)
        }
        write_json(path, rows)


def _texts(example: ChoiceExample) -> Iterator[str]:
    """Yield the texts of a question that models may read, whatever their settings."""
    yield example.passage
    yield example.question.strip()
    for option in example.options:
        yield option.strip()
        if has_blank(example.question):
            yield fill_blank(example.question, option)


def _chosen(example: ChoiceExample, value: Any, path: Path) -> int:
    """Return the number of the option that a file chooses."""
    given = value.get("chosen") if isinstance(value, dict) else value
    number = given
    if isinstance(given, str) and len(given) == 1 and given.isascii():
        number = ord(given.upper()) - ord("A")
    if type(number) is not int or not 0 <= number < len(example.options):
        raise InputError(
            f"{path}: expected a choice for {example.id!r} as a number from 0 to "
            f"{len(example.options) - 1} or a letter from A, got {given!r:.40}"
        )
    return number
