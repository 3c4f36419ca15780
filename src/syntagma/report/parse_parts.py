"""The parts of a report that score models again: with noise in their parses, with other ones."""

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
from syntagma.report.report_page import Part, plot, plots
from syntagma.report.report_parts import Made

__all__ = ["noise_part", "sources_part", "training_noise_parts"]


def noise_part(systems: Sequence[System], kind: str, out: Path, *, device: str) -> Made:
    """Scores over the share of heads or tags replaced.

    Args:
        systems: the runs.
        kind: ``heads`` or ``tags``.
        out: the folder to write the plot to.
        device: where to compute.
    """
    metric = systems[0].compared.metric
    return _curve_part(
        f"Noise: {kind} replaced",
        partial(noise_curve, _folders(systems), kind=kind, metric=metric, device=device),
        "The models are scored again while that share of what the parser gives is replaced at "
        "random",
        out / f"noise_{kind}.svg",
    )


def training_noise_parts(systems: Sequence[System], out: Path) -> list[Made]:
    """Scores of runs over the share of noise that they were trained on, where there are such.

    Args:
        systems: the runs.
        out: the folder to write plots to.
    """
    metric = systems[0].compared.metric
    parsers = {run.experiment.parser for system in systems for run in system.runs}
    kinds = {noise.what for parser in parsers if (noise := read_noise(parser))}
    return [
        _curve_part(
            f"Noise in training: {kind} replaced",
            partial(training_noise_curve, _folders(systems), kind=kind, metric=metric),
            "The scores of models that were trained, and are scored, with that share of what the "
            "parser gives replaced at random",
            out / f"training_noise_{kind}.svg",
        )
        for kind in sorted(kinds)
    ]


def _curve_part(name: str, make: Callable[[], NoiseCurve], hint: str, path: Path) -> Made:
    """A curve over the share of noise, with its table.

    Args:
        name: of the part.
        make: the curve.
        hint: what was done, without a full stop.
        path: of the picture.
    """
    try:
        curve = make()
    except InputError as error:
        return Made(Part(name, ""), {}, [f"{name}: {error}"])
    return _drawn(name, hint, curve, path, lambda: write_noise_curves([curve], path))


def sources_part(
    systems: Sequence[System], sources: Sequence[str], out: Path, *, device: str
) -> Made:
    """Scores with parses of several sources, side by side.

    Args:
        systems: the runs.
        sources: their names; none, no part.
        out: the folder to write the plot to.
        device: where to compute.
    """
    name = "Sources of parses"
    if not sources:
        return Made(Part(name, ""), {}, [])
    try:
        metric = systems[0].compared.metric
        found = parser_table(_folders(systems), sources, metric=metric, device=device)
    except InputError as error:
        return Made(Part(name, ""), {}, [f"{name}: {error}"])
    path = out / "sources.svg"
    return _drawn(
        name,
        f"The models, scored again with the parses of each source; {OWN} are those that a model "
        "was trained with",
        found,
        path,
        lambda: write_parser_table(found, path),
    )


def _folders(systems: Sequence[System]) -> list[Path]:
    return [folder for system in systems for folder in system.folders]


def _drawn(
    name: str, hint: str, found: NoiseCurve | ParserTable, path: Path, draw: Callable[[], None]
) -> Made:
    """A part with a picture, its table, and what was done in words.

    Args:
        name: of the part.
        hint: what was done, without a full stop.
        found: the values.
        path: of the picture.
        draw: draws it.
    """
    body, notices = html_table(found.rows()), []
    try:
        draw()
        body = plots([plot(path, f"{found.score}: {name.lower()}")]) + body
    except InputError as error:
        notices.append(f"plots: {error}")
    hint = f'<p class="hint">{escape(f"{hint} ({found.summary()}).")}</p>'
    return Made(Part(name, hint + body), asdict(found), notices)
