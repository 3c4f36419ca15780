"""Commands on many experiments: reproduce the papers, search and list settings, run studies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from syntagma.cli.app import (
    Imports,
    JsonFile,
    app,
    check_picture,
    choices,
    default_folder,
    examples,
    folder_place,
    given_options,
    print_utf8,
    refuse,
    write_json_file,
)
from syntagma.cli.console import note, show
from syntagma.errors import InputError

if TYPE_CHECKING:
    from syntagma.reproduce.runs import Setting


Systems = Annotated[
    str,
    typer.Option(help="Train these systems on a base and compare them, the baseline first."),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="List the runs and the expected differences, without training."),
]
Seeds = Annotated[
    int,
    typer.Option(
        help="Runs per system. 0: as many as in the paper with --scale paper, otherwise one."
    ),
]


@app.command(
    epilog=examples(
        "syntagma reproduce --list --data data",
        "syntagma reproduce sg-net table3 --data data --dry-run",
        "syntagma reproduce sg-net table3 --data data --seeds 3",
        "syntagma reproduce squad1 --systems plain,sg-net,poi-net --seeds 3",
    )
)
def reproduce(
    ctx: typer.Context,
    paper: Annotated[
        str,
        typer.Argument(
            help="sg-net, seprem, poi-net, …; see --list. With --systems or --settings: a base."
        ),
    ] = "",
    table: Annotated[
        str, typer.Argument(help="table3, figure4, section7.6, … With --settings: a system.")
    ] = "",
    listing: Annotated[
        bool, typer.Option("--list", help="List all entries, or those of PAPER.")
    ] = False,
    data: Annotated[
        Path | None, typer.Option(help="Folder with the datasets. Default: data.")
    ] = None,
    encoder: Annotated[
        str, typer.Option(help="Encoder to use, instead of the default one or the paper's.")
    ] = "",
    scale: Annotated[str, typer.Option(help="Amount of work: tiny, cpu, or paper.")] = "cpu",
    seeds: Seeds = 0,
    out: Annotated[
        Path, typer.Option(callback=folder_place, help="Folder for runs and tables.")
    ] = Path("runs/reproduce"),
    parser: Annotated[str, typer.Option(help="Parse source.")] = "default-parser",
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a setting of all runs, KEY=VALUE; repeatable."),
    ] = None,
    systems: Systems = "",
    only_settings: Annotated[
        bool,
        typer.Option("--settings", help="Print the settings of BASE SYSTEM, for syntagma train."),
    ] = False,
    dry_run: DryRun = False,
    json_file: JsonFile = None,
) -> None:
    """Reproduce a table or figure of a paper.

    The runs that it needs are trained, and its numbers are printed next to those of the paper.
    """
    print_utf8()
    from syntagma.reproduce.index import index_lines

    if json_file is not None and (listing or dry_run or only_settings):
        raise InputError(
            "--json writes measured results; omit it, or omit --list, --dry-run and --settings"
        )
    if listing:
        apart = ("paper", "table", "listing", "data", "quiet", "verbose")
        refuse(given_options(ctx, besides=apart), "has no effect with --list; omit one of the two")
        for line in index_lines(data, paper, table):
            show(line)
        return
    from syntagma.reproduce.runs import Setting

    setting = Setting(
        data or Path("data"), out, scale, encoder, parser, seeds, tuple(overrides or ())
    )
    if systems:
        if table or only_settings:
            raise InputError("--systems: expected one base, as in squad1 --systems plain,sg-net")
        _compare_systems(paper, systems.split(","), setting, dry_run=dry_run, json_file=json_file)
        return
    if only_settings:
        given = {"--seeds": seeds != 0, "--dry-run": dry_run}
        refuse(given, "has no effect with --settings; omit it")
        from syntagma.reproduce.own_runs import settings_of

        show(settings_of(paper, table, setting).rstrip())
        return
    if not paper or not table:
        raise InputError("expected PAPER TABLE, such as sg-net table3, or --list")
    from syntagma.reproduce import work

    plan = work.plan_entry(paper, table, setting)
    if dry_run:
        for line in work.plan_lines(plan):
            show(line)
        return
    found = work.reproduce(plan, say=note)
    write_json_file(json_file, found.to_dict())
    show(f"\n{found.table()}\n")
    note(f"→ {plan.folder}")


def _compare_systems(
    base: str, systems: list[str], setting: Setting, *, dry_run: bool, json_file: Path | None
) -> None:
    """Train systems on a base, and print their comparison."""
    from syntagma.reproduce import work
    from syntagma.reproduce.plan import in_order

    runs = work.plan_systems(base, systems, setting)
    if dry_run:
        for run in in_order(runs):
            show(work.run_line(run))
        return
    found = work.compare_systems(runs, setting, say=note)
    write_json_file(json_file, found.to_dict() if found else {})
    if found:
        show(f"\n{found.table()}")
    else:
        note(f"→ {runs[0].folder.parent}")


def _sections(incomplete: str) -> list[str]:
    from syntagma.models.guides import GUIDES
    from syntagma.tasks import TASKS

    return choices("experiment", "data", "training", *TASKS, *GUIDES)(incomplete)


@app.command(epilog=examples("syntagma settings", "syntagma settings spans"))
def settings(
    section: Annotated[
        str,
        typer.Argument(
            help="experiment, data, training, a task, or a guide.", autocompletion=_sections
        ),
    ] = "",
    json_file: JsonFile = None,
    imports: Imports = None,
) -> None:
    """List the settings of an experiment.

    Without SECTION, all settings are printed as a Markdown page.
    """
    print_utf8()
    from syntagma.cli.reference import find_section, settings_dict, settings_page

    show("\n".join(find_section(section).lines()) if section else settings_page().rstrip())
    if json_file is not None:
        write_json_file(json_file, settings_dict(section))


@app.command(
    epilog=examples(
        "syntagma sweep experiments/nli_plain.yaml --space training.learning_rate=1e-5..1e-3:log",
        "syntagma sweep experiments/nli_plain.yaml --space preset=none,sg-net --seeds 3",
    )
)
def sweep(
    config: Annotated[
        Path, typer.Argument(help="Experiment file, such as experiments/nli_plain.yaml.")
    ],
    space: Annotated[
        list[str] | None,
        typer.Option(
            help="Values to try: KEY=A..B, KEY=A..B:log (logarithmic), or KEY=A,B,C; repeatable."
        ),
    ] = None,
    trials: Annotated[int, typer.Option(help="Number of trials in total.")] = 20,
    seeds: Annotated[int, typer.Option(help="Runs per trial, which are averaged.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(callback=folder_place, help="Folder to write. Default: runs/sweep_NAME."),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a setting of all trials, KEY=VALUE; repeatable."),
    ] = None,
    metric: Annotated[
        str, typer.Option(help="Metric to maximise. Default: that by which training chooses.")
    ] = "",
    json_file: JsonFile = None,
    imports: Imports = None,
) -> None:
    """Search for good settings.

    Run the same command again to continue an interrupted search.
    """
    print_utf8()
    from syntagma.training.search_space import read_space
    from syntagma.training.sweep import Sweep, run_sweep

    folder = out or Path("runs") / f"sweep_{config.stem}"
    wanted = Sweep(
        config, folder, read_space(space or ()), tuple(overrides or ()), seeds=seeds, metric=metric
    )
    found = run_sweep(wanted, trials, say=note)
    write_json_file(json_file, found.to_dict())
    show(f"\n{found.table()}\n")
    note(f"→ {folder}")


@app.command(
    epilog=examples(
        "syntagma study experiments/studies/when_syntax_helps.yaml --list",
        "syntagma study experiments/studies/when_syntax_helps.yaml squad --plot squad.svg",
    )
)
def study(
    file: Annotated[
        Path,
        typer.Argument(
            help="File of studies, such as experiments/studies/when_syntax_helps.yaml; - for stdin."
        ),
    ],
    names: Annotated[
        list[str] | None, typer.Argument(help="Studies to work on. Default: all, in their order.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            callback=folder_place, help="Folder of the runs. Default: runs/NAME of the file."
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a setting of all runs, KEY=VALUE; repeatable."),
    ] = None,
    listing: Annotated[
        bool, typer.Option("--list", help="List the runs and what is done, without training.")
    ] = False,
    compare_only: Annotated[
        bool, typer.Option("--compare", help="Compare the runs that are finished, and train none.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            callback=check_picture,
            help="Draw the differences, a panel for each study: a .svg, .pdf or .png file.",
        ),
    ] = None,
    json_file: JsonFile = None,
    imports: Imports = None,
) -> None:
    """Train and compare systems and their controls.

    All have the same seeds. Values such as learning rates are chosen on other data first. Run the
    same command again to continue; several processes can share the work.
    """
    print_utf8()
    from syntagma.studies.result import write_plot
    from syntagma.studies.settings import choose_studies, read_studies
    from syntagma.studies.work import StudyRuns, compare_study, run_study

    folder = out or default_folder(file)
    studies = choose_studies(read_studies(file, overrides or ()), names or [])
    if listing:
        if compare_only or plot is not None or json_file is not None:
            raise InputError("--list shows what is done; omit --compare, --plot and --json")
        for each in studies:
            show(f"{each.name}: {each.asks}")
            for line in StudyRuns(each, folder).lines():
                show(line)
        return
    metrics = {each.metric: each.name for each in studies}
    if plot is not None and len(metrics) > 1:
        found_metrics = " and ".join(f"{of or 'another'} ({name})" for of, name in metrics.items())
        raise InputError(
            f"--plot: draws studies that compare one metric, got {found_metrics}; name those of "
            f"one metric after the file"
        )
    results = []
    for each in studies:
        found = (
            compare_study(each, folder) if compare_only
            else run_study(each, folder, say=note)
        )  # fmt: skip
        show(f"\n{found.table()}\n")
        results.append(found)
    write_json_file(json_file, {found.name: found.to_dict() for found in results})
    if plot is not None:
        write_plot(results, plot)
