"""Reading the sources of answers, and naming them."""

from __future__ import annotations

import gzip
from pathlib import Path
from types import SimpleNamespace

import pytest

from syntagma.errors import InputError
from syntagma.extraction.extract import extract
from syntagma.report import answers
from syntagma.report.answers import Choosing, Reading, as_json, choose, read_and_answer
from syntagma.report.document_answers import DocumentReading
from syntagma.tasks.choice.chooser import Choice
from tests.document_files import paragraph, word_file
from tests.messages import naming
from tests.page_fixtures import PASSAGE, answer_of, span_of

TEXT = "Élan left.\r\nThe ferry sank.\n"


class FirstWord:
    """A reader, or a chooser, that keeps the passages that it is given."""

    passages: list[str]

    def __init__(self) -> None:
        self.passages = []

    def answer_all(self, passage, questions, **_):
        self.passages.append(passage)
        return []

    def stream(self, rows):
        self.passages += [passage for passage, _, _ in rows]
        return [Choice(0, "a", (1.0, 0.0), False)]


@pytest.fixture
def reader(monkeypatch) -> FirstWord:
    found = FirstWord()
    for name in ("Reader", "Chooser"):
        monkeypatch.setattr(getattr(answers, name), "from_pretrained", lambda *_, **__: found)
    return found


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("name", ["a.txt", "a.log"])
def test_a_text_alone_is_decoded_as_in_a_folder(reader, tmp_path, name, encoding):
    path = tmp_path / name
    path.write_bytes(TEXT.encode(encoding))
    read_and_answer([path], ["Who left?"])
    assert reader.passages == [TEXT]
    path.replace(tmp_path / "b.txt")
    assert extract(tmp_path / "b.txt").text == TEXT


def test_gzipped_texts_are_unpacked(reader, tmp_path):
    for name in ("a.txt", "a.txt.gz"):
        (tmp_path / name).write_bytes(gzip.compress(TEXT.encode("utf-8-sig")))
    read_and_answer([tmp_path / "a.txt", tmp_path / "a.txt.gz"], ["Who left?"])
    assert reader.passages == [TEXT, TEXT]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("The ferry".encode("utf-16-le"), "a.txt NUL byte 1 iconv -f utf-16"),
        (b"a" * 10_000 + b"caf\xe9", "a.txt UTF-8 byte 10003 iconv"),
        (b"\xef\xbb\xbf \n", "a.txt empty text"),
    ],
)
def test_what_is_no_text_is_one_line(reader, tmp_path, data, words):
    (tmp_path / "a.txt").write_bytes(data)
    with pytest.raises(InputError, match=naming(words)):
        read_and_answer([tmp_path / "a.txt"], ["Who left?"])


def test_options_are_chosen_from_documents_too(reader, tmp_path):
    (tmp_path / "a.html").write_text("<title>no</title><p>A gull &amp; a tern")
    (tmp_path / "b.docx").write_bytes(word_file(paragraph("The ferry")))
    paths = [tmp_path / "a.html", tmp_path / "b.docx"]
    choose(paths, ["Who?"], ["a", "b"], model="runs/own")
    assert reader.passages == ["A gull & a tern", "The ferry"]


@pytest.mark.parametrize(
    ("options", "words"),
    [({"threshold": 1.0}, "ferries --threshold --mode"), ({"read": 3}, "a.txt --read omit")],
)
def test_wrong_options_are_reported_before_a_folder_is_indexed(
    tmp_path, monkeypatch, options, words
):
    (tmp_path / "ferries").mkdir()
    (tmp_path / "a.txt").write_text(TEXT)
    monkeypatch.setattr(answers, "ask_documents", lambda *_, **__: pytest.fail("was asked"))
    with pytest.raises(InputError, match=naming(words)):
        read_and_answer([tmp_path / "ferries", tmp_path / "a.txt"], ["Who left?"], **options)


def test_rows_say_which_of_several_sources_they_are_from(monkeypatch, tmp_path):
    class Nothing:
        def to_dict(self):
            return {"outcome": "none", "source": ""}

    found = [DocumentReading(name, (Nothing(),)) for name in ("one", "two")]
    assert [row["passage"] for row in as_json(found)["answers"]] == ["one", "two"]
    assert as_json(found[:1]) == {"passage": "one", "answers": [Nothing().to_dict()]}
    chosen = [
        Choosing(name, ("a", "b"), (("Who?", Choice(0, "a", (1.0, 0.0), False)),)) for name in "xy"
    ]
    assert [row["passage"] for row in as_json(chosen)["answers"]] == ["x", "y"]
    (tmp_path / "quay" / "inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "quay" / "inner")
    names = []
    monkeypatch.setattr(answers, "ask_documents", lambda *_, name, **__: names.append(name))
    read_and_answer([Path(".")], ["Who?"])
    read_and_answer([".."], ["Who?"])
    assert names == ["inner", "quay"]


def test_a_page_loads_one_parser(monkeypatch, tmp_path):
    loaded, parsed = [], []

    def load_parser(name):
        loaded.append(name)
        return SimpleNamespace(parse_text=lambda text: parsed.append(text) or [])

    monkeypatch.setattr(answers, "load_parser", load_parser)
    # A reader that looks at no trees has no parser of its own.
    model = SimpleNamespace(config=SimpleNamespace(guides={}))
    reader = SimpleNamespace(texts=SimpleNamespace(cache=None), model=model)
    spans = [span_of(PASSAGE, "Ana Reyes")]
    found = tuple(answer_of(question, spans, null_odds=0.0) for question in ("Who?", "When?"))
    Reading("a", PASSAGE, found, reader).write_page(tmp_path / "a.html")
    assert len(loaded) == 1
    assert parsed == [PASSAGE, "Who?", "When?"]
