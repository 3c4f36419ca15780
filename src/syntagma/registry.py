"""Named parts of one kind (tasks, guides, …), imported only when they are first used."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Generic, TypeVar

from syntagma.errors import InputError
from syntagma.plugins import Plugin, find_plugins, import_listed_files

log = logging.getLogger(__name__)

T = TypeVar("T")

IDENTIFIER = re.compile(r"[^\W\d]\w*")
"""A name that is also the name of a Python attribute."""
WORDS = re.compile(r"[^\W\d][\w-]*")
"""A name that may have hyphens."""


class Registry(Mapping[str, T], Generic[T]):
    """Parts by name: built-in ones, those of installed packages, and those that were registered.

    Args:
        kind: what a part is called in messages, such as ``task``.
        places: import path of each built-in part, as in ``package.module:attribute``.
        group: group of entry points by which packages offer parts; empty if they cannot.
        base: import path of the class that parts of packages must be derived from, and whose
            attribute ``name`` must be theirs; empty if any function or class will do.
        names: what a name must look like.
        reserved: names that parts cannot have, beside those of ``places``.

    >>> colors = Registry("color", {"odd": "collections:OrderedDict"})
    >>> colors.register("even", int)
    >>> list(colors), colors["odd"].__name__, colors["even"].__name__
    (['odd', 'even'], 'OrderedDict', 'int')
    """

    def __init__(
        self,
        kind: str,
        places: Mapping[str, str],
        *,
        group: str = "",
        base: str = "",
        names: re.Pattern[str] = IDENTIFIER,
        reserved: Collection[str] = (),
    ) -> None:
        self.kind = kind
        self.group = group
        self._places = dict(places)
        self._base = base
        self._names = names
        self._reserved = {*places, *reserved}
        self._parts: dict[str, T] = {}
        self._loading: set[str] = set()

    def register(self, name: str, part: T) -> None:
        """Add a part.

        Args:
            name: by which settings refer to it.
            part: registering the same part again changes nothing.

        Raises:
            InputError: another part has this name, or it is not a name that settings can spell.
        """
        if not self._names.fullmatch(name):
            raise InputError(f"{self.kind} {name!r}: {self._expected_name()}")
        if name in self._reserved or self._parts.get(name, part) is not part:
            raise InputError(f"{self.kind} {name!r}: the name is taken; choose another one")
        if name not in self._loading:
            # The module of an entry point may register the part that it offers.
            for plugin in find_plugins().get(self.group, {}).get(name, ()):
                if not plugin.is_from_package_of(part):
                    raise InputError(
                        f"{self.kind} {name!r}: the name is taken by {plugin}; choose another one, "
                        f"or uninstall the package"
                    )
        self._parts[name] = part

    def _expected_name(self) -> str:
        hyphens = ", hyphens" if self._names is WORDS else ""
        return f"expected a name of letters, digits{hyphens} and underscores"

    def unregister(self, name: str) -> None:
        """Remove a part that was registered; built-in ones stay."""
        self._parts.pop(name, None)

    def find(self, name: str, *, where: str = "") -> T:
        """The part with this name.

        Args:
            name: of the part.
            where: the setting that names it, for the message.

        Raises:
            InputError: there is no such part; the nearest name is suggested.  Or there is one in an
                installed package, and it cannot be used.
        """
        if name not in self:
            # Imported here, because a help lists names and needs no YAML.
            from syntagma.settings import nearest

            prefix = f"{where}: " if where else ""
            known = nearest(name, list(self))
            raise InputError(f"{prefix}unknown {self.kind} {name!r}; {known}{self.hint()}")
        return self[name]

    def make(self, name: str, *, needs: Sequence[str], written: str = "", **options: Any) -> Any:
        """Call the part with this name, which is a function or class, and check what it makes.

        Args:
            name: ``NAME`` or ``NAME:ARGUMENT``; the argument is given as the first one.
            needs: attributes that the result must have.
            written: the name as the user wrote it, for messages; ``name`` if not given.
            options: further arguments.

        Raises:
            InputError: there is no such part, it fails, or it makes something else.
        """
        kind, _, argument = name.partition(":")
        call: Any = self.find(kind)
        what = f"{self.kind} {(written or name)!r}"
        try:
            made = call(argument, **options)
        except InputError:
            raise
        # It is the code of others, which may raise anything.
        except Exception as error:
            raise InputError(f"{what}: cannot be made: {type(error).__name__}: {error}") from error
        if not all(hasattr(made, attribute) for attribute in needs):
            raise InputError(
                f"{what}: expected an object with {' and '.join(needs)}, got {made!r:.60}"
            )
        return made

    def hint(self) -> str:
        """Return a clause for messages about an unknown name: how it could become known."""
        return "; a plug-in has to be installed, or named: --import FILE.py" if self.group else ""

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Sort names as in the registry, without looking for packages if all are known.

        Args:
            names: names of parts.
        """
        wanted = list(names)
        if all(name in self._places for name in wanted):
            return [name for name in self._places if name in wanted]
        return [name for name in self if name in wanted]

    def plugins(self) -> dict[str, tuple[Plugin, ...]]:
        """Return what packages offer, by name; more than one of a name cannot be used."""
        return find_plugins().get(self.group, {})

    def check_plugin(self, name: str) -> None:
        """Load what packages offer under a name.

        Raises:
            InputError: it cannot be used: the name is taken, or it cannot be loaded.
        """
        plugin = self.plugins()[name][0]
        if name in self._reserved:
            raise InputError(f"{plugin}: the name is taken by Syntagma itself; choose another one")
        _ = self[name]

    def usable(self) -> Iterator[tuple[str, T]]:
        """Yield names and parts; those of packages that cannot be loaded only cause a warning."""
        for name in self:
            try:
                yield name, self[name]
            except InputError as error:
                if name in self._places:
                    raise
                log.warning("%s", error)

    def _load(self, name: str) -> T:
        """Load a part of a package.

        Raises:
            InputError: two packages offer it, or it is not what it should be.
        """
        plugin, *others = self.plugins()[name]
        if others:
            raise InputError(
                f"{self.kind} {name!r}: two packages have one, {plugin}, and {others[0]}; "
                f"uninstall one of them"
            )
        if not self._names.fullmatch(name):
            raise InputError(f"{plugin}: {self._expected_name()}")
        self._loading.add(name)
        try:
            part = plugin.load()
        finally:
            self._loading.discard(name)
        if problem := self._problem(name, part):
            raise InputError(f"{plugin}: {problem}, got {part!r:.60}")
        return self._parts.setdefault(name, part)

    def _problem(self, name: str, part: object) -> str:
        """Say what a part of a package should have been; empty if it is that."""
        if not self._base:
            return "" if callable(part) else "expected a function or class"
        module, _, attribute = self._base.partition(":")
        base = getattr(import_module(module), attribute)
        if not (isinstance(part, type) and issubclass(part, base)):
            return f"expected a class derived from {module}.{attribute}"
        if getattr(part, "name", None) != name:
            return f"expected a class whose attribute name is {name!r}"
        if self._parts.get(name, part) is not part:
            return f"expected the class that its module registers as {name!r}"
        return ""

    def __getitem__(self, name: str) -> T:
        if name not in self._parts:
            if name in self._places:
                module, _, attribute = self._places[name].partition(":")
                self._parts[name] = getattr(import_module(module), attribute)
            elif name in self and name not in self._parts:
                self._load(name)
        return self._parts[name]

    def __contains__(self, name: object) -> bool:
        # Mapping's own would import the part to find out.
        if name in self._places or name in self._parts:
            return True
        if name in self._reserved or not self.group:
            return False
        import_listed_files()
        return name in self._parts or name in self.plugins()

    def __iter__(self) -> Iterator[str]:
        yield from self._places
        if self.group:
            import_listed_files()
        # By name, so that the order does not depend on which were loaded first.
        plugins = sorted(name for name in self.plugins() if name not in self._reserved)
        yield from plugins
        yield from (
            name for name in self._parts if name not in self._places and name not in plugins
        )

    def __len__(self) -> int:
        return len(list(iter(self)))
