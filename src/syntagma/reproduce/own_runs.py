"""Runs of systems on a base that no table of a paper has: their settings, and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from syntagma.encoders.default import DEFAULT
from syntagma.errors import InputError
from syntagma.reproduce.bases import read_bases, read_shared
from syntagma.reproduce.runs import Run, Setting, make_run
from syntagma.settings import build, nearest, to_dict


def find_run(base: str, system: str, setting: Setting, *, seed: int = 1) -> Run:
    """Build the run of a system on a base.

    Args:
        base: name of the base, from ``bases.yaml``.
        system: name of the system, from ``bases.yaml``.
        setting: what is requested.
        seed: random seed.

    Raises:
        InputError: there is no such base or system, its data are missing, or a setting is invalid.
    """
    for what, name, known in (
        ("base", base, list(read_bases())),
        ("system", system, list(read_shared()["systems"])),
    ):
        if name not in known:
            raise InputError(f"unknown {what} {name!r}; {nearest(name, known)}")
    return make_run(base, system, setting, encoder=setting.encoder or DEFAULT, seed=seed)


def find_runs(base: str, systems: Sequence[str], setting: Setting) -> list[Run]:
    """Build the runs of systems on a base, with as many seeds as requested, or one.

    Args:
        base: name of the base.
        systems: names of the systems, each once.
        setting: what is requested.

    Returns:
        All systems with the first seed, then with the next: an interrupted comparison is complete
        for the first seeds.

    Raises:
        InputError: as :func:`find_run`, or a system is named twice.
    """
    if doubled := [name for name in systems if systems.count(name) > 1]:
        raise InputError(f"--systems: {doubled[0]} is named twice; name each system once")
    runs = (
        find_run(base, system, setting, seed=seed)
        for seed in range(1, max(setting.seeds, 1) + 1)
        for system in systems
    )
    # A base with one seed has the same run for all seeds.
    return list({run.folder: run for run in runs}.values())


def settings_of(base: str, system: str, setting: Setting) -> str:
    """Return the settings of a system on a base as YAML that ``syntagma train`` reads.

    Settings that have their default value are omitted.

    Args:
        base: name of the base.
        system: name of the system.
        setting: what is requested.

    Raises:
        InputError: as :func:`find_run`.
    """
    from syntagma.tasks.experiment import Experiment

    run = find_run(base, system, setting)
    values = to_dict(run.experiment)
    required = {
        "task": values["task"],
        "data": {key: values["data"][key] for key in ("train", "dev")},
    }
    defaults = to_dict(build(Experiment, required, where="defaults"))
    changed = required | _changed(values, defaults) | {"encoder": values["encoder"]}
    changed["data"] = required["data"] | changed.get("data", {})
    ordered = {key: changed[key] for key in values if key in changed}
    lines = [f"# The system {system} on {base}, at the scale {setting.scale}"]
    for needed in run.needs:
        lines.append(
            f"# starts from {needed.folder}: "
            f"syntagma reproduce --settings {needed.base} {needed.system}"
        )
    if any(str(setting.made) in path for path in (*run.files.train, *run.files.dev)):
        lines.append(f"# `syntagma reproduce` generates the files in {setting.made}")
    text = yaml.safe_dump(ordered, sort_keys=False, allow_unicode=True)
    return "\n".join((*lines, text))


def _changed(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the nested settings that differ from their defaults."""
    changed = {}
    for key, value in values.items():
        default = defaults.get(key)
        if value == default:
            continue
        both = isinstance(value, Mapping) and isinstance(default, Mapping)
        changed[key] = _changed(value, default or {}) if both else value
    return changed
