"""Draw attention between words as heat maps: attending words on the left, attended words on top.

SG-Net's Fig. 6 (journal version) compares the attention of the plain encoder and of the guided
layer in this way.  Darker means more.  Shades follow the square root of the weight, so that small
weights stay visible, on the same scale in all maps of a figure.  Attention to special tokens and to
words that are not shown goes to a separate column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from syntagma.drawing.svg import Drawing, escape, frame, number, stack, text_line, text_width

# All lengths are in pixels.
CELL = 22.0
TEXT_SIZE = 13.0
TITLE_SIZE = 14.0
SLANT = 60.0
MARGIN = 14.0
GAP = 8.0
MIN_WEIGHT = 0.002
"""Smaller weights are not drawn, since their shade would be invisible."""
MAX_WIDTH = 900.0
"""Maps whose total width exceeds this are stacked vertically."""
LEGEND = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
ELSEWHERE = "elsewhere"


@dataclass(frozen=True, slots=True)
class AttentionMatrix:
    """Attention from words to words.

    Args:
        title: the model, its layer and head.
        rows: the attending words, ``[n_rows]``.
        columns: the attended words, ``[n_columns]``.
        weights: attention weights from 0 to 1, ``[n_rows][n_columns]``.  The rest of a row to 1
            counts as elsewhere, except for a row of zeros, which belongs to a word that the model
            does not see.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        shape = {len(row) for row in self.weights} or {len(self.columns)}
        if len(self.weights) != len(self.rows) or shape != {len(self.columns)}:
            raise ValueError(
                f"expected weights for {len(self.rows)} rows and {len(self.columns)} columns, got "
                f"{len(self.weights)} rows of {sorted(shape)}"
            )

    @property
    def elsewhere(self) -> tuple[float, ...]:
        """Attention of each row to special tokens and to words not shown, ``[n_rows]``."""
        return tuple(max(0.0, 1 - total) if (total := sum(row)) else 0.0 for row in self.weights)


def attention_svg(
    matrices: Sequence[AttentionMatrix], *, title: str, standalone: bool = True
) -> str:
    """Draw attention maps into one figure.

    Args:
        matrices: at least one; placed side by side if there is room.
        title: title of the figure.
        standalone: include colours, for a file; otherwise the page styles the figure.

    Returns:
        An ``<svg>`` element.
    """
    maps = [_draw(matrix) for matrix in matrices]
    horizontal = sum(drawing.width for drawing in maps) <= MAX_WIDTH
    drawing = stack([stack(maps, horizontal=horizontal, gap=GAP), _legend()])
    return frame(drawing, title=title, role="group", standalone=standalone)


def shade(weight: float) -> float:
    """Return the opacity of a cell.

    >>> shade(0.25)
    0.5
    """
    return round(math.sqrt(min(max(weight, 0.0), 1.0)), 3)


def _draw(matrix: AttentionMatrix) -> Drawing:
    """Draw one map: title, words on top and on the left, cells, and the column for the rest."""
    # The words on top are slanted; their height and width are projections of the longest one.
    angle = math.radians(SLANT)
    longest = max(text_width(word, TEXT_SIZE) for word in [*matrix.columns, ELSEWHERE])
    left = MARGIN + max((text_width(word, TEXT_SIZE) for word in matrix.rows), default=0.0) + GAP
    top = MARGIN + TITLE_SIZE + GAP + longest * math.sin(angle) + GAP
    right = left + CELL * len(matrix.columns)
    bottom = top + CELL * len(matrix.rows)
    rest = right + GAP
    parts = [
        text_line("title", MARGIN, MARGIN + TITLE_SIZE, TITLE_SIZE, matrix.title, anchor="start")
    ]
    for place, word in enumerate([*matrix.columns, ELSEWHERE]):
        x = (rest if place == len(matrix.columns) else left + CELL * place) + CELL * 0.62
        kind = "tag" if place == len(matrix.columns) else "word"
        parts.append(text_line(kind, x, top - 5, TEXT_SIZE, word, anchor="start", rotation=-SLANT))
    for place, word in enumerate(matrix.rows):
        y = top + CELL * (place + 0.5) + TEXT_SIZE * 0.35
        parts.append(text_line("word", left - GAP, y, TEXT_SIZE, word, anchor="end"))
    parts += [_grid(left, top, right, bottom), _grid(rest, top, rest + CELL, bottom)]
    parts.append(f'<g class="cells">{_cells(matrix, left, top, rest)}</g>')
    name = text_width(matrix.title, TITLE_SIZE) + 2 * MARGIN
    width = max(rest + CELL + longest * math.cos(angle) + MARGIN, name)
    # A group with its own title is one image for screen readers.
    body = f'<g role="img"><title>{escape(matrix.title)}</title>{"".join(parts)}</g>'
    return Drawing(body, width, bottom + GAP)


def _cells(matrix: AttentionMatrix, left: float, top: float, rest: float) -> str:
    cells = []
    for row, (word, weights, other) in enumerate(
        zip(matrix.rows, matrix.weights, matrix.elsewhere, strict=True)
    ):
        y = top + CELL * row
        for column, (seen, weight) in enumerate(zip(matrix.columns, weights, strict=True)):
            if weight >= MIN_WEIGHT:
                tip = f"{word} → {seen}: {weight:.3f}"
                cells.append(_cell(left + CELL * column, y, weight, tip))
        if other >= MIN_WEIGHT:
            cells.append(_cell(rest, y, other, f"{word} → {ELSEWHERE}: {other:.3f}"))
    return "".join(cells)


def _cell(x: float, y: float, weight: float, tip: str) -> str:
    size = number(CELL - 2)
    return (
        f'<rect x="{number(x + 1)}" y="{number(y + 1)}" width="{size}" height="{size}" '
        f'fill="currentColor" fill-opacity="{shade(weight)}"><title>{escape(tip)}</title></rect>'
    )


def _grid(left: float, top: float, right: float, bottom: float) -> str:
    """Draw faint lines that lead the eye from a cell to its words."""
    n_columns, n_rows = round((right - left) / CELL), round((bottom - top) / CELL)
    lines = [f"M{number(left)} {number(top + CELL * n)}H{number(right)}" for n in range(n_rows + 1)]
    lines += [
        f"M{number(left + CELL * n)} {number(top)}V{number(bottom)}" for n in range(n_columns + 1)
    ]
    return f'<path d="{"".join(lines)}" stroke="currentColor" stroke-opacity="0.15" fill="none"/>'


def _legend() -> Drawing:
    """Draw the legend of the shades."""
    y = MARGIN
    parts = [text_line("tag", MARGIN, y + 15, TEXT_SIZE - 1, "weight", anchor="start")]
    x = MARGIN + 52
    for weight in LEGEND:
        parts.append(f'<g class="cells">{_cell(x, y, weight, f"{weight:g}")}</g>')
        x += CELL + 2
        parts.append(text_line("tag", x, y + 15, TEXT_SIZE - 1, f"{weight:g}", anchor="start"))
        x += text_width(f"{weight:g}", TEXT_SIZE - 1) + 10
    return Drawing("".join(parts), x + MARGIN, y + CELL + MARGIN)
