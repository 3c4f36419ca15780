"""The commands that draw: parse flags, call one public function, say what was written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["attention", "report"]

Device = Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, mps.")]


def attention(
    model: Annotated[str, typer.Argument(help="A model folder, or default-reader.")],
    passage: Annotated[str, typer.Option(help="A text file, or -; of pairs the first text.")],
    question: Annotated[str, typer.Option(help="About it; of pairs the second text.")],
    out: Annotated[Path, typer.Option(help="The picture to write, .svg.")],
    beside: Annotated[str | None, typer.Option(help="Another model, drawn beside.")] = None,
    options: Annotated[
        list[str] | None, typer.Option(help="Of a model for choice: A | B | C.")
    ] = None,
    layer: Annotated[
        str, typer.Option(help="A number from 1, or guided; each model's last if not given.")
    ] = "",
    head: Annotated[
        int | None, typer.Option(help="From 1; the mean over all if not given.")
    ] = None,
    show: Annotated[
        str,
        typer.Option(help="Words on the axes: question, answer (its sentence), all, a sentence N."),
    ] = "question",
    turns: Annotated[
        bool, typer.Option("--turns", help="Draw the scores of co-attention in each turn instead.")
    ] = False,
    device: Device = "cpu",
) -> None:
    """Draw what a model attends to, word by word, as a vector picture."""
    from syntagma.pictures import draw_attention, draw_turns

    models = [model, *([beside] if beside else [])]
    given: dict[str, Any] = {"out": out, "options": options or (), "device": device}
    if turns:
        titles = draw_turns(models, passage, question, **given)
    else:
        given |= {"layer": layer, "head": head, "show": show}
        titles = draw_attention(models, passage, question, **given)
    for title in titles:
        typer.echo(title)
    typer.echo(f"→ {out}")


def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders over the same dev data.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    cases: Annotated[
        int, typer.Option(help="Examples to show, drawn from those where the runs differ.")
    ] = 12,
    pictures: Annotated[
        int, typer.Option(help="Of these, how many with pictures of attention; 0 opens no model.")
    ] = 3,
    device: Device = "cpu",
) -> None:
    """Write one page about a run, or about several, the first as the baseline."""
    from syntagma.reporting import write_report

    write_report(runs, out, n_cases=cases, n_pictures=pictures, device=device)
    typer.echo(f"→ {out / 'index.html'}")
