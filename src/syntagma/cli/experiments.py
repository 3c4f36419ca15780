"""Commands that run many experiments: the papers' tables, searches for settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from syntagma.cli.app import JsonFile, app, write_json_file
from syntagma.errors import InputError


@app.command()
def reproduce(
    paper: Annotated[
        str, typer.Argument(help="sg-net, seprem, poi-net, …; see --list. With --settings: a base.")
    ] = "",
    table: Annotated[
        str, typer.Argument(help="table3, figure4, section7.6, … With --settings: a system.")
    ] = "",
    listing: Annotated[
        bool, typer.Option("--list", help="Print the index, or a paper's part of it.")
    ] = False,
    data: Annotated[Path | None, typer.Option(help="The folder of the data; data/.")] = None,
    encoder: Annotated[str, typer.Option(help="Instead of the default or the paper's.")] = "",
    scale: Annotated[str, typer.Option(help="tiny, cpu or paper.")] = "cpu",
    seeds: Annotated[
        int, typer.Option(help="Runs a system; 0: the paper's number at its scale, else one.")
    ] = 0,
    out: Annotated[Path, typer.Option(help="Where runs and tables go.")] = Path("runs/reproduce"),
    parser: Annotated[str, typer.Option(help="A parse source.")] = "default-parser",
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting of every run.")
    ] = None,
    only_settings: Annotated[
        bool,
        typer.Option("--settings", help="Print the settings of BASE SYSTEM, for syntagma train."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List runs and what will differ.")
    ] = False,
    json_file: JsonFile = None,
) -> None:
    """Train what a table or figure of a paper needs and print it beside the paper's numbers."""
    from syntagma.reproduce.index import index_lines

    if json_file is not None and (listing or dry_run or only_settings):
        raise InputError(
            "--json: only what was measured is written; leave out --list, --dry-run or --settings"
        )
    if listing:
        for line in index_lines(data, paper, table):
            typer.echo(line)
        return
    from syntagma.reproduce.runs import Setting

    setting = Setting(
        data or Path("data"), out, scale, encoder, parser, seeds, tuple(overrides or ())
    )
    if only_settings:
        from syntagma.reproduce.own_runs import settings_of

        typer.echo(settings_of(paper, table, setting).rstrip())
        return
    if not paper or not table:
        raise InputError("expected PAPER TABLE, as in sg-net table3, or --list")
    from syntagma.reproduce import work

    plan = work.plan_entry(paper, table, setting)
    if dry_run:
        for line in work.plan_lines(plan):
            typer.echo(line)
        return
    found = work.reproduce(plan, say=typer.echo)
    write_json_file(json_file, found.as_json())
    typer.echo(f"\n{found.table()}\n\n→ {plan.folder}")


@app.command()
def settings(
    section: Annotated[str, typer.Argument(help="A task, a guide, data, training, …")] = "",
) -> None:
    """Print what an experiment may set: with SECTION a part of it, else all as a page."""
    from syntagma.cli.reference import find_section, settings_page

    typer.echo("\n".join(find_section(section).lines()) if section else settings_page().rstrip())


@app.command()
def sweep(
    config: Annotated[Path, typer.Argument(help="An experiment, as in experiments/*.yaml.")],
    space: Annotated[
        list[str] | None,
        typer.Option(help="KEY=A..B, KEY=A..B:log, or KEY=A,B,C; several times."),
    ] = None,
    trials: Annotated[int, typer.Option(help="How many settings to try in all.")] = 20,
    seeds: Annotated[int, typer.Option(help="Runs a trial; its value is their mean.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder; runs/sweep_NAME if not given.")] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting of every trial.")
    ] = None,
    metric: Annotated[str, typer.Option(help="To raise; the task's own if not given.")] = "",
    json_file: JsonFile = None,
) -> None:
    """Search a space of settings; called again, it goes on where it stopped."""
    from syntagma.training.search_space import read_space
    from syntagma.training.sweep import Sweep, run_sweep

    folder = out or Path("runs") / f"sweep_{config.stem}"
    wanted = Sweep(
        config, folder, read_space(space or ()), tuple(overrides or ()), seeds=seeds, metric=metric
    )
    found = run_sweep(wanted, trials, say=typer.echo)
    write_json_file(json_file, found.as_json())
    typer.echo(f"\n{found.table()}\n\n→ {folder}")
