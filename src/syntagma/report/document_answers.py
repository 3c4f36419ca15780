"""Answer questions from indexes and folders of documents, and write the answers."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagma.encoders.default import DEFAULT_READER, find_download
from syntagma.outputs import portable_name, write_text
from syntagma.parse.sources.cache import cache_folder
from syntagma.report.document_page import document_page
from syntagma.report.outcome_text import outcome_line
from syntagma.reprs import brief, counted, quoted
from syntagma.retrieval.index_folder import is_index
from syntagma.retrieval.registered import PREFIX as RETRIEVER
from syntagma.retrieval.registered import load_retriever
from syntagma.tasks.open_qa.documents import (
    READ_PASSAGES,
    DocumentAnswer,
    DocumentReader,
    Index,
)
from syntagma.tasks.open_qa.reader import OpenReader
from syntagma.tasks.spans.answers import Mode
from syntagma.tasks.spans.outcomes import DEFAULT_MODE
from syntagma.tasks.spans.tidy import readable

LONGEST_EXCERPT = 240
"""Characters of a sentence that a terminal shows."""


@dataclass(frozen=True, slots=True, repr=False)
class DocumentReading:
    """Answers to questions about the documents of one index or search engine.

    Args:
        name: name of the folder, index or retriever.
        answers: the answer to each question.
    """

    name: str
    answers: tuple[DocumentAnswer, ...]

    def __repr__(self) -> str:
        return brief(self, quoted(self.name), counted(len(self.answers), "answer"))

    @staticmethod
    def line(answer: DocumentAnswer) -> str:
        """Format one answer for a terminal: the answer, its document, and the sentence around."""
        lines = [answer.question, f"  {outcome_line(answer)}"]
        if answer.passage is not None and answer.sentence is not None:
            found = answer.passage
            excerpt = shortened(readable(answer.sentence.text))
            lines.append(f"    {place_text(found.source, found.page, found.heading)}: {excerpt}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return name and answers as plain values."""
        return {"passage": self.name, "answers": [answer.to_dict() for answer in self.answers]}

    def write_page(self, path: Path) -> None:
        """Write the answers in their passages as an HTML page.

        Raises:
            InputError: the file cannot be written.
        """
        write_text(path, document_page(title=f"Syntagma reads {self.name}", answers=self.answers))


def place_text(source: str, page: int | None, heading: str) -> str:
    """Name a place in a document: its file, the page, and the headings above.

    Args:
        source: path of the document; one below the working folder is shown relative to it.
        page: number of the page; ``None`` without pages.
        heading: the headings above; may be empty.
    """
    if os.path.isabs(source):
        here = os.getcwd()
        with suppress(ValueError):  # On Windows, paths on two drives have nothing in common.
            if os.path.commonpath([here, source]) == here:
                source = os.path.relpath(source, here)
    return ", ".join(filter(None, (source, f"page {page}" if page else "", heading)))


def shortened(text: str, longest: int = LONGEST_EXCERPT) -> str:
    """Cut a text that is too long for a terminal between two words.

    >>> shortened("one two three", 9)
    'one two …'
    """
    if len(text) <= longest:
        return text
    return text[:longest].rpartition(" ")[0].rstrip() + " …"


def folder_index(folder: Path) -> Path:
    """Return where the index of a folder is kept: in the user's cache.

    Args:
        folder: of documents.
    """
    whole = str(folder.resolve())
    digest = hashlib.blake2b(os.fsencode(whole), digest_size=8).hexdigest()
    return cache_folder() / "indexes" / f"{portable_name(folder.resolve().name)[:40]}-{digest}"


def sentence_encoder() -> str:
    """Return the smallest sentence encoder on this machine; empty without any."""
    return next((name for name in ("default", "accurate") if find_download(name)), "")


def ask_documents(
    source: str | Path,
    questions: Sequence[str],
    *,
    name: str,
    model: str = DEFAULT_READER,
    mode: Mode | None = None,
    read: int = READ_PASSAGES,
    device: str = "cpu",
    on_problem: Callable[[str], None],
    progress: bool = False,
) -> DocumentReading:
    """Answer questions from an index, a folder, whose index is kept in the cache, or a retriever.

    Args:
        source: the folder of an index or of documents, or ``retriever:NAME``.
        questions: questions about the documents.
        name: name of the source, for the output.
        model: a reader.
        mode: how sure the reader must be to answer.
        read: the number of passages that are read for a question.
        device: where to compute.
        on_problem: called with one line for each document that cannot be read.
        progress: whether to show a progress bar while documents are indexed.

    Raises:
        InputError: the index or the model cannot be used, or no document can be read.
    """
    if is_retriever(source):
        retriever = load_retriever(str(source), device=device)
        opened = OpenReader.from_pretrained(model, device=device)
        return _reading(name, DocumentReader(retriever, opened, top=read), questions, mode)
    if is_index(source):
        index = Index.open(source, device=device)
    else:
        folder = Path(source)
        index = Index.build(
            [folder],
            folder_index(folder),
            encoder=sentence_encoder(),
            on_problem=on_problem,
            progress=progress,
            device=device,
        )
    return _reading(name, index.reader(model, top=read), questions, mode)


def is_retriever(source: str | Path) -> bool:
    """Whether a source of answers is the name of a retriever, and not that of a file."""
    return str(source).startswith(RETRIEVER) and not os.path.exists(source)


def _reading(
    name: str, reader: DocumentReader, questions: Sequence[str], mode: Mode | None
) -> DocumentReading:
    return DocumentReading(name, tuple(reader.stream(questions, mode=mode or DEFAULT_MODE)))
