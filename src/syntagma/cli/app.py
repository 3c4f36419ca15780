"""What all commands share: the program, its common flags, and how numbers are shown."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated, Any

import typer

from syntagma import __version__

__all__ = [
    "Device",
    "JsonFile",
    "ModelTask",
    "OtherParser",
    "OtherPrecision",
    "SkipBad",
    "app",
    "file_place",
    "show_metrics",
    "write_json_file",
]

app = typer.Typer(
    name="syntagma",
    help="Make any pretrained Transformer encoder read with syntax.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _there(device: str) -> str:
    if device != "cpu":
        from syntagma.encoders.precision import require_device

        require_device(device)
    return device


def file_place(path: Path | None) -> Path | None:
    """Refuse at the start what could not be written at the end."""
    if path is not None:
        from syntagma.outputs import require_file_place

        require_file_place(path)
    return path


JsonFile = Annotated[
    Path | None, typer.Option("--json", callback=file_place, help="Also write JSON.")
]
Device = Annotated[
    str, typer.Option(callback=_there, help="Where to compute: cpu, cuda, cuda:1, mps.")
]
ModelTask = Annotated[
    str, typer.Option(help="Score a reader of single passages as another task: open_qa.")
]
OtherParser = Annotated[
    str,
    typer.Option(
        "--parser", help="Parses from elsewhere than in training: noisy:0.2:default-parser, random."
    ),
]
OtherPrecision = Annotated[
    str,
    typer.Option(
        "--precision",
        help="float32, bfloat16, or auto: bfloat16 where that is faster; float32 for parsers and "
        "auto for others if not given. A run's training.precision gives its own scores again.",
    ),
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out bad examples and count them.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"syntagma {__version__}")
        raise typer.Exit


@app.callback()
def _global(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    logging.basicConfig(format="%(levelname)s %(message)s", level=logging.WARNING)


def show_metrics(values: dict[str, Any]) -> None:
    """Print numbers, and words about them, a line each."""
    width = max(map(len, values), default=0)
    for name, value in values.items():
        if isinstance(value, str):
            typer.echo(f"{name:<{width}}  {value}")
            continue
        typer.echo(f"{name:<{width}}  {_number_shown(value):>10}")


def _number_shown(value: float) -> str:
    if not value % 1:
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) >= 0.01 else f"{value:.2g}"


def write_json_file(path: Path | None, values: dict[str, Any]) -> None:
    """Write what ``--json`` asks for, if it was given."""
    if path is not None:
        from syntagma.outputs import write_json

        write_json(path, values)
