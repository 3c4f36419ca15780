"""Bases: a dataset and the training settings for it at each scale, shared by all systems."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from syntagma.reproduce.datasets import expand_sections
from syntagma.reproduce.entries import package_file
from syntagma.settings import build, load_yaml

SCALES = ("tiny", "cpu", "paper")
WEAKER_PARSER = "fast-parser"
"""Parser of the system ``sg-net_weaker_parser``.  In SG-Net section 7.6, the weaker parser has 1.4
UAS less than the other; this one has 1.0 less than ``default-parser`` on EWT dev."""
REFERENCE = "@"
"""Prefix of a setting that refers to the folder of another run, ``@BASE/SYSTEM``."""


@dataclass(frozen=True)
class Base:
    """A dataset with training settings.

    Args:
        data: name of the dataset.
        like: name of a base that replaces this one at all scales except ``paper``.
        encoder: encoder to use instead of the requested one.
        start: base on which a system is trained first, at all scales except ``paper``.  A small
            encoder cannot learn some tasks from their own data alone, unlike a large one.
        one_seed: whether to train with a single seed, even if the runs that build on this base have
            several.
        all: settings at every scale.  Here and below, ``with_guide`` has settings of the systems
            that have a guide, by its name.
        tiny: settings of a quick test, on top of those for ``cpu``.
        cpu: settings for training on a CPU.
        paper: settings of the paper.
        stated: what the paper says, by the name of the setting: its value, or words if the paper
            leaves a choice or counts in another unit.
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
    stated: dict[str, Any] = field(default_factory=dict)


@functools.cache
def read_shared() -> dict[str, Any]:
    """Read ``bases.yaml``, the settings of all bases and systems."""
    return load_yaml(package_file("bases.yaml"))


@functools.cache
def read_bases() -> dict[str, Base]:
    """Return the bases by name."""
    sections = expand_sections(read_shared()["bases"])
    return {name: build(Base, section, where=f"bases.{name}") for name, section in sections.items()}


def base_at(name: str, scale: str) -> str:
    """Return the name of the base that is used in place of a base at a scale.

    Args:
        name: name of the base.
        scale: one of :data:`SCALES`.
    """
    return (scale != "paper" and read_bases()[name].like) or name


def data_of(base: str, system: str, scale: str = "paper") -> list[str]:
    """Return the names of the datasets of a run, and of all runs that it starts from.

    Args:
        base: base of the run.
        system: system of the run.
        scale: scale of the run.
    """
    own = read_bases()[base_at(base, scale)]
    # A dict serves as an ordered set.
    names = {own.data: None}
    if own.start and scale != "paper":
        names |= dict.fromkeys(data_of(own.start, system, scale))
    for value in _references(read_shared()["systems"][system]):
        other_base, _, other_system = value.removeprefix(REFERENCE).partition("/")
        names |= dict.fromkeys(data_of(other_base, other_system, scale))
    return list(names)


def _references(value: Any) -> Iterator[str]:
    """Yield all references to other runs in nested settings."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, str) and value.startswith(REFERENCE):
        yield value
