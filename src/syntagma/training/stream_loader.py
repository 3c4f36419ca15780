"""Feed a training with batches from a stream, and save the position to resume from."""

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

Batch = dict[str, Tensor]


class _Batches(IterableDataset[Any]):
    """The batches of one worker of the data loader, each with its worker and position.

    The loader takes batches from its workers in turn, starting with worker 0.  After a resume the
    turn may be at another one, so each worker reads the share of the one that it stands in for.
    """

    def __init__(
        self,
        stream: BatchStream,
        collate: Callable[[Any], Batch],
        positions: list[Place],
        first: int,
        world: int,
        rank: int,
    ) -> None:
        self.stream = stream
        self.collate = collate
        self.positions = positions
        self.first = first
        self.world = world
        self.rank = rank

    def __iter__(self) -> Iterator[tuple[int, Place, Batch] | InputError]:
        try:
            yield from self._batches()
        except InputError as error:
            # Raised in a worker process, it would reach the user with the worker's traceback.
            yield error

    def _batches(self) -> Iterator[tuple[int, Place, Batch]]:
        n_readers = len(self.positions)
        worker = get_worker_info()
        reader = (self.first + (worker.id if worker else 0)) % n_readers
        part = self.stream.part(self.world * n_readers, self.rank * n_readers + reader)
        for items, position in part.batches(self.positions[reader]):
            yield reader, position, self.collate(items)


class StreamLoader:
    """An endless iterator over the batches of one training process.

    Args:
        stream: the stream of batches.
        collate: makes tensors of the items of a batch.
        n_workers: number of worker processes that make batches; with 0, this process makes them.
        world: number of training processes.
        rank: index of this training process.
        pin_memory: pin the memory of batches, for faster copies to a GPU.
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
        self.n_batches = 0
        self.positions = [START] * max(n_workers, 1)
        self._reset_rates()

    def _reset_rates(self) -> None:
        self.n_pieces = 0
        self.waited = 0.0
        self.paused = 0.0
        self.since = time.perf_counter()

    def __iter__(self) -> Iterator[Batch]:
        batches = _Batches(
            self.stream,
            self.collate,
            list(self.positions),
            self.n_batches % len(self.positions),
            self.world,
            self.rank,
        )
        source = iter(
            DataLoader(
                batches,
                batch_size=None,
                num_workers=self.n_workers,
                pin_memory=self.pin_memory,
                # Without a generator of its own, the loader would draw from the global one, and a
                # resumed run would get other random numbers than an uninterrupted one.
                generator=torch.Generator(),
            )
        )
        self._reset_rates()
        while True:
            begin = time.perf_counter()
            made = next(source)
            if isinstance(made, InputError):
                raise made
            reader, position, batch = made
            self.waited += time.perf_counter() - begin
            self.positions[reader] = Place(*position)
            self.n_batches += 1
            self.n_pieces += int(batch["attention_mask"].sum())
            yield batch

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Exclude the time inside the context from the rates."""
        begin = time.perf_counter()
        yield
        self.paused += time.perf_counter() - begin

    def rates(self) -> tuple[float, float]:
        """Return the rates since the last call, and start measuring anew.

        Returns:
            Pieces per second of this process, and the fraction of time spent waiting for data.
        """
        seconds = max(time.perf_counter() - self.since - self.paused, 1e-9)
        rates = self.n_pieces / seconds, self.waited / seconds
        self._reset_rates()
        return rates

    def save(self, folder: Path) -> None:
        """Save the position of this process in the stream.

        Args:
            folder: folder of the checkpoint.
        """
        state = {"given": self.n_batches, "places": self.positions}
        write_text(folder / f"stream-{self.rank}.json", json.dumps(state) + "\n")

    def load(self, folder: Path) -> None:
        """Restore the position of this process.

        Args:
            folder: folder of the checkpoint.

        Raises:
            InputError: the checkpoint was written with another number of training or worker
                processes.
        """
        path = folder / f"stream-{self.rank}.json"
        n_ranks = len(list(folder.glob("stream-*.json")))
        if n_ranks != self.world:
            raise InputError(
                f"{folder}: was written by {n_ranks} processes; resume with {n_ranks} (got "
                f"{self.world})"
            )
        state = read_json(path)
        if len(state["places"]) != len(self.positions):
            raise InputError(
                f"{folder}: was written with batches from {len(state['places'])} processes, got "
                f"{len(self.positions)}; resume with the same training.dataloader_num_workers"
            )
        self.n_batches = state["given"]
        self.positions = [Place(*place) for place in state["places"]]
