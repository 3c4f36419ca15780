"""Training runs of systems: their settings, data, folders, and the runs that they start from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagma.encoders.default import DEFAULT
from syntagma.errors import InputError
from syntagma.outputs import portable_name
from syntagma.reproduce.bases import (
    REFERENCE,
    SCALES,
    WEAKER_PARSER,
    Base,
    base_at,
    read_bases,
    read_shared,
)
from syntagma.reproduce.datasets import DatasetFiles, find_files, missing_line
from syntagma.runs.folder import RunFolder
from syntagma.settings import apply_overrides, build

if TYPE_CHECKING:
    from syntagma.tasks.experiment import Experiment


@dataclass(frozen=True, slots=True)
class Setting:
    """What a user requests, apart from the entry.

    Args:
        data: data folder.
        out: output folder.
        scale: one of :data:`SCALES`.
        encoder: encoder to use.  If empty, the default encoder, or the paper's encoders at the
            scale ``paper``.
        parser: a parse source.
        seeds: number of runs for each system.  If 0, the paper's number at the scale ``paper``, and
            otherwise 1.
        overrides: settings to change, ``key=value`` in every run or ``base/key=value`` in the runs
            on one base.

    Raises:
        InputError: the scale or a base of the overrides is unknown, or ``seeds`` is negative.
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
            raise InputError(f"--scale must be one of {', '.join(SCALES)}, got {self.scale!r}")
        if self.seeds < 0:
            raise InputError(
                f"--seeds must be at least 1, or 0 for the paper's number; got {self.seeds}"
            )
        for override in self.overrides:
            base, slash, _ = override.partition("=")[0].rpartition("/")
            if slash and base not in read_bases():
                raise InputError(
                    f"--set {override}: unknown base {base!r}; expected one of "
                    f"{', '.join(read_bases())}"
                )

    @property
    def made(self) -> Path:
        """Folder of generated files."""
        return self.out / ("made-tiny" if self.scale == "tiny" else "made")

    def overrides_of(self, base: str) -> list[str]:
        """Return the overrides of the runs on a base, as ``key=value``.

        Args:
            base: name of the base.
        """
        overrides = []
        for override in self.overrides:
            key, equals, value = override.partition("=")
            own_base, _, key = key.rpartition("/")
            if own_base in ("", base):
                overrides.append(f"{key}{equals}{value}")
        return overrides

    def encoder_of(self, base: str) -> str:
        """Return the encoder that the overrides set for a base; empty if they set none.

        Args:
            base: name of the base.
        """
        named = [each for each in self.overrides_of(base) if each.startswith("encoder=")]
        return named[-1].partition("=")[2] if named else ""

    def files(self, data: str) -> DatasetFiles | None:
        """Return the files of a dataset; ``None`` if they are missing.

        Args:
            data: name of the dataset.
        """
        return find_files(data, self.data, self.made)


@dataclass(frozen=True, slots=True)
class Run:
    """A training run, finished or not.

    Args:
        folder: run folder.
        base: base that the system is trained on.
        asked: base that was requested, which ``base`` may replace.
        system: name of the system.
        experiment: settings of the run.
        files: files of the dataset.
        needs: runs whose models this one uses.
        changes: settings that differ from those of the system.
    """

    folder: Path
    base: str
    asked: str
    system: str
    experiment: Experiment
    files: DatasetFiles
    needs: tuple[Run, ...] = ()
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def start(self) -> Run | None:
        """The run whose model this one continues; ``None`` if it starts from an encoder."""
        encoder = Path(self.experiment.encoder)
        return next((run for run in self.needs if run.folder == encoder), None)

    @property
    def state(self) -> str:
        """``done``, ``begun`` or ``to do``."""
        return RunFolder(self.folder).state


def merged(settings: Mapping[str, Any], *changes: Mapping[str, Any]) -> dict[str, Any]:
    """Merge nested settings; later values replace earlier ones.

    Args:
        settings: nested settings.
        changes: further settings, in ascending priority.

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
    """Build the run of a system.

    Args:
        base: base to train on.
        system: system to train.
        setting: what is requested.
        encoder: encoder to start from, unless the base or the system has its own.
        seed: random seed.
        suffix: suffix of the name of the run, if ``changes`` are given.
        changes: settings to change from those of the system.
        fresh: whether to start from the encoder itself, even if the base has a start.  This is
            always so if the overrides set an encoder for the base.

    Raises:
        InputError: the data are missing, or a setting is invalid.
    """
    from syntagma.tasks.experiment import Experiment

    asked, base = base, base_at(base, setting.scale)
    base_settings = read_bases()[base]
    files = setting.files(base_settings.data)
    if files is None:
        raise InputError(missing_line(base_settings.data, setting.data))
    seed = 1 if base_settings.one_seed else seed
    own = _own_values(system, setting, base_settings.encoder or encoder, changes or {})
    values = merged(
        _base_values(base_settings, setting.scale, _guide_names(own)),
        {"data": {"train": list(files.train), "dev": list(files.dev)}},
        files.settings,
        own,
        {"training": {"seed": seed}},
    )
    needs: list[Run] = []

    def first_run(base: str, system: str) -> str:
        # Always the one with the first seed, so that runs that start from it differ only in their
        # own seed.
        needs.append(make_run(base, system, setting, encoder=encoder))
        return str(needs[-1].folder)

    start_system = values.pop("begins_as", system)
    overrides = [
        each
        for each in setting.overrides_of(base)
        if (guide := _guide_of(each)) is None or guide in _guide_names(values)
    ]
    fresh = fresh or bool(setting.encoder_of(base))
    if base_settings.start and setting.scale != "paper" and not fresh:
        # The trained guides are kept.  Their settings are only given if they differ from those of
        # the run to start from.
        before = read_shared()["systems"][start_system].get("guides", {})
        guides = {
            name: own for name, own in values.get("guides", {}).items() if own != before.get(name)
        }
        values |= {
            "encoder": first_run(base_settings.start, start_system),
            "preset": "saved",
            "guides": guides,
        }
    values = apply_overrides(_resolve(values, first_run), overrides)
    name = "-".join(part for part in (system, suffix) if part)
    if encoder != DEFAULT and not base_settings.encoder:
        name += f"@{_short_name(encoder)}"
    folder = setting.out / setting.scale / base / f"{name}-{seed}"
    experiment = build(Experiment, values, where=f"{base}/{system}")
    return Run(folder, base, asked, system, experiment, files, tuple(needs), changes or {})


def _own_values(
    system: str, setting: Setting, encoder: str, changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Merge the settings of a system with its encoder and parser.

    A system may name a parser of its own, in terms of the ``{parser}`` in use and the ``{weaker}``
    one.
    """
    own = merged(
        {"encoder": encoder, "parser": "{parser}"}, read_shared()["systems"][system], changes
    )
    own["parser"] = own["parser"].format(parser=setting.parser, weaker=WEAKER_PARSER)
    return own


def _short_name(encoder: str) -> str:
    """Return the last part of an encoder's name, as a part of the name of a folder.

    Some file systems do not distinguish capitals.  There, runs on ``a/BERT`` and ``a/bert`` would
    be one, so that a digest is added to a name that is not in lower case, or was changed.
    """
    last = re.split(r"[/\\]", encoder.rstrip("/\\"))[-1]
    name = portable_name(last).lower()
    return name if name == last else f"{name}-{blake2b(last.encode(), digest_size=3).hexdigest()}"


def _guide_of(override: str) -> str | None:
    """Return the guide whose setting an override changes; ``None`` if it changes another."""
    section, _, key = override.partition("=")[0].partition(".")
    return key.partition(".")[0] if section == "guides" and "." in key else None


def _guide_names(values: Mapping[str, Any]) -> set[str]:
    """Return the guides of a system: of its preset, its own, and of the run that it continues.

    A setting of a guide changes the systems that have it, and does not give it to the others.
    """
    from syntagma.models.guides import PRESETS

    names = {*PRESETS.get(values.get("preset", "none"), {})}
    encoder = values["encoder"]
    if values.get("preset") == "saved" and encoder.startswith(REFERENCE):
        _, _, system = encoder.removeprefix(REFERENCE).partition("/")
        names |= _guide_names({"encoder": "", **read_shared()["systems"][system]})
    guides = values.get("guides", {})
    return (names | guides.keys()) - {name for name, own in guides.items() if own is False}


def _base_values(base: Base, scale: str, guides: Iterable[str]) -> dict[str, Any]:
    """Merge the settings of a base at a scale with those of the base that it is like.

    Args:
        base: the base.
        scale: one of :data:`SCALES`.
        guides: guides of the system, whose own settings are included.
    """
    at_scale = {
        "tiny": (base.cpu, read_shared()["tiny"], base.tiny),
        "cpu": (base.cpu,),
        "paper": (base.paper,),
    }[scale]
    inherited = [read_bases()[base.like].all] if base.like else []
    values = merged({}, *inherited, base.all, *at_scale)
    with_guide = values.pop("with_guide", {})
    return merged(values, *(own for name, own in with_guide.items() if name in guides))


def _resolve(value: Any, first_run: Callable[[str, str], str]) -> Any:
    """Replace references to runs by their folders.

    Args:
        value: nested settings, or the value of one.
        first_run: returns the folder of the run of a base and a system.
    """
    if isinstance(value, Mapping):
        return {key: _resolve(item, first_run) for key, item in value.items()}
    if isinstance(value, str) and value.startswith(REFERENCE):
        base, _, system = value.removeprefix(REFERENCE).partition("/")
        return first_run(base, system)
    return value
