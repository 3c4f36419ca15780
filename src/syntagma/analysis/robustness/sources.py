"""Scores with parses of several sources, side by side."""

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
from syntagma.parse.sources.load import load_source

__all__ = ["OWN", "ParserTable", "check_sources", "parser_table"]

OWN = "own"
"""The name of the parses that a model was trained with."""
PARSES = "heads or tags"
"""What another source replaces."""


@dataclass(frozen=True, slots=True)
class ParserTable:
    """Scores of systems by where their parses come from.

    Args:
        parsers: names of parse sources, ``[n_parsers]``.
        score: what is shown, in per cent.
        systems: by name the scores, means over seeds, ``[n_parsers]``.
        deviations: by name the standard deviations over seeds, ``[n_parsers]``; 0 for a single one.
        level: names of the systems that do not read parses.
        n_examples: that are scored.
    """

    parsers: tuple[str, ...]
    score: str
    systems: dict[str, tuple[float, ...]]
    deviations: dict[str, tuple[float, ...]]
    level: tuple[str, ...]
    n_examples: int

    def rows(self) -> list[list[str]]:
        """The cells of a table, its head first."""
        return [[self.score, *self.parsers], *rows_of(self.systems, self.deviations)]

    def summary(self) -> str:
        """What was done, in a line."""
        return f"n = {self.n_examples:,}{level_note(self.level, PARSES)}"

    def table(self) -> str:
        """A table for a terminal."""
        return f"{aligned(self.rows())}\n{self.summary()}"


def parser_table(
    folders: Sequence[str | Path],
    parsers: Sequence[str],
    data: Sequence[str | Path] = (),
    *,
    metric: str = "",
    device: str = "cpu",
) -> ParserTable:
    """Score models again with parses of other sources, side by side.

    Args:
        folders: finished runs over the same data; those that differ in the seed alone are one
            system.
        parsers: names of sources (:func:`syntagma.parse.sources.load.load_source`), or ``own``;
            duplicates are scored once.
        data: files to score on; the dev examples of the runs if not given.
        metric: to show; the one that comparisons of the task test, if not given.
        device: where to compute.

    Raises:
        InputError: runs, data or sources cannot be used, there is no such metric, or no model
            reads parses.
    """
    parsers = tuple(dict.fromkeys(parsers))
    check_sources(parsers)
    systems = read_systems(folders)
    metric = check_metric(metric, systems, data)
    names = [["" if parser == OWN else parser] for parser in parsers]
    level = level_systems({system.name: system.runs[0].path for system in systems}, PARSES)
    means, spreads, n_examples = score_all(systems, data, lambda _: names, level, metric, device)
    return ParserTable(parsers, metric, means, spreads, level, n_examples)


def check_sources(parsers: Sequence[str]) -> None:
    """Check that there are such sources of parses.

    Args:
        parsers: as for :func:`parser_table`.

    Raises:
        InputError: a name is of no source, or its source cannot be used.
    """
    for parser in parsers:
        if parser != OWN:
            load_source(parser)
