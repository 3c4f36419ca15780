"""The datasets of the papers: their official files, and substitutes for those that are missing."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from syntagma.reproduce.entries import package_file
from syntagma.reproduce.recipes import RECIPES
from syntagma.settings import build, load_yaml

MADE = "made/"


@dataclass(frozen=True)
class DatasetFiles:
    """The files of a dataset.

    Args:
        train: training files.
        dev: development files.
        test: test files, if there are any.
        n_train: number of training examples, if it is known.
        differs: how they differ from the data of the paper; empty for the official files.
        settings: settings that they need, in place of those of the base.
    """

    train: tuple[str, ...]
    dev: tuple[str, ...]
    test: tuple[str, ...] = ()
    n_train: int | None = None
    differs: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def needed(self) -> list[str]:
        """The paths below the data folder; for generated files, those of their sources."""
        return [path for text in (*self.train, *self.dev) for path in _paths(text)]


@dataclass(frozen=True)
class Dataset:
    """A dataset of a paper.

    Args:
        title: name of the dataset.
        source: where it is published.
        choices: the official files, then substitutes in order of preference.
    """

    title: str
    source: str
    choices: tuple[DatasetFiles, ...]


def expand_sections(sections: Mapping[str, Any]) -> dict[str, Any]:
    """Replace each section with ``for_each`` by one section per name, filled in for ``{}``.

    Args:
        sections: content of a YAML file.

    >>> expand_sections({"a": {"for_each": ["b", "c"], "x": ["the {}"]}})
    {'b': {'x': ['the b']}, 'c': {'x': ['the c']}}
    """
    expanded: dict[str, Any] = {}
    for key, section in sections.items():
        names = section.get("for_each")
        if names is None:
            expanded[key] = section
        else:
            rest = {name: value for name, value in section.items() if name != "for_each"}
            expanded |= {name: _fill(rest, name) for name in names}
    return expanded


def _fill(value: Any, name: str) -> Any:
    """Replace ``{}`` by a name in nested values."""
    if isinstance(value, str):
        return value.replace("{}", name)
    if isinstance(value, list):
        return [_fill(item, name) for item in value]
    if isinstance(value, dict):
        return {key: _fill(item, name) for key, item in value.items()}
    return value


@functools.cache
def read_datasets() -> dict[str, Dataset]:
    """Return all datasets by name."""
    path = package_file("datasets.yaml")
    sections = expand_sections(load_yaml(path))
    return {
        name: build(Dataset, section, where=f"{path.name}, {name}")
        for name, section in sections.items()
    }


def _paths(text: str) -> Iterator[str]:
    """Yield the files of a path, which may join several (``A+B``) or name a part (``A#part``)."""
    for path in text.split("+"):
        plain = path.partition("#")[0]
        if plain.startswith(MADE):
            yield from RECIPES[plain.removeprefix(MADE)].needs
        else:
            yield plain


def _find(data: Path, path: str) -> Path | None:
    """Find a file, compressed or not."""
    for name in (path, f"{path}.gz"):
        if (data / name).exists():
            return data / name
    return None


def find_files(name: str, data: Path, made: Path) -> DatasetFiles | None:
    """Find the first choice of a dataset whose training and development files all exist.

    Test files are optional.

    Args:
        name: name of the dataset.
        data: data folder.
        made: folder of generated files.

    Returns:
        The files with their paths; ``None`` if no choice is complete.
    """

    def resolve(text: str) -> str:
        def full_path(path: str) -> str:
            plain, sharp, part = path.partition("#")
            if plain.startswith(MADE):
                return f"{made / plain.removeprefix(MADE)}{sharp}{part}"
            return f"{_find(data, plain)}{sharp}{part}"

        return "+".join(full_path(path) for path in text.split("+"))

    for files in read_datasets()[name].choices:
        # A generated file is available if its sources are: it is generated when a run needs it.
        if all(_find(data, path) is not None for path in files.needed):
            tests = [path for text in files.test for path in _paths(text)]
            has_tests = all(_find(data, path) is not None for path in tests)
            return replace(
                files,
                train=tuple(map(resolve, files.train)),
                dev=tuple(map(resolve, files.dev)),
                test=tuple(map(resolve, files.test)) if has_tests else (),
            )
    return None


def missing_line(name: str, data: Path | None) -> str:
    """Say which files are missing, where to get them, and where to put them.

    Args:
        name: name of the dataset.
        data: data folder, if one is given.
    """
    dataset = read_datasets()[name]
    official = dataset.choices[0]
    missing = [
        path for path in dict.fromkeys(official.needed) if data is None or _find(data, path) is None
    ]
    uncompressed = any(not path.endswith((".gz", ".zip")) for path in missing)
    return (
        f"needs {dataset.title}: get it from {dataset.source} and put {' and '.join(missing)}"
        f"{' (plain or .gz)' if uncompressed else ''} under {data or '--data'}"
    )
