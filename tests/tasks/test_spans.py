"""Reading passages in windows: answers, thresholds, verifiers and scores."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from syntagma.encoders.load import load_tokenizer
from syntagma.errors import InputError
from syntagma.evaluation import evaluate, open_model
from syntagma.models.guides import resolve_guides
from syntagma.models.span_model import SpanModel
from syntagma.parse.sources.load import load_source
from syntagma.tasks.spans.answers import Span, SpanPrediction
from syntagma.tasks.spans.decode import (
    WindowCandidates,
    best_spans,
    decode_answer,
)
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.squad import SpanExample
from syntagma.tasks.spans.task import SpanTask
from syntagma.tasks.spans.windows import WindowMaker
from tests.builders import squad
from tests.conftest import ENCODERS, SENTENCES
from tests.messages import naming

PASSAGE = " ".join(SENTENCES)
SMALL = {"max_length": 64, "doc_stride": 16, "max_question_length": 16, "max_answer_length": 20}


def examples():
    """Make a question for every two consecutive words of the passage, and an impossible one."""
    words, start = [], 0
    for word in PASSAGE.split():
        start = PASSAGE.index(word, start)
        words.append((word, start))
        start += len(word)
    found = [
        SpanExample(
            f"q{number}", PASSAGE, "What is here?",
            answers=(PASSAGE[one[1] : two[1] + len(two[0])],), answer_starts=(one[1],),
        )
        for number, (one, two) in enumerate(itertools.pairwise(words))
    ]  # fmt: skip
    return [*found, SpanExample("no", PASSAGE, "Who sang?", is_impossible=True)]


def task_of(folder, **head) -> SpanTask:
    settings = SMALL | head
    model = SpanModel.from_encoder(str(folder), task="spans", head=settings)
    return SpanTask(Reader(model, load_tokenizer(str(folder)), precision="float32"))


@pytest.mark.parametrize(
    ("model_type", "question_first"), [*((name, False) for name in ENCODERS), ("roberta", True)]
)
def test_gold_scores_decode_to_the_gold_answer(encoder_folders, model_type, question_first):
    """Decoding inverts the features, for every kind of tokenizer and over all windows."""
    task = task_of(encoder_folders[model_type], question_first=question_first)
    questions = examples()
    features = task.features(questions)
    by_example: dict[int, list] = {}
    for window in features.items:
        by_example.setdefault(window.example, []).append(window)
    assert max(map(len, by_example.values())) > 2
    for number, example in enumerate(questions):
        windows = by_example[number]
        batch = task.collate(windows)
        candidates = []
        for row, window in enumerate(windows):
            assert bool(window.start) == bool(window.last)
            start = torch.full(batch["context"].shape[1:], -50.0)
            end = start.clone()
            start[window.start], end[window.last] = 5.0, 5.0
            outside = ~batch["context"][row]
            assert not outside[window.start]
            assert not outside[window.last]
            start[outside], end[outside] = -torch.inf, -torch.inf
            found = best_spans(start[None], end[None], max_answer_length=20, n_best_size=3)
            null_score = float(start[0] + end[0])
            candidates.append(WindowCandidates(*(t[0].numpy() for t in found), null_score, 0.0))
        answer = decode_answer(example.question, PASSAGE, windows, candidates, task.model.head)
        if example.is_impossible:
            assert not answer.answered
            assert answer.text == ""
            continue
        # Windows without the answer do not make the reader abstain: the minimum null score counts.
        assert answer.answered
        assert (answer.start, answer.end) == (
            example.answer_starts[0],
            example.answer_starts[0] + len(example.answers[0]),
        )
        assert answer.text == example.answers[0]


def test_every_piece_of_the_passage_is_in_a_window(encoder_folders):
    task = task_of(encoder_folders["bert"])
    texts = task.predictor.texts.encode([PASSAGE, "Who sang?"])
    windows = task.predictor.maker.windows(0, texts[PASSAGE], texts["Who sang?"])
    covered = {piece for window in windows for piece in range(window.begin, window.end)}
    assert covered == set(range(len(texts[PASSAGE])))
    assert all(len(window) <= 64 for window in windows)
    batch = task.collate(windows)
    for row, window in enumerate(windows):
        length = int(batch["attention_mask"][row].sum())
        ids = batch["input_ids"][row, :length].tolist()
        passage = texts[PASSAGE].pieces[window.begin : window.end].tolist()
        question = texts["Who sang?"].pieces.tolist()
        cls, sep = task.tokenizer.cls_token_id, task.tokenizer.sep_token_id
        assert ids == [cls, *passage, sep, *question, sep]
        assert batch["context"][row].nonzero().flatten().tolist() == list(range(1 + len(passage)))


def test_batching_does_not_change_answers(encoder_folders):
    task = task_of(encoder_folders["bert"])
    pairs = [(PASSAGE[: 40 * n + 30], f"What is {'so ' * n}new?") for n in range(6)]
    together = list(task.predictor.stream(pairs, threshold=math.inf))
    for pair, expected in zip(pairs, together, strict=True):
        alone = task.predictor.answer(*pair, threshold=math.inf)
        assert (alone.start, alone.end) == (expected.start, expected.end)
        assert alone.best.score == pytest.approx(expected.best.score, abs=1e-4)


def test_answers_before_an_empty_text_are_yielded(encoder_folders, monkeypatch):
    monkeypatch.setattr("syntagma.tasks.spans.reader.CHUNK", 3)
    task = task_of(encoder_folders["bert"])
    pairs = [(PASSAGE, "Who?")] * 4 + [(" ", "Who?"), (PASSAGE, "When?")]
    answers = []
    with pytest.raises(InputError, match=naming("pair 5 passage empty")):
        answers.extend(iter_answers := task.predictor.stream(pairs))
    assert len(answers) == 4
    assert list(iter_answers) == []
    with pytest.raises(InputError, match=naming("answer_all answer()")):
        task.predictor.answer_all(PASSAGE, "Who?")


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("A gull.", "Who?"), {"passage": "A gull.", "question": "Who?"}],
         "pair 2 (passage, question) {'passage': Who?"),
        (["ab"], "pair 1 (passage, question) 'ab'"),
        ([("A gull.",)], "pair 1 (passage, question) gull."),
        ([("A gull.", None)], "pair 1 question string None"),
        (None, "list (passage, question) None"),
    ],
)  # fmt: skip
def test_stream_rejects_items_that_are_not_pairs(pairs, message, encoder_folders):
    reader = task_of(encoder_folders["bert"]).predictor
    with pytest.raises(InputError, match=naming(message)):
        list(reader.stream(pairs))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (None, "path model None"),
        ("runs/nosuch", "runs/nosuch default-parser default-reader"),
    ],
)
def test_names_that_are_not_models_are_rejected(name, message):
    for load in (Reader.from_pretrained, open_model):
        with pytest.raises(InputError, match=naming(message)):
            load(name)


@pytest.mark.parametrize("questions", [None, {"q1": "Who?"}])
def test_answer_all_requires_a_list(questions, encoder_folders):
    reader = task_of(encoder_folders["bert"]).predictor
    with pytest.raises(InputError, match=naming("list questions")):
        reader.answer_all(PASSAGE, questions)


@pytest.mark.parametrize("threshold", ["x", math.nan, True])
def test_the_threshold_must_be_a_number(threshold, encoder_folders):
    reader = task_of(encoder_folders["bert"]).predictor
    with pytest.raises(InputError, match=naming(f"threshold number {threshold}")):
        reader.answer(PASSAGE, "Who?", threshold=threshold)


def test_offsets_are_right_next_to_astral_characters(encoder_folders):
    passage = "😀😀 Ada 👩‍🚀 met Zoë in 東京 yesterday."
    task = task_of(encoder_folders["roberta"])
    answer = task.predictor.answer(passage, "Who?", threshold=math.inf)
    assert passage[answer.start : answer.end] == answer.text != ""
    for span in (*answer.spans, *answer.candidates, *answer.prediction.spans):
        assert passage[span.start : span.end] == span.text


def test_a_long_question_is_truncated_and_an_empty_one_rejected(encoder_folders):
    reader = task_of(encoder_folders["bert"]).predictor
    assert reader.answer(PASSAGE, "why " * 500, threshold=math.inf).outcome == "answer"
    with pytest.raises(InputError, match=naming("question empty")):
        reader.answer(PASSAGE, "  ")
    with pytest.raises(InputError, match=naming("passage empty")):
        reader.answer(" ", "Who?")


def test_max_length_is_limited_by_the_encoder(encoder_folders):
    with pytest.raises(InputError, match=naming("head.max_length 300 160")):
        task_of(encoder_folders["bert"], max_length=300)


def test_a_guided_reader_needs_a_parse_source(encoder_folders):
    model = SpanModel.from_encoder(
        str(encoder_folders["bert"]),
        task="spans",
        guides={"ancestor_attention": {}},
        head={"max_length": 64, "doc_stride": 16, "max_question_length": 16},
    )
    with pytest.raises(InputError, match=naming("parse source")):
        Reader(model, None)


def test_windows_advance_without_gaps():
    from syntagma.syntax.sequences import window_starts

    for n_pieces, size, stride in itertools.product(range(1, 40), range(1, 9), range(1, 9)):
        if stride > size:
            continue
        starts = window_starts(n_pieces, size, stride)
        covered = {p for s in starts for p in range(s, min(s + size, n_pieces))}
        assert covered == set(range(n_pieces))
        assert len(starts) == 1 or starts[-2] + size < n_pieces


def test_maker_encodes_each_text_once(encoder_folders):
    task = task_of(encoder_folders["bert"])
    assert isinstance(task.predictor.maker, WindowMaker)
    texts = task.predictor.texts.encode([PASSAGE, PASSAGE, "Who?"])
    assert list(texts) == [PASSAGE, "Who?"]


def test_threshold_and_weight_are_fitted(encoder_folders):
    """Span scores are uninformative about answerability, the verifier's almost perfect."""
    task = task_of(encoder_folders["bert"])
    random = np.random.default_rng(0)
    questions, answers = [], []
    for number in range(60):
        impossible = number % 3 == 0
        question = SpanExample(
            str(number), PASSAGE, "?", is_impossible=impossible,
            answers=() if impossible else ("The old",), answer_starts=() if impossible else (0,),
        )  # fmt: skip
        verification = (3.0 if impossible else -3.0) + random.normal()
        score, null_score = 5.0, 5.0 + random.normal()
        span = Span("The old", 0, 7, score, 0.9)
        answers.append(
            SpanPrediction("?", "The old", 0, 7, score, null_score, verification,
                           null_score - score, 0.0, 0.9, (span,))
        )  # fmt: skip
        questions.append(question)
    fitted = task.fit_after_training(questions, answers)
    assert fitted["answerability_weight"] >= 1
    assert task.model.head.null_score_diff_threshold == fitted["null_score_diff_threshold"]
    assert task.model.config.head.answerability_weight == fitted["answerability_weight"]
    weight = fitted["answerability_weight"]
    decided = [
        (a.null_score - a.score + weight * a.verification > fitted["null_score_diff_threshold"])
        == q.is_impossible
        for q, a in zip(questions, answers, strict=True)
    ]
    assert sum(decided) >= 57
    assert task.fit_after_training(questions[1:3], answers[1:3]) == {}


@pytest.mark.parametrize("span_weight", [0.5, 1.0, 2.0])
def test_the_fitted_threshold_reaches_best_f1(encoder_folders, span_weight):
    task = task_of(encoder_folders["bert"], span_weight=span_weight)
    task.fit_after_training(examples(), task.predict(examples()))
    fitted = task.score(examples(), task.predict(examples()))
    assert fitted["f1"] == pytest.approx(fitted["best_f1"])


def test_an_unlabelled_question_does_not_change_other_answers(encoder_folders):
    """If every labelled question has an answer, the reader never abstains."""
    task = task_of(encoder_folders["bert"])
    task.model.set_head(null_score_diff_threshold=-math.inf)
    questions = examples()[:3]
    secret = SpanExample("secret", PASSAGE, "Who knows?")
    assert all(answer.text for answer in task.predict([*questions, secret]))
    assert not any(answer.text for answer in task.predict([*questions, examples()[-1]]))
    assert not any(answer.text for answer in task.predict([secret]))


def test_a_verifier_reads_the_parses_it_was_trained_with(tiny_encoder, tmp_path):
    def saved(name, parser, **head):
        guides = resolve_guides("sg-net", {})
        model = SpanModel.from_encoder(
            tiny_encoder, task="spans", head=SMALL | head, guides=guides, parser=parser
        )
        reader = Reader(model, load_tokenizer(tiny_encoder), source=load_source(parser))
        SpanTask(reader).save(tmp_path / name)
        return str(tmp_path / name)

    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    verifier = saved("a", "random:0", objective="answerability")
    folder = saved("b", "linear", verifier=verifier)
    reader = Reader.from_pretrained(folder, precision="float32")
    assert reader.texts.cache.source.fingerprint.startswith("linear")
    assert reader.verifier.texts.cache.source.fingerprint.startswith("random")
    assert reader.verifier.precision == "float32"
    other = Reader.from_pretrained(folder, parser="random:7")
    assert other.verifier.texts.cache is other.texts.cache


def test_unlabelled_questions_are_excluded_from_scores(encoder_folders):
    """Otherwise the empty answer would count as right for them."""
    task = task_of(encoder_folders["bert"])
    secret = SpanExample("secret", PASSAGE, "Who knows?")
    questions = [*examples()[:2], examples()[-1], secret]
    assert [task.is_labelled(example) for example in questions] == [True, True, True, False]
    answers = task.predict(questions)
    assert task.score(questions, answers) == task.score(questions[:3], answers[:3])
    assert set(task.score_examples(questions, answers)) == {example.id for example in questions[:3]}
    assert task.fit_after_training(questions, answers) == task.fit_after_training(
        questions[:3], answers[:3]
    )
    with pytest.raises(InputError, match=naming("1 `syntagma predict`")):
        task.evaluate([secret])


def test_the_fitted_threshold_can_be_replaced(encoder_folders, tmp_path):
    path = squad(tmp_path / "harbour.json", copies=1)
    task_of(encoder_folders["bert"]).save(tmp_path)
    questions = SpanTask.read(path)
    n_impossible = sum(example.is_impossible for example in questions)
    assert 0 < n_impossible < len(questions)
    always = evaluate(tmp_path, [path], threshold=-math.inf)
    assert (always["NoAns_exact"], always["HasAns_exact"]) == (100, 0)
    never = evaluate(tmp_path, [path], threshold=math.inf)
    assert never["NoAns_exact"] == 0
    with pytest.raises(InputError, match=naming("threshold nan number")):
        evaluate(tmp_path, [path], threshold=math.nan)
    with pytest.raises(InputError, match=naming("threshold 0.5 open_qa omit")):
        evaluate(tmp_path, [path], task="open_qa", threshold=0.5)


def test_verifiers_are_scored_by_accuracy(encoder_folders):
    task = task_of(encoder_folders["bert"], objective="answerability")
    questions = [*examples()[:2], examples()[-1], SpanExample("secret", PASSAGE, "Who knows?")]
    answers = [
        SpanPrediction("?", "", 0, 0, 0.0, 0.0, verification, 0.0, 0.0, 0.5, ())
        for verification in (-1.0, 2.0, 2.0, 2.0)
    ]
    assert task.score(questions, answers) == {"accuracy": pytest.approx(200 / 3), "total": 3.0}
    rows = task.score_examples(questions, answers)
    assert [row["accuracy"] for row in rows.values()] == [1, 0, 1]
