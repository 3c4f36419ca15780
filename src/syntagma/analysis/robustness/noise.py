"""Scores over the share of heads or tags that is replaced when models are scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from syntagma.analysis.robustness.rescoring import (
    check_metric,
    level_note,
    level_systems,
    rows_of,
    score_all,
)
from syntagma.analysis.systems import read_systems
from syntagma.drawing.tables import aligned
from syntagma.errors import InputError
from syntagma.parse.sources.load import NOISY, without_noise

__all__ = ["SHARES", "TRAINING", "NoiseCurve", "check_kind", "noise_curve"]

SHARES = {"heads": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), "tags": (0.0, 0.05, 0.1, 0.2)}
"""Of the papers, by what is replaced."""

EVALUATION, TRAINING = "evaluation", "training and evaluation"


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
        level: names of the systems that do not read what is replaced.
        n_examples: that are scored.
        draws: how often noise was drawn for each share.
        when: there was noise: in ``evaluation``, or in ``training and evaluation``, where a run's
            own scores stand on parses with the same noise as its training.
    """

    kind: str
    shares: tuple[float, ...]
    score: str
    systems: dict[str, tuple[float, ...]]
    deviations: dict[str, tuple[float, ...]]
    level: tuple[str, ...]
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
        level = level_note(self.level, self.kind)
        scored = ", scored on parses with the same noise" if self.when == TRAINING else ""
        return f"{self.kind} replaced in {self.when}{drawn}{scored}, n = {self.n_examples:,}{level}"

    def table(self) -> str:
        """A table for a terminal."""
        return f"{aligned(self.rows())}\n{self.summary()}"


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

    A run that was trained on such noise is scored without it, and then on these shares.

    Args:
        folders: finished runs over the same data; those that differ in the seed alone are one
            system.
        data: files to score on; the dev examples of the runs if not given.
        kind: ``heads`` or ``tags``.
        shares: of the words, each 0 to 1, in any order; those of the papers if not given.
        draws: how often noise is drawn anew for each share.
        metric: to show; the one that comparisons of the task test, if not given.
        device: where to compute.

    Raises:
        InputError: runs or data cannot be used, there is no such kind or metric, or no model
            reads what is replaced.
    """
    check_kind(kind)
    if draws < 1:
        raise InputError(f"noise must be drawn at least once, got {draws}")
    for share in shares:
        if not 0 <= share <= 1:
            raise InputError(f"a share of noise lies between 0 and 1, got {share}")
    shares = tuple(sorted({*shares})) or SHARES[kind]
    systems = read_systems(folders)
    metric = check_metric(metric, systems, data)

    def parsers(own: str) -> list[list[str]]:
        # What a run was trained on may be replaced already; shares are of what the parser says.
        clean = without_noise(own, kind)
        # Without noise all draws are the same.
        return [
            [f"{NOISY[kind]}:{share},{draw}:{clean}" for draw in range(draws)]
            if share
            else ["" if clean == own else clean]
            for share in shares
        ]

    level = level_systems({system.name: system.runs[0].path for system in systems}, kind)
    means, spreads, n_examples = score_all(systems, data, parsers, level, metric, device)
    return NoiseCurve(kind, shares, metric, means, spreads, level, n_examples, draws, EVALUATION)


def check_kind(kind: str) -> None:
    """Check that something of parses is replaced by this name.

    Raises:
        InputError: nothing is.
    """
    if kind not in NOISY:
        raise InputError(f"noise is put on {' or '.join(NOISY)}, got {kind!r}")
