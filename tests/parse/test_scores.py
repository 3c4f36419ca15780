"""Words with two subjects or two objects, of which our example trees have none."""

from __future__ import annotations

from pathlib import Path

import pytest

from syntagma.parse.scores import double_arguments
from syntagma.tasks.parsing.treebanks import read_treebank
from syntagma.text.sentence import Parse, Sentence

TREES = Path(__file__).parents[2] / "examples" / "trees"


def parse_of(*arcs: tuple[str, int, str]) -> Parse:
    forms, heads, relations = zip(*arcs, strict=True)
    blank = ["_"] * len(forms)
    return Parse(Sentence.from_words(forms), heads, relations, blank, blank)


@pytest.mark.parametrize(
    ("arcs", "expected"),
    [
        # Both nouns as passive subjects, and as subjects of different kinds.
        ([("city", 3, "nsubj:pass"), ("he", 3, "nsubj:pass"), ("born", 0, "root")], (1, 0)),
        ([("that", 3, "csubj"), ("it", 3, "nsubj"), ("helps", 0, "root")], (1, 0)),
        # The outer subject of a clausal predicate does not count as a second subject.
        ([("fact", 3, "nsubj:outer"), ("it", 3, "nsubj"), ("rains", 0, "root")], (0, 0)),
        ([("birds", 2, "obj"), ("eat", 0, "root"), ("seeds", 2, "obj")], (0, 1)),
        ([("give", 0, "root"), ("her", 1, "iobj"), ("tea", 1, "obj")], (0, 0)),
        # One subject and one object each, of two verbs.
        (
            [("he", 2, "nsubj"), ("says", 0, "root"), ("she", 4, "nsubj"), ("won", 2, "ccomp")],
            (0, 0),
        ),
    ],
)
def test_double_arguments_are_counted(arcs, expected):
    counts = double_arguments(parse_of(*arcs))
    assert (counts["two_subjects"], counts["two_objects"]) == expected


@pytest.mark.parametrize("kind", ["questions", "instructions"])
def test_example_trees_are_complete_and_their_halves_do_not_overlap(kind):
    halves = [read_treebank(TREES / f"{kind}-{half}.conllu") for half in ("train", "test")]
    texts = [{" ".join(example.gold.sentence.forms) for example in half} for half in halves]
    assert [len(half) for half in texts] == [75, 75]
    assert not texts[0] & texts[1]
    for half in halves:
        for example in half:
            assert list(example.gold.relations).count("root") == 1
            assert not any(double_arguments(example.gold).values())
