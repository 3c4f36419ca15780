"""The commands that make the runs of a report, and the report, again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from syntagma.analysis.systems import System
from syntagma.files import read_text
from syntagma.outputs import write_text
from syntagma.report.report_page import Part, commands
from syntagma.runs.folder import read_experiment
from syntagma.runs.names import SETTINGS as RUN_SETTINGS
from syntagma.settings import flatten, to_dict
from syntagma.tasks.experiment import Experiment

__all__ = ["commands_part"]

AGAIN = "again"
"""The folder that the runs are made in."""
SETTINGS = "settings"
MODELS = ("encoder", "parser", "head.verifier")
"""Settings that may name the folder of another run."""
PLACES = (("runs",), ("..",))
"""What paths begin with, and names on the hub do not."""


def commands_part(
    systems: Sequence[System], draft: Path, out: str | Path, *, options: Sequence[str] = ()
) -> tuple[Part, list[str]]:
    """The commands that make everything again, in new folders, from settings kept with the page.

    Args:
        systems: of the report.
        draft: the report's folder, in which settings are put.
        out: the name that it will have.
        options: of the report.

    Returns:
        The part, and what it lacks.
    """
    notices: list[str] = []
    # The report itself is made there too.
    made = {Path(out): Path(out).name}
    lines: list[str] = []
    runs = [run for system in systems for run in system.runs]
    for run in runs:
        _train(run.path, made, lines, draft, Path(out), notices)
    folders = [f"{AGAIN}/{made[run.path]}" for run in runs]
    lines.append("")
    for run, folder in zip(runs, folders, strict=True):
        data = run.experiment.data.dev
        lines.append(
            shlex.join(["syntagma", "evaluate", folder, *data, *_as_trained(run.experiment)])
        )
    lines.append("")
    if len(systems) > 1:
        lines.append(shlex.join(["syntagma", "compare", *folders, *_shared(options)]))
    again = f"{AGAIN}/{made[Path(out)]}"
    lines.append(shlex.join(["syntagma", "report", *folders, "--out", again, *options]))
    hint = (
        "The settings are complete; paths in them are those of the folder in which the runs were "
        f"trained. What is made again lies in <code>{AGAIN}/</code>; a run that begins from "
        "another one, or reads with its help, has that before it."
    )
    limits = {each for run in runs if (each := run.experiment.data.dev_limit) is not None}
    if limits:
        shown = " or ".join(f"{limit:,}" for limit in sorted(limits))
        hint += (
            f" The runs were scored on {shown} examples of each dev file "
            "(<code>data.dev_limit</code>); <code>evaluate</code> scores them all."
        )
    return Part("Commands", f'{commands(lines)}<p class="hint">{hint}</p>'), notices


def _as_trained(experiment: Experiment) -> list[str]:
    """Options with which a model is scored as it was at the end of its training."""
    precision = experiment.training.precision
    is_default = precision == "auto" and experiment.task != "parsing"
    given = [] if is_default else ["--precision", precision]
    return [*given, *(["--skip-bad"] if experiment.data.skip_bad else [])]


def _shared(options: Sequence[str]) -> list[str]:
    """Those options of a report that `compare` has too."""
    pairs = zip(options[::2], options[1::2], strict=True)
    return [word for pair in pairs if pair[0] in ("--data", "--metric") for word in pair]


def _is_folder_name(path: Path) -> bool:
    """Whether it can only be a folder here: names on the hub have two parts at most."""
    named = ":" not in str(path)
    return named and (path.is_absolute() or len(path.parts) > 2 or path.parts[:1] in PLACES)


def _train(
    path: Path,
    made: dict[Path, str],
    lines: list[str],
    draft: Path,
    out: Path,
    notices: list[str],
) -> None:
    """The command of a run, after those of the runs that it needs."""
    if path in made:
        return
    settings = flatten(to_dict(read_experiment(path)))
    named = {key: Path(str(settings.get(key) or "")) for key in MODELS}
    needed = {key: each for key, each in named.items() if (each / RUN_SETTINGS).is_file()}
    notices += [
        f"the commands of what {path} has as its {key}: {each} is not there"
        for key, each in named.items()
        if _is_folder_name(each) and not each.exists()
    ]
    for other in needed.values():
        _train(other, made, lines, draft, out, notices)
    name, number = path.name, 1
    while name in made.values():
        number += 1
        name = f"{path.name}_{number}"
    made[path] = name
    write_text(draft / SETTINGS / f"{name}.yaml", read_text(path / RUN_SETTINGS))
    command = ["syntagma", "train", f"{out}/{SETTINGS}/{name}.yaml"]
    for key, other in needed.items():
        command += ["--set", f"{key}={AGAIN}/{made[other]}"]
    lines.append(shlex.join([*command, "--out", f"{AGAIN}/{name}"]))
