"""Reproduce an entry: make its files, train what is missing, measure, and keep the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path

from filelock import FileLock

from syntagma.encoders.default import DEFAULT_PARSER
from syntagma.errors import InputError
from syntagma.outputs import disk_errors
from syntagma.parse.sources.load import load_source
from syntagma.reproduce.bases import read_bases
from syntagma.reproduce.datasets import read_datasets
from syntagma.reproduce.differs import differences
from syntagma.reproduce.entries import find_entry
from syntagma.reproduce.measurements import find_kind
from syntagma.reproduce.plan import Plan, make_plan
from syntagma.reproduce.recipes import RECIPES
from syntagma.reproduce.result import Reproduction, listed
from syntagma.reproduce.runs import Run, Setting
from syntagma.training.job_queue import Job, train_all

__all__ = ["plan_entry", "plan_lines", "reproduce", "run_lines"]

Say = Callable[[str], None]


def plan_entry(paper: str, name: str, setting: Setting) -> Plan:
    """The runs of an entry.

    Raises:
        InputError: there is no such entry, its data are not there, or what was asked for cannot be.
    """
    plan = make_plan(find_entry(paper, name), setting)
    runs = [run for cell in plan.cells.values() for run in cell]
    bases = {run.base for run in (*runs, *plan.runs())}
    for override in setting.overrides:
        base, slash, _ = override.partition("=")[0].rpartition("/")
        if slash and base not in bases:
            raise InputError(
                f"--set {override}: {plan.entry.name} has no run on {base}, but on "
                f"{', '.join(sorted(bases))}"
            )
    if setting.parser != DEFAULT_PARSER:
        load_source(setting.parser)
    return plan


def run_lines(plan: Plan) -> Iterable[str]:
    """A line a run: its state and its folder."""
    if not plan.entry.trains:
        yield "no run is needed"
        return
    for run in plan.runs():
        yield f"{run.state:<6} {run.folder}"


def plan_lines(plan: Plan) -> Iterable[str]:
    """What will be done, before anything is: the runs, and what will differ from the paper.

    Only what the measurement itself finds is not among the latter.
    """
    yield from run_lines(plan)
    yield listed("\nWhat will differ from the paper:", differences(plan))


def reproduce(plan: Plan, *, say: Say = lambda line: None) -> Reproduction:
    """Train what is not there yet, measure, and leave ``table.md`` and ``result.json``.

    Runs that were cut go on where they stopped; finished ones are taken as they are.  Several
    processes may reproduce at the same time, and share out what is to be trained.

    Args:
        plan: of :func:`plan_entry`.
        say: is told what is done, a line each.

    Raises:
        InputError: data cannot be used, or a run of the same name has other settings.
    """
    kind = find_kind(plan.entry.kind)
    trained = plan.runs() if plan.entry.trains else []
    wanted = trained or [run for cell in plan.cells.values() for run in cell]
    made = plan.setting.made
    with disk_errors(made):
        made.mkdir(parents=True, exist_ok=True)
        # What another process is making is waited for.
        with FileLock(made / ".lock"):
            for run in wanted:
                _make_files(run, plan.setting, say)
    train_all([_job(run) for run in trained], say=say)
    measured = kind(plan)
    runs = tuple(str(run.folder) for run in trained)
    found = Reproduction(
        paper=plan.entry.paper,
        id=plan.entry.id,
        caption=plan.entry.caption,
        scale=plan.setting.scale,
        seeds=plan.setting.seeds,
        encoder=", ".join(plan.encoders.values()),
        date=date.today().isoformat(),
        measured=measured,
        differs=(*differences(plan), *measured.differs),
        runs=runs,
        missing=tuple(read_datasets()[read_bases()[base].data].title for base in plan.missing),
        settings=plan.setting.overrides,
    )
    found.write(plan.folder)
    return found


def _job(run: Run) -> Job:
    return Job(run.experiment, run.folder, tuple(needed.folder for needed in run.needs))


def _make_files(run: Run, setting: Setting, say: Say) -> None:
    """Make those files of a run's data that are made from others and are not there yet."""
    places = [
        Path(path.partition("#")[0])
        for text in (*run.files.train, *run.files.dev, *run.files.test)
        for path in text.split("+")
    ]
    for place in places:
        # A corpus has its manifest when all of it is there.
        if not place.is_relative_to(setting.made) or (place / "manifest.json").is_file():
            continue
        if place.is_file():
            continue
        recipe = RECIPES[place.relative_to(setting.made).as_posix()]
        sources = [_source(setting.data, name) for name in recipe.needs]
        say(f"making {place}")
        recipe.make(sources, setting.made, setting.parser, setting.scale == "tiny")


def _source(data: Path, name: str) -> Path:
    return data / name if (data / name).exists() else data / f"{name}.gz"
