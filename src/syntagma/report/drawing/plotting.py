"""What all plots have in common: panels, colours that everybody can tell apart, vector files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from syntagma.errors import InputError, MissingExtraError
from syntagma.files import disk_errors

__all__ = ["ENDINGS", "HATCHES", "MARKERS", "panels", "style_of"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Told apart by the colour-blind (Okabe & Ito 2008)."""
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
"""Told apart in print without colours.  Not as many as colours, so that those after the last colour
have the first one with other dashes."""
MARKERS = "osD^vPX*"
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "---", "ooo", "|||")
"""Of bars, told apart in print without colours."""
ENDINGS = (".svg", ".pdf", ".png")
COLUMNS = 4
"""Panels beside one another."""


def style_of(number: int) -> dict[str, Any]:
    """Colour and dashes of the system with a number."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}


@contextmanager
def panels(
    n_panels: int, out: str | Path, *, width: float = 3.2, height: float = 2.5
) -> Iterator[list[Any]]:
    """Axes to draw on; one legend for all, and the picture is written at the end.

    The same data always gives the same bytes.

    Args:
        n_panels: how many.
        out: the picture; its ending says which kind.
        width: of a panel, in inches.
        height: of a panel, in inches.

    Raises:
        InputError: the ending is of no kind of picture, or it cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    if Path(out).suffix not in ENDINGS:
        raise InputError(f"{out}: expected a picture as {', '.join(ENDINGS)}; rename it")
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError("plots", "plot") from error
    n_columns = min(n_panels, COLUMNS)
    n_rows = -(-n_panels // n_columns)
    style: Any = {"svg.hashsalt": "syntagma", "svg.fonttype": "none", "font.size": 9}
    with pyplot.rc_context(style):
        figure, axes = pyplot.subplots(
            n_rows,
            n_columns,
            figsize=(width * n_columns, height * n_rows + 0.4),
            squeeze=False,
            layout="constrained",
        )
        try:
            for axis in axes.flat[n_panels:]:
                axis.remove()
            used = list(axes.flat[:n_panels])
            yield used
            handles: dict[str, Any] = {}
            for axis in used:
                axis.spines[["top", "right"]].set_visible(False)
                found = axis.get_legend_handles_labels()
                handles |= {label: handle for handle, label in zip(*found, strict=True)}
            if handles:
                figure.legend(
                    handles.values(),
                    handles.keys(),
                    loc="outside lower center",
                    ncols=max(n_columns, 2),
                    frameon=False,
                )
            with disk_errors(Path(out)):
                dated = {"Date": None} if str(out).endswith(".svg") else None
                figure.savefig(out, metadata=dated)
        finally:
            pyplot.close(figure)
