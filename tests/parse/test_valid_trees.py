"""Parses keep the rules of Universal Dependencies that the scores of single arcs do not know."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.cli import main
from syntagma.encoders.default import find_default
from syntagma.parse.dependency import decode_heads
from syntagma.parse.trees import are_trees
from syntagma.parse.validity.exceptions import exceptions_in
from syntagma.parse.validity.punctuation import attach_punctuation
from syntagma.parse.validity.relations import choose_relations
from syntagma.parse.validity.rules import rules_for
from syntagma.tasks.parsing.treebanks import read_treebank
from syntagma.text.sentence import Parse, Sentence

ROOT = Path(__file__).parents[2]
GOLD = ROOT / "tests" / "data" / "gate" / "sentences.conllu"
RELATIONS = (
    *("root", "dep", "obj", "nsubj", "punct", "mark", "aux", "advmod", "det", "conj"),
    *("goeswith", "flat:name", "obl", "nmod", "cop"),
)
TAGS = ("NOUN", "AUX", "PUNCT", "ADV", "X", "DET", "SCONJ")
FEATS = ("_", "ExtPos=ADV|Number=Sing", "Polarity=Neg")


def is_projective(heads: Sequence[int], word: int) -> bool:
    """Whether a leaf is attached projectively, by the words of the rule."""

    def dominates(upper: int, lower: int) -> bool:
        while lower != upper and lower:
            lower = heads[lower - 1]
        return lower == upper

    own = heads[word - 1]
    for other in range(min(own, word) + 1, max(own, word)):
        if not dominates(own, other):
            return False
    for dependent, head in enumerate(heads, start=1):
        low, high = min(dependent, head), max(dependent, head)
        if low < word < high and not dominates(head, word) and not low < own < high:
            return False
    return True


def scores_of(best: dict[int, list[int]], n_words: int) -> np.ndarray:
    """Scores that prefer some heads of some words, in this order."""
    scores = np.full((1, n_words, n_words + 1), -9.0)
    for word, heads in best.items():
        scores[0, word - 1, heads] = -np.arange(len(heads), dtype=float)
    return scores


def test_punctuation_moves_to_the_best_head_where_it_is_projective():
    heads = np.array([[4, 4, 5, 0, 4]])
    scores = scores_of({3: [5, 1, 4, 2]}, 5)
    is_punctuation = np.array([[False, False, True, False, False]])
    assert attach_punctuation(scores, heads, is_punctuation).tolist() == [[4, 4, 4, 0, 4]]
    assert heads[0, 2] == 5, "the given heads stay as they are"


def test_a_mark_at_the_end_may_pass_a_word_that_depends_on_its_head():
    # "What was it built for ?", where "for" belongs to "What", across the root.
    heads = [[4, 4, 4, 0, 1, 4]]
    is_punctuation = np.array([[False, False, False, False, False, True]])
    scores = scores_of({6: [4, 5, 1]}, 6)
    assert attach_punctuation(scores, np.array(heads), is_punctuation).tolist() == heads


def test_punctuation_with_dependents_and_the_root_stay():
    is_punctuation = np.array([[False, True, False, False, False]])
    for heads in ([[5, 5, 2, 1, 0]], [[4, 0, 1, 2, 2]]):
        given = np.array(heads)
        found = attach_punctuation(scores_of({2: [4]}, 5), given, is_punctuation)
        assert found.tolist() == heads


@given(st.integers(0, 10_000), st.integers(1, 9), st.floats(0, 1))
def test_a_tree_stays_one_and_only_leaves_that_are_punctuation_move(seed, n_words, share):
    random = np.random.default_rng(seed)
    lengths = np.array([n_words, max(1, n_words - 2)])
    scores = random.normal(size=(2, n_words, n_words + 1))
    for row, length in enumerate(lengths):
        scores[row, :, length + 1 :] = -np.inf
        scores[row, np.arange(n_words), np.arange(1, n_words + 1)] = -np.inf
    before = decode_heads(scores, lengths)
    inside = np.arange(n_words) < lengths[:, None]
    is_punctuation = (random.random((2, n_words)) < share) & inside
    after = attach_punctuation(scores, before, is_punctuation)
    assert are_trees(after[inside], np.append(0, np.cumsum(lengths))).all()
    assert ((after == before) | is_punctuation).all()
    for row, length in enumerate(lengths):
        heads, old = after[row, :length].tolist(), before[row, :length].tolist()
        for word in 1 + np.flatnonzero(is_punctuation[row, :length]):
            if word in old or not old[word - 1]:
                # It may have lost its dependents, which are punctuation too, and be a leaf now.
                assert heads[word - 1] == old[word - 1] or word not in heads
                continue
            free = [
                head
                for head in range(1, length + 1)
                if head != word
                and not is_punctuation[row, head - 1]
                and is_projective([*heads[: word - 1], head, *heads[word:]], word)
            ]
            best = max(free, key=lambda head: scores[row, word - 1, head], default=0)
            assert is_projective(heads, word) or not best
            if [*heads[: word - 1], old[word - 1], *heads[word:]] == old:  # No other one moved.
                assert heads[word - 1] in (old[word - 1], best)


def relations(scores, heads, tags, feats=None) -> list[str]:
    values = np.full((1, len(heads), len(RELATIONS)), -9.0)
    for word, preferred in enumerate(scores):
        for place, name in enumerate(preferred):
            values[0, word, RELATIONS.index(name)] = -place
    codes = choose_relations(
        values,
        np.array([heads]),
        np.array([[TAGS.index(tag) for tag in tags]]),
        None if feats is None else np.array([[FEATS.index(each) for each in feats]]),
        rules_for(RELATIONS, TAGS, FEATS if feats else ()),
    )
    return [RELATIONS[code] for code in codes[0]]


@pytest.mark.parametrize(
    ("tag", "preferred", "expected"),
    [
        ("NOUN", ["mark", "obj"], "obj"),
        ("SCONJ", ["mark", "obj"], "mark"),
        ("NOUN", ["punct", "dep"], "dep"),
        ("PUNCT", ["dep", "obj", "punct"], "punct"),
        ("NOUN", ["aux", "det", "nsubj"], "nsubj"),
        ("AUX", ["aux", "det", "nsubj"], "aux"),
    ],
)
def test_a_tag_excludes_relations(tag, preferred, expected):
    assert relations([["root"], preferred], [0, 1], ["NOUN", tag])[1] == expected


def test_some_relations_have_their_head_first():
    for name in ("conj", "flat:name"):
        assert relations([[name, "dep"], ["root"]], [2, 0], ["NOUN"] * 2) == ["dep", "root"]
        assert relations([["root"], [name, "dep"]], [0, 1], ["NOUN"] * 2) == ["root", name]


def test_a_word_may_act_as_another_part_of_speech():
    given = [["root"], ["advmod", "dep"]], [0, 1], ["NOUN", "NOUN"]
    assert relations(*given) == ["root", "dep"]
    assert relations(*given, ["_", "ExtPos=ADV|Number=Sing"]) == ["root", "advmod"]


def test_function_words_have_few_dependents():
    given = [["root"], ["aux", "dep"], ["obj"]], [0, 1, 2], ["NOUN", "AUX", "NOUN"]
    assert relations(*given) == ["root", "dep", "obj"]
    given = [["root"], ["aux", "dep"], ["advmod"]], [0, 1, 2], ["NOUN", "AUX", "ADV"]
    assert relations(*given, ["_", "_", "Polarity=Neg"]) == ["root", "aux", "advmod"]
    assert relations(*given, ["_", "_", "_"]) == ["root", "dep", "advmod"]


def test_the_parts_of_a_word_adjoin():
    tags = ["NOUN", "X", "X", "X"]
    parts = [["root"], *[["goeswith", "dep"]] * 3]
    assert relations(parts, [0, 1, 1, 1], tags) == ["root", *["goeswith"] * 3]
    parts[2] = ["dep"]
    assert relations(parts, [0, 1, 1, 1], tags) == ["root", "goeswith", "dep", "dep"]


def test_an_oblique_depends_on_a_predicate():
    parts, heads = [["root"], ["obj"], ["obl", "nmod"], ["mark"]], [0, 1, 2, 2]
    tags = ["NOUN", "NOUN", "NOUN", "SCONJ"]
    assert relations(parts, heads, tags)[2] == "nmod"
    assert relations([["root"], ["dep"], *parts[2:]], heads, tags)[2] == "obl"
    assert relations([*parts[:3], ["cop"]], heads, [*tags[:3], "AUX"])[2] == "obl"
    assert relations(parts, heads, ["NOUN", "AUX", *tags[2:]])[2] == "obl"


def test_rules_that_a_treebank_breaks_do_not_hold():
    assert exceptions_in([example.gold for example in read_treebank(GOLD)]) == []
    sentence = Sentence.from_words(["a", "b", "c", ",", "d"])
    tags = ("NOUN", "NOUN", "NOUN", "PUNCT", "NOUN")
    heads, names = (3, 1, 0, 2, 3), ("conj", "mark", "root", "punct", "obl")
    found = exceptions_in([Parse(sentence, heads, names, tags, tags)])
    assert found == [
        "conj before its head",
        "mark of NOUN",
        "punctuation across other arcs",
    ]
    rules = rules_for(RELATIONS, TAGS, (), ("mark of NOUN",))
    assert not rules.forbidden[TAGS.index("NOUN"), RELATIONS.index("mark")]
    assert rules.forbidden[TAGS.index("DET"), RELATIONS.index("mark")]


def test_a_parser_with_few_labels_keeps_what_it_has():
    scores = np.array([[[1.0, 2.0], [3.0, 1.0]]])
    rules = rules_for(("mark", "punct"), ("NOUN",))
    codes = choose_relations(scores, np.array([[0, 1]]), np.zeros((1, 2), int), None, rules)
    assert codes.tolist() == [[1, 0]]


@pytest.mark.slow
@pytest.mark.skipif(
    find_default() is None, reason="no default encoder: `syntagma download default`"
)
def test_parses_pass_the_validator_of_universal_dependencies(tmp_path, capsys):
    program = Path(sys.executable).with_name("udvalidate")
    if not program.is_file():
        pytest.skip("udtools is not installed")
    file = ROOT / "examples" / "questions" / "everyday-dev.json"
    articles = json.loads(file.read_text(encoding="utf-8"))["data"]
    texts = [each["context"] for article in articles for each in article["paragraphs"]]
    texts_file, path = tmp_path / "texts.txt", tmp_path / "parses.conllu"
    texts_file.write_text("\n\n".join(texts), encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["parse", str(texts_file), "--parser", "fast-parser"])
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    assert path.read_text(encoding="utf-8").count("# sent_id") > 200
    command = [program, "--lang", "en", "--level", "3", "--no-warnings", "--", path]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
