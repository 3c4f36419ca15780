"""Named parts of one kind (tasks, guides, …), imported only when they are first used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Generic, TypeVar

from syntagma.errors import InputError

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Parts by name, in the order in which they were added.

    Args:
        kind: what a part is called in messages, such as ``task``.
        places: import path of each built-in part, as in ``package.module:attribute``.

    >>> colors = Registry("color", {"odd": "collections:OrderedDict"})
    >>> colors.register("even", int)
    >>> list(colors), colors["odd"].__name__, colors["even"].__name__
    (['odd', 'even'], 'OrderedDict', 'int')
    """

    def __init__(self, kind: str, places: Mapping[str, str]) -> None:
        self.kind = kind
        self._places = dict(places)
        self._parts: dict[str, T] = {}

    def register(self, name: str, part: T) -> None:
        """Add a part.

        Args:
            name: by which settings refer to it.
            part: registering the same part again changes nothing.

        Raises:
            InputError: another part has this name, or it is not a name that settings can spell.
        """
        if not name.isidentifier():
            raise InputError(
                f"{self.kind} {name!r}: expected a name of letters, digits and underscores"
            )
        if name in self._places or self._parts.get(name, part) is not part:
            raise InputError(f"{self.kind} {name!r}: the name is taken; choose another one")
        self._parts[name] = part

    def unregister(self, name: str) -> None:
        """Remove a part that was registered; built-in ones stay."""
        self._parts.pop(name, None)

    def find(self, name: str, *, where: str = "") -> T:
        """The part with this name.

        Args:
            name: of the part.
            where: the setting that names it, for the message.

        Raises:
            InputError: there is no such part; the nearest name is suggested.
        """
        if name not in self:
            # Imported here, because a help lists names and needs no YAML.
            from syntagma.settings import nearest

            prefix = f"{where}: " if where else ""
            raise InputError(f"{prefix}unknown {self.kind} {name!r}; {nearest(name, list(self))}")
        return self[name]

    def __getitem__(self, name: str) -> T:
        if name not in self._parts and name in self._places:
            module, _, attribute = self._places[name].partition(":")
            self._parts[name] = getattr(import_module(module), attribute)
        return self._parts[name]

    def __contains__(self, name: object) -> bool:
        # Mapping's own would import the part to find out.
        return name in self._places or name in self._parts

    def __iter__(self) -> Iterator[str]:
        yield from self._places
        yield from (name for name in self._parts if name not in self._places)

    def __len__(self) -> int:
        return len({*self._places, *self._parts})
