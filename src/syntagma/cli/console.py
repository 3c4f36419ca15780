"""What a command prints where: results on standard output, everything else on standard error.

Results for people go to standard output too, unless a file was written there (``--json -``): a
program that reads standard output gets nothing but the file.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import typer

from syntagma.errors import InputError

LOGGER = logging.getLogger("syntagma")
TRANSFORMERS_VERBOSITY = "TRANSFORMERS_VERBOSITY"


@dataclass(slots=True)
class Console:
    """What the options of the command that is running say about its output.

    Args:
        quiet: whether ``--quiet`` was given.
        verbose: whether ``--verbose`` was given.
        on_stdout: the option whose file is standard output (``--json``); empty if none is.
        outputs: the options that write files and folders, by the resolved paths of these.
    """

    quiet: bool = False
    verbose: bool = False
    on_stdout: str = ""
    outputs: dict[Path, str] = field(default_factory=dict)


_console = Console()


@contextmanager
def session() -> Iterator[None]:
    """Start with the default output, and restore levels of loggers and warnings afterwards."""
    global _console
    before, _console = _console, Console()
    root = logging.getLogger()
    levels = root.level, LOGGER.level
    variable = os.environ.get(TRANSFORMERS_VERBOSITY)
    try:
        with warnings.catch_warnings():
            yield
    finally:
        _console = before
        root.setLevel(levels[0])
        LOGGER.setLevel(levels[1])
        if variable is None:
            os.environ.pop(TRANSFORMERS_VERBOSITY, None)
        else:
            os.environ[TRANSFORMERS_VERBOSITY] = variable


def be_quiet(wanted: bool) -> bool:
    """Print results and errors only, if ``--quiet`` was given."""
    if wanted:
        _console.quiet = True
        _refuse_both()
        logging.getLogger().setLevel(logging.ERROR)
        LOGGER.setLevel(logging.ERROR)
        os.environ[TRANSFORMERS_VERBOSITY] = "error"
        warnings.simplefilter("ignore")
    return wanted


def be_verbose(wanted: bool) -> bool:
    """Also print what is being done, if ``--verbose`` was given."""
    if wanted:
        _console.verbose = True
        _refuse_both()
        LOGGER.setLevel(logging.INFO)
    return wanted


def _refuse_both() -> None:
    if _console.quiet and _console.verbose:
        raise InputError("--quiet prints less and --verbose more; omit one of the two")


def is_quiet() -> bool:
    """Whether ``--quiet`` was given."""
    return _console.quiet


def take_stdout(option: str) -> None:
    """Reserve standard output for the file of an option.

    Args:
        option: the option, such as ``--json``.

    Raises:
        InputError: another option writes its file there.
    """
    if _console.on_stdout and _console.on_stdout != option:
        raise InputError(
            f"{_console.on_stdout} and {option} both write to -, standard output; give one of them "
            f"the path of a file"
        )
    _console.on_stdout = option


def take_path(option: str, path: Path) -> None:
    """Reserve a file or folder for an option.

    Args:
        option: the option, such as ``--json``.
        path: the file or folder.

    Raises:
        InputError: another option writes to the same path.
    """
    first = _console.outputs.setdefault(path.resolve(), option)
    if first != option:
        raise InputError(
            f"{path}: {first} and {option} both write here; give one of them another path"
        )


def written() -> set[str]:
    """Return the options that write files or folders in this command."""
    return set(_console.outputs.values())


def show(text: str = "") -> None:
    """Print a result for people."""
    if not _console.on_stdout:
        typer.echo(text)
    elif not _console.quiet:
        typer.echo(text, err=True)


def note(text: str = "") -> None:
    """Print what was done, such as where a file was written; nothing with ``--quiet``."""
    if not _console.quiet:
        typer.echo(text, err=bool(_console.on_stdout))


def warn(text: str) -> None:
    """Print a line about a problem that does not end the command; nothing with ``--quiet``."""
    if not _console.quiet:
        typer.echo(" ".join(text.split()), err=True)
