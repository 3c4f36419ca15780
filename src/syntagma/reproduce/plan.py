"""Which runs an entry needs, under which names they lie, and which of them are there."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagma.encoders.default import DEFAULT
from syntagma.errors import InputError
from syntagma.reproduce.datasets import Files, expand, find_files, missing_line
from syntagma.reproduce.entries import Column, Entry, Row, package_file, read_papers
from syntagma.settings import apply_overrides, build, load_yaml
from syntagma.training.run_folder import RunFolder

if TYPE_CHECKING:
    from syntagma.tasks.experiment import Experiment

__all__ = [
    "SCALES",
    "Base",
    "Plan",
    "Run",
    "Setting",
    "data_of",
    "encoders_of",
    "make_plan",
    "make_run",
    "read_bases",
]

SCALES = ("tiny", "cpu", "paper")
REFERENCE = "@"


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
        InputError: the scale is unknown, or the number of seeds none.
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
            raise InputError(f"--seeds must be at least 1, got {self.seeds}")
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


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of an entry.

    Args:
        entry: what is reproduced.
        setting: what was asked for.
        encoders: of the rows that are run, by the paper's name of theirs.
        cells: the runs of each row and column, a seed each; by their numbers.
        missing: for each base without data, what to fetch.
    """

    entry: Entry
    setting: Setting
    encoders: dict[str, str]
    cells: dict[tuple[int, int], tuple[Run, ...]]
    missing: dict[str, str]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of the entry, at least one."""
        return self.entry.columns or (Column(""),)

    @property
    def folder(self) -> Path:
        """Where its tables and pictures go."""
        entry = self.entry
        return self.setting.out / self.setting.scale / "results" / f"{entry.paper}_{entry.id}"

    def runs(self) -> list[Run]:
        """All runs, each after those that it needs, all systems with one seed before the next."""
        found: dict[Path, Run] = {}

        def add(run: Run) -> None:
            for needed in run.needs:
                add(needed)
            found.setdefault(run.folder, run)

        for seed in range(self.setting.seeds):
            for runs in self.cells.values():
                add(runs[min(seed, len(runs) - 1)])
        return list(found.values())

    def row_runs(self, column: int = 0) -> Iterator[tuple[Row, tuple[Run, ...]]]:
        """The rows that are run, with their runs in a column."""
        for number, row in enumerate(self.entry.rows):
            if (number, column) in self.cells:
                yield row, self.cells[number, column]


@functools.cache
def _settings() -> dict[str, Any]:
    return load_yaml(package_file("bases.yaml"))


@functools.cache
def read_bases() -> dict[str, Base]:
    """The bases by name."""
    sections = expand(_settings()["bases"])
    return {name: build(Base, section, where=f"bases.{name}") for name, section in sections.items()}


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
        fresh: begin from the encoder itself, also on a base that has a start.

    Raises:
        InputError: the data are not there, or a setting is impossible.
    """
    from syntagma.tasks.experiment import Experiment

    bases, shared, asked = read_bases(), _settings(), base
    if bases[base].like and setting.scale != "paper":
        base = bases[base].like
    origin = bases[base]
    like = bases[origin.like] if origin.like else origin
    files = setting.files(origin.data)
    if files is None:
        raise InputError(missing_line(origin.data, setting.data))
    own = {
        "tiny": (origin.cpu, shared["tiny"], origin.tiny),
        "cpu": (origin.cpu,),
        "paper": (origin.paper,),
    }[setting.scale]
    seed = 1 if origin.one_seed else seed
    values = merged(
        like.all,
        origin.all,
        *own,
        {"data": {"train": list(files.train), "dev": list(files.dev)}},
        {"encoder": origin.encoder or encoder, "parser": setting.parser},
        shared["systems"][system],
        changes or {},
        {"training": {"seed": seed}},
    )
    needs: list[Run] = []
    teacher = values.pop("begins_as", system)
    if origin.start and setting.scale != "paper" and not fresh:
        first = make_run(origin.start, teacher, setting, encoder=encoder)
        needs.append(first)
        # The guides are those that the system has learnt there, but for what is changed on them.
        changed = teacher != system or "guides" in (changes or {})
        values |= {
            "encoder": str(first.folder),
            "preset": "saved",
            "guides": values.get("guides", {}) if changed else {},
        }

    def resolve(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: resolve(item) for key, item in value.items()}
        if isinstance(value, str) and value.startswith(REFERENCE):
            their_base, _, their_system = value.removeprefix(REFERENCE).partition("/")
            # Of the first seed always, so that runs that begin from it differ in their own alone.
            run = make_run(their_base, their_system, setting, encoder=encoder)
            needs.append(run)
            return str(run.folder)
        return value

    values = apply_overrides(resolve(values), setting.overrides_of(base))
    name = "-".join(part for part in (system, suffix) if part)
    if encoder != DEFAULT and not origin.encoder:
        name += f"@{encoder.rstrip('/').rpartition('/')[2]}"
    folder = setting.out / setting.scale / base / f"{name}-{seed}"
    experiment = build(Experiment, values, where=f"{base}/{system}")
    return Run(folder, base, asked, system, experiment, files, tuple(needs))


def encoders_of(entry: Entry, setting: Setting) -> dict[str, str]:
    """The encoders of the rows that are run, by the paper's names of theirs."""
    own = read_papers()[entry.paper].encoders
    names = list(dict.fromkeys(row.encoder for row in entry.rows if row.system))
    if setting.scale == "paper" and not setting.encoder:
        return {name: own.get(name, DEFAULT) for name in names}
    for name in names:
        if name and setting.encoder in (name, own[name]):
            return {name: own[name]}
    return {names[0]: setting.encoder or DEFAULT}


def make_plan(entry: Entry, setting: Setting) -> Plan:
    """The runs of an entry; cells whose data are not there are left out.

    Raises:
        InputError: the data of no cell are there, or a setting is impossible.
    """
    if not setting.seeds:
        seeds = read_papers()[entry.paper].seeds if setting.scale == "paper" else 1
        setting = replace(setting, seeds=seeds)
    encoders = encoders_of(entry, setting)
    cells: dict[tuple[int, int], tuple[Run, ...]] = {}
    missing: dict[str, str] = {}
    bases = read_bases()
    for at, row in enumerate(entry.rows):
        for place, column in enumerate(entry.columns or (Column(""),)):
            base = column.base or row.base or entry.base
            if not row.system or row.encoder not in encoders:
                continue
            system = column.system or row.system
            lacking = _lacking(base, system, setting.scale if entry.trains else "paper", setting)
            if lacking:
                missing[base] = lacking
                continue
            seeds = 1 if bases[base].one_seed else setting.seeds
            cells[at, place] = tuple(
                make_run(
                    base,
                    system,
                    setting,
                    encoder=encoders[row.encoder],
                    seed=seed,
                    suffix=column.suffix,
                    changes=column.set,
                    fresh=not entry.trains,
                )
                for seed in range(1, seeds + 1)
            )
    if not cells:
        raise InputError(f"{entry.name} {'; '.join(dict.fromkeys(missing.values()))}")
    return Plan(entry, setting, encoders, cells, missing)


def _lacking(base: str, system: str, scale: str, setting: Setting) -> str:
    """What to fetch for a system, or for those that it begins from; empty if all is there."""
    for data in data_of(base, system, scale):
        if setting.files(data) is None:
            return missing_line(data, setting.data)
    return ""


def data_of(base: str, system: str, scale: str = "paper") -> list[str]:
    """The data sets of a run, and of those that it begins from."""
    origin = read_bases()[base]
    found = {origin.data: None}
    if origin.start and scale != "paper":
        found |= dict.fromkeys(data_of(origin.start, system, scale))
    for value in _references(_settings()["systems"][system]):
        their_base, _, their_system = value.removeprefix(REFERENCE).partition("/")
        found |= dict.fromkeys(data_of(their_base, their_system, scale))
    return list(found)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, str) and value.startswith(REFERENCE):
        yield value
