"""Load YAML settings into frozen dataclasses and check every key and type on the way.

An unknown key is an error that suggests the closest known key.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import math
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, Union

import yaml

from syntagma.errors import InputError
from syntagma.files import read_text

T = TypeVar("T")

# Type names for error messages, in words that do not assume Python.
_TYPE_NAMES: dict[Any, str] = {
    bool: "true or false",
    float: "a number",
    int: "a whole number",
    str: "text",
}


def nearest(name: str, known: Sequence[str]) -> str:
    """Return a hint for an unknown name: the closest known name, then the full list.

    >>> nearest("epoch", ["epochs", "seed"])
    "did you mean 'epochs'? (known: epochs, seed)"
    """
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.45)
    everything = f"known: {', '.join(sorted(known))}"
    return f"did you mean {close[0]!r}? ({everything})" if close else everything


class _Loader(yaml.SafeLoader):
    """A safe YAML loader that rejects duplicate keys, and reads dates as text.

    PyYAML silently keeps the last value, which hides copy-and-paste mistakes.  No setting is a
    date, but a folder may be named by one.
    """

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        # Check the nodes before the base class builds the mapping: merge keys (`<<`) carry another
        # tag and may legitimately repeat keys that the mapping overrides.
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                continue
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"duplicate key {key.value!r}", key.start_mark
                )
            seen.add(key.value)
        values: dict[Any, Any] = super().construct_mapping(node, deep)
        return values


_Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def load_yaml(path: str | Path) -> dict[str, Any]:
    """Load a YAML file whose top level is a mapping.

    Raises:
        InputError: the file cannot be read, is not YAML, or is not a mapping. Syntax errors name
            the line.
    """
    text = read_text(path)
    try:
        value = yaml.load(text, _Loader)
    except (ValueError, RecursionError) as error:  # Impossible numbers; very deep nesting.
        raise InputError(f"{path}: broken YAML: {error}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise InputError(
            f"{path}: broken YAML{place}: {getattr(error, 'problem', error)}; correct it, "
            f"or give a YAML file"
        ) from error
    if not isinstance(value, dict):
        raise InputError(
            f"{path}: expected `key: value` lines, got {type(value).__name__}; "
            f"write settings such as `task: spans`"
        )
    return value


def read_value(text: str, *, where: str) -> Any:
    """Read a value as YAML.

    Args:
        text: the value as it was written.
        where: the option that it was given to, for the message.

    Raises:
        InputError: it is not YAML.
    """
    try:
        return yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{where}: {text!r} is not YAML") from error


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested settings into one level, joining keys with dots.

    >>> flatten({"a": {"b": 1}, "c": 2})
    {'a.b': 1, 'c': 2}
    """
    flat: dict[str, Any] = {}
    for key, value in values.items():
        inner = isinstance(value, Mapping)
        flat |= flatten(value, f"{prefix}{key}.") if inner else {prefix + key: value}
    return flat


def differences(
    before: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """Yield ``(key, old value, new value)`` for each flattened key that changed, sorted by key.

    >>> [*differences({"a": {"b": 1}, "c": 2}, {"a": {"b": 3}, "c": 2})]
    [('a.b', 1, 3)]
    """
    flat, flat_now = flatten(before), flatten(now)
    for key in sorted(flat.keys() | flat_now.keys()):
        if flat.get(key) != flat_now.get(key):
            yield key, flat.get(key), flat_now.get(key)


def apply_overrides(values: dict[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Return a copy of nested settings with ``a.b=c`` overrides applied.

    Args:
        values: nested settings; not modified.
        overrides: assignments such as ``training.epochs=3``. Values are parsed as YAML.

    Raises:
        InputError: an override has no ``=``, its path goes through a plain value, or ``overrides``
            is a single string instead of a list.

    >>> apply_overrides({"a": {"b": 1}}, ["a.b=2", "a.c=[x, y]"])
    {'a': {'b': 2, 'c': ['x', 'y']}}
    """
    if isinstance(overrides, str):
        raise InputError(
            f"settings: expected a list of key=value, got {overrides!r}; write [{overrides!r}]"
        )
    result: dict[str, Any] = {
        key: dict(value) if isinstance(value, dict) else value for key, value in values.items()
    }
    for override in overrides:
        path, equals, text = override.partition("=")
        if not equals or not path:
            raise InputError(
                f"--set {override}: expected key=value, for example training.num_train_epochs=3"
            )
        value = read_value(text, where=f"--set {override}")
        *sections, key = path.split(".")
        place = result
        for section in sections:
            inner = place.get(section)
            if inner is not None and not isinstance(inner, dict):
                raise InputError(f"--set {override}: {section!r} is a value, not a section")
            place[section] = dict(inner or {})
            place = place[section]
        place[key] = value
    return result


def build(kind: type[T], values: Mapping[str, Any], *, where: str = "settings") -> T:
    """Build a dataclass from a mapping, checking types against the annotations, recursively.

    Args:
        kind: the dataclass to build.
        values: field values by name.
        where: name of the mapping in error messages.

    Raises:
        InputError: a key is unknown or missing, a value has the wrong type, or the dataclass
            itself rejects a value.
    """
    if not isinstance(values, Mapping):
        raise InputError(f"{where}: expected `key: value` lines, got {values!r}")
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    # `field.type` is a string under `from __future__ import annotations`; this resolves it.
    hints = typing.get_type_hints(kind)
    arguments = {}
    for key, value in values.items():
        if key not in fields:
            raise InputError(f"{where}: unknown key {key!r}; {nearest(str(key), list(fields))}")
        arguments[key] = _convert(hints[key], value, f"{where}.{key}")
    for name, field in fields.items():
        required = field.default is field.default_factory is dataclasses.MISSING
        if required and name not in arguments:
            raise InputError(f"{where}: missing key {name!r}; add `{name}: …`")
    try:
        return kind(**arguments)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _convert(hint: Any, value: Any, where: str) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin in (Union, types.UnionType):
        return _convert_union(arguments, value, where)
    if origin is Literal:
        if value not in arguments:
            choices = ", ".join(map(str, arguments))
            raise InputError(f"{where}: expected one of {choices}; got {value!r}")
        return value
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return value if isinstance(value, hint) else build(hint, value, where=where)
    if origin is tuple:
        # A single value is accepted in place of a list of one.
        items = [value] if isinstance(value, str | int | float) else value
        if not isinstance(items, list | tuple):
            raise InputError(f"{where}: expected a list, got {value!r}")
        return tuple(_convert(arguments[0], item, where) for item in items)
    if origin is dict:
        if not isinstance(value, Mapping):
            raise InputError(f"{where}: expected `key: value` lines, got {value!r}")
        return {str(k): _convert(arguments[1], v, f"{where}.{k}") for k, v in value.items()}
    return _convert_plain(hint, value, where)


def _convert_union(choices: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and type(None) in choices:
        return None
    inner = [choice for choice in choices if choice is not type(None)]
    if len(inner) == 1:
        return _convert(inner[0], value, where)
    for choice in inner:
        if isinstance(choice, type) and isinstance(value, choice):
            return value
        if typing.get_origin(choice) is Literal and value in typing.get_args(choice):
            return value
    names = " or ".join(_type_name(choice) for choice in inner)
    raise InputError(f"{where}: expected {names}, got {value!r}")


def _convert_plain(hint: type, value: Any, where: str) -> Any:
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError as error:
            raise InputError(
                f"{where}: expected a number, got one too large for a float"
            ) from error
    if hint is float and isinstance(value, str):
        # YAML 1.1 reads 1e-5 (no decimal point) as text.
        with contextlib.suppress(ValueError):
            value = float(value)
    if isinstance(value, float) and math.isnan(value):
        raise InputError(f"{where}: expected a number, got {value}")
    if hint is str and isinstance(value, Path):
        return str(value)
    # bool is a subclass of int, but `true` is not a whole number.
    if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
        raise InputError(f"{where}: expected {_type_name(hint)}, got {value!r}")
    return value


def _type_name(kind: Any) -> str:
    if typing.get_origin(kind) is Literal:
        return ", ".join(map(str, typing.get_args(kind)))
    return _TYPE_NAMES.get(kind, getattr(kind, "__name__", str(kind)))


def require_at_least(settings: object, least: int, *names: str) -> None:
    """Check numbers of settings that may not be below a bound.

    Args:
        settings: a dataclass.
        least: the bound.
        names: names of the settings; one without a value (``None``) is not checked.

    Raises:
        InputError: a number is below the bound, or is not a number.
    """
    for name in names:
        value = getattr(settings, name)
        if value is not None and not value >= least:
            raise InputError(f"{name} must be at least {least}, got {value}")


def to_dict(value: Any) -> Any:
    """Convert a dataclass to plain nested values for YAML and JSON; tuples become lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: to_dict(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {key: to_dict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_dict(item) for item in value]
    return value


def with_changes(before: Any, changes: Mapping[str, Any], *, where: str) -> Any:
    """Settings with some of them changed.

    Args:
        before: a mapping, or a dataclass, which is checked again.
        changes: new values by name.
        where: what to call the settings in messages.

    Raises:
        InputError: ``before`` is a dataclass, and a change is unknown or impossible.
    """
    if dataclasses.is_dataclass(before) and not isinstance(before, type):
        return build(type(before), {**to_dict(before), **changes}, where=where)
    return {**before, **changes}
