"""List the settings of an experiment, derived from its dataclasses."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Union

from syntagma.errors import InputError
from syntagma.models.guides import GUIDES
from syntagma.settings import nearest
from syntagma.tasks import TASKS, find_task
from syntagma.tasks.experiment import DataSettings, Experiment, TrainingSettings

INTRODUCTION = """\
# Settings

All settings of an experiment file, with their values and defaults; – marks a required setting.
`syntagma settings` prints this page, `syntagma settings SECTION` one section of it. How to train is
described in [train.md](train.md)."""


BAR = r"\|"


@dataclass(frozen=True, slots=True)
class Key:
    """One setting.

    Args:
        name: name of the setting.
        values: possible values, in words.
        default: default value as YAML; empty for a required setting.
        meaning: description in one sentence.
    """

    name: str
    values: str
    default: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the settings.

    Args:
        name: name of the section on the command line.
        place: where its keys are in an experiment, such as ``head:``; empty for the top level.
        keys: its settings.
    """

    name: str
    place: str
    keys: tuple[Key, ...]

    def lines(self) -> Iterator[str]:
        """Yield the lines of the section for a terminal: each key, and below it its meaning."""
        yield f"{self.name}{f', under `{self.place}`' if self.place else ''}"
        for key in self.keys:
            yield f"  {key.name}: {key.default or '–'}  ({key.values})"
            yield f"      {key.meaning}"

    def markdown(self) -> str:
        """Return the section as Markdown."""
        title = f"## {self.name}" + (f", under `{self.place}`" if self.place else "")
        rows = ["| key | values | default | |", "|---|---|---|---|"]
        for key in self.keys:
            default = f"`{key.default}`" if key.default else "–"
            cells = (f"`{key.name}`", f"`{key.values}`", default, key.meaning)
            # A bar would end the cell.
            rows.append(f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |")
        return "\n".join([title, "", *rows])


GENERAL = {
    "experiment": ("", Experiment),
    "data": ("data:", DataSettings),
    "training": ("training:", TrainingSettings),
}
"""Settings of every experiment, and their place in the file."""


def _sections() -> Iterator[Section]:
    """Yield all sections; those of packages that cannot be loaded only cause a warning."""
    yield from map(find_section, GENERAL)
    for registry in (GUIDES, TASKS):
        yield from (find_section(name) for name, _ in registry.usable())


def find_section(name: str) -> Section:
    """Return a section by name.

    Args:
        name: ``experiment``, ``data``, ``training``, or the name of a guide or task.

    Raises:
        InputError: the section is unknown.
    """
    if name in GENERAL:
        return read_section(name, *GENERAL[name])
    if name in GUIDES:
        return read_section(name, f"guides: {name}:", GUIDES[name].settings_class)
    if name not in TASKS:
        known = nearest(name, [*GENERAL, *GUIDES, *TASKS])
        raise InputError(f"unknown section {name!r}; {known}{TASKS.hint()}")
    head = find_task(name).model_class.head_class
    return Section(name, "head:", ()) if head is None else read_section(name, "head:", head)


def settings_dict(name: str = "") -> dict[str, Any]:
    """Return sections as plain values, as in the JSON file of ``settings --json``.

    Args:
        name: of one section; empty for all.
    """
    sections = [find_section(name)] if name else _sections()
    return {"sections": [dataclasses.asdict(section) for section in sections]}


def settings_page() -> str:
    """Return the page ``docs/settings.md``."""
    return "\n\n".join([INTRODUCTION, *(section.markdown() for section in _sections())]) + "\n"


def read_section(name: str, place: str, kind: type) -> Section:
    """Build the section of a settings class.

    Args:
        name: name of the section.
        place: where its keys are in an experiment.
        kind: the dataclass.
    """
    return Section(name, place, tuple(_keys(kind)))


def _keys(kind: type, prefix: str = "") -> Iterator[Key]:
    """Yield the keys of a settings class; those of a nested one that has no section of its own."""
    hints, meanings = typing.get_type_hints(kind), _meanings(kind)
    own_sections = {section for _, section in GENERAL.values()}
    for field in dataclasses.fields(kind):
        hint, name = hints[field.name], prefix + field.name
        if dataclasses.is_dataclass(hint) and hint not in own_sections:
            assert isinstance(hint, type)
            yield from _keys(hint, f"{name}.")
        else:
            yield Key(name, _values(hint), _default(field), meanings[field.name])


def _meanings(kind: type) -> dict[str, str]:
    """Read the meanings of settings from a dataclass's ``Args``, including inherited ones."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        _, _, arguments = inspect.cleandoc(each.__doc__ or "").partition("Args:\n")
        for name, text in re.findall(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", arguments, re.MULTILINE):
            found[name] = _plain(text)
    return found


def _plain(text: str) -> str:
    """Return docstring text as Markdown, without line breaks and Sphinx roles."""
    text = " ".join(text.split())
    text = re.sub(r":\w+:`([^`]+)`", r"`\1`", text)
    return text.replace("``", "`").rstrip(".")


def _values(hint: Any) -> str:
    """Describe the values that a type hint allows."""
    arguments = typing.get_args(hint)
    match typing.get_origin(hint):
        case origin if origin is Literal:
            return ", ".join(map(str, arguments))
        case origin if origin in (Union, types.UnionType):
            return " or ".join("null" if a is types.NoneType else _values(a) for a in arguments)
        case origin if origin is tuple:
            return f"list of {_values(arguments[0])}"
    # The type of the head is unknown here, because its settings depend on the task.
    if dataclasses.is_dataclass(hint) or typing.get_origin(hint) is dict or hint is Any:
        return "section"
    return {str: "text", int: "whole number", float: "number", bool: "true, false"}[hint]


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default_factory is not dataclasses.MISSING:
        return "{}"
    if field.default is dataclasses.MISSING:
        return ""
    return _written(field.default)


def _written(value: Any) -> str:
    """Format a value as YAML on one line."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, tuple):
        return f"[{', '.join(map(_written, value))}]"
    return value if isinstance(value, str) and value else repr(value).replace("'", '"')
