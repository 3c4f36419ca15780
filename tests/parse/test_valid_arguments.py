"""At most one subject and one object of a head, chosen so that the least is lost."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from syntagma.parse.validity.arguments import is_object, is_subject, single_arguments

NAMES = ("root", "nsubj", "nsubj:pass", "nsubj:outer", "obj", "obl", "csubj")


def named(scores: dict[str, float]) -> list[float]:
    return [scores.get(name, -5.0) for name in NAMES]


def chosen(rows, heads) -> list[str]:
    scores = np.array([[named(row) for row in rows]])
    return [NAMES[code] for code in single_arguments(scores, np.array([heads]), NAMES)[0]]


def test_the_subject_that_would_lose_most_stays():
    town = {"nsubj": 3.0, "obl": 2.5}
    she = {"nsubj:pass": 2.0, "obl": -1.0}
    assert chosen([town, she, {"root": 1}], [3, 3, 0]) == ["obl", "nsubj:pass", "root"]


def test_other_relations_and_other_heads_are_left_alone():
    rows = [{"nsubj": 3.0}, {"nsubj:outer": 3.0}, {"root": 1}, {"nsubj": 1.0}, {"obj": 2.0}]
    assert chosen(rows, [3, 3, 0, 5, 3]) == ["nsubj", "nsubj:outer", "root", "nsubj", "obj"]


def test_a_second_subject_may_become_the_object_but_not_a_second_one():
    rows = [{"nsubj": 3.0}, {"nsubj": 2.0, "obj": 1.5, "obl": 1.0}, {"root": 1}, {"obj": 4.0}]
    assert chosen(rows[:3], [3, 3, 0]) == ["nsubj", "obj", "root"]
    assert chosen(rows, [3, 3, 0, 3]) == ["nsubj", "obl", "root", "obj"]


def test_a_parser_without_such_relations_or_with_nothing_else():
    scores = np.random.default_rng(0).normal(size=(1, 3, 2))
    for names in (("root", "dep"), ("nsubj", "csubj")):
        codes = single_arguments(scores, np.array([[2, 0, 2]]), names)
        np.testing.assert_array_equal(codes, scores.argmax(-1))


@given(
    arrays(np.float32, (2, 5, len(NAMES)), elements=st.floats(-9, 9, width=32)),
    arrays(np.int64, (2, 5), elements=st.integers(0, 5)),
)
def test_no_head_has_two_and_what_is_right_stays(scores, heads):
    codes = single_arguments(scores, heads, NAMES)
    best = scores.argmax(-1)
    for row in range(2):
        for head in range(1, 6):
            relations = [NAMES[codes[row, word]] for word in range(5) if heads[row, word] == head]
            assert sum(map(is_subject, relations)) <= 1
            assert sum(map(is_object, relations)) <= 1
    for row, word in zip(*np.nonzero(codes != best), strict=True):
        assert is_subject(NAMES[best[row, word]]) or is_object(NAMES[best[row, word]])
