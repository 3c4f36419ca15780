"""Phrases in comments of CoNLL-U: written with a parse, and learned from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from syntagma.errors import InputError
from syntagma.tasks.parsing.treebanks import read_treebank
from syntagma.text.conllu import TreebankSentence, format_conllu
from syntagma.text.sentence import Constituent, Parse, Sentence
from tests.messages import naming

PHRASES = (Constituent("S", 0, 4), Constituent("NP", 0, 1), Constituent("VP", 1, 4))
PARSE = Parse(
    Sentence.from_words(["We", "read", "(slowly)", "aloud"]),
    heads=(2, 0, 2, 2),
    relations=("nsubj", "root", "advmod", "advmod"),
    upos=("PRON", "VERB", "ADV", "ADV"),
    xpos=("PRP", "VBP", "RB", "RB"),
    constituents=PHRASES,
)
COMMENT = (
    "# constituency = (ROOT (S (NP (PRP We)) (VP (VBP read) (RB -LRB-slowly-RRB-) (RB aloud))))"
)


def rows(parse=PARSE):
    return TreebankSentence.from_parse(parse, text=" ".join(parse.sentence.forms))


def test_phrases_are_written_as_a_comment():
    assert rows().comments[-1] == COMMENT
    assert rows(replace(PARSE, constituents=None)).comment("constituency") is None


def test_new_phrases_replace_the_old_comment():
    again = rows().with_parse(replace(PARSE, constituents=(Constituent("FRAG", 0, 4),)))
    trees = [line for line in again.comments if "constituency" in line]
    assert trees == [
        "# constituency = (ROOT (FRAG (PRP We) (VBP read) (RB -LRB-slowly-RRB-) (RB aloud)))"
    ]


def test_the_phrases_of_an_older_parse_do_not_stay():
    again = rows().with_parse(replace(PARSE, constituents=None))
    assert again.comments == rows(replace(PARSE, constituents=None)).comments


def test_a_treebank_with_such_comments_has_both_views(tmp_path):
    path = tmp_path / "both.conllu"
    path.write_text(format_conllu(rows()) + format_conllu(rows(replace(PARSE, constituents=None))))
    with_phrases, without = read_treebank(path)
    assert with_phrases.gold.constituents == PHRASES
    assert with_phrases.gold.heads == PARSE.heads
    assert with_phrases.agrees
    assert without.gold.constituents is None


@pytest.mark.parametrize(
    ("tree", "named"),
    [
        ("(ROOT (S (NP (PRP We)) (VP (VBP read)))", "closed"),
        ("(ROOT (S (NP (PRP We)) (VP (VBP read))))", "2 words 4"),
        ("(S (X We)) (S (X read))", "one 2"),
    ],
)
def test_a_bad_tree_is_reported_with_its_sentence(tree, named, tmp_path):
    path = tmp_path / "bad.conllu"
    path.write_text(format_conllu(rows()).replace(COMMENT, f"# constituency = {tree}"))
    with pytest.raises(InputError, match=naming(f"bad.conllu line {named}")):
        read_treebank(path)
