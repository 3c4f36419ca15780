"""Write the report of one or several runs: a page, its plots, and all values as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import syntagma
from syntagma.analysis.robustness import check_kind, check_sources
from syntagma.analysis.systems import put_first, read_systems
from syntagma.encoders.default import DEFAULT_PARSER
from syntagma.errors import InputError, MissingExtraError
from syntagma.evaluation import score_runs
from syntagma.outputs import require_absent, write_folder, write_json, write_text
from syntagma.report.case_section import cases_section
from syntagma.report.parse_sections import noise_section, sources_section, training_noise_sections
from syntagma.report.report_commands import commands_section
from syntagma.report.report_page import report_page
from syntagma.report.report_sections import (
    groups_section,
    models_section,
    results_section,
    tags_section,
    training_section,
)


def write_report(
    folders: Sequence[str | Path],
    out: str | Path,
    *,
    data: Sequence[str] = (),
    n_cases: int = 12,
    n_pictures: int = 3,
    noise: Sequence[str] = (),
    sources: Sequence[str] = (),
    metric: str = "",
    control: str = "",
    device: str = "cpu",
) -> None:
    """Write a report on runs.

    Args:
        folders: run folders with the same dev data.  Runs that differ only in their seed form one
            system.
        out: folder to write ``index.html``, the plots and ``report.json`` with all values to.
        data: files to evaluate on; defaults to the saved scores on the dev files.
        n_cases: number of examples to show.
        n_pictures: number of these to show with attention; with 0, no model is loaded for them.
        noise: ``heads``, ``tags`` or both: score the models again with a share of them replaced.
        sources: names of parse sources with which to score the models again.
        metric: metric to test and to show; defaults to that of the task's paper.
        control: name of the system that the others are compared with; defaults to the first one.
        device: device to run the models on.

    Raises:
        InputError: a folder is not a finished run, the runs cannot be compared, ``out`` exists, or
            a kind of noise or a parse source is unknown.
    """
    if n_cases < 0 or n_pictures < 0:
        raise InputError(f"expected counts from 0, got --cases {n_cases} --pictures {n_pictures}")
    require_absent(out)
    noise, sources = tuple(dict.fromkeys(noise)), tuple(dict.fromkeys(sources))
    # Check all arguments before any model is scored.
    for kind in noise:
        check_kind(kind)
    for source in sources:
        with suppress(MissingExtraError):  # Reported on the page, not an error.
            check_sources([source])
    if data:
        folders = score_runs(folders, data, metric=metric, device=device)
    systems = put_first(read_systems(folders, metric=metric), control)
    # No --control: the folders are given in the order of the systems, the control first.
    options = {
        "--data": data,
        "--cases": [str(n_cases)],
        "--pictures": [str(n_pictures)],
        "--noise": noise,
        "--source": sources,
        "--metric": [metric] if metric else [],
    }
    with write_folder(out) as draft:
        made = [
            results_section(systems, draft),
            groups_section(systems, draft, parser=DEFAULT_PARSER),
            tags_section(systems, parser=DEFAULT_PARSER),
            *(noise_section(systems, kind, draft, device=device) for kind in noise),
            *training_noise_sections(systems, draft),
            sources_section(systems, sources, draft, device=device),
            training_section(systems, draft),
            models_section(systems),
            cases_section(systems, n_cases, n_pictures, device=device),
        ]
        commands, lacking = commands_section(systems, draft, out, options=_as_words(options))
        names = ", ".join(system.name for system in systems)
        first = systems[0].runs[0]
        n_runs = sum(len(system.runs) for system in systems)
        page = report_page(
            title=f"Report: {names}",
            summary=f"Task {first.task}, {n_runs} run{'s' * (n_runs != 1)}, "
            f"{len(first.rows):,} examples ({', '.join(first.data)})",
            sections=[
                *(each.section for each in made),
                commands,
            ],
            notices=[*(notice for each in made for notice in each.notices), *lacking],
            note=f"Written by Syntagma {syntagma.__version__}.",
        )
        write_text(draft / "index.html", page)
        values = {each.section.anchor: each.values for each in made}
        write_json(draft / "report.json", values)


def _as_words(options: dict[str, Sequence[str]]) -> list[str]:
    """Return the words of a command line: each option's name before each of its values."""
    return [word for name, values in options.items() for value in values for word in (name, value)]
