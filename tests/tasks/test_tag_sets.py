"""POI-Net reads universal tags where a parse source has no Penn tags."""

from __future__ import annotations

import json
import logging

import pytest

from syntagma.evaluation import evaluate
from syntagma.parse.sources.load import load_source
from syntagma.syntax.tags import ERR, tag_ids
from syntagma.syntax.tokenizer import SyntaxTokenizer
from syntagma.tasks.open_qa.task import OpenQaTask
from syntagma.tasks.pairs.task import PairTask
from syntagma.training.run import train
from tests import builders
from tests.corpora import make_corpus, pretraining

STTS = {"DET": "ART", "NOUN": "NN", "VERB": "VVFIN", "PUNCT": "$."}
PENN = {"DET": "DT", "NOUN": "NN", "VERB": "VBD", "PUNCT": "."}


def treebank(path, texts, tags):
    """A treebank of texts with tags in a fixed order, and the XPOS tags of a given tag set."""
    rows = []
    for text in dict.fromkeys(texts):
        words = text.split()
        rows.append(f"# text = {text}")
        for number, word in enumerate(words, start=1):
            upos = ("DET", "VERB", "DET", "VERB", "NOUN")[number % 5]
            head = number - 1
            rows.append(
                f"{number}\t{word}\t_\t{upos}\t{tags[upos]}\t_\t{head}\t"
                f"{'dep' if head else 'root'}\t_\t_"
            )
        rows.append("")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return f"conllu:{path}"


@pytest.fixture
def data(tmp_path):
    path = builders.pairs(tmp_path / "pairs.jsonl", copies=1)
    return path, [t for e in PairTask.read(path) for t in (e.first, e.second)]


def run(folder, data, parser, encoder, *, task="pairs", **guides):
    settings = builders.experiment(
        task, data, encoder, preset="poi-net", parser=parser, guides=guides,
        training={"num_train_epochs": 1},
    )  # fmt: skip
    train(settings, folder)
    return json.loads((folder / "config.json").read_text())["guides"]["pos_embedding"]["tags"]


def test_training_chooses_the_tag_set_and_the_saved_model_keeps_it(
    tmp_path, data, tiny_encoder, caplog
):
    path, texts = data
    foreign = treebank(tmp_path / "stts.conllu", texts, STTS)
    with caplog.at_level(logging.WARNING):
        assert run(tmp_path / "foreign", path, foreign, tiny_encoder) == "upos"
        assert "universal tags" in caplog.text
        caplog.clear()
        penn = treebank(tmp_path / "penn.conllu", texts, PENN)
        assert run(tmp_path / "penn", path, penn, tiny_encoder) == "penn"
        assert "tags" not in caplog.text
        evaluate(tmp_path / "penn", [path], parser=foreign)
        assert "Penn tags" in caplog.text
    tokenizer = SyntaxTokenizer.from_pretrained(str(tmp_path / "foreign"))
    known = {tag_ids([tag], "upos")[0] for tag in ("DET", "NOUN", "VERB")}
    assert known <= set(tokenizer(texts[0])["tag"].flatten().tolist())


def test_a_reader_of_several_paragraphs_chooses_too(tmp_path, tiny_encoder):
    path = builders.open_qa(tmp_path / "train.jsonl", copies=1)
    texts = list(OpenQaTask.texts(OpenQaTask.read(path)))
    foreign = treebank(tmp_path / "stts.conllu", texts, STTS)
    assert run(tmp_path / "run", path, foreign, tiny_encoder, task="open_qa") == "upos"


def test_vectors_of_penn_tags_from_pretraining_stay_those_of_penn_tags(
    tmp_path, data, tiny_encoder
):
    pytest.importorskip("pyarrow")
    corpus = make_corpus(tmp_path, copies=1)
    guides = {"coattention": False}
    task, _ = builders.new_task(pretraining(corpus, tiny_encoder, preset="poi-net", guides=guides))
    (tmp_path / "pretrained").mkdir()
    task.save(tmp_path / "pretrained")
    path, texts = data
    foreign = treebank(tmp_path / "stts.conllu", texts, STTS)
    assert run(tmp_path / "run", path, foreign, str(tmp_path / "pretrained")) == "penn"


def test_a_given_tag_set_is_kept(tmp_path, data, tiny_encoder):
    path, texts = data
    penn = treebank(tmp_path / "penn.conllu", texts, PENN)
    chosen = run(tmp_path / "run", path, penn, tiny_encoder, pos_embedding={"tags": "upos"})
    assert chosen == "upos"


def test_each_tag_set_is_read_from_its_column(tmp_path, tiny_encoder):
    text = "The gull slept"
    source = load_source(treebank(tmp_path / "x.conllu", [text], STTS))
    parsed = [[parse] for parse in next(source.parse_texts([text]))]
    assert [parse.xpos for (parse,) in parsed] == [("VVFIN", "ART", "VVFIN")]
    for tag_set, expected in (("penn", {ERR}), ("upos", set(tag_ids(["VERB", "DET"], "upos")))):
        tokenizer = SyntaxTokenizer.from_pretrained(tiny_encoder, parser="linear")
        tokenizer.tags = tag_set
        batch = tokenizer(text, parses=[next(source.parse_texts([text]))])
        words = batch["tag"][batch["word"] >= 0]
        assert set(words.tolist()) == expected
