"""Questions about documents: offsets, places, and any retriever behind the reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import syntagma
from syntagma.encoders.load import load_tokenizer
from syntagma.errors import InputError
from syntagma.models.open_model import OpenModel
from syntagma.retrieval.retriever import Hit, Passage
from syntagma.tasks.open_qa.documents import DocumentReader, Index
from syntagma.tasks.open_qa.reader import OpenReader, ParagraphReader
from tests.conftest import SENTENCES
from tests.messages import naming

SIZES = {"max_length": 64, "doc_stride": 16, "max_question_length": 16}
QUESTIONS = ("Who cried?", "What is new?", "Where did it happen?")


@pytest.fixture(scope="module")
def reader(tiny_encoder) -> OpenReader:
    model = OpenModel.from_encoder(tiny_encoder, task="open_qa", head=SIZES)
    return OpenReader(ParagraphReader(model, load_tokenizer(tiny_encoder), precision="float32"))


@pytest.fixture
def index(tmp_path: Path, tiny_encoder: str) -> Index:
    """An index of two Markdown files with several passages each."""
    pytest.importorskip("markdown_it")
    folder = tmp_path / "documents"
    folder.mkdir()
    for name, first in (("tides.md", 0), ("gulls.md", 4)):
        parts = (f"## Part {n}\n\n{SENTENCES[first + n]}" for n in range(4))
        (folder / name).write_text(f"# {name}\n\n" + "\n\n".join(parts))
    return Index.build([folder], tmp_path / "index", encoder=tiny_encoder)


def texts_of(index: Index) -> dict[str, str]:
    return {document.path: index.store.text(document) for document in index.documents}


def test_offsets_are_in_the_text_of_the_document(index, reader):
    texts = texts_of(index)
    for answer in DocumentReader(index, reader).stream(QUESTIONS, mode="lenient"):
        assert answer.passages
        for read in answer.passages:
            passage = read.passage
            assert texts[passage.source][passage.start : passage.end] == passage.text
        for candidate in (*answer.candidates, *answer.spans):
            source = answer.passages[candidate.paragraph].passage.source
            assert texts[source][candidate.start : candidate.end] == candidate.text
        if answer.outcome != "none":
            assert texts[answer.source][answer.start : answer.end] == answer.text != ""
        if answer.sentence is not None:
            source = answer.passages[answer.best.paragraph].passage.source
            sentence = answer.sentence
            assert texts[source][sentence.start : sentence.end] == sentence.text


def test_an_answer_names_its_place(index, reader):
    answer = DocumentReader(index, reader).answer("Who cried?", mode="lenient")
    values = json.loads(json.dumps(answer.to_dict()))
    if answer.outcome == "none":
        assert (values["source"], values["heading"], values["start"]) == ("", "", None)
    else:
        assert Path(values["source"]).name in ("tides.md", "gulls.md")
        assert values["heading"].startswith(f"{Path(values['source']).name} › Part ")
    assert {row["heading"] for row in values["passages"]} <= {
        read.passage.heading for read in answer.passages
    }
    scores = [row["score"] for row in values["passages"]]
    assert scores == sorted(scores, reverse=True)


def test_only_so_many_passages_are_read(index, reader):
    for top in (1, 3):
        answer = DocumentReader(index, reader, top=top).answer("Who cried?")
        assert len(answer.passages) == top
        assert {candidate.paragraph for candidate in answer.candidates} <= set(range(top))


def test_together_or_alone_questions_have_the_same_answers(index, reader):
    documents = DocumentReader(index, reader)
    together = list(documents.stream(QUESTIONS))
    assert documents(list(QUESTIONS)) == together
    for question, answer in zip(QUESTIONS, together, strict=True):
        alone = documents(question)
        assert (alone.text, alone.source, alone.start) == (answer.text, answer.source, answer.start)
        assert alone.confidence == pytest.approx(answer.confidence, abs=1e-4)


class Drawer:
    """A retriever without texts of its own: it gives every passage the score of its place."""

    def search(self, questions, *, top):
        return [[Hit(f"p{number}", -number) for number in range(top)] for _ in questions]

    def passages(self, ids):
        return [Passage(each, SENTENCES[int(each[1:])], "drawer", 100, 200) for each in ids]


def test_any_retriever_can_stand_behind_the_reader(reader):
    answer = DocumentReader(Drawer(), reader, top=2).answer("Who cried?", mode="lenient")
    assert [read.passage.id for read in answer.passages] == ["p0", "p1"]
    assert all(candidate.start >= 100 for candidate in answer.candidates)


def test_nothing_found_is_no_answer(reader):
    class Nothing(Drawer):
        def search(self, questions, *, top):
            return [[] for _ in questions]

    answer = DocumentReader(Nothing(), reader).answer("Who cried?")
    assert (answer.outcome, answer.source, answer.passages) == ("none", "", ())
    assert answer.to_dict()["source"] == ""


def test_wrong_questions_are_refused(index, reader):
    documents = DocumentReader(index, reader)
    for wrong in ("", " ", None, 3):
        with pytest.raises(InputError, match=naming("question")):
            documents.answer(wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=naming("answer()")):
        next(documents.stream("Who cried?"))
    for wrong in (3, None, b"Who cried?", {"Who cried?": 1}):
        with pytest.raises(InputError, match=naming(f"list questions {wrong!r}")):
            next(documents.stream(wrong))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=naming("mode strict sure")):
        documents.answer("Who?", mode="sure")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=naming("top 0")):
        DocumentReader(index, reader, top=0)


def test_an_index_loads_its_reader_once(index, reader, monkeypatch):
    loaded = []

    def load(name, device):
        loaded.append(name)
        return reader

    monkeypatch.setattr(OpenReader, "from_pretrained", load)
    assert index.answer("Who cried?").passages == index.answer("Who cried?").passages
    assert loaded == ["default-reader"]
    assert syntagma.Index is Index
