"""Which threads may run an encoder at the same time.

Guides inside an encoder, and what observes it, are hooks on the shared encoder.  A forward pass in
another thread would run them too.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from torch import nn


class Turns:
    """Lets plain forward passes run together, and one that needs hooks alone."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._n_together = 0
        self._n_waiting = 0
        self._owner: int | None = None

    @contextmanager
    def together(self) -> Iterator[None]:
        """Run the block unless another thread is alone, or waits for that."""
        if self._owner == threading.get_ident():
            yield
            return
        with self._changed:
            self._changed.wait_for(lambda: self._owner is None and not self._n_waiting)
            self._n_together += 1
        try:
            yield
        finally:
            with self._changed:
                self._n_together -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Run the block while no other thread is in one; blocks may be nested in it."""
        me = threading.get_ident()
        if self._owner == me:
            yield
            return
        with self._changed:
            self._n_waiting += 1
            try:
                self._changed.wait_for(lambda: self._owner is None and not self._n_together)
                self._owner = me
            finally:
                self._n_waiting -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._owner = None
                self._changed.notify_all()


_TURNS: WeakKeyDictionary[nn.Module, Turns] = WeakKeyDictionary()
"""One for each encoder.  It is not an attribute of the model: locks cannot be copied or pickled."""


def turns_of(encoder: nn.Module) -> Turns:
    """Return the turns at an encoder.

    Args:
        encoder: perhaps shared by several models.
    """
    return _TURNS.setdefault(encoder, Turns())
