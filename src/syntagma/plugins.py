"""Parts of other packages, found by their entry points, and of files that the user names.

Nothing is looked for before a registry (:mod:`syntagma.registry`) is asked for a name that it does
not know, or for all of its names; and an entry point is imported when its name is first used.
"""

from __future__ import annotations

import functools
import importlib
import logging
import os
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Any

from syntagma.errors import InputError

log = logging.getLogger(__name__)

PREFIX = "syntagma."
"""Beginning of the names of our groups of entry points."""
FILES = "SYNTAGMA_IMPORT"
"""Environment variable with files to import, separated as in ``PATH``: processes that a command
starts import the same files."""

_imported: set[Path] = set()


@dataclass(frozen=True, slots=True)
class Plugin:
    """A part that an installed package offers.

    Args:
        name: name of the part.
        place: import path, as in ``package.module:attribute``.
        group: group of the entry point, such as ``syntagma.guides``.
        package: name of the package.
        version: its version.
    """

    name: str
    place: str
    group: str
    package: str
    version: str

    def __str__(self) -> str:
        return (
            f"package {self.package} {self.version}, entry point {self.group}: "
            f"{self.name} = {self.place}"
        )

    def load(self) -> Any:
        """Import the part.

        Raises:
            InputError: it cannot be imported; the message has package, entry point and cause.
        """
        module, _, attribute = self.place.partition(":")
        try:
            found = importlib.import_module(module)
            return functools.reduce(getattr, filter(None, attribute.split(".")), found)
        # The module may do anything, also end the program.
        except (Exception, SystemExit) as error:
            raise InputError(f"{self}: cannot be loaded: {_cause(error)}") from error

    def is_from_package_of(self, part: Any) -> bool:
        """Whether a part is defined in the package that the entry point names."""
        own = str(getattr(part, "__module__", ""))
        return own.partition(".")[0] == self.place.partition(":")[0].partition(".")[0]


def _cause(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


@functools.cache
def find_plugins() -> dict[str, dict[str, tuple[Plugin, ...]]]:
    """Find the entry points of all installed packages, by group and name.

    The packages are read once per process.  One whose list of entry points cannot be read is
    skipped with a warning.
    """
    found: dict[str, dict[str, tuple[Plugin, ...]]] = {}
    for plugin in _read_packages():
        names = found.setdefault(plugin.group, {})
        names[plugin.name] = (*names.get(plugin.name, ()), plugin)
    return found


def _read_packages() -> Iterator[Plugin]:
    """Yield our entry points, packages in the order of the search path."""
    # Imported here, because a help needs no packages.
    from importlib import metadata

    seen: set[str] = set()
    for package in metadata.distributions():
        name = "?"
        try:
            # Most packages are skipped by this line, without parsing anything.
            if PREFIX not in (package.read_text("entry_points.txt") or ""):
                continue
            name = package.metadata["Name"] or name
            entries = [each for each in package.entry_points if each.group.startswith(PREFIX)]
        except Exception as error:
            log.warning("package %s: entry_points.txt cannot be read: %s", name, _cause(error))
            continue
        # Python imports the first of two packages with the same name.
        if (key := name.lower().replace("-", "_")) in seen:
            continue
        seen.add(key)
        for each in entries:
            place = each.value.partition("[")[0].strip()
            yield Plugin(each.name, place, each.group, name, package.version)


def import_file(path: str | Path, *, said_by: str = "--import") -> None:
    """Import a Python file, whose code registers parts; once, however often it is called.

    The file is a module with its own name, and its folder is added to the end of the search path,
    so that it can import other files beside it.

    Args:
        path: the file.
        said_by: the option that names it, for messages.

    Raises:
        InputError: there is no such file, its name is that of another module, or its code fails.
    """
    place = Path(path).resolve()
    if place in _imported:
        return
    if place.suffix != ".py" or not place.is_file():
        what = "is not a Python file" if place.is_file() else "there is no such file"
        raise InputError(f"{said_by} {path}: {what}; expected a file of Python code, such as my.py")
    name = place.stem
    if str(place.parent) not in sys.path:
        sys.path.append(str(place.parent))
    importlib.invalidate_caches()
    if (other := _origin(name)) != place:
        raise InputError(f"{said_by} {path}: {name!r} is the name of {other}; rename the file")
    _imported.add(place)
    try:
        importlib.import_module(name)
    except (Exception, SystemExit) as error:
        _imported.discard(place)
        line = f", line {number}" if (number := _line(error, place)) else ""
        raise InputError(f"{said_by} {path}{line}: {_cause(error)}") from error
    listed = os.environ.get(FILES, "").split(os.pathsep)
    os.environ[FILES] = os.pathsep.join(dict.fromkeys([*filter(None, listed), str(place)]))


def import_listed_files() -> None:
    """Import the files that :data:`FILES` lists, unless this process has imported them.

    Raises:
        InputError: as :func:`import_file`.
    """
    for path in filter(None, os.environ.get(FILES, "").split(os.pathsep)):
        import_file(path, said_by=FILES)


def _origin(name: str) -> Path | str:
    """Return the file that a module name stands for, or what else it is."""
    if "." in name:
        return "no module, for it has a dot"
    spec = getattr(sys.modules.get(name), "__spec__", None) or util.find_spec(name)
    if spec is None or spec.origin is None or not spec.has_location:
        return "a module of Python"
    return Path(spec.origin).resolve()


def _line(error: BaseException, place: Path) -> int | None:
    """Return the line of a file where an error was raised, or passed through last."""
    if isinstance(error, SyntaxError) and error.filename == str(place):
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return next((each.lineno for each in reversed(frames) if each.filename == str(place)), None)
