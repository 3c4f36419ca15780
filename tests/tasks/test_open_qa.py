"""Open-domain question answering: the reader, the choice of training paragraphs, and scores."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import syntagma
import syntagma.tasks
from syntagma.encoders.load import load_tokenizer
from syntagma.errors import InputError
from syntagma.models.open_model import OpenHead, OpenModel
from syntagma.models.span_model import SpanModel
from syntagma.tasks.open_qa.answers import OpenPrediction
from syntagma.tasks.open_qa.data import OpenExample, Paragraph
from syntagma.tasks.open_qa.reader import OpenReader, ParagraphReader
from syntagma.tasks.open_qa.task import OpenQaTask
from syntagma.tasks.spans.outcomes import MODES
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.task import SpanTask
from tests.conftest import SENTENCES
from tests.messages import naming

SIZES = {"max_length": 64, "doc_stride": 16, "max_question_length": 16}


def task_of(encoder, *, seed=1, **head) -> OpenQaTask:
    model = OpenModel.from_encoder(encoder, task="open_qa", head=SIZES | head)
    reader = ParagraphReader(model, load_tokenizer(encoder), precision="float32")
    return OpenQaTask(OpenReader(reader), seed=seed)


@pytest.fixture(scope="module")
def task(tiny_encoder):
    return task_of(tiny_encoder)


class TestReader:
    PARAGRAPHS = ("  ", SENTENCES[4], *SENTENCES[:3], SENTENCES[4])

    def test_offsets_index_into_the_paragraph(self, task):
        answer = task.reader.answer("Who cried?", self.PARAGRAPHS, mode="lenient")
        assert answer.outcome != "none"
        assert self.PARAGRAPHS[answer.paragraph][answer.start : answer.end] == answer.text != ""
        for candidate in answer.candidates:
            text = self.PARAGRAPHS[candidate.paragraph]
            assert text[candidate.start : candidate.end] == candidate.text
            assert candidate.pid == str(candidate.paragraph)
        # A repeated text is counted once, and a blank one is not counted.
        assert {c.paragraph for c in answer.candidates} <= {1, 2, 3, 4}

    def test_batching_does_not_change_answers(self, task):
        questions = [
            (f"What is {'so ' * n}new?", [Paragraph(f"id{k}", SENTENCES[k]) for k in range(n % 5)])
            for n in range(70)
        ]
        together = list(task.reader.stream(iter(questions)))
        assert len(together) == 70
        for one in (0, 1, 4, 64, 69):
            alone = task.reader.answer(*questions[one])
            assert (alone.text, alone.pid) == (together[one].text, together[one].pid)
            assert alone.confidence == pytest.approx(together[one].confidence, abs=1e-4)
            assert bool(alone.candidates) == bool(questions[one][1])

    def test_invalid_questions_are_rejected(self, task):
        with pytest.raises(InputError, match=naming("paragraphs list text [text]")):
            task.reader.answer("Who?", "A gull cried.")
        for invalid in (None, {"p1": "A gull cried."}):
            with pytest.raises(InputError, match=naming("list paragraphs")):
                task.reader.answer("Who?", invalid)
        for invalid in ({"question": "Who?", "paragraphs": ["A gull."]}, "ab"):
            with pytest.raises(InputError, match=naming("question 1 (question, paragraphs)")):
                next(task.reader.stream([invalid]))
        with pytest.raises(InputError, match=naming("question empty")):
            task.reader.answer(" ", ["A gull cried."])

    def test_a_retriever_scores_all_paragraphs_or_none(self, task):
        texts = [Paragraph("a", "A gull cried.", score=1.0), Paragraph("b", "The crew slept.")]
        with pytest.raises(InputError, match=naming("paragraphs score every none 1 2")):
            task.reader.answer("Who cried?", texts)
        texts[1] = replace(texts[1], score=float("nan"))
        with pytest.raises(InputError, match=naming("paragraphs finite nan")):
            task.reader.answer("Who cried?", texts)
        # A blank paragraph is not read, so it needs no score.
        assert task.reader.answer("Who cried?", [texts[0], " "]).candidates

    def test_the_reader_is_exported(self):
        assert syntagma.OpenReader is OpenReader
        with pytest.raises(AttributeError, match=naming("syntagma.tasks OpenRaeder")):
            _ = syntagma.tasks.OpenRaeder

    def test_a_model_for_spans_reads_several_paragraphs(self, tiny_encoder, tmp_path):
        model = SpanModel.from_encoder(tiny_encoder, task="spans", head=SIZES)
        SpanTask(Reader(model, load_tokenizer(tiny_encoder))).save(tmp_path)
        reader = OpenReader.from_pretrained(tmp_path)
        assert reader.head == OpenHead(**SIZES)
        assert reader.answer("Who cried?", SENTENCES).candidates
        task_of(tiny_encoder).save(tmp_path)
        with pytest.raises(InputError, match=naming("open_qa spans")):
            Reader.from_pretrained(tmp_path)
        model = SpanModel.from_encoder(tiny_encoder, task="choice", head=SIZES)
        model.save_pretrained(tmp_path)
        with pytest.raises(InputError, match=naming("choice open_qa spans")):
            OpenReader.from_pretrained(tmp_path)


def example(answers=("gull",), *texts, gold=None, key="q"):
    paragraphs = tuple(Paragraph(str(n), text) for n, text in enumerate(texts))
    return OpenExample(key, "Who cried?", answers, paragraphs, gold)


class TestTrainingParagraphs:
    TEXTS = ("A gull.", "The pier.", "One gull.", "The crew.", "A gull.", "Two gull.", " ", "Rain.")

    def chosen(self, encoder, item, seed=1, number=0, **head):
        task = task_of(encoder, seed=seed, **head)
        return task.choose(item, np.random.default_rng((seed, number)))

    def test_positives_have_spans_and_negatives_are_impossible(self, tiny_encoder):
        found = self.chosen(tiny_encoder, example(("gull",), *self.TEXTS), train_positives=9,
                            train_negatives=9)  # fmt: skip
        assert [(e.passage, e.answers, e.is_impossible) for e in found] == [
            ("A gull.", ("gull",), False),
            ("One gull.", ("gull",), False),
            ("Two gull.", ("gull",), False),
            ("The pier.", (), True),
            ("The crew.", (), True),
            ("Rain.", (), True),
        ]
        assert all(e.passage.startswith(e.answers[0], e.answer_starts[0]) for e in found[:3])

    @pytest.mark.parametrize(("positives", "negatives"), [(1, 0), (1, 2), (2, 1), (3, 3)])
    def test_the_settings_limit_positives_and_negatives(self, tiny_encoder, positives, negatives):
        found = self.chosen(tiny_encoder, example(("gull",), *self.TEXTS),
                            train_positives=positives, train_negatives=negatives)  # fmt: skip
        assert Counter(e.is_impossible for e in found) == Counter(
            {False: positives, True: negatives}
        )
        near = self.chosen(tiny_encoder, example(("gull",), *self.TEXTS), train_paragraphs=2)
        assert [e.passage for e in near] == ["A gull.", "The pier."]

    def test_sampling_depends_on_the_seed(self, tiny_encoder):
        item = example(("gull",), *(f"gull {n}" for n in range(10)))
        seen = [
            tuple(e.passage for e in self.chosen(tiny_encoder, item, seed=seed, train_positives=3))
            for seed in (1, 1, 2, 3, 4)
        ]
        assert seen[0] == seen[1]
        assert len(set(seen)) > 2

    def test_the_gold_paragraph_is_always_a_positive(self, tiny_encoder):
        gold = Paragraph("x", "Her gull.")
        for seed in range(5):
            item = example(("gull",), *self.TEXTS, gold=gold)
            found = self.chosen(tiny_encoder, item, seed=seed)
            assert found[0].passage == "Her gull."
            assert len(found) == 4
            found = self.chosen(tiny_encoder, item, seed=seed, train_positives=1)
            assert [e.passage for e in found if not e.is_impossible] == ["Her gull."]
        elsewhere = Paragraph("x", "Her cat.")
        found = self.chosen(tiny_encoder, example(("gull",), *self.TEXTS, gold=elsewhere))
        assert found[0].passage != "Her cat."
        assert not found[0].is_impossible

    def test_questions_without_a_positive_are_skipped_and_counted(self, task, caplog):
        examples = [
            example(("gull",), "A gull cried."),
            example(("crew",), "A gull cried."),
            example(("crew",), "A gull."),
            example(("crew",)),
        ]
        with caplog.at_level(logging.WARNING):
            features = task.features(examples)
        assert len(features) == 1
        assert (
            "skipped 3 of 4 questions: 2 whose paragraphs do not contain an answer, 1 without "
            "paragraphs" in caplog.text
        )
        with pytest.raises(InputError, match=naming("question paragraph answer")):
            task.features(examples[1:])
        with pytest.raises(InputError, match=naming("question q answers")):
            task.features([example((), "A gull.")])

    def test_impossible_questions_have_negatives_only(self, tiny_encoder):
        none = replace(example((), *self.TEXTS), is_impossible=True)
        found = self.chosen(tiny_encoder, none, train_negatives=3)
        assert [(e.answers, e.is_impossible) for e in found] == [((), True)] * 3
        assert len(task_of(tiny_encoder).features([none])) == 2

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"paragraphs": 0}, "paragraphs 1 0"),
            ({"train_positives": 0}, "train_positives 1 0"),
            ({"train_negatives": -1}, "train_negatives -1"),
            ({"objective": "answerability"}, "answerability answers spans both"),
            ({"doc_stride": 0}, "doc_stride 1 0"),
        ],
    )
    def test_invalid_settings_are_reported(self, values, message):
        with pytest.raises(InputError, match=naming(message)):
            OpenHead(**values)


def answered(text):
    return OpenPrediction("?", text, 0, "0", 0, len(text), 1.0, 0.5, 0.5, ())


class TestScores:
    EXAMPLES = (
        example(("the gull", "gulls"), "A gull.", "Gulls!", "gull", key="a"),
        example(("crew",), "A gull.", "The crew.", key="b"),
        example(("crew",), "A gull.", key="c"),
        example(("The",), key="d"),
    )
    ANSWERS = (
        answered("Gull"),
        answered("crew there"),
        answered("crew"),
        OpenPrediction.of("?", (), 1),
    )

    def test_official_metrics_and_their_upper_bound(self, task):
        scores = task.score(self.EXAMPLES, self.ANSWERS)
        assert scores == {
            "exact": 50.0,
            "f1": pytest.approx(100 * (1 + 2 / 3 + 1) / 4),
            "total": 4,
            "answerable": 50.0,
            "answerable_exact": 50.0,
            "answerable_f1": pytest.approx(100 * (1 + 2 / 3) / 2),
            "answerable_total": 2,
        }
        rows = task.score_examples(self.EXAMPLES, self.ANSWERS)
        # A question without paragraphs counts as wrong, even if its answer normalises to nothing.
        assert rows["d"] == {"exact": 0, "f1": 0.0}
        assert rows["c"] == {"exact": 1, "f1": 1.0}

    def test_breakdown_by_number_of_paragraphs_with_an_answer(self, task, tiny_encoder):
        groups = task.breakdown("evidence", self.EXAMPLES, self.ANSWERS)
        assert {key: group["total"] for key, group in groups.items()} == {"0": 2, "1": 1, "3": 1}
        assert groups["0"]["exact"] == 50.0
        far = task_of(tiny_encoder, paragraphs=99)
        many = example(("gull",), *(f"gull {n}" for n in range(12)))
        assert list(far.breakdown("evidence", [many], [answered("x")])) == ["10+"]
        near = task_of(tiny_encoder, paragraphs=1)
        groups = near.breakdown("evidence", self.EXAMPLES, self.ANSWERS)
        assert {key: group["total"] for key, group in groups.items()} == {"0": 3, "1": 1}

    def test_only_the_first_paragraphs_are_read(self, tiny_encoder):
        near = task_of(tiny_encoder, paragraphs=1)
        (answer,) = near.predict([example(("x",), *SENTENCES)])
        assert {candidate.paragraph for candidate in answer.candidates} == {0}

    def test_unlabelled_questions_are_not_scored(self, task):
        answered, unanswered = (
            example(("gull",), "A gull."),
            replace(example((), "A gull."), id="r"),
        )
        both = [answered, unanswered]
        predictions = task.predict(both)
        assert task.score(both, predictions) == task.score(both[:1], predictions[:1])
        assert task.score_examples(both, predictions).keys() == {answered.id}
        with pytest.raises(InputError, match=naming("1 `syntagma predict`")):
            task.evaluate([unanswered])

    def test_impossible_questions_count_for_what_users_get_only(self, task):
        none = replace(example((), "A gull.", key="n"), is_impossible=True)
        examples, answers = (*self.EXAMPLES, none), (*self.ANSWERS, answered("gull"))
        assert task.score(examples, answers) == task.score(self.EXAMPLES, self.ANSWERS)
        assert task.score_examples(examples, answers).keys() == set("abcd")

    def test_a_question_has_an_answer_if_a_paragraph_that_is_read_contains_it(self, tiny_encoder):
        task = task_of(tiny_encoder, paragraphs=2)
        examples = [
            example(("gull",), "A gull cried.", "The crew slept.", key="a"),
            example(("crew",), "A gull cried.", "It rained.", "The crew slept.", key="b"),
            replace(example((), "A gull cried.", key="c"), is_impossible=True),
            example((), "A gull cried.", key="unlabelled"),
        ]
        values = task.user_scores(examples, task.predict(examples))
        for mode in MODES:
            shares = [values[f"{mode}.HasAns_{name}"] for name in
                      ("right", "wrong", "unsure", "none")]  # fmt: skip
            assert sum(shares) == 100
            assert max(shares) == 100, "one question has an answer"
            # Of two questions without one.
            assert values[f"{mode}.NoAns_answer"] in (0, 50, 100)
        assert 0 <= values["ece_no_answer"] <= 1
        assert values.keys() <= task.evaluate(examples).keys()

    def test_each_text_is_listed_once(self, task):
        gold = Paragraph("x", "Rain.")
        items = [example(("x",), "A gull.", " ", gold=gold), example(("x",), "A gull.", "Rain.")]
        assert list(task.texts(items)) == ["A gull.", "Rain.", "Who cried?"]
