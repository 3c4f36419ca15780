"""Progress bars on standard error.

They are shown where somebody watches: on a terminal or in a notebook.  In a log file, progress is
information: it is written, rarely, if the logger ``syntagma`` passes ``INFO``.  Above ``WARNING``
it is off everywhere.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from tqdm.auto import tqdm

from syntagma.batches import batched

SECONDS_INTERACTIVE, SECONDS_LOGGED = 1, 30
DELAY = 2
"""Seconds after which the progress of predictions is shown: most are done before."""
Item = TypeVar("Item")
Batch = TypeVar("Batch", bound=Sized)
log = logging.getLogger("syntagma")


def progress_bar(**options: Any) -> tqdm[Any]:
    """Create a progress bar whose refresh rate suits a terminal or a log.

    Args:
        options: keyword arguments of :class:`tqdm.tqdm`.
    """
    # In a notebook stderr is not a terminal, but somebody is watching.
    is_watched = sys.stderr.isatty() or "ipykernel" in sys.modules
    is_wanted = log.isEnabledFor(logging.WARNING if is_watched else logging.INFO)
    options["disable"] = bool(options.get("disable")) or not is_wanted
    return tqdm(mininterval=SECONDS_INTERACTIVE if is_watched else SECONDS_LOGGED, **options)


class _Work:
    """Examples that are being predicted, in chunks, and each chunk in batches.

    Args:
        bar: counts the examples.
    """

    def __init__(self, bar: tqdm[Any]) -> None:
        self.bar = bar
        self.depth = 0
        self.begin = 0
        self.size = 0

    def move(self, position: float) -> None:
        """Move the bar to a position, but never back: a chunk may go through several models."""
        self.bar.update(max(0, int(position) - self.bar.n))


_work: ContextVar[_Work | None] = ContextVar("work", default=None)


@contextmanager
def predicting(n_examples: int, what: str = "predicting") -> Iterator[None]:
    """Show how many of some examples are done, if that takes more than :data:`DELAY`.

    Args:
        n_examples: number of examples that are predicted in the block.
        what: what is being done.
    """
    options = {"total": n_examples, "desc": what, "unit": "example", "delay": DELAY}
    with progress_bar(**options, leave=False) as bar:
        token = _work.set(_Work(bar))
        try:
            yield
        finally:
            _work.reset(token)


def chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Cut examples into chunks, as :func:`syntagma.batches.batched`, and count those done.

    Chunks of a model that another one uses, such as its parser, are not counted.

    Args:
        items: the examples.
        size: of a chunk.
    """
    work = _work.get()
    if work is None:
        yield from batched(items, size)
        return
    for chunk in batched(items, size):
        work.depth += 1
        if work.depth == 1:
            work.size = len(chunk)
        try:
            yield chunk
        finally:
            work.depth -= 1
        if work.depth == 0:
            work.begin += len(chunk)
            work.move(work.begin)


def steps(batches: Sequence[Batch]) -> Iterator[Batch]:
    """Yield the batches of a chunk, and count those done.

    Args:
        batches: indices of the items of each.
    """
    work = _work.get()
    total, done = sum(map(len, batches)), 0
    for batch in batches:
        yield batch
        done += len(batch)
        if work is not None and work.depth == 1:
            work.move(work.begin + work.size * done / total)
