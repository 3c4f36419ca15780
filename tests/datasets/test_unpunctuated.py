"""Trees without their punctuation."""

from __future__ import annotations

from dataclasses import replace

from syntagma.datasets.unpunctuated import without_punctuation
from syntagma.text.morphology import Morphology
from syntagma.text.sentence import Constituent, Parse, Sentence

PARSE = Parse(
    Sentence.from_words(["Tides", ",", "Ada", "said", ",", "turn", "."]),
    heads=(6, 4, 4, 6, 4, 0, 6),
    relations=("nsubj", "punct", "nsubj", "parataxis", "punct", "root", "punct"),
    upos=("NOUN", "PUNCT", "PROPN", "VERB", "PUNCT", "VERB", "PUNCT"),
    xpos=("NNS", ",", "NNP", "VBD", ",", "VBP", "."),
    constituents=(
        Constituent("S", 0, 7),
        Constituent("NP", 0, 1),
        Constituent("PRN", 1, 5),
        Constituent("X", 4, 5),
        Constituent("VP", 5, 6),
    ),
)


def test_words_keep_their_heads_and_tags():
    bare = without_punctuation(PARSE)
    assert bare.sentence.forms == ("Tides", "Ada", "said", "turn")
    assert bare.sentence.starts == (0, 6, 10, 15)
    assert bare.heads == (4, 3, 4, 0)
    assert bare.relations == ("nsubj", "nsubj", "parataxis", "root")
    assert bare.xpos == ("NNS", "NNP", "VBD", "VBP")


def test_words_keep_their_lemmas_and_features():
    lemmas = ("tide", ",", "Ada", "say", ",", "turn", ".")
    bare = without_punctuation(replace(PARSE, morphology=Morphology(None, lemmas)))
    assert (bare.lemmas, bare.feats) == (("tide", "Ada", "say", "turn"), None)


def test_phrases_shrink_and_those_without_words_go():
    assert without_punctuation(PARSE).constituents == (
        Constituent("S", 0, 4),
        Constituent("NP", 0, 1),
        Constituent("PRN", 1, 3),
        Constituent("VP", 3, 4),
    )
    assert without_punctuation(replace(PARSE, constituents=None)).constituents is None


def test_words_can_be_written_in_lower_case():
    assert without_punctuation(PARSE, lower=True).sentence.forms == ("tides", "ada", "said", "turn")


def test_a_mark_with_dependents_is_kept():
    heads = (2, 0, 2)
    relations = ("nsubj", "punct", "punct")
    parse = Parse(
        Sentence.from_words(["Tides", "...", "!"]), heads, relations, ("X",) * 3, ("X",) * 3
    )
    bare = without_punctuation(parse)
    assert bare.sentence.forms == ("Tides", "...")
    assert bare.heads == (2, 0)


def test_a_tree_of_one_mark_stays():
    parse = Parse(Sentence.from_words(["!"]), (0,), ("root",), ("PUNCT",), (".",))
    assert without_punctuation(parse) is parse
