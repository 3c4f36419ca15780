"""Plots: atomic and reproducible files, legends and labels."""

from __future__ import annotations

import re
import sys

import pytest

pytest.importorskip("matplotlib")

from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

from syntagma.drawing import plotting
from syntagma.drawing.plotting import panels, require_picture
from syntagma.drawing.series import draw_bars, draw_lines
from syntagma.errors import InputError, MissingExtraError
from tests.messages import naming


def draw(out, systems=("plain", "sg-net")):
    scores = dict.fromkeys(systems, (60.0, 61.0))
    with panels(2, out) as axes:
        draw_lines(axes[0], (0, 1), scores)
        draw_bars(axes[1], ["NN", "CD"], scores)
    return out


@pytest.mark.parametrize("ending", plotting.ENDINGS)
def test_output_does_not_depend_on_the_date(tmp_path, monkeypatch, ending):
    found = []
    for number, day in enumerate(("0", "1000000000")):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", day)
        found.append(draw(tmp_path / "new" / f"{number}{ending}").read_bytes())
    assert found[0] == found[1]


def test_a_failed_write_keeps_the_previous_picture(tmp_path, monkeypatch):
    out = draw(tmp_path / "curve.svg")
    before = out.read_bytes()

    def write_half(figure, path, **options):
        with open(path, "w") as file:
            file.write("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", write_half)
    with pytest.raises(InputError, match=naming("curve.svg No space left")):
        draw(out)
    assert out.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["curve.svg"]


LONG = "@bert-large-cased-whole-word-masking-1"


@pytest.mark.parametrize(
    "systems",
    [
        ("plain", "sg-net"),
        (f"plain{LONG}", f"sg-net{LONG}"),
        (f"plain{LONG}", "a_name_without_any_place_to_break_it_" * 4),
    ],
)
def test_the_legend_fits_into_the_picture(tmp_path, monkeypatch, systems):
    seen = []

    def measure(figure, path, **options):
        figure.draw_without_rendering()
        legend, inside = figure.legends[0].get_window_extent(), figure.bbox
        seen.append(legend.x0 >= inside.x0 and legend.x1 <= inside.x1 and legend.y0 >= inside.y0)
        seen.append(
            all(axis.get_window_extent().height > inside.height / 2.5 for axis in figure.axes)
        )

    monkeypatch.setattr(Figure, "savefig", measure)
    draw(tmp_path / "curve.png", systems)
    assert seen == [True, True]


def test_long_bar_labels_leave_room_for_the_bars(tmp_path, monkeypatch):
    heights = []

    def measure(figure, path, **options):
        figure.draw_without_rendering()
        heights.append(figure.axes[0].get_window_extent().height / figure.bbox.height)

    monkeypatch.setattr(Figure, "savefig", measure)
    labels = ["own", "noisy:0.2:default-parser", f"conllu:/{'some/where/' * 6}gold.conllu"]
    with panels(1, tmp_path / "bars.png") as [axis]:
        draw_bars(axis, labels, {"plain": [60.0, 50.0, 70.0]})
    assert heights[0] > 0.4


def test_special_characters_in_names_are_shown(tmp_path):
    picture = draw(tmp_path / "names.svg", ["_base", "$a$", "plain"]).read_text()
    shown = [text.strip() for text in re.findall(r">([^<>\n]+)</text>", picture)]
    assert {"_base", "$a$", "plain"} <= {*shown}


def test_the_legend_shows_every_kind_of_marker(tmp_path, monkeypatch):
    types = []
    begin = Legend.__init__

    def record_types(legend, parent, handles, labels, **options):
        types.append([set(map(type, handle)) for handle in handles])
        begin(legend, parent, handles, labels, **options)

    monkeypatch.setattr(Legend, "__init__", record_types)
    scores = {"plain": (60.0, 61.0)}
    with panels(2, tmp_path / "both.svg") as axes:
        axes[0].plot([0, 1], [60, 61], label="plain")
        draw_bars(axes[1], ["NN", "CD"], scores)
    assert types == [[{Line2D, BarContainer}]]


def test_invalid_files_are_rejected_before_drawing(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=naming("x.txt .svg .pdf .png")):
        require_picture(tmp_path / "x.txt")
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(InputError, match=naming("folder.svg folder file")):
        require_picture(tmp_path / "folder.svg")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=naming("x.svg file folder")):
        require_picture(tmp_path / "file" / "x.svg")
    require_picture(tmp_path / "new" / "x.svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.svg"]
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=naming("plots '.[plot]'")):
        require_picture(tmp_path / "x.svg")
