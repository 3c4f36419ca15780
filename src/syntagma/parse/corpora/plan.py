"""What a run of annotation has to do: the blocks of a corpus, and which of them are done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from syntagma.errors import InputError
from syntagma.parse.corpora.annotator import AnnotationSettings
from syntagma.parse.corpora.chunks import Block, blocks, units
from syntagma.parse.corpora.manifest import ShardEntry
from syntagma.parse.corpora.records import Reader

__all__ = ["Done", "Work"]

Todo = Iterator[tuple[Block, ShardEntry | None]]
Done = Iterator[tuple[Block, ShardEntry]]


class Work:
    """The blocks of a corpus, and which of them are done."""

    def __init__(
        self,
        paths: list[str],
        reader: Reader,
        settings: AnnotationSettings,
        folder: Path,
        done: dict[str, ShardEntry],
    ) -> None:
        self.paths = paths
        self.reader = reader
        self.settings = settings
        self.folder = folder
        self.done = done

    def units(self) -> list[list[int]]:
        """Files that are read one after another."""
        return units(self.paths)

    def blocks(self, unit: int, numbers: Sequence[int]) -> Todo:
        """The blocks of a unit, with the shard of each that is done.

        Raises:
            InputError: the input is no longer what a finished shard was made from.
        """
        for block in blocks(
            self.paths,
            numbers,
            self.reader,
            unit=unit,
            characters=self.settings.shard_characters,
            skip_bad=self.settings.skip_bad,
        ):
            entry = self.done.get(f"{block.name}.parquet")
            if entry is not None and entry.input != block.digest:
                raise InputError(
                    f"{self.folder}: the input has changed since {entry.name} was made; name a new "
                    f"folder"
                )
            yield block, entry

    def all_blocks(self) -> Todo:
        """The blocks of all units, positions counted over all."""
        before = 0
        for unit, numbers in enumerate(self.units()):
            position = 0
            for block, entry in self.blocks(unit, numbers):
                position = block.position
                block.position += before
                yield block, entry
            before += position
