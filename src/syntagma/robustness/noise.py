"""Scores over the share of heads or tags that is replaced, at evaluation or in training."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from syntagma.errors import InputError
from syntagma.report.runs import RunScores, System, read_systems
from syntagma.report.tables import aligned, markdown
from syntagma.robustness.points import (
    COLUMNS,
    metric_of,
    model_reads,
    rows_of,
    score_all,
    spread_of,
)

__all__ = ["SHARES", "NoiseCurve", "noise_curve", "training_noise_curve"]

SHARES = {"heads": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), "tags": (0.0, 0.05, 0.1, 0.2)}
"""Of the papers, by what is replaced."""

SOURCES = {"heads": "noisy", "tags": "noisy_tags"}
NOISY = re.compile(r"(noisy|noisy_tags):([0-9.]+)(?:,[0-9]+)?:(.+)")


@dataclass(frozen=True, slots=True)
class NoiseCurve:
    """Scores of systems by the share of their syntax that is noise.

    Args:
        kind: what is replaced: ``heads`` or ``tags``.
        shares: how many, 0 to 1, ``[n_shares]``.
        score: what is shown, in per cent.
        systems: by name the scores, means over seeds and draws of noise, ``[n_shares]``.
        deviations: by name the standard deviations over seeds and draws, ``[n_shares]``; 0 for a
            single one.
        n_examples: that are scored.
        draws: how often noise was drawn for each share and seed.
        when: ``evaluation`` or ``training``.
    """

    kind: str
    shares: tuple[float, ...]
    score: str
    systems: dict[str, tuple[float, ...]]
    deviations: dict[str, tuple[float, ...]]
    n_examples: int
    draws: int
    when: str

    def rows(self) -> list[list[str]]:
        """The cells of a table, its head first."""
        head = [self.score, *(f"{share:.0%}" for share in self.shares)]
        return [head, *rows_of(self.systems, self.deviations)]

    def summary(self) -> str:
        """What was done, in a line."""
        drawn = f", drawn {self.draws} times" if self.draws > 1 else ""
        return f"{self.kind} replaced in {self.when}{drawn}, n = {self.n_examples:,}"

    def table(self) -> str:
        """A table for a terminal."""
        return f"{aligned(self.rows())}\n{self.summary()}"

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
        data: files to score on; the dev examples of the runs if not given.
        kind: ``heads`` or ``tags``.
        shares: of the words, each 0 to 1; those of the papers if not given.
        draws: how often noise is drawn anew for each share.
        metric: to show; the one that comparisons of the task test, if not given.
        device: where to compute.

    Raises:
        InputError: runs or data cannot be used, or there is no such kind or metric.
    """
    _check_kind(kind)
    if draws < 1:
        raise InputError(f"noise must be drawn at least once, got {draws}")
    systems = read_systems(folders)
    metric = metric or systems[0].plan.metric
    shares = tuple(shares) or SHARES[kind]

    def parsers(own: str) -> list[list[str]]:
        # Without noise all draws are the same.
        return [
            [f"{SOURCES[kind]}:{share},{draw}:{own}" for draw in range(draws)] if share else [""]
            for share in shares
        ]

    columns = COLUMNS[kind]
    means, spreads, n_examples = score_all(systems, data, parsers, columns, metric, device)
    return NoiseCurve(kind, shares, metric, means, spreads, n_examples, draws, "evaluation")


def training_noise_curve(
    folders: Sequence[str | Path], *, kind: str = "heads", metric: str = ""
) -> NoiseCurve:
    """The scores of models that were trained on more and more noise, as their runs tell them.

    Args:
        folders: finished runs over the same data whose ``parser`` is ``noisy:SHARE:SOURCE`` (or
            ``noisy_tags:…``), or one without noise; those that differ in nothing but seed and share
            are one line, those without guides a level one.
        kind: ``heads`` or ``tags``.
        metric: to show; the one that comparisons of the task test, if not given.

    Raises:
        InputError: runs cannot be used, or a line has no run with a share that another has.
    """
    _check_kind(kind)
    lines: dict[str, dict[float, System]] = {}
    names: dict[str, str] = {}
    systems = read_systems(folders)
    for system in systems:
        share, rest = _training_share(system.runs[0], kind)
        key = repr((rest, system.runs[0].without("parser")))
        names.setdefault(key, system.name)
        if not share:
            names[key] = system.name
        lines.setdefault(key, {})[share] = system
    shares = sorted({share for line in lines.values() for share in line})
    if shares == [0.0]:
        raise InputError(
            f"none of the runs was trained with {kind} replaced; train some with "
            f"--set parser={SOURCES[kind]}:SHARE:SOURCE, such as {SOURCES[kind]}:0.4:default-parser"
        )
    metric = metric or systems[0].plan.metric
    means, spreads = {}, {}
    for key, line in lines.items():
        level = not model_reads(next(iter(line.values())).runs[0].path, COLUMNS[kind])
        if not level and (missing := [share for share in shares if share not in line]):
            raise InputError(
                f"{names[key]}: no run was trained with {missing[0]:.0%} of the {kind} replaced; "
                f"train it with --set parser={SOURCES[kind]}:{missing[0]}:SOURCE"
            )
        points = [line[share] if not level else next(iter(line.values())) for share in shares]
        scores = [[metric_of(run.metrics, metric, run) for run in point.runs] for point in points]
        means[names[key]] = tuple(map(mean, scores))
        spreads[names[key]] = tuple(map(spread_of, scores))
    n_examples = len(systems[0].runs[0].rows)
    return NoiseCurve(kind, tuple(shares), metric, means, spreads, n_examples, 1, "training")


def _check_kind(kind: str) -> None:
    if kind not in SOURCES:
        raise InputError(f"noise is put on {' or '.join(SOURCES)}, got {kind!r}")


def _training_share(run: RunScores, kind: str) -> tuple[float, str]:
    """How much of the syntax that a run was trained on is noise, and the parser behind it."""
    parser = str(run.settings.get("parser", ""))
    found = NOISY.fullmatch(parser)
    if found is None or found[1] != SOURCES[kind]:
        return 0.0, parser
    return float(found[2]), found[3]
