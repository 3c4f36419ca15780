"""The worker of an annotation run: parses chunks of records and writes shards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from syntagma.encoders.config import read_config
from syntagma.encoders.default import DEFAULT_PARSER
from syntagma.encoders.named_models import names_of
from syntagma.encoders.precision import Precision, require_precision
from syntagma.encoders.reference import ModelRef
from syntagma.errors import InputError
from syntagma.outputs import write_file
from syntagma.parse.corpora.chunks import Chunk
from syntagma.parse.corpora.manifest import ENDING, ShardEntry, checksum
from syntagma.parse.corpora.records import Record
from syntagma.parse.corpora.shards import ShardWriter
from syntagma.parse.fingerprint import asked_precision, fingerprint_of_saved
from syntagma.parse.head import ParserHead
from syntagma.parse.languages import LABEL, Languages
from syntagma.parse.parser import JointParser
from syntagma.parse.sentence_ends import segment_together
from syntagma.parse.sources.load import find_parser, load_parser, load_source
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
        precision: precision of a parser of this package, see
            :class:`syntagma.parse.parser.JointParser`; its own if not given.
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
    ref, lang = _joint_parser(settings)
    if ref is None:
        return load_source(settings.parser, device=device, mode=_mode(settings))
    return load_parser(ref, device=device, lang=lang, precision=settings.precision)


def source_fingerprint(settings: AnnotationSettings) -> str:
    """Return the fingerprint of a corpus's parse source, without loading a parser of this package.

    Args:
        settings: settings of the corpus.

    Raises:
        InputError: there is no such source, it does not keep the given words of the input, or it
            returns no arc probabilities although they are to be stored; or a precision or language
            is given for a source that has no such choice.
    """
    ref, lang = _joint_parser(settings)
    if ref is None:
        return load_source(settings.parser, mode=_mode(settings)).fingerprint
    asked = asked_precision(_head_of(ref), settings.precision)
    options: dict[str, Any] = {"max_words": MAX_WORDS, "decoding": "dependencies"}
    return fingerprint_of_saved(ref.folder, **options, lang=lang, precision=asked)


def _mode(settings: AnnotationSettings) -> Mode:
    return "words" if settings.kind == "words" else "raw"


def _head_of(ref: ModelRef) -> ParserHead:
    return build(ParserHead, read_config(ref, task="parsing").head, where="head")


def _joint_parser(settings: AnnotationSettings) -> tuple[ModelRef | None, str]:
    """Return the corpus's joint parser and its language; ``None`` for any other parse source."""
    ref, lang = find_parser(settings.parser)
    has_arc_scores = False
    if ref is not None:
        # A parser that was trained on phrases only has an arc scorer, but an untrained one.
        has_arc_scores = _head_of(ref).views != "constituents"
        codes = read_config(ref, task="parsing").labels.get(LABEL)
        Languages.require(lang, ref.folder, None if codes is None else tuple(codes))
    elif settings.precision is not None:
        raise InputError(
            f"--precision has no effect on --parser {settings.parser}, which is not one of "
            f"Syntagma's parsers; omit it"
        )
    if settings.confidence and not has_arc_scores:
        raise InputError(
            f"--confidence: {settings.parser} gives no probabilities of arcs; drop the option, or "
            f"use {DEFAULT_PARSER}"
        )
    is_stored = settings.parser.startswith(STORED)
    if ref is None and settings.kind in ("lines", "words", "conllu") and not is_stored:
        raise InputError(
            f"--parser {settings.parser}: only {', '.join(names_of('parser'))}, a parser's "
            f"folder, conllu:FILE or "
            f"parquet:FOLDER can annotate given sentences or words (--from {settings.kind})"
        )
    return ref, lang
