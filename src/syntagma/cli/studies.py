"""Commands on finished runs: compare, noise, report."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from syntagma.cli.app import (
    Device,
    Imports,
    JsonFile,
    app,
    check_picture,
    examples,
    folder_place,
    print_utf8,
    refuse,
    write_json_file,
)
from syntagma.cli.console import note, show
from syntagma.errors import InputError

Runs = Annotated[
    list[Path],
    typer.Argument(help="Run folders that were scored on the same dev files, the baseline first."),
]
Data = Annotated[
    list[str] | None,
    typer.Option(help="Score the models on this file instead of their dev files; repeatable."),
]
Control = Annotated[
    str,
    typer.Option(
        help="System that the others are compared with: its name, or a run. Default: the first."
    ),
]
Cluster = Annotated[
    str,
    typer.Option(
        help="What is resampled: paragraph, article, sentence, document, or example. Default: the "
        "first of these that the data have."
    ),
]
Resamples = Annotated[int, typer.Option(help="Number of resamples for the interval over examples.")]


@app.command(
    epilog=examples(
        "syntagma compare runs/squad_plain runs/squad_sg-net",
        "syntagma compare runs/plain-* runs/sg-net-* --data test.json --json comparison.json",
        "syntagma compare runs/plain-* runs/sg-net-* --control plain --plot intervals.svg",
        "syntagma compare runs/squad_plain runs/squad_sg-net --by question_length --plot by.svg",
    )
)
def compare(
    runs: Runs,
    data: Data = None,
    json_file: JsonFile = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="Also score groups of examples by a property, such as question_length or label; "
            "repeatable."
        ),
    ] = None,
    cut: Annotated[
        str, typer.Option(help="How --by groups numbers: equal size or equal range.")
    ] = "size",
    plot: Annotated[
        Path | None,
        typer.Option(
            callback=check_picture,
            help="Draw the groups, or without --by the intervals: a .svg, .pdf or .png file.",
        ),
    ] = None,
    answer_tags: Annotated[
        bool,
        typer.Option(
            "--answer-tags",
            help="Also count the parts of speech of the first and last words of answers.",
        ),
    ] = False,
    metric: Annotated[
        str,
        typer.Option(help="Metric to test, such as f1 or uas. Default: the metric of the paper."),
    ] = "",
    control: Control = "",
    cluster: Cluster = "",
    resamples: Resamples = 9999,
    device: Device = "cpu",
    imports: Imports = None,
) -> None:
    """Compare runs, with intervals over seeds and examples.

    Runs whose settings differ only in the seed are one system. Runs of two systems with the same
    seed and the same training data are paired; for others there are the tests of the papers. A
    single system can be split into groups, too.
    """
    print_utf8()
    from syntagma.analysis.answer_tags import tags_of_systems
    from syntagma.analysis.breakdown import break_down_by, check_properties, write_breakdowns
    from syntagma.analysis.cluster_bootstrap import RESAMPLES
    from syntagma.analysis.clusters import check_kind
    from syntagma.analysis.compare import check_resamples, compare_systems
    from syntagma.analysis.interval_plot import write_intervals
    from syntagma.analysis.systems import put_first, read_systems

    # A single run has groups and tags, but there is nothing to compare it with.
    alone = len(runs) == 1 and bool(by or answer_tags)
    if plot is not None and not by and len(runs) == 1:
        raise InputError("--plot: a single run has only groups to draw; add --by PROPERTY")
    given = {"--cluster": bool(cluster), "--resamples": resamples != RESAMPLES}
    refuse(given if alone else {}, "is for the intervals of a comparison; omit it, or add a run")
    refuse({"--device": device != "cpu" and not data}, "has an effect only with --data; add that")
    check_kind(cluster)
    check_resamples(resamples)
    by = list(dict.fromkeys(by or ()))
    check_properties(by, cut)
    if cut != "size" and not by:
        raise InputError("--cut divides examples into groups; add --by PROPERTY")
    if data:
        from syntagma.evaluation import score_runs

        runs = score_runs(runs, data, metric=metric, device=device)
    systems = put_first(read_systems(runs, metric=metric), control)
    comparison = None if alone else compare_systems(systems, cluster=cluster, n_resamples=resamples)
    breakdowns = break_down_by(systems, by, cut=cut) if by else []
    values = comparison.to_dict() if comparison else {}
    values["groups"] = [breakdown.to_dict() for breakdown in breakdowns]
    tags = tags_of_systems(systems) if answer_tags else None
    if tags is not None:
        values["answer_tags"] = asdict(tags)
    show("\n\n".join(found.table() for found in [comparison, *breakdowns, tags] if found))
    write_json_file(json_file, values)
    if plot is not None and by:
        write_breakdowns(breakdowns, plot)
    elif plot is not None and comparison is not None:
        write_intervals(comparison, plot)


@app.command(
    epilog=examples(
        "syntagma noise runs/plain runs/sg-net --shares 0,0.2,0.4 --plot noise.svg",
        "syntagma noise runs/plain runs/sg-net --source own --source random --source linear",
        "syntagma noise runs/noisy-0.2 runs/noisy-0.4 --trained",
    )
)
def noise(
    runs: Runs,
    data: Data = None,
    kind: Annotated[str, typer.Option(help="What to replace: heads or tags.")] = "heads",
    shares: Annotated[
        str,
        typer.Option(help="Shares to replace, such as 0,0.2,0.5. Default: those of the paper."),
    ] = "",
    draws: Annotated[int, typer.Option(help="Average over this many draws of noise.")] = 1,
    trained: Annotated[
        bool,
        typer.Option(
            "--trained",
            help="Show the dev scores of runs that were trained on noise, on the same noise.",
        ),
    ] = False,
    sources: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            help="Compare parse sources instead, such as own, random, or linear; repeatable.",
        ),
    ] = None,
    metric: Annotated[
        str, typer.Option(help="Metric to show. Default: the one that compare tests.")
    ] = "",
    cluster: Cluster = "",
    json_file: JsonFile = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            callback=check_picture,
            help="Draw curves (with --source, intervals): a .svg, .pdf or .png file.",
        ),
    ] = None,
    device: Device = "cpu",
    imports: Imports = None,
) -> None:
    """Score models with random noise in their parses.

    A share of the heads or tags is replaced at random. With --source, the models read the parses of
    other sources instead.
    """
    print_utf8()
    from syntagma.analysis.robustness import (
        noise_curve,
        parser_table,
        training_noise_curve,
        write_noise_curves,
        write_parser_table,
    )

    if sources and (trained or shares or draws != 1 or kind != "heads"):
        raise InputError(
            "--source replaces all parses; omit --kind, --trained, --shares and --draws"
        )
    if trained and (data or shares or draws != 1 or device != "cpu"):
        raise InputError(
            "--trained shows scores from training; omit --data, --shares, --draws and --device"
        )
    try:
        asked = [float(share) for share in shares.split(",") if share]
    except ValueError as error:
        raise InputError(f"--shares: expected numbers such as 0,0.2,0.5, got {shares!r}") from error
    if cluster and not sources:
        raise InputError("--cluster is for the intervals of --source; omit it")
    if sources:
        found = parser_table(
            runs, sources, data or (), metric=metric, cluster=cluster, device=device
        )
        show(found.table())
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
    show(curve.table())
    write_json_file(json_file, asdict(curve))
    if plot is not None:
        write_noise_curves([curve], plot)


@app.command(
    epilog=examples(
        "syntagma report runs/squad_plain runs/squad_sg-net --out report",
        "syntagma report runs/plain-* runs/sg-net-* --out report --noise heads --source random",
        "syntagma report runs/plain-* runs/copy-* runs/sg-net-* --control copy --out report",
    )
)
def report(
    runs: Runs,
    out: Annotated[
        Path,
        typer.Option(callback=folder_place, help="Folder to write; must be new or empty."),
    ],
    data: Data = None,
    cases: Annotated[
        int, typer.Option(help="Number of examples to show on which the runs differ.")
    ] = 12,
    pictures: Annotated[
        int,
        typer.Option(help="Number of these examples with pictures of attention; 0 loads no model."),
    ] = 3,
    noise: Annotated[
        list[str] | None,
        typer.Option(help="Also score with noise in heads or in tags; repeatable."),
    ] = None,
    sources: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            help="Also score with a parse source, such as own, random, or linear; repeatable.",
        ),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(help="Metric to test and show, such as f1. Default: the metric of the paper."),
    ] = "",
    control: Control = "",
    device: Device = "cpu",
    imports: Imports = None,
) -> None:
    """Write a page about one run, or comparing several runs.

    All systems are compared with the first one, or with --control.
    """
    from syntagma.report.write import write_report

    write_report(
        runs,
        out,
        data=data or (),
        n_cases=cases,
        n_pictures=pictures,
        noise=noise or (),
        sources=sources or (),
        metric=metric,
        control=control,
        device=device,
    )
    note(f"→ {out / 'index.html'}")
