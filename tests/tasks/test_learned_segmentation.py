"""A parser that learned how its treebank cuts raw text: trained, saved, loaded, used."""

from __future__ import annotations

import shutil

import pytest

from syntagma.errors import DamagedFileError, InputError
from syntagma.evaluation import evaluate
from syntagma.packing import pack
from syntagma.parse.languages import RESCORED
from syntagma.parse.parser import JointParser
from syntagma.parse.sources.load import needed_source
from syntagma.parse.sources.stream import parse_file
from syntagma.text.segmentation.saved import SEGMENTATION
from syntagma.training.run import train
from tests.builders import brackets, experiment
from tests.made_french import made_conllu
from tests.messages import naming

TEXT = "Où parle-t-il ? Ada vient du port."
SENTENCES = [("Où", "parle", "-t-il", "?"), ("Ada", "vient", "de", "le", "port", ".")]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("french") / "made.conllu"
    path.write_text(made_conllu(220, 1), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory, data, tiny_encoder):
    folder = tmp_path_factory.mktemp("runs") / "french"
    training = {"max_steps": 1, "eval_steps": None}
    train(experiment("parsing", data, tiny_encoder, training=training), folder)
    return folder


def test_raw_text_is_cut_as_the_treebank_does_it(run):
    parser = JointParser.from_pretrained(run)
    assert [parse.sentence.forms for parse in parser(TEXT)] == SENTENCES
    assert [[p.sentence.forms for p in text] for text in parser.parse_texts([TEXT])] == [SENTENCES]


def test_files_have_lines_for_multi_word_tokens(run, tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    _, second = parse_file(path, JointParser.from_pretrained(run))
    rows = [(row[0], row[1]) for row in second.source.rows]
    assert rows[2:5] == [("3-4", "du"), ("3", "de"), ("4", "le")]


def test_raw_text_is_scored(run, data):
    scores = evaluate(run, [data], raw=True)
    assert scores["words_f1"] > 99
    assert scores["sentences_f1"] > 95


def test_the_segmentation_is_part_of_the_fingerprint(run, tmp_path):
    other = shutil.copytree(run, tmp_path / "other")
    (other / SEGMENTATION).unlink()
    parsers = [JointParser.from_pretrained(folder) for folder in (run, other)]
    assert parsers[0].fingerprint != parsers[1].fingerprint
    assert parsers[1](TEXT)[1].sentence.forms == ("Ada", "vient", "du", "port", ".")
    # A model that reads words only needs the parser for them, or the rules for English.
    assert needed_source(str(run), trees=False) == str(run)
    assert needed_source(str(other), trees=False) == "linear"


def test_a_packed_parser_keeps_it(run, tmp_path):
    pack(run, tmp_path / "packed", bits=8)
    found = JointParser.from_pretrained(tmp_path / "packed")(TEXT)
    assert [parse.sentence.forms for parse in found] == SENTENCES


def test_the_encoder_learns_to_decide_on_doubtful_sentence_ends(tmp_path, data, tiny_encoder):
    training = {"max_steps": 1, "eval_steps": None, "encoder": "lora"}
    head = {"sentence_ends": "encoder"}
    train(experiment("parsing", data, tiny_encoder, head=head, training=training), tmp_path / "run")
    parser = JointParser.from_pretrained(tmp_path / "run")
    assert parser.model.config.labels[RESCORED] == [""]
    assert [parse.sentence.forms for parse in parser(TEXT)] == SENTENCES
    # It is trained: its first weights say nothing.
    assert evaluate(tmp_path / "run", [data], raw=True)["sentences_f1"] > 95
    assert parser.model.sentence_ends.output.weight.abs().max() > 0.1

    # Further training without it drops it, since the encoder has changed.
    plan = {"preset": "saved", "training": {"max_steps": 1, "eval_steps": None}}
    train(experiment("parsing", data, str(tmp_path / "run"), **plan), tmp_path / "again")
    again = JointParser.from_pretrained(tmp_path / "again")
    assert again.model.sentence_ends is None
    assert again.model.head.sentence_ends == "words"


def test_a_damaged_file_stops_loading(run, tmp_path):
    other = shutil.copytree(run, tmp_path / "other")
    (other / SEGMENTATION).write_bytes(b"nothing")
    with pytest.raises(DamagedFileError, match=SEGMENTATION):
        JointParser.from_pretrained(other)


def test_brackets_teach_no_segmentation(tmp_path, tiny_encoder):
    data = brackets(tmp_path / "trees.ptb")
    plan = experiment("parsing", data, tiny_encoder, head={"segmentation": "learned"})
    with pytest.raises(InputError, match=naming("head.segmentation CoNLL-U english")):
        train(plan, tmp_path / "run")
