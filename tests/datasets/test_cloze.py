"""Questions with a blank, made from plain text."""

from __future__ import annotations

import random
import re

import pytest

from syntagma.datasets.cloze import BLANK, _ask, make_cloze, noun_phrases
from syntagma.outputs import write_json
from syntagma.tasks.spans.squad import read_squad
from syntagma.text.sentence import Constituent, Parse, Sentence

PARAGRAPH = (
    "The old harbour of Mossley was built by a small company of fishermen from the north. "
    "Every summer the ferry to Mossley brings many visitors who want to see the lighthouse. "
    "The council wants to repair the lighthouse before the next winter comes to the coast. "
    "There is still no money for it, although two shops and a bank have promised to help."
)
OTHER = (
    "A railway runs along the river, and on market days it carries as many sheep as people. "
    "Nobody remembers who paid for it, since the papers were lost when the town hall burned. "
    "It takes an hour to the last station, from which a path leads to the upper valley."
)


class Phrases:
    """Finds the noun phrases that it is told of."""

    texts = ("The old harbour of Mossley", "Mossley", "the lighthouse", "many visitors")

    def with_phrases(self):
        return self

    def parse_texts(self, texts):
        for text in texts:
            yield list(map(self.parse, self.sentences(text)))

    def sentences(self, text):
        start = 0
        for part in text.split(". "):
            end = start + len(part)
            end += text[end : end + 1] == "."
            yield text, start, end
            start = end + 1

    def parse(self, place):
        text, begin, end = place
        forms, starts = [], []
        at = begin
        for word in text[begin:end].split():
            at = text.index(word, at)
            forms.append(word)
            starts.append(at)
            at += len(word)
        ends = [start + len(form) for start, form in zip(starts, forms, strict=True)]
        phrases = [
            Constituent("NP", first, first + len(phrase.split()))
            for phrase in self.texts
            for first in range(len(forms))
            if forms[first : first + len(phrase.split())] == phrase.split()
        ]
        tags = tuple("NNP" if form[0].isupper() and form != "The" else "NN" for form in forms)
        n = len(forms)
        return Parse(
            Sentence(tuple(forms), tuple(starts), tuple(ends)),
            heads=(0, *[1] * (n - 1)),
            relations=("root", *["dep"] * (n - 1)),
            upos=("NOUN",) * n,
            xpos=tags,
            constituents=tuple(phrases),
        )


def rows(data):
    return [
        (paragraph["context"], record)
        for article in data["data"]
        for paragraph in article["paragraphs"]
        for record in paragraph["qas"]
    ]


@pytest.mark.parametrize("seed", range(8))
def test_answers_recur_outside_the_sentence_that_asks(seed, tmp_path):
    data, counts = make_cloze([OTHER, PARAGRAPH] * 3, Phrases(), count=9, seed=seed)
    found = rows(data)
    assert sum(counts.values()) == len(found) > 0
    write_json(tmp_path / "made.json", data)
    examples, skipped = read_squad(tmp_path / "made.json")
    assert not skipped.total
    for example in examples:
        if example.is_impossible:
            assert example.passage == OTHER
            continue
        assert {answer.lower() for answer in example.answers} <= {"mossley", "lighthouse"}
        assert example.answers[0].lower() not in example.question.lower()
        # The passage is the paragraph without the sentence that asks.
        sentences = re.split(r"(?<=\.) ", PARAGRAPH)
        rests = {
            sentence: " ".join(other for other in sentences if other != sentence)
            for sentence in sentences
        }
        [asking] = [sentence for sentence, rest in rests.items() if rest == example.passage]
        assert example.question.rstrip("?.").split()[-2:] == asking.rstrip(".").split()[-2:]


def test_the_same_seed_gives_the_same_questions():
    first, _ = make_cloze([OTHER, PARAGRAPH], Phrases(), count=5, seed=2)
    assert make_cloze([OTHER, PARAGRAPH], Phrases(), count=5, seed=2)[0] == first


def test_no_more_questions_are_made_than_asked_for_by_a_paragraph():
    _, counts = make_cloze([OTHER, PARAGRAPH] * 20, Phrases(), count=4, seed=1)
    assert 4 <= sum(counts.values()) <= 5


def test_common_nouns_alone_and_pronouns_are_no_answers():
    words = ("She", "sold", "the", "boat", "of", "Mossley", "and", "two", "nets")
    parse = Parse(
        Sentence.spaced(words),
        heads=(2, 0, 4, 2, 6, 4, 9, 9, 4),
        relations=("nsubj", "root", "det", "obj", "case", "nmod", "cc", "nummod", "conj"),
        upos=("PRON", "VERB", "DET", "NOUN", "ADP", "PROPN", "CCONJ", "NUM", "NOUN"),
        xpos=("PRP", "VBD", "DT", "NN", "IN", "NNP", "CC", "CD", "NNS"),
        constituents=(
            Constituent("NP", 0, 1),
            Constituent("NP", 2, 4),
            Constituent("NP", 5, 6),
            Constituent("NP", 7, 9),
            Constituent("VP", 1, 9),
        ),
    )
    found = [(phrase.key, phrase.kind) for phrase in noun_phrases(" ".join(words), [parse])]
    assert found == [("mossley", "name"), ("two nets", "number")]


def test_a_blank_or_a_question_word_replaces_the_phrase():
    sentence = "The ferry to the old harbour sank in March."
    start = sentence.index("old harbour")
    asked = {
        _ask(sentence, start, start + len("old harbour"), "thing", random.Random(seed))
        for seed in range(20)
    }
    assert asked == {
        f"The ferry to the {BLANK} sank in March.",
        "The ferry to what sank in March?",
    }
