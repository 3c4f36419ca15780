"""The command line: parse flags, call one public function, print one table.

Nothing heavy is imported before a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback

import typer

from syntagma.cli import (  # noqa: F401  (each adds its commands)
    answering,
    documents,
    experiments,
    exporting,
    models,
    serve,
    studies,
    texts,
)
from syntagma.cli.app import app
from syntagma.cli.console import session
from syntagma.cpu_threads import choose_threads
from syntagma.errors import DISK_FULL, InputError

__all__ = ["app", "main"]

OK, INTERNAL_ERROR, INPUT_ERROR, INTERRUPTED = 0, 1, 2, 130
PROGRAM = "syntagma"
"""Name in the help, and of the variable by which a shell asks for completion."""
INTERRUPTION = "interrupted; finished work is kept"
ORDER = (
    *(
        "parse",
        "annotate",
        "train",
        "settings",
        "evaluate",
        "predict",
        "answer",
        "index",
        "serve",
        "attention",
    ),
    *(
        "compare",
        "noise",
        "report",
        "reproduce",
        "sweep",
        "study",
        "calibrate",
        "pack",
        "export",
        "download",
        "doctor",
    ),
)
"""Order of the commands in the help."""
app.registered_commands.sort(
    key=lambda command: ORDER.index(getattr(command.callback, "__name__", ""))
)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code.

    Args:
        arguments: arguments of the program; by default those of the process.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in arguments
    # Typer accepts a global option only before the command; accept this one anywhere.
    arguments = [argument for argument in arguments if argument != "--debug"]
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        # Print a question mark for a character that the terminal cannot show: a finished command
        # must not fail because of its output.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    with session():
        sys.exit(_run(arguments, debug))


def _open_closed_streams() -> None:
    """Let what is written to a stream that was closed (``>&-``) go nowhere; such input is empty.

    A file that is opened takes the lowest free number, so the null device takes that of the stream;
    otherwise the next file of the command would, and libraries would print into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (for the whole process)


def _run(arguments: list[str], debug: bool) -> int:
    """Run a command, print all of its output, and return its exit code."""
    code = _run_command(arguments, debug)
    if sys.stdout is None or sys.stdout.closed:
        return code
    try:
        # At exit, Python would report an error itself, in several lines.
        sys.stdout.flush()
    except OSError as error:
        _leave_stdout()
        # If the command has failed before, it has said why.
        if code == OK and error.errno != errno.EPIPE:
            code = _complain(error, debug, _cannot_print(error), INPUT_ERROR)
    return code


def _leave_stdout() -> None:
    """Let everything else that is written to standard output go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _cannot_print(error: OSError) -> str:
    what = f"{error.filename}: " if error.filename else "the output "
    free = "free some space or " if error.errno in DISK_FULL else ""
    return f"{what}cannot be written ({error.strerror or error}); {free}write it elsewhere"


def _run_command(arguments: list[str], debug: bool) -> int:
    """Run a command and return its exit code."""
    try:
        if "torch" not in sys.modules:  # Otherwise, as in a notebook, it is too late.
            choose_threads()
        code = app(args=arguments, prog_name=PROGRAM, standalone_mode=False) or OK
        if code == INTERRUPTED:  # Typer turns Ctrl-C into this code.
            typer.echo(f"syntagma: {INTERRUPTION}", err=True)
    except SystemExit as error:
        # stdout was closed (e.g. `| head`): exit quietly. Typer raises SystemExit for it; anything
        # else that is written must go nowhere, or Python reports the closed pipe at exit.
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        _leave_stdout()
        code = OK
    except InputError as error:
        code = _complain(error, debug, str(error), INPUT_ERROR)
    except (Exception, KeyboardInterrupt) as error:
        # Typer bundles its own copy of Click, whose errors are recognised by name and attributes.
        # It raises Abort for Ctrl-C, but also for an unexpected end of input, which is a bug.
        stopped = type(error).__name__ == "Abort" and not isinstance(error.__cause__, EOFError)
        if isinstance(error, KeyboardInterrupt) or stopped:
            code = _complain(error, debug, INTERRUPTION, INTERRUPTED)
        elif type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(str(error))
            code = INPUT_ERROR
        elif isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            # A long text was given instead of a path.
            message = f"{error.filename!s:.60}…: expected the path of a file or folder"
            code = _complain(error, debug, message, INPUT_ERROR)
        elif isinstance(error, PermissionError) and error.filename:
            # Even whether a path exists cannot be asked in a folder that may not be entered.
            message = (
                f"{error.filename}: cannot be reached ({error.strerror}); allow it with chmod, or "
                f"give another path"
            )
            code = _complain(error, debug, message, INPUT_ERROR)
        elif isinstance(error, OSError) and error.errno in (*DISK_FULL, errno.EIO):
            code = _complain(error, debug, _cannot_print(error), INPUT_ERROR)
        elif hasattr(error, "format_message"):
            code = _complain(error, debug, error.format_message(), INPUT_ERROR)
        else:
            message = (
                f"internal error: {type(error).__name__}: {error} (--debug shows the traceback)"
            )
            code = _complain(error, debug, message, INTERNAL_ERROR)
    return int(code)


def _complain(error: BaseException, debug: bool, message: str, code: int) -> int:
    """Print an error as one line, with its traceback if wanted; return the exit code."""
    if debug:
        traceback.print_exception(error)
    typer.echo(f"syntagma: {' '.join(message.split())}", err=True)
    return code
