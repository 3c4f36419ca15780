"""A shard: the parses of a chunk of records in one Parquet file, with one row per sentence.

Schema version 2 has these columns with one number per sentence:

``file``        index of the input file
``document``    number of the record in the file, from 1
``sentence``    index of the sentence in the record, from 0
``start``       offset of the sentence's first character in the record

and these with one number per word:

``gaps``        number of characters between the word and the previous one
``lengths``     number of characters of the word
``heads``       position of the head relative to the word; 0 for the root
``relations``, ``upos``, ``xpos``   label codes; the labels are in the metadata of the file
``confidence``  probability of the arc in steps of 1/255, optional

The optional column ``text`` contains the sentence as written in the record.  If words of a shard do
not spell their text (French *du*, which stands for *de* + *le*), the shard also has the column
``forms``: the words of such a sentence, separated by tabs, and null for other sentences.  If a
sentence was parsed in parts, the shard has the column ``parts``: the first word of each part, and
null for other sentences.  If a sentence was cut, the shard has the column ``continues``: whether
the next sentence continues each sentence.  If the multi-word tokens of a sentence are not those
that :mod:`syntagma.text.tokens` reads off its words (Turkish *Milas'lı*), the shard has the column
``multiword``: the first word of each token, from 0, and one after its last, in one list; null for
other sentences.

The numbers of a sentence's words are stored as the bytes of one binary value; ``types`` in the
metadata says how wide the numbers are.  Parquet's own lists take five times as long to read and are
not smaller.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagma.batches import batched
from syntagma.errors import DamagedFileError
from syntagma.parse.columns import Labels
from syntagma.parse.corpora.parquet import arrow
from syntagma.parse.corpora.word_numbers import IntArray, narrow, offsets_of
from syntagma.text.sentence import Parse
from syntagma.text.tokens import Ranges, unusual_tokens

SCHEMA_VERSION = 2
METADATA = b"syntagma"
LABELS = ("relations", "upos", "xpos")
SEPARATOR = "\t"
"""Separates words in ``forms``; words from a treebank contain no tabs."""
COMPRESSION_LEVEL = 9

# Columns with few frequent values compress best with a dictionary, measured on Wikipedia.
DICTIONARY_COLUMNS = ["file", "document", "sentence", "start"]
LISTS = ("parts", "continues", "multiword")
"""Columns that are no strings, which are stored in Arrow's own way."""


class ShardWriter:
    """Collects parses and writes them to a shard.

    Args:
        labels: initial labels of each column; new labels are added when they occur.
        text: whether to store the text of the sentences.
        confidence: whether to store arc probabilities.
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
        self.parts: list[tuple[int, ...] | None] = []
        self.continues: list[bool] = []
        self.multiword: list[list[int] | None] = []
        self.rows: dict[str, list[int]] = {
            name: [] for name in ("file", "document", "sentence", "start", "n_words")
        }
        names = ["gaps", "lengths", "heads", *LABELS, *(["confidence"] if confidence else [])]
        self.words: dict[str, list[NDArray[np.int32]]] = {name: [] for name in names}

    @property
    def n_sentences(self) -> int:
        """Number of sentences so far."""
        return len(self.rows["start"])

    @property
    def n_words(self) -> int:
        """Number of words so far."""
        return sum(self.rows["n_words"])

    def add(self, file: int, document: int, text: str, parses: Iterable[Parse]) -> None:
        """Add the sentences of a record.

        Args:
            file: index of the input file.
            document: number of the record in the file.
            text: text of the record.
            parses: parses of its sentences, in order.
        """
        for number, parse in enumerate(parses):
            sentence = parse.sentence
            row = (file, document, number, sentence.start, len(parse))
            for values, value in zip(self.rows.values(), row, strict=True):
                values.append(value)
            self.parts.append(parse.parts or None)
            self.continues.append(sentence.continues)
            starts = np.array(sentence.starts, np.int32)
            ends = np.array(sentence.ends, np.int32)
            heads = np.array(parse.heads, np.int32)
            positions = np.arange(1, len(heads) + 1, dtype=np.int32)
            previous_ends = np.concatenate([starts[:1], ends[:-1]])
            # Gaps, lengths and relative heads are small numbers, which compress well.
            self.words["gaps"].append(starts - previous_ends)
            self.words["lengths"].append(ends - starts)
            self.words["heads"].append(np.where(heads == 0, 0, heads - positions))
            for name in LABELS:
                codes = self.labels[name].encode(getattr(parse, name))
                self.words[name].append(np.array(codes, np.int32))
            if "confidence" in self.words:
                probabilities = np.array(parse.probabilities, np.float64)
                self.words["confidence"].append(np.rint(probabilities * 255).astype(np.int32))
            if self.texts is not None:
                self.texts.append(text[sentence.start : sentence.end])
                is_spelled = all(text[start:end] == form for form, start, end in sentence.words)
                self.forms.append(None if is_spelled else SEPARATOR.join(sentence.forms))
                tokens = unusual_tokens(parse)
                self.multiword.append(None if tokens is None else list(chain.from_iterable(tokens)))

    def write(self, path: Path, metadata: dict[str, Any]) -> None:
        """Write the shard; the same parses always result in the same bytes.

        Args:
            path: path of the file.
            metadata: further metadata of the file, in addition to labels and schema.
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
            values = narrow(np.concatenate(parts) if parts else np.zeros(0, np.int32))
            offsets = (bounds * values.itemsize).astype(np.int32)
            # Arrow's layout of a binary column: validity (no nulls here), offsets, data.
            buffers = [None, pa.py_buffer(offsets), pa.py_buffer(values)]
            columns[name] = pa.Array.from_buffers(pa.binary(), len(bounds) - 1, buffers)
            types[name] = values.dtype.str
        if self.texts is not None:
            columns["text"] = pa.array(self.texts, pa.string())
        if any(form is not None for form in self.forms):
            columns["forms"] = pa.array(self.forms, pa.string())
        if any(self.parts):
            columns["parts"] = pa.array(self.parts, pa.list_(pa.int32()))
        if any(self.continues):
            columns["continues"] = pa.array(self.continues, pa.bool_())
        if any(tokens is not None for tokens in self.multiword):
            columns["multiword"] = pa.array(self.multiword, pa.list_(pa.int32()))
        described = {
            "schema": SCHEMA_VERSION,
            "types": types,
            "labels": {name: labels.names for name, labels in self.labels.items()},
            **metadata,
        }
        table = pa.table(columns).replace_schema_metadata(
            {METADATA: json.dumps(described, ensure_ascii=False).encode()}
        )
        pa.parquet.write_table(
            table,
            path,
            compression="zstd",
            compression_level=COMPRESSION_LEVEL,
            use_dictionary=DICTIONARY_COLUMNS,
            column_encoding={
                name: "DELTA_LENGTH_BYTE_ARRAY"
                for name in columns
                if name not in (*DICTIONARY_COLUMNS, *LISTS)
            },
            write_statistics=["document"],
            row_group_size=max(1, len(self.rows["start"])),
        )


class Shard:
    """A shard as flat columns, each of which is read from the file on first access.

    Columns have at most 32 bits per number (``document`` has 64) and may be read-only.

    Args:
        path: path of the file.

    Attributes:
        metadata: metadata as written, with ``schema`` and ``labels``.
        file: index of each sentence's input file, ``[n_sentences]``.
        document: number of each sentence's record in its file, from 1, ``[n_sentences]``.
        sentence: index of each sentence in its record, from 0, ``[n_sentences]``.
        bounds: first word of each sentence, then the number of words, ``[n_sentences + 1]``.
        starts: offset of each word in its record, ``[n_words]``.
        ends: offset of the end of each word in its record, ``[n_words]``.
        heads: 1-based within the sentence, 0 for the root, ``[n_words]``.
        relations: label codes, ``[n_words]``.
        upos: label codes, ``[n_words]``.
        xpos: label codes, ``[n_words]``.
        confidence: arc probabilities, ``[n_words]``; ``None`` if they were not stored.
        texts: text of each sentence, ``[n_sentences]``; ``None`` if it was not stored.
        forms: words of each sentence whose text does not spell them, ``None`` for other sentences,
            ``[n_sentences]``; ``None`` if there are no such sentences.
        parts: first word of each part of a sentence that was parsed in parts, empty for other
            sentences, ``[n_sentences]``; ``None`` if there are no such sentences.
        continues: whether the next sentence continues each sentence, ``[n_sentences]``; ``None`` if
            there are no such sentences.
        multiword: multi-word tokens of each sentence, ``None`` where they are those that can be
            read off its words, ``[n_sentences]``; ``None`` if they are so in all sentences.

    Raises:
        DamagedFileError: the file is not a shard, is damaged, or has another schema version;
            accessing a column raises it too.
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
                f"{path}: expected schema {SCHEMA_VERSION}, got {version}; use the version of "
                f"syntagma that wrote it"
            )

    def __len__(self) -> int:
        n_rows: int = self._footer.num_rows
        return n_rows

    @property
    def labels(self) -> dict[str, list[str]]:
        """The labels of each column, in the order of their codes."""
        labels: dict[str, list[str]] = self.metadata["labels"]
        return labels

    @cached_property
    def file(self) -> IntArray:
        return self._sentence_column("file")

    @cached_property
    def document(self) -> IntArray:
        return self._sentence_column("document")

    @cached_property
    def sentence(self) -> IntArray:
        return self._sentence_column("sentence")

    @cached_property
    def bounds(self) -> IntArray:
        return self._relative_heads[0]

    @cached_property
    def heads(self) -> IntArray:
        bounds, relative = self._relative_heads
        # Heads are stored relative to the word's position in its sentence.  Computed in place,
        # because allocating memory takes longer than the additions.
        heads = np.arange(1, len(relative) + 1, dtype=np.int32)
        heads -= np.repeat(bounds[:-1], np.diff(bounds))
        heads += relative
        heads *= relative != 0
        return heads

    @property
    def starts(self) -> IntArray:
        return self._offsets[0]

    @property
    def ends(self) -> IntArray:
        return self._offsets[1]

    @cached_property
    def relations(self) -> IntArray:
        return self._word_column("relations")[1]

    @cached_property
    def upos(self) -> IntArray:
        return self._word_column("upos")[1]

    @cached_property
    def xpos(self) -> IntArray:
        return self._word_column("xpos")[1]

    @cached_property
    def confidence(self) -> NDArray[np.float32] | None:
        if "confidence" not in self._names:
            return None
        return (self._word_column("confidence")[1] / 255).astype(np.float32)

    @cached_property
    def texts(self) -> Sequence[str] | None:
        return self._optional("text")

    @cached_property
    def forms(self) -> Sequence[tuple[str, ...] | None] | None:
        joined = self._optional("forms")
        if joined is None:
            return None
        return [None if forms is None else tuple(forms.split(SEPARATOR)) for forms in joined]

    @cached_property
    def parts(self) -> Sequence[tuple[int, ...]] | None:
        parts = self._optional("parts")
        return None if parts is None else [tuple(starts or ()) for starts in parts]

    @cached_property
    def continues(self) -> Sequence[bool] | None:
        return self._optional("continues")

    @cached_property
    def multiword(self) -> Sequence[Ranges | None] | None:
        bounds = self._optional("multiword")
        if bounds is None:
            return None
        return [
            None if own is None else tuple((first, end) for first, end in batched(own, 2))
            for own in bounds
        ]

    def _optional(self, name: str) -> list[Any] | None:
        """Read a column with a value for each sentence that not every shard has."""
        if name not in self._names:
            return None
        with self._reading():
            values: list[Any] = self._column(name).to_pylist()
        return values

    @cached_property
    def _relative_heads(self) -> tuple[IntArray, IntArray]:
        return self._word_column("heads")

    @cached_property
    def _offsets(self) -> tuple[IntArray, IntArray]:
        bounds, gaps = self._word_column("gaps")
        lengths = self._word_column("lengths")[1]
        return offsets_of(gaps, lengths, bounds, self._sentence_column("start"))

    def _column(self, name: str) -> Any:
        """Read one column as an Arrow array."""
        # Passing the footer avoids reading it again for each column.
        options = {"metadata": self._footer, "pre_buffer": False}
        with arrow().parquet.ParquetFile(self.path, **options) as file:
            # Arrow's threads read different columns; for a single one they are pure overhead.
            column = file.read([name], use_threads=False)[name]
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()

    def _sentence_column(self, name: str) -> IntArray:
        """Read a column with one number per sentence."""
        with self._reading():
            numbers: IntArray = self._column(name).to_numpy()
        return numbers

    def _word_column(self, name: str) -> tuple[IntArray, IntArray]:
        """Read a column with one number per word: the bounds of the sentences, and the numbers."""
        with self._reading():
            column = self._column(name)
            # The numbers of all sentences are contiguous in the data buffer: no copy is needed.
            _, ends, data = column.buffers()
            numbers = np.frombuffer(data or b"", self.metadata["types"][name])
            bounds = np.frombuffer(ends, np.int32)[: len(column) + 1] // numbers.itemsize
            return bounds, numbers[: bounds[-1]]

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn any error while reading the file into one that names the file."""
        pa = arrow()
        try:
            yield
        except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
            raise DamagedFileError(
                f"{self.path}: damaged, or not a shard of an annotated corpus ({error})"
            ) from error
