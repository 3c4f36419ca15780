"""Keep the most recently used values, up to a total size."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """The most recently used values; threads may share it.

    Args:
        limit: the greatest total size; the least recently used values are dropped beyond it.

    >>> recent = Recent(5)
    >>> recent.add("a", 1, size=3)
    >>> recent.add("b", 2, size=3)
    >>> recent.get("a"), recent.get("b")
    (None, 2)
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._values: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._size = 0
        self._alone = threading.Lock()

    def __reduce__(self) -> tuple[type[Recent[Key, Value]], tuple[int]]:
        # A copy in another process starts empty: locks cannot be pickled.
        return type(self), (self.limit,)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Key) -> Value | None:
        """Return a value, or ``None`` if it is not kept."""
        with self._alone:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def add(self, key: Key, value: Value, *, size: int) -> None:
        """Keep a value; one that is larger than the limit is not kept.

        Args:
            key: under which it is found.
            value: the value.
            size: its size, in the units of the limit.
        """
        if size > self.limit:
            return
        with self._alone:
            _, before = self._values.pop(key, (None, 0))
            self._size += size - before
            self._values[key] = value, size
            while self._size > self.limit:
                _, (_, dropped) = self._values.popitem(last=False)
                self._size -= dropped
