"""Commands on finished runs: compare, noise, report."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from syntagma.cli.app import Device, JsonFile, app, write_json_file
from syntagma.errors import InputError

Runs = Annotated[list[Path], typer.Argument(help="Run folders over the same dev data.")]
Data = Annotated[
    list[str] | None, typer.Option(help="Score on other files than the dev files of the runs.")
]


def _picture(path: Path | None) -> Path | None:
    """Refuse at the start what could not be drawn at the end."""
    if path is not None:
        from syntagma.drawing.plotting import require_picture

        require_picture(path)
    return path


@app.command()
def compare(
    runs: Runs,
    data: Data = None,
    json_file: JsonFile = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help="Also by groups of examples: question_length, question_word, ..."),
    ] = None,
    cut: Annotated[
        str, typer.Option(help="Numbers in groups of equal `size` or equal `range`.")
    ] = "size",
    plot: Annotated[
        Path | None, typer.Option(callback=_picture, help="Draw the groups: .svg, .pdf, .png.")
    ] = None,
    answer_tags: Annotated[
        bool, typer.Option("--answer-tags", help="Also count tags at the boundaries of answers.")
    ] = False,
    metric: Annotated[
        str, typer.Option(help="To test, if not that of the paper: f1, macro_f1, uas, ...")
    ] = "",
    device: Device = "cpu",
) -> None:
    """Set runs side by side, the first as the baseline, with the paper's significance test.

    Runs whose settings differ in the seed alone are one system.  Groups and tags can be shown of
    one system, too.  With --data the models are scored on those files, once.
    """
    from syntagma.analysis.answer_tags import tags_of_systems
    from syntagma.analysis.breakdown import break_down_by, check_properties, write_breakdowns
    from syntagma.analysis.compare import compare_systems
    from syntagma.analysis.systems import read_systems

    if plot is not None and not by:
        raise InputError("--plot draws groups of examples; say by what with --by")
    by = list(dict.fromkeys(by or ()))
    check_properties(by, cut)
    if cut != "size" and not by:
        raise InputError("--cut puts examples into groups; say by what with --by")
    if data:
        from syntagma.evaluation import score_runs

        runs = score_runs(runs, data, metric=metric, device=device)
    systems = read_systems(runs, metric=metric)
    # One run has groups and tags, and nothing to be compared with.
    alone = len(runs) == 1 and bool(by or answer_tags)
    comparison = None if alone else compare_systems(systems)
    breakdowns = break_down_by(systems, by, cut=cut) if by else []
    values = comparison.as_json() if comparison else {}
    values["groups"] = [breakdown.as_json() for breakdown in breakdowns]
    tags = tags_of_systems(systems) if answer_tags else None
    if tags is not None:
        values["answer_tags"] = asdict(tags)
    typer.echo("\n\n".join(found.table() for found in [comparison, *breakdowns, tags] if found))
    write_json_file(json_file, values)
    if plot is not None:
        write_breakdowns(breakdowns, plot)


@app.command()
def noise(
    runs: Runs,
    data: Data = None,
    kind: Annotated[str, typer.Option(help="What is replaced: heads or tags.")] = "heads",
    shares: Annotated[
        str, typer.Option(help="How many: 0,0.2,0.5; the paper's if not given.")
    ] = "",
    draws: Annotated[int, typer.Option(help="How often for each share, with other noise.")] = 1,
    trained: Annotated[
        bool,
        typer.Option("--trained", help="What runs trained on noise scored, on the same noise."),
    ] = False,
    sources: Annotated[
        list[str] | None,
        typer.Option("--source", help="Instead of noise a source of parses: own, random, ..."),
    ] = None,
    metric: Annotated[str, typer.Option(help="To show, if not the one that is tested.")] = "",
    json_file: JsonFile = None,
    plot: Annotated[
        Path | None, typer.Option(callback=_picture, help="Draw curve or bars: .svg, .pdf, .png.")
    ] = None,
    device: Device = "cpu",
) -> None:
    """Score models again with a share of the syntax that they read replaced at random.

    Or with parses of other sources, side by side.
    """
    from syntagma.analysis.robustness import (
        noise_curve,
        parser_table,
        training_noise_curve,
        write_noise_curves,
        write_parser_table,
    )

    if sources and (trained or shares or draws != 1 or kind != "heads"):
        raise InputError("--source replaces all parses: leave out --kind, --trained, --shares and "
                         "--draws")  # fmt: skip
    if trained and (data or shares or draws != 1):
        raise InputError("--trained reads what the runs scored: leave out --data, --shares and "
                         "--draws")  # fmt: skip
    try:
        asked = [float(share) for share in shares.split(",") if share]
    except ValueError as error:
        raise InputError(f"--shares: expected numbers as 0,0.2,0.5, got {shares!r}") from error
    if sources:
        found = parser_table(runs, sources, data or (), metric=metric, device=device)
        typer.echo(found.table())
        write_json_file(json_file, asdict(found))
        if plot is not None:
            write_parser_table(found, plot)
        return
    if trained:
        curve = training_noise_curve(runs, kind=kind, metric=metric)
    else:
        curve = noise_curve(
            runs, data or (), kind=kind, shares=asked, draws=draws, metric=metric, device=device
        )
    typer.echo(curve.table())
    write_json_file(json_file, asdict(curve))
    if plot is not None:
        write_noise_curves([curve], plot)


@app.command()
def report(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    data: Data = None,
    cases: Annotated[
        int, typer.Option(help="Examples to show, drawn from those where the runs differ.")
    ] = 12,
    pictures: Annotated[
        int, typer.Option(help="Of these, how many with pictures of attention; 0 opens no model.")
    ] = 3,
    noise: Annotated[
        list[str] | None, typer.Option(help="Also with heads, or tags, replaced at random.")
    ] = None,
    sources: Annotated[
        list[str] | None,
        typer.Option("--source", help="Also with the parses of a source: own, random, ..."),
    ] = None,
    metric: Annotated[
        str, typer.Option(help="To test and show, if not that of the paper: f1, macro_f1, ...")
    ] = "",
    device: Device = "cpu",
) -> None:
    """Write one page about a run, or about several, the first as the baseline."""
    from syntagma.report.write import write_report

    write_report(
        runs, out, data=data or (), n_cases=cases, n_pictures=pictures, noise=noise or (),
        sources=sources or (), metric=metric, device=device,
    )  # fmt: skip
    typer.echo(f"→ {out / 'index.html'}")
