"""What may be set in an experiment, read off the dataclasses that read it."""

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

All that an experiment may set, with what it is if nothing is set; a – where it must be given.
`syntagma settings` prints this page, `syntagma settings SECTION` a part of it."""


BAR = r"\|"


@dataclass(frozen=True, slots=True)
class Key:
    """One setting.

    Args:
        name: as written.
        values: what it may be.
        default: as written; empty where it must be given.
        meaning: a sentence.
    """

    name: str
    values: str
    default: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Section:
    """Settings that stand together.

    Args:
        name: by which it is asked for.
        place: where in an experiment its keys stand, as ``head:``; empty at the top.
        keys: of it.
    """

    name: str
    place: str
    keys: tuple[Key, ...]

    def lines(self) -> Iterator[str]:
        """For a terminal: a line a key, its meaning below it."""
        yield f"{self.name}{f', under `{self.place}`' if self.place else ''}"
        for key in self.keys:
            yield f"  {key.name}: {key.default or '–'}  ({key.values})"
            yield f"      {key.meaning}"

    def markdown(self) -> str:
        """As a part of a page."""
        title = f"## {self.name}" + (f", under `{self.place}`" if self.place else "")
        rows = ["| key | values | default | |", "|---|---|---|---|"]
        for key in self.keys:
            default = f"`{key.default}`" if key.default else "–"
            cells = (f"`{key.name}`", f"`{key.values}`", default, key.meaning)
            # A bar inside a cell would end it.
            rows.append(f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |")
        return "\n".join([title, "", *rows])


GENERAL = {
    "experiment": ("", Experiment),
    "data": ("data:", DataSettings),
    "training": ("training:", TrainingSettings),
}
"""Settings of every experiment, and where in the file they are."""


def _section_names() -> list[str]:
    return [*GENERAL, *GUIDES, *TASKS]


def find_section(name: str) -> Section:
    """A section by its name.

    Raises:
        InputError: there is none.
    """
    if name in GENERAL:
        return read_section(name, *GENERAL[name])
    if name in GUIDES:
        return read_section(name, f"guides: {name}:", GUIDES[name].settings_class)
    if name not in TASKS:
        raise InputError(f"unknown section {name!r}; {nearest(name, _section_names())}")
    head = find_task(name).model_class.head_class
    return Section(name, "head:", ()) if head is None else read_section(name, "head:", head)


def settings_page() -> str:
    """The page ``docs/settings.md``."""
    return (
        "\n\n".join([INTRODUCTION, *(find_section(name).markdown() for name in _section_names())])
        + "\n"
    )


def read_section(name: str, place: str, kind: type) -> Section:
    """Describe a settings class.

    Args:
        name: of the section.
        place: where its settings are written.
        kind: the class.
    """
    hints, meanings = typing.get_type_hints(kind), _meanings(kind)
    return Section(
        name,
        place,
        tuple(
            Key(field.name, _values(hints[field.name]), _default(field), meanings[field.name])
            for field in dataclasses.fields(kind)
        ),
    )


def _meanings(kind: type) -> dict[str, str]:
    """What the ``Args`` of a dataclass say, those that it inherits included."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        _, _, arguments = inspect.cleandoc(each.__doc__ or "").partition("Args:\n")
        for name, text in re.findall(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", arguments, re.MULTILINE):
            found[name] = _plain(text)
    return found


def _plain(text: str) -> str:
    """A docstring's sentence without its line breaks and roles."""
    text = " ".join(text.split())
    text = re.sub(r":\w+:`([^`]+)`", r"`\1`", text)
    return text.replace("``", "`").rstrip(".")


def _values(hint: Any) -> str:
    """What a setting may be, in words."""
    arguments = typing.get_args(hint)
    match typing.get_origin(hint):
        case origin if origin is Literal:
            return ", ".join(map(str, arguments))
        case origin if origin in (Union, types.UnionType):
            return " or ".join("null" if a is types.NoneType else _values(a) for a in arguments)
        case origin if origin is tuple:
            return f"list of {_values(arguments[0])}"
    # The head is of any type: which settings it has depends on the task.
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
    """A value as YAML has it, on one line."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, tuple):
        return f"[{', '.join(map(_written, value))}]"
    return value if isinstance(value, str) and value else repr(value).replace("'", '"')
