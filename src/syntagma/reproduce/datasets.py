"""Where the papers' data lie: their official files, and what is taken where these are missing."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from syntagma.reproduce.entries import package_file
from syntagma.reproduce.recipes import RECIPES
from syntagma.settings import build, load_yaml

__all__ = ["Dataset", "Files", "expand", "find_files", "missing_line", "read_datasets"]

MADE = "made/"


@dataclass(frozen=True)
class Files:
    """The files of a data set.

    Args:
        train: to learn from.
        dev: to score on.
        test: to score on, where there is one.
        n_train: how many examples there are to learn from, as far as is known.
        differs: in what way they are not the paper's.
    """

    train: tuple[str, ...]
    dev: tuple[str, ...]
    test: tuple[str, ...] = ()
    n_train: int | None = None
    differs: str = ""

    @property
    def needed(self) -> list[str]:
        """The paths under the data folder, those of recipes in the place of what they make."""
        return [path for text in (*self.train, *self.dev) for path in _paths(text)]


@dataclass(frozen=True)
class Dataset:
    """A data set of a paper.

    Args:
        title: its name.
        source: where it is published.
        choices: the official files, then what may be taken instead.
    """

    title: str
    source: str
    choices: tuple[Files, ...]


def expand(sections: Mapping[str, Any]) -> dict[str, Any]:
    """Sections with ``for_each`` written out, one a name; ``{}`` stands for it.

    >>> expand({"a": {"for_each": ["b", "c"], "x": ["the {}"]}})
    {'b': {'x': ['the b']}, 'c': {'x': ['the c']}}
    """
    expanded: dict[str, Any] = {}
    for key, section in sections.items():
        names = section.get("for_each")
        if names is None:
            expanded[key] = section
        else:
            rest = {name: value for name, value in section.items() if name != "for_each"}
            expanded |= {name: _filled(rest, name) for name in names}
    return expanded


def _filled(value: Any, name: str) -> Any:
    if isinstance(value, str):
        return value.replace("{}", name)
    if isinstance(value, list):
        return [_filled(item, name) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, name) for key, item in value.items()}
    return value


@functools.cache
def read_datasets() -> dict[str, Dataset]:
    """All data sets by name."""
    path = package_file("datasets.yaml")
    sections = expand(load_yaml(path))
    return {
        name: build(Dataset, section, where=f"{path.name}, {name}")
        for name, section in sections.items()
    }


def _paths(text: str) -> Iterator[str]:
    """The files of one that may be several, ``A+B``, or a part, ``A#part``."""
    for path in text.split("+"):
        plain = path.partition("#")[0]
        if plain.startswith(MADE):
            yield from RECIPES[plain.removeprefix(MADE)].needs
        else:
            yield plain


def _found(data: Path, path: str) -> Path | None:
    for name in (path, f"{path}.gz"):
        if (data / name).exists():
            return data / name
    return None


def find_files(name: str, data: Path, made: Path) -> Files | None:
    """The first choice whose files are all there, with their paths; ``None`` if there is none.

    Test files that are not there are left out.

    Args:
        name: of the data set.
        data: the folder of the data.
        made: where what recipes make lies.
    """

    def place(text: str) -> str:
        def whole(path: str) -> str:
            plain, sharp, part = path.partition("#")
            if plain.startswith(MADE):
                return f"{made / plain.removeprefix(MADE)}{sharp}{part}"
            return f"{_found(data, plain)}{sharp}{part}"

        return "+".join(whole(path) for path in text.split("+"))

    for files in read_datasets()[name].choices:
        if all(_found(data, path) is not None for path in files.needed):
            tests = [path for text in files.test for path in _paths(text)]
            there = all(_found(data, path) is not None for path in tests)
            return replace(
                files,
                train=tuple(map(place, files.train)),
                dev=tuple(map(place, files.dev)),
                test=tuple(map(place, files.test)) if there else (),
            )
    return None


def missing_line(name: str, data: Path | None) -> str:
    """What to fetch, and where to put it."""
    dataset = read_datasets()[name]
    first = dataset.choices[0]
    missing = [
        path for path in dict.fromkeys(first.needed) if data is None or _found(data, path) is None
    ]
    plain = any(not path.endswith((".gz", ".zip")) for path in missing)
    return (
        f"needs {dataset.title}: get it from {dataset.source} and put {' and '.join(missing)}"
        f"{' (plain or .gz)' if plain else ''} under {data or '--data'}"
    )
