"""Generated probing sets: balanced classes, correct labels, and no cues that reveal them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest

from syntagma.datasets.probing import PROPERTIES, make_set
from syntagma.text.sentence import Constituent, Parse, Sentence

VERBS = {"cried": "VBD", "cries": "VBZ", "sank": "VBD", "sinks": "VBZ", "slept": "VBD",
         "sleeps": "VBZ", "rose": "VBD", "rises": "VBZ"}  # fmt: skip


NOUNS = {"gull": "NN", "gulls": "NNS", "boat": "NN", "boats": "NNS", "crew": "NN", "crews": "NNS"}


def clause(subject, verb, extra=()):
    """Make a parse of ``the SUBJECT VERB quite often (EXTRA) .`` with a phrase of two words."""
    forms = ("the", subject, verb, "quite", "often", *extra, ".")
    n = len(forms)
    heads = [2, 3, 0, 5, 3, *[3] * len(extra), 3]
    relations = ["det", "nsubj", "root", "advmod", "advmod", *["obj"] * len(extra), "punct"]
    xpos = ["DT", NOUNS[subject], VERBS[verb], "RB", "RB", *[NOUNS[e] for e in extra], "."]
    upos = ["DET", "NOUN", "VERB", "ADV", "ADV", *["NOUN"] * len(extra), "PUNCT"]
    phrases = [Constituent("S", 0, n), Constituent("NP", 0, 2)]
    phrases += [Constituent("VP", 2, n - 1)] * 5
    return Parse(
        Sentence.from_words(forms),
        tuple(heads),
        tuple(relations),
        tuple(upos),
        tuple(xpos),
        constituents=tuple(phrases),
    )


def coordinated(one, other):
    """Make a parse of two clauses; the second verb is a conjunct of the first."""
    a, b = clause(*one), clause(*other)
    n = len(a) - 1
    forms = (*a.sentence.forms[:-1], "and", *b.sentence.forms[:-1], ".")
    heads = [*a.heads[:-1], n + 1 + 3]
    heads += [head + n + 1 if head else 3 for head in b.heads[:-1]]
    relations = [*a.relations[:-1], "cc", *b.relations[:-1], "punct"]
    relations[n + 1 + 2] = "conj"
    return Parse(
        Sentence.from_words(forms),
        (*heads, 3),
        tuple(relations),
        (*a.upos[:-1], "CCONJ", *b.upos[:-1], "PUNCT"),
        (*a.xpos[:-1], "CC", *b.xpos[:-1], "."),
    )


@pytest.fixture(scope="module")
def parses():
    simple = [clause(noun, verb) for noun in NOUNS for verb in VERBS]
    transitive = [
        clause(noun, verb, (other,)) for noun in NOUNS for verb in VERBS for other in NOUNS
    ]
    both = [
        coordinated((one, "sank"), (other, verb))
        for one in NOUNS
        for other in NOUNS
        for verb in VERBS
    ]
    return simple + transitive + both


class TestSets:
    @pytest.mark.parametrize("name", PROPERTIES)
    def test_classes_are_balanced_and_splits_disjoint(self, parses, name):
        examples = make_set(name, parses, size=200, seed=1)
        assert examples
        for split in ("tr", "va", "te"):
            counts = Counter(example.label for example in examples if example.split == split)
            assert len(set(counts.values())) == 1
        assert len({example.label for example in examples}) == len(counts)
        splits = defaultdict(set)
        for example in examples:
            splits[example.text].add(example.split)
        assert max(map(len, splits.values())) == 1
        assert examples == make_set(name, parses, size=200, seed=1)
        assert examples != make_set(name, parses, size=200, seed=2)

    def test_depths_are_counted(self, parses):
        examples = make_set("tree_depth", parses, size=100)
        assert {example.label for example in examples} == {"6"}

    def test_length_does_not_predict_the_depth(self):
        def deep(length, depth):
            forms = [f"w{place}" for place in range(length)]
            phrases = [Constituent("S", 0, length)] + [Constituent("X", 1, 2)] * (depth - 1)
            heads = (0, *range(1, length))
            return Parse(Sentence.from_words([*forms, str(depth)][:length]), heads,
                         constituents=tuple(phrases))  # fmt: skip

        random = np.random.default_rng(1)
        made = []
        for _ in range(3000):
            length = int(random.integers(5, 29))
            depth = int(np.clip(round(length / 4 + 3 + random.normal()), 5, 11))
            parse = deep(length, depth)
            forms = [*parse.sentence.forms[:-1], str(random.integers(10**9))]
            made.append(replace(parse, sentence=Sentence.from_words(forms)))
        lengths = defaultdict(list)
        for example in make_set("tree_depth", made, size=5000):
            lengths[example.label].append(len(example.text.split()) // 2)
        assert len(lengths) == 7
        assert len({tuple(sorted(own)) for own in lengths.values()}) == 1

    def test_labels_of_number_and_tense_match_the_words(self, parses):
        for example in make_set("subj_number", parses, size=200):
            assert example.label == NOUNS[example.text.split()[1]]
        for example in make_set("obj_number", parses, size=200):
            assert example.label == NOUNS[example.text.split()[5]]
        for example in make_set("past_present", parses, size=200):
            past = VERBS[example.text.split()[2]] == "VBD"
            assert example.label == ("PAST" if past else "PRES")

    def test_no_word_is_in_two_splits(self, parses):
        splits = defaultdict(set)
        for example in make_set("past_present", parses, size=400):
            splits[example.text.split()[2]].add(example.split)
        assert max(map(len, splits.values())) == 1

    def test_shifted_words_are_adjacent(self, parses):
        known = {" ".join(parse.sentence.forms) for parse in parses}
        for example in make_set("bigram_shift", parses, size=300):
            assert (example.text in known) == (example.label == "O")
            if example.label == "I":
                words = example.text.split()
                swapped = [
                    " ".join([*words[:k], words[k + 1], words[k], *words[k + 2 :]])
                    for k in range(len(words) - 1)
                ]
                assert known & set(swapped)

    def test_an_odd_word_has_the_tag_of_the_one_it_replaces(self, parses):
        tags = NOUNS | VERBS
        shapes = {tuple(tags.get(form, form) for form in parse.sentence.forms) for parse in parses}
        for example in make_set("odd_man_out", parses, size=100):
            assert tuple(tags.get(form, form) for form in example.text.split()) in shapes

    def test_capitalisation_does_not_reveal_the_label(self, parses):
        def capital(parse, name):
            forms = [parse.sentence.forms[0].capitalize(), *parse.sentence.forms[1:]]
            if name:
                forms[0] = name
            xpos = ("NNP", *parse.xpos[1:]) if name else parse.xpos
            return replace(parse, sentence=Sentence.from_words(forms), xpos=xpos)

        made = [capital(parse, ["", "Gulls", "I", "USA"][n % 4]) for n, parse in enumerate(parses)]
        for name in ("coordination_inversion", "bigram_shift", "odd_man_out"):
            examples = make_set(name, made, size=300)
            changed = [e.text.split() for e in examples if e.label in "IC"]
            assert changed
            assert all(words[0][0].isupper() for words in changed), name
            inside = {word for words in changed for word in words[1:] if word[0].isupper()}
            assert inside <= {"Gulls", "I", "USA"}, name

    def test_a_tense_is_that_of_the_finite_verb(self):
        def had(form, tag, verb):
            xpos = ("PRP", tag, "VBN", "RB", "RB", ".")
            forms = ("they", form, verb, "quite", "often", ".")
            relations = ("nsubj", "aux", "root", "advmod", "advmod", "punct")
            return Parse(Sentence.from_words(forms), (3, 3, 0, 3, 3, 3), relations, xpos, xpos)

        # A participle with auxiliaries of both tenses: splits must not share the auxiliary.
        made = [
            had(form, tag, verb)
            for form, tag in [("had", "VBD"), ("have", "VBP"), ("was", "VBD"), ("is", "VBZ"),
                              ("were", "VBD"), ("are", "VBP")]
            for verb in ("seen", "heard", "sunk", "lost")
        ]  # fmt: skip
        splits = defaultdict(set)
        for example in make_set("past_present", made, size=100):
            splits[example.text.split()[1]].add(example.split)
        assert len(splits) == 6
        assert max(map(len, splits.values())) == 1

    def test_clauses_are_swapped(self, parses):
        examples = make_set("coordination_inversion", parses, size=200)
        known = {parse.sentence.forms for parse in parses}
        assert {example.label for example in examples} == {"O", "I"}
        for example in examples:
            words = example.text.split()
            joint = words.index("and")
            first, second = words[:joint], words[joint + 1 : -1]
            back = (*second, "and", *first, ".")
            assert (tuple(words) if example.label == "O" else back) in known

    def test_top_constituents_of_hand_made_trees(self, parses):
        found = {example.label for example in make_set("top_constituents", parses, size=100)}
        assert found == {"NP_VP_."}
