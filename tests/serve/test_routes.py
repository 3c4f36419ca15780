"""The routes give what direct calls give, in each format."""

from __future__ import annotations

import json
from functools import partial

import pytest

from syntagma.text.json_format import parse_values
from tests.conftest import SENTENCES
from tests.messages import says

TEXT = " ".join(SENTENCES[:3])
QUESTIONS = ["Who cried?", "What is new?"]


def lines_of(response):
    assert response.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in response.text.splitlines()]


def as_json(values):
    return json.loads(json.dumps(values))


def test_answers_are_those_of_the_reader(client, operations):
    body = {"text": TEXT, "questions": QUESTIONS, "mode": "lenient", "top": 2}
    response = client.post("/v1/answer", json=body)
    assert response.status_code == 200
    found = response.json()
    assert found["model"] == "spans"
    reader = operations.loaded.readers["spans"]
    direct = [each.to_dict() for each in reader.answer_all(TEXT, QUESTIONS, mode="lenient")]
    for answer in direct:
        answer["candidates"] = answer["candidates"][:2]
    assert found["answers"] == as_json(direct)


def test_one_question_gives_a_list_of_one_answer(client):
    response = client.post("/v1/answer", json={"text": TEXT, "question": QUESTIONS[0]})
    assert [each["question"] for each in response.json()["answers"]] == QUESTIONS[:1]


def test_answers_from_an_index_name_their_document(client):
    body = {"index": "notes", "question": QUESTIONS[0], "mode": "lenient", "read": 3}
    (answer,) = client.post("/v1/answer", json=body).json()["answers"]
    assert len(answer["passages"]) <= 3
    assert answer["source"].endswith(".md")


def test_passages_are_those_of_the_index(client, operations):
    response = client.post("/v1/passages", json={"questions": QUESTIONS, "top": 2, "by": "bm25"})
    index = operations.loaded.indexes["notes"]
    hits = index.search(QUESTIONS, top=2, by="bm25")
    found = response.json()
    assert found["index"] == "notes"
    for row, expected in zip(found["results"], hits, strict=True):
        assert [each["score"] for each in row["passages"]] == [hit.score for hit in expected]
        assert [each["text"] for each in row["passages"]] == [
            passage.text for passage in index.passages([hit.id for hit in expected])
        ]


def test_parses_are_those_of_the_parser(client, operations):
    response = client.post("/v1/parse", json={"texts": [TEXT, SENTENCES[5]]})
    parser = operations.loaded.parsers["parsing"]
    direct = [
        {"sentences": [parse_values(parse) for parse in parses]}
        for parses in parser.parse_texts([TEXT, SENTENCES[5]])
    ]
    assert response.json() == {"model": "parsing", "texts": as_json(direct)}


def test_the_language_of_texts_can_be_given(client):
    accepts = ("application/json", "application/x-ndjson")
    for accept in accepts:
        post = partial(client.post, "/v1/parse", headers={"Accept": accept})
        given = post(json={"text": TEXT, "lang": "en"})
        assert given.text == post(json={"text": TEXT}).text
        wrong = post(json={"text": TEXT, "lang": "fr"}).text
        assert says(wrong, "'fr' en spacy:fr")
    assert client.post("/v1/parse", json={"text": TEXT, "lang": "fr"}).status_code == 422
    assert client.post("/v1/parse", json={"text": TEXT, "lang": 3}).status_code == 422


def test_parses_come_in_the_accepted_format(client):
    def parse(accept, body=None):
        return client.post("/v1/parse", json=body or {"text": TEXT}, headers={"Accept": accept})

    conllu = parse("text/x-conllu, application/json;q=0.5")
    assert conllu.headers["content-type"].startswith("text/x-conllu")
    assert conllu.text.startswith("# text = ")
    several = parse("text/x-conllu", {"texts": SENTENCES[:2]})
    assert several.text.count("# newdoc id = ") == 2
    picture = parse("image/svg+xml")
    assert picture.text.startswith("<svg")
    assert "script" not in picture.headers["content-security-policy"]
    assert parse("text/*").headers["content-type"].startswith("text/x-conllu")
    assert parse("image/svg+xml", {"texts": SENTENCES[:2]}).status_code == 422
    refused = parse("audio/ogg")
    assert refused.status_code == 406
    assert says(refused.json()["detail"], "text/x-conllu audio/ogg")
    assert refused.json()["detail"].count("application/json") == 1


def test_brackets_need_a_parser_with_phrases(client, operations):
    response = client.post("/v1/parse", json={"text": TEXT}, headers={"Accept": "text/x-brackets"})
    if operations.loaded.parsers["parsing"].model.spans is None:
        assert response.status_code == 422
        assert says(response.json()["detail"], "parsing phrases")
    else:
        assert response.text.startswith("(")


def test_a_long_text_is_streamed_sentence_by_sentence(client):
    text = " ".join(SENTENCES * 20)
    whole = client.post("/v1/parse", json={"text": text}).json()["texts"][0]["sentences"]
    lines = lines_of(
        client.post("/v1/parse", json={"text": text}, headers={"Accept": "application/x-ndjson"})
    )
    assert len(lines) > 100  # Several parts.
    assert lines == [{"text": 0, **sentence} for sentence in whole]


def test_answers_are_streamed_in_order(client):
    questions = [f"Who was number {number}?" for number in range(70)]
    body = {"text": TEXT, "questions": questions}
    lines = lines_of(
        client.post("/v1/answer", json=body, headers={"Accept": "application/x-ndjson"})
    )
    assert [line["item"] for line in lines] == list(range(70))
    assert [line["question"] for line in lines] == questions


INPUTS = {
    "choice": {"passage": TEXT, "question": "Who?", "options": ["A gull", "The tide"]},
    "pairs": {"first": SENTENCES[0], "second": SENTENCES[1]},
    "relations": {"text": SENTENCES[0], "subject": [0, 5], "object": [6, 10]},
    "typing": {"text": SENTENCES[0], "mention": [0, 5]},
    "translation": {"text": SENTENCES[0]},
    "spans": {"passage": TEXT, "question": "Who?"},
}


@pytest.mark.parametrize("task", INPUTS)
def test_models_of_every_task_predict(client, operations, task):
    body = {"inputs": [INPUTS[task], INPUTS[task]]}
    response = client.post(f"/v1/predict/{task}", json=body)
    assert response.status_code == 200, response.text
    found = response.json()
    assert (found["model"], found["task"]) == (task, task)
    direct = operations.loaded.predictors[task](*INPUTS[task].values())
    values = direct.to_dict() if hasattr(direct, "to_dict") else direct._asdict()
    expected = as_json(values)
    for prediction in found["predictions"]:
        assert prediction.keys() == expected.keys()
        for key, value in expected.items():
            assert prediction[key] == (pytest.approx(value, abs=1e-5) if key == "probabilities"
                                       or isinstance(value, float) else value)  # fmt: skip


def test_one_wrong_input_does_not_spoil_the_requests_that_share_its_batch(serving):
    client = serving(batch_wait_ms=50)
    wrong = {"text": SENTENCES[0], "mention": [0, 10_000]}
    lines = lines_of(
        client.post(
            "/v1/predict/typing",
            json={"inputs": [INPUTS["typing"], wrong, INPUTS["typing"]]},
            headers={"Accept": "application/x-ndjson"},
        )
    )
    assert [("problem" in line) for line in lines] == [False, True, False]
    assert lines[1]["problem"]["status"] == 422
    assert says(lines[1]["problem"]["detail"], "10000 offsets")
    refused = client.post("/v1/predict/typing", json={"input": {"text": "A gull."}})
    assert refused.status_code == 422
    assert says(refused.json()["detail"], "text mention")


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"inputs": [INPUTS["pairs"], {"first": "A gull.", "second": 3}]}, "inputs.1"),
        ({"inputs": [{"first": "A gull.", "second": 3}, INPUTS["pairs"]]}, "inputs.0"),
        ({"input": {"first": "A gull.", "second": 3}}, "input"),
    ],
)
def test_the_input_that_is_wrong_is_named_as_the_request_does(client, body, where):
    response = client.post("/v1/predict/pairs", json=body)
    assert response.status_code == 422
    assert response.json()["detail"].startswith(f"{where}: ")


def test_numbers_of_a_batch_are_not_shown(client):
    rows = [INPUTS["spans"], INPUTS["spans"] | {"passage": " "}]
    response = client.post("/v1/predict/spans", json={"inputs": rows})
    assert response.json()["detail"].startswith("inputs.1: the passage is empty")
    lines = client.post(
        "/v1/predict/spans", json={"inputs": rows}, headers={"Accept": "application/x-ndjson"}
    )
    assert lines_of(lines)[1]["problem"]["detail"].startswith("the passage is empty")


@pytest.mark.parametrize(
    ("value", "words"),
    [('"\\ud800"', "Unicode pair"), ("[" * 300 + "1" + "]" * 300, "levels 10")],
    ids=["half", "deep"],
)
def test_inputs_that_no_model_can_read_are_refused(client, value, words):
    good = '{"first": "A gull.", "second": "A bird."}'
    content = f'{{"inputs": [{good}, {{"first": "A gull.", "second": {value}}}]}}'
    headers = {"Content-Type": "application/json"}
    response = client.post("/v1/predict/pairs", content=content, headers=headers)
    assert response.status_code == 422, response.text
    assert says(response.json()["detail"], f"inputs.1 {words}")


def test_unknown_models_are_refused_with_those_that_are_served(client):
    for body in ({"text": TEXT, "model": "parsing"}, {"index": "../etc", "model": "spans"}):
        response = client.post("/v1/answer", json={"question": "Who?", **body})
        assert response.status_code == 422
    assert says(response.json()["detail"], "notes ../etc")
    response = client.post("/v1/predict/nobody", json={"input": {}})
    assert response.status_code == 404
    assert says(response.json()["detail"], "nobody choice typing")
    assert client.post("/v1/predict/..%2Fetc", json={"input": {}}).status_code == 404


def test_state(client):
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/ready").json() == {"status": "ready"}
    listed = {model["name"]: model for model in client.get("/v1/models").json()["models"]}
    assert listed["notes"]["kind"] == "index"
    assert listed["choice"]["inputs"] == ["passage", "question", "options"]
    assert listed["pairs"]["labels"] == ["contradiction", "entailment"]
    assert len(listed["spans"]["digest"]) == 64


def test_metrics_count_requests_and_batches(client):
    client.post("/v1/answer", json={"text": TEXT, "questions": QUESTIONS})
    client.post("/v1/answer", json={"text": TEXT})
    client.get("/made-up-path")
    shown = client.get("/metrics").text
    assert 'syntagma_requests_total{route="/v1/answer",status="200"} 1.0' in shown
    assert 'syntagma_requests_total{route="/v1/answer",status="422"} 1.0' in shown
    assert 'syntagma_batch_jobs_count{operation="answer"} 1.0' in shown
    assert 'route="other"' in shown
    assert "made-up-path" not in shown


def test_a_text_seen_again_is_not_parsed_again(client, operations, monkeypatch):
    parser = operations.loaded.parsers["parsing"]
    calls = []
    whole = type(parser).parse_texts

    def count(self, texts):
        texts = list(texts)
        calls.extend(texts)
        return whole(self, texts)

    monkeypatch.setattr(type(parser), "parse_texts", count)
    text = "A text that no other test has."
    for _ in range(3):
        client.post("/v1/parse", json={"text": text})
    assert calls == [text]


def test_messages_name_the_key(client):
    def detail(body, path="/v1/answer"):
        response = client.post(path, json=body)
        assert response.status_code == 422
        assert response.headers["content-type"] == "application/problem+json"
        problem = response.json()
        assert problem["status"] == 422
        assert "\n" not in problem["detail"]
        return problem["detail"]

    assert says(detail({"text": TEXT, "qestion": "Who?"}), "qestion question")
    assert says(detail({"text": TEXT}), "question questions")
    assert says(detail({"text": 5, "question": "Who?"}), "text 5")
    assert says(detail({"text": " ", "question": "Who?"}), "text")
    assert says(detail({"text": TEXT, "question": "Who?", "mode": "sure"}), "mode strict")
    assert says(detail({"text": TEXT, "question": "Who?", "top": 0}), "top 1 0")
    assert says(detail({"text": TEXT, "question": "Who?", "read": 3}), "read index")
    assert says(detail({"texts": "one"}, "/v1/parse"), "texts list")
    assert "secret" not in detail({"text": ["secret"], "question": "Who?"})
