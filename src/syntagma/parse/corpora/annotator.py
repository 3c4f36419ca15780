"""The worker of an annotation run: parses chunks of records and writes shards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from syntagma.encoders.config import read_config
from syntagma.encoders.default import DEFAULT_PARSER, resolve
from syntagma.encoders.named_models import names_of
from syntagma.encoders.precision import Precision, require_precision
from syntagma.errors import InputError
from syntagma.outputs import write_file
from syntagma.parse.corpora.chunks import Chunk
from syntagma.parse.corpora.manifest import ENDING, ShardEntry, checksum
from syntagma.parse.corpora.records import Record
from syntagma.parse.corpora.shards import ShardWriter
from syntagma.parse.fingerprint import fingerprint_of_saved
from syntagma.parse.head import ParserHead
from syntagma.parse.languages import Languages
from syntagma.parse.parser import JointParser
from syntagma.parse.sentence_ends import segment_together
from syntagma.parse.sources.load import load_parser, load_source
from syntagma.parse.sources.source import Mode, ParseSource
from syntagma.settings import build
from syntagma.text.limits import MAX_WORDS
from syntagma.text.sentence import Parse, Sentence

MODES = {"lines": "lines", "words": "words"}
STORED = ("conllu:", "parquet:")
"""Prefixes of the names of sources of stored trees."""


@dataclass(frozen=True, slots=True)
class AnnotationSettings:
    """The settings that shards depend on, in addition to the input.

    Args:
        kind: kind of the input, one of :data:`syntagma.parse.corpora.records.KINDS`, or any other
            name for a custom reader of running text; inferred from the file names if empty.
        field: field of JSON objects that contains the text.
        parser: name of a parse source, see :func:`syntagma.parse.sources.load.load_source`.
        precision: precision of the parser, see :class:`syntagma.parse.parser.JointParser`; its own
            if not given.
        text: whether to store the text of the sentences.
        confidence: whether to store arc probabilities.
        shard_characters: length in characters at which a shard is closed.
        skip_bad: skip and count invalid records instead of stopping at the first one.
    """

    kind: str = "text"
    field: str = "text"
    parser: str = DEFAULT_PARSER
    precision: Precision | None = None
    text: bool = True
    confidence: bool = False
    shard_characters: int = 2_000_000
    skip_bad: bool = False

    def __post_init__(self) -> None:
        # Otherwise only the workers would reject it, after the output folder has been created.
        if self.precision is not None:
            require_precision(self.precision)
        if self.shard_characters < 1:
            raise InputError(f"--shard-characters must be positive, got {self.shard_characters}")


class Annotator:
    """Parses chunks and writes them as shards, on one core or one device.

    Args:
        settings: settings of the corpus.
        folder: output folder.
        device: device to compute on.
    """

    def __init__(self, settings: AnnotationSettings, folder: Path, device: str = "cpu") -> None:
        self.settings = settings
        self.folder = folder
        self.source = open_source(settings, device)
        self.metadata = {
            "parser": settings.parser,
            "fingerprint": self.source.fingerprint,
            "kind": settings.kind,
        }

    def write_shard(self, chunk: Chunk) -> ShardEntry:
        """Parse a chunk and write its shard atomically.

        Args:
            chunk: the records to parse.

        Raises:
            InputError: the disk is full.
        """
        # The parser's own labels come first, so that codes are the same in all shards.
        labels: dict[str, list[str]] = {}
        if isinstance(self.source, JointParser):
            labels = self.source.model.config.labels
        writer = ShardWriter(labels, text=self.settings.text, confidence=self.settings.confidence)
        parsed = self._parse([record for _, record in chunk.records])
        for (file, record), parses in zip(chunk.records, parsed, strict=True):
            writer.add(file, record.number, record.text, parses)
        counts = replace(chunk.counts, sentences=writer.n_sentences, words=writer.n_words)
        path = self.folder / f"{chunk.name}{ENDING}"
        with write_file(path) as draft:
            writer.write(draft, self.metadata | {"input": chunk.digest})
            return ShardEntry(
                path.name, draft.stat().st_size, checksum(draft), chunk.digest, counts
            )

    def _parse(self, records: list[Record]) -> Iterator[list[Parse]]:
        """Parse each record."""
        if not isinstance(self.source, JointParser):
            found = self.source.parse_texts(record.text for record in records)
            for record, parses in zip(records, found, strict=True):
                self._require_given(record, parses)
                yield parses
            return
        mode = MODES.get(self.settings.kind, "raw")
        # The sentences of all records are parsed as one stream, so that batches are full.
        sentences = _segment(records, mode, self.source.languages)
        stream = self.source.parse_stream(chain.from_iterable(sentences))
        for sentences_of_record in sentences:
            yield list(islice(stream, len(sentences_of_record)))

    def _require_given(self, record: Record, parses: list[Parse]) -> None:
        """Check that a source of stored trees keeps the given sentences and words.

        Raises:
            InputError: it does not.
        """
        given = None if record.sentences is None else [one.forms for one in record.sentences]
        found = [parse.sentence.forms for parse in parses]
        one_each = self.settings.kind in MODES
        if (given is not None and found != given) or (one_each and len(found) > 1):
            raise InputError(
                f"--parser {self.settings.parser}: has other sentences or words for the text "
                f"{record.text[:60]!r}; annotate it as running text, or use {DEFAULT_PARSER}"
            )


def _segment(
    records: Sequence[Record], mode: str, languages: Languages
) -> list[Sequence[Sentence]]:
    """Segment records, except those whose sentences are given."""
    new = [record.text for record in records if record.sentences is None]
    segmenters = [None if mode == "words" else languages.segmenter_for(text) for text in new]
    found = iter(segment_together(new, segmenters, mode=mode))
    return [next(found) if record.sentences is None else record.sentences for record in records]


def open_source(settings: AnnotationSettings, device: str) -> ParseSource:
    """Load the parse source of a corpus.

    Args:
        settings: settings of the corpus.
        device: device to compute on.

    Raises:
        InputError: as :func:`source_fingerprint`.
    """
    if _joint_parser(settings) is None:
        return load_source(settings.parser, device=device, mode=_mode(settings))
    return load_parser(settings.parser, device=device, precision=settings.precision)


def source_fingerprint(settings: AnnotationSettings) -> str:
    """Return the fingerprint of a corpus's parse source, without loading a parser of this package.

    Args:
        settings: settings of the corpus.

    Raises:
        InputError: there is no such source, it does not keep the given words of the input, or it
            returns no arc probabilities although they are to be stored.
    """
    folder = _joint_parser(settings)
    if folder is None:
        return load_source(settings.parser, mode=_mode(settings)).fingerprint
    return fingerprint_of_saved(folder, max_words=MAX_WORDS, decoding="dependencies")


def _mode(settings: AnnotationSettings) -> Mode:
    return "words" if settings.kind == "words" else "raw"


def _joint_parser(settings: AnnotationSettings) -> Path | None:
    """Return the folder of the corpus's joint parser; ``None`` for any other parse source."""
    folder, has_arc_scores = None, False
    if settings.parser in names_of("parser") or Path(settings.parser).is_dir():
        folder = Path(resolve(settings.parser))
        # A parser that was trained on phrases only has an arc scorer, but an untrained one.
        head = build(ParserHead, read_config(folder, task="parsing").head, where="head")
        has_arc_scores = head.views != "constituents"
    if settings.confidence and not has_arc_scores:
        raise InputError(
            f"--confidence: {settings.parser} gives no probabilities of arcs; drop the option, or "
            f"use {DEFAULT_PARSER}"
        )
    is_stored = settings.parser.startswith(STORED)
    if folder is None and settings.kind in ("lines", "words", "conllu") and not is_stored:
        raise InputError(
            f"--parser {settings.parser}: only {', '.join(names_of('parser'))}, a parser's "
            f"folder, conllu:FILE or "
            f"parquet:FOLDER can annotate given sentences or words (--from {settings.kind})"
        )
    return folder
