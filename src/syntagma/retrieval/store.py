"""Documents and passages in a folder that never changes once it is written.

The folder has ``documents.jsonl`` (a line for each document), ``text.bin`` (their texts, in UTF-8),
``headings.bin`` (headings of passages), ``passages.npy`` (a row of offsets for each passage, see
:data:`COLUMNS`) and, unless keywords suffice, ``vectors.npy`` (a unit vector for each passage in
half precision).  Files are mapped into memory, so opening is fast however large they are.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import DamagedFileError
from syntagma.json_values import parse_json
from syntagma.retrieval.passages import Cut
from syntagma.retrieval.retriever import Passage

COLUMNS = (
    "document",  # number of the document
    "start",  # characters, in the text of the document
    "end",
    "text_start",  # bytes, in text.bin
    "text_end",
    "heading_start",  # bytes, in headings.bin
    "heading_end",
    "page",  # 0 without pages
)
REMEDY = "build the index again"
FILES = ("documents.jsonl", "text.bin", "headings.bin", "passages.npy", "vectors.npy")
DOCUMENTS, TEXT, HEADINGS, PASSAGES, VECTORS = FILES


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What is known of a document.

    Args:
        path: its file.
        size: of the file in bytes, when it was read.
        modified: when the file was modified, in nanoseconds since 1970.
        digest: BLAKE2 hash of the file.
        title: the title that the file gives.
        text_start: byte offset of its text in ``text.bin``.
        text_end: byte offset of the end of its text.
        first: number of its first passage.
        n_passages: number of its passages.
        problem: why it could not be read, in one line; empty if it was read.
    """

    path: str
    size: int
    modified: int
    digest: str = ""
    title: str = ""
    text_start: int = 0
    text_end: int = 0
    first: int = 0
    n_passages: int = 0
    problem: str = ""

    @property
    def content(self) -> tuple[str, str]:
        """Hash and ending, which decides how a file is read: ``#`` is a heading in ``.md`` only."""
        return self.digest, os.path.splitext(self.path)[1].lower()


class Store:
    """Reads a folder of passages.

    Args:
        folder: written by :class:`StoreWriter`.

    Attributes:
        documents: the documents.
        vectors: unit vectors of the passages, ``[n_passages, size]``; ``None`` without them.

    Raises:
        DamagedFileError: a file is missing, or they do not belong together.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            lines = (folder / DOCUMENTS).read_text(encoding="utf-8").splitlines()
            self.documents = [StoredDocument(**parse_json(line)) for line in lines]
            self._text, self._headings = _mapped(folder / TEXT), _mapped(folder / HEADINGS)
            self._table = _mapped_array(folder / PASSAGES)
            vectors = folder / VECTORS
            self.vectors = _mapped_array(vectors) if vectors.is_file() else None
        except (OSError, EOFError, ValueError, TypeError) as error:
            raise DamagedFileError(f"{folder}: cannot be read ({error}); {REMEDY}") from error
        self._check()

    def _check(self) -> None:
        """Check that the files have the sizes that they say of each other."""
        n_passages = sum(document.n_passages for document in self.documents)
        n_bytes = max((document.text_end for document in self.documents), default=0)
        table = self._table
        sizes = {
            PASSAGES: table.shape == (n_passages, len(COLUMNS)) and table.dtype == np.int64,
            TEXT: len(self._text) == n_bytes,
            HEADINGS: not n_passages or len(self._headings) >= int(table[-1, 6]),
            VECTORS: self.vectors is None or len(self.vectors) == n_passages,
        }
        for name, fits in sizes.items():
            if not fits:
                raise DamagedFileError(f"{self.folder / name}: has another size; {REMEDY}")

    def __len__(self) -> int:
        return len(self._table)

    def passage(self, number: int) -> Passage:
        """Return a passage.

        Args:
            number: of the passage, from 0.
        """
        document, start, end, *bytes_, page = map(int, self._table[number])
        source = self.documents[document].path
        return Passage(
            id=str(number),
            text=self._text[bytes_[0] : bytes_[1]].decode("utf-8"),
            source=source,
            start=start,
            end=end,
            heading=self._headings[bytes_[2] : bytes_[3]].decode("utf-8"),
            page=page or None,
        )

    def text(self, document: StoredDocument) -> str:
        """Return the text of a document."""
        return self._text[document.text_start : document.text_end].decode("utf-8")

    def cuts(self, document: StoredDocument) -> list[Cut]:
        """Return where the passages of a document lie."""
        numbers = range(document.first, document.first + document.n_passages)
        found = map(self.passage, numbers)
        return [Cut(each.start, each.end, each.heading, each.page) for each in found]

    def document_vectors(self, document: StoredDocument) -> NDArray[np.float16] | None:
        """Return the vectors of a document's passages, ``[n_passages, size]``."""
        if self.vectors is None:
            return None
        return self.vectors[document.first : document.first + document.n_passages]

    def searched_texts(self) -> Iterator[str]:
        """Yield what is searched of each passage: its document's title, its headings, its text."""
        for number in range(len(self)):
            passage = self.passage(number)
            title = self.documents[int(self._table[number, 0])].title
            yield searched(title, passage.heading, passage.text)


def searched(title: str, heading: str, text: str) -> str:
    """Return the text by which a passage is found.

    Args:
        title: title of its document; may be empty.
        heading: the headings above it; may be empty.
        text: its text.
    """
    return "\n".join(filter(None, (title, heading, text)))


class StoreWriter:
    """Writes a folder of passages, document by document; a context manager.

    Args:
        folder: does not exist yet.
        vector_size: numbers of a vector; 0 to write none.
    """

    def __init__(self, folder: Path, *, vector_size: int) -> None:
        self.folder = folder
        self.vector_size = vector_size
        self.n_passages = 0
        self._n_documents = self._n_text = self._n_headings = 0
        self._rows: list[list[int]] = []
        self._stack = ExitStack()
        self._files: dict[str, IO[bytes]] = {}

    def __enter__(self) -> Self:
        self.folder.mkdir()
        names = [DOCUMENTS, TEXT, HEADINGS, *([VECTORS] if self.vector_size else [])]
        for name in names:
            self._files[name] = self._stack.enter_context(open(self.folder / name, "wb"))
        if self.vector_size:
            # The number of rows is written when it is known: the header has room for it.
            self._write_vector_header()
        return self

    def __exit__(self, *raised: object) -> None:
        with self._stack:
            if raised[0] is not None:
                return
            if self.vector_size:
                self._files[VECTORS].seek(0)
                self._write_vector_header()
            for file in self._files.values():
                file.flush()
                os.fsync(file.fileno())
        table = np.array(self._rows, dtype=np.int64).reshape(-1, len(COLUMNS))
        with open(self.folder / PASSAGES, "wb") as file:
            np.save(file, table)
            file.flush()
            os.fsync(file.fileno())

    def _write_vector_header(self) -> None:
        header = {
            "descr": np.lib.format.dtype_to_descr(np.dtype(np.float16)),
            "fortran_order": False,
            "shape": (self.n_passages, self.vector_size),
        }
        # Version 1.0 pads the header, so that a longer number of rows fits where a shorter was.
        np.lib.format.write_array_header_1_0(self._files[VECTORS], header)

    def add(
        self,
        document: StoredDocument,
        text: str,
        cuts: Sequence[Cut],
        vectors: NDArray[np.floating[Any]] | None,
    ) -> None:
        """Append a document.

        Args:
            document: what is known of it; the offsets are set here.
            text: its text.
            cuts: its passages.
            vectors: their unit vectors, ``[n_passages, vector_size]``.
        """
        encoded = text.encode("utf-8")
        to_bytes = _byte_offsets(text, encoded, cuts)
        headings: dict[str, tuple[int, int]] = {}
        for cut, (first, last) in zip(cuts, to_bytes, strict=True):
            if cut.heading not in headings:
                written = self._files[HEADINGS].write(cut.heading.encode("utf-8"))
                headings[cut.heading] = (self._n_headings, self._n_headings + written)
                self._n_headings += written
            self._rows.append(
                [
                    self._n_documents,
                    cut.start,
                    cut.end,
                    self._n_text + first,
                    self._n_text + last,
                    *headings[cut.heading],
                    cut.page or 0,
                ]
            )
        record = asdict(document) | {
            "text_start": self._n_text,
            "text_end": self._n_text + len(encoded),
            "first": self.n_passages,
            "n_passages": len(cuts),
        }
        # Names of files need not be UTF-8: the escapes of JSON keep what is not.
        self._files[DOCUMENTS].write(json.dumps(record).encode("ascii") + b"\n")
        self._files[TEXT].write(encoded)
        if self.vector_size and vectors is not None:
            self._files[VECTORS].write(np.ascontiguousarray(vectors, dtype=np.float16).tobytes())
        self._n_documents += 1
        self._n_text += len(encoded)
        self.n_passages += len(cuts)


def _byte_offsets(text: str, encoded: bytes, cuts: Sequence[Cut]) -> list[tuple[int, int]]:
    """Return the offsets of passages in the encoded text."""
    if len(text) == len(encoded):
        return [(cut.start, cut.end) for cut in cuts]
    # Every byte but a continuation begins a character.
    begins = np.flatnonzero((np.frombuffer(encoded, dtype=np.uint8) & 0xC0) != 0x80)
    begins = np.append(begins, len(encoded))
    return [(int(begins[cut.start]), int(begins[cut.end])) for cut in cuts]


def _mapped(path: Path) -> bytes | mmap.mmap:
    """Map a file into memory; an empty one cannot be mapped."""
    if not path.stat().st_size:
        return b""
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _mapped_array(path: Path) -> NDArray[Any]:
    # Copy on write: torch warns of arrays that cannot be written to, though nobody writes here.
    return np.load(path, mmap_mode="c")
