from __future__ import annotations

import random
import re
import subprocess
import sys
from collections import Counter
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.drawing.arc_layout import LABEL_MARGIN, TreeLayout, arc_levels, lay_out_tree
from syntagma.drawing.svg import text_width
from syntagma.drawing.tree_svg import dependency_svg, document_svg
from syntagma.text.sentence import Parse, Sentence
from tests.messages import naming

SVG = "{http://www.w3.org/2000/svg}"
CROSSING = Parse(
    Sentence.from_words(["A", "letter", "arrived", "yesterday", "that", "nobody", "opened", "."]),
    (2, 3, 0, 3, 7, 7, 2, 3),
    ("det", "nsubj", "root", "obl:tmod", "obj", "nsubj", "acl:relcl", "punct"),
)


def texts(svg: str, kind: str) -> list[str]:
    """The texts of one class, in the order of the file."""
    root = ElementTree.fromstring(svg)
    return [
        text.text or ""
        for text in root.iter()
        if text.tag.removeprefix(SVG) == "text" and text.get("class") == kind
    ]


@st.composite
def trees(draw: st.DrawFn, *, projective: bool = False) -> list[int]:
    """Heads of a random tree."""
    n_words = draw(st.integers(1, 12))
    heads = [0] * n_words
    if projective:
        # Recursively choose a head and split the words on its left and right.
        todo = [(1, n_words, 0)]
        while todo:
            first, last, head = todo.pop()
            if first <= last:
                word = draw(st.integers(first, last))
                heads[word - 1] = head
                todo += [(first, word - 1, word), (word + 1, last, word)]
        return heads
    order = draw(st.permutations(range(1, n_words + 1)))
    for place, word in enumerate(order[1:], start=1):
        heads[word - 1] = order[draw(st.integers(0, place - 1))]
    return heads


def spans(heads: list[int]) -> dict[int, tuple[int, int]]:
    return {w: (min(w, h), max(w, h)) for w, h in enumerate(heads, start=1) if h}


def fits(levels: dict[int, int], arcs: dict[int, tuple[int, int]]) -> bool:
    """Whether arcs of one level do not overlap, and each arc is above those it spans."""
    for a, b in combinations(arcs, 2):
        (left, right), (start, end) = arcs[a], arcs[b]
        if left < end and start < right and levels[a] == levels[b]:
            return False
        if left <= start and end <= right and levels[a] < levels[b]:
            return False
        if start <= left and right <= end and levels[b] < levels[a]:
            return False
    return True


@given(trees())
def test_levels_do_not_overlap_and_are_minimal(heads: list[int]) -> None:
    arcs = spans(heads)
    levels = dict(enumerate(arc_levels(heads), start=1))
    assert all((level > 0) == (word in arcs) for word, level in levels.items())
    assert fits(levels, arcs)
    for word in arcs:
        for lower in range(1, levels[word]):
            assert not fits({**levels, word: lower}, arcs)


@given(trees(projective=True))
def test_levels_of_projective_trees_are_nesting_depths(heads: list[int]) -> None:
    arcs = spans(heads)

    def depth(word: int) -> int:
        left, right = arcs[word]
        inner = [a for a in arcs if a != word and left <= arcs[a][0] and arcs[a][1] <= right]
        return 1 + max(map(depth, inner), default=0)

    expected = [depth(word) if word in arcs else 0 for word in range(1, len(heads) + 1)]
    assert list(arc_levels(heads)) == expected


def legs(layout: TreeLayout) -> list[tuple[float, int, int]]:
    """Each vertical line: x, height in levels, arc."""
    lines = []
    for arc in layout.arcs:
        lines.append((arc.dependent_x, arc.level, arc.dependent))
        if arc.head:
            lines.append((arc.head_x, arc.level, arc.dependent))
    return lines


@given(trees(), st.randoms(use_true_random=False))
def test_words_and_labels_do_not_overlap(heads: list[int], chance: random.Random) -> None:
    word_widths = [chance.uniform(4, 90) for _ in heads]
    label_widths = [chance.choice([0.0, 15.0, 40.0, 90.0]) for _ in heads]
    layout = lay_out_tree(heads, word_widths=word_widths, label_widths=label_widths)
    words = list(zip(layout.word_xs, word_widths, strict=True))
    for (left_x, left_width), (x, width) in pairwise(words):
        assert left_x + left_width / 2 < x - width / 2
    assert all(x - width / 2 >= 0 and x + width / 2 <= layout.width for x, width in words)
    boxes = [
        (arc.level, arc.label_x - width / 2, arc.label_x + width / 2)
        for arc, width in zip(layout.arcs, label_widths, strict=True)
        if width
    ]
    for (level, left, right), (other_level, start, end) in combinations(boxes, 2):
        assert level != other_level or right < start or end < left
    for arc, width in zip(layout.arcs, label_widths, strict=True):
        for x, height, other in legs(layout):
            if arc.head and other != arc.dependent and height > arc.level:
                # A vertical line that passes the label keeps its distance.
                assert abs(x - arc.label_x) >= width / 2 + LABEL_MARGIN - 1e-6
        low, high = sorted((arc.head_x, arc.dependent_x))
        assert low - 1e-6 <= arc.label_x - width / 2 <= arc.label_x + width / 2 <= high + 1e-6 or (
            not arc.head
        )


@given(trees(projective=True))
def test_arcs_of_projective_trees_never_cross(heads: list[int]) -> None:
    sizes = [20.0] * len(heads)
    layout = lay_out_tree(heads, word_widths=sizes, label_widths=sizes)
    lines = legs(layout)
    assert len({x for x, _, _ in lines}) == len(lines), "two legs share an x"
    for arc in layout.arcs:
        low, high = sorted((arc.head_x, arc.dependent_x))
        for x, height, other in lines:
            assert other == arc.dependent or not (low <= x <= high and height >= arc.level)


@given(trees())
def test_legs_are_at_head_and_dependent(heads: list[int]) -> None:
    sizes = [20.0] * len(heads)
    layout = lay_out_tree(heads, word_widths=sizes, label_widths=sizes)

    n_legs = Counter([*heads, *range(1, len(heads) + 1)])

    def is_at(x: float, word: int) -> bool:
        return abs(x - layout.word_xs[word - 1]) <= max(20, 9 * n_legs[word]) / 2

    assert [arc.head for arc in layout.arcs] == heads
    for arc in layout.arcs:
        assert is_at(arc.dependent_x, arc.dependent)
        assert is_at(arc.head_x, arc.head or arc.dependent)


@pytest.mark.parametrize("heads", [[2, 3], [1], [0, -1]])
def test_invalid_heads_are_rejected(heads: list[int]) -> None:
    with pytest.raises(ValueError, match=naming(f"heads 0 {len(heads)}")):
        arc_levels(heads)


def test_each_word_tag_and_label_is_drawn_once(parses: list[Parse]) -> None:
    for parse in [*parses, CROSSING]:
        svg = dependency_svg(parse)
        assert texts(svg, "word") == list(parse.sentence.forms)
        assert Counter(texts(svg, "relation")) == Counter(parse.relations)
        expected = [] if parse is CROSSING else [*parse.upos, *parse.xpos]
        assert Counter(texts(svg, "tag")) == Counter(expected)


def test_drawn_arcs_connect_head_and_dependent(parses: list[Parse]) -> None:
    parse = parses[0]
    root = ElementTree.fromstring(dependency_svg(parse))
    places = [float(e.get("x", "")) for e in root.iter(f"{SVG}text") if e.get("class") == "word"]

    def nearest(x: str) -> int:
        return min(range(len(places)), key=lambda word: abs(places[word] - float(x))) + 1

    edges = [group for group in root.iter(f"{SVG}g") if group.get("class") == "edge"]
    tips = [g.find(f"{SVG}path[@class='tip']").get("d") for g in edges]
    arcs = [g.find(f"{SVG}path[@class='arc']").get("d") for g in edges]
    dependents = [nearest(re.match(r"M([\d.]+) ", tip)[1]) for tip in tips]
    starts = [nearest(re.match(r"M([\d.]+) ", arc)[1]) for arc in arcs]
    assert dependents == list(range(1, len(parse) + 1))
    assert starts == [head or word for word, head in enumerate(parse.heads, start=1)]


NASTY = ["<script>alert(1)</script>", "&amp;", '"', "'", "]]>", "-->", "a\x00b\x0cc", "\ud800"]


@pytest.mark.parametrize("standalone", [True, False])
def test_markup_in_words_is_escaped(standalone: bool) -> None:
    parse = Parse(
        Sentence.from_words(NASTY),
        (0, *[1] * (len(NASTY) - 1)),
        relations=('<i a="', *["&"] * (len(NASTY) - 1)),
    )
    svg = dependency_svg(parse, title="<b>&\"'", standalone=standalone)
    svg.encode("utf-8")
    shown = texts(svg, "word")
    assert shown == [*NASTY[:-2], "a\ufffdb c", "\ufffd"]
    assert texts(svg, "relation")[0] == '<i a="'
    assert "script" not in {element.tag for element in ElementTree.fromstring(svg).iter()}


@pytest.mark.parametrize(
    "words",
    [
        ["Look"],
        ["天文台", "今天", "开放", "。"],
        ["قرأ", "الطالب", "הספר", "‏"],
        ["👩‍🚀", "é", "\u200b", "\u0301"],
        ["https://example.org/" + "x" * 300, "W" * 100],
        ["word"] * 200,
    ],
    ids=["one", "wide", "right-to-left", "combining", "long", "many"],
)
def test_any_words_can_be_drawn(words: list[str]) -> None:
    heads = tuple(max(0, word - 1 - word % 3) for word in range(1, len(words) + 1))
    parse = Parse(Sentence.from_words(words), heads)
    svg = dependency_svg(parse)
    assert texts(svg, "word") == words
    width = float(ElementTree.fromstring(svg).get("width", ""))
    assert width >= sum(text_width(word, 16) for word in words)


def test_wide_characters_are_wider() -> None:
    assert text_width("天文", 16) >= 32
    assert text_width("😀", 16) >= 20
    assert text_width("e\u0301", 16) == text_width("e", 16)


def test_the_root_is_marked_even_without_relations() -> None:
    svg = dependency_svg(Parse(Sentence.from_words(["No", "labels"]), (2, 0)))
    assert texts(svg, "relation") == ["root"]
    weights = re.findall(r'stroke-width="([\d.]+)"', svg)
    assert float(weights[1]) > float(weights[0])


def test_improbable_arcs_are_dashed_and_labelled() -> None:
    sentence = Sentence.from_words(["It", "rains"])
    parse = Parse(sentence, (2, 0), ("nsubj", "root"), probabilities=(0.31, 0.99))
    svg = dependency_svg(parse)
    assert svg.count("stroke-dasharray") == 1
    assert "It: nsubj of rains, probability 0.31" in svg
    sure = Parse(sentence, (2, 0), ("nsubj", "root"))
    assert "stroke-dasharray" not in dependency_svg(sure)


def test_only_standalone_figures_have_colours(parses: list[Parse]) -> None:
    standalone, part = (
        dependency_svg(parses[0]),
        dependency_svg(parses[0], standalone=False, first_word=5),
    )
    root = ElementTree.fromstring(standalone)
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert "lighthouse" in (root[0].text or "")
    assert "prefers-color-scheme: dark" in standalone
    assert 'class="paper"' in standalone
    assert "<style" not in part
    assert "paper" not in part
    numbers = [int(number) for number in re.findall(r'class="node" data-word="(\d+)"', part)]
    assert numbers == list(range(5, 5 + len(parses[0])))
    assert "data-word" not in standalone


def test_the_tree_is_described_in_words(parses: list[Parse]) -> None:
    root = ElementTree.fromstring(dependency_svg(parses[2]))
    description = root.findtext(f"{SVG}desc") or ""
    assert description.startswith("It: nsubj of <dark>; was: cop of <dark>; <dark>: root;")


def test_a_document_stacks_its_sentences(parses: list[Parse]) -> None:
    svg = document_svg([*parses, CROSSING], title="A text")
    root = ElementTree.fromstring(svg)
    assert root.findtext(f"{SVG}title") == "A text"
    groups = [group for group in root if group.get("role") == "img"]
    assert [group.findtext(f"{SVG}title", "").split(":")[0] for group in groups] == [
        f"Sentence {number}" for number in range(1, 5)
    ]
    words = [word for parse in [*parses, CROSSING] for word in parse.sentence.forms]
    assert texts(svg, "word") == words
    singles = [ElementTree.fromstring(dependency_svg(parse)) for parse in [*parses, CROSSING]]
    heights = [float(single.get("height", "")) for single in singles]
    offsets = [float(re.findall(r"[\d.]+", group.get("transform", ""))[1]) for group in groups]
    assert offsets == [sum(heights[:index]) for index in range(4)]
    assert float(root.get("height", "")) == sum(heights)
    assert float(root.get("width", "")) == max(float(s.get("width", "")) for s in singles)


def test_empty_input_gives_a_valid_picture() -> None:
    empty = Parse(Sentence((), (), ()), ())
    for svg in (document_svg([]), document_svg([empty]), dependency_svg(empty)):
        assert float(ElementTree.fromstring(svg).get("height", "")) > 0


def test_drawing_does_not_import_frameworks() -> None:
    script = (
        "import sys, syntagma.drawing.tree_svg, syntagma.report.answer_page;"
        "print({'torch', 'transformers', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr


@pytest.mark.chromium
def test_texts_do_not_overlap_in_a_browser(browser, tmp_path, parses: list[Parse]) -> None:
    path = tmp_path / "trees.svg"
    mixed = Parse(
        Sentence.from_words(["天文台", "WWW@mmm", "Überstraße", "😀", "…—“x”", "الطالب"]),
        (2, 0, 2, 3, 2, 1),
        ("nsubj", "root", "nmod:poss", "discourse", "acl:relcl", "parataxis"),
    )
    path.write_text(document_svg([*parses, CROSSING, mixed]), encoding="utf-8")
    browser.open(path)
    touching = browser.run(
        """(() => {
          const all = [...document.querySelectorAll("text")];
          const boxes = all.map((text) => text.getBoundingClientRect());
          const pairs = [];
          // Line boxes are taller than letters: three pixels of them may overlap.
          boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b, j) => {
            const sameColumn = a.left < b.right && b.left < a.right;
            if (sameColumn && a.top + 3 < b.bottom && b.top + 3 < a.bottom)
              pairs.push([all[i].textContent, all[i + 1 + j].textContent]);
          }));
          return [all.length, pairs];
        })()"""
    )
    assert touching[0] > 100
    assert touching[1] == []
