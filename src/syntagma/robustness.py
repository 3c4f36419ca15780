"""What worse parses do to models that read them: scores over the share of heads or tags replaced.

SG-Net (journal version) section 7.6 replaces 0 to 100 % of the heads, POI-Net Table 6 some of the
tags.  A model that does not read them is a level line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from syntagma.encoders.model import read_config
from syntagma.errors import InputError
from syntagma.evaluation import evaluate, open_model
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.report.plotting import MARKERS, panels, style_of
from syntagma.report.runs import RunScores, read_systems
from syntagma.report.tables import aligned, markdown

__all__ = ["SHARES", "NoiseCurve", "noise_curve", "write_noise_curves"]

SHARES = {"heads": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), "tags": (0.0, 0.05, 0.1, 0.2)}
"""Of the papers, by what is replaced."""

SOURCES = {"heads": "noisy", "tags": "noisy_tags"}
COLUMNS = {"heads": {"enter", "exit", "depth"}, "tags": {"tag"}}
"""What of the syntax that a model reads comes from them."""


@dataclass(frozen=True, slots=True)
class NoiseCurve:
    """Scores of systems by the share of their syntax that is noise.

    Args:
        kind: what is replaced: ``heads`` or ``tags``.
        shares: how many, 0 to 1, ``[n_shares]``.
        score: what is shown, in per cent.
        systems: by name the scores, means over seeds and draws of noise, ``[n_shares]``.
    """

    kind: str
    shares: tuple[float, ...]
    score: str
    systems: dict[str, tuple[float, ...]]

    def rows(self) -> list[list[str]]:
        """The cells of a table, its head first."""
        head = [self.score, *(f"{share:.0%}" for share in self.shares)]
        body = (
            [name, *(f"{score:.2f}" for score in scores)] for name, scores in self.systems.items()
        )
        return [head, *body]

    def table(self) -> str:
        """A table for a terminal."""
        return aligned(self.rows())

    def markdown(self) -> str:
        """The table in Markdown."""
        return markdown(self.rows())


def noise_curve(
    folders: Sequence[str | Path],
    data: Sequence[str | Path] = (),
    *,
    kind: str = "heads",
    shares: Sequence[float] = (),
    draws: int = 1,
    metric: str = "",
    device: str = "cpu",
) -> NoiseCurve:
    """Score models again while more and more of the syntax that they read is replaced at random.

    Args:
        folders: finished runs over the same data; those that differ in the seed alone are one
            system.
        data: files to score on; the dev files of the runs if not given.
        kind: ``heads`` or ``tags``.
        shares: of the words, each 0 to 1; those of the papers if not given.
        draws: how often noise is drawn anew for each share.
        metric: to show; the one that comparisons of the task test, if not given.
        device: where to compute.

    Raises:
        InputError: runs or data cannot be used, or there is no such kind or metric.
    """
    if kind not in SOURCES:
        raise InputError(f"noise is put on {' or '.join(SOURCES)}, got {kind!r}")
    if draws < 1:
        raise InputError(f"noise must be drawn at least once, got {draws}")
    systems = read_systems(folders)
    metric = metric or systems[0].plan.metric
    shares = tuple(shares) or SHARES[kind]
    curves = {}
    for system in systems:
        scores = [
            _scores(run, data or run.settings["data"]["dev"], kind, shares, draws, metric, device)
            for run in system.runs
        ]
        curves[system.name] = tuple(map(mean, zip(*scores, strict=True)))
    return NoiseCurve(kind, tuple(shares), metric, curves)


def _scores(
    run: RunScores,
    data: Sequence[str | Path],
    kind: str,
    shares: Sequence[float],
    draws: int,
    metric: str,
    device: str,
) -> list[float]:
    """The score of a run at each share."""

    def score(parser: str = "") -> float:
        metrics = evaluate(run.path, data, parser=parser, device=device)
        if metric not in metrics:
            raise InputError(f"{run.path}: has no metric {metric!r}; it has {', '.join(metrics)}")
        return metrics[metric]

    if not _reads(run.path, kind):
        return [score()] * len(shares)
    source = read_config(run.path).parser
    found = []
    for share in shares:
        # Without noise all draws are the same.
        names = [f"{SOURCES[kind]}:{share},{draw}:{source}" for draw in range(draws)]
        found.append(mean(map(score, names)) if share else score())
    return found


def _reads(folder: Path, kind: str) -> bool:
    """Whether a model reads what is replaced."""
    model = open_model(folder).model
    return isinstance(model, GuidedEncoder) and not COLUMNS[kind].isdisjoint(model.syntax_columns)


def write_noise_curves(curves: Sequence[NoiseCurve], out: str | Path) -> None:
    """Draw curves, a panel each.

    Args:
        curves: of the same systems.
        out: the picture; its ending says which kind.

    Raises:
        InputError: the picture cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    with panels(len(curves), out, width=4.2, height=3.0) as axes:
        for axis, curve in zip(axes, curves, strict=True):
            per_cent = [100 * share for share in curve.shares]
            for number, (name, scores) in enumerate(curve.systems.items()):
                style = style_of(number) | {"marker": MARKERS[number % len(MARKERS)]}
                axis.plot(per_cent, scores, label=name, markersize=4, **style)
            axis.set_xlabel(f"{curve.kind} replaced, %")
            axis.set_ylabel(f"{curve.score}, %")
