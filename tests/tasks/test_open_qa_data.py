"""Reading questions with retrieved paragraphs: three formats, and invalid files."""

from __future__ import annotations

import gzip
import json
import logging

import pytest

from syntagma.errors import InputError
from syntagma.tasks.open_qa.data import is_open_qa_file, read_open_qa
from syntagma.tasks.open_qa.task import OpenQaTask
from tests.messages import naming, says

GULLS = {"pid": 7, "title": "birds", "text": "Two gulls cried on the pier."}
ROPES = {"pid": "r", "text": "The crew tied the ropes."}
LAMPS = {"pid": 9, "text": "The lamps went out."}
WHO = {"id": "q1", "question": "Who cried?", "answers": ["gulls"], "retrieved": [7, "r"]}
WHAT = {
    "id": 2,
    "question": "What was tied?",
    "retrieved": ["r"],
    "gold_pid": 9,
    "answers": "ropes",
}


def lines(*rows):
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)


def write(folder, **files):
    """Write files by name, with ``_`` for the dot; those with ``gz`` in the name are gzipped."""
    for name, content in files.items():
        path = folder / name.replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode()
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return folder


def read_all(path):
    examples, wrong = read_open_qa(path)
    assert not wrong
    return examples


@pytest.mark.parametrize("end", ["", "_gz"])
def test_questions_with_paragraph_ids(tmp_path, end):
    questions, texts = lines(WHO, "", WHAT), lines(GULLS, ROPES, LAMPS, {"pid": 8, "text": "x"}, "")
    write(tmp_path, **{f"dev_jsonl{end}": questions, f"paragraphs_jsonl{end}": texts})
    one, two = read_all(tmp_path / f"dev.jsonl{end.replace('_', '.')}")
    assert (one.id, one.question, one.answers) == ("q1", "Who cried?", ("gulls",))
    assert [(p.id, p.title, p.text) for p in one.paragraphs] == [
        ("7", "birds", GULLS["text"]),
        ("r", "", ROPES["text"]),
    ]
    assert one.gold is None
    assert (two.id, two.answers, two.gold.id) == ("2", ("ropes",), "9")
    # Equal paragraphs share one object.
    assert one.paragraphs[1] is two.paragraphs[0]


def test_paragraphs_in_another_folder(tmp_path):
    write(tmp_path / "a", dev_jsonl=lines(WHO))
    write(tmp_path / "b", texts_gz=lines(GULLS, ROPES))
    with pytest.raises(
        InputError, match=naming("dev.jsonl paragraphs.jsonl paragraphs.jsonl.gz dev.jsonl+FILE")
    ):
        read_open_qa(tmp_path / "a" / "dev.jsonl")
    (one,) = read_all(f"{tmp_path / 'a' / 'dev.jsonl'}+{tmp_path / 'b' / 'texts.gz'}")
    assert len(one.paragraphs) == 2
    # A file name may itself contain a plus.
    write(tmp_path / "a+b", dev_jsonl=lines(WHO), paragraphs_jsonl=lines(GULLS, ROPES))
    assert read_all(tmp_path / "a+b" / "dev.jsonl") == [one]


def test_no_answers_and_unknown_answers_are_different(tmp_path):
    unknown = {key: value for key, value in WHO.items() if key != "answers"} | {"id": "q2"}
    rows = [WHO, WHO | {"id": "q3", "answers": []}, unknown]
    write(tmp_path, dev_jsonl=lines(*rows), paragraphs_jsonl=lines(GULLS, ROPES))
    found = read_all(tmp_path / "dev.jsonl")
    assert [(e.answers, e.is_impossible) for e in found] == [
        (("gulls",), False),
        ((), True),
        ((), False),
    ]
    assert [OpenQaTask.is_labelled(example) for example in found] == [True, True, False]


def test_scores_of_a_retriever_belong_to_a_question(tmp_path):
    rows = [WHO | {"scores": [12.5, 3]}, WHO | {"id": "q2", "retrieved": ["r"], "scores": [0.1]}]
    write(tmp_path, dev_jsonl=lines(*rows, WHAT), paragraphs_jsonl=lines(GULLS, ROPES, LAMPS))
    found = read_all(tmp_path / "dev.jsonl")
    assert [[p.score for p in e.paragraphs] for e in found] == [[12.5, 3.0], [0.1], [None]]
    listed = [{"text": "Two gulls.", "score": 2}, {"text": "A rope.", "score": -1.5}]
    write(tmp_path, a_txt=lines({"question": "Who?"}), a_json=lines(listed))
    (one,) = read_all(tmp_path / "a.txt")
    assert [p.score for p in one.paragraphs] == [2.0, -1.5]
    write(tmp_path, a_json=lines([listed[0], {"text": "A rope."}]))
    with pytest.raises(InputError, match=naming("a.json line 1 score every none 1 2")):
        read_open_qa(tmp_path / "a.txt")


@pytest.mark.parametrize(
    ("path", "is_open"),
    [("dev.jsonl", True), ("dev.txt.gz", True), ("a.json", False), ("squad.json.gz", False),
     ("dev.txt+texts.json", True), ("DEV.TXT.GZ", True)],
)  # fmt: skip
def test_the_name_of_a_file_tells_its_kind(path, is_open):
    assert is_open_qa_file(path) == is_open


@pytest.mark.parametrize("end", ["", "_gz"])
@pytest.mark.parametrize("name", ["answer", "answers"])
def test_the_format_of_searchqa_and_quasar(tmp_path, end, name):
    texts = [
        {"id": [0, 0], "question": ["who", "?"], "document": ["two", "gulls", ",", "no", "more"]},
        {"id": [0, 1], "question": ["who", "?"], "document": []},
    ]
    questions = lines(
        {"question": "who ?", name: ["two gulls", "gulls"]}, {"question": "why ?"}, ""
    )
    write(tmp_path, **{f"dev_txt{end}": questions, f"dev_json{end}": lines(texts, [])})
    one, two = read_all(tmp_path / f"dev.txt{end.replace('_', '.')}")
    assert (one.id, one.answers) == ("1", ("two gulls", "gulls"))
    assert [(p.id, p.text) for p in one.paragraphs] == [("0-0", "two gulls , no more"), ("0-1", "")]
    assert (two.id, two.answers, two.paragraphs) == ("2", (), ())
    (tmp_path / f"dev.txt{end.replace('_', '.')}").rename(tmp_path / "dev.TXT")
    assert read_all(tmp_path / "dev.TXT") == [one, two]


def test_the_format_of_drqa(tmp_path):
    text = "Two gulls cried."
    questions = lines({"question": ["Who", "cried?"], "answer": "gulls", "id": "a"},
                  {"question": "How many?", "answer": [["two"], "2"]})  # fmt: skip
    write(
        tmp_path, dev_jsonl=questions, dev_json=lines([{"text": text}], [{"text": text, "id": 5}])
    )
    one, two = read_all(tmp_path / "dev.jsonl")
    assert (one.id, one.question, one.answers) == ("a", "Who cried?", ("gulls",))
    assert two.answers == ("two", "2")
    assert [one.paragraphs[0].id, two.paragraphs[0].id] == ["1-0", "5"]
    assert one.paragraphs[0].text is two.paragraphs[0].text
    write(tmp_path, other_gz=lines([{"document": text}], []))
    assert not read_all(f"{tmp_path / 'dev.jsonl'}+{tmp_path / 'other.gz'}")[1].paragraphs


def test_lone_surrogates_are_replaced(tmp_path):
    row = WHO | {"retrieved": [1]}
    write(tmp_path, dev_jsonl=lines(row), paragraphs_jsonl='{"pid": 1, "text": "a \\ud83d b"}')
    assert read_all(tmp_path / "dev.jsonl")[0].paragraphs[0].text == "a ? b"


@pytest.mark.parametrize(
    ("questions", "paragraphs", "message"),
    [
        (lines(WHO, "{"), "", "dev.jsonl line 2 JSON"),
        (lines(WHO, "[]"), "", "dev.jsonl line 2 question answers retrieved []"),
        (lines(WHO, {"id": 1}), "", "dev.jsonl line 2 list retrieved None"),
        (lines(WHO | {"retrieved": [[7]]}), "", "dev.jsonl line 1 number string retrieved [7]"),
        (lines(WHO | {"gold_pid": True}), "", "dev.jsonl line 1 number string gold_pid True"),
        (lines(WHO | {"question": " "}), "", "dev.jsonl line 1 question empty"),
        (lines(WHO | {"question": 3}), "", "dev.jsonl line 1 text list words question 3"),
        (lines(WHO | {"answers": 3}), "", "dev.jsonl line 1 list 3 [] omit answers"),
        (lines(WHO | {"scores": [1.0]}), "", "dev.jsonl line 1 scores 2 1"),
        (lines(WHO | {"scores": [1.0, "x"]}), "", "dev.jsonl line 1 number score x"),
        (lines(WHO | {"scores": 7}), "", "dev.jsonl line 1 list scores 7"),
        (lines(WHO | {"answers": ["", "x"]}), "", "dev.jsonl line 1 answer empty"),
        (lines(WHO | {"answers": [3]}), "", "dev.jsonl line 1 text list words answer 3"),
        (lines(WHO | {"id": 1.5}), "", "dev.jsonl line 1 number string id 1.5"),
        (lines({"retrieved": [], "id": 1}), "", "dev.jsonl line 1 question retrieved, id, line"),
        (lines(WHO, "", WHO), "", "dev.jsonl two id q1"),
        (lines(WHO | {"retrieved": [7, 77]}), "",
         "dev.jsonl line 1 paragraph 77 paragraphs.jsonl"),
        (lines(WHO | {"gold_pid": 78}), "", "dev.jsonl line 1 paragraph 78 paragraphs.jsonl"),
        (lines(WHO), lines(GULLS), "paragraphs.jsonl line 3 pid 7"),
        (lines(WHO), lines("{"), "paragraphs.jsonl line 3 JSON 2"),
        (lines(WHO), lines("3"), "paragraphs.jsonl line 3 pid text 3"),
        (lines(WHO), lines({"text": "x"}), "paragraphs.jsonl line 3 pid text"),
        (lines(WHO | {"retrieved": [5]}), lines({"pid": 5}), "paragraphs.jsonl line 3 text pid"),
        (lines(WHO | {"retrieved": [5]}), lines({"pid": 5, "text": 5}), "line 3 text list words 5"),
        ("\n", "", "dev.jsonl questions"),
    ],
)  # fmt: skip
def test_errors_name_position_and_problem(tmp_path, questions, paragraphs, message):
    texts = lines(GULLS, ROPES) + paragraphs
    write(tmp_path, dev_jsonl=questions, paragraphs_jsonl=texts, dev_json="")
    with pytest.raises(InputError, match=naming(message)) as raised:
        read_open_qa(tmp_path / "dev.jsonl")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("questions", "paragraphs", "message"),
    [
        ("{\n", "[]\n", "dev.txt line 1 JSON 2"),
        ('{"question": "a"}\n', "[\n", "dev.json line 1 JSON 2"),
        ('{"question": "a"}\n', "{}\n", "dev.json line 1 list paragraphs {}"),
        ('{"question": "a"}\n', "[3]\n", "dev.json line 1 document 3"),
        (
            '{"question": "a"}\n',
            "[{}]\n",
            "dev.json line 1 document text",
        ),
        (
            '{"question": "a"}\n',
            '[{"document": [3]}]\n',
            "dev.json line 1 text list words document [3]",
        ),
        ('{"questio": "a"}\n', "[]\n", "dev.txt line 1 text question questio"),
        ('\n{"question": "a"}\n', "[]\n[]\n", "dev.txt line 1"),
        ('{"question": "a"}\n{"question": "b"}\n', "[]\n\n", "dev.json line 2"),
    ],
)
def test_errors_in_parallel_files_name_position_and_problem(
    tmp_path, questions, paragraphs, message
):
    write(tmp_path, dev_txt=questions, dev_json=paragraphs)
    with pytest.raises(InputError, match=naming(message)):
        read_open_qa(tmp_path / "dev.txt")


@pytest.mark.parametrize("skip_bad", [False, True])
def test_parallel_files_must_have_equal_length(tmp_path, skip_bad):
    question = '{"question": "a"}\n'
    write(tmp_path, dev_txt=3 * question, dev_json="[]\n[]\n")
    with pytest.raises(InputError, match=naming("dev.txt line 3 dev.json 2")):
        read_open_qa(tmp_path / "dev.txt", skip_bad=skip_bad)
    write(tmp_path, dev_json="")
    with pytest.raises(InputError, match=naming("dev.json empty dev.txt")):
        read_open_qa(tmp_path / "dev.txt", skip_bad=skip_bad)
    write(tmp_path, dev_json=5 * "[]\n")
    with pytest.raises(InputError, match=naming("dev.json line 4 dev.txt 3")):
        read_open_qa(tmp_path / "dev.txt", skip_bad=skip_bad)
    # Blank lines at the end of one file are ignored.
    write(tmp_path, dev_json=3 * "[]\n" + "\n\n")
    assert len(read_all(tmp_path / "dev.txt")) == 3


def test_missing_files_and_unknown_suffixes(tmp_path):
    write(tmp_path, dev_txt='{"question": "a"}\n', dev_doc='{"question": "a"}\n')
    with pytest.raises(InputError, match=naming("dev.txt dev.json dev.json.gz dev.txt+FILE")):
        read_open_qa(tmp_path / "dev.txt")
    with pytest.raises(InputError, match=naming("dev.doc .txt .jsonl QUESTIONS+PARAGRAPHS")):
        read_open_qa(tmp_path / "dev.doc")
    with pytest.raises(InputError, match=naming("none.jsonl")):
        read_open_qa(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match=naming("none.json")):
        read_open_qa(f"{tmp_path / 'dev.txt'}+{tmp_path / 'none.json'}")


def test_invalid_lines_are_skipped_and_counted(tmp_path, caplog):
    questions = lines(WHO, "{", WHO, WHAT | {"retrieved": [3]}, WHAT)
    write(tmp_path, dev_jsonl=questions, paragraphs_jsonl=lines(GULLS, "[", ROPES, LAMPS))
    with caplog.at_level(logging.WARNING):
        examples = OpenQaTask.read(tmp_path / "dev.jsonl", skip_bad=True)
    assert [example.id for example in examples] == ["q1", "2"]
    assert says(caplog.text, "4 lines")
    write(tmp_path, dev_txt='{"question": "a"}\n{\n{"question": "c"}\n', dev_json="[\n[]\n[]\n")
    examples, wrong = read_open_qa(tmp_path / "dev.txt", skip_bad=True)
    assert [(example.id, example.question) for example in examples] == [("3", "c")]
    assert len(wrong) == 2
