"""Reading and writing files: encodings, line endings, pipes and archives."""

from __future__ import annotations

import gzip
import io
import json
import os
import threading
from pathlib import Path

import pytest

from syntagma.csv_tables import read_table
from syntagma.errors import InputError
from syntagma.file_names import split_pair
from syntagma.files import BYTE_ORDER_MARK, read_lines, read_text
from syntagma.outputs import require_file_place, write_json
from syntagma.tasks.choice.data import read_choices
from syntagma.tasks.relations.data import read_relations
from syntagma.tasks.translation.parallel_text import read_parallel
from tests.messages import naming


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_lines_that_are_not_utf8_are_reported(tmp_path, pack):
    path = tmp_path / "a.txt"
    lines = [b"The ferry sank .\n"] * 3000
    path.write_bytes(pack(b"".join([*lines[:2345], b"na\xefve\n", *lines])))
    with pytest.raises(InputError, match=naming("a.txt UTF-8 line 2346 `iconv -f latin1")):
        list(read_lines(path))
    path.write_bytes(pack("The ferry sank .\n".encode("utf-16")))
    with pytest.raises(InputError, match=naming("a.txt UTF-8 line 1 `iconv -f utf-16")):
        list(read_lines(path))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("n_before", [0, 9, 8191, 8193, 2**20 - 1, 2**20, 3 * 2**20 + 5])
def test_the_byte_that_is_not_utf8_is_counted_from_the_beginning(tmp_path, pack, n_before):
    path = tmp_path / "a.txt"
    for end in (b"\xff!", b"\xc3"):  # a wrong byte, and half a character at the end
        path.write_bytes(pack(b"a" * n_before + end))
        with pytest.raises(InputError, match=rf"a\.txt: not UTF-8 at byte {n_before} "):
            read_text(path)
    path.write_bytes(pack(b"a" * n_before + "é".encode()))
    assert read_text(path) == "a" * n_before + "é"


def test_texts_with_nuls_are_reported(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("É, a ferry sank .\n".encode("utf-16-le").replace(b"\xc9\0", b"E\0"))
    with pytest.raises(InputError, match=naming("a.txt NUL byte 1 UTF-8 iconv -f utf-16")):
        read_text(path)


def test_standard_input_is_read_once(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"A gull cried.\n")))
    assert list(read_lines("-")) == ["A gull cried."]
    with pytest.raises(InputError, match=naming("- standard input file")):
        list(read_lines("-"))


def test_a_lone_carriage_return_does_not_end_a_line(tmp_path):
    one, other = tmp_path / "a.en", tmp_path / "a.de"
    one.write_bytes(b"A dog\rruns .\r\nA cat .\n")
    other.write_bytes(b"Ein Hund .\nEine Katze .\n")
    assert list(read_lines(one)) == ["A dog\rruns .", "A cat ."]
    pairs = read_parallel(f"{one}+{other}")
    assert [(pair.source, pair.target) for pair in pairs] == [
        ("A dog\rruns .", "Ein Hund ."),
        ("A cat .", "Eine Katze ."),
    ]


@pytest.mark.parametrize("quoted", [False, True])
def test_tables_accept_either_line_ending(tmp_path, quoted):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"id\ttext\r\n1\tThe ferry .\r\n2\tA quay .\n")
    names, rows = read_table(path, separator="\t", quoted=quoted)
    assert names == ["id", "text"]
    assert [row["text"] for row in rows] == ["The ferry .", "A quay ."]


def test_a_carriage_return_in_a_cell_does_not_end_the_row(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"id\ttext\n1\tThe\rferry\n")
    _, rows = read_table(path, separator="\t", quoted=False)
    assert [row["text"] for row in rows] == ["The ferry"]


def test_a_byte_order_mark_is_stripped(tmp_path):
    path = tmp_path / "relations.txt"
    path.write_text(
        f'{BYTE_ORDER_MARK}7\t"<e1>Rust</e1> comes from <e2>rain</e2>."\nCause-Effect(e2,e1)\n'
        "Comment:\n\n",
        encoding="utf-8",
    )
    examples, wrong = read_relations(path)
    assert [example.id for example in examples] == ["7"]
    assert not wrong
    path = tmp_path / "1.txt"
    record = {"article": "The ferry sank .", "questions": ["What ?"], "options": [["a", "b"]],
              "answers": ["B"]}  # fmt: skip
    path.write_text(BYTE_ORDER_MARK + json.dumps(record), encoding="utf-8")
    examples, _ = read_choices(path)
    assert examples[0].answer == 1


def test_a_byte_order_mark_before_a_quoted_name_is_stripped(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('"id","text"\n1,"a, b"\n', encoding="utf-8-sig")
    names, rows = read_table(path)
    assert names == ["id", "text"]
    assert list(rows) == [{"id": "1", "text": "a, b"}]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_pipe_is_read_from_its_first_byte(tmp_path, pack):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    lines = [f"line {number}" for number in range(5000)]
    data = pack("\n".join(lines).encode())
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    assert list(read_lines(pipe)) == lines
    writer.join()


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    require_file_place(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_json(pipe, {"f1": 1.0})
    reader.join()
    assert json.loads(found[0]) == {"f1": 1.0}
    assert pipe.is_fifo()


def test_links_that_cannot_be_followed_or_written_are_reported_before_the_work(tmp_path):
    loop, dead = tmp_path / "loop", tmp_path / "dead"
    loop.symlink_to(loop)
    dead.symlink_to("/proc/nowhere/x.json")
    good = tmp_path / "good"
    good.symlink_to(tmp_path / "new" / "x.json")
    with pytest.raises(InputError, match=naming("loop link another path")):
        require_file_place(loop)
    with pytest.raises(InputError, match=naming("loop link another path")):
        write_json(loop, {})
    with pytest.raises(InputError, match=naming("dead cannot be written another path")):
        require_file_place(dead)
    require_file_place(good)
    write_json(good, {})
    assert (tmp_path / "new" / "x.json").is_file()


def test_a_folder_called_like_standard_output_is_no_obstacle(tmp_path, monkeypatch):
    (tmp_path / "-").mkdir()
    monkeypatch.chdir(tmp_path)
    require_file_place("-")
    with pytest.raises(InputError, match=naming("folder path of a file")):
        require_file_place(tmp_path / "-")


def test_json_can_be_written_to_dev_stdout(capfdbinary):
    print("f1 1.0")
    write_json("/dev/stdout", {"f1": 1.0}, indent=None)
    assert capfdbinary.readouterr().out == b'f1 1.0\n{"f1": 1.0}\n'
    assert Path("/dev/stdout").is_symlink()


def test_names_may_contain_a_plus(tmp_path):
    folder = tmp_path / "q+a"
    folder.mkdir()
    one, other = folder / "x.en", folder / "x.de"
    one.write_text("A dog .\n")
    other.write_text("Ein Hund .\n")
    assert split_pair(f"{one}+{other}") == (str(one), str(other))
    assert split_pair(str(one)) == (str(one), "")
    assert split_pair("a.en+a.de") == ("a.en", "a.de")


def test_unpaired_surrogates_can_be_written(tmp_path):
    write_json(tmp_path / "predictions.json", {"1": "a \ud83d"})
    assert json.loads((tmp_path / "predictions.json").read_text()) == {"1": "a ?"}
