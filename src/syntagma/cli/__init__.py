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

from syntagma.cli import experiments, models, studies, texts  # noqa: F401  (each adds its commands)
from syntagma.cli.app import app
from syntagma.errors import InputError

__all__ = ["app", "main"]

OK, OURS, YOURS, INTERRUPTED = 0, 1, 2, 130
KEPT = "interrupted; what was finished is kept"
ORDER = (
    *("parse", "annotate", "train", "settings", "evaluate", "predict", "answer", "attention"),
    *("compare", "noise", "report", "reproduce", "sweep", "pack", "download", "doctor"),
)
"""Of the commands in the help."""
app.registered_commands.sort(
    key=lambda command: ORDER.index(getattr(command.callback, "__name__", ""))
)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in arguments
    # Behind a command, too.
    arguments = [argument for argument in arguments if argument != "--debug"]
    # NumPy multiplies next to nothing here; its threads would only spin beside torch's.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a letter gets a question mark, and what was done stays done.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = app(args=arguments, standalone_mode=False) or OK
        if code == INTERRUPTED:  # Typer turns the user's Ctrl-C into this code.
            typer.echo(f"syntagma: {KEPT}", err=True)
    except SystemExit as error:
        # So Typer ends where the reader of our output has left (`| head`): nobody to tell.
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = OK
    except InputError as error:
        code = _complain(error, debug, str(error), YOURS)
    except (Exception, KeyboardInterrupt) as error:
        # Typer raises Click's errors from a copy of Click of its own: known by what they offer.
        # It makes an Abort of Ctrl-C, but of an end of file too, which nobody asked for.
        stopped = type(error).__name__ == "Abort" and not isinstance(error.__cause__, EOFError)
        if isinstance(error, KeyboardInterrupt) or stopped:
            code = _complain(error, debug, KEPT, INTERRUPTED)
        elif type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(str(error))
            code = YOURS
        elif isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            message = f"{error.filename!s:.60}…: expected the name of a file or folder"
            code = _complain(error, debug, message, YOURS)
        elif hasattr(error, "format_message"):
            code = _complain(error, debug, error.format_message(), YOURS)
        else:
            message = f"internal error: {type(error).__name__}: {error} (--debug shows where)"
            code = _complain(error, debug, message, OURS)
    sys.exit(code)


def _complain(error: BaseException, debug: bool, message: str, code: int) -> int:
    if debug:
        traceback.print_exception(error)
    typer.echo(f"syntagma: {' '.join(message.split())}", err=True)
    return code
