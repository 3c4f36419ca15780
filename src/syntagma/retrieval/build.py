"""Build an index of documents, or bring it up to date.

Only new and changed documents are read; what is known of the others is copied.  The work is kept
in parts as it goes (:mod:`syntagma.retrieval.index_folder`), so that an interrupted build goes on
where it stopped, and a killed one loses half a minute.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from syntagma.drafts import new_draft
from syntagma.errors import DamagedFileError, InputError, MachineError, MissingExtraError
from syntagma.extraction.document import Document
from syntagma.extraction.find import FoundFile, find_documents
from syntagma.extraction.worker import Extractor
from syntagma.outputs import disk_errors, hold_folder
from syntagma.progress import progress_bar
from syntagma.retrieval.bm25 import KeywordScorer
from syntagma.retrieval.index_folder import (
    KEYWORDS,
    IndexSettings,
    IndexState,
    finish_part,
    finished_parts,
    next_generation,
    read_current,
    remove_others,
    require_place,
    write_state,
)
from syntagma.retrieval.passages import Cut, cut
from syntagma.retrieval.store import Store, StoredDocument, StoreWriter, searched
from syntagma.retrieval.terms import TermFinder
from syntagma.retrieval.vectors import SentenceEncoder

BATCH_PASSAGES = 512
"""Passages whose vectors are computed together: enough to sort by length."""
PART_SECONDS = 30.0
"""Work that a killed build may lose."""

Report = Callable[[str], None]
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build did.

    Args:
        n_documents: documents with text in the index.
        n_passages: their passages.
        n_read: documents that were read now.
        n_removed: documents of the index before that are no longer there.
        n_problems: documents that could not be read.
        seconds: time that the build took.
    """

    n_documents: int
    n_passages: int
    n_read: int
    n_removed: int
    n_problems: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as in the JSON file of ``index --json``."""
        return asdict(self)


class _Read(NamedTuple):
    """A document that was read now, or the reason why it could not be."""

    record: StoredDocument
    document: Document | None
    cuts: Sequence[Cut]


class _Known:
    """The documents that need not be read again."""

    def __init__(self, stores: Iterable[Store]) -> None:
        self._by_file: dict[tuple[str, int, int], tuple[Store, StoredDocument]] = {}
        self._by_content: dict[tuple[str, str], tuple[Store, StoredDocument]] = {}
        for store in stores:
            self.add(store)

    def add(self, store: Store) -> None:
        for document in store.documents:
            place = (document.path, document.size, document.modified)
            self._by_file[place] = store, document
            if document.digest and not document.problem:
                self._by_content[document.content] = store, document

    def find(self, file: FoundFile) -> tuple[Store, StoredDocument] | None:
        """Return what is known of a file that has not been modified since."""
        return self._by_file.get((file.path, file.size, file.mtime_ns))

    def find_copy(self, record: StoredDocument) -> tuple[Store, StoredDocument] | None:
        """Return what is known of a file with the same content that is read in the same way."""
        return self._by_content.get(record.content)


def build_index(
    sources: Iterable[str | Path],
    folder: str | Path,
    *,
    settings: IndexSettings,
    encoder: SentenceEncoder | None,
    on_problem: Report,
    progress: bool = False,
) -> BuildReport:
    """Build an index, or bring an existing one up to date with its sources.

    Args:
        sources: files and folders; afterwards the index holds what they hold, and nothing else.
        folder: of the index.
        settings: what passages and scores depend on.
        encoder: computes the vectors; ``None`` for keywords alone.
        on_problem: called with one line for each file that cannot be read; the others are.
        progress: whether to show a progress bar.

    Raises:
        InputError: the folder is something else, a source does not exist, or nothing in the sources
            could be read.
        MissingExtraError: a package is not installed.
    """
    begun = time.monotonic()
    folder = Path(folder)
    require_place(folder)
    places = [Path(source).absolute() for source in sources]
    finder = TermFinder(settings.language)
    with hold_folder(folder), disk_errors(folder):
        files = list(find_documents(places, on_problem=on_problem))
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        state, before = read_current(folder)
        is_same = state is not None and state.settings.has_same_passages(settings)
        if state is not None and state.settings.extraction != settings.extraction:
            log.warning("%s: was built by another version; its keywords are found again", folder)
        known = _Known([before] if before is not None and is_same else [])
        for part in finished_parts(folder, settings):
            known.add(part)
        unread: list[str] = []
        work = _Work(folder, settings, encoder, known, unread.append, progress)
        n_read = work.read(file for file in files if known.find(file) is None)
        kept = [found for file in files if (found := known.find(file)) is not None]
        report = BuildReport(
            n_documents=sum(not document.problem for _, document in kept),
            n_passages=sum(document.n_passages for _, document in kept),
            n_read=n_read,
            n_removed=_n_removed(before, kept),
            n_problems=len(unread) + sum(bool(document.problem) for _, document in kept),
            seconds=0.0,
        )
        for problem in [*unread, *(document.problem for _, document in kept)]:
            if problem:
                on_problem(problem)
        if not report.n_documents:
            work.discard()
            if is_new:
                with suppress(OSError):
                    folder.rmdir()
            raise InputError(
                f"nothing to index: no document in {', '.join(map(str, places))} could be read; "
                f"give files or folders with text, Markdown, HTML, docx or pdf"
            )
        new = IndexState(
            generation="",
            sources=tuple(map(str, places)),
            settings=settings,
            n_documents=report.n_documents,
            n_passages=report.n_passages,
        )
        if (
            state is None
            or before is None
            or replace(new, generation=state.generation) != state
            or [document for _, document in kept] != before.documents
            or not _has_keywords(before, finder)
        ):
            _write_generation(folder, new, kept, finder)
    return replace(report, seconds=time.monotonic() - begun)


def _has_keywords(store: Store, finder: TermFinder) -> bool:
    """Whether the keywords of a generation can be used."""
    try:
        KeywordScorer.open(store.folder / KEYWORDS, finder, len(store))
    except DamagedFileError:
        log.warning("%s: its keywords are damaged; they are found again", store.folder.parent)
        return False
    return True


def _n_removed(before: Store | None, kept: Sequence[tuple[Store, StoredDocument]]) -> int:
    now = {document.path for _, document in kept}
    old = before.documents if before is not None else []
    return sum(document.path not in now for document in old)


class _Work:
    """Reads documents and keeps what is finished in parts.

    Args:
        folder: of the index, held by the caller.
        settings: of the index.
        encoder: computes vectors, or ``None``.
        known: learns of every document that was read.
        on_problem: called with one line for each file that cannot be read for a reason that may
            pass, such as its permissions: it is read again next time.
        progress: whether to show a progress bar.
    """

    def __init__(
        self,
        folder: Path,
        settings: IndexSettings,
        encoder: SentenceEncoder | None,
        known: _Known,
        on_problem: Report,
        progress: bool,
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.encoder = encoder
        self.known = known
        self.on_problem = on_problem
        self.progress = progress
        self._parts: list[Path] = []

    def discard(self) -> None:
        """Remove the parts that were written, which have nothing but problems."""
        for part in self._parts:
            shutil.rmtree(part, ignore_errors=True)

    def read(self, files: Iterable[FoundFile]) -> int:
        """Read documents, and return their number."""
        waiting = list(files)
        if not waiting:
            return 0
        bar = progress_bar(total=len(waiting), unit="doc", disable=not self.progress, desc="index")
        n_read = 0
        with bar, Extractor() as extractor, closing(self._documents(waiting, extractor)) as found:
            batches = _batches(found)
            while (n_written := self._write_part(batches, bar.update)) > 0:
                n_read += n_written
        return n_read

    def _write_part(self, batches: Iterator[list[_Read]], update: Callable[[int], object]) -> int:
        """Write a part with what is read in half a minute, and return the number of documents.

        If the user interrupts it, what is finished is kept.
        """
        until = time.monotonic() + PART_SECONDS
        interrupted: KeyboardInterrupt | None = None
        n_documents = 0
        size = self.encoder.size if self.encoder is not None else 0
        with new_draft(self.folder / "part") as draft:
            with StoreWriter(draft, vector_size=size) as writer:
                try:
                    for batch in batches:
                        self._add(writer, batch)
                        n_documents += len(batch)
                        update(len(batch))
                        if time.monotonic() > until:
                            break
                except KeyboardInterrupt as error:
                    interrupted = error
            if n_documents:
                part = finish_part(draft, self.folder, self.settings)
                self._parts.append(part.folder)
                self.known.add(part)
        if interrupted is not None:
            raise interrupted
        return n_documents

    def _add(self, writer: StoreWriter, batch: Sequence[_Read]) -> None:
        """Compute the vectors of some documents, then write them all: none is half-written."""
        texts = [
            searched(read.record.title, cut.heading, read.document.text[cut.start : cut.end])
            for read in batch
            if read.document is not None
            for cut in read.cuts
        ]
        vectors = self.encoder.encode(texts) if self.encoder is not None else None
        first = 0
        for read in batch:
            last = first + len(read.cuts)
            text = read.document.text if read.document is not None else ""
            own = vectors[first:last] if vectors is not None else None
            writer.add(read.record, text, read.cuts, own)
            first = last

    def _documents(
        self, files: Sequence[FoundFile], extractor: Extractor
    ) -> Generator[_Read, None, None]:
        """Yield the documents of files, one after the other."""
        for file in files:
            record = StoredDocument(file.path, file.size, file.mtime_ns)
            try:
                record = replace(record, digest=_digest(file.path))
                if (copy := self.known.find_copy(record)) is not None:
                    store, other = copy
                    title = other.title
                    if title == _name_title(other.path):
                        title = _name_title(file.path)
                    document = Document(store.text(other), (), title)
                    yield _Read(replace(record, title=title), document, store.cuts(other))
                    continue
                document = extractor.extract(file.path)
            except (MissingExtraError, MemoryError):
                raise
            except MachineError as error:
                self.on_problem(str(error))
                continue
            except InputError as error:
                yield _Read(replace(record, problem=str(error)), None, [])
                continue
            title = document.title or _name_title(file.path)
            cuts = cut(document, most=self.settings.passage_words)
            yield _Read(replace(record, title=title), document, cuts)


def _name_title(path: str) -> str:
    """Return the title of a file that gives none: its name."""
    return " ".join(Path(path).stem.replace("_", " ").split())


def _digest(path: str) -> str:
    """Hash the content of a file.

    Raises:
        MachineError: it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError as error:
        raise MachineError(f"{path}: cannot be read ({error.strerror})") from error


def _batches(documents: Iterator[_Read]) -> Iterator[list[_Read]]:
    """Group documents so that each group has about :data:`BATCH_PASSAGES` passages."""
    batch: list[_Read] = []
    n_passages = 0
    for read in documents:
        batch.append(read)
        n_passages += len(read.cuts)
        # Documents without passages count as well: thousands of broken files are work too.
        if n_passages + len(batch) >= BATCH_PASSAGES:
            yield batch
            batch, n_passages = [], 0
    if batch:
        yield batch


def _write_generation(
    folder: Path,
    state: IndexState,
    kept: Sequence[tuple[Store, StoredDocument]],
    finder: TermFinder,
) -> None:
    """Write a generation of all that is known, make it the current one, and remove the others."""
    state = replace(state, generation=next_generation(folder))
    vectors = next((store.vectors for store, _ in kept if store.vectors is not None), None)
    size = 0 if vectors is None else vectors.shape[1]
    with new_draft(folder / "generation") as draft:
        with StoreWriter(draft, vector_size=size) as writer:
            for store, document in kept:
                writer.add(
                    document,
                    store.text(document),
                    store.cuts(document),
                    store.document_vectors(document),
                )
        keywords = KeywordScorer.build(Store(draft).searched_texts(), finder)
        keywords.save(draft / KEYWORDS)
        _flush(draft)
        os.replace(draft, folder / state.generation)
    write_state(folder, state)
    remove_others(folder, state.generation)


def _flush(folder: Path) -> None:
    """Wait until a folder is on disk, so that a power failure leaves the old generation or this."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "r+b") as file:
                os.fsync(file.fileno())
