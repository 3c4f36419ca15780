"""The plot of intervals: a row for each comparison, a line at 0, marks of what is detectable."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib")

from syntagma.drawing.intervals import DrawnInterval, draw_intervals
from syntagma.drawing.plotting import panels

ROWS = [
    (
        "sg-net",
        {"seeds": DrawnInterval(1.0, -0.5, 2.5, 2.0), "examples": DrawnInterval(1.0, 0.4, 1.6)},
    ),
    ("_poi$net", {"examples": DrawnInterval(-0.2, -0.9, 0.5, 1.1)}),
]


def test_each_comparison_has_a_row_with_its_intervals(tmp_path):
    out = tmp_path / "intervals.svg"
    with panels(1, out) as (axis,):
        draw_intervals(axis, ROWS)
        low, high = axis.get_ylim()
        bars = [container.lines[2][0].get_segments()[0] for container in axis.containers]
        marks = [
            line for line in axis.lines if line.get_marker() == "|" and len(line.get_xdata()) > 1
        ]
        vertical = [line for line in axis.lines if list(line.get_xdata()) == [0, 0]]
    # The first comparison is on top.
    assert low > high
    ends = [[point[0] for point in bar] for bar in bars]
    assert ends == [
        pytest.approx([-0.5, 2.5]),
        pytest.approx([0.4, 1.6]),
        pytest.approx([-0.9, 0.5]),
    ]
    heights = [bar[0][1] for bar in bars]
    assert heights[0] < heights[1] < 0.5 < heights[2] < 1.5
    # The same kind is at the same place of its row.
    assert heights[2] - heights[1] == pytest.approx(1)
    assert [list(line.get_xdata()) for line in marks] == [[-2, 2], [-1.1, 1.1]]
    assert len(vertical) == 1
    text = out.read_text(encoding="utf-8")
    assert text.count(">seeds<") == text.count(">examples<") == 1
    assert "_poi$net" in text
