"""A parse as a dictionary, JSON, CoNLL-U, brackets and a tree of NLTK."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import pytest

from syntagma.errors import InputError, MissingExtraError
from syntagma.text.brackets import parse_brackets
from syntagma.text.conllu import parse_conllu
from syntagma.text.sentence import Constituent, Parse, Sentence
from tests.messages import naming


@pytest.fixture
def phrases(ferry):
    labels = (("S", 0, 10), ("NP", 0, 3), ("VP", 3, 9), ("NP", 4, 7), ("PP", 7, 9), ("NP", 8, 9))
    return replace(ferry, constituents=tuple(Constituent(*each) for each in labels))


def test_a_dictionary_has_all_and_json_is_the_same_in_a_line(phrases):
    values = phrases.to_dict()
    assert [word["head"] for word in values["words"]] == list(phrases.heads)
    assert values["constituents"][1] == {"label": "NP", "first": 1, "last": 3}
    assert json.loads(phrases.to_json()) == values
    assert "\n" not in phrases.to_json()


def read_again(lines):
    (sentence,) = parse_conllu(lines.splitlines())
    return sentence


def test_conllu_is_read_again(phrases):
    found = read_again(phrases.to_conllu())
    assert found.parse() == replace(phrases, constituents=None)
    assert found.comment("constituency").startswith("(ROOT (S (NP (DT The)")
    assert found.text == "The old ferry crossed the wide river before dawn ."


def test_conllu_keeps_which_words_touch():
    text = "So: we  can't (wait)."
    words = ["So", ":", "we", "ca", "n't", "(", "wait", ")", "."]
    starts = [0, 2, 4, 8, 10, 14, 15, 19, 20]
    sentence = Sentence(
        tuple(words), tuple(starts), tuple(s + len(w) for s, w in zip(starts, words, strict=True))
    )
    parse = Parse(sentence, (4, 1, 4, 0, 4, 7, 4, 7, 4))
    assert read_again(parse.to_conllu(text)).text == "So: we can't (wait)."
    alone = read_again(parse.to_conllu())
    assert alone.text == "So: we can't (wait)."
    assert alone.parse().heads == parse.heads
    # Offsets in the middle of a longer text.
    assert replace(parse, sentence=sentence.shift(1000)).to_conllu() == parse.to_conllu()
    assert Parse(Sentence((), (), ()), ()).to_conllu() == "# text = \n\n"


def test_conllu_has_the_marks_that_json_has():
    sentence = Sentence.from_words(["We", "saw", "x" * 600, "."])
    parse = Parse(sentence, (2, 0, 2, 2), parts=(0, 3))
    values = parse.to_dict()
    assert values["parts"] == [{"first": 1, "last": 3}, {"first": 4, "last": 4}]
    assert [word.get("long", False) for word in values["words"]] == [False, False, True, False]
    found = read_again(parse.to_conllu())
    assert found.comment("parts") == "1-3 4-4"
    assert [row[9] for row in found.words] == ["_", "_", "LongWord=Yes", "_"]
    assert found.with_parse(parse) == found


def test_conllu_without_the_text_has_the_tokens_of_the_sentence():
    sentence = Sentence(("Milas'", "lı", "."), (0, 6, 8), (6, 8, 9), multiword=((0, 2),))
    parse = Parse(sentence, (0, 1, 1))
    assert "1-2\tMilas'lı\t" in parse.to_conllu()
    assert parse.to_conllu() == parse.to_conllu("Milas'lı.")


def test_words_that_share_their_characters_need_the_text():
    parse = Parse(Sentence(("de", "le", "chat"), (0, 0, 3), (2, 2, 7)), (3, 3, 0))
    assert "1-2\tdu\t" in parse.to_conllu("du chat")
    with pytest.raises(InputError, match=naming("1 2 'de' 'le' to_conllu(text)")):
        parse.to_conllu()


def test_json_has_the_tokens_that_stand_for_several_words():
    sentence = Sentence(("de", "le", "chat"), (0, 0, 3), (2, 2, 7), multiword=((0, 2),))
    (token,) = Parse(sentence, (3, 3, 0)).to_dict()["tokens"]
    assert token == {"first": 1, "last": 2, "start": 0, "end": 2}
    for none in ((), None):
        assert "tokens" not in Parse(replace(sentence, multiword=none), (3, 3, 0)).to_dict()


def test_brackets_and_trees_of_nltk(phrases):
    nltk = pytest.importorskip("nltk")
    (found,) = parse_brackets([phrases.to_brackets()])
    assert found.constituents == phrases.constituents
    tree = phrases.to_nltk()
    assert isinstance(tree, nltk.Tree)
    assert tree.leaves() == list(phrases.sentence.forms)
    assert tree.pos() == list(zip(phrases.sentence.forms, phrases.xpos, strict=True))
    assert [sub.label() for sub in tree.subtrees(lambda sub: sub.height() > 2)] == [
        "TOP", "S", "NP", "VP", "NP", "PP", "NP",
    ]  # fmt: skip
    bracket = Parse(
        Sentence.from_words(["("]), (0,), xpos=("X",), constituents=(Constituent("S", 0, 1),)
    )
    assert bracket.to_nltk().leaves() == ["-LRB-"]


def test_any_word_is_a_leaf_of_a_tree_of_nltk():
    pytest.importorskip("nltk")
    forms = ["a", "\\", "b\\", "\\/", "\\)", "1 000"]
    phrases = (Constituent("S", 0, 6), Constituent("NP", 0, 2), Constituent("X", 1, 2))
    parse = Parse(
        Sentence.from_words(forms), (0, 1, 1, 1, 1, 1), xpos=("X",) * 6, constituents=phrases
    )
    tree = parse.to_nltk()
    assert tree.leaves() == ["a", "\\", "b\\", "\\/", "\\-RRB-", "1_000"]
    (found,) = parse_brackets([" ".join(str(tree).split())])
    assert (found.forms, found.constituents) == (tuple(tree.leaves()), phrases)


def test_what_is_missing_is_named(ferry, phrases, monkeypatch):
    for export in (ferry.to_brackets, ferry.to_nltk):
        with pytest.raises(InputError, match=naming("phrases decoding='separate'")):
            export()
    monkeypatch.setitem(sys.modules, "nltk", None)
    with pytest.raises(MissingExtraError, match=naming("to_nltk nltk")):
        phrases.to_nltk()
