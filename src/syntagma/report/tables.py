"""Tables of cells, for terminals and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["aligned", "markdown"]

Rows = Sequence[Sequence[str]]


def aligned(rows: Rows) -> str:
    """Columns under one another, the first to the left, the others to the right.

    >>> print(aligned([["", "f1"], ["plain", "80.1"]]))
             f1
    plain  80.1
    """
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def markdown(rows: Rows) -> str:
    """A table in Markdown, its head first.

    >>> markdown([["", "f1"], ["plain", "80.1"]]).splitlines()
    ['|  | f1 |', '|---|---|', '| plain | 80.1 |']
    """
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|---" * len(rows[0]) + "|", *body])
