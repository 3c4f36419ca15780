"""The parts of a report that score models again: with noise in their parses, with other ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from syntagma.errors import InputError
from syntagma.report.report_page import Part, plot, plots
from syntagma.report.report_parts import Made
from syntagma.report.runs import System
from syntagma.report.tables import html_table
from syntagma.robustness import (
    OWN,
    SOURCES,
    NoiseCurve,
    noise_curve,
    parser_table,
    training_noise_curve,
    write_noise_curves,
)

__all__ = ["noise_part", "sources_part", "training_noise_parts"]

Paths = Sequence[str | Path]


def noise_part(
    folders: Paths, systems: Sequence[System], kind: str, out: Path, *, device: str
) -> Made:
    """Scores over the share of heads or tags replaced.

    Args:
        folders: of the runs.
        systems: the same as systems.
        kind: ``heads`` or ``tags``.
        out: the folder to write the plot to.
        device: where to compute.
    """
    metric = systems[0].plan.metric
    return _curve_part(
        f"Noise: {kind} replaced",
        partial(noise_curve, folders, kind=kind, metric=metric, device=device),
        "The models are scored again while that share of what the parser gives is replaced at "
        "random; a model that does not read it stays as it is.",
        out / f"noise_{kind}.svg",
    )


def training_noise_parts(folders: Paths, systems: Sequence[System], out: Path) -> list[Made]:
    """Scores of runs over the share of noise that they were trained on, where there are such.

    Args:
        folders: of the runs.
        systems: the same as systems.
        out: the folder to write plots to.
    """
    metric = systems[0].plan.metric
    parsers = {str(run.settings.get("parser")) for system in systems for run in system.runs}
    return [
        _curve_part(
            f"Noise in training: {kind} replaced",
            partial(training_noise_curve, folders, kind=kind, metric=metric),
            "The scores of models that were trained, and are scored, with that share of what the "
            "parser gives replaced at random.",
            out / f"training_noise_{kind}.svg",
        )
        for kind, source in SOURCES.items()
        if any(parser.startswith(f"{source}:") for parser in parsers)
    ]


def _curve_part(name: str, make: Callable[[], NoiseCurve], hint: str, path: Path) -> Made:
    """A curve over the share of noise, with its table.

    Args:
        name: of the part.
        make: the curve.
        hint: what was done.
        path: of the picture.
    """
    try:
        curve = make()
    except InputError as error:
        return Made(Part(name, ""), {}, [f"{name}: {error}"])
    body, notices = html_table(curve.rows()), []
    try:
        write_noise_curves([curve], path)
        title = f"{curve.score} over the share of {curve.kind} replaced in {curve.when}"
        body = plots([plot(path, title)]) + body
    except InputError as error:
        notices.append(f"plots: {error}")
    return Made(Part(name, f'<p class="hint">{hint}</p>{body}'), asdict(curve), notices)


def sources_part(
    folders: Paths, systems: Sequence[System], sources: Sequence[str], *, device: str
) -> Made:
    """Scores with parses of several sources, side by side.

    Args:
        folders: of the runs.
        systems: the same as systems.
        sources: their names; none, no part.
        device: where to compute.
    """
    name = "Sources of parses"
    if not sources:
        return Made(Part(name, ""), {}, [])
    try:
        found = parser_table(folders, sources, metric=systems[0].plan.metric, device=device)
    except InputError as error:
        return Made(Part(name, ""), {}, [f"{name}: {error}"])
    hint = (
        f'<p class="hint">{found.score} of the models, scored again with the parses of each '
        f"source; <code>{OWN}</code> are those that a model was trained with.</p>"
    )
    return Made(Part(name, hint + html_table(found.rows())), asdict(found), [])
