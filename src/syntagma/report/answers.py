"""Read a text file, answer questions about it, and draw what was read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from syntagma.analysis.attention.matrices import ancestor_weights
from syntagma.drawing.tables import signed
from syntagma.encoders.default import DEFAULT_PARSER, DEFAULT_READER
from syntagma.errors import InputError
from syntagma.files import read_lines, read_text
from syntagma.outputs import write_text
from syntagma.parse.sources.load import load_parser
from syntagma.report.answer_page import answer_page
from syntagma.report.page_data import RowWeights, sdoi_rows
from syntagma.tasks.choice.chooser import Choice, Chooser
from syntagma.tasks.spans.answers import Answer
from syntagma.tasks.spans.reader import Reader
from syntagma.text.sentence import Parse

__all__ = ["Choosing", "Reading", "choose", "read_and_answer", "read_questions"]

SHOWN = 5
"""Candidates on the page for each question."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The answers to questions about one text.

    Args:
        name: of the text.
        passage: the text.
        answers: one a question.
        reader: that gave them.
    """

    name: str
    passage: str
    answers: tuple[Answer, ...]
    reader: Reader

    @staticmethod
    def line(answer: Answer) -> str:
        """One answer for a terminal."""
        shown = answer.text if answer.answered else "— no answer in the text —"
        margin = signed(answer.threshold - answer.null_odds, 1)
        return f"{answer.question}\n  {shown}  (p {answer.probability:.2f}, margin {margin})"

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"passage": self.name, "answers": [asdict(answer) for answer in self.answers]}

    def parses(self, text: str) -> list[Parse]:
        """The sentences of a text as the reader's parser sees them; else the default parser's."""
        store = self.reader.texts.store
        if store is not None:
            return store.parsed([text])[0].parses(text)
        return load_parser(DEFAULT_PARSER).parse_text(text)

    def write_page(self, path: Path) -> None:
        """Write the HTML page with answers, trees and attention.

        Raises:
            InputError: the file cannot be written.
        """
        parses = self.parses(self.passage)
        guided = "ancestor_attention" in self.reader.model.config.guides
        page = answer_page(
            title=f"Syntagma reads {self.name}",
            passage=self.passage,
            parses=parses,
            answers=[replace(answer, spans=answer.spans[:SHOWN]) for answer in self.answers],
            question_parses=[self.parses(answer.question) for answer in self.answers],
            attention=[self._weights(answer.question, parses) for answer in self.answers]
            if guided
            else None,
            attention_note="mean over the heads of the guided layer",
        )
        write_text(path, page)

    def _weights(self, question: str, parses: Sequence[Parse]) -> RowWeights:
        rows: list[list[int]] = []
        sizes = []
        for parse in parses:
            first = len(rows)
            rows += [[first + word - 1 for word in row] for row in sdoi_rows(parse.heads)]
            sizes.append(len(parse))
        weights = iter(ancestor_weights(self.reader, self.passage, question, rows))
        return [[next(weights) for _ in range(size)] for size in sizes]


@dataclass(frozen=True, slots=True)
class Choosing:
    """The options that were chosen for questions about one text.

    Args:
        name: of the text.
        options: among which was chosen.
        choices: each question with its choice.
    """

    name: str
    options: tuple[str, ...]
    choices: tuple[tuple[str, Choice], ...]

    def lines(self) -> Iterator[str]:
        """For a terminal: each question, its options with probabilities, the chosen marked."""
        for question, choice in self.choices:
            yield question
            for number, (option, p) in enumerate(
                zip(self.options, choice.probabilities, strict=True)
            ):
                yield f"  {'→' if number == choice.chosen else ' '} {p:6.1%}  {option}"
            if choice.truncated:
                yield "  (too long for the model: the end of the text was not read)"

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        answers = [{"question": question} | choice._asdict() for question, choice in self.choices]
        return {"passage": self.name, "options": list(self.options), "answers": answers}


def choose(
    path: str | Path,
    questions: Sequence[str],
    options: Sequence[str],
    *,
    model: str,
    device: str = "cpu",
) -> Choosing:
    """Choose an option for each question about a text file.

    Args:
        path: the file, or ``-``.
        questions: about it.
        options: at least two; one string with ``|`` between them is cut there.
        model: a chooser's folder.
        device: where to compute.

    Raises:
        InputError: file or model cannot be used, there are not two options, or one is empty.
    """
    if not questions:
        raise InputError("no question; write one after the file, or --questions FILE")
    if model == DEFAULT_READER:
        raise InputError("--options needs a model that chooses: --model FOLDER, trained on choice")
    if len(options) == 1:
        options = [option.strip() for option in options[0].split("|")]
    if not all(option.strip() for option in options):
        raise InputError(f"an option is empty: {' | '.join(options)!r}")
    passage = read_text(path)
    chooser = Chooser.from_pretrained(model, device=device)
    choices = chooser.stream((passage, question, options) for question in questions)
    return Choosing(Path(path).name, tuple(options), tuple(zip(questions, choices, strict=True)))


def read_questions(path: str | Path) -> list[str]:
    """The questions in a file, one a line; blank lines are left out.

    Raises:
        InputError: the file cannot be read.
    """
    return [line.strip() for line in read_lines(path) if line.strip()]


def read_and_answer(
    path: str | Path,
    questions: Sequence[str],
    *,
    model: str = "default-reader",
    threshold: float | None = None,
    device: str = "cpu",
) -> Reading:
    """Answer questions about a text file.

    Args:
        path: the file, or ``-``.
        questions: about it.
        model: ``default-reader`` or a reader's folder.
        threshold: abstain above these odds; the fitted ones if not given.
        device: where to compute.

    Raises:
        InputError: file or model cannot be used, or there is no question.
    """
    if not questions:
        raise InputError("no question; write one after the file, or --questions FILE")
    passage = read_text(path)
    reader = Reader.from_pretrained(model, device=device)
    answers = reader.answer_all(passage, questions, threshold=threshold)
    return Reading(Path(path).name, passage, tuple(answers), reader)
