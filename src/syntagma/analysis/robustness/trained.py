"""Scores over the share of heads or tags that was replaced in training."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from statistics import mean

from syntagma.analysis.robustness.noise import TRAINING, NoiseCurve, check_kind
from syntagma.analysis.robustness.rescoring import (
    Points,
    check_metric,
    level_systems,
    metric_of,
    spread_of,
)
from syntagma.analysis.run_scores import RunScores
from syntagma.analysis.systems import System, read_systems, require_same_numbers
from syntagma.errors import InputError
from syntagma.parse.sources.load import NOISY, read_noise

Line = dict[float, System]
"""Systems that differ only in the share of noise, by share."""


def training_noise_curve(
    folders: Sequence[str | Path], *, kind: str = "heads", metric: str = ""
) -> NoiseCurve:
    """Collect the saved scores of models that were trained with increasing shares of noise.

    The saved scores of a run use the same parser as its training, and so the same share of noise.

    Args:
        folders: finished runs on the same data whose ``parser`` is ``noisy:SHARE:SOURCE`` or
            ``noisy:SHARE,SEED:SOURCE`` (or ``noisy_tags:…``), or a source without noise.  Runs that
            differ only in the share, the seed of the noise and the seed of the training form one
            line; those without guides a flat one.
        kind: what is replaced: ``heads`` or ``tags``.
        metric: metric to show; defaults to the one that comparisons of the task test.

    Raises:
        InputError: runs cannot be used, no model reads what is replaced, a line lacks a share that
            another has, or the numbers of draws of noise differ between shares.
    """
    check_kind(kind)

    def alike(run: RunScores) -> str:
        share, _, source = _noise_of(run, kind)
        return repr((share, source, run.without("parser")))

    systems = read_systems(folders, alike=alike)
    require_same_numbers(systems)
    lines = _lines(systems, kind)
    shares = sorted({share for line in lines.values() for share in line})
    if shares == [0.0]:
        raise InputError(
            f"none of the runs was trained with {kind} replaced; train some with "
            f"--set parser={NOISY[kind]}:SHARE:SOURCE, for example "
            f"{NOISY[kind]}:0.4:default-parser"
        )
    level = level_systems({name: _first(line).runs[0].path for name, line in lines.items()}, kind)
    n_draws = _count_draws(lines, shares, level, kind)
    metric = check_metric(metric, systems, ())
    means: Points = {}
    spreads: Points = {}
    for name, line in lines.items():
        points = [_first(line) if name in level else line[share] for share in shares]
        scores = [[metric_of(run.metrics, metric, run) for run in point.runs] for point in points]
        means[name] = tuple(map(mean, scores))
        spreads[name] = tuple(map(spread_of, scores))
    return NoiseCurve(
        kind, tuple(shares), metric, means, spreads, level,
        n_examples=len(systems[0].runs[0].rows), draws=n_draws, when=TRAINING,
    )  # fmt: skip


def _lines(systems: Sequence[System], kind: str) -> dict[str, Line]:
    """Group systems into lines, each named after its system without noise, if there is one."""
    found: dict[str, Line] = {}
    for system in systems:
        share, _, source = _noise_of(system.runs[0], kind)
        found.setdefault(repr((source, system.runs[0].without("parser"))), {})[share] = system
    return {(line.get(0.0) or _first(line)).name: line for line in found.values()}


def _first(line: Line) -> System:
    return next(iter(line.values()))


def _count_draws(
    lines: Mapping[str, Line], shares: Sequence[float], level: Container[str], kind: str
) -> int:
    """Return the number of draws of noise, which must be the same for all lines and shares.

    Lines in ``level`` do not read what is replaced, so they need not have all shares.

    Raises:
        InputError: a line lacks a share, a run is given twice, or the numbers of draws differ.
    """
    numbers: dict[str, int] = {}
    for name, line in lines.items():
        for share, system in line.items():
            number = _n_draws(system, kind)
            if share and name not in level:
                numbers[f"{system.name} ({share:.0%})"] = number
        missing = [share for share in shares if share not in line]
        if missing and name not in level:
            source = f"{NOISY[kind]}:{missing[0]}:SOURCE" if missing[0] else "SOURCE"
            raise InputError(
                f"{name}: no run was trained with {missing[0]:.0%} of the {kind} replaced; "
                f"train one with --set parser={source}"
            )
    if len({*numbers.values()}) > 1:
        counts = ", ".join(f"{name} {number}" for name, number in numbers.items())
        raise InputError(
            f"expected the same number of draws of noise for each share of the {kind}, got "
            f"{counts}; train more with --set parser={NOISY[kind]}:SHARE,SEED:SOURCE"
        )
    return max(numbers.values())


def _n_draws(system: System, kind: str) -> int:
    """Count the draws of noise that the runs of a system were trained with.

    Raises:
        InputError: two runs have the same seed and the same draw.
    """
    known: dict[tuple[int, int], RunScores] = {}
    for run in system.runs:
        _, draw, _ = _noise_of(run, kind)
        if (first := known.setdefault((run.seed, draw), run)) is not run:
            raise InputError(
                f"{run.path}: has the same seed and noise as {first.path}; give only one of them, "
                f"or train it with other noise, --set parser={NOISY[kind]}:SHARE,SEED:SOURCE"
            )
    return len({draw for _, draw in known})


def _noise_of(run: RunScores, kind: str) -> tuple[float, int, str]:
    """Return share and seed of the noise in a run's training, 0 without, and the clean source."""
    parser = run.experiment.parser
    noise = read_noise(parser)
    if noise is None or noise.what != kind:
        return 0.0, 0, parser
    return noise.share, noise.seed if noise.share else 0, noise.source
