"""Edit scripts and the lexicon: how lemmas are learned from a treebank."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.parse.edit_scripts import ScriptCodes, apply_script, learn_scripts, scripts_of
from syntagma.parse.lexicon import learn_lexicon, merge_lexicons, read_lexicon
from syntagma.text.alignment import ABSENT


@pytest.mark.parametrize(
    ("form", "lemma", "script"),
    [
        ("Parties", "party", "lower|0-0+|0-3+y"),
        ("Parties", "Party", "keep|0-0+|0-3+y"),
        ("gemacht", "machen", "lower|0-2+|0-1+en"),
        ("Häuser", "haus", "lower|1-1+a|0-2+"),
        ("sang", "sing", "lower|0-0+|2-1+i"),
        ("IBM", "IBM", "keep|0-0+|0-0+"),
        ("LONDON", "London", "title|0-0+|0-0+"),
        ("nato", "NATO", "upper|0-0+|0-0+"),
        ("İnsanlar", "insan", "lower|0-0+|0-3+"),
        ("was", "be", "=be"),
        ("a|b", "c|b", "=c|b"),
        ("_", "_", "lower|0-0+|0-0+"),
    ],
)
def test_scripts_turn_a_form_into_its_lemma(form, lemma, script):
    assert script in scripts_of(form, lemma)
    assert apply_script(script, form) == lemma


@given(st.text(min_size=1, max_size=12), st.text(min_size=1, max_size=12))
def test_every_script_gives_the_lemma(form, lemma):
    scripts = scripts_of(form, lemma)
    assert scripts[-1] == f"={lemma}"
    assert {apply_script(script, form) for script in scripts} == {lemma}


@given(st.text(max_size=9))
def test_any_script_can_meet_any_form(form):
    for script in ("lower|2-1+i|2-1+e", "title|0-3+|0-2+en", "upper|0-0+|0-0+", "keep|1-0+|1-9+"):
        apply_script(script, form)
    # Too short for what is cut: the form stays.
    assert apply_script("lower|0-0+|0-3+y", "Is") == "is"


WORDS = [
    *[("boats", "boat"), ("Gulls", "gull"), ("oars", "oar")],
    *[("women", "woman"), ("men", "man"), ("firemen", "fireman")],
    *[("is", "be"), ("was", "be"), ("are", "be")],
    *[("ferry", "ferry"), ("Bo", "Bo"), ("The", "the"), ("Al", "Al")],
    *[("ought", "owe"), ("mystery", "_")],
]


def test_the_scripts_that_fit_most_words_are_learned():
    scripts = learn_scripts(WORDS)
    codes = ScriptCodes(scripts)
    known = {word: scripts[codes[word]] for word in WORDS if codes[word] != ABSENT}
    # One rule for all of `men`, not `=man` for one of them.
    assert known["men", "man"] == known["firemen", "fireman"] == "lower|0-0+|0-2+an"
    # `are` shares a letter with `be`, but `=be` is right for more words.
    assert known["are", "be"] == known["was", "be"] == "=be"
    # Seen once, so perhaps a mistake.
    assert ("ought", "owe") not in known
    assert ("mystery", "_") not in known
    # Words that the treebank lacks.
    assert apply_script(known["Gulls", "gull"], "Piers") == "pier"
    assert apply_script(known["men", "man"], "Oarsmen") == "oarsman"
    assert learn_scripts([]) == []


def test_frequent_words_have_scripts_of_their_own():
    assert "=owe" in learn_scripts([("ought", "owe")] * 5)
    assert "=owe" not in learn_scripts([("ought", "owe")] * 4)


def test_the_lexicon_has_forms_with_one_lemma():
    words = [("Left", "leave", "VERB"), ("left", "leave", "VERB"), ("left", "left", "ADJ")]
    words += [("left", "left", "ADJ"), ("saw", "see", "VERB"), ("saw", "saw", "VERB")] * 2
    words += [("Rose", "Rose", "PROPN"), ("i", "I", "PRON")] * 2
    words += [("once", "once", "ADV"), ("a\tb", "a", "X"), ("a\tb", "a", "X"), ("uh", "_", "X")]
    found = read_lexicon(learn_lexicon(words))
    assert found == {
        ("left", "VERB"): "leave",
        ("left", "ADJ"): "left",
        ("Rose", "PROPN"): "Rose",
        ("i", "PRON"): "I",
    }


def test_merged_lexicons_have_what_no_treebank_contradicts():
    english = [("die", "die", "VERB"), ("ran", "run", "VERB"), ("boats", "boat", "NOUN")] * 2
    german = [("die", "der", "DET"), ("ran", "rinnen", "VERB"), ("boats", "boat", "NOUN")] * 2
    merged = merge_lexicons(learn_lexicon(english), learn_lexicon(german))
    assert read_lexicon(merged) == {
        ("die", "VERB"): "die",
        ("die", "DET"): "der",
        ("boats", "NOUN"): "boat",
    }
    assert merged == sorted(merged)


@pytest.mark.parametrize("script", ["keep|0-1+|0-0+", "keep|0-0+|0-1+", "lower|0-2+|0-0+"])
@pytest.mark.parametrize("form", ["懂", "a", "ab"])
def test_a_lemma_is_never_empty(script, form):
    assert apply_script(script, form)
