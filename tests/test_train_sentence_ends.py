"""The script that lets the encoder of a trained parser decide on doubtful sentence ends."""

from __future__ import annotations

import pytest
import train_sentence_ends
from safetensors.torch import load_file

from syntagma.encoders.default import WEIGHTS
from syntagma.errors import InputError
from syntagma.parse.languages import RESCORED
from syntagma.parse.parser import JointParser
from tests.made_french import made_conllu
from tests.messages import naming


@pytest.fixture
def treebank(tmp_path):
    # The words of the treebank do not matter: the parser states that it is one of English.
    path = tmp_path / "en_made-ud-train.conllu"
    path.write_text(made_conllu(60, 1), encoding="utf-8")
    return str(path)


def test_a_copy_of_the_parser_gets_the_scorer_and_keeps_its_weights(
    tiny_parser, treebank, tmp_path
):
    out = tmp_path / "out"
    train_sentence_ends.main([tiny_parser, treebank, "--made", "20", "--out", str(out)])
    before, after = load_file(f"{tiny_parser}/{WEIGHTS}"), load_file(out / WEIGHTS)
    added = after.keys() - before.keys()
    assert added
    assert all(name.startswith(train_sentence_ends.PREFIX) for name in added)
    assert all(before[name].equal(after[name]) for name in before)
    parser = JointParser.from_pretrained(out)
    assert parser.model.config.labels[RESCORED] == ["en"]
    assert parser.model.head.sentence_ends == "encoder"
    assert parser("Nobody saw the ferry. It left.")

    # Once more: the scorer is trained anew.
    again = tmp_path / "again"
    train_sentence_ends.main([str(out), treebank, "--seed", "2", "--out", str(again)])
    other = load_file(again / WEIGHTS)
    assert other.keys() == after.keys()
    assert any(not other[name].equal(after[name]) for name in added)


def test_bad_input_is_reported_before_anything_is_trained(tiny_parser, treebank, tmp_path):
    with pytest.raises(InputError, match="already exists; give a new folder"):
        train_sentence_ends.main([tiny_parser, treebank, "--out", str(tmp_path)])
    for name, got in (("made.conllu", "states no language"), ("fr_made-ud-train.conllu", "got fr")):
        path = tmp_path / name
        path.write_text(made_conllu(1, 1), encoding="utf-8")
        out = tmp_path / "out"
        with pytest.raises(InputError, match=naming(f"treebank {got} en_mine-ud-train.conllu")):
            train_sentence_ends.main([tiny_parser, str(path), "--out", str(out)])
        assert not out.exists()
