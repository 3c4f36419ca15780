"""Scores over the share of heads or tags that is replaced at evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from syntagma.analysis.robustness.rescoring import (
    check_metric,
    level_note,
    level_systems,
    means_and_spreads,
    read_examples,
    rows_of,
    score_all,
)
from syntagma.analysis.systems import read_systems, require_same_numbers
from syntagma.drawing.tables import aligned
from syntagma.errors import InputError
from syntagma.parse.sources.load import NOISY, without_noise

SHARES = {"heads": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), "tags": (0.0, 0.05, 0.1, 0.2)}
"""Shares in the papers, by what is replaced."""

EVALUATION, TRAINING = "evaluation", "training and evaluation"


@dataclass(frozen=True, slots=True)
class NoiseCurve:
    """Scores of systems by the share of heads or tags that is replaced.

    Args:
        kind: what is replaced: ``heads`` or ``tags``.
        shares: shares of words with a replaced head or tag, 0 to 1, ``[n_shares]``.
        score: name of the score, which is in per cent.
        systems: scores of each system, means over seeds and draws of noise, ``[n_shares]``.
        deviations: standard deviations over seeds and draws, ``[n_shares]``; 0 for a single score.
        level: names of the systems that do not read what is replaced, whose line is flat.
        n_examples: number of examples.
        draws: number of random draws of noise for each share.
        when: when there was noise: in ``evaluation``, or in ``training and evaluation``, where each
            run was trained and evaluated with the same share.
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
        """Return the cells of a table, header first."""
        head = [self.score, *(f"{share:.0%}" for share in self.shares)]
        return [head, *rows_of(self.systems, self.deviations)]

    def summary(self) -> str:
        """Describe the measurement in a line."""
        drawn = f", drawn {self.draws} times" if self.draws > 1 else ""
        level = level_note(self.level, self.kind)
        scored = ", evaluated on parses with the same noise" if self.when == TRAINING else ""
        return f"{self.kind} replaced in {self.when}{drawn}{scored}, n = {self.n_examples:,}{level}"

    def table(self) -> str:
        """Format as a table for a terminal."""
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
    """Score models again with increasing shares of heads or tags replaced at random.

    For a run that was trained with such noise, the noise of its parser is removed first.

    Args:
        folders: finished runs on the same data; runs that differ only in their seed form one
            system.
        data: files to evaluate on; defaults to the dev examples of the runs.
        kind: what to replace: ``heads`` or ``tags``.
        shares: shares of words, each 0 to 1, in any order; defaults to those of the papers.
        draws: number of random draws of noise for each share.
        metric: metric to show; defaults to the one that comparisons of the task test.
        device: device to run the models on.

    Raises:
        InputError: runs or data cannot be used, ``kind`` or ``metric`` is unknown, or no model
            reads what is replaced.
    """
    check_kind(kind)
    if draws < 1:
        raise InputError(f"draws of noise: expected at least 1, got {draws}")
    for share in shares:
        if not 0 <= share <= 1:
            raise InputError(f"share of noise: expected a number from 0 to 1, got {share}")
    shares = tuple(sorted({*shares})) or SHARES[kind]
    systems = read_systems(folders)
    require_same_numbers(systems)
    metric = check_metric(metric, systems, data)

    def parsers(own: str) -> list[list[str]]:
        # The run may have been trained on noisy parses: shares refer to those of its parser.
        clean = without_noise(own, kind)
        # A share of 0 needs only one score, because all draws are equal.
        return [
            [f"{NOISY[kind]}:{share},{draw}:{clean}" for draw in range(draws)]
            if share
            else ["" if clean == own else clean]
            for share in shares
        ]

    level = level_systems({system.name: system.runs[0].path for system in systems}, kind)
    examples = read_examples(systems, data)
    scores = score_all(systems, examples, parsers, level, metric, device)
    return NoiseCurve(
        kind, shares, metric, *means_and_spreads(scores), level, len(examples), draws, EVALUATION
    )


def check_kind(kind: str) -> None:
    """Check that ``kind`` is something that can be replaced.

    Raises:
        InputError: it is not.
    """
    if kind not in NOISY:
        raise InputError(f"noise: expected {' or '.join(NOISY)}, got {kind!r}")
