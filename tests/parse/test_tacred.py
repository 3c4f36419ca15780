"""The trees in TACRED's files, as parses of the joined tokens."""

from __future__ import annotations

import json
import shutil

import pytest

from syntagma.errors import InputError
from syntagma.parse.columns import ParsedText
from syntagma.parse.sources.load import load_source
from syntagma.parse.sources.tacred import tacred_words
from syntagma.syntax.encode import encode_texts
from tests.builders import TACRED, TACRED_TEXT
from tests.conftest import build_tokenizer
from tests.messages import naming


def write(path, rows):
    path.write_text(json.dumps(rows))
    return path


def test_blank_tokens_are_kept():
    sentence = tacred_words(TACRED | {"token": ["Rain", " ", "fell"]})
    assert (sentence.forms, sentence.starts) == (("Rain", " ", "fell"), (0, 5, 7))


def test_trees_and_words_are_read_from_several_files(tmp_path):
    one = write(tmp_path / "train.json", [TACRED, TACRED | {"id": "a2"}])
    other = tmp_path / "dev.jsonl"
    second = TACRED | {"id": "b", "token": ["Rain", "again"], "stanford_pos": ["NN", "RB"]}
    second |= {"stanford_head": ["0", "1"], "stanford_deprel": ["ROOT", "advmod"]}
    other.write_text("\n" + json.dumps(second) + "\n")
    source = load_source(f"tacred:{one},{other}")
    (parse,), (short,) = source.parse_texts([TACRED_TEXT, "Rain again"])
    assert parse.heads == (2, 7, 5, 5, 2, 5, 0, 7)
    assert parse.relations[0] == "nmod:poss"
    assert parse.xpos[3] == "NNP"
    assert short.heads == (0, 1)
    for form, start, end in parse.sentence.words:
        assert TACRED_TEXT[start:end] == form
    assert parse.sentence.forms[2] == "("
    copy = shutil.copy(one, tmp_path / "copy.json")
    assert source.fingerprint == load_source(f"tacred:{copy},{other}").fingerprint
    other.write_text("\n" + json.dumps(second | {"stanford_deprel": ["ROOT", "dep"]}) + "\n")
    assert source.fingerprint != load_source(f"tacred:{one},{other}").fingerprint
    (encoded,) = encode_texts(
        [TACRED_TEXT], build_tokenizer("byte_level"), [ParsedText.from_parses([parse])]
    )
    assert set(encoded.syntax["word"].tolist()) - {-1} == set(range(8))
    with pytest.raises(InputError, match=naming("No. tacred:train.json,dev.json")):
        list(source.parse_texts(["No."]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stanford_head": [2, 1, 5, 5, 2, 5, 0, 7]}, "entry 1 a1 1 → 2 → 1"),
        ({"stanford_head": [0, 7, 5, 5, 2, 5, 0, 7]}, "entry 1 a1 root 2"),
        ({"stanford_head": [2, 7, 5, 5, 2, 5, 0, 9]}, "entry 1 a1 word 8 9"),
        ({"stanford_head": [1]}, "entry 1 a1 8 stanford_head"),
        ({"stanford_pos": None}, "entry 1 a1 8 stanford_pos"),
        ({"token": "Her"}, "entry 1 a1 token"),
    ],
)
def test_invalid_examples_are_reported(tmp_path, changes, message):
    path = write(tmp_path / "train.json", [TACRED | changes])
    with pytest.raises(InputError, match=naming(message)):
        load_source(f"tacred:{path}")


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(InputError, match=naming("none.json")):
        load_source(f"tacred:{tmp_path / 'none.json'}")
    with pytest.raises(InputError, match=naming("a.json list dict")):
        load_source(f"tacred:{write(tmp_path / 'a.json', TACRED)}")
    (tmp_path / "b.jsonl").write_text("{")
    with pytest.raises(InputError, match=naming("b.jsonl line 1 JSON")):
        load_source(f"tacred:{tmp_path / 'b.jsonl'}")
