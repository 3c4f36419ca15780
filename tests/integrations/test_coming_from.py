"""The tables for users of Stanza, SuPar and the question-answering pipeline are true."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from syntagma import Reader, Sentence, load_parser
from syntagma.encoders.default import find_default
from tests.qa_models import save_qa_model

DOCS = Path(__file__).parents[2] / "docs"
TEXT = "The ferry that Ada Mensah repaired left Port Ann at noon. Nobody saw the crew again."
ROW = re.compile(r"^\| (.+?) \| (.+?) \| (.*) ?\|$", re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")

needs_default = pytest.mark.skipif(
    find_default() is None, reason="no default encoder: `syntagma download default`"
)


def rows(page: str) -> list[tuple[str, str, str]]:
    """The first table of a page, without its head: what they write, what we write, a note."""
    text = (DOCS / page).read_text(encoding="utf-8")
    table = re.split(r"^\|---\|---\|---\|$", text, flags=re.MULTILINE)[1].partition("\n\n")[0]
    found = ROW.findall(table)
    assert len(found) == len(table.strip().splitlines()) > 5
    return found


def code_of(cell: str) -> str:
    return CODE.match(cell)[1]


def value_of(code: str, names: dict[str, object]) -> object:
    if re.match(r"\w+ = ", code):
        exec(code, names := dict(names))
        return names[code.partition(" ")[0]]
    return eval(code, dict(names))


@pytest.fixture(scope="module")
def parser():
    return load_parser("default-parser", decoding="separate")


@pytest.fixture(scope="module")
def stanza_document(parser):
    """A document of Stanza that has the trees of our parser."""
    pytest.importorskip("stanza")
    from stanza.models.common.doc import Document
    from stanza.models.constituency.tree_reader import read_trees

    parses = parser(TEXT)
    document = Document(
        [
            [
                {
                    "id": i + 1,
                    "text": form,
                    "upos": parse.upos[i],
                    "xpos": parse.xpos[i],
                    "head": parse.heads[i],
                    "deprel": parse.relations[i],
                    "lemma": parse.lemmas[i],
                    "feats": None if parse.feats[i] == "_" else parse.feats[i],
                    "start_char": parse.sentence.starts[i],
                    "end_char": parse.sentence.ends[i],
                }
                for i, form in enumerate(parse.sentence.forms)
            ]
            for parse in parses
        ],
        text=TEXT,
    )
    for sentence, parse in zip(document.sentences, parses, strict=True):
        (tree,) = read_trees(parse.to_brackets().replace("(TOP ", "(ROOT ", 1))
        sentence.constituency = tree
    return document


@needs_default
@pytest.mark.parametrize(("theirs", "ours", "note"), rows("coming-from-stanza.md"))
def test_a_row_of_stanza_is_true(theirs, ours, note, parser, stanza_document):
    parses = parser(TEXT)
    names = {"doc": stanza_document, "parses": parses, "text": TEXT}
    for sentence, parse in zip(stanza_document.sentences, parses, strict=True):
        for i, word in enumerate(sentence.words):
            local = names | {"sentence": sentence, "parse": parse, "word": word, "i": i}
            found, expected = (value_of(code_of(cell), local) for cell in (theirs, ours))
            if note.startswith("equal"):
                assert found == expected
            elif note.startswith("the same strings"):
                assert (found or "_") == expected
    if "CoNLL-U" in note:
        assert expected.count("\n") == sum(len(parse) + 2 for parse in parses) + len(parses)


@needs_default
@pytest.mark.parametrize(("theirs", "ours", "note"), rows("coming-from-supar.md"))
def test_a_row_of_supar_has_code_of_ours_that_runs(theirs, ours, note, parser):
    pytest.importorskip("nltk")
    parses = parser(TEXT)
    names = {"load_parser": load_parser, "parser": parser, "parses": parses, "text": TEXT}
    names |= {"Sentence": Sentence, "parse": parses[0]}
    found = value_of(code_of(ours), names)
    if "dataset.arcs" in theirs:
        assert found == list(parses[0].heads)
        assert found.count(0) == 1
    if "to_nltk" in ours:
        assert found.leaves() == list(parses[0].sentence.forms)


@pytest.mark.parametrize(("theirs", "ours", "note"), rows("coming-from-qa-pipeline.md"))
def test_a_row_of_the_pipeline_has_code_of_ours_that_runs(theirs, ours, note, tmp_path):
    name = str(save_qa_model(tmp_path / "model", "bert"))
    reader = Reader.from_pretrained(name)
    passage, question = TEXT, "Who repaired the ferry?"
    names = {"Reader": Reader, "math": math, "name": name, "reader": reader}
    names |= {"passage": passage, "question": question, "answer": reader(passage, question)}
    found = value_of(code_of(ours), names)
    if "math.inf" in ours:
        assert found.text
        assert passage[found.start : found.end] == found.text
    if "stream" in ours:
        assert [each.question for each in found] == [question, question]
    if "candidates" in ours:
        spans = sorted((each.start, each.end) for each in found)
        assert all(end <= start for (_, end), (start, _) in zip(spans, spans[1:], strict=False))


def test_transformers_has_no_pipeline_for_questions_any_more():
    from transformers.pipelines import SUPPORTED_TASKS

    assert "text-classification" in SUPPORTED_TASKS
    assert "question-answering" not in SUPPORTED_TASKS


def test_what_the_page_says_of_windows_and_lengths_is_so(tmp_path):
    folder = save_qa_model(tmp_path / "model", "bert", max_position_embeddings=512)
    head = Reader.from_pretrained(str(folder)).model.head
    values = json.loads(json.dumps(vars(head), default=str))
    assert {384, 128, 30} <= {value for value in values.values() if isinstance(value, int)}
