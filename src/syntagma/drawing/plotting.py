"""Shared parts of all plots: panels, a colour-blind safe style, and reproducible vector files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill
from typing import Any, TypeVar

from syntagma.errors import InputError, MissingExtraError
from syntagma.outputs import require_file_place, write_file

T = TypeVar("T")

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colour-blind safe palette (Okabe & Ito 2008)."""
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
"""Line styles, to distinguish lines in greyscale print.  Their number differs from that of the
colours, so that when the colours repeat, they come with other line styles."""
MARKERS = "osD^vPX*"
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "---", "ooo", "|||")
"""Bar fillings, to distinguish bars in greyscale print."""
UNDATED: dict[str, dict[str, None] | None] = {
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
    ".png": None,
}
"""Metadata by file suffix that keeps the creation date out of a figure, so that equal data give
equal bytes."""
ENDINGS = tuple(UNDATED)
COLUMNS = 4
"""Maximum number of panels in a row."""
LETTER, LINE, MARK = 0.075, 0.2, 0.55
"""Estimated size in inches of a legend's letter width, line height, and marker with its padding."""


def style_of(number: int) -> dict[str, Any]:
    """Return the colour and line style of the system with a given index."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}


def shown_name(name: str) -> str:
    """Escape a name for use as a Matplotlib label.

    Matplotlib reads ``$…$`` as mathematics and omits labels that start with ``_`` from the legend.

    >>> shown_name("_base"), shown_name("a$b$")
    (' _base', 'a\\\\$b\\\\$')
    """
    return (" " if name.startswith("_") else "") + name.replace("$", "\\$")


def shortened(label: str, most: int = 24) -> str:
    """Shorten a long label in the middle, keeping more of its end, which distinguishes paths.

    >>> shortened("conllu:data/treebanks/english/gold.conllu")
    'conllu:d…ish/gold.conllu'
    """
    if len(label) <= most:
        return label
    begin = most // 3
    return f"{label[:begin]}…{label[begin + 1 - most :]}"


def require_picture(out: str | Path) -> None:
    """Check that a figure can be written, before the work that it shows starts.

    Args:
        out: path of the figure; its suffix gives the format.

    Raises:
        InputError: the suffix is not supported, or the path is not writable.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    if Path(out).suffix not in ENDINGS:
        raise InputError(f"{out}: expected a picture as {', '.join(ENDINGS)}; rename it")
    if find_spec("matplotlib") is None:
        raise MissingExtraError("drawing plots", "plot")
    require_file_place(out)


@contextmanager
def panels(
    n_panels: int, out: str | Path, *, width: float = 3.2, height: float = 2.5
) -> Iterator[list[Any]]:
    """Open a figure, yield its axes to draw on, add a common legend and write it atomically.

    The same data always give the same bytes.

    Args:
        n_panels: number of panels.
        out: path of the figure; its suffix gives the format.
        width: width of a panel in inches.
        height: height of a panel in inches.

    Yields:
        The axes, ``[n_panels]``.

    Raises:
        InputError: the suffix is not supported, or the path is not writable.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    require_picture(out)
    import matplotlib

    # Select the backend before importing pyplot, which otherwise may look for a display.
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.legend_handler import HandlerTuple

    n_columns = min(n_panels, COLUMNS)
    n_rows = -(-n_panels // n_columns)
    # Without a fixed salt Matplotlib draws random ids; text stays text instead of outlines.
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
            for axis in used:
                axis.spines[["top", "right"]].set_visible(False)
            if handles := _handles(used):
                # Matplotlib does not wrap a legend, and takes its room from the panels: wrap long
                # names, use as many columns as fit, and add height for the lines.
                room = figure.get_figwidth()
                labels = [fill(label, int((room - MARK) / LETTER)) for label in handles]
                lines = [line for label in labels for line in label.splitlines()]
                fitting = int(room / (MARK + LETTER * max(map(len, lines))))
                n_legend_columns = max(1, min(fitting, max(n_columns, 2)))
                extra = LINE * (len(lines) / n_legend_columns - 1)
                figure.set_figheight(figure.get_figheight() + extra)
                figure.legend(
                    handles.values(),
                    labels,
                    loc="outside lower center",
                    ncols=n_legend_columns,
                    frameon=False,
                    handler_map={tuple: HandlerTuple(ndivide=None)},
                )
            with write_file(out) as draft:
                figure.savefig(draft, metadata=UNDATED[draft.suffix])
        finally:
            pyplot.close(figure)


def draw_panels(
    items: Sequence[T],
    draw: Callable[[Any, T], tuple[str, str]],
    out: str | Path,
    *,
    height: float = 3.0,
) -> None:
    """Write a figure with a panel for each item.

    Args:
        items: what to draw.
        draw: draws an item on the axes of its panel and returns the labels of the x and y axis.
        out: path of the figure; its suffix gives the format.
        height: height of a panel in inches.

    Raises:
        InputError: the suffix is not supported, or the path is not writable.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    with panels(len(items), out, width=4.2, height=height) as axes:
        for axis, item in zip(axes, items, strict=True):
            x_label, y_label = draw(axis, item)
            axis.set_xlabel(x_label)
            axis.set_ylabel(y_label)


def _handles(axes: Sequence[Any]) -> dict[str, Any]:
    """Return the legend handle of each label: one marker for each kind of plot that uses it."""
    kinds: dict[str, dict[type, Any]] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            kinds.setdefault(label, {}).setdefault(type(handle), handle)
    return {
        label: tuple(found.values()) if len(found) > 1 else next(iter(found.values()))
        for label, found in kinds.items()
    }
