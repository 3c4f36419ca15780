"""Training data that does not fit into memory: an endless stream of batches that can resume."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple


class Place(NamedTuple):
    """A position in the stream of one reader.

    Args:
        turn: number of files read before those in memory.
        batch: number of batches already yielded from those in memory.
    """

    turn: int = 0
    batch: int = 0


START = Place()


class BatchStream(ABC):
    """Batches for one of several readers, which together read all of the data."""

    @abstractmethod
    def part(self, world: int, rank: int) -> BatchStream:
        """Return the share of one of several readers.

        Args:
            world: number of readers.
            rank: index of the reader.
        """

    @abstractmethod
    def batches(self, place: Place = START) -> Iterator[tuple[Any, Place]]:
        """Yield batches from a position on, each with the position after it.

        The same position always gives the same batches, so that training can resume exactly.
        """
