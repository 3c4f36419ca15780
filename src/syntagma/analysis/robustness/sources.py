"""Compare the scores of models with parses of several sources."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from syntagma.analysis.intervals import Interval, paired_seeds
from syntagma.analysis.robustness.rescoring import (
    check_metric,
    level_note,
    level_systems,
    means_and_spreads,
    rows_of,
    score_all,
)
from syntagma.analysis.systems import read_systems, require_same_numbers
from syntagma.drawing.tables import aligned, signed
from syntagma.errors import MissingExtraError
from syntagma.parse.sources.load import load_source

log = logging.getLogger(__name__)

OWN = "own"
"""Name for the parse source that a model was trained with."""
PARSES = "heads or tags"
"""What changes with the parse source."""


@dataclass(frozen=True, slots=True)
class ParserTable:
    """Scores of systems by parse source.

    Args:
        parsers: names of the parse sources, ``[n_parsers]``.
        score: name of the score, which is in per cent.
        systems: scores of each system, means over seeds, ``[n_parsers]``.
        deviations: standard deviations over seeds, ``[n_parsers]``; 0 for a single score.
        level: names of the systems that do not read parses, whose scores are all equal.
        n_examples: number of examples.
        intervals: of systems with several runs that read parses, the interval over these runs of
            the difference from the first parse source, ``[n_parsers - 1]``; ``None`` if it is
            undefined.  Without scipy there are none.
    """

    parsers: tuple[str, ...]
    score: str
    systems: dict[str, tuple[float, ...]]
    deviations: dict[str, tuple[float, ...]]
    level: tuple[str, ...]
    n_examples: int
    intervals: dict[str, tuple[Interval | None, ...]] = field(default_factory=dict)

    def rows(self) -> list[list[str]]:
        """Return the cells of a table, header first."""
        return [[self.score, *self.parsers], *rows_of(self.systems, self.deviations)]

    def summary(self) -> str:
        """Describe the measurement in a line."""
        over = "; intervals over seeds, paired t" if self.intervals else ""
        return f"n = {self.n_examples:,}{over}{level_note(self.level, PARSES)}"

    def table(self) -> str:
        """Format as a table for a terminal."""
        parts = [aligned(self.rows())]
        if self.intervals:
            parts.append(aligned(self.difference_rows()))
        return "\n\n".join([*parts, self.summary()])

    def difference_rows(self) -> list[list[str]]:
        """Return the cells of the table of differences from the first parse source."""
        rows = [
            [f"Δ {self.score}, 95 %", *(f"{name} − {self.parsers[0]}" for name in self.parsers[1:])]
        ]
        for name, intervals in self.intervals.items():
            first, *others = self.systems[name]
            cells = [
                signed(score - first)
                + (f" ({signed(found.low)} … {signed(found.high)})" if found else "")
                for score, found in zip(others, intervals, strict=True)
            ]
            rows.append([name, *cells])
        return rows


def parser_table(
    folders: Sequence[str | Path],
    parsers: Sequence[str],
    data: Sequence[str | Path] = (),
    *,
    metric: str = "",
    device: str = "cpu",
) -> ParserTable:
    """Score models again with parses of other sources.

    Args:
        folders: finished runs on the same data; runs that differ only in their seed form one
            system.
        parsers: names of parse sources (:func:`syntagma.parse.sources.load.load_source`), or
            ``own``; duplicates are removed.
        data: files to evaluate on; defaults to the dev examples of the runs.
        metric: metric to show; defaults to the one that comparisons of the task test.
        device: device to run the models on.

    Raises:
        InputError: runs, data or sources cannot be used, ``metric`` is unknown, or no model reads
            parses.
    """
    parsers = tuple(dict.fromkeys(parsers))
    check_sources(parsers)
    systems = read_systems(folders)
    require_same_numbers(systems)
    metric = check_metric(metric, systems, data)
    names = [["" if parser == OWN else parser] for parser in parsers]
    level = level_systems({system.name: system.runs[0].path for system in systems}, PARSES)
    scores, n_examples = score_all(systems, data, lambda _: names, level, metric, device)
    intervals = {}
    try:
        intervals = {
            name: _from_the_first(of)
            for name, of in scores.items()
            if name not in level and len(of[0]) > 1 and len(of) > 1
        }
    except MissingExtraError as error:
        # The scores have taken long, and say much without intervals.
        log.warning("differences without intervals: %s", error)
    return ParserTable(parsers, metric, *means_and_spreads(scores), level, n_examples, intervals)


def _from_the_first(scores: tuple[tuple[float, ...], ...]) -> tuple[Interval | None, ...]:
    """Compute the intervals of the differences from the first point, over runs."""
    first, *others = scores
    return tuple(
        paired_seeds([ours - theirs for ours, theirs in zip(other, first, strict=True)])
        for other in others
    )


def check_sources(parsers: Sequence[str]) -> None:
    """Check that parse sources exist and can be used.

    Args:
        parsers: names of parse sources, see :func:`parser_table`.

    Raises:
        InputError: a source is unknown or cannot be used.
    """
    for parser in parsers:
        if parser != OWN:
            load_source(parser)
