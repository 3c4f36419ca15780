"""Report sections that score models again with noisy parses or with other parse sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from syntagma.analysis.robustness import (
    OWN,
    NoiseCurve,
    ParserTable,
    noise_curve,
    parser_table,
    training_noise_curve,
    write_noise_curves,
    write_parser_table,
)
from syntagma.analysis.systems import System
from syntagma.drawing.svg import escape
from syntagma.drawing.tables import html_table
from syntagma.errors import InputError
from syntagma.parse.sources.load import read_noise
from syntagma.report.report_page import Section, plot, plots
from syntagma.report.report_sections import SectionResult


def noise_section(systems: Sequence[System], kind: str, out: Path, *, device: str) -> SectionResult:
    """Plot scores over the share of heads or tags replaced.

    Args:
        systems: the systems.
        kind: ``heads`` or ``tags``.
        out: folder to write the plot to.
        device: device to run the models on.
    """
    metric = systems[0].compared.metric
    return _curve_section(
        f"Noise: {kind} replaced",
        partial(noise_curve, _folders(systems), kind=kind, metric=metric, device=device),
        f"The models are scored again with the given share of {kind} replaced at random",
        out / f"noise_{kind}.svg",
    )


def training_noise_sections(systems: Sequence[System], out: Path) -> list[SectionResult]:
    """Plot the scores of runs over the share of noise that they were trained with, if any.

    Args:
        systems: the systems.
        out: folder to write plots to.
    """
    metric = systems[0].compared.metric
    parsers = {run.experiment.parser for system in systems for run in system.runs}
    kinds = {noise.what for parser in parsers if (noise := read_noise(parser))}
    return [
        _curve_section(
            f"Noise in training: {kind} replaced",
            partial(training_noise_curve, _folders(systems), kind=kind, metric=metric),
            f"Scores of models trained and evaluated with the given share of {kind} replaced at "
            "random",
            out / f"training_noise_{kind}.svg",
        )
        for kind in sorted(kinds)
    ]


def _curve_section(
    name: str, make: Callable[[], NoiseCurve], hint: str, path: Path
) -> SectionResult:
    """Build the section of a noise curve.

    Args:
        name: heading of the section.
        make: computes the curve.
        hint: description of the measurement, without a full stop.
        path: path of the plot.
    """
    try:
        curve = make()
    # A section that cannot be computed (missing models, data or extras) must not fail the report.
    except InputError as error:
        return SectionResult(Section(name, ""), {}, [f"{name}: {error}"])
    return _plot_section(name, hint, curve, path, lambda: write_noise_curves([curve], path))


def sources_section(
    systems: Sequence[System], sources: Sequence[str], out: Path, *, device: str
) -> SectionResult:
    """Compare scores with the parses of several sources.

    Args:
        systems: the systems.
        sources: names of the parse sources; without any, the section is empty.
        out: folder to write the plot to.
        device: device to run the models on.
    """
    name = "Sources of parses"
    if not sources:
        return SectionResult(Section(name, ""), {}, [])
    try:
        metric = systems[0].compared.metric
        found = parser_table(_folders(systems), sources, metric=metric, device=device)
    except InputError as error:
        return SectionResult(Section(name, ""), {}, [f"{name}: {error}"])
    path = out / "sources.svg"
    return _plot_section(
        name,
        f"The models are scored again with the parses of each source; {OWN} denotes the source "
        "that a model was trained with",
        found,
        path,
        lambda: write_parser_table(found, path),
    )


def _folders(systems: Sequence[System]) -> list[Path]:
    return [folder for system in systems for folder in system.folders]


def _plot_section(
    name: str, hint: str, found: NoiseCurve | ParserTable, path: Path, draw: Callable[[], None]
) -> SectionResult:
    """Build a section with a plot, its table, and a description.

    A plot that cannot be drawn is reported as a notice; the table is shown all the same.

    Args:
        name: heading of the section.
        hint: description of the measurement, without a full stop.
        found: the values.
        path: path of the plot.
        draw: writes the plot.
    """
    body, notices = html_table(found.rows()), []
    try:
        draw()
        body = plots([plot(path, f"{found.score}: {name.lower()}")]) + body
    except InputError as error:
        notices.append(f"plots: {error}")
    hint = f'<p class="hint">{escape(f"{hint} ({found.summary()}).")}</p>'
    return SectionResult(Section(name, hint + body), asdict(found), notices)
