"""Sentences that exchange who did what to whom: they are right, and never answer the question."""

from __future__ import annotations

import json
import random
import sys

import numpy as np
import pytest
import who_did_what
from role_distractors.roles import Item, Phrase, asked
from role_distractors.sentences import KINDS, choose, distractors, other_sentence
from role_distractors.verbs import Forms, bases, forms_of
from who_did_what import PLAIN, by_kind, losses

from syntagma.errors import InputError
from syntagma.tasks.spans.metrics import normalise
from syntagma.tasks.spans.squad import SpanExample, read_squad
from syntagma.text.sentence import Parse, Sentence
from tests.messages import naming

EVENTS = {
    "Choirs": ("Anna Berg", "praised", "praise", "Carl Holm", "The trams stopped for days."),
    "Ships": ("Ruth Lind", "warned", "warn", "Tom Dahl", "The harbour was closed twice."),
    "Farms": ("Eva Moe", "hired", "hire", "Per Vik", "Wheat is grown on hills."),
}
WORDS = {
    "Who": ("PRON", "WP"), "Why": ("ADV", "WRB"), "did": ("AUX", "VBD"),
    ".": ("PUNCT", "."), "?": ("PUNCT", "."),
}  # fmt: skip


def tree(words: str, heads: str, relations: str) -> str:
    """A sentence in CoNLL-U; verbs are those that the events name."""
    forms = words.split()
    verbs = {
        form: tag
        for _, past, base, *_ in EVENTS.values()
        for form, tag in ((past, "VBD"), (base, "VB"))
    }
    text = words.replace(" ?", "?").replace(" .", ".")
    lines = [f"# text = {text}"]
    rows = zip(forms, heads.split(), relations.split(), strict=True)
    for at, (form, head, relation) in enumerate(rows, start=1):
        default = ("VERB", verbs[form]) if form in verbs else ("PROPN", "NNP")
        upos, xpos = WORDS.get(form, default)
        space = "SpaceAfter=No" if at + 1 == len(forms) else "_"
        lines.append("\t".join((str(at), form, "_", upos, xpos, "_", head, relation, "_", space)))
    return "\n".join(lines) + "\n\n"


@pytest.fixture
def files(tmp_path):
    """A SQuAD file with two questions about each event, and the trees of all its texts."""
    trees, articles = [], []
    for title, (agent, past, base, patient, other) in EVENTS.items():
        passage = f"{agent} {past} {patient}."
        trees += [
            tree(f"{agent} {past} {patient} .", "3 1 0 3 4 3", "nsubj flat root obj flat punct"),
            tree(f"Who {past} {patient} ?", "2 0 2 3 2", "nsubj root obj flat punct"),
            tree(f"Who did {agent} {base} ?", "5 5 5 3 0 5", "obj aux nsubj flat root punct"),
        ]
        asks = (f"Who {past} {patient}?", agent), (f"Who did {agent} {base}?", patient)
        questions = [
            {
                "id": f"{title}{number}",
                "question": question,
                "answers": [{"text": answer, "answer_start": passage.index(answer)}],
            }
            for number, (question, answer) in enumerate(asks)
        ]
        paragraphs = [{"context": passage, "qas": questions}]
        # The other passage has a question too, which asks for no role.
        start = {"text": other.split()[0], "answer_start": 0}
        why = {"id": f"{title}-why", "question": "Why?", "answers": [start]}
        paragraphs.append({"context": other, "qas": [why]})
        articles.append({"title": title, "paragraphs": paragraphs})
    trees.append(tree("Why ?", "0 1", "root punct"))
    (tmp_path / "trees.conllu").write_text("".join(trees))
    (tmp_path / "squad.json").write_text(json.dumps({"data": articles}))
    return tmp_path


@pytest.fixture
def made(files, monkeypatch):
    out = files / "roles.json"
    trees = f"conllu:{files / 'trees.conllu'}"
    arguments = ["make", files / "squad.json", "--parser", trees, "--out", out]
    monkeypatch.setattr(sys, "argv", ["who_did_what.py", *map(str, arguments)])
    who_did_what.main()
    return read_squad(out)[0]


def by_id(examples):
    return {example.id: example for example in examples}


class TestFile:
    def test_every_question_is_there_without_and_with_every_kind(self, made):
        keys = [f"{title}{number}" for title in EVENTS for number in range(2)]
        assert {*by_id(made)} == {f"{key}-{kind}" for key in keys for kind in (PLAIN, *KINDS)}

    def test_no_distractor_holds_the_answer(self, made):
        examples = by_id(made)
        for example in made:
            key = example.id.partition("-")[0]
            plain = examples[f"{key}-{PLAIN}"].passage
            assert example.passage.startswith(plain)
            assert normalise(example.answers[0]) not in normalise(example.passage[len(plain) :])

    def test_the_decoy_is_of_another_article(self, made):
        for example in made:
            if example.id.endswith("-exchanged"):
                distractor = example.passage.partition(". ")[2]
                own = {*" ".join(EVENTS[example.title][::3]).split()}
                names = {word.strip(".") for word in distractor.split() if word[0].isupper()}
                # The name in the question, and one that the article has not.
                assert len(names & own) == len(names - own) == 2

    def test_roles_are_exchanged(self, made):
        examples = by_id(made)
        # Who praised Carl Holm?
        distractor = examples["Choirs0-exchanged"].passage.partition(". ")[2]
        assert distractor.startswith("Carl Holm praised ")
        # Who did Anna Berg praise?
        distractor = examples["Choirs1-exchanged"].passage.partition(". ")[2]
        assert distractor.endswith(" praised Anna Berg.")

    def test_the_other_sentence_is_of_the_same_article(self, made):
        for example in made:
            if example.id.endswith("-other_sentence"):
                assert example.passage.endswith(EVENTS[example.title][-1])


def item(role="agent", **changes) -> Item:
    passage = "Anna praised Ben."
    answer, named = ("Anna", "Ben") if role == "agent" else ("Ben", "Anna")
    example = SpanExample("1", passage, "Who?", "Choirs", (answer,), (passage.index(answer),))
    made = Item(example, role, name(named), name(answer), "who", Forms("praised", "praised"))
    return made._replace(**changes)


def name(text: str, *, plural: bool = False) -> Phrase:
    return Phrase(text, text.split()[-1], is_name=True, is_plural=plural)


class TestSentences:
    def test_the_agent_is_asked_for(self):
        assert distractors(item(), name("Carl"), name("Dora")) == {
            "exchanged": "Ben praised Carl.",
            "exchanged_passive": "Carl was praised by Ben.",
            "exchanged_cleft": "It was Carl that Ben praised.",
            "under_noun": "Carl praised a critic of Ben.",
            "other_names": "Carl praised Dora.",
        }

    def test_the_patient_is_asked_for(self):
        assert distractors(item("patient"), name("Carl"), name("Dora")) == {
            "exchanged": "Carl praised Anna.",
            "exchanged_passive": "Anna was praised by Carl.",
            "exchanged_cleft": "It was Anna that Carl praised.",
            "under_noun": "A critic of Anna praised Carl.",
            "other_names": "Dora praised Carl.",
        }

    def test_a_plural_takes_were_and_an_article_a_capital(self):
        found = distractors(item(), name("the Bears", plural=True), name("Dora"))
        assert found["exchanged_passive"] == "The Bears were praised by Ben."

    def test_a_decoy_shares_no_word_with_the_passage(self):
        foreign = item(answer=name("Anna Berg"), named=name("Ben Dahl"))
        foreign = foreign._replace(example=SpanExample("2", "x", "y", "Ships"))
        assert choose(item(), [foreign], random.Random(1)) is None
        new = foreign._replace(answer=name("Carl"), named=name("Dora"))
        assert choose(item(), [foreign, new], random.Random(1)) == (name("Carl"), name("Dora"))

    def test_the_control_of_the_article_has_the_length_and_no_answer(self):
        sentences = [
            "Anna slept.",
            "Rain fell.",
            "It rained for three whole days.",
            "Ben was praised.",
        ]
        assert other_sentence(item(), sentences, 3, random.Random(1)) == "Rain fell."


def parse(words: str, heads: str, relations: str, tags: str) -> Parse:
    upos = {"W": "PRON", "N": "PROPN", "V": "VERB", "R": "PART", "A": "AUX"}
    xpos = {"W": "WP", "N": "NNP", "V": "VBD", "R": "RB", "A": "VBD"}
    forms = words.split()
    return Parse(
        Sentence.from_words(forms),
        tuple(map(int, heads.split())),
        tuple(relations.split()),
        tuple(upos[tag] for tag in tags),
        tuple(xpos[tag] for tag in tags),
        (1.0,) * len(forms),
    )


class TestQuestions:
    @pytest.mark.parametrize(("verb", "found"), [("praised", True), ("met", False), ("had", False)])
    def test_verbs_whose_exchange_would_be_an_answer_are_left_out(self, verb, found):
        text = f"Who {verb} Ben"
        result = asked(text, parse(text, "2 0 2", "nsubj root obj", "WVN"))
        assert (result is not None) == found

    def test_the_other_role_must_be_named(self):
        assert asked("Who slept", parse("Who slept", "2 0", "nsubj root", "WV")) is None

    def test_a_negated_event_is_left_out(self):
        words = "Who did not praised Ben"
        tree = parse(words, "4 4 4 0 4", "nsubj aux advmod root obj", "WARVN")
        assert asked(words, tree) is None

    def test_a_passive_asks_for_the_patient(self):
        words = "Who was praised by Ben"
        tree = parse(words, "3 3 0 5 3", "nsubj:pass aux:pass root case obl:agent", "WAVRN")
        found = asked(words, tree)
        assert found is not None
        assert (found.role, found.named.text) == ("patient", "Ben")


def test_forms_of_irregular_verbs():
    assert forms_of("write") == Forms("wrote", "written")
    assert forms_of("built") == Forms("built", "built")
    assert forms_of("founded") == Forms("founded", "founded")
    assert forms_of("defeats") is None
    assert bases("stopped") & bases("stop")
    assert not bases("founded") & {"find"}


class TestScores:
    def examples(self, *kinds):
        return [SpanExample(f"{key}-{kind}", "p", "q") for kind in kinds for key in "ab"]

    def test_what_is_lost_is_positive_and_counted_from_the_question_without(self):
        scores = {PLAIN: np.ones(12), "exchanged": np.array([0, 1, 1, 0, 1, 1.0] * 2)}
        scores["other_names"] = np.array([1, 1, 1, 0, 1, 1.0] * 2)
        rows = {row["kind"]: row for row in losses(scores, list("aabbccddeeff"), 999)}
        assert rows["exchanged"]["lost"] == pytest.approx(100 / 3)
        assert rows["exchanged"]["more_than_control"] == pytest.approx(100 / 6)
        low, high = rows["exchanged"]["lost_interval"]
        assert 0 <= low < 100 / 3 < high <= 100

    def test_questions_are_paired_by_their_ids(self):
        kinds = (PLAIN, *KINDS)
        examples = self.examples(*kinds)
        values = [float(example.id.startswith("a")) for example in examples]
        order = list(zip(examples, values, strict=True))
        random.Random(1).shuffle(order)
        found = by_kind(*map(list, zip(*order, strict=True)))
        assert all((values == found[PLAIN]).all() for values in found.values())

    def test_another_file_is_an_error(self):
        with pytest.raises(InputError, match=naming("'a-7' none exchanged")):
            by_kind([SpanExample("a-7", "p", "q")], [1.0])
        with pytest.raises(InputError, match=naming("exchanged_passive")):
            by_kind(self.examples(PLAIN, "exchanged"), [1.0] * 4)

    def test_results_of_a_single_article_are_drawn_without_an_interval(self, tmp_path, monkeypatch):
        pytest.importorskip("matplotlib")
        scores = {kind: np.array([1.0, 0.0]) for kind in (PLAIN, *KINDS)}
        results = {
            name: {"exact": list(losses(scores, articles, 99))}
            for name, articles in (("one article", "aa"), ("two articles", "ab"))
        }
        assert results["one article"]["exact"][0]["more_than_control_interval"] is None
        data, out = tmp_path / "results.json", tmp_path / "lost.svg"
        data.write_text(json.dumps(results))
        monkeypatch.setattr(sys, "argv", ["who_did_what.py", "plot", str(data), "--out", str(out)])
        who_did_what.main()
        assert "one article" in out.read_text(encoding="utf-8")
