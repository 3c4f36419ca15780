"""Format tables as plain text, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Sequence

from syntagma.drawing.svg import escape

Rows = Sequence[Sequence[str]]


def aligned(rows: Rows) -> str:
    """Format rows as plain text, with the first column left-aligned and the others right-aligned.

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
    """Format rows as a Markdown table; the first row is the header.

    >>> markdown([["", "f1"], ["plain", "80.1"]]).splitlines()
    ['|  | f1 |', '|---|---|', '| plain | 80.1 |']
    """
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|---" * len(rows[0]) + "|", *body])


def signed(value: float, places: int = 2) -> str:
    """Format a difference with its sign; ``-0.00`` becomes ``+0.00``.

    Args:
        value: the difference.
        places: number of decimals.

    >>> signed(1.5), signed(-0.0), signed(-0.004)
    ('+1.50', '+0.00', '+0.00')
    """
    # The format option `z` turns a rounded negative zero into a positive one.
    return f"{value:+z.{places}f}"


def spread(value: float, deviation: float | None = None, places: int = 2) -> str:
    """Format a mean over seeds with its standard deviation, if there is one.

    Args:
        value: the mean.
        deviation: the standard deviation.
        places: number of decimals of both.

    >>> spread(59.741, 0.25), spread(3800, places=0), spread(-0.001)
    ('59.74 ± 0.25', '3,800', '0.00')
    """
    shown = f"{value:z,.{places}f}"
    return shown if deviation is None else f"{shown} ± {deviation:,.{places}f}"


def html_table(rows: Rows, *, caption: str = "") -> str:
    """Format rows as an HTML table in a scrollable box; the first row is the header.

    Args:
        rows: the cells as text, not escaped.
        caption: caption above the table.

    >>> html_table([["", "f1"], ["plain", "80.1"]]).count("<tr>")
    2
    """

    # The `scope` of header cells lets screen readers announce row and column of a value.
    def row(cells: Sequence[str], tag: str, scope: str) -> str:
        first, *rest = map(escape, cells)
        start = f'<{tag} scope="col">' if tag == "th" else f"<{tag}>"
        others = "".join(f"{start}{cell}</{tag}>" for cell in rest)
        return f'<tr><th scope="{scope}">{first}</th>{others}</tr>'

    head, *body = rows
    named = f"<caption>{escape(caption)}</caption>" if caption else ""
    inside = "".join(row(cells, "td", "row") for cells in body)
    return (
        f'<div class="scroll"><table>{named}<thead>{row(head, "th", "col")}</thead>'
        f"<tbody>{inside}</tbody></table></div>"
    )
