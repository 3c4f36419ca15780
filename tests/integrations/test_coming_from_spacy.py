"""The table of docs/coming-from-spacy.md is true: each row runs, and equal values are equal."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from syntagma import Reader, Sentence, load_parser
from syntagma.drawing.tree_svg import document_svg
from syntagma.encoders.default import find_default
from syntagma.parse.trees import descendants
from syntagma.report.page_data import sdoi_rows

spacy = pytest.importorskip("spacy")

from spacy import displacy  # noqa: E402
from spacy.tokens import Doc  # noqa: E402

import syntagma.integrations.spacy  # noqa: E402, F401  As the entry point does.

PAGE = Path(__file__).parents[2] / "docs" / "coming-from-spacy.md"
TEXT = "The ferry that Ada Mensah repaired left Port Ann at noon. Nobody saw the crew again."
ROW = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \| (.*) ?\|$", re.MULTILINE)

pytestmark = pytest.mark.skipif(
    find_default() is None, reason="no default encoder: `syntagma download default`"
)


def rows():
    table = PAGE.read_text(encoding="utf-8").partition("| spaCy | Syntagma | |")[2]
    return ROW.findall(table.partition("\n\n")[0])


@pytest.fixture(scope="module")
def names():
    nlp = spacy.blank("en")
    nlp.add_pipe("syntagma")
    parser = load_parser("default-parser", decoding="separate")
    return {
        "spacy": spacy, "displacy": displacy, "Doc": Doc, "nlp": nlp, "doc": nlp(TEXT),
        "np": np, "Sentence": Sentence, "load_parser": load_parser, "parser": parser,
        "document_svg": document_svg, "descendants": descendants, "sdoi_rows": sdoi_rows,
        "parses": parser(TEXT), "text": TEXT,
        "answer": Reader.from_pretrained("default").answer(TEXT, "Who repaired the ferry?"),
    }  # fmt: skip


def value_of(code, names):
    if re.match(r"\w+ = ", code):
        exec(code, dict(names))
        return None
    return eval(code, dict(names))


def test_noun_chunks_miss_objects_and_ends_of_names(names):
    chunks = [chunk.text for chunk in names["doc"].noun_chunks]
    assert "The ferry" in chunks  # A subject.
    assert "Ada" in chunks  # The beginning of a name.
    assert not [chunk for chunk in chunks if "Port" in chunk]
    phrases = [each.text for each in names["doc"][:]._.constituents if each.label_ == "NP"]
    assert {"Ada Mensah", "Port Ann"} <= {*phrases}


def test_the_table_has_rows():
    lines = PAGE.read_text(encoding="utf-8").partition("| spaCy | Syntagma | |")[2]
    assert len(rows()) == len(lines.partition("\n\n")[0].splitlines()) - 2 > 20
    assert sum(note.startswith("equal") for _, _, note in rows()) > 12


@pytest.mark.parametrize(("theirs", "ours", "note"), rows())
def test_a_row_is_true(theirs, ours, note, names):
    for span, parse in zip(names["doc"].sents, names["parses"], strict=True):
        for i in range(len(parse)):
            local = names | {"span": span, "parse": parse, "i": i, "token": span[i]}
            found, expected = (value_of(code, local) for code in (theirs, ours))
            if "root is `ROOT`" in note and parse.heads[i] == 0:
                assert (found, expected) == ("ROOT", "root")
            elif "root has 0" in note and parse.heads[i] == 0:
                assert (found, expected) == (i, -1)
            elif note.startswith("equal"):
                assert found == expected
            if "token" not in theirs:
                break
