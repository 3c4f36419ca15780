"""One worker: blocks of records in, shards out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

import torch

from syntagma.encoders.config import read_config
from syntagma.encoders.default import DEFAULT_PARSER, resolve
from syntagma.encoders.precision import Precision, autocast
from syntagma.errors import InputError
from syntagma.outputs import write_file
from syntagma.parse.corpora.chunks import Block
from syntagma.parse.corpora.manifest import ENDING, ShardEntry, checksum
from syntagma.parse.corpora.records import Record
from syntagma.parse.corpora.shards import ShardWriter
from syntagma.parse.fingerprint import fingerprint_of_saved
from syntagma.parse.parser import MAX_WORDS, JointParser
from syntagma.parse.scorer import ParserHead
from syntagma.parse.sources.load import load_parser, load_source
from syntagma.parse.sources.source import ParseSource
from syntagma.settings import build
from syntagma.text.segmentation.segment import segment
from syntagma.text.sentence import Parse, Sentence

__all__ = ["AnnotationSettings", "Annotator"]

MODES = {"lines": "lines", "words": "words"}


@dataclass(frozen=True, slots=True)
class AnnotationSettings:
    """What shards depend on, beside the input.

    Args:
        kind: of the input, a name from :data:`syntagma.parse.corpora.records.KINDS`, or another
            for a reader of one's own that yields running text; by the files' names if empty.
        field: of JSON objects, where their text is.
        parser: a name that :func:`syntagma.parse.sources.load.load_source` knows.
        precision: of the parser, see :class:`syntagma.parse.parser.JointParser`.
        text: whether to keep the sentences' text.
        confidence: whether to keep arc probabilities.
        shard_characters: a shard is closed when its texts reach this length.
        skip_bad: count records that cannot be used instead of stopping.
    """

    kind: str = "text"
    field: str = "text"
    parser: str = DEFAULT_PARSER
    precision: Precision = "float32"
    text: bool = True
    confidence: bool = False
    shard_characters: int = 2_000_000
    skip_bad: bool = False

    def __post_init__(self) -> None:
        # Workers would refuse an unknown precision only after the folder has been made.
        autocast(torch.device("cpu"), self.precision)
        if self.shard_characters < 1:
            raise InputError(f"--shard-characters must be positive, got {self.shard_characters}")


class Annotator:
    """Parses blocks and writes them as shards, on one core or one device.

    Args:
        settings: of the corpus.
        folder: where shards go.
        device: where to compute.
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

    def shard(self, block: Block) -> ShardEntry:
        """Parse a block and write its shard, whole or not at all.

        Raises:
            InputError: the disk is full.
        """
        labels: dict[str, list[str]] = {}
        if isinstance(self.source, JointParser):
            labels = self.source.model.config.labels
        writer = ShardWriter(labels, text=self.settings.text, confidence=self.settings.confidence)
        parsed = self._parse([record for _, record in block.records])
        for (file, record), parses in zip(block.records, parsed, strict=True):
            writer.add(file, record.number, record.text, parses)
        counts = replace(block.counts, sentences=writer.n_sentences, words=writer.n_words)
        path = self.folder / f"{block.name}{ENDING}"
        with write_file(path) as draft:
            writer.write(draft, self.metadata | {"input": block.digest})
            return ShardEntry(
                path.name, draft.stat().st_size, checksum(draft), block.digest, counts
            )

    def _parse(self, records: list[Record]) -> Iterator[list[Parse]]:
        """The sentences of each record."""
        if not isinstance(self.source, JointParser):
            yield from self.source.parse_texts(record.text for record in records)
            return
        mode = MODES.get(self.settings.kind, "raw")
        sentences = [_sentences(record, mode) for record in records]
        parses = self.source.parse_stream(chain.from_iterable(sentences))
        for part in sentences:
            yield list(islice(parses, len(part)))


def _sentences(record: Record, mode: str) -> Sequence[Sentence]:
    return segment(record.text, mode=mode) if record.sentences is None else record.sentences


def open_source(settings: AnnotationSettings, device: str) -> ParseSource:
    """Load the parser of a corpus.

    Raises:
        InputError: as :func:`source_fingerprint`.
    """
    if _joint_parser(settings) is None:
        return load_source(settings.parser, device=device)
    return load_parser(settings.parser, device=device, precision=settings.precision)


def source_fingerprint(settings: AnnotationSettings) -> str:
    """Return the fingerprint of the parser of a corpus, from its files where it is one of ours.

    Raises:
        InputError: there is no such parser; it does not keep the words of an input in which they
            are given; or it gives no arc probabilities, and they are to be kept.
    """
    folder = _joint_parser(settings)
    if folder is None:
        return load_source(settings.parser).fingerprint
    return fingerprint_of_saved(folder, max_words=MAX_WORDS, decoding="dependencies")


def _joint_parser(settings: AnnotationSettings) -> Path | None:
    """The folder of the corpus's joint parser; ``None`` if another parse source is named."""
    folder, has_arc_scores = None, False
    if settings.parser == DEFAULT_PARSER or Path(settings.parser).is_dir():
        folder = Path(resolve(settings.parser))
        # A parser that was trained on phrases alone has arc scorers, but they are untrained.
        head = build(ParserHead, read_config(folder, task="parsing").head, where="head")
        has_arc_scores = head.views != "constituents"
    if settings.confidence and not has_arc_scores:
        raise InputError(
            f"--confidence: {settings.parser} gives no probabilities of arcs; leave it out, or use "
            f"{DEFAULT_PARSER}"
        )
    if folder is None and settings.kind in ("lines", "words", "conllu"):
        raise InputError(
            f"--parser {settings.parser}: corpora whose sentences or words are given "
            f"(--from {settings.kind}) are annotated by {DEFAULT_PARSER} or a parser's folder"
        )
    return folder
