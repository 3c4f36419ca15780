"""Scores over the share of heads or tags that was replaced when models were trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from syntagma.errors import InputError
from syntagma.parse.load import NOISY, read_noise
from syntagma.report.runs import RunScores, System, read_systems
from syntagma.robustness.noise import TRAINING, NoiseCurve, check_kind
from syntagma.robustness.points import COLUMNS, Points, metric_of, model_reads, spread_of

__all__ = ["training_noise_curve"]


@dataclass(frozen=True, slots=True)
class _Line:
    """Systems that differ in the share of noise alone.

    Args:
        name: of the one without noise, where there is one.
        systems: by share; of several seeds and draws of noise each.
        level: whether the models do not read what is replaced.
    """

    name: str
    systems: dict[float, System]
    level: bool

    def at(self, share: float) -> System:
        """What was trained with a share of noise."""
        return next(iter(self.systems.values())) if self.level else self.systems[share]


def training_noise_curve(
    folders: Sequence[str | Path], *, kind: str = "heads", metric: str = ""
) -> NoiseCurve:
    """The scores of models that were trained on more and more noise, as their runs tell them.

    A run's own scores stand on parses of its own parser: on the same noise as its training.

    Args:
        folders: finished runs over the same data whose ``parser`` is ``noisy:SHARE:SOURCE``,
            ``noisy:SHARE,SEED:SOURCE`` (or ``noisy_tags:…``), or one without noise; those that
            differ in nothing but the share, the draw of the noise and the seed of the training are
            one line, those without guides a level one.
        kind: ``heads`` or ``tags``.
        metric: to show; the one that comparisons of the task test, if not given.

    Raises:
        InputError: runs cannot be used, or a line has no run with a share that another has, or not
            equally many draws of noise with each share.
    """
    check_kind(kind)

    def alike(run: RunScores) -> str:
        share, _, source = _noise_of(run, kind)
        return repr((share, source, run.without("parser")))

    systems = read_systems(folders, alike=alike)
    lines = _lines(systems, kind)
    shares = sorted({share for line in lines for share in line.systems})
    if shares == [0.0]:
        raise InputError(
            f"none of the runs was trained with {kind} replaced; train some with "
            f"--set parser={NOISY[kind]}:SHARE:SOURCE, such as {NOISY[kind]}:0.4:default-parser"
        )
    n_draws = _check_lines(lines, shares, kind)
    metric = metric or systems[0].plan.metric
    means: Points = {}
    spreads: Points = {}
    for line in lines:
        scores = [
            [metric_of(run.metrics, metric, run) for run in line.at(share).runs] for share in shares
        ]
        means[line.name] = tuple(map(mean, scores))
        spreads[line.name] = tuple(map(spread_of, scores))
    n_examples = len(systems[0].runs[0].rows)
    return NoiseCurve(kind, tuple(shares), metric, means, spreads, n_examples, n_draws, TRAINING)


def _lines(systems: Sequence[System], kind: str) -> list[_Line]:
    found: dict[str, dict[float, System]] = {}
    for system in systems:
        share, _, source = _noise_of(system.runs[0], kind)
        found.setdefault(repr((source, system.runs[0].without("parser"))), {})[share] = system
    lines = []
    for line in found.values():
        first = next(iter(line.values()))
        level = not model_reads(first.runs[0].path, COLUMNS[kind])
        lines.append(_Line(line.get(0.0, first).name, line, level))
    return lines


def _check_lines(lines: Sequence[_Line], shares: Sequence[float], kind: str) -> int:
    """Check that all lines have the same points.

    Returns:
        How many draws of noise there are with each share.

    Raises:
        InputError: a share is missing, a run is there twice, or draws are.
    """
    numbers: dict[str, int] = {}
    for line in lines:
        for share, system in line.systems.items():
            number = _n_draws(system, kind)
            if share and not line.level:
                numbers[f"{system.name} ({share:.0%})"] = number
        missing = [share for share in shares if share not in line.systems]
        if missing and not line.level:
            raise InputError(
                f"{line.name}: no run was trained with {missing[0]:.0%} of the {kind} replaced; "
                f"train it with --set parser={NOISY[kind]}:{missing[0]}:SOURCE"
            )
    if len({*numbers.values()}) > 1:
        told = ", ".join(f"{name} {number}" for name, number in numbers.items())
        raise InputError(
            f"expected equally many draws of noise with each share of the {kind}, got {told}; "
            f"train more with --set parser={NOISY[kind]}:SHARE,SEED:SOURCE"
        )
    return max(numbers.values(), default=1)


def _n_draws(system: System, kind: str) -> int:
    """How many draws of noise the runs of a system were trained on.

    Raises:
        InputError: two have the same seed and the same draw, however it is written.
    """
    known: dict[tuple[int, int], RunScores] = {}
    for run in system.runs:
        _, draw, _ = _noise_of(run, kind)
        if (first := known.setdefault((run.seed, draw), run)) is not run:
            raise InputError(
                f"{run.path}: has the seed and the noise of {first.path}; name one of them, or "
                f"train it on another draw, --set parser={NOISY[kind]}:SHARE,SEED:SOURCE"
            )
    return len({draw for _, draw in known})


def _noise_of(run: RunScores, kind: str) -> tuple[float, int, str]:
    """Share and seed of the noise that a run was trained on, 0 for none, and the source behind."""
    parser = str(run.settings.get("parser", ""))
    noise = read_noise(parser)
    if noise is None or noise.what != kind:
        return 0.0, 0, parser
    return noise.share, noise.seed if noise.share else 0, noise.source
