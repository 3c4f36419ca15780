"""The plan of an annotation run: the chunks of the corpus, and which of them are finished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from syntagma.errors import InputError
from syntagma.parse.corpora.annotator import AnnotationSettings
from syntagma.parse.corpora.chunks import Chunk, group_files, split_into_chunks
from syntagma.parse.corpora.manifest import ENDING, ShardEntry
from syntagma.parse.corpora.records import Reader

PlannedChunks = Iterator[tuple[Chunk, ShardEntry | None]]
"""Chunks, each with its shard if that is finished."""

FinishedChunks = Iterator[tuple[Chunk, ShardEntry]]
"""Chunks, each with its finished shard."""


class AnnotationPlan:
    """The chunks of a corpus, and the shards that are already finished.

    Args:
        paths: the input files.
        reader: reads a file.
        settings: settings of the corpus.
        folder: output folder.
        finished: finished shards by file name.
    """

    def __init__(
        self,
        paths: list[str],
        reader: Reader,
        settings: AnnotationSettings,
        folder: Path,
        finished: dict[str, ShardEntry],
    ) -> None:
        self.paths = paths
        self.reader = reader
        self.settings = settings
        self.folder = folder
        self.finished = finished

    def groups(self) -> list[list[int]]:
        """Return the groups of files that can be read in parallel, as indices of ``paths``."""
        return group_files(self.paths)

    def chunks(self, group: int, numbers: Sequence[int]) -> PlannedChunks:
        """Read a group of files and yield its chunks.

        Args:
            group: number of the group.
            numbers: indices of its files.

        Raises:
            InputError: the input has changed since a finished shard was made from it.
        """
        for chunk in split_into_chunks(
            self.paths,
            numbers,
            self.reader,
            group=group,
            characters=self.settings.shard_characters,
            skip_bad=self.settings.skip_bad,
        ):
            # The input of finished shards is read again, to notice if it has changed.
            entry = self.finished.get(f"{chunk.name}{ENDING}")
            if entry is not None and entry.input != chunk.digest:
                raise InputError(
                    f"{self.folder}: the input has changed since {entry.name} was written; name a "
                    f"new folder"
                )
            yield chunk, entry

    def all_chunks(self) -> PlannedChunks:
        """Yield the chunks of all groups, with positions that count the bytes of all groups."""
        bytes_before = 0
        for group, numbers in enumerate(self.groups()):
            position = 0
            for chunk, entry in self.chunks(group, numbers):
                position = chunk.position
                chunk.position += bytes_before
                yield chunk, entry
            bytes_before += position
