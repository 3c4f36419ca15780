"""Group sequences of unequal length into batches that waste little on padding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

Item = TypeVar("Item")


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of at most ``size`` items, in order, as `itertools.batched` of Python 3.12 does.

    >>> list(batched("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch


def padded_length(n_pieces: int) -> int:
    """Return the length to pad a batch to, given the length of its longest sequence.

    Matrix kernels work on tiles: per token, a training step at length 160 is one seventh faster
    than at length 161.  Fewer distinct shapes also mean fewer compiled kernels to cache
    (`benchmarks/padding.py`).  Short sequences are rounded to a finer step, since padding costs
    them relatively more.

    >>> padded_length(30), padded_length(65), padded_length(384)
    (32, 80, 384)
    """
    step = 8 if n_pieces <= 64 else 16
    return -(-n_pieces // step) * step


def _split_at_budget(order: IntArray, lengths: NDArray[np.integer], budget: int) -> list[IntArray]:
    """Split indices, sorted by length, before the padded batch would exceed the budget."""
    batches = []
    begin = 0
    for end, index in enumerate(order):
        # Lengths ascend, so the newest sequence is the longest and sets the padded length.
        if end > begin and int(lengths[index]) * (end + 1 - begin) > budget:
            batches.append(order[begin:end])
            begin = end
    if begin < len(order):
        batches.append(order[begin:])
    return batches


CALL_COST = 128
"""Tokens that take a CPU as long as one more call of the model.  A parser of 22 million weights is
fastest with 64 to 200 in float32 and 8-bit integers, and with 200 to 300 in bfloat16 with AMX."""


def call_cost_on(device_type: str) -> int | None:
    """Return the ``call_cost`` of batches on a type of device; ``None`` on GPUs.

    There a call costs thousands of tokens, and padding next to nothing.
    """
    return CALL_COST if device_type == "cpu" else None


def token_budget_batches(
    lengths: Sequence[int] | IntArray, budget: int, *, call_cost: int | None = None
) -> list[IntArray]:
    """Group sequences into batches of at most ``budget`` tokens, padding included, shortest first.

    A sequence longer than the budget forms a batch by itself.

    Args:
        lengths: length of each sequence in tokens, ``[n]``.
        budget: maximum number of tokens in a batch, padding included.
        call_cost: split a batch where that saves more padding than this, as a few sentences of very
            different lengths may be mostly padding; never by default.

    >>> [batch.tolist() for batch in token_budget_batches([5, 1, 9, 2, 2], budget=6)]
    [[1, 3, 4], [0], [2]]
    >>> lengths = [4, 5, 5, 40]
    >>> [batch.tolist() for batch in token_budget_batches(lengths, budget=500, call_cost=64)]
    [[0, 1, 2], [3]]
    """
    lengths = np.asarray(lengths)
    batches = _split_at_budget(np.argsort(lengths, kind="stable"), lengths, budget)
    if call_cost is None:
        return batches
    return [part for batch in batches for part in _with_less_padding(batch, lengths, call_cost)]


def _with_less_padding(
    batch: IntArray, lengths: NDArray[np.integer], call_cost: int
) -> list[IntArray]:
    """Split a batch, sorted by length, wherever that saves more padding than a call costs."""
    own = lengths[batch]
    # Cut off the first k, each is padded to the length of the k-th instead of that of the last.
    saved = np.arange(1, len(batch)) * (own[-1] - own[:-1])
    if not len(saved) or saved.max() <= call_cost:
        return [batch]
    cut = int(saved.argmax()) + 1
    return [
        *_with_less_padding(batch[:cut], lengths, call_cost),
        *_with_less_padding(batch[cut:], lengths, call_cost),
    ]


class TokenBudgetSampler:
    """Batch sampler that groups sequences of similar length under a token budget.

    The order depends only on seed and epoch, so that a resumed run sees the same batches.  Each
    epoch shuffles the batches, and sequences of equal length among them; the number of batches is
    the same in every epoch.

    Under DDP each rank takes every world-size-th batch.  If the count does not divide evenly, the
    first batches are repeated.

    Args:
        lengths: length of each sequence in tokens, ``[n]``.
        budget: maximum number of tokens in a batch, padding included.
        seed: seed of the shuffling.
        world: number of processes.
        rank: rank of this process.
    """

    def __init__(
        self,
        lengths: Sequence[int] | IntArray,
        *,
        budget: int,
        seed: int = 0,
        world: int = 1,
        rank: int = 0,
    ) -> None:
        self.lengths = np.asarray(lengths)
        self.budget = budget
        self.seed = seed
        self.world = world
        self.rank = rank
        self.epoch = 0
        self._n_batches = len(token_budget_batches(self.lengths, budget))

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, which determines the order of the next iteration."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[list[int]]:
        random = np.random.default_rng((self.seed, self.epoch))
        # Sort by length, ties in random order.  Only ties move, so the sorted lengths, and with
        # them the number of batches, are the same in every epoch.
        order = np.lexsort((random.random(len(self.lengths)), self.lengths))
        batches = _split_at_budget(order, self.lengths, self.budget)
        shuffled = random.permutation(len(batches))
        # `np.resize` repeats from the start: every rank must take the same number of steps, or
        # gradient synchronisation would hang.
        shuffled = np.resize(shuffled, len(self) * self.world)
        for index in shuffled[self.rank :: self.world]:
            yield batches[index].tolist()

    def __len__(self) -> int:
        return -(-self._n_batches // self.world)
