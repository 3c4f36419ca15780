"""The Typer application, options that commands share, and how numbers are printed."""

from __future__ import annotations

import io
import logging
import os
import platform
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from syntagma import __version__
from syntagma.cli.console import be_quiet, be_verbose, show, take_path, take_stdout, written
from syntagma.errors import InputError
from syntagma.files import STANDARD_INPUT, STANDARD_OUTPUTS


def examples(*commands: str) -> str:
    """Format example commands for the end of a command's help.

    Args:
        commands: example commands, without a prompt.
    """
    # Click does not wrap a paragraph that starts with a line holding a backspace character.
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        callback=be_quiet,
        is_eager=True,  # Callbacks of other options may warn.
        expose_value=False,
        help="Print results and errors only: no progress, no warnings.",
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        callback=be_verbose,
        is_eager=True,
        expose_value=False,
        help="Also print what is being done, and progress in log files.",
    ),
]


_shared = typer.Typer(add_completion=False)


@_shared.command()
def _have_shared_options(quiet: Quiet = False, verbose: Verbose = False) -> None:
    """Only to let Typer make the options."""


_SHARED_OPTIONS = typer.main.get_command(_shared).params


class Command(TyperCommand):
    """A command that has the options of every command after its own."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.params = [*self.params, *_SHARED_OPTIONS]

    def invoke(self, ctx: Any) -> Any:
        """Run the command, unless a file that it writes is one that it reads.

        Raises:
            InputError: it is.
        """
        from syntagma.outputs import require_apart

        outputs = written()
        given = {parameter.opts[0]: ctx.params.get(parameter.name) for parameter in self.params}
        read = [value for option, value in given.items() if option not in outputs]
        for option in outputs & given.keys():
            for text in _texts(read):
                with suppress(OSError):  # A question may be too long for a path.
                    require_apart(given[option], [text])
        return super().invoke(ctx)


def _texts(values: Any) -> Iterator[str]:
    """Yield the texts and paths in the values of options; any may name a file."""
    if isinstance(values, list | tuple):
        for value in values:
            yield from _texts(value)
    elif isinstance(values, str | Path):
        yield str(values)


class _Application(typer.Typer):
    def command(self, *given: Any, **options: Any) -> Callable[[Any], Any]:
        return super().command(*given, **{"cls": Command, **options})


app = _Application(
    name="syntagma",
    help="Make any pretrained Transformer encoder read with syntax.",
    epilog=examples(
        "syntagma download default",
        "syntagma answer FILE 'Who …?' --html page.html",
        "syntagma train --help",
        "syntagma --install-completion",
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _check_device(device: str) -> str:
    if device != "cpu":
        from syntagma.encoders.precision import require_device

        require_device(device)
    return device


def file_place(option: typer.CallbackParam, path: Path | None) -> Path | None:
    """Check that a file can be written, before the work whose result it will hold.

    If it is standard output, what is for people goes to standard error from here on.

    Raises:
        InputError: it cannot be, or another option writes it too.
    """
    if path is not None:
        from syntagma.outputs import is_stream, require_file_place

        require_file_place(path)
        if path.as_posix() in STANDARD_OUTPUTS:
            take_stdout(option.opts[0])
        elif not is_stream(path):
            take_path(option.opts[0], path)
    return path


def folder_place(option: typer.CallbackParam, path: Path | None) -> Path | None:
    """Check that a folder to write is not meant to be standard output.

    Raises:
        InputError: it is, its path cannot be followed, or another option writes there too.
    """
    if path is None:
        return None
    if path.as_posix() in STANDARD_OUTPUTS:
        raise InputError(
            f"{option.opts[0]}: expected the path of a folder, got {path}, standard output; only "
            f"files can be written there"
        )
    from syntagma.outputs import followed

    take_path(option.opts[0], followed(path))
    return path


def default_folder(config: Path) -> Path:
    """Return the folder of the runs of a file of settings, for commands without ``--out``.

    Raises:
        InputError: the settings come from standard input, which has no name.
    """
    if str(config) == STANDARD_INPUT:
        raise InputError("-: settings from standard input have no name; add --out FOLDER")
    return Path("runs") / config.stem


def choices(*names: str) -> Callable[[str], list[str]]:
    """Return a function that completes the names of choices on the command line.

    Args:
        names: all choices.
    """
    # Typer knows the argument by its name.
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def _import_files(ctx: typer.Context, files: list[str] | None) -> None:
    if files and not ctx.resilient_parsing:  # Completion runs nothing.
        from syntagma.plugins import import_file

        for path in files:
            import_file(path)


Imports = Annotated[
    list[str] | None,
    typer.Option(
        "--import",
        metavar="FILE.py",
        callback=_import_files,
        is_eager=True,  # Other options may name what the file registers.
        help="Import this file first, which registers guides, tasks, parsers or retrievers; "
        "repeatable.",
    ),
]
JsonFile = Annotated[
    Path | None,
    typer.Option("--json", callback=file_place, help="Also write a JSON file; - for stdout."),
]
TEXT_FILES = (".txt", ".md", ".html", ".json", ".jsonl", ".tsv", ".csv", ".conllu", ".gz", ".pdf")
"""Endings of files of text."""
Device = Annotated[
    str, typer.Option(callback=_check_device, help="Device: cpu, cuda, cuda:1, or mps.")
]
ModelTask = Annotated[
    str,
    typer.Option(help="Use a model of the task spans for another task: open_qa."),
]
OtherParser = Annotated[
    str,
    typer.Option(
        "--parser",
        help="Use another parse source than in training, such as random or "
        "noisy:0.2:default-parser.",
    ),
]
OtherPrecision = Annotated[
    str,
    typer.Option(
        "--precision",
        help="float32, bfloat16, int8 (on CPUs), or auto (bfloat16 if that is faster). Default: "
        "float32 for parsers (int8 for fast-parser), auto for other models. With the "
        "training.precision of a run, its own scores are reproduced.",
    ),
]
OtherThreshold = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        help="Use another threshold than the fitted one: readers abstain above it (inf: never "
        "abstain); entity types are predicted from this probability on.",
    ),
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad", help="Skip and count invalid examples, instead of stopping at the first."
    ),
]


def _version(ctx: typer.Context, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib import metadata

        packages = (f"{name} {metadata.version(name)}" for name in ("torch", "transformers"))
        python = f"Python {platform.python_version()}"
        typer.echo(f"syntagma {__version__} ({', '.join([python, *packages])})")
        raise typer.Exit


@app.callback()
def _global(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_version,
            is_eager=True,
            help="Print the version, and those of Python, torch and transformers.",
        ),
    ] = False,
) -> None:
    # The level of the root logger stays: --quiet and --verbose have set levels already.
    logging.basicConfig(format="%(levelname)s %(message)s")


def refuse(flags: dict[str, bool], why: str) -> None:
    """Raise an error for the first flag that was given."""
    for flag, is_given in flags.items():
        if is_given:
            raise InputError(f"{flag} {why}")


def given_options(ctx: typer.Context, *, besides: Collection[str]) -> dict[str, bool]:
    """Return whether each option was given on the command line, for :func:`refuse`.

    Args:
        ctx: of the command.
        besides: names of parameters of the command that are left out.
    """
    given = {}
    for parameter in ctx.command.params:
        name = parameter.name or ""
        # Typer bundles its own Click, whose constants cannot be imported from Click.
        source = getattr(ctx.get_parameter_source(name), "name", "")
        if name not in besides:
            given[parameter.opts[0]] = source == "COMMANDLINE"
    return given


def print_utf8(*, even_to_terminal: bool = False) -> None:
    """Print data as UTF-8 with line feeds from here on, whatever the encoding of the locale.

    Otherwise a pipe or a file would get a question mark for each character that the locale lacks,
    as on Windows, and lines that end in two characters.

    Args:
        even_to_terminal: also where a terminal may show other characters in their place: the
            format that is printed is UTF-8.
    """
    stream = sys.stdout
    if isinstance(stream, io.TextIOWrapper) and (even_to_terminal or not stream.isatty()):
        stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")


def require_no_file(text: str, expected: str, remedy: str) -> None:
    """Check that an argument that is read as text is not the name of a file.

    Args:
        text: the argument.
        expected: what it should be, for the message ("a question").
        remedy: what to write instead of a file.

    Raises:
        InputError: it is the path of a file or folder, standard input, or a single word that ends
            as files of text do.
    """
    if text == STANDARD_INPUT:
        came = "standard input"
    elif os.path.exists(text):
        came = "a folder" if os.path.isdir(text) else "a file"
    elif len(text.split()) == 1 and text.lower().endswith(TEXT_FILES):
        came = "the name of a file, which does not exist"
    else:
        return
    raise InputError(f"{text}: expected {expected}, got {came}; {remedy}")


def show_metrics(values: dict[str, Any]) -> None:
    """Print one line per metric; values may be numbers or text."""
    width = max(map(len, values), default=0)
    for name, value in values.items():
        if isinstance(value, str):
            show(f"{name:<{width}}  {value}")
            continue
        show(f"{name:<{width}}  {_format_number(value):>10}")


def _format_number(value: float) -> str:
    if not value % 1:
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) >= 0.01 else f"{value:.2g}"


def write_json_file(path: Path | None, values: dict[str, Any]) -> None:
    """Write the file given by ``--json``, if any."""
    if path is not None:
        from syntagma.outputs import write_json

        write_json(path, values)


def check_picture(option: typer.CallbackParam, path: Path | None) -> Path | None:
    """Check that a picture can be drawn, before the work whose result it will show.

    Raises:
        InputError: it cannot be, or another option writes it too.
    """
    if path is not None:
        from syntagma.drawing.plotting import require_picture

        require_picture(path)
        return file_place(option, path)
    return path
