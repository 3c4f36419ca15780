"""What all plots have in common: panels, colours that everybody can tell apart, vector files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill
from typing import Any

from syntagma.errors import InputError, MissingExtraError
from syntagma.outputs import require_file_place, write_file

__all__ = [
    "ENDINGS",
    "HATCHES",
    "MARKERS",
    "panels",
    "require_picture",
    "shortened",
    "shown_name",
    "style_of",
]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Told apart by the colour-blind (Okabe & Ito 2008)."""
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
"""Told apart in print without colours.  Not as many as colours, so that those after the last colour
have the first one with other dashes."""
MARKERS = "osD^vPX*"
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "---", "ooo", "|||")
"""Of bars, told apart in print without colours."""
UNDATED: dict[str, dict[str, None] | None] = {
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
    ".png": None,
}
"""By ending, what keeps the time out of a picture."""
ENDINGS = tuple(UNDATED)
COLUMNS = 4
"""Panels beside one another."""
LETTER, LINE, MARK = 0.075, 0.2, 0.55
"""Inches that a letter and a line of the legend take, and a mark with the space beside it."""


def style_of(number: int) -> dict[str, Any]:
    """Colour and dashes of the system with a number."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}


def shown_name(name: str) -> str:
    """A name as a label: ``$`` begins no mathematics, and ``_`` hides nothing from the legend.

    >>> shown_name("_base"), shown_name("a$b$")
    (' _base', 'a\\\\$b\\\\$')
    """
    return (" " if name.startswith("_") else "") + name.replace("$", "\\$")


def shortened(label: str, most: int = 24) -> str:
    """A label without its middle where it is long: its end tells more than its beginning.

    >>> shortened("conllu:data/treebanks/english/gold.conllu")
    'conllu:d…ish/gold.conllu'
    """
    if len(label) <= most:
        return label
    begin = most // 3
    return f"{label[:begin]}…{label[begin + 1 - most :]}"


def require_picture(out: str | Path) -> None:
    """Check that a picture can be drawn, before there is one.

    Args:
        out: the picture; its ending says which kind.

    Raises:
        InputError: the ending is of no kind of picture, or it cannot be written there.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    if Path(out).suffix not in ENDINGS:
        raise InputError(f"{out}: expected a picture as {', '.join(ENDINGS)}; rename it")
    if find_spec("matplotlib") is None:
        raise MissingExtraError("plots", "plot")
    require_file_place(out)


@contextmanager
def panels(
    n_panels: int, out: str | Path, *, width: float = 3.2, height: float = 2.5
) -> Iterator[list[Any]]:
    """Axes to draw on; one legend for all, and the picture is written at the end, or not at all.

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
    require_picture(out)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.legend_handler import HandlerTuple

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
            for axis in used:
                axis.spines[["top", "right"]].set_visible(False)
            if handles := _handles(used):
                room = figure.get_figwidth()
                labels = [fill(label, int((room - MARK) / LETTER)) for label in handles]
                lines = [line for label in labels for line in label.splitlines()]
                fitting = int(room / (MARK + LETTER * max(map(len, lines))))
                beside = max(1, min(fitting, max(n_columns, 2)))
                figure.set_figheight(figure.get_figheight() + LINE * (len(lines) / beside - 1))
                figure.legend(
                    handles.values(),
                    labels,
                    loc="outside lower center",
                    ncols=beside,
                    frameon=False,
                    handler_map={tuple: HandlerTuple(ndivide=None)},
                )
            with write_file(out) as draft:
                figure.savefig(draft, metadata=UNDATED[draft.suffix])
        finally:
            pyplot.close(figure)


def _handles(axes: Sequence[Any]) -> dict[str, Any]:
    """What stands in the legend beside each label: one mark of each kind that has it."""
    kinds: dict[str, dict[type, Any]] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            kinds.setdefault(label, {}).setdefault(type(handle), handle)
    return {
        label: tuple(found.values()) if len(found) > 1 else next(iter(found.values()))
        for label, found in kinds.items()
    }
