"""Training data that is too large to hold: batches without end, to be taken up anywhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["START", "BatchStream", "Place"]


class Place(NamedTuple):
    """A place in the stream of one reader.

    Args:
        turn: files that were read before those in memory.
        batch: batches that were given from those in memory.
    """

    turn: int = 0
    batch: int = 0


START = Place()


class BatchStream(ABC):
    """Batches for one of several readers; together they read everything."""

    @abstractmethod
    def part(self, world: int, rank: int) -> BatchStream:
        """The stream as one of several readers sees it.

        Args:
            world: number of readers.
            rank: of the reader.
        """

    @abstractmethod
    def batches(self, place: Place = START) -> Iterator[tuple[Any, Place]]:
        """Batches from a place on, each with the place after it; the same ones every time."""
