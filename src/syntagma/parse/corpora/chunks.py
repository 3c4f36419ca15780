"""Split a corpus into chunks, each of which becomes a shard.

The split depends on the input alone, not on the number of workers or on interruptions.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from syntagma.errors import InputError
from syntagma.files import STANDARD_INPUT
from syntagma.json_values import without_surrogates
from syntagma.parse.corpora.records import Reader, Record
from syntagma.reprs import full_repr

log = logging.getLogger(__name__)

GROUP_BYTES = 64 << 20
"""Size at which a group of files is closed.  No shard contains records of two groups."""

MAX_WARNINGS = 5
"""Number of invalid records that are reported; further ones are only counted."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of records and of their content; the sum of two counts is that of both inputs.

    Args:
        records: records read, which are documents, blank or skipped.
        documents: records that were parsed.
        blank: records without text.
        skipped: invalid records.
        sentences: sentences of the documents.
        words: words of the documents.
    """

    records: int = 0
    documents: int = 0
    blank: int = 0
    skipped: int = 0
    sentences: int = 0
    words: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.records + other.records,
            self.documents + other.documents,
            self.blank + other.blank,
            self.skipped + other.skipped,
            self.sentences + other.sentences,
            self.words + other.words,
        )


@dataclass(slots=True)
class Chunk:
    """The records of one shard.

    Args:
        name: file name of the shard, without the suffix.
        records: the records to parse, each with the number of its file.
        counts: counts of records; sentences and words are not known yet.
        characters: length of all texts.
        position: bytes read so far from the files of the group.
        digest: hash of the records.
    """

    name: str
    records: list[tuple[int, Record]] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    characters: int = 0
    position: int = 0
    digest: str = ""


def group_files(paths: Sequence[str]) -> list[list[int]]:
    """Group files so that groups can be read in parallel.

    Args:
        paths: the files of the corpus.

    Returns:
        The indices of the files of each group, which are read one after another.
    """
    groups: list[list[int]] = []
    # Full from the start, so that the first file opens a group.
    size = GROUP_BYTES
    for number, path in enumerate(paths):
        if size >= GROUP_BYTES:
            groups.append([])
            size = 0
        groups[-1].append(number)
        size += GROUP_BYTES if path == STANDARD_INPUT else Path(path).stat().st_size
    return groups


def split_into_chunks(
    paths: Sequence[str],
    numbers: Sequence[int],
    reader: Reader,
    *,
    group: int,
    characters: int,
    skip_bad: bool = False,
) -> Iterator[Chunk]:
    """Read a group of files and yield its chunks.

    Args:
        paths: all files of the corpus.
        numbers: indices of the files of the group.
        reader: reads a file.
        group: number of the group.
        characters: length in characters at which a chunk is closed.
        skip_bad: skip and count invalid records instead of stopping at the first one.

    Raises:
        InputError: a record is invalid and ``skip_bad`` is false, or a file cannot be read.
    """
    chunk = Chunk(f"{group:05d}-{0:06d}")
    hashed = hashlib.blake2b(digest_size=16)
    bytes_before = 0
    index = 0
    n_bad = 0
    for number in numbers:
        position = 0
        for read in reader(paths[number]):
            record = read._replace(text=without_surrogates(read.text))
            position = record.position
            chunk.position = bytes_before + position
            if record.bad:
                if not skip_bad:
                    raise InputError(
                        f"{record.bad}; use --skip-bad to skip invalid records, with --resume to "
                        f"continue from here"
                    )
                if n_bad < MAX_WARNINGS:
                    log.warning("skipped: %s", record.bad)
                n_bad += 1
                chunk.counts += Counts(records=1, skipped=1)
            elif not record.text:
                chunk.counts += Counts(records=1, blank=1)
            else:
                chunk.counts += Counts(records=1, documents=1)
                chunk.records.append((number, record))
                chunk.characters += len(record.text)
            # Numbers and errors are hashed too: --resume must notice any change of the input.
            hashed.update(
                f"{number}\0{record.number}\0{record.text}\0{record.bad}\1".encode(
                    errors="surrogatepass"  # Names of files may have unpaired surrogates.
                )
            )
            if record.sentences is not None:
                hashed.update(full_repr(record.sentences).encode())
            if chunk.characters >= characters:
                chunk.digest = hashed.hexdigest()
                yield chunk
                index += 1
                hashed = hashlib.blake2b(digest_size=16)
                chunk = Chunk(f"{group:05d}-{index:06d}", position=chunk.position)
        bytes_before += position
    if chunk.counts.records:
        chunk.digest = hashed.hexdigest()
        yield chunk
