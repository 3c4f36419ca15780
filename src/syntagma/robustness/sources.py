"""Scores with parses of several sources, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from syntagma.report.runs import read_systems
from syntagma.report.tables import aligned, markdown
from syntagma.robustness.points import COLUMNS, rows_of, score_all

__all__ = ["OWN", "ParserTable", "parser_table"]

OWN = "own"
"""The name of the parses that a model was trained with."""


@dataclass(frozen=True, slots=True)
class ParserTable:
    """Scores of systems by where their parses come from.

    Args:
        parsers: names of parse sources, ``[n_parsers]``.
        score: what is shown, in per cent.
        systems: by name the scores, means over seeds, ``[n_parsers]``.
        deviations: by name the standard deviations over seeds, ``[n_parsers]``; 0 for a single one.
        n_examples: that are scored.
    """

    parsers: tuple[str, ...]
    score: str
    systems: dict[str, tuple[float, ...]]
    deviations: dict[str, tuple[float, ...]]
    n_examples: int

    def rows(self) -> list[list[str]]:
        """The cells of a table, its head first."""
        return [[self.score, *self.parsers], *rows_of(self.systems, self.deviations)]

    def table(self) -> str:
        """A table for a terminal."""
        return f"{aligned(self.rows())}\nn = {self.n_examples:,}"

    def markdown(self) -> str:
        """The table in Markdown."""
        return markdown(self.rows())


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
        parsers: names of sources (:func:`syntagma.parse.load.load_source`), or ``own``.
        data: files to score on; the dev examples of the runs if not given.
        metric: to show; the one that comparisons of the task test, if not given.
        device: where to compute.

    Raises:
        InputError: runs, data or sources cannot be used, or there is no such metric.
    """
    systems = read_systems(folders)
    metric = metric or systems[0].plan.metric
    names = [["" if parser == OWN else parser] for parser in parsers]
    columns = set().union(*COLUMNS.values())
    means, spreads, n_examples = score_all(systems, data, lambda _: names, columns, metric, device)
    return ParserTable(tuple(parsers), metric, means, spreads, n_examples)
