"""Answer questions about texts and documents, and write the answers as text, JSON or a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from syntagma.analysis.attention.matrices import ancestor_weights
from syntagma.encoders.default import DEFAULT_PARSER, DEFAULT_READER
from syntagma.errors import InputError
from syntagma.extraction.document import Document
from syntagma.extraction.extract import is_formatted
from syntagma.extraction.source import read_plain_text
from syntagma.extraction.worker import Extractor
from syntagma.files import text_lines
from syntagma.outputs import write_text
from syntagma.parse.sources.load import load_parser
from syntagma.report.answer_page import answer_page
from syntagma.report.document_answers import (
    DocumentReading,
    ask_documents,
    is_retriever,
    place_text,
)
from syntagma.report.outcome_text import outcome_line
from syntagma.report.page_data import RowWeights, sdoi_rows
from syntagma.reprs import brief, counted, quoted
from syntagma.retrieval.passage_index import print_problem
from syntagma.retrieval.passages import Cut, cut
from syntagma.tasks.choice.chooser import Choice, Chooser
from syntagma.tasks.open_qa.documents import READ_PASSAGES
from syntagma.tasks.spans.answers import Answer, Mode
from syntagma.tasks.spans.reader import Reader
from syntagma.text.sentence import Parse

SHOWN = 5
"""Number of candidate spans shown on the page for each question."""


@dataclass(frozen=True, slots=True, repr=False)
class Reading:
    """Answers to questions about one text.

    Args:
        name: name of the text.
        passage: the text.
        answers: the answer to each question.
        reader: the reader that gave the answers.
        cuts: where the passages of a document lie, with their pages and headings; none for plain
            text.
    """

    name: str
    passage: str
    answers: tuple[Answer, ...]
    reader: Reader
    cuts: tuple[Cut, ...] = ()

    def __repr__(self) -> str:
        return brief(self, quoted(self.name), counted(len(self.answers), "answer"))

    def line(self, answer: Answer) -> str:
        """Format one answer for a terminal: in a document, with its page and headings."""
        line = f"{answer.question}\n  {outcome_line(answer)}"
        if (cut := self._cut(answer)) is None or not (
            place := place_text("", cut.page, cut.heading)
        ):
            return line
        return f"{line}\n    {place}"

    def _cut(self, answer: Answer) -> Cut | None:
        """Return the passage of a document that the answer is in."""
        if answer.start is None:
            return None
        return next((cut for cut in self.cuts if cut.start <= answer.start < cut.end), None)

    def to_dict(self) -> dict[str, Any]:
        """Return name and answers as plain values."""
        answers = []
        for answer in self.answers:
            values = {"source": self.name} | answer.to_dict()
            if self.cuts:
                cut = self._cut(answer)
                values |= {"page": cut and cut.page, "heading": cut.heading if cut else ""}
            answers.append(values)
        return {"passage": self.name, "answers": answers}

    def parses(self, text: str) -> list[Parse]:
        """Parse a text with the reader's parser, or the default parser if the reader has none."""
        (found,) = self._parsed([text])
        return found

    def _parsed(self, texts: Sequence[str]) -> list[list[Parse]]:
        """Parse texts with one parser, since loading it takes longer than parsing a question."""
        cache = self.reader.texts.cache
        if cache is not None:
            return [cache.parsed([text])[0].parses(text) for text in texts]
        parser = load_parser(DEFAULT_PARSER)
        return [parser.parse_text(text) for text in texts]

    def write_page(self, path: Path) -> None:
        """Write the answers, trees and attention as an HTML page.

        Raises:
            InputError: the file cannot be written.
        """
        parses, *asked = self._parsed([self.passage, *(answer.question for answer in self.answers)])
        guided = "ancestor_attention" in self.reader.model.config.guides
        page = answer_page(
            title=f"Syntagma reads {self.name}",
            passage=self.passage,
            parses=parses,
            answers=[replace(a, candidates=a.candidates[:SHOWN]) for a in self.answers],
            question_parses=asked,
            attention=[self._weights(answer.question, parses) for answer in self.answers]
            if guided
            else None,
            attention_note="mean over the heads of the guided layer",
        )
        write_text(path, page)

    def _weights(self, question: str, parses: Sequence[Parse]) -> RowWeights:
        """Compute attention weights over the SDOI rows of the passage for one question."""
        # One forward pass serves all sentences: number their words continuously, then split.
        rows: list[list[int]] = []
        sizes = []
        for parse in parses:
            first = len(rows)
            rows += [[first + word - 1 for word in row] for row in sdoi_rows(parse.heads)]
            sizes.append(len(parse))
        weights = iter(ancestor_weights(self.reader, self.passage, question, rows))
        return [[next(weights) for _ in range(size)] for size in sizes]


@dataclass(frozen=True, slots=True, repr=False)
class Choosing:
    """Options chosen for questions about one text.

    Args:
        name: name of the text.
        options: the options to choose from.
        choices: each question with its choice.
    """

    name: str
    options: tuple[str, ...]
    choices: tuple[tuple[str, Choice], ...]

    def __repr__(self) -> str:
        return brief(self, quoted(self.name), counted(len(self.choices), "question"))

    def lines(self) -> Iterator[str]:
        """Format for a terminal: each question, its options with probabilities, → at the choice."""
        for question, choice in self.choices:
            yield question
            for number, (option, p) in enumerate(
                zip(self.options, choice.probabilities, strict=True)
            ):
                yield f"  {'→' if number == choice.chosen else ' '} {p:6.1%}  {option}"
            if choice.truncated:
                yield "  (text too long for the model: its end was not read)"

    def to_dict(self) -> dict[str, Any]:
        """Return name, options and choices as plain values."""
        answers = [
            {"source": self.name, "question": question} | choice._asdict()
            for question, choice in self.choices
        ]
        return {"passage": self.name, "options": list(self.options), "answers": answers}


def as_json(found: Sequence[Reading | DocumentReading] | Sequence[Choosing]) -> dict[str, Any]:
    """Return what was found in several texts as plain values.

    Args:
        found: at least one; for a single text, ``passage`` is its name.

    Returns:
        The answers from all sources in one list.  If they are several, ``passage`` of each answer
        is the name of the one that it is from; ``source`` is its file, if it has one.
    """
    values = found[0].to_dict()
    if len(found) > 1:
        del values["passage"]
        values["answers"] = [
            {"passage": one.name} | answer for one in found for answer in one.to_dict()["answers"]
        ]
    return values


def _names(paths: Sequence[str | Path]) -> list[str]:
    """Return the names of files without their folders, or the paths where two names are equal."""
    names = list(map(_name, paths))
    return names if len(set(names)) == len(names) else list(map(str, paths))


def _name(path: str | Path) -> str:
    name = Path(path).name
    # The folders "." and ".." have their names elsewhere.
    return name if name not in ("", "..") else Path(path).resolve().name or str(path)


def choose(
    paths: Sequence[str | Path],
    questions: Sequence[str],
    options: Sequence[str],
    *,
    model: str,
    device: str = "cpu",
) -> list[Choosing]:
    """Choose an option for each question about each of some texts.

    Args:
        paths: text files, documents, or ``-`` for standard input.
        questions: questions about the texts.
        options: at least two options, or one string that separates them by ``|``.
        model: folder of a multiple-choice model.
        device: device to run the model on.

    Raises:
        InputError: a file or the model cannot be used, there are fewer than two options, or one
            is empty.
    """
    if not questions:
        raise InputError("no question; write one after the file, or --questions FILE")
    if model == DEFAULT_READER:
        raise InputError(
            "--options needs a multiple-choice model; give --model FOLDER of a run of the task "
            "choice"
        )
    if len(options) == 1:
        options = [option.strip() for option in options[0].split("|")]
    if not all(option.strip() for option in options):
        raise InputError(f"an option is empty: {' | '.join(options)!r}")
    passages = [_read_source(path).text for path in paths]
    chooser = Chooser.from_pretrained(model, device=device)
    found = []
    for name, passage in zip(_names(paths), passages, strict=True):
        choices = chooser.stream((passage, question, options) for question in questions)
        found.append(Choosing(name, tuple(options), tuple(zip(questions, choices, strict=True))))
    return found


def read_questions(path: str | Path) -> list[str]:
    """Read questions from a file, one per line; blank lines are skipped.

    Raises:
        InputError: the file cannot be read.
    """
    return [line.strip() for line in text_lines(path) if line.strip()]


def read_and_answer(
    paths: Sequence[str | Path],
    questions: Sequence[str],
    *,
    model: str = DEFAULT_READER,
    mode: Mode | None = None,
    threshold: float | None = None,
    read: int | None = None,
    exhaustive: bool = False,
    device: str = "cpu",
    on_problem: Callable[[str], None] = print_problem,
    progress: bool = False,
) -> list[Reading | DocumentReading]:
    """Answer questions about each of some texts, documents, folders and indexes.

    Args:
        paths: text files, or ``-`` for standard input; documents, folders of documents, indexes;
            or retrievers, as ``retriever:NAME``.
        questions: questions about the texts.
        model: ``default-reader``, the folder of a reader, or the hub name of a question-answering
            model.
        mode: how sure the reader must be to answer, see
            :meth:`syntagma.tasks.spans.reader.Reader.answer`.
        threshold: instead of a mode: give no answer if its score exceeds that of the best span by
            more than this, in logits.
        read: passages of a folder or index that are read for a question.
        exhaustive: whether all of a long text is read for every question.
        device: device to run the model on.
        on_problem: called with one line for each document of a folder that cannot be read.
        progress: whether to show a progress bar while a folder is indexed.

    Raises:
        InputError: a source or the model cannot be used, or there is no question.
    """
    if not questions:
        raise InputError("no question; write one after the file, or --questions FILE")
    names = _names(paths)
    # All is checked and read first, so that what is wrong is reported before a model is loaded or
    # a folder indexed.
    has_documents = [is_retriever(path) or Path(path).is_dir() for path in paths]
    for path, several in zip(paths, has_documents, strict=True):
        if several and threshold is not None:
            raise InputError(f"{path}: --threshold is for a single text; use --mode for documents")
        if several and exhaustive:
            raise InputError(f"{path}: --exhaustive is for a single text; use --read for documents")
        if not several and read is not None:
            raise InputError(
                f"{path}: --read is for folders, indexes and retrievers of documents; omit it"
            )
    texts = [
        None if several else _read_source(path)
        for path, several in zip(paths, has_documents, strict=True)
    ]
    reader = None
    found: list[Reading | DocumentReading] = []
    for path, name, text in zip(paths, names, texts, strict=True):
        if text is None:
            found.append(
                ask_documents(
                    path,
                    questions,
                    name=name,
                    model=model,
                    mode=mode,
                    read=read or READ_PASSAGES,
                    device=device,
                    on_problem=on_problem,
                    progress=progress,
                )
            )
            continue
        reader = reader or Reader.from_pretrained(model, device=device)
        answers = reader.answer_all(
            text.text, questions, mode=mode, threshold=threshold, exhaustive=exhaustive
        )
        found.append(Reading(name, text.text, tuple(answers), reader, tuple(cut(text))))
    return found


def _read_source(path: str | Path) -> Document:
    """Read a document, or a text as one without structure."""
    if not is_formatted(path):
        return Document(read_plain_text(path), ())
    with Extractor() as extractor:
        return extractor.extract(path)
