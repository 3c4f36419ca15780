"""Draw scores of words: below each word a cell for each turn, or for answer start and end.

POI-Net's Fig. 5 shows how the scores ŝ of section 2.2 change from turn to turn, scaled to [0, 1]
within each text and turn.  Darker means more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from syntagma.drawing.svg import Drawing, escape, frame, number, stack, text_line, text_width

# All lengths are in pixels.
WIDTH = 900.0
WORD_SIZE = 14.0
LABEL_SIZE = 11.0
TITLE_SIZE = 14.0
CELL = 12.0
STEP = 14.0
PADDING = 3.0
MARGIN = 14.0
LABELS = 52.0
LINE_GAP = 16.0
MIN_WORD_WIDTH = 14.0


@dataclass(frozen=True, slots=True)
class TurnScores:
    """Scores of the words of a text, or of a part of it.

    Args:
        title: name of the text.
        words: the words in order, ``[n_words]``.
        scores: scores from 0 to 1, ``[n_turns][n_words]``; NaN for words that the model does not
            see.
        labels: labels of the turns, ``[n_turns]``; default to "turn 1" and so on.
    """

    title: str
    words: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if any(len(turn) != len(self.words) for turn in self.scores):
            raise ValueError(
                f"expected scores for {len(self.words)} words in each turn, got "
                f"{list(map(len, self.scores))}"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the rows of cells."""
        return self.labels or tuple(f"turn {turn + 1}" for turn in range(len(self.scores)))


def turns_svg(texts: Sequence[TurnScores], *, title: str, standalone: bool = True) -> str:
    """Draw the scores of texts, one below the other.

    Args:
        texts: at least one text, such as passage and question.
        title: title of the figure.
        standalone: include colours, for a file; otherwise the page styles the figure.

    Returns:
        An ``<svg>`` element.
    """
    drawing = stack([*map(_draw, texts), _legend()])
    return frame(drawing, title=title, role="group", standalone=standalone)


def _draw(text: TurnScores) -> Drawing:
    """Draw one text, its words wrapped into lines that fit the width."""
    widths = [max(text_width(word, WORD_SIZE), MIN_WORD_WIDTH) + 2 * PADDING for word in text.words]
    # A word that is wider than a line still gets a line of its own.
    room = max(WIDTH - LABELS - 2 * MARGIN, max(widths, default=0.0))
    parts = [
        text_line("title", MARGIN, MARGIN + TITLE_SIZE, TITLE_SIZE, text.title, anchor="start")
    ]
    y = MARGIN + TITLE_SIZE + LINE_GAP
    for line in _lines(widths, room):
        parts += _labels(text.names, y)
        x = MARGIN + LABELS
        for word in line:
            parts.append(_word(text, word, x, y, widths[word]))
            x += widths[word]
        y += WORD_SIZE + STEP * len(text.scores) + LINE_GAP
    body = f'<g role="img"><title>{escape(text.title)}</title>{"".join(parts)}</g>'
    return Drawing(body, LABELS + room + 2 * MARGIN, y)


def _legend() -> Drawing:
    """Draw the legend of the shades."""
    parts = [text_line("tag", MARGIN, CELL - 2, LABEL_SIZE, "score", anchor="start")]
    x = MARGIN + LABELS
    for step in range(5):
        score = step / 4
        parts.append(f'<g class="cells">{_cell(x, 0.0, 2 * CELL, score, f"{score:g}")}</g>')
        x += 2 * CELL
        parts.append(text_line("tag", x + 2, CELL - 2, LABEL_SIZE, f"{score:g}", anchor="start"))
        x += text_width(f"{score:g}", LABEL_SIZE) + 12
    return Drawing("".join(parts), x + MARGIN, CELL + MARGIN)


def _lines(widths: Sequence[float], room: float) -> list[list[int]]:
    """Wrap words into lines; return the indices of the words on each line."""
    lines: list[list[int]] = []
    used = room  # so that the first word starts a line
    for word, width in enumerate(widths):
        if not lines or used + width > room:
            lines.append([])
            used = 0.0
        lines[-1].append(word)
        used += width
    return lines


def _labels(names: Sequence[str], y: float) -> list[str]:
    """Draw the names of the turns at the start of a line."""
    return [
        text_line(
            "tag",
            MARGIN,
            y + WORD_SIZE + STEP * turn + CELL - 2,
            LABEL_SIZE,
            name,
            anchor="start",
        )
        for turn, name in enumerate(names)
    ]


def _word(text: TurnScores, word: int, x: float, y: float, width: float) -> str:
    """Draw a word with its cells."""
    form = text.words[word]
    cells = []
    for turn, scores in enumerate(text.scores):
        score = scores[word]
        if score != score:  # NaN: the model does not see this word.
            continue
        tip = f"{form}, {text.names[turn]}: {score:.2f}"
        cells.append(_cell(x, y + WORD_SIZE + STEP * turn, width, score, tip))
    return (
        text_line("word", x + width / 2, y + WORD_SIZE - 4, WORD_SIZE, form)
        + f'<g class="cells">{"".join(cells)}</g>'
    )


def _cell(x: float, y: float, width: float, score: float, tip: str) -> str:
    """Draw a cell with an outline, so that a score of 0 is visible too."""
    place = f'x="{number(x + 1)}" y="{number(y)}" width="{number(width - 2)}"'
    return (
        f'<rect {place} height="{number(CELL)}" fill="currentColor" '
        f'fill-opacity="{round(score, 3)}" stroke="currentColor" stroke-opacity="0.3" '
        f'stroke-width="0.7"><title>{escape(tip)}</title></rect>'
    )
