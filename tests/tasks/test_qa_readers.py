"""Public question-answering models as readers: answers, order of the texts, and every use."""

from __future__ import annotations

import json
import math
from html import escape
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

from syntagma import OpenReader, Reader
from syntagma.analysis.attention.draw import draw_attention
from syntagma.analysis.attention.observation import observe_reading, sentences_of
from syntagma.analysis.attention.word_scores import answer_scores
from syntagma.cli import main
from syntagma.encoders.reference import find_model
from syntagma.evaluation import evaluate, open_model, predict, score_predictions
from syntagma.packing import pack
from syntagma.report.answers import read_and_answer
from syntagma.tasks.layout import TextPair
from syntagma.training.run import train
from tests.builders import experiment, squad
from tests.conftest import SENTENCES
from tests.qa_models import save_qa_model

PASSAGE = " ".join(SENTENCES)
QUESTIONS = ("Who crossed the river?", "What did the old captain see at dawn?", "Why?")
FAMILIES = ("bert", "roberta", "deberta-v2", "mpnet")
TWO_TYPES, TWO_SEPARATORS = ("bert",), ("roberta",)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("qa")
    return {name: save_qa_model(root / name, name) for name in FAMILIES}


def expected_answers(folder, question, passage, head, *, best=20, longest=30):
    """Spans and the score of no answer, found by trying each span of each window.

    Args:
        folder: of the model.
        question: read before the passage.
        passage: a text.
        head: settings with the lengths of windows.
        best: number of spans to return.
        longest: number of pieces of the longest answer.
    """
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForQuestionAnswering.from_pretrained(folder).eval()
    pieces = tokenizer(passage, add_special_tokens=False, return_offsets_mapping=True)
    ids, places = pieces["input_ids"], pieces["offset_mapping"]
    asked = tokenizer(question, add_special_tokens=False)["input_ids"]
    first_piece, separator = tokenizer.cls_token_id, tokenizer.sep_token_id
    between = [separator] * (2 if folder.name in TWO_SEPARATORS else 1)
    room = head.max_length - len(asked) - len(between) - 2
    spans, null_score, begin = {}, math.inf, 0
    while True:
        part = range(begin, min(begin + room, len(ids)))
        row = [first_piece, *asked, *between, *(ids[n] for n in part), separator]
        types = [0] * (len(row) - len(part) - 1) + [1] * (len(part) + 1)
        inputs = {"input_ids": torch.tensor([row])}
        if folder.name in TWO_TYPES:
            inputs["token_type_ids"] = torch.tensor([types])
        with torch.no_grad():
            found = model(**inputs)
        start, end = found.start_logits[0].tolist(), found.end_logits[0].tolist()
        null_score = min(null_score, start[0] + end[0])
        shift = len(row) - 1 - len(part) - begin
        for first in part:
            for last in range(first, min(first + longest, part.stop)):
                begins, ends = places[first][0], places[last][1]
                text = passage[begins:ends]
                begins += len(text) - len(text.lstrip())
                ends -= len(text) - len(text.rstrip())
                score = start[first + shift] + end[last + shift]
                if begins < ends:
                    spans[begins, ends] = max(score, spans.get((begins, ends), -math.inf))
        if part.stop == len(ids):
            break
        begin += head.doc_stride
    ranked = sorted(spans.items(), key=lambda item: -item[1])[:best]
    return ranked, null_score


@pytest.mark.parametrize("passage", [SENTENCES[0], PASSAGE * 2])
@pytest.mark.parametrize("family", FAMILIES)
def test_answers_equal_those_of_a_search_over_all_spans(folders, family, passage):
    reader = Reader.from_pretrained(folders[family], precision="float32")
    for answer in reader.predictions([(passage, question) for question in QUESTIONS]):
        spans, null_score = expected_answers(
            folders[family], answer.question, passage, reader.model.head
        )
        # Several of the best 20 of a window may cover the same characters.
        assert len(answer.spans) >= 15
        for span, (place, score) in zip(answer.spans, spans, strict=False):
            assert (span.start, span.end) == place
            assert span.score == pytest.approx(score, abs=1e-4)
        assert answer.null_score == pytest.approx(null_score, abs=1e-4)
        # The score of no answer decides, at the threshold 0.
        assert answer.threshold == 0
        assert answer.answered == (null_score <= spans[0][1])


@pytest.mark.parametrize(("null_bias", "answered"), [(-100.0, True), (100.0, False)])
def test_it_abstains_where_no_answer_has_the_best_score(folders, null_bias, answered):
    reader = Reader.from_pretrained(folders["bert"], precision="float32")
    scores = reader.model.span_scores.forward

    def biased(states):
        found = scores(states)
        return torch.cat([found[:, :1] + null_bias, found[:, 1:]], 1)

    reader.model.span_scores.forward = biased
    pairs = [(PASSAGE, question) for question in QUESTIONS]
    for prediction in reader.predictions(pairs):
        assert prediction.answered is answered
        assert prediction.spans
    for prediction in reader.predictions(pairs, threshold=math.inf):
        assert prediction.answered


def test_the_order_of_the_texts_is_that_of_the_setting(folders):
    reader = Reader.from_pretrained(folders["roberta"])
    pair = TextPair(SENTENCES[0], QUESTIONS[0])
    layout = reader.lay_out(pair)
    assert [stretch.name for stretch in layout.stretches] == ["question", "passage"]
    ids = layout.batch["input_ids"][0].tolist()
    for stretch in layout.stretches:
        inside = ids[stretch.begin : stretch.begin + len(stretch.pieces)]
        assert inside == stretch.pieces.pieces.tolist()
    windows = reader.windows([(PASSAGE * 2, QUESTIONS[0])])
    assert len(windows) > 1
    lengths = reader.batch(windows)["attention_mask"].sum(1).tolist()
    assert [len(window) for window in windows] == lengths
    reader.model.set_head(question_first=False)
    other = Reader(reader.model, reader.tokenizer)
    assert [each.name for each in other.lay_out(pair).stretches] == ["passage", "question"]


def test_pictures_show_the_scores_of_the_passage(folders, tmp_path):
    reader = Reader.from_pretrained(folders["bert"])
    texts = TextPair(SENTENCES[0], QUESTIONS[0])
    seen = observe_reading("public", reader, texts)
    found = answer_scores(seen, sentences_of([reader], texts.first))
    assert " ".join(found.words).startswith(SENTENCES[0].split()[0])
    with torch.no_grad():
        scores = reader.model(**reader.batch(reader.windows([texts[:2]])))
    begin = seen.layout.stretches[1].begin
    shares = scores.start_logits[0].softmax(-1)[
        begin : begin + len(seen.layout.stretches[1].pieces)
    ]
    assert sum(found.scores[0]) == pytest.approx(float(shares.sum()), abs=1e-3)
    (tmp_path / "text.txt").write_text(PASSAGE)
    drawn = draw_attention(
        [folders["bert"]], tmp_path / "text.txt", QUESTIONS[0], out=tmp_path / "drawn.svg"
    )
    assert len(drawn) == 1


def test_it_can_be_saved_packed_and_opened_again(folders, tmp_path):
    reader = Reader.from_pretrained(folders["bert"])
    expected = reader(PASSAGE, QUESTIONS[0], threshold=0.0)
    reader.model.set_head(null_score_diff_threshold=1.5)
    reader.model.save_pretrained(tmp_path / "saved")
    saved = Reader.from_pretrained(tmp_path / "saved")
    assert saved.model.head == reader.model.head
    again = saved(PASSAGE, QUESTIONS[0], threshold=0.0)
    assert again.prediction == expected.prediction
    assert saved.model.config.base == str(folders["bert"])
    size = pack(folders["bert"], tmp_path / "packed", bits=8)
    assert size < 2000
    packed = Reader.from_pretrained(tmp_path / "packed", precision="float32")
    assert packed.model.head.question_first
    assert torch.equal(packed.model.encoder.state_dict()["embeddings.LayerNorm.bias"],
                       reader.model.encoder.state_dict()["embeddings.LayerNorm.bias"])  # fmt: skip
    found = packed(PASSAGE, QUESTIONS[0])
    # The head is stored in float16.
    assert found.prediction.score == pytest.approx(expected.prediction.score, abs=0.05)


def test_whatever_takes_a_reader_takes_it(folders, tmp_path, capsys):
    name, data = str(folders["roberta"]), squad(tmp_path / "data.json", copies=1)
    assert evaluate(name, [data])["total"] > 0
    n_questions = predict(name, [data], tmp_path / "predictions.json")
    assert len(json.loads((tmp_path / "predictions.json").read_text())) == n_questions
    assert score_predictions(name, [data], tmp_path / "predictions.json")["total"] == n_questions
    assert open_model(name, task="open_qa").model.head.question_first
    assert OpenReader.from_pretrained(name).answer(QUESTIONS[0], SENTENCES).text
    (tmp_path / "text.txt").write_text(PASSAGE)
    (reading,) = read_and_answer([tmp_path / "text.txt"], QUESTIONS, model=name)
    assert len(reading.answers) == len(QUESTIONS)
    with pytest.raises(SystemExit) as end:
        main(["answer", str(tmp_path / "text.txt"), *QUESTIONS, "--model", name])
    assert not end.value.code
    assert QUESTIONS[0] in capsys.readouterr().out


def test_the_page_shows_its_answers(folders, tmp_path, tiny_parser, monkeypatch):
    monkeypatch.setattr("syntagma.report.answers.DEFAULT_PARSER", tiny_parser)
    (tmp_path / "text.txt").write_text(PASSAGE)
    (reading,) = read_and_answer(
        [tmp_path / "text.txt"], QUESTIONS[:1], model=str(folders["bert"]), threshold=math.inf
    )
    reading.write_page(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert QUESTIONS[0] in page
    assert escape(reading.answers[0].text) in page


def test_training_continues_from_it_with_its_head(folders, tmp_path, caplog):
    data = squad(tmp_path / "data.json", copies=1)
    lengths = {"max_length": 128, "doc_stride": 32, "max_question_length": 32}

    def continued(**head):
        settings = experiment(
            "spans", data, str(folders["bert"]), preset="saved", parser="",
            head=lengths | head, training={"num_train_epochs": 1, "learning_rate": 1e-9},
        )  # fmt: skip
        train(settings, tmp_path / f"run-{len(head)}")
        return Reader.from_pretrained(tmp_path / f"run-{len(head)}")

    theirs = Reader.from_pretrained(folders["bert"])
    ours = continued(question_first=True)
    torch.testing.assert_close(ours.model.span_scores.weight, theirs.model.span_scores.weight)
    assert "question_first" not in caplog.text
    assert not continued().model.head.question_first
    assert "head.question_first=true" in caplog.text


def test_it_is_found_on_the_hub(folders, tmp_path, monkeypatch):
    """In the hub's cache, without a network."""
    place = tmp_path / "models--someone--reader"
    commit = "0123456789abcdef0123456789abcdef01234567"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(commit)
    (place / "snapshots").mkdir()
    (place / "snapshots" / commit).symlink_to(folders["bert"])
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("syntagma.encoders.hub.is_reachable", lambda: False)
    ref = find_model("someone/reader")
    assert (ref.kind, ref.place) == ("qa_model", "someone/reader")
    reader = Reader.from_pretrained("someone/reader")
    assert reader(PASSAGE, QUESTIONS[0]) == Reader.from_pretrained(folders["bert"])(
        PASSAGE, QUESTIONS[0]
    )
    reader.model.save_pretrained(tmp_path / "saved")
    assert (tmp_path / "saved" / "tokenizer.json").is_file()
    assert reader.model.config.base == "someone/reader"
