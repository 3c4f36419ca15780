"""The measures of the CoNLL 2018 shared task, against counts made by hand and by brute force."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.errors import InputError
from syntagma.parse.conll_scores import FScore, conll_scores
from syntagma.text.conllu import parse_conllu
from syntagma.text.word_matching import WordSpan, common_subsequence, match_words
from tests.messages import naming


def sentences(*texts):
    """Sentences from lines `id form lemma upos feats head relation`; `~` is a space inside."""
    lines = []
    for text in texts:
        for line in text.strip().splitlines():
            number, form, *rest = line.split()
            lemma, upos, feats, head, relation = rest or "_" * 5
            xpos, form = f"X{upos}" if rest else "_", form.replace("~", "\u00a0")
            lines.append(
                "\t".join([number, form, lemma, upos, xpos, feats, head, relation, "_", "_"])
            )
        lines.append("")
    return list(parse_conllu(lines))


GOLD = """
1   Gulls  gull  NOUN  Number=Plur            2 nsubj
2   ate    eat   VERB  Tense=Past|Style=Rare  0 root
3   the    the   DET   Definite=Def           4 det
4   fish   fish  NOUN  Number=Sing            2 obj
5-6 du
5   de     de    ADP   _                      7 case
6   le     le    DET   Definite=Def           7 det
7   port   port  NOUN  Number=Sing            4 nmod:of
8   .      .     PUNCT _                      2 punct
"""


def test_everything_right_is_a_hundred():
    scores = conll_scores(sentences(GOLD), sentences(GOLD))
    assert {name: score.f1 for name, score in scores.items()} == dict.fromkeys(scores, 100.0)
    assert scores["words"] == FScore(8, 8, 8)
    assert scores["tokens"] == FScore(7, 7, 7)
    # gulls, ate, fish, port
    assert scores["clas"] == FScore(4, 4, 4)


def test_each_mistake_counts_where_it_should():
    system = GOLD.replace("Style=Rare", "Style=Odd").replace("nmod:of", "nmod:on")
    assert conll_scores(sentences(GOLD), sentences(system))["mlas"].correct == 4
    # Another article: only LAS notices the relation, MLAS the missing function word of `fish`.
    scores = conll_scores(sentences(GOLD), sentences(GOLD.replace("4 det", "4 amod")))
    counts = {name: score.correct for name, score in scores.items()}
    assert (counts["uas"], counts["las"], counts["mlas"], counts["clas"]) == (8, 7, 3, 4)
    assert scores["clas"] == FScore(4, 5, 4)
    # A lemma: of a content word in BLEX, of any in Lemmas.
    counts = counts_of(GOLD.replace(" eat ", " ate "))
    assert (counts["lemmas"], counts["blex"], counts["mlas"]) == (7, 3, 4)
    counts = counts_of(GOLD.replace("the    the", "the    a"))
    assert (counts["lemmas"], counts["blex"]) == (7, 4)
    # A feature: in UFeats, AllTags, and the MLAS of the word and of the word it serves.
    counts = counts_of(
        GOLD.replace("6   le     le    DET   Definite=Def", "6 le le DET Definite=Ind")
    )
    assert (counts["ufeats"], counts["alltags"], counts["mlas"], counts["blex"]) == (7, 7, 3, 4)
    # A head: the arc of `port`, and no other.
    counts = counts_of(GOLD.replace("4 nmod:of", "2 nmod"))
    assert (counts["uas"], counts["las"], counts["clas"], counts["upos"]) == (7, 7, 3, 8)


def counts_of(system):
    scores = conll_scores(sentences(GOLD), sentences(system))
    return {name: score.correct for name, score in scores.items()}


def test_a_lemma_that_the_treebank_lacks_is_never_wrong():
    gold = sentences(GOLD.replace(" eat ", " _ "))
    assert conll_scores(gold, sentences(GOLD))["lemmas"].correct == 8


def test_what_a_system_does_not_predict_is_not_scored():
    bare = GOLD
    for feats in ("Number=Plur", "Tense=Past|Style=Rare", "Definite=Def", "Number=Sing"):
        bare = bare.replace(feats, "_")
    assert {"ufeats", "alltags", "mlas"}.isdisjoint(conll_scores(sentences(GOLD), sentences(bare)))
    no_lemmas = "\n".join(
        line if "-" in line.split()[0] else " ".join([*line.split()[:2], "_", *line.split()[3:]])
        for line in GOLD.strip().splitlines()
    )
    assert {"lemmas", "blex"}.isdisjoint(conll_scores(sentences(GOLD), sentences(no_lemmas)))


WHOLE = """
1 Gulls gull NOUN _ 2 nsubj
2 ate   eat  VERB _ 0 root
3 the   the  DET  _ 4 det
"""
OTHER = """
1 fish  fish NOUN _ 0 root
2 du    du   ADP  _ 3 case
3 port  port NOUN _ 1 nmod
4 .     .    PUNCT _ 1 punct
"""


def test_other_words_and_sentences_are_aligned():
    system = sentences(WHOLE.replace("4 det", "2 det"), OTHER)
    scores = conll_scores(sentences(GOLD), system)
    assert scores["sentences"] == FScore(1, 2, 0)
    assert scores["tokens"] == FScore(7, 7, 7)
    # `du` as one word stands for neither of two; all others match.
    assert scores["words"] == FScore(8, 7, 6)
    # gulls, ate; `the` and `fish` have other heads, `port` that of the gold tree, the stop not.
    assert scores["uas"] == FScore(8, 7, 3)
    assert scores["uas"].f1 == pytest.approx(200 * 3 / 15)


def test_the_root_is_not_a_word_without_counterpart():
    gold = sentences("1 cannot _ X _ 0 root\n2 row _ X _ 1 obj")
    system = sentences("1 can _ X _ 2 aux\n2 not _ X _ 0 root\n3 row _ X _ 2 obj")
    assert conll_scores(gold, system)["uas"] == FScore(2, 3, 0)


def test_spaces_and_invisible_characters_may_differ():
    gold = sentences("1 10~000 _ NUM _ 0 root")
    system = sentences("1 10 _ NUM _ 0 root\n2 000\u200b _ NUM _ 1 flat")
    scores = conll_scores(gold, system)
    assert (scores["tokens"], scores["words"]) == (FScore(1, 2, 0), FScore(1, 2, 0))


def test_another_text_is_refused():
    other = sentences(GOLD.replace("fish", "crab"))
    with pytest.raises(InputError, match=naming("crabduport fishduport ullsatethe 11")):
        conll_scores(sentences(GOLD), other)
    shorter = "\n".join(GOLD.strip().splitlines()[:-1])
    with pytest.raises(InputError, match=naming("21 fishduport . spaces")):
        conll_scores(sentences(GOLD), sentences(shorter))


@given(st.text("ab", max_size=6), st.text("abc", max_size=6))
def test_common_subsequences_are_the_longest(one, other):
    found = common_subsequence(one, other)
    assert [one[i] for i, _ in found] == [other[j] for _, j in found]
    assert found == sorted(set(found))
    subsequences = {"".join(each) for n in range(7) for each in combinations(one, n)}
    longest = max(
        n for n in range(7) for each in combinations(other, n) if "".join(each) in subsequences
    )
    assert len(found) == longest


@st.composite
def segmentations(draw):
    """Words of a text of 8 letters: tokens of any length, some of them multi-word tokens."""
    words, start = [], 0
    while start < 8:
        end = draw(st.integers(start + 1, min(start + 3, 8)))
        if draw(st.booleans()):
            forms = draw(st.lists(st.sampled_from("xy"), min_size=1, max_size=3))
            words += [WordSpan(form, start, end, True) for form in forms]
        else:
            words.append(WordSpan(draw(st.sampled_from("xy")), start, end, False))
        start = end
    return words


@given(segmentations(), segmentations())
def test_words_match_as_the_definition_says(gold, system):
    # Characters of one region are linked by multi-word tokens.
    region = list(range(8))
    for word in [*gold, *system] * 8:
        if word.multiword:
            lowest = min(region[word.start : word.end])
            region[word.start : word.end] = [lowest] * (word.end - word.start)
    inside = {c for word in (*gold, *system) if word.multiword for c in range(word.start, word.end)}
    found = match_words(gold, system)
    assert found == sorted(found)
    for one, other in found:
        if gold[one].start in inside:
            assert region[gold[one].start] == region[system[other].start]
            assert gold[one].form == system[other].form
    alone = {
        (one, other)
        for one, ours in enumerate(gold)
        for other, theirs in enumerate(system)
        if ours[1:3] == theirs[1:3] and inside.isdisjoint(range(ours.start, ours.end))
    }
    assert alone == {(one, other) for one, other in found if gold[one].start not in inside}
    # In each region as many as the longest common subsequence of what lies inside.
    for number in {region[c] for c in inside}:
        cells = {c for c in inside if region[c] == number}
        ours, theirs = (
            [w.form for w in words if cells.issuperset(range(w.start, w.end))]
            for words in (gold, system)
        )
        matched = [pair for pair in found if gold[pair[0]].start in cells]
        assert len(matched) == len(common_subsequence(ours, theirs))
