"""Index documents and ask them on the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from syntagma.encoders.load import load_tokenizer
from syntagma.models.span_model import SpanModel
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.task import SpanTask
from tests.messages import one_line, says

HARBOUR = Path(__file__).parents[2] / "examples" / "harbour"
SIZES = {"max_length": 128, "doc_stride": 32, "max_question_length": 32}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNTAGMA_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def model(tiny_encoder, tmp_path_factory) -> Path:
    """A tiny reader that was never trained."""
    folder = tmp_path_factory.mktemp("reader") / "model"
    scorer = SpanModel.from_encoder(tiny_encoder, task="spans", head=SIZES)
    SpanTask(Reader(scorer, load_tokenizer(tiny_encoder))).save(folder)
    return folder


def test_an_index_is_built_asked_and_brought_up_to_date(run, tmp_path, model, tiny_encoder):
    folder = shutil.copytree(HARBOUR, tmp_path / "harbour")
    command = ("index", folder, "--out", tmp_path / "index", "--encoder", tiny_encoder)
    code, out, _ = run(*command)
    assert code == 0
    assert says(out, "5 documents 5 read index")
    (folder / "timetable.html").unlink()
    code, out, _ = run(*command)
    assert says(out, "4 documents 0 read 1 removed")
    found = tmp_path / "answers.json"
    code, out, _ = run(
        "answer", tmp_path / "index", "Who keeps the bell?", "Who will replace the lamp?",
        "--model", model, "--mode", "lenient", "--json", found, "--html", tmp_path / "page.html",
        "--read", 3,
    )  # fmt: skip
    assert code == 0
    answers = json.loads(found.read_text())["answers"]
    assert [answer["question"] for answer in answers] == [
        "Who keeps the bell?",
        "Who will replace the lamp?",
    ]
    for answer in answers:
        assert len(answer["passages"]) == 3
        assert answer["outcome"] in ("answer", "unsure", "none")
        for read in answer["passages"]:
            assert Path(read["source"]).is_file()
    page = (tmp_path / "page.html").read_text()
    assert "Who keeps the bell?" in page
    assert "<script" not in page


def test_a_folder_is_indexed_in_the_cache(run, tmp_path, model, monkeypatch, tiny_encoder):
    monkeypatch.setattr("syntagma.report.document_answers.sentence_encoder", lambda: tiny_encoder)
    folder = shutil.copytree(HARBOUR, tmp_path / "harbour")
    (folder / "broken.txt").write_bytes(b"caf\xe9")
    for _ in range(2):
        code, out, err = run("answer", folder, "Who keeps the bell?", "--model", model)
        assert code == 0
        assert says(err, "broken.txt UTF-8")
        assert "Who keeps the bell?" in out
    assert len(list((tmp_path / "cache" / "indexes").glob("harbour-*"))) == 1
    assert not list(folder.glob("*.json"))


def test_an_answer_from_a_document_names_page_or_heading(run, tmp_path, model):
    found = tmp_path / "found.json"
    code, out, _ = run(
        "answer", HARBOUR / "mooring-agreement.pdf", "-f", HARBOUR / "museum/visiting.md",
        "What is the fee?", "--model", model, "--threshold", "inf", "--json", found,
    )  # fmt: skip
    assert code == 0
    pdf, markdown = json.loads(found.read_text())["answers"]
    assert pdf["page"] in (1, 2)
    assert says(out, f"page {pdf['page']}")
    assert markdown["page"] is None
    assert markdown["heading"].startswith("Visiting the Perseverance")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("answer", HARBOUR, "Who?", "--threshold", "1"), "--threshold --mode"),
        (("answer", HARBOUR, "Who?", "--exhaustive"), "harbour --exhaustive --read"),
        (("answer", "retriever:x", "Who?", "--exhaustive"), "retriever:x --exhaustive --read"),
        (("answer", HARBOUR / "museum/letter.txt", "Who?", "--read", "3"), "--read"),
        (("answer", HARBOUR / "timetable.html", "Who?", "--options", "a|b"), "--options --model"),
        (("answer", "NOWHERE.pdf", "Who?"), "NOWHERE.pdf no such file"),
        (("index", "NOWHERE", "--out", "OUT"), "NOWHERE"),
        (("index", HARBOUR, "--out", HARBOUR), "harbour index new folder"),
        (("index", HARBOUR, "--out", "OUT", "--language", "latin"), "latin english"),
    ],
)
def test_what_cannot_be_asked_or_indexed_is_one_line(run, tmp_path, arguments, message):
    names = {name: tmp_path / name for name in ("NOWHERE", "NOWHERE.pdf", "OUT")}
    words = [names.get(word, word) for word in arguments]
    code, _, err = run(*words)
    assert code == 2
    assert says(one_line(err), message)
    assert not (tmp_path / "OUT").exists()
