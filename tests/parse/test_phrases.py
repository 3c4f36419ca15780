"""How phrases relate to dependencies, head rules, and bracket scores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.parse.bracket_scores import BracketScore
from syntagma.parse.head_rules import heads_by_rule
from syntagma.parse.phrases import (
    agree,
    collapse_chains,
    crossing_arcs,
    expand_chains,
)
from syntagma.text.brackets import parse_brackets
from syntagma.text.sentence import Constituent


def tree(line):
    (found,) = parse_brackets([line])
    return found


FERRY = tree(
    "(TOP (S (NP (DT The) (JJ old) (NN ferry)) (VP (VBD crossed) (NP (DT the) (NN river))"
    " (PP (IN before) (NP (NN dawn)))) (. .)))"
)
UNIVERSAL = (3, 3, 4, 0, 6, 4, 8, 4, 4)


def test_collapsing_chains_is_reversible():
    chain = tree("(TOP (S (VP (VB Row) (S (VP (NP (NN home)))))))").constituents
    assert [span.label for span in collapse_chains(chain)] == ["S+VP", "S+VP+NP"]
    assert expand_chains(reversed(collapse_chains(chain))) == chain


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        (UNIVERSAL, True),
        ((3, 3, 4, 0, 6, 4, 4, 4, 4), False),  # "before" and "dawn" both leave their phrase.
        ((3, 3, 4, 0, 6, 4, 8, 5, 4), False),  # "dawn" depends on "the" instead of "river".
        ((4, 3, 4, 0, 6, 4, 8, 4, 4), False),
    ],
)
def test_agreement_of_phrases_and_dependencies(heads, expected):
    assert agree(FERRY.constituents, heads) is expected


def test_crossing_arcs_are_counted_and_agree_with_no_phrases():
    heads = (3, 4, 0, 3)
    assert crossing_arcs(heads) == 3
    assert not agree([], heads)


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(*(st.integers(0, i) for i in range(n)))))
def test_crossing_arcs_match_a_check_of_every_pair(heads):
    arcs = [tuple(sorted((head, word))) for word, head in enumerate(heads, start=1)]
    crossed = {
        arc for arc in arcs for other in arcs
        if arc[0] < other[0] < arc[1] < other[1] or other[0] < arc[0] < other[1] < arc[1]
    }  # fmt: skip
    assert crossing_arcs(heads) == sum(arc in crossed for arc in arcs)


@pytest.mark.parametrize(
    ("line", "heads"),
    [
        (FERRY, (3, 3, 4, 0, 6, 4, 4, 7, 4)),
        ("(TOP (NP (NP (NN salt)) (CC and) (NP (NN tar))))", (0, 1, 1)),
        ("(TOP (NP (NNP Ada) (POS 's)))", (2, 0)),
        ("(TOP (NP (NN tide) (NN table)))", (2, 0)),
        ("(TOP (S (NP (PRP We)) (VP (MD can) (VP (VB row)))))", (2, 0, 2)),
        ("(TOP (SBAR (WHNP (WP who)) (S (VP (VBD sang)))))", (0, 1)),
        ("(TOP (NN sand) (. .))", (0, 1)),
        ("(TOP (FRAG (: --) (: --)))", (2, 0)),
    ],
)
def test_heads_by_rule(line, heads):
    found = line if line is FERRY else tree(line)
    assert heads_by_rule(found.constituents, found.tags) == heads
    assert agree(found.constituents, heads)


@pytest.mark.parametrize(
    ("label", "children", "head"),
    [
        # The first label of the rule that occurs decides, then the direction.
        ("ADJP", "RB JJ RB", 1), ("ADJP", "JJ NN", 1), ("ADVP", "RB IN", 0), ("ADVP", "RB RB", 1),
        ("CONJP", "RB CC IN", 1), ("CONJP", "RB RB", 1), ("FRAG", "NP ADVP", 1),
        ("INTJ", "UH UH", 0), ("LST", "LS :", 0), ("LST", "LS LS", 1), ("NAC", "JJ NNP NNP", 1),
        ("PP", "IN NP IN", 2), ("PP", "NP TO", 1), ("PP", "VBG IN", 1), ("PRN", "NP VP", 0),
        ("PRT", "RP RP", 1), ("QP", "CD IN", 1), ("QP", "RB CD CD", 0), ("RRC", "NP ADVP PP", 0),
        ("RRC", "ADVP VP", 1), ("S", "NP VP", 1), ("S", "VP VP", 0), ("SBAR", "S WHNP", 1),
        ("SBARQ", "WHNP SQ", 1), ("SQ", "NP VBD VP", 1), ("SQ", "NP SQ", 1),
        ("SINV", "VP VBD NP", 1), ("UCP", "NP ADJP", 1), ("VP", "MD VB", 0), ("VP", "VB VBD", 1),
        ("WHADJP", "JJ WRB", 1), ("WHADJP", "JJ JJ", 0), ("WHADVP", "WRB CC", 1),
        ("WHADVP", "WRB WRB", 1),
        ("WHNP", "WP WDT", 1), ("WHNP", "WDT NN", 1), ("WHNP", "DT WHNP", 1),
        ("WHPP", "WHNP IN", 1), ("WHPP", "IN IN", 1), ("X", "NN VB", 0),
        # The rule for noun phrases searches in several rounds.
        ("NP", "NN NNP DT", 1), ("NP", "NNPS DT", 0), ("NP", "DT NNS CD", 1), ("NP", "NX CD", 0),
        ("NP", "NN JJR", 1), ("NP", "CD JJR JJ", 1), ("NP", "NP NP", 0), ("NP", "JJ NP", 1),
        ("NP", "$ CD", 0), ("NP", "ADJP CD", 0), ("NP", "CD PRN DT", 1), ("NP", "CD JJ", 0),
        ("NP", "CD CD DT", 1), ("NP", "DT JJ DT", 1), ("NP", "DT JJS DT", 1), ("NP", "DT RB DT", 1),
        ("NP", "DT QP DT", 1), ("NP", "NN POS", 1), ("NP", "POS NN DT", 1), ("NP", "DT PRP", 0),
        ("NX", "DT NN DT", 1),
        # Punctuation is only a head if there is nothing else.
        ("NP", ", DT", 1), ("NP", "-LRB- DT -RRB-", 1), ("PRN", ": NP :", 1), ("X", "HYPH DT", 1),
        ("X", "`` DT ''", 1), ("UCP", "DT . NFP", 0), ("UCP", "DT -RRB-", 0), ("NP", ", ,", 0),
        # The head of a coordination is the conjunct before the conjunction.
        ("NP", "NN , CC NN", 0), ("NP", "NN NN CC NN", 1), ("NP", "DT , , CC NN", 0),
        ("VP", "MD CC MD", 0), ("UCP", "NP CC ADJP", 0), ("NP", "CC NN", 1),
        ("NP", "NN CC NN DT", 0), ("NP", ", CC NN DT", 2), ("NP", "NN DT NN", 2),
    ],
)  # fmt: skip
def test_the_head_child_of_a_phrase(label, children, head):
    tags = children.split()
    words = " ".join(f"({tag} w{number})" for number, tag in enumerate(tags))
    found = tree(f"(TOP ({label} {words}))")
    expected = tuple(0 if number == head else head + 1 for number in range(len(tags)))
    assert heads_by_rule(found.constituents, found.tags) == expected


def score(gold, predicted):
    right, found = tree(gold), tree(predicted)
    return BracketScore.of(right.constituents, found.constituents, right.tags)


def test_brackets_are_counted_as_a_multiset():
    gold = "(S (NP (NP (DT a) (NN b))) (VP (VB c)))"
    assert score(gold, gold) == BracketScore(4, 4, 4, 1, 1)
    once = score(gold, "(S (NP (DT a) (NN b)) (VP (VB c)))")
    assert once == BracketScore(gold=4, predicted=3, matched=3, sentences=1, complete=0)
    assert once.precision == 100
    assert once.recall == 75
    assert once.f1 == pytest.approx(600 / 7)


def test_punctuation_is_removed_before_spans_are_compared():
    gold = "(S (`` ``) (NP (NN a) (, ,)) (VP (VB c)) (. .) ('' ''))"
    other = "(S (`` ``) (S (NP (NN a)) (, ,) (VP (VB c) (. .))) (PRN ('' '')))"
    found = score(gold, other)
    # Without punctuation, the inner S spans the same words as the outer one, and PRN spans none.
    assert found == BracketScore(gold=3, predicted=4, matched=3, sentences=1, complete=0)


def test_particle_phrases_count_as_adverb_phrases():
    assert score("(VP (VB row) (PRT (RP on)))", "(VP (VB row) (ADVP (RB on)))").complete == 1


def test_scores_add_up():
    one = score("(S (NP (NN a)) (VP (VB b)))", "(S (NP (NN a)) (NP (VB b)))")
    two = one + one + BracketScore()
    assert two == BracketScore(6, 6, 4, 2, 0)
    assert two.f1 == one.f1 == pytest.approx(200 / 3)
    assert BracketScore().f1 == BracketScore().complete_match == 0


def test_labels_must_match():
    assert score("(S (NN a) (NN b))", "(NP (NN a) (NN b))").matched == 0
    assert Constituent("S", 0, 2) != Constituent("NP", 0, 2)
