"""Reproduce an entry: generate files, train missing runs, measure, and write the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path

from syntagma.analysis.compare import compare_named
from syntagma.analysis.comparison import Comparison
from syntagma.encoders.default import DEFAULT_PARSER
from syntagma.errors import InputError
from syntagma.outputs import disk_errors, hold_folder
from syntagma.parse.sources.load import load_source
from syntagma.reproduce.bases import read_bases
from syntagma.reproduce.datasets import read_datasets
from syntagma.reproduce.differs import differences
from syntagma.reproduce.entries import find_entry
from syntagma.reproduce.measurements import find_kind
from syntagma.reproduce.own_runs import find_runs
from syntagma.reproduce.plan import EntryPlan, in_order, make_plan
from syntagma.reproduce.recipes import RECIPES
from syntagma.reproduce.result import Reproduction, listed
from syntagma.reproduce.runs import Run, Setting
from syntagma.runs.folder import RunFolder, read_sources
from syntagma.tasks import find_task
from syntagma.training.job_queue import Job, train_all
from syntagma.training.requirements import require_accelerate

Say = Callable[[str], None]
"""Reports progress, one line at a time."""


def plan_entry(paper: str, name: str, setting: Setting) -> EntryPlan:
    """Plan the runs of an entry, and check their settings before anything is trained.

    Args:
        paper: name of the paper.
        name: name of the entry.
        setting: what is requested.

    Raises:
        InputError: there is no such entry, its data are missing, or a setting is invalid.
    """
    plan = make_plan(find_entry(paper, name), setting)
    runs = [run for cell in plan.cells.values() for run in cell]
    _check(setting, [*runs, *plan.runs()], plan.entry.name)
    return plan


def _check(setting: Setting, runs: Iterable[Run], name: str) -> None:
    """Check that every override has a run, and that the parser exists."""
    bases = {run.base for run in runs}
    for override in setting.overrides:
        base, slash, _ = override.partition("=")[0].rpartition("/")
        if slash and base not in bases:
            raise InputError(
                f"--set {override}: {name} has no run on {base}; it has runs on "
                f"{', '.join(sorted(bases))}"
            )
    if setting.parser != DEFAULT_PARSER:
        load_source(setting.parser)


def plan_systems(base: str, systems: Sequence[str], setting: Setting) -> list[Run]:
    """Plan the runs of systems on a base, and check their settings before anything is trained.

    Args:
        base: name of the base.
        systems: names of the systems, the baseline first.
        setting: what is requested.

    Raises:
        InputError: there is no such base or system, a system is named twice, data are missing, or a
            setting is invalid.
    """
    runs = find_runs(base, systems, setting)
    _check(setting, in_order(runs), base)
    return runs


def compare_systems(
    runs: Sequence[Run], setting: Setting, *, say: Say = lambda line: None
) -> Comparison | None:
    """Train the missing runs of systems on a base, and compare them as ``syntagma compare`` does.

    Interrupted runs are resumed, and finished ones are reused, as by :func:`reproduce`.

    Args:
        runs: runs from :func:`plan_systems`.
        setting: what was requested.
        say: reports progress.

    Returns:
        The comparison with the first system; ``None`` for a single run, and for tasks whose runs
        are not compared.

    Raises:
        InputError: data are invalid, or a run of the same name has other settings.
    """
    ordered = in_order(runs)
    make_files(ordered, setting, say)
    train_runs(ordered, say)
    if len(runs) < 2 or not find_task(runs[0].experiment.task).comparisons:
        return None
    systems = dict.fromkeys(run.system for run in runs)
    groups = [(name, [run.folder for run in runs if run.system == name]) for name in systems]
    return compare_named(groups)


def run_lines(plan: EntryPlan) -> Iterable[str]:
    """Yield a line for each run, with its state and folder.

    Args:
        plan: plan of the entry.
    """
    if not plan.entry.trains:
        yield "no run is needed"
        return
    yield from map(run_line, plan.runs())


def run_line(run: Run) -> str:
    """Format the state and the folder of a run.

    Args:
        run: the run.
    """
    return f"{run.state:<6} {run.folder}"


def plan_lines(plan: EntryPlan) -> Iterable[str]:
    """Describe what a reproduction will do: its runs, and how it will differ from the paper.

    Differences that are only known after measuring are not included.

    Args:
        plan: plan of the entry.
    """
    yield from run_lines(plan)
    yield listed("\nWhat will differ from the paper:", differences(plan))


def reproduce(plan: EntryPlan, *, say: Say = lambda line: None) -> Reproduction:
    """Train missing runs, measure, and write ``table.md`` and ``result.json``.

    Interrupted runs are resumed, and finished ones are reused.  Several processes may reproduce
    entries at the same time; they share the runs to be trained.

    Args:
        plan: plan from :func:`plan_entry`.
        say: reports progress.

    Raises:
        InputError: data are invalid, or a run of the same name has other settings.
    """
    measure = find_kind(plan.entry.kind)
    trained = plan.runs() if plan.entry.trains else []
    untrained = [] if trained else [run for cell in plan.cells.values() for run in cell]
    if any(RunFolder(run.folder).state != "done" for run in trained):
        require_accelerate()  # Before files are generated, which can take long.
    make_files([*trained, *untrained], plan.setting, say)
    train_runs(trained, say)
    measured = measure(plan)
    runs = tuple(str(run.folder) for run in trained)
    reproduction = Reproduction(
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
        sources={str(run.folder): read_sources(run.folder) for run in trained},
    )
    reproduction.write(plan.folder)
    return reproduction


def train_runs(runs: Sequence[Run], say: Say) -> None:
    """Train the runs that are not finished; several processes share them.

    Args:
        runs: the runs, each after those that it needs.
        say: reports progress.
    """
    jobs = [
        Job(run.experiment, run.folder, tuple(needed.folder for needed in run.needs))
        for run in runs
    ]
    train_all(jobs, say=say)


def make_files(runs: Iterable[Run], setting: Setting, say: Say) -> None:
    """Generate the files of runs that are generated and do not exist yet.

    Args:
        runs: the runs.
        setting: what was requested.
        say: reports progress.
    """
    with disk_errors(setting.made):
        setting.made.mkdir(parents=True, exist_ok=True)
        # If another process is generating files, wait for it rather than generate them twice.
        with hold_folder(setting.made, when_busy=lambda: say(f"waiting for {setting.made}")):
            for run in runs:
                _make_files(run, setting, say)


def _make_files(run: Run, setting: Setting, say: Say) -> None:
    """Generate the missing files of one run."""
    paths = [
        Path(path.partition("#")[0])
        for text in (*run.files.train, *run.files.dev, *run.files.test)
        for path in text.split("+")
    ]
    for path in paths:
        # An annotated corpus has a manifest once it is complete.
        if not path.is_relative_to(setting.made) or (path / "manifest.json").is_file():
            continue
        if path.is_file():
            continue
        recipe = RECIPES[path.relative_to(setting.made).as_posix()]
        sources = [_source(setting.data, name) for name in recipe.needs]
        say(f"making {path}")
        recipe.make(sources, setting.made, setting.parser, setting.scale == "tiny")


def _source(data: Path, name: str) -> Path:
    """Return the path of a source file, compressed or not."""
    return data / name if (data / name).exists() else data / f"{name}.gz"
