"""Feed a training from a stream, and know at any moment where to take it up again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.outputs import write_text
from syntagma.tasks.stream import START, BatchStream, Place

__all__ = ["StreamLoader"]

Batch = dict[str, Tensor]


class _Batches(IterableDataset[Any]):
    """What each process that makes batches goes through.

    Workers take turns; after a resumption the one whose turn it is comes first.
    """

    def __init__(
        self,
        stream: BatchStream,
        collate: Callable[[Any], Batch],
        places: list[Place],
        first: int,
        world: int,
        rank: int,
    ) -> None:
        self.stream = stream
        self.collate = collate
        self.places = places
        self.first = first
        self.world = world
        self.rank = rank

    def __iter__(self) -> Iterator[tuple[int, Place, Batch] | InputError]:
        try:
            yield from self._made()
        except InputError as error:
            # Thrown in another process it would come with the lines of both.
            yield error

    def _made(self) -> Iterator[tuple[int, Place, Batch]]:
        n_readers = len(self.places)
        worker = get_worker_info()
        reader = (self.first + (worker.id if worker else 0)) % n_readers
        part = self.stream.part(self.world * n_readers, self.rank * n_readers + reader)
        for items, place in part.batches(self.places[reader]):
            yield reader, place, self.collate(items)


class StreamLoader:
    """Batches of one training process, endless.

    Args:
        stream: where they come from.
        collate: makes tensors of a batch.
        n_workers: processes that make batches; 0 makes them in this one.
        world: number of training processes.
        rank: of this one.
        pin_memory: for copies to a GPU.
    """

    def __init__(
        self,
        stream: BatchStream,
        collate: Callable[[Any], Batch],
        *,
        n_workers: int = 0,
        world: int = 1,
        rank: int = 0,
        pin_memory: bool = False,
    ) -> None:
        self.stream = stream
        self.collate = collate
        self.n_workers = n_workers
        self.world = world
        self.rank = rank
        self.pin_memory = pin_memory
        self.given = 0
        self.places = [START] * max(n_workers, 1)
        self._begin_counting()

    def _begin_counting(self) -> None:
        self.n_pieces = 0
        self.waited = 0.0
        self.paused = 0.0
        self.since = time.perf_counter()

    def __iter__(self) -> Iterator[Batch]:
        batches = _Batches(
            self.stream,
            self.collate,
            list(self.places),
            self.given % len(self.places),
            self.world,
            self.rank,
        )
        source = iter(
            DataLoader(
                batches,
                batch_size=None,
                num_workers=self.n_workers,
                pin_memory=self.pin_memory,
                # Else it draws from the random numbers of the training, which a resumed run
                # would miss.
                generator=torch.Generator(),
            )
        )
        self._begin_counting()
        while True:
            begin = time.perf_counter()
            made = next(source)
            if isinstance(made, InputError):
                raise made
            reader, place, batch = made
            self.waited += time.perf_counter() - begin
            self.places[reader] = Place(*place)
            self.given += 1
            self.n_pieces += int(batch["attention_mask"].sum())
            yield batch

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Do what is no training; its time does not count."""
        begin = time.perf_counter()
        yield
        self.paused += time.perf_counter() - begin

    def rates(self) -> tuple[float, float]:
        """Pieces a second of this process, and the share of the time in which it waited for data.

        Both since the last call.
        """
        seconds = max(time.perf_counter() - self.since - self.paused, 1e-9)
        rates = self.n_pieces / seconds, self.waited / seconds
        self._begin_counting()
        return rates

    def save(self, folder: Path) -> None:
        """Write down where this process stands."""
        state = {"given": self.given, "places": self.places}
        write_text(folder / f"stream-{self.rank}.json", json.dumps(state) + "\n")

    def load(self, folder: Path) -> None:
        """Go on where a process stood.

        Raises:
            InputError: the training had another number of processes or workers.
        """
        path = folder / f"stream-{self.rank}.json"
        n_ranks = len(list(folder.glob("stream-*.json")))
        if n_ranks != self.world:
            raise InputError(
                f"{folder}: was written by {n_ranks} processes, not {self.world}; resume with as "
                f"many"
            )
        state = read_json(path)
        if len(state["places"]) != len(self.places):
            raise InputError(
                f"{folder}: its batches were made by {len(state['places'])} processes, not "
                f"{len(self.places)}; resume with the same training.data_workers"
            )
        self.given = state["given"]
        self.places = [Place(*place) for place in state["places"]]
