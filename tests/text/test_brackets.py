"""Reading and writing Penn brackets."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.errors import InputError
from syntagma.text.brackets import format_brackets, parse_brackets, read_brackets
from syntagma.text.escapes import QUOTES
from syntagma.text.sentence import Constituent
from tests.messages import naming


def parse_one(*lines):
    (tree,) = parse_brackets(lines)
    return tree


def test_words_tags_and_phrases_in_pre_order():
    tree = parse_one("(TOP (S (NP (DT The) (NN tide)) (VP (VBD rose)) (. .)))")
    assert tree.forms == ("The", "tide", "rose", ".")
    assert tree.tags == ("DT", "NN", "VBD", ".")
    assert tree.constituents == (("S", 0, 4), ("NP", 0, 2), ("VP", 2, 3))


@pytest.mark.parametrize("root", ["TOP", "ROOT", "S1", ""])
def test_the_top_bracket_is_not_a_phrase(root):
    assert parse_one(f"({root} (X (NN sand)))").constituents == (("X", 0, 1),)
    assert parse_one(f"({root} (NN sand))").constituents == ()


def test_traces_and_empty_phrases_are_dropped():
    tree = parse_one(
        "( (S (NP-SBJ-1 (NNS Gulls)) (VP (VBP seem) (S (NP-SBJ (-NONE- *-1)) (VP (TO to)"
        " (VP (VB wait) (NP (-NONE- *T*-2))))))))"
    )
    assert tree.forms == ("Gulls", "seem", "to", "wait")
    assert tree.constituents == (
        ("S", 0, 4), ("NP", 0, 1), ("VP", 1, 4), ("S", 2, 4), ("VP", 2, 4), ("VP", 3, 4),
    )  # fmt: skip
    assert len(parse_one("(TOP (NP (-NONE- *)))")) == 0


def test_a_sentence_without_words_is_read_as_it_is_written():
    assert format_brackets([], [], []) == "(TOP)"
    assert len(parse_one("(TOP)")) == 0
    # Some parsers write it where they fail.
    trees = list(parse_brackets(["(())", "( () )", "(TOP (NP (NN oil)))"]))
    assert [tree.forms for tree in trees] == [(), (), ("oil",)]
    assert not trees[0].constituents


def test_trees_may_span_lines_and_share_lines():
    lines = ["(TOP (NP", "", "   (NN salt)))(TOP (NP (NN oil)))", "(TOP (NP (NN tar)))"]
    assert [tree.forms for tree in parse_brackets(lines)] == [("salt",), ("oil",), ("tar",)]


def test_forms_keep_the_escapes_and_sentence_replaces_them():
    tree = parse_one("(S (-LRB- -LRB-) (`` ``) (NN a\\/b) (NN S-LRB-2-RRB-) ('' '') (-RRB- -RRB-))")
    assert tree.sentence().forms == ("(", '"', "a/b", "S(2)", '"', ")")
    assert tree.forms[0] == "-LRB-"
    assert tree.tags[0] == "-LRB-"


def test_deep_trees_need_no_recursion():
    deep = 20_000
    tree = parse_one("(A " * deep + "(NN x)" + ")" * deep)
    assert len(tree.constituents) == deep


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("salt", "salt"),
        ("(S (NN a)))", "')'"),
        ("(S (NN a)", "1"),
        ("(S (NN a b))", "word b (NN b)"),
        ("(S (NN a) b)", "word b (NN b)"),
        ("(S (NN a (NN b)))", "'NN a'"),
        ("(S (NP (PRP We)) (VP (VBD saw) (the) (NN cat)))", "'(the)' NN the"),
        ("(S (NN a) ())", "'()'"),
        ("(S (NN a) (TOP))", "'(TOP)'"),
        ("()", "'()'"),
        ("(the)", "'(the)'"),
    ],
)
def test_invalid_trees_are_reported_with_their_line(line, message):
    with pytest.raises(InputError, match=naming(f"tides.ptb line 2 {message}")):
        list(parse_brackets(["(TOP (NN ok))", line], name="tides.ptb"))


def test_reads_gzip_and_rejects_empty_files(tmp_path):
    path = tmp_path / "a.ptb.gz"
    path.write_bytes(gzip.compress(b"(TOP (NP (NN salt)))\n"))
    assert [tree.forms for tree in read_brackets(path)] == [("salt",)]
    empty = tmp_path / "b.ptb"
    empty.write_text("\n")
    with pytest.raises(InputError, match=naming("b.ptb trees Penn")):
        list(read_brackets(empty))


@st.composite
def trees(draw):
    """Random nested phrases over a few words, including unary chains."""
    n_words = draw(st.integers(1, 8))
    forms = draw(
        st.lists(
            st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1),
            min_size=n_words,
            max_size=n_words,
        )
    )
    labels = st.sampled_from(["S", "NP", "VP"])
    found = []
    todo = [(0, n_words)]
    while todo:
        start, end = todo.pop()
        for _ in range(draw(st.integers(0, 2))):
            found.append(Constituent(draw(labels), start, end))
        if end - start > 1:
            split = draw(st.integers(start + 1, end - 1))
            todo += [(split, end), (start, split)]
    return forms, found


@given(trees())
def test_format_and_parse_round_trip(tree):
    forms, constituents = tree
    again = parse_one(format_brackets(forms, ["NN"] * len(forms), constituents))
    assert again.constituents == tuple(constituents)
    assert len(again) == len(forms)
    if not any("\\" in form or "-" in form for form in forms):
        # The treebank's quotes are read as what they stand for.
        assert list(again.sentence().forms) == [QUOTES.get(form, form) for form in forms]


@pytest.mark.parametrize("quote", QUOTES)
def test_a_quote_is_read_as_what_it_stands_for(quote):
    again = parse_one(format_brackets([quote, "tea"], ["``", "NN"], []))
    assert again.sentence().forms == (QUOTES[quote], "tea")


def test_spaces_inside_words_are_escaped():
    assert format_brackets(["1 000", "("], ["CD", "("], []) == (
        "(TOP (CD 1_000) (-LRB- -LRB-))"
    )  # fmt: skip
