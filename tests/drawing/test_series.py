"""Lines, points and bars: positions and distinguishable styles."""

from __future__ import annotations

from math import nan

import pytest

pytest.importorskip("matplotlib")

from matplotlib import pyplot

from syntagma.drawing.series import draw_bars, draw_lines

SYSTEMS = {"plain": (60.0, 60.0, 60.0), "sg-net": (62.0, nan, 61.0), "poi-net": (59.0, 58.0, 57.0)}


@pytest.fixture
def axis():
    figure, axis = pyplot.subplots()
    yield axis
    pyplot.close(figure)


def test_lines_have_error_bars_only_if_scores_vary(axis):
    draw_lines(axis, (0, 20, 40), SYSTEMS, {"plain": (0, 0, 0), "sg-net": (0.5, 0.5, 0.5)})
    drawn = [container.lines for container in axis.containers]
    for (line, _, whiskers), scores in zip(drawn, SYSTEMS.values(), strict=True):
        assert list(line.get_xdata()) == [0, 20, 40]
        assert list(line.get_ydata()) == pytest.approx(scores, nan_ok=True)
        assert bool(whiskers) == (scores is SYSTEMS["sg-net"])
    lines = [line for line, *_ in drawn]
    assert len({line.get_marker() for line in lines}) == len({*SYSTEMS})
    assert len({line.get_linestyle() for line in lines}) == len({*SYSTEMS})
    assert axis.get_legend_handles_labels()[1] == [*SYSTEMS]


def test_twenty_systems_look_different(axis):
    many = {f"system {number}": (60.0, 61.0) for number in range(20)}
    draw_lines(axis, (0, 20), many)
    lines = [container.lines[0] for container in axis.containers]
    assert len({(line.get_color(), line._unscaled_dash_pattern) for line in lines}) == len(many)
    assert len({(line.get_color(), line.get_marker()) for line in lines}) == len(many)
    axis.clear()
    draw_bars(axis, ["NN", "CD"], many)
    bars = [container.patches[0] for container in axis.containers]
    assert len({(bar.get_facecolor(), bar.get_hatch()) for bar in bars}) == len(many)


def test_unjoined_points_are_side_by_side(axis):
    draw_lines(axis, range(3), SYSTEMS, joined=False)
    lines = [container.lines[0] for container in axis.containers]
    assert {line.get_linestyle() for line in lines} == {"None"}
    first = [line.get_xdata()[0] for line in lines]
    assert first == pytest.approx([-0.12, 0, 0.12])
    assert lines[1].get_xdata() == pytest.approx([0, 1, 2])


def test_bars_of_a_group_do_not_overlap(axis):
    draw_bars(axis, ["NN", "CD", "VBN"], SYSTEMS)
    groups = [container.patches for container in axis.containers]
    for bars, scores in zip(groups, SYSTEMS.values(), strict=True):
        assert [bar.get_height() for bar in bars] == pytest.approx(scores, nan_ok=True)
    assert len({bars[0].get_hatch() for bars in groups}) == len(SYSTEMS)
    ends = [bars[0].get_x() + bars[0].get_width() for bars in groups[:-1]]
    assert ends == pytest.approx([bars[0].get_x() for bars in groups[1:]])
    assert groups[-1][0].get_x() + groups[-1][0].get_width() <= groups[0][1].get_x()
    assert [label.get_text() for label in axis.get_xticklabels()] == ["NN", "CD", "VBN"]
