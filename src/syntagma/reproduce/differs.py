"""What differs from the paper, as far as settings and data tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from syntagma.reproduce.entries import read_papers
from syntagma.reproduce.plan import Plan
from syntagma.reproduce.runs import Run, Setting, make_run
from syntagma.reproduce.scores import part_scored
from syntagma.settings import flatten, to_dict

__all__ = ["differences"]

SHOWN = (
    "head.max_length",
    "head.distances",
    "head.heads",
    "training.num_train_epochs",
    "training.max_steps",
    "training.learning_rate",
    "training.batch_tokens",
    "training.gradient_accumulation_steps",
    "training.encoder",
)
"""Settings whose values are set beside the paper's."""


def differences(plan: Plan) -> Iterator[str]:
    """A line for each thing that differs from the paper; the same before and after the training."""
    paper, setting = read_papers()[plan.entry.paper], plan.setting
    for name, encoder in plan.encoders.items():
        theirs = paper.encoders.get(name)
        if theirs and theirs != encoder:
            yield f"encoder: {encoder}; the paper's is {theirs}"
    left_out = {
        row.encoder for row in plan.entry.rows if row.system and row.encoder not in plan.encoders
    }
    if left_out:
        yield (
            f"rows on {' and '.join(sorted(left_out))} are not run; --scale paper runs all, "
            f"--encoder {min(left_out)} these"
        )
    yield from dict.fromkeys(plan.missing.values())
    if plan.entry.trains:
        yield from _of_bases(plan)
        if setting.seeds != paper.seeds:
            yield f"seeds: {setting.seeds}; the paper's numbers are of {paper.seeds}"
        yield from _untested(plan)
    yield f"parser: {setting.parser}; the paper's: {paper.parser}"
    yield from plan.entry.notes


def _untested(plan: Plan) -> Iterator[str]:
    """Which columns of the paper's test part are of dev, and which of them stay empty."""
    on_dev: dict[str, None] = {}
    empty: dict[tuple[str, str], dict[str, None]] = {}
    for (_, place), runs in plan.cells.items():
        run, column = runs[0], plan.columns[place]
        part = part_scored(run, column)
        if column.part != "dev" and part == "dev":
            on_dev[run.base] = None
        if not part:
            limited = run.experiment.data.dev_limit is not None
            why = "is not scored while data.dev_limit is set" if limited else "is not there"
            empty.setdefault((run.base, why), {})[column.name] = None
    if on_dev:
        yield f"the paper's numbers are of the test part, ours of dev ({', '.join(on_dev)})"
    for (base, why), names in empty.items():
        yield f"without numbers of ours: {', '.join(names)}; the test part ({base}) {why}"


def _of_bases(plan: Plan) -> Iterator[str]:
    """What differs in data and settings; bases in which it is the same share a line."""
    found: dict[tuple[str, str], list[str]] = {}
    for runs in _runs_of_bases(plan):
        base = runs[0].base
        for text in _data(runs[0]):
            found.setdefault(("data", f": {text}"), []).append(base)
        if own := plan.setting.encoder_of(runs[0].base):
            found.setdefault(("encoder", f": {own}"), []).append(runs[0].base)
        for text in _settings(runs, plan.setting):
            where = ", those of --scale paper in parentheses"
            found.setdefault(("settings", f"{where}: {text}"), []).append(base)
    for (what, text), bases in found.items():
        yield f"{what} ({', '.join(bases)}){text}"


def _runs_of_bases(plan: Plan) -> list[list[Run]]:
    """The runs on each base, one a system."""
    found: dict[str, dict[str, Run]] = {}
    for run in plan.runs():
        found.setdefault(run.base, {}).setdefault(run.system, run)
    return [[*runs.values()] for runs in found.values()]


def _data(run: Run) -> Iterator[str]:
    data, files = run.experiment.data, run.files
    if files.differs:
        yield files.differs
    if data.limit is not None and (files.n_train is None or data.limit < files.n_train):
        share = (
            f" of {files.n_train:,} ({100 * data.limit / files.n_train:.2g} %)"
            if files.n_train
            else ""
        )
        yield f"{data.limit:,} training examples{share}"
    if data.dev_limit is not None:
        each = " of each file" if len(data.dev) > 1 else ""
        yield f"scored on {data.dev_limit:,} of the dev examples{each}"


def _settings(runs: Sequence[Run], setting: Setting) -> Iterator[str]:
    if setting.scale == "paper" and not setting.overrides:
        return
    full = Setting(setting.data, setting.out, "paper")
    changed: dict[str, None] = {}
    for run in runs:
        theirs = flatten(to_dict(make_run(run.asked, run.system, full).experiment))
        ours = flatten(to_dict(run.experiment))
        changed |= {
            f"{key.rpartition('.')[2]} {_shown(ours.get(key))} ({_shown(theirs.get(key))})": None
            for key in SHOWN
            if ours.get(key) != theirs.get(key) and not _idle(key, ours, theirs)
        }
    if changed:
        yield ", ".join(changed)


def _idle(key: str, *settings: dict[str, Any]) -> bool:
    """Whether a setting has no say: epochs, where steps are counted."""
    steps = "training.max_steps"
    return key == "training.num_train_epochs" and all(
        each.get(steps) is not None for each in settings
    )


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:g}" if isinstance(value, float) else str(value)
