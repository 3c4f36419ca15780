"""Reading multiple-choice questions: all official formats, and invalid files."""

from __future__ import annotations

import csv
import gzip
import io
import json
import logging
import tarfile

import pytest

from syntagma.errors import InputError
from syntagma.tasks.choice.data import read_choices
from syntagma.tasks.choice.task import ChoiceTask
from tests.conftest import SENTENCES
from tests.messages import naming, says

RACE = {
    "article": SENTENCES[0],
    "questions": ["What crossed?", "It crossed the _ ."],
    "options": [["ferry", "gull"], ["river", "pier", "town"]],
    "answers": ["A", "C"],
}


def read_all(path, **options):
    examples, wrong = read_choices(path, **options)
    assert not wrong
    return examples


class TestFormats:
    def test_race_from_folder_archive_and_file(self, tmp_path):
        for part in ("train/high", "dev/high", "dev/middle"):
            folder = tmp_path / "RACE" / part
            folder.mkdir(parents=True)
            (folder / "7.txt").write_text(json.dumps(RACE))
        archive = tmp_path / "RACE.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(tmp_path / "RACE", arcname="RACE")
        whole = read_all(tmp_path / "RACE")
        assert len(whole) == len(read_all(archive)) == 6
        dev = read_all(f"{archive}#dev")
        assert {example.subset for example in dev} == {"middle", "high"}
        assert len(read_all(f"{archive}#dev/middle")) == 2
        assert len(read_all(tmp_path / "RACE/dev/middle")) == 2
        first, second = read_all(tmp_path / "RACE" / "dev" / "high" / "7.txt")
        assert (first.answer, second.answer) == (0, 2)
        assert second.options == ("river", "pier", "town")
        # Ids depend neither on where the folder is nor on which part of it is read.
        assert {e.id for e in whole} == {e.id for e in read_all(archive)}
        assert {e.id for e in dev} == {e.id for e in read_all(tmp_path / "RACE" / "dev")}
        assert (first.id, first.subset) == ("dev/high/7-0", "high")
        assert len({example.id for example in whole}) == 6
        with pytest.raises(
            InputError, match=naming("RACE.tar.gz test RACE/dev/high/1.txt RACE.tar.gz#dev/high")
        ):
            read_choices(f"{archive}#test")

    def test_dream(self, tmp_path):
        turns = ["M: Rain?", "W: No."]
        rows = [[turns, [{"question": "Is it wet?", "choice": ["yes", "no"], "answer": "no"}], "9"]]
        path = tmp_path / "DEV.JSON.GZ"
        path.write_bytes(gzip.compress(json.dumps(rows).encode()))
        (example,) = read_all(path)
        assert example.passage == "M: Rain?\nW: No."
        assert (example.id, example.answer) == ("9-0", 1)

    def test_cosmos_from_json_lines_and_csv(self, tmp_path):
        row = {"id": "a", "context": "Rain, again.", "question": "Why?", "label": 1}
        row |= {f"answer{n}": f"because {n}" for n in range(4)}
        lines, table = tmp_path / "valid.jsonl", tmp_path / "valid.csv"
        lines.write_text(json.dumps(row) + "\n\n")
        with open(table, "w", newline="") as file:
            writer = csv.DictWriter(file, row)
            writer.writeheader()
            writer.writerow(row)
        assert read_all(lines) == read_all(table)
        assert read_all(lines)[0].options[1] == "because 1"

    def test_rows_with_a_wrong_number_of_cells_are_rejected(self, tmp_path):
        path = tmp_path / "valid.csv"
        names = "id,context,question,answer0,answer1,label"
        for row, message in (
            ("a,A gull, a big one, cried,Who?,a,b", "valid.csv row 1 columns quote"),
            ("a,A gull cried,Who?,a,b", "valid.csv row 1 column label"),
        ):
            path.write_text(f"{names}\n{row}\n")
            with pytest.raises(InputError, match=naming(message)):
                read_choices(path)

    def test_swag(self, tmp_path):
        path = tmp_path / "val.csv"
        head = ["", "video-id", "sent1", "sent2", "ending0", "ending1", "label"]
        rows = [head, ["0", "v", "A gull lands.", "It", "sings.", "eats.", "1"],
                ["1", "v", "A gull lands.", "It", "sings.", "eats.", ""],
                ["2", "v", "A gull lands.", "It", "sings.", "eats.", "-1"]]  # fmt: skip
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows(rows)
        labelled, hidden, unlabelled = read_all(path)
        assert unlabelled.answer is None
        assert (labelled.passage, labelled.question, labelled.answer) == ("A gull lands.", "It", 1)
        assert hidden.answer is None

    def test_mctest(self, tmp_path):
        story = "Ada rowed.\\newline She sang."
        cells = ["mc.1", "Author: x", story, "one: Who rowed?", "Ada", "Kofi", "B", "C",
                 "multiple: Who sang?", "x", "Ada", "y", "z"]  # fmt: skip
        path = tmp_path / "mc.dev.tsv"
        path.write_text("\t".join(cells) + "\n")
        one, several = read_all(path)
        assert one.passage == "Ada rowed.\n She sang."
        assert (one.question, one.subset, one.answer) == ("Who rowed?", "one", None)
        (tmp_path / "mc.dev.ans").write_text("A\tB\n")
        assert [example.answer for example in read_all(path)] == [0, 1]
        (tmp_path / "mc.dev.ans").rename(tmp_path / "plain")
        (tmp_path / "mc.dev.ans.gz").write_bytes(gzip.compress(b"B\tA\n"))
        assert [example.answer for example in read_all(path)] == [1, 0]
        (tmp_path / "mc.dev.ans.gz").write_bytes(gzip.compress(b"B\tA\nA\tA\n"))
        with pytest.raises(InputError, match=naming("mc.dev.ans.gz line answers 1 2")):
            read_choices(path)
        (tmp_path / "mc.dev.ans.gz").write_bytes(gzip.compress(b"B\n"))
        with pytest.raises(InputError, match=naming("mc.dev.ans.gz line 1 answer 2")):
            read_choices(path)
        assert several.subset == "multiple"
        path.rename(tmp_path / "MC.TSV")
        (tmp_path / "MC.ans").write_text("B\tA\n")
        assert [example.answer for example in read_all(tmp_path / "MC.TSV")] == [1, 0]

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("a.txt", "{", "a.txt article questions options answers"),
            ("a.txt", json.dumps(RACE | {"answers": ["A"]}), "a.txt 2 questions options 1 answers"),
            ("a.txt", json.dumps(RACE | {"answers": ["A", "x"]}), "a.txt question 2 answer x"),
            ("a.txt", json.dumps(RACE | {"answers": ["D", "A"]}), "a.txt question 1 answer 3 2"),
            ("a.txt", json.dumps(RACE | {"article": " "}), "a.txt question 1 passage"),
            ("a.json", '{"a": 1}', "a.json DREAM's dict"),
            ("a.json", "[[1, 2]]", "a.json dialogue 1 [turns id]"),
            ("a.json", '[[["x"], [{"question": "q", "choice": ["a", "b"], "answer": "c"}], "1"]]',
             "a.json dialogue 1 question answer c choice"),
            ("a.json", '[[["x"], [{"question": "q", "choice": null}], "1"]]',
             "a.json dialogue 1 question options None"),
            ("a.json", '[[["x"], [{"question": "q", "choice": {}, "answer": "c"}], "1"]]',
             "a.json dialogue 1 question options {}"),
            ("a.json", '[["x: y", [{"question": "q", "choice": ["a", "b"]}], "1"]]',
             "a.json dialogue 1 turns 'x: y'"),
            ("a.txt", "[" * 100_000, "a.txt article questions options answers"),
            ("a.jsonl", "[1]\n", "a.jsonl line 1 object [1]"),
            ("a.jsonl", '{"context": "c", "question": "q", "answer0": "x", "answer1": "y", '
             '"answer3": "z"}', "a.jsonl line 1 answer0 answer1 answer2 [0, 1, 3]"),
            ("a.csv", "", "a.csv empty header"),
            ("a.csv", 'context,question,answer0\nx,"' + "y" * 200_000, "a.csv line 0"),
            ("a.tsv", "\t".join("abcdefgh"), "a.tsv line 1 one multiple d"),
            ("a.jsonl", "{}\n", "a.jsonl line 1 passage None"),
            ("a.jsonl", "{\n", "a.jsonl line 1 JSON"),
            ("a.jsonl", '{"context": "c", "question": "q", "answer0": "x"}', "a.jsonl 1 options"),
            ("a.jsonl", '{"context": "c", "question": "q", "answer0": "x", "answer1": "y", '
             '"label": "z"}', "a.jsonl line 1 label 0 2 z"),
            ("a.csv", "x,y\n1,2\n", "a.csv CosmosQA context question answer0 SWAG sent1 x y"),
            ("a.tsv", "1\t2\t3\n", "a.tsv line 1 id properties story question answers"),
            ("a.doc", "x", "a.doc RACE .json .jsonl .csv .tsv"),
            ("a.jsonl#dev", "", "a.jsonl#dev RACE #dev"),
            ("a.jsonl", "\n", "a.jsonl questions"),
        ],
    )  # fmt: skip
    def test_errors_name_position_and_problem(self, tmp_path, name, content, message):
        path = tmp_path / name.partition("#")[0]
        path.write_text(content)
        with pytest.raises(InputError, match=naming(message)):
            read_choices(tmp_path / name)

    def test_invalid_questions_are_skipped_and_counted(self, tmp_path, caplog):
        path = tmp_path / "1.txt"
        path.write_text(json.dumps(RACE | {"answers": ["A", "x"]}))
        with caplog.at_level(logging.WARNING):
            assert len(ChoiceTask.read(path, skip_bad=True)) == 1
        assert says(caplog.text, "1 questions")

    @pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "a.txt", "RACE.tar"])
    def test_damaged_files_are_named(self, tmp_path, name):
        whole = gzip.compress(bytes(range(256)) * 400 + b"\n", 0)
        path = tmp_path / f"{name}.gz"
        path.write_bytes(whole[:5000])
        with pytest.raises(InputError, match=naming(path)):
            read_choices(path)
        text = gzip.compress(json.dumps([RACE] * 500).encode())
        path.write_bytes(text[:-20])
        with pytest.raises(InputError, match=naming(path)):
            read_choices(path)
        path.write_bytes(text[:40] + b"\xff\xff" + text[42:])
        with pytest.raises(InputError, match=naming(path)):
            read_choices(path)

    def test_a_truncated_archive_is_named(self, tmp_path):
        (tmp_path / "dev" / "high").mkdir(parents=True)
        for number in range(50):
            (tmp_path / "dev" / "high" / f"{number}.txt").write_text(json.dumps(RACE) * number)
        archive = tmp_path / "RACE.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(tmp_path / "dev", arcname="dev")
        archive.write_bytes(archive.read_bytes()[:-200])
        with pytest.raises(InputError, match=naming("RACE.tar.gz damaged")):
            read_choices(archive, skip_bad=True)

    def test_invalid_files_in_a_folder_are_skipped(self, tmp_path):
        (tmp_path / "1.txt").write_text(json.dumps(RACE))
        (tmp_path / "2.txt").write_text("")
        (tmp_path / "3.txt").write_bytes(b"\xff\xfe")
        archive = tmp_path / "x.tar"
        with tarfile.open(archive, "w") as tar:
            for path in sorted(tmp_path.glob("*.txt")):
                tar.add(path, arcname=path.name)
        for place in (tmp_path, archive):
            examples, wrong = read_choices(place, skip_bad=True)
            assert len(examples) == 2
            assert len(wrong) == 2
            assert says(wrong[1], "3.txt UTF-8")
        with pytest.raises(InputError, match=naming("2.txt empty")):
            read_choices(tmp_path)

    def test_a_byte_order_mark_is_not_part_of_a_column_name(self, tmp_path):
        row = "\ufeffcontext,question,answer0,answer1,label\nx,y,a,b,1\n"
        (tmp_path / "a.csv").write_text(row)
        assert read_all(tmp_path / "a.csv")[0].answer == 1

    def test_duplicate_ids_are_rejected_or_skipped(self, tmp_path):
        path = tmp_path / "a.json"
        row = [["x"], [{"question": "q", "choice": ["a", "b"]}], "1"]
        path.write_text(json.dumps([row, row]))
        with pytest.raises(InputError, match=naming("a.json two id 1-0")):
            read_choices(path)
        examples, wrong = read_choices(path, skip_bad=True)
        assert (len(examples), len(wrong)) == (1, 1)

    def test_a_broken_archive_is_rejected(self, tmp_path):
        path = tmp_path / "RACE.tar.gz"
        buffer = io.BytesIO(b"not an archive")
        path.write_bytes(gzip.compress(buffer.getvalue()))
        with pytest.raises(InputError, match=naming("RACE.tar.gz tar")):
            read_choices(path)
