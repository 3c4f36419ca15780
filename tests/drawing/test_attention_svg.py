"""Figures of attention, co-attention turns and phrase trees: elements and their positions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.drawing.attention_svg import AttentionMatrix, attention_svg
from syntagma.drawing.phrase_svg import phrase_svg
from syntagma.drawing.tree_svg import document_svg
from syntagma.drawing.turns_svg import TurnScores, turns_svg
from syntagma.text.sentence import Constituent, Parse, Sentence
from tests.messages import naming

SVG = "{http://www.w3.org/2000/svg}"
WORDS = ("Gulls", "<cry>", "&")
WEIGHTS = ((0.25, 0.5, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0))


def elements(svg: str, tag: str, **attributes: str) -> list[ElementTree.Element]:
    return [
        element
        for element in ElementTree.fromstring(svg).iter(f"{SVG}{tag}")
        if all(element.get(name) == value for name, value in attributes.items())
    ]


def tips(svg: str) -> list[str]:
    """Return the tooltip of each cell."""
    cells = (cell.find(f"{SVG}title") for cell in elements(svg, "rect"))
    return [title.text or "" for title in cells if title is not None]


class TestAttention:
    def test_each_weight_and_the_remaining_weight_have_a_cell(self):
        svg = attention_svg([AttentionMatrix("plain", WORDS, WORDS, WEIGHTS)], title="Two words")
        assert tips(svg)[:4] == [
            "Gulls → Gulls: 0.250",
            "Gulls → <cry>: 0.500",
            "Gulls → elsewhere: 0.250",
            "<cry> → <cry>: 1.000",
        ]
        # A word that the model does not see has no cells, not even for elsewhere.
        assert not any(tip.startswith("& →") for tip in tips(svg))
        words = [text.text for text in elements(svg, "text", **{"class": "word"})]
        assert words == [*WORDS, *WORDS]

    def test_larger_weights_are_darker(self):
        svg = attention_svg([AttentionMatrix("plain", WORDS, WORDS, WEIGHTS)], title="Two words")
        cells = [c for c in elements(svg, "rect") if c.find(f"{SVG}title") is not None]
        shades = [float(cell.get("fill-opacity", "nan")) for cell in cells[:4]]
        assert shades == pytest.approx([0.5, math.sqrt(0.5), 0.5, 1.0], abs=1e-3)

    def test_cells_align_with_their_words(self):
        svg = attention_svg([AttentionMatrix("plain", WORDS, WORDS, WEIGHTS)], title="Two words")
        columns, rows = {}, {}
        labels = elements(svg, "text", **{"class": "word"})
        for text in labels[:3]:
            columns[text.text] = float(text.get("x", "nan"))
        for text in labels[3:]:
            rows[text.text] = float(text.get("y", "nan"))
        for cell in elements(svg, "rect"):
            title = cell.find(f"{SVG}title")
            if title is None or "→" not in (title.text or "") or "elsewhere" in (title.text or ""):
                continue
            row, column = (title.text or "").rsplit(":", 1)[0].split(" → ")
            x, y, size = (float(cell.get(name, "nan")) for name in ("x", "y", "width"))
            assert x < columns[column] < x + size
            assert y < rows[row] < y + size

    def test_small_maps_are_side_by_side_and_wide_ones_stacked(self):
        def places(n_words):
            words = tuple(f"word{n}" for n in range(n_words))
            rows = tuple((0.0,) * n_words for _ in words)
            svg = attention_svg([AttentionMatrix("a", words, words, rows)] * 2, title="two")
            titles = elements(svg, "g")
            return [group.get("transform", "") for group in titles if group.get("transform")]

        def second(found):
            return next(p for p in found if p != "translate(0 0)")

        assert second(places(5)).endswith(" 0)")
        assert second(places(40)).startswith("translate(0 ")

    def test_weights_of_another_shape_are_rejected(self):
        with pytest.raises(ValueError, match=naming("3 rows columns 2 [3]")):
            AttentionMatrix("plain", WORDS, WORDS, WEIGHTS[:2])


class TestTurns:
    def test_words_have_a_cell_per_turn_unless_unseen(self):
        scores = ((0.0, 1.0, math.nan), (0.5, 0.25, math.nan))
        svg = turns_svg([TurnScores("passage", WORDS, scores)], title="Turns")
        assert tips(svg) == [
            "Gulls, turn 1: 0.00",
            "Gulls, turn 2: 0.50",
            "<cry>, turn 1: 1.00",
            "<cry>, turn 2: 0.25",
            *("0", "0.25", "0.5", "0.75", "1"),
        ]
        labels = [text.text for text in elements(svg, "text", **{"class": "tag"})]
        assert labels[:3] == ["turn 1", "turn 2", "score"]

    def test_long_texts_are_wrapped_without_loss(self):
        words = tuple(f"word{number}" for number in range(100))
        svg = turns_svg([TurnScores("passage", words, ((0.5,) * 100,))], title="Turns")
        found = elements(svg, "text", **{"class": "word"})
        assert [text.text for text in found] == list(words)
        width = float(ElementTree.fromstring(svg).get("width", "nan"))
        assert width < 1000
        assert all(0 < float(text.get("x", "nan")) < width for text in found)
        assert len({text.get("y") for text in found}) > 3

    def test_a_wrong_number_of_scores_is_rejected(self):
        with pytest.raises(ValueError, match=naming("3 words turn [2]")):
            TurnScores("passage", WORDS, ((0.5, 0.5),))


@st.composite
def phrases(draw: st.DrawFn) -> tuple[int, tuple[Constituent, ...]]:
    """A number of words, and random phrases over them in pre-order."""
    n_words = draw(st.integers(1, 9))

    def inside(start: int, end: int, depth: int) -> Iterator[Constituent]:
        if depth > 4 or start >= end:
            return
        for label in draw(st.lists(st.sampled_from(["S", "NP", "WHADVP"]), max_size=2)):
            yield Constituent(label, start, end)
        cut = draw(st.integers(start, end))
        if start < cut < end:
            yield from inside(start, cut, depth + 1)
            yield from inside(cut, end, depth + 1)

    return n_words, tuple(inside(0, n_words, 0))


class TestPhrases:
    @given(phrases())
    def test_each_phrase_is_drawn_once_above_its_children(self, case):
        n_words, found = case
        forms = [f"w{number}" for number in range(n_words)]
        parse = Parse(Sentence.from_words(forms), tuple(range(n_words)), constituents=found)
        svg = phrase_svg(parse)
        drawn = elements(svg, "text", **{"class": "relation"})
        assert [label.text for label in drawn] == [phrase.label for phrase in found]
        boxes = []
        for label, (_, start, end) in zip(drawn, found, strict=True):
            boxes.append((start, end, float(label.get("x", "nan")), float(label.get("y", "nan"))))
        words = {
            text.text: float(text.get("x", "nan"))
            for text in elements(svg, "text", **{"class": "word"})
        }
        assert list(words) == forms
        for (start, end, x, y), (other_start, other_end, other_x, other_y) in combinations(
            boxes, 2
        ):
            # In pre-order, a later phrase is inside an earlier one or to its right.
            if start <= other_start and other_end <= end:
                assert other_y > y
            else:
                assert other_x > x
        for start, end, x, _ in boxes:
            assert words[f"w{start}"] - 0.2 <= x <= words[f"w{end - 1}"] + 0.2
        # One line to each phrase and each word inside a phrase.
        covered = {word for _, start, end in found for word in range(start, end)}
        n_tops = sum(
            not any(s <= start and end <= e for _, s, e in found[:number])
            for number, (_, start, end) in enumerate(found)
        )
        lines = "".join(path.get("d", "") for path in elements(svg, "path"))
        assert lines.count("V") == len(covered) + len(found) - n_tops

    def test_phrases_of_a_sentence(self, ferry):
        found = (Constituent("S", 0, 10), Constituent("NP", 0, 3), Constituent("VP", 3, 9))
        parse = Parse(
            ferry.sentence, ferry.heads, ferry.relations, ferry.upos, ferry.xpos, None, found
        )
        svg = phrase_svg(parse)
        description = ElementTree.fromstring(svg).find(f"{SVG}desc")
        assert description is not None
        assert (description.text or "").startswith(
            "(TOP (S (NP (DT The) (JJ old) (NN ferry)) (VP (VBD"
        )
        both = document_svg([parse])
        assert [text.text for text in elements(both, "text", **{"class": "word"})] == [
            *ferry.sentence.forms,
            *ferry.sentence.forms,
        ]

    def test_invalid_phrases_are_rejected(self, ferry):
        with pytest.raises(ValueError, match=naming("constituents decoding separate joint")):
            phrase_svg(ferry)
        crossing = (Constituent("A", 0, 3), Constituent("B", 2, 5))
        parse = Parse(ferry.sentence, ferry.heads, constituents=crossing)
        with pytest.raises(ValueError, match=naming("B 3 5 1 3")):
            phrase_svg(parse)
