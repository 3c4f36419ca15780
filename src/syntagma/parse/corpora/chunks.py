"""Cut a corpus into blocks that become shards: the same blocks, however they are worked on."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from syntagma.errors import InputError
from syntagma.files import STANDARD_INPUT
from syntagma.parse.corpora.records import Reader, Record

__all__ = ["Block", "Counts", "blocks", "units"]

log = logging.getLogger(__name__)

UNIT_BYTES = 64 << 20
"""Files are read together until they have this many bytes; shards never cross to the next unit."""

SHOWN = 5
"""Bad records that are named; the others are only counted."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the records of the input; add counts to count their union."""

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
class Block:
    """Records that make a shard.

    Args:
        name: of the shard, without its ending.
        records: what to parse, with the number of its file.
        counts: of records; sentences and words are not yet known.
        characters: of all texts.
        position: bytes of all files that are read so far.
        digest: a hash of what was read.
    """

    name: str
    records: list[tuple[int, Record]] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    characters: int = 0
    position: int = 0
    digest: str = ""


def units(paths: Sequence[str]) -> list[list[int]]:
    """Numbers of the files that are read one after another; units can be read side by side."""
    found: list[list[int]] = []
    size = UNIT_BYTES
    for number, path in enumerate(paths):
        if size >= UNIT_BYTES:
            found.append([])
            size = 0
        found[-1].append(number)
        size += UNIT_BYTES if path == STANDARD_INPUT else Path(path).stat().st_size
    return found


def blocks(
    paths: Sequence[str],
    numbers: Sequence[int],
    reader: Reader,
    *,
    unit: int,
    characters: int,
    skip_bad: bool = False,
) -> Iterator[Block]:
    """The blocks of a unit.

    Args:
        paths: all files.
        numbers: those of the unit.
        reader: reads a file.
        unit: number of the unit.
        characters: a block is closed when its texts reach this length.
        skip_bad: count records that cannot be used instead of stopping.

    Raises:
        InputError: a record cannot be used and ``skip_bad`` is false, or a file cannot be read.
    """
    block = Block(f"{unit:05d}-{0:06d}")
    hashed = hashlib.blake2b(digest_size=16)
    done = 0
    index = 0
    named = 0
    for number in numbers:
        position = 0
        for record in reader(paths[number]):
            position = record.position
            block.position = done + position
            if record.bad:
                if not skip_bad:
                    raise InputError(
                        f"{record.bad}; --skip-bad leaves such records out, with "
                        f"--resume from here on"
                    )
                if named < SHOWN:
                    log.warning("left out: %s", record.bad)
                named += 1
                block.counts += Counts(records=1, skipped=1)
            elif not record.text:
                block.counts += Counts(records=1, blank=1)
            else:
                block.counts += Counts(records=1, documents=1)
                block.records.append((number, record))
                block.characters += len(record.text)
            hashed.update(f"{number}\0{record.number}\0{record.text}\0{record.bad}\1".encode())
            if record.sentences is not None:
                hashed.update(repr(record.sentences).encode())
            if block.characters >= characters:
                block.digest = hashed.hexdigest()
                yield block
                index += 1
                hashed = hashlib.blake2b(digest_size=16)
                block = Block(f"{unit:05d}-{index:06d}", position=block.position)
        done += position
    if block.counts.records:
        block.digest = hashed.hexdigest()
        yield block
