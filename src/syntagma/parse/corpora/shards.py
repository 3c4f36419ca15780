"""A shard: the parses of a block of records as one Parquet file, a row a sentence.

Schema, version 2:

``file``        number of the input file
``document``    number of the record in it, from 1
``sentence``    number in the record, from 0
``start``       offset of the first character in the record

and one number a word:

``gaps``        characters between a word and the one before it
``lengths``     characters of the word
``heads``       position of the head minus the word's own; 0 for the root
``relations``, ``upos``, ``xpos``   codes of the labels in the file's metadata
``confidence``  probability of the arc in 255ths, on request

and, unless left out, ``text``: the sentence as it stands in the record.  A shard in which words do
not spell their text (French *du* as *de* + *le*) also has ``forms``: the words of such a sentence
with tabs between them, null for all others.

The numbers of a sentence's words stand as bytes in one binary value, each as wide as the metadata's
``types`` says: Parquet's own lists cost five times the time to read, and no fewer bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import DamagedFileError, MissingExtraError
from syntagma.parse.columns import Labels
from syntagma.text.sentence import Parse

__all__ = ["SCHEMA_VERSION", "Shard", "ShardWriter"]

SCHEMA_VERSION = 2
METADATA = b"syntagma"
LABELS = ("relations", "upos", "xpos")
TAB = "\t"
"""Between words: no word of a treebank holds one."""
LEVEL = 9

# Columns of few frequent values compress best with a dictionary, measured on Wikipedia paragraphs.
BY_DICTIONARY = ["file", "document", "sentence", "start"]
WIDTHS = ("|u1", "|i1", "<u2", "<i2", "<i4")

IntArray = NDArray[np.integer[Any]]


def arrow() -> Any:
    """The ``pyarrow`` package with its ``parquet`` module.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("annotated corpora", "data") from error
    return pyarrow


class ShardWriter:
    """Collects the parses of a block.

    Args:
        labels: label names that are known beforehand, by column; others are added as they come.
        text: whether to keep the sentences' text.
        confidence: whether to keep arc probabilities.
    """

    def __init__(
        self,
        labels: dict[str, list[str]],
        *,
        text: bool = True,
        confidence: bool = False,
    ) -> None:
        self.labels = {name: Labels(labels.get(name, ())) for name in LABELS}
        self.texts: list[str] | None = [] if text else None
        self.forms: list[str | None] = []
        self.rows: dict[str, list[int]] = {
            name: [] for name in ("file", "document", "sentence", "start", "n_words")
        }
        names = ["gaps", "lengths", "heads", *LABELS, *(["confidence"] if confidence else [])]
        self.words: dict[str, list[NDArray[np.int32]]] = {name: [] for name in names}

    @property
    def n_sentences(self) -> int:
        """Rows so far."""
        return len(self.rows["start"])

    @property
    def n_words(self) -> int:
        """Words so far."""
        return sum(self.rows["n_words"])

    def add(self, file: int, document: int, text: str, parses: Iterable[Parse]) -> None:
        """The sentences of a record."""
        for number, parse in enumerate(parses):
            sentence = parse.sentence
            row = (file, document, number, sentence.start, len(parse))
            for values, value in zip(self.rows.values(), row, strict=True):
                values.append(value)
            starts = np.array(sentence.starts, np.int32)
            ends = np.array(sentence.ends, np.int32)
            heads = np.array(parse.heads, np.int32)
            own = np.arange(1, len(heads) + 1, dtype=np.int32)
            before = np.concatenate([starts[:1], ends[:-1]])
            self.words["gaps"].append(starts - before)
            self.words["lengths"].append(ends - starts)
            self.words["heads"].append(np.where(heads == 0, 0, heads - own))
            for name in LABELS:
                codes = self.labels[name].encode(getattr(parse, name))
                self.words[name].append(np.array(codes, np.int32))
            if "confidence" in self.words:
                sure = np.array(parse.probabilities, np.float64)
                self.words["confidence"].append(np.rint(sure * 255).astype(np.int32))
            if self.texts is not None:
                self.texts.append(text[sentence.start : sentence.end])
                spelled = all(text[start:end] == form for form, start, end in sentence.words)
                self.forms.append(None if spelled else TAB.join(sentence.forms))

    def write(self, path: Path, metadata: dict[str, Any]) -> None:
        """Write the shard; the same parses always give the same bytes.

        Args:
            path: of the file.
            metadata: what else to keep beside labels and schema.
        """
        pa = arrow()
        bounds = np.concatenate([[0], np.cumsum(self.rows["n_words"])])
        columns = {
            "file": pa.array(self.rows["file"], pa.int32()),
            "document": pa.array(self.rows["document"], pa.int64()),
            "sentence": pa.array(self.rows["sentence"], pa.int32()),
            "start": pa.array(self.rows["start"], pa.int32()),
        }
        types = {}
        for name, parts in self.words.items():
            values = _narrow(np.concatenate(parts) if parts else np.zeros(0, np.int32))
            offsets = (bounds * values.itemsize).astype(np.int32)
            buffers = [None, pa.py_buffer(offsets), pa.py_buffer(values)]
            columns[name] = pa.Array.from_buffers(pa.binary(), len(bounds) - 1, buffers)
            types[name] = values.dtype.str
        if self.texts is not None:
            columns["text"] = pa.array(self.texts, pa.string())
        if any(form is not None for form in self.forms):
            columns["forms"] = pa.array(self.forms, pa.string())
        kept = {
            "schema": SCHEMA_VERSION,
            "types": types,
            "labels": {name: labels.names for name, labels in self.labels.items()},
            **metadata,
        }
        table = pa.table(columns).replace_schema_metadata(
            {METADATA: json.dumps(kept, ensure_ascii=False).encode()}
        )
        pa.parquet.write_table(
            table,
            path,
            compression="zstd",
            compression_level=LEVEL,
            use_dictionary=BY_DICTIONARY,
            column_encoding={
                name: "DELTA_LENGTH_BYTE_ARRAY" for name in columns if name not in BY_DICTIONARY
            },
            write_statistics=["document"],
            row_group_size=max(1, len(self.rows["start"])),
        )


class Shard:
    """The sentences of a shard as flat columns, each read from the file when it is first asked for.

    Columns are of up to 32 bits (documents of 64) and may be read-only.

    Args:
        path: of the file.

    Attributes:
        metadata: as written, with ``schema`` and ``labels``.
        file: number of the input file of each sentence, ``[n_sentences]``.
        document: number of the record in its file, from 1, ``[n_sentences]``.
        sentence: number of the sentence in its record, from 0, ``[n_sentences]``.
        bounds: first word of each sentence, and the number of words, ``[n_sentences + 1]``.
        starts: offset of each word in its record, ``[n_words]``.
        ends: offset after each word, ``[n_words]``.
        heads: 1-based, 0 for the root, ``[n_words]``.
        relations: codes, ``[n_words]``.
        upos: codes, ``[n_words]``.
        xpos: codes, ``[n_words]``.
        confidence: probabilities of the arcs, ``[n_words]``, or ``None``.
        texts: the sentences' text, ``[n_sentences]``, or ``None``.
        forms: the words of sentences whose text does not spell them, ``[n_sentences]``, ``None`` of
            all others; ``None`` where there are none.

    Raises:
        DamagedFileError: the file is no shard, or its schema is newer than this version; columns
            raise it too.
        MissingExtraError: ``pyarrow`` is not installed.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        with self._reading():
            with arrow().parquet.ParquetFile(self.path) as file:
                self._footer = file.metadata
                self._names = set(file.schema_arrow.names)
                self.metadata: dict[str, Any] = json.loads(file.schema_arrow.metadata[METADATA])
            version = self.metadata["schema"]
        if version != SCHEMA_VERSION:
            raise DamagedFileError(
                f"{path}: has schema {version}, this version reads {SCHEMA_VERSION}; "
                f"use the version of syntagma that wrote it"
            )

    def __len__(self) -> int:
        n_rows: int = self._footer.num_rows
        return n_rows

    @property
    def labels(self) -> dict[str, list[str]]:
        """Names of the codes by column."""
        labels: dict[str, list[str]] = self.metadata["labels"]
        return labels

    @cached_property
    def file(self) -> IntArray:
        return self._numbers("file")

    @cached_property
    def document(self) -> IntArray:
        return self._numbers("document")

    @cached_property
    def sentence(self) -> IntArray:
        return self._numbers("sentence")

    @cached_property
    def bounds(self) -> IntArray:
        return self._heads[0]

    @cached_property
    def heads(self) -> IntArray:
        bounds, steps = self._heads
        # A head is stored as the way to it from the word's own place in its sentence.  In place:
        # fresh memory costs more than the sums.
        heads = np.arange(1, len(steps) + 1, dtype=np.int32)
        heads -= np.repeat(bounds[:-1], np.diff(bounds))
        heads += steps
        heads *= steps != 0
        return heads

    @property
    def starts(self) -> IntArray:
        return self._offsets[0]

    @property
    def ends(self) -> IntArray:
        return self._offsets[1]

    @cached_property
    def relations(self) -> IntArray:
        return self._lists("relations")[1]

    @cached_property
    def upos(self) -> IntArray:
        return self._lists("upos")[1]

    @cached_property
    def xpos(self) -> IntArray:
        return self._lists("xpos")[1]

    @cached_property
    def confidence(self) -> NDArray[np.float32] | None:
        if "confidence" not in self._names:
            return None
        return (self._lists("confidence")[1] / 255).astype(np.float32)

    @cached_property
    def texts(self) -> Sequence[str] | None:
        if "text" not in self._names:
            return None
        with self._reading():
            texts: list[str] = self._column("text").to_pylist()
        return texts

    @cached_property
    def forms(self) -> Sequence[tuple[str, ...] | None] | None:
        if "forms" not in self._names:
            return None
        with self._reading():
            written: list[str | None] = self._column("forms").to_pylist()
        return [None if forms is None else tuple(forms.split(TAB)) for forms in written]

    @cached_property
    def _heads(self) -> tuple[IntArray, IntArray]:
        return self._lists("heads")

    @cached_property
    def _offsets(self) -> tuple[IntArray, IntArray]:
        bounds, gaps = self._lists("gaps")
        return _offsets(gaps, self._lists("lengths")[1], bounds, self._numbers("start"))

    def _column(self, name: str) -> Any:
        options = {"metadata": self._footer, "pre_buffer": False}
        with arrow().parquet.ParquetFile(self.path, **options) as file:
            # Threads share out columns, and this is one.
            column = file.read([name], use_threads=False)[name]
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()

    def _numbers(self, name: str) -> IntArray:
        with self._reading():
            found: IntArray = self._column(name).to_numpy()
        return found

    def _lists(self, name: str) -> tuple[IntArray, IntArray]:
        """Where the words of each sentence begin, and the numbers of all."""
        with self._reading():
            column = self._column(name)
            _, ends, data = column.buffers()
            numbers = np.frombuffer(data or b"", self.metadata["types"][name])
            bounds = np.frombuffer(ends, np.int32)[: len(column) + 1] // numbers.itemsize
            return bounds, numbers[: bounds[-1]]

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Name the file in any error that reading it gives."""
        pa = arrow()
        try:
            yield
        except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
            raise DamagedFileError(
                f"{self.path}: damaged, or no shard of an annotated corpus ({error})"
            ) from error


def _offsets(
    gaps: IntArray, lengths: IntArray, bounds: IntArray, first: IntArray
) -> tuple[IntArray, IntArray]:
    """Character offsets of all words from gaps, lengths and the start of each sentence."""
    if not len(gaps):
        return gaps, lengths
    # The sum over a whole shard may wrap; what is left of it within a record does not.
    ends = np.add(gaps, lengths, dtype=np.int32)
    np.cumsum(ends, dtype=ends.dtype, out=ends)
    before = np.where(bounds[:-1] > 0, ends[bounds[:-1] - 1], 0).astype(ends.dtype)
    ends += np.repeat(first - before, np.diff(bounds))
    return ends - lengths, ends


def _narrow(values: IntArray) -> IntArray:
    """The same numbers in the narrowest type that holds them all."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    for name in WIDTHS:
        limits = np.iinfo(name)
        if limits.min <= low and high <= limits.max:
            return values.astype(name)
    raise ValueError(f"{low} … {high} are more than 32 bits")
