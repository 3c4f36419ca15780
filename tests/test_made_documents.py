"""The made-up documents: answers are where they were put, and questions without one have none."""

from __future__ import annotations

import json
import random
import re
import sys

import made_documents
import pytest
from document_kinds.catalogue import ALL_KINDS, KINDS
from document_kinds.document import HINT, Document, mark, unmarked, worded
from document_kinds.draw import Draw
from document_kinds.fields import Field, state
from document_kinds.grids import GRIDS, table_of
from document_kinds.tables import Column, Table, rows_of, written
from made_documents import draw_passage, make_documents

from syntagma.errors import InputError
from syntagma.tasks.spans.squad import read_squad
from tests.messages import naming


@pytest.fixture(scope="module")
def made():
    return make_documents(1500, seed=3)


@pytest.fixture(scope="module")
def passages():
    source = random.Random(5)
    return [draw_passage(kind, source) for kind in sorted(KINDS) for _ in range(12)]


def records(made):
    for document in made["data"]:
        for paragraph in document["paragraphs"]:
            for record in paragraph["qas"]:
                yield paragraph["context"], record


class TestFile:
    def test_the_reader_of_squad_reads_it(self, tmp_path, monkeypatch):
        path = tmp_path / "made.json"
        arguments = ["--count", "200", "--seed", "2", "--out", str(path)]
        monkeypatch.setattr(sys, "argv", ["made_documents.py", *arguments])
        made_documents.main()
        examples, skipped = read_squad(path)
        assert len(examples) == 200
        assert skipped.total == 0
        assert json.loads(path.read_text())["data"] == make_documents(200, seed=2)["data"]

    def test_a_seed_gives_the_same_file_and_another_seed_another(self):
        assert make_documents(60, seed=1) == make_documents(60, seed=1)
        assert make_documents(60, seed=1) != make_documents(60, seed=2)

    def test_answers_are_at_their_offsets(self, made):
        for context, record in records(made):
            assert record["is_impossible"] == (not record["answers"])
            for answer in record["answers"]:
                start, text = answer["answer_start"], answer["text"]
                assert context[start : start + len(text)] == text
                assert text == text.strip() != ""

    def test_ids_are_unique(self, made):
        ids = [record["id"] for _, record in records(made)]
        assert len(ids) == len(set(ids)) == 1500

    def test_about_a_third_has_no_answer(self, made):
        without = [record["is_impossible"] for _, record in records(made)]
        assert 0.33 < sum(without) / len(without) < 0.37

    def test_every_kind_occurs_and_most_documents_mix_both(self, made):
        kinds = {record["id"].rsplit("-", 2)[0] for _, record in records(made)}
        assert kinds == set(KINDS)
        assert len(kinds) >= 20
        mixed = [
            len({record["is_impossible"] for record in document["paragraphs"][0]["qas"]}) == 2
            for document in made["data"]
        ]
        assert sum(mixed) > 0.7 * len(mixed)

    def test_no_mark_or_placeholder_is_left(self, made):
        for context, record in records(made):
            for text in (context, record["question"]):
                assert not re.search(r"[\x00-\x08\x1f]|\{|\}", text), text

    def test_passages_have_40_to_350_words(self, made):
        lengths = [len(document["paragraphs"][0]["context"].split()) for document in made["data"]]
        assert min(lengths) >= 40
        assert max(lengths) <= 350


class TestQuestions:
    def test_no_wording_has_two_answers_or_an_answer_and_none(self, passages):
        for passage in passages:
            answers: dict[str, tuple[int, str]] = {}
            for question in passage.answerable:
                for wording in question.wordings:
                    place = passage.places[question.key]
                    assert answers.setdefault(wording, place) == place, (passage.kind, wording)
            for question in passage.unanswerable:
                assert not set(question.wordings) & set(answers), passage.kind

    def test_what_must_be_absent_is_absent_from_a_text_without_hints(self, passages):
        for passage in passages:
            text = passage.text
            hints = [found for key, found in passage.places.items() if HINT in key]
            for _, hint in hints:
                text = text.replace(hint, "")
            for question in passage.unanswerable:
                for word in question.absent:
                    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)
                    assert not found, (passage.kind, word)

    def test_what_a_document_is_about_is_named_in_it(self, passages):
        # Else a question about something similar could not be told from one about this.
        for passage in passages:
            for name in passage.names:
                assert name.lower() in passage.text.lower(), (passage.kind, name)

    def test_every_kind_has_several_layouts_and_wordings(self):
        for kind in sorted(KINDS):
            source = random.Random(1)
            drawn = [draw_passage(kind, source) for _ in range(12)]
            # The first characters of lines say what a layout looks like.
            shapes = {tuple(re.sub(r"\w+", "w", line)[:3] for line in passage.text.split("\n")[:6])
                      for passage in drawn}  # fmt: skip
            assert len(shapes) >= 3, kind
            assert all(len(question.wordings) >= 1 for passage in drawn
                       for question in passage.questions)  # fmt: skip

    def test_questions_are_asked_told_searched_and_typed_carelessly(self, passages):
        source = random.Random(2)
        texts = [worded(q, passage, source) for passage in passages for q in passage.questions]
        starts = {text.split()[0].lower() for text in texts}
        assert {"who", "what", "when", "where", "which", "why", "how", "find", "look"} <= starts
        assert 0.1 < sum(text == text.lower() for text in texts) / len(texts) < 0.3
        assert sum(text.endswith("?") for text in texts) > 0.4 * len(texts)


class TestDocument:
    def test_a_fact_is_where_it_was_put(self):
        doc = Document("note", Draw(random.Random(1)))
        doc.ask("second", ["When?"])
        text = f"From {mark('first', '9:00')} and {mark('second', '9:00')}."
        passage = doc.finish(text)
        assert passage.text == "From 9:00 and 9:00."
        assert passage.places == {"first": (5, "9:00"), "second": (14, "9:00")}
        assert unmarked(text) == passage.text

    def test_a_question_about_a_fact_that_was_not_put_in_is_dropped(self):
        doc = Document("note", Draw(random.Random(1)))
        doc.ask("rent", ["How much is the rent?"])
        doc.ask_in_vain(["How much is the deposit?"], "the deposit", ("Deposit",))
        doc.ask_in_vain(["How long is the notice?"], "the notice", ("notice",))
        passage = doc.finish(f"A deposit is due. {mark(HINT + 'notice', 'Give notice in time.')}")
        assert [question.noun for question in passage.questions] == ["the notice"]

    def test_an_article_fits_its_noun_and_a_sentence_has_one_full_stop(self):
        doc = Document("note", Draw(random.Random(1)))
        passage = doc.finish(f"A {mark('thing', 'oven')} is on until {mark('time', '8 p.m.')}.")
        assert passage.text == "An oven is on until 8 p.m."
        assert passage.places["time"] == (20, "8 p.m.")


class TestFields:
    def test_a_field_left_out_is_asked_in_vain(self):
        fields = [
            Field(key, "price", key, f"the {key}", f"What {key}?", f"The {key} is {{}}.")
            for key in ("rent", "deposit", "fee")
        ]
        doc = Document("note", Draw(random.Random(4)))
        stated, _ = state(doc, fields, {}, keep=2)
        passage = doc.finish(" ".join(item.sentence for item in stated))
        for item in fields:
            asked = [q for q in passage.questions if q.noun == item.noun]
            assert [q.key for q in asked] == [item.key if item.key in passage.text else None]


class TestTables:
    TABLE = Table(
        "To", "place",
        [Column("leaves", "time", "Departs", "departure to {row}", "When is the train to {row}?",
                "leaves at {}", "Where does the train at {} go?", "at {}", "Which train is first?"),
         Column("platform", "platform", "Platform", "the platform for {row}",
                "Where is the train to {row}?", "is on platform {}", "", "from platform {}")],
        "The train to {row}", (2, 2), (5, 5), "leaves", True,
    )  # fmt: skip

    @pytest.mark.parametrize("layout", "spaces pipes markdown tabs commas blocks inline "
                                       "sentences transposed".split())  # fmt: skip
    def test_cells_are_found_in_every_layout(self, layout):
        for seed in range(5):
            doc = Document("timetable", Draw(random.Random(seed)))
            columns, rows = rows_of(doc, self.TABLE)
            passage = doc.finish(written(doc, self.TABLE, (columns, rows), layouts=layout))
            for row in rows:
                for column in columns:
                    if column.key in row.values:
                        start, value = passage.places[f"row{row.number}.{column.key}"]
                        assert value == row.values[column.key]
                        assert passage.text[start : start + len(value)] == value

    def test_a_wrong_combination_has_no_answer_and_the_first_train_is_the_first(self):
        n_wrong = 0
        for seed in range(20):
            draw = Draw(random.Random(seed))
            doc = Document("timetable", draw)
            _, rows = rows_of(doc, self.TABLE)
            passage = doc.finish(written(doc, self.TABLE, (_, rows), layouts="pipes"))
            platforms = {(row.name, row.values.get("platform")) for row in rows}
            for question in passage.questions:
                text = question.wordings[0]
                found = re.fullmatch(r"When is the train to (\w+) from platform (\w+)\?", text)
                if found:
                    assert (found.groups() in platforms) == (question.key is not None)
                    n_wrong += question.key is None
                if text == "Which train is first?":
                    first = min(rows, key=lambda row: draw.size[row.values["leaves"]])
                    assert passage.places[question.key][1] == first.name
        assert n_wrong > 10


class TestGrids:
    """Tables whose columns are of one type."""

    def test_they_are_made_only_if_they_are_asked_for(self, tmp_path, monkeypatch, capsys):
        path = tmp_path / "grids.json"
        arguments = ["--kinds", "grid-*", "--count", "150", "--out", str(path)]
        monkeypatch.setattr(sys, "argv", ["made_documents.py", *arguments])
        made_documents.main()
        examples, _ = read_squad(path)
        assert {example.id.rsplit("-", 2)[0] for example in examples} == set(ALL_KINDS) - set(KINDS)
        monkeypatch.setattr(sys, "argv", ["made_documents.py", "--kinds", "grd-*", *arguments[2:]])
        with pytest.raises(InputError, match=naming("--kinds grd-* grid-hire")):
            made_documents.main()

    @pytest.mark.parametrize("kind", sorted(GRIDS))
    def test_an_answer_is_in_the_row_and_column_of_its_question(self, kind):
        grid, n_asked = GRIDS[kind], 0
        for seed in range(8):
            for headings in grid.columns:
                doc = Document(kind, Draw(random.Random(seed)))
                table = table_of(grid, headings)
                columns, rows = rows_of(doc, table)
                order = [heading for heading, _ in headings]
                assert [column.key for column in columns] == sorted(
                    (column.key for column in columns), key=order.index
                )
                passage = doc.finish(written(doc, table, (columns, rows), layouts="pipes"))
                lines = [line.split(" | ") for line in passage.text.split("\n")]
                for question in passage.questions:
                    if question.key is None or question.key.endswith(".name"):
                        continue
                    row, key = question.key.split(".", 1)
                    name = next(r.name for r in rows if f"row{r.number}" == row)
                    phrase = dict(headings)[key]
                    assert all(name in text and phrase in text for text in question.wordings)
                    line = next(line for line in lines if line[0].lower() == name.lower())
                    cell = line[[c.key for c in columns].index(key) + 1]
                    assert passage.places[question.key][1] == cell
                    n_asked += 1
        assert n_asked > 50
