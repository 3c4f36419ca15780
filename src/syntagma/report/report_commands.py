"""The section of a report with the commands that reproduce its runs and the report itself."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from syntagma.analysis.systems import System
from syntagma.files import read_text
from syntagma.outputs import portable_name, write_text
from syntagma.report.report_page import Section, commands
from syntagma.runs.folder import read_experiment
from syntagma.runs.names import SETTINGS as RUN_SETTINGS
from syntagma.settings import flatten, to_dict
from syntagma.tasks.experiment import Experiment

AGAIN = "again"
"""Folder for the reproduced runs."""
SETTINGS = "settings"
MODELS = ("encoder", "parser", "head.verifier")
"""Settings whose value may be the folder of another run."""
PATH_STARTS = (("runs",), ("..",))
"""First components that occur in paths, but not in names on the Hugging Face Hub."""


def commands_section(
    systems: Sequence[System], draft: Path, out: str | Path, *, options: Sequence[str] = ()
) -> tuple[Section, list[str]]:
    """List the commands that reproduce everything in new folders, from settings saved here.

    Args:
        systems: the systems of the report.
        draft: the draft folder of the report, to which the settings are written.
        out: the final path of the report.
        options: command-line options of the report.

    Returns:
        The section, and notices about runs that cannot be reproduced.
    """
    notices: list[str] = []
    # Folder name under `again/` by path; reserve the report's own name first.
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
        "The settings are complete; relative paths in them refer to the folder in which the runs "
        f"were trained. Results are written to <code>{AGAIN}/</code>. A run that another one "
        "starts from, or uses as parser or verifier, comes before it."
    )
    limits = {each for run in runs if (each := run.experiment.data.dev_limit) is not None}
    if limits:
        shown = " or ".join(f"{limit:,}" for limit in sorted(limits))
        hint += (
            f" The runs were scored on {shown} examples of each dev file "
            "(<code>data.dev_limit</code>); <code>evaluate</code> scores them all."
        )
    return Section("Commands", f'{commands(lines)}<p class="hint">{hint}</p>'), notices


def _as_trained(experiment: Experiment) -> list[str]:
    """Return the options that score a model as at the end of its training."""
    precision = experiment.training.precision
    # A loaded parser computes in float32 by default; other models in the precision `auto`.
    is_default = precision == "auto" and experiment.task != "parsing"
    given = [] if is_default else ["--precision", precision]
    return [*given, *(["--skip-bad"] if experiment.data.skip_bad else [])]


def _shared(options: Sequence[str]) -> list[str]:
    """Select the options of a report that ``compare`` accepts too."""
    pairs = zip(options[::2], options[1::2], strict=True)
    return [word for pair in pairs if pair[0] in ("--data", "--metric") for word in pair]


def _is_folder_name(path: Path) -> bool:
    """Whether a name can only be a local folder, since Hub names have at most two components."""
    # Names of parse sources such as `spacy:NAME` contain a colon.
    named = ":" not in str(path)
    return named and (path.is_absolute() or len(path.parts) > 2 or path.parts[:1] in PATH_STARTS)


def _train(
    path: Path,
    made: dict[Path, str],
    lines: list[str],
    draft: Path,
    out: Path,
    notices: list[str],
) -> None:
    """Append the command of a run, after those of the runs that it depends on."""
    if path in made:
        return
    settings = flatten(to_dict(read_experiment(path)))
    named = {key: Path(str(value)) for key in MODELS if (value := settings.get(key))}
    needed = {key: each for key, each in named.items() if (each / RUN_SETTINGS).is_file()}
    notices += [
        f"commands for the {key} of {path}: {each} does not exist"
        for key, each in named.items()
        if _is_folder_name(each) and not each.exists()
    ]
    for other in needed.values():
        _train(other, made, lines, draft, out, notices)
    # Reports are copied to other machines, where names may not differ only in case.
    taken = {each.casefold() for each in made.values()}
    first = name = portable_name(path.resolve().name)
    number = 1
    while name.casefold() in taken:
        number += 1
        name = f"{first}_{number}"
    made[path] = name
    write_text(draft / SETTINGS / f"{name}.yaml", read_text(path / RUN_SETTINGS))
    command = ["syntagma", "train", f"{out}/{SETTINGS}/{name}.yaml"]
    for key, other in needed.items():
        command += ["--set", f"{key}={AGAIN}/{made[other]}"]
    lines.append(shlex.join([*command, "--out", f"{AGAIN}/{name}"]))
