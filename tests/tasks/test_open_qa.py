"""Open-domain question answering: training examples, aggregation over paragraphs, scores."""

from __future__ import annotations

import json
import logging
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import syntagma
import syntagma.tasks
from syntagma.analysis.compare import compare_runs
from syntagma.encoders.load import load_tokenizer
from syntagma.errors import InputError
from syntagma.evaluation import evaluate, open_model, pack, predict
from syntagma.models.open_model import OpenHead, OpenModel
from syntagma.models.span_model import SpanModel
from syntagma.tasks.experiment import DataSettings
from syntagma.tasks.open_qa.answers import OpenAnswer, ReadParagraph, pool
from syntagma.tasks.open_qa.data import OpenExample, Paragraph
from syntagma.tasks.open_qa.reader import OpenReader, ParagraphReader
from syntagma.tasks.open_qa.task import OpenQaTask
from syntagma.tasks.spans.answers import Answer, Span
from syntagma.tasks.spans.metrics import normalise
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.task import SpanTask
from syntagma.training.run import train
from tests.builders import experiment, open_qa
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


def read(place, *spans, null=0.0, verification=0.0, pid=None):
    """Make a reader's output for a paragraph: texts with scores, each at offset 10 × its index."""
    found = tuple(
        Span(text, 10 * n, 10 * n + len(text), score, 0.0)
        for n, (text, score) in enumerate(sorted(spans, key=lambda span: -span[1]))
    )
    best = found[0].score if found else -math.inf
    answer = Answer("?", "", None, None, best, null, verification, 0.0, 0.0, 0.0, found)
    return ReadParagraph(place, pid or f"p{place}", answer)


class TestPool:
    def test_equal_answers_are_one_candidate(self):
        found = [
            read(0, ("The gull", 2.0), ("a crew", 1.0)),
            read(1, ("gull.", 1.0), ("crew", 1.5), null=1.0),
        ]
        best = pool("Who?", found, OpenHead())
        assert [(c.text, c.n_paragraphs) for c in best.candidates] == [
            ("The gull", 2),
            ("a crew", 2),
        ]
        assert (best.text, best.paragraph, best.pid, best.start, best.end) == (
            "The gull", 0, "p0", 0, 8,
        )  # fmt: skip
        assert best.candidates[0].score == pytest.approx(math.log(math.exp(2) + math.exp(0)))
        assert pool("Who?", found, OpenHead(aggregate="max")).score == 2.0

    @pytest.mark.parametrize("aggregate", ["sum", "max"])
    @pytest.mark.parametrize("seed", range(4))
    def test_pool_equals_a_naive_implementation(self, aggregate, seed):
        random = np.random.default_rng(seed)
        words = ["gull", "The gull", "crew", "a", "two crews", "pier!"]
        found = [
            read(
                place,
                *((word, float(random.normal() * 4)) for word in words if random.random() < 0.7),
                null=float(random.normal() * 4),
                verification=float(random.normal()),
            )
            for place in range(5)
        ]
        head = OpenHead(
            aggregate=aggregate, span_weight=0.5, answerability_weight=2.0, objective="both"
        )
        weights: dict[str, list[float]] = {}
        for _, _, answer in found:
            for span in answer.spans:
                odds = 0.5 * (span.score - answer.null_score) - 2.0 * answer.verification
                if normalise(span.text):
                    weights.setdefault(normalise(span.text), []).append(math.exp(odds))
        counted = {
            text: sum(own) if aggregate == "sum" else max(own) for text, own in weights.items()
        }
        total = 1 + sum(counted.values())
        answer = pool("?", found, head)
        got = {normalise(c.text): c.probability for c in answer.candidates}
        assert got == pytest.approx({text: weight / total for text, weight in counted.items()})
        assert answer.null_probability == pytest.approx(1 / total)
        assert normalise(answer.text) == max(counted, key=counted.__getitem__)
        assert answer.probability == max(got.values())
        for candidate in answer.candidates:
            assert max(weights[normalise(candidate.text)]) == pytest.approx(
                max(
                    math.exp(0.5 * (span.score - own.null_score) - 2.0 * own.verification)
                    for _, pid, own in found for span in own.spans
                    if (pid, span.start, span.text)
                    == (candidate.pid, candidate.start, candidate.text)
                )
            )  # fmt: skip

    def test_an_irrelevant_paragraph_has_little_weight(self):
        loud, sure = read(0, ("gull", 9.0), null=12.0), read(1, ("crew", 3.0), null=-3.0)
        answer = pool("?", [loud, sure], OpenHead())
        assert answer.text == "crew"
        assert answer.probability > 0.98

    def test_no_paragraph_and_no_candidate_give_an_empty_answer(self):
        for found in ([], [read(0)], [read(0, ("the", 3.0), (",", 2.0))]):
            answer = pool("?", found, OpenHead())
            assert (answer.text, answer.paragraph, answer.start) == ("", None, None)
            assert answer.null_probability == 1.0
            assert answer.candidates == ()

    def test_ties_keep_retrieval_order_and_huge_scores_do_not_overflow(self):
        found = [
            read(3, ("crew", 900.0), pid="x"),
            read(4, ("gull", 900.0)),
            read(5, ("Crew", 900.0)),
        ]
        answer = pool("?", found, OpenHead(aggregate="max"))
        assert [c.pid for c in answer.candidates] == ["x", "p4"]
        assert answer.probability == pytest.approx(0.5)
        assert pool("?", found, OpenHead()).probability == pytest.approx(2 / 3)

    def test_n_best_size_limits_the_candidates(self):
        found = [read(0, *((f"gull {n}", float(n)) for n in range(9)))]
        assert len(pool("?", found, OpenHead(n_best_size=4)).candidates) == 4


class TestReader:
    PARAGRAPHS = ("  ", SENTENCES[4], *SENTENCES[:3], SENTENCES[4])

    def test_offsets_index_into_the_paragraph(self, task):
        answer = task.reader.answer("Who cried?", self.PARAGRAPHS)
        assert self.PARAGRAPHS[answer.paragraph][answer.start : answer.end] == answer.text != ""
        for candidate in answer.candidates:
            text = self.PARAGRAPHS[candidate.paragraph]
            assert text[candidate.start : candidate.end] == candidate.text
            assert candidate.pid == str(candidate.paragraph)
        # A repeated text is counted once, and a blank one is not counted.
        assert {c.paragraph for c in answer.candidates} <= {1, 2, 3, 4}

    def test_batching_does_not_change_answers(self, task):
        asked = [
            (f"What is {'so ' * n}new?", [Paragraph(f"id{k}", SENTENCES[k]) for k in range(n % 5)])
            for n in range(70)
        ]
        together = list(task.reader.stream(iter(asked)))
        assert len(together) == 70
        for one in (0, 1, 4, 64, 69):
            alone = task.reader.answer(*asked[one])
            assert (alone.text, alone.pid) == (together[one].text, together[one].pid)
            assert alone.probability == pytest.approx(together[one].probability, abs=1e-4)
            assert bool(alone.text) == bool(asked[one][1])

    def test_invalid_questions_are_rejected(self, task):
        with pytest.raises(InputError, match=naming("paragraphs list text [text]")):
            task.reader.answer("Who?", "A gull cried.")
        for given in (None, {"p1": "A gull cried."}):
            with pytest.raises(InputError, match=naming("list paragraphs")):
                task.reader.answer("Who?", given)
        for given in ({"question": "Who?", "paragraphs": ["A gull."]}, "ab"):
            with pytest.raises(InputError, match=naming("question 1 (question, paragraphs)")):
                next(task.reader.stream([given]))
        with pytest.raises(InputError, match=naming("question empty")):
            task.reader.answer(" ", ["A gull cried."])

    def test_the_reader_is_exported(self):
        assert syntagma.OpenReader is OpenReader
        with pytest.raises(AttributeError, match=naming("syntagma.tasks OpenRaeder")):
            _ = syntagma.tasks.OpenRaeder

    def test_a_model_for_spans_reads_several_paragraphs(self, tiny_encoder, tmp_path):
        model = SpanModel.from_encoder(tiny_encoder, task="spans", head=SIZES)
        SpanTask(Reader(model, load_tokenizer(tiny_encoder))).save(tmp_path)
        reader = OpenReader.from_pretrained(tmp_path)
        assert reader.head == OpenHead(**SIZES)
        assert reader.answer("Who cried?", SENTENCES).text
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


class TestLearning:
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
    def test_impossible_settings(self, values, message):
        with pytest.raises(InputError, match=naming(message)):
            OpenHead(**values)


def answered(text):
    return OpenAnswer("?", text, 0, "0", 0, len(text), 1.0, 0.5, 0.5, ())


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
        OpenAnswer.of("?", (), 1),
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

    def test_texts_are_distinct(self, task):
        gold = Paragraph("x", "Rain.")
        items = [example(("x",), "A gull.", " ", gold=gold), example(("x",), "A gull.", "Rain.")]
        assert list(task.texts(items)) == ["A gull.", "Rain.", "Who cried?"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory, tiny_encoder):
    folder = tmp_path_factory.mktemp("open")
    data = open_qa(folder / "train.jsonl")
    for name, changes in {
        "plain": {},
        "seprem": {"preset": "seprem", "parser": "linear", "head": {"aggregate": "max"}},
    }.items():
        settings = experiment(
            "open_qa", data, tiny_encoder, hidden_dropout=0.0, attention_dropout=0.0,
            training={"num_train_epochs": 15 if name == "plain" else 1, "learning_rate": 3e-3,
                      "eval_steps": 0.34, "save_steps": 1000},
            **changes,
        )  # fmt: skip
        train(settings, folder / name)
    return folder, data


def test_it_learns_and_predicts(runs):
    folder, data = runs
    metrics = json.loads((folder / "plain" / "metrics.json").read_text())
    assert metrics["f1"] > 50
    assert metrics["total"] == 24
    assert metrics["answerable"] == 100
    scores = evaluate(folder / "plain", [data], by=["evidence"])
    # Training is in float32, but scoring in bfloat16 if the machine computes it fast.
    assert scores["f1"] == pytest.approx(metrics["f1"], abs=9)
    assert scores["evidence.2.total"] == 24
    count = predict(folder / "plain", [data], folder / "out.json")
    texts = json.loads((folder / "out.json").read_text())
    nbest = json.loads((folder / "out.nbest.json").read_text())
    assert count == len(texts) == len(nbest) == 24
    paragraphs = OpenQaTask.read(data)
    for item in paragraphs:
        best = nbest[item.id][0]
        assert best["text"] == texts[item.id]
        assert item.paragraphs[best["paragraph"]].id == best["pid"]
        assert item.paragraphs[best["paragraph"]].text[best["start"] : best["end"]] == best["text"]
        assert sum(row["probability"] for row in nbest[item.id]) <= 1 + 1e-6


def test_runs_are_compared_and_packed(runs, tmp_path):
    pytest.importorskip("scipy")
    folder, _ = runs
    comparison = compare_runs([folder / "plain", folder / "seprem"])
    assert comparison.test.startswith("p: McNemar's exact test on `exact`, for these runs")
    assert comparison.columns == ("exact", "f1")
    assert comparison.n_examples == 24
    gained, lost = comparison.systems[1].gained, comparison.systems[1].lost
    assert comparison.systems[1].difference == pytest.approx(100 * (gained - lost) / 24)
    pack(folder / "plain", tmp_path / "small", bits=8)
    again = open_model(tmp_path / "small")
    assert isinstance(again, OpenQaTask)
    assert again.reader.head == OpenReader.from_pretrained(folder / "plain").head


def test_dev_files_have_separate_paragraphs(runs, tiny_encoder, tmp_path):
    folder, data = runs
    other = open_qa(tmp_path / "other.jsonl", copies=1)
    pairs = [f"{path}+{folder / 'paragraphs.jsonl'}" for path in (data, other)]
    settings = experiment("open_qa", pairs[1], tiny_encoder, training={"num_train_epochs": 1})
    files = DataSettings(train=(pairs[1],), dev=tuple(pairs))
    train(replace(settings, data=files), tmp_path / "run")
    records = (tmp_path / "run" / "metrics.jsonl").read_text()
    assert '"eval_train.f1"' in records
    assert '"eval_other.f1"' in records


def test_a_model_for_spans_is_scored_as_open_qa(runs, tiny_encoder, tmp_path):
    folder, data = runs
    model = SpanModel.from_encoder(tiny_encoder, task="spans", head=SIZES)
    SpanTask(Reader(model, load_tokenizer(tiny_encoder))).save(tmp_path)
    assert evaluate(tmp_path, [data], task="open_qa")["answerable"] == 100
    assert predict(tmp_path, [data], tmp_path / "out.json", task="open_qa") == 24
    with pytest.raises(InputError, match=naming("open_qa pairs")):
        evaluate(folder / "plain", [data], task="pairs")
    with pytest.raises(InputError, match=naming("task openqa open_qa")):
        evaluate(tmp_path, [data], task="openqa")


def test_a_verifier_is_used(tiny_encoder, tmp_path):
    data = open_qa(tmp_path / "train.jsonl")
    model = SpanModel.from_encoder(
        tiny_encoder, task="spans", head=SIZES | {"objective": "answerability"}
    )
    verifier = tmp_path / "answerable"
    verifier.mkdir()
    SpanTask(Reader(model, load_tokenizer(tiny_encoder))).save(verifier)
    head = {"verifier": str(verifier), "answerability_weight": 2.0}
    settings = experiment("open_qa", data, tiny_encoder, head=head)
    examples = OpenQaTask.read(data)
    task = OpenQaTask.new(settings, examples)
    task.reader.reader.verifier.precision = "float32"
    (answer,) = task.predict(examples[:1])
    task.save(tmp_path)
    again = open_model(tmp_path)
    for reader in (again.reader.reader, again.reader.reader.verifier):
        reader.precision = "float32"
    assert again.predict(examples[:1])[0].score == pytest.approx(answer.score, abs=1e-4)
    again.model.set_head(answerability_weight=0.0)
    assert again.predict(examples[:1])[0].score != pytest.approx(answer.score, abs=1e-4)
