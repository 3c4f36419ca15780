"""The run of a system: its settings, its data, its folder, and the runs that it begins from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagma.encoders.default import DEFAULT
from syntagma.errors import InputError
from syntagma.reproduce.bases import REFERENCE, SCALES, Base, base_at, read_bases, read_shared
from syntagma.reproduce.datasets import Files, find_files, missing_line
from syntagma.runs.folder import RunFolder
from syntagma.settings import apply_overrides, build

if TYPE_CHECKING:
    from syntagma.tasks.experiment import Experiment

__all__ = ["Run", "Setting", "make_run", "merged"]


@dataclass(frozen=True, slots=True)
class Setting:
    """What is asked for.

    Args:
        data: the folder of the data.
        out: the folder of the runs.
        scale: one of :data:`SCALES`.
        encoder: instead of the paper's first; the default one if empty, at the scale of the paper
            its own.
        parser: a parse source.
        seeds: how many runs a system has; 0 for as many as the paper's at its scale, and one below.
        overrides: ``key=value`` settings for every run, ``base/key=value`` for those on a base.

    Raises:
        InputError: the scale, or a base of the overrides, is unknown, or the seeds are too few.
    """

    data: Path
    out: Path
    scale: str = "cpu"
    encoder: str = ""
    parser: str = "default-parser"
    seeds: int = 0
    overrides: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise InputError(f"--scale is one of {', '.join(SCALES)}, got {self.scale!r}")
        if self.seeds < 0:
            raise InputError(
                f"--seeds must be at least 1, or 0 for the paper's number; got {self.seeds}"
            )
        for override in self.overrides:
            base, slash, _ = override.partition("=")[0].rpartition("/")
            if slash and base not in read_bases():
                raise InputError(
                    f"--set {override}: no base {base!r}; the bases are {', '.join(read_bases())}"
                )

    @property
    def made(self) -> Path:
        """Where made files lie."""
        return self.out / ("made-tiny" if self.scale == "tiny" else "made")

    def overrides_of(self, base: str) -> list[str]:
        """The overrides that hold for runs on a base, as ``key=value``."""
        found = []
        for override in self.overrides:
            key, equals, value = override.partition("=")
            only, _, key = key.rpartition("/")
            if only in ("", base):
                found.append(f"{key}{equals}{value}")
        return found

    def encoder_of(self, base: str) -> str:
        """The encoder that the overrides name for a base; empty if they name none."""
        named = [each for each in self.overrides_of(base) if each.startswith("encoder=")]
        return named[-1].partition("=")[2] if named else ""

    def files(self, data: str) -> Files | None:
        """The files of a data set, where they are there."""
        return find_files(data, self.data, self.made)


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder that is there or will be.

    Args:
        folder: where it lies.
        base: what it is trained on, below the scale of the paper perhaps another's.
        asked: the base that was asked for.
        system: what is trained.
        experiment: how.
        files: its data.
        needs: the runs that it begins from.
    """

    folder: Path
    base: str
    asked: str
    system: str
    experiment: Experiment
    files: Files
    needs: tuple[Run, ...] = ()

    @property
    def state(self) -> str:
        """``done``, ``begun`` or ``to do``."""
        return RunFolder(self.folder).state


def merged(settings: Mapping[str, Any], *changes: Mapping[str, Any]) -> dict[str, Any]:
    """Nested settings with changes on top.

    >>> merged({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}})
    {'a': {'b': 3, 'c': 2}}
    """
    result = dict(settings)
    for change in changes:
        for key, value in change.items():
            inner = result.get(key)
            both = isinstance(inner, Mapping) and isinstance(value, Mapping)
            result[key] = merged(inner or {}, value) if both else value
    return result


def make_run(
    base: str,
    system: str,
    setting: Setting,
    *,
    encoder: str = DEFAULT,
    seed: int = 1,
    suffix: str = "",
    changes: Mapping[str, Any] | None = None,
    fresh: bool = False,
) -> Run:
    """The run of a system.

    Args:
        base: what it is trained on.
        system: what is trained.
        setting: scale, places and overrides.
        encoder: that it begins from, where neither base nor system have their own.
        seed: of the training.
        suffix: of its name, where there are changes.
        changes: settings on top of the system's.
        fresh: begin from the encoder itself, also on a base that has a start; so it does where
            the overrides name an encoder for that base.

    Raises:
        InputError: the data are not there, or a setting is impossible.
    """
    from syntagma.tasks.experiment import Experiment

    asked, base = base, base_at(base, setting.scale)
    origin = read_bases()[base]
    files = setting.files(origin.data)
    if files is None:
        raise InputError(missing_line(origin.data, setting.data))
    seed = 1 if origin.one_seed else seed
    values = merged(
        _base_values(origin, setting.scale),
        {"data": {"train": list(files.train), "dev": list(files.dev)}},
        {"encoder": origin.encoder or encoder, "parser": setting.parser},
        read_shared()["systems"][system],
        changes or {},
        {"training": {"seed": seed}},
    )
    needs: list[Run] = []

    def first_run(base: str, system: str) -> str:
        # Of the first seed always, so that runs that begin from it differ in their own alone.
        needs.append(make_run(base, system, setting, encoder=encoder))
        return str(needs[-1].folder)

    teacher = values.pop("begins_as", system)
    fresh = fresh or bool(setting.encoder_of(base))
    if origin.start and setting.scale != "paper" and not fresh:
        # The guides are those that the system has learnt there, but for what is changed on them.
        changed = teacher != system or "guides" in (changes or {})
        values |= {
            "encoder": first_run(origin.start, teacher),
            "preset": "saved",
            "guides": values.get("guides", {}) if changed else {},
        }
    values = apply_overrides(_resolved(values, first_run), setting.overrides_of(base))
    name = "-".join(part for part in (system, suffix) if part)
    if encoder != DEFAULT and not origin.encoder:
        name += f"@{encoder.rstrip('/').rpartition('/')[2]}"
    folder = setting.out / setting.scale / base / f"{name}-{seed}"
    experiment = build(Experiment, values, where=f"{base}/{system}")
    return Run(folder, base, asked, system, experiment, files, tuple(needs))


def _base_values(origin: Base, scale: str) -> dict[str, Any]:
    """The settings of a base at a scale, those of the base that it is like beneath its own."""
    own = {
        "tiny": (origin.cpu, read_shared()["tiny"], origin.tiny),
        "cpu": (origin.cpu,),
        "paper": (origin.paper,),
    }[scale]
    beneath = [read_bases()[origin.like].all] if origin.like else []
    return merged({}, *beneath, origin.all, *own)


def _resolved(value: Any, first_run: Callable[[str, str], str]) -> Any:
    """Settings in which references to runs are their folders.

    Args:
        value: settings, or what one is set to.
        first_run: the folder of a base's and a system's run.
    """
    if isinstance(value, Mapping):
        return {key: _resolved(item, first_run) for key, item in value.items()}
    if isinstance(value, str) and value.startswith(REFERENCE):
        base, _, system = value.removeprefix(REFERENCE).partition("/")
        return first_run(base, system)
    return value
