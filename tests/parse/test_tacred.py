"""The trees of TACRED's files as parses of its token texts."""

from __future__ import annotations

import json

import pytest

from syntagma.errors import InputError
from syntagma.parse.columns import ParsedText
from syntagma.parse.sources.load import load_source
from syntagma.parse.sources.tacred import tacred_words
from syntagma.syntax.encode import encode_texts
from tests.conftest import build_tokenizer

ROW = {
    "id": "a1",
    "relation": "per:title",
    "token": ["Her", "captain", "-LRB-", "Mr.", "Obi", "-RRB-", "rows", "."],
    "subj_start": 3,
    "subj_end": 4,
    "obj_start": 1,
    "obj_end": 1,
    "subj_type": "PERSON",
    "obj_type": "TITLE",
    "stanford_pos": ["PRP$", "NN", "-LRB-", "NNP", "NNP", "-RRB-", "VBZ", "."],
    "stanford_ner": ["O"] * 8,
    "stanford_head": [2, 7, 5, 5, 2, 5, 0, 7],
    "stanford_deprel": ["nmod:poss", "nsubj", "punct", "compound", "dep", "punct", "ROOT", "punct"],
}
TEXT = "Her captain ( Mr. Obi ) rows ."


def write(path, rows):
    path.write_text(json.dumps(rows))
    return path


def test_blank_tokens_are_kept():
    sentence = tacred_words(ROW | {"token": ["Rain", " ", "fell"]})
    assert (sentence.forms, sentence.starts) == (("Rain", " ", "fell"), (0, 5, 7))


def test_trees_and_words_of_several_files(tmp_path):
    one = write(tmp_path / "train.json", [ROW, ROW | {"id": "a2"}])
    other = tmp_path / "dev.jsonl"
    second = ROW | {"id": "b", "token": ["Rain", "again"], "stanford_pos": ["NN", "RB"]}
    second |= {"stanford_head": ["0", "1"], "stanford_deprel": ["ROOT", "advmod"]}
    other.write_text("\n" + json.dumps(second) + "\n")
    source = load_source(f"tacred:{one},{other}")
    (parse,), (short,) = source.parse_texts([TEXT, "Rain again"])
    assert parse.heads == (2, 7, 5, 5, 2, 5, 0, 7)
    assert parse.relations[0] == "nmod:poss"
    assert parse.xpos[3] == "NNP"
    assert short.heads == (0, 1)
    for form, start, end in parse.sentence.words:
        assert TEXT[start:end] == form
    assert parse.sentence.forms[2] == "("
    assert source.fingerprint.startswith(f"tacred:{one}:")
    (encoded,) = encode_texts(
        [TEXT], build_tokenizer("byte_level"), [ParsedText.from_parses([parse])]
    )
    assert set(encoded.syntax["word"].tolist()) - {-1} == set(range(8))
    with pytest.raises(InputError, match=r"no sentence with the text 'No\.'; name all files"):
        list(source.parse_texts(["No."]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stanford_head": [2, 1, 5, 5, 2, 5, 0, 7]}, r"\(id a1\): .*not form a tree: .*cycle"),
        ({"stanford_head": [0, 7, 5, 5, 2, 5, 0, 7]}, "expected one root .* found 2"),
        ({"stanford_head": [2, 7, 5, 5, 2, 5, 0, 9]}, r"word 8 '\.' has head '9'"),
        ({"stanford_head": [1]}, "expected a list of 8 values as `stanford_head`"),
        ({"stanford_pos": None}, "expected a list of 8 values as `stanford_pos`"),
        ({"token": "Her"}, "expected a list of words as `token`"),
    ],
)
def test_invalid_examples_are_reported(tmp_path, changes, message):
    path = write(tmp_path / "train.json", [ROW | changes])
    with pytest.raises(InputError, match=message):
        load_source(f"tacred:{path}")


def test_unreadable_files_are_reported(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_source(f"tacred:{tmp_path / 'none.json'}")
    with pytest.raises(InputError, match="expected a list of objects, got dict"):
        load_source(f"tacred:{write(tmp_path / 'a.json', ROW)}")
    (tmp_path / "b.jsonl").write_text("{")
    with pytest.raises(InputError, match="line 1: broken JSON"):
        load_source(f"tacred:{tmp_path / 'b.jsonl'}")
