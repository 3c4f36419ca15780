"""What systems are trained on, and how, at each scale."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from syntagma.reproduce.datasets import expand
from syntagma.reproduce.entries import package_file
from syntagma.settings import build, load_yaml

__all__ = ["REFERENCE", "SCALES", "Base", "base_at", "data_of", "read_bases", "read_shared"]

SCALES = ("tiny", "cpu", "paper")
REFERENCE = "@"
"""Before a base and a system, whose run a setting stands for."""


@dataclass(frozen=True)
class Base:
    """What systems are trained on, and how.

    Args:
        data: a data set.
        like: below the scale of the paper it is this base.
        encoder: instead of the one that is asked for.
        start: below the scale of the paper, the base on which a system is trained first: what a
            large encoder learns from the task alone, a small one does not.
        one_seed: whether its runs have one seed, however many there are of those that use them.
        all: settings at every scale.
        tiny: settings for a try, on top of those for a processor.
        cpu: settings for a processor.
        paper: the paper's settings.
    """

    data: str
    like: str = ""
    encoder: str = ""
    start: str = ""
    one_seed: bool = False
    all: dict[str, Any] = field(default_factory=dict)
    tiny: dict[str, Any] = field(default_factory=dict)
    cpu: dict[str, Any] = field(default_factory=dict)
    paper: dict[str, Any] = field(default_factory=dict)


@functools.cache
def read_shared() -> dict[str, Any]:
    """The settings of all bases and of the systems."""
    return load_yaml(package_file("bases.yaml"))


@functools.cache
def read_bases() -> dict[str, Base]:
    """The bases by name."""
    sections = expand(read_shared()["bases"])
    return {name: build(Base, section, where=f"bases.{name}") for name, section in sections.items()}


def base_at(name: str, scale: str) -> str:
    """The base that stands for one at a scale."""
    return (scale != "paper" and read_bases()[name].like) or name


def data_of(base: str, system: str, scale: str = "paper") -> list[str]:
    """The data sets of a run, and of those that it begins from."""
    origin = read_bases()[base_at(base, scale)]
    found = {origin.data: None}
    if origin.start and scale != "paper":
        found |= dict.fromkeys(data_of(origin.start, system, scale))
    for value in _references(read_shared()["systems"][system]):
        their_base, _, their_system = value.removeprefix(REFERENCE).partition("/")
        found |= dict.fromkeys(data_of(their_base, their_system, scale))
    return list(found)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, str) and value.startswith(REFERENCE):
        yield value
