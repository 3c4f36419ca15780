"""The parsing task: treebanks with dependencies, phrases or both, and their scores."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from syntagma.errors import BadExampleError, InputError
from syntagma.evaluation import evaluate, predict
from syntagma.parse.parser import JointParser
from syntagma.parse.phrases import agree
from syntagma.parse.sources.load import load_parser
from syntagma.tasks.parsing.task import ParsingTask
from syntagma.tasks.parsing.treebanks import read_treebank
from syntagma.text.brackets import read_brackets
from syntagma.text.sentence import Sentence
from syntagma.training.run import train
from tests.builders import brackets, experiment, treebank
from tests.conftest import SENTENCES
from tests.messages import naming, says


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trees")
    return treebank(folder / "tides.conllu"), brackets(folder / "tides.ptb")


@pytest.fixture(scope="module")
def runs(tmp_path_factory, files, tiny_encoder):
    """Train parsers of both views, with either decoding, and of each view alone."""
    folder = tmp_path_factory.mktemp("runs")
    both = "+".join(files)
    heads = {
        "joint": (15, {"decoding": "joint"}),
        "separate": (12, {"decoding": "separate"}),
        "constituents": (10, {"views": "constituents"}),
        "dependencies": (10, {"views": "dependencies"}),
    }
    for name, (epochs, head) in heads.items():
        training = {"num_train_epochs": epochs, "eval_steps": 0.5}
        training |= {"learning_rate": 3e-3, "head_learning_rate": 2e-2}
        settings = experiment(
            "parsing", both, tiny_encoder, head=head | {"span_width": 32}, training=training
        )
        train(settings, folder / name)
    return folder


@pytest.mark.parametrize("name", ["joint", "separate"])
def test_both_views_are_learned(runs, files, name):
    scores = evaluate(runs / name, ["+".join(files)])
    assert scores["bracket_f1"] > 85
    assert scores["las"] > 80


def test_a_single_view_is_learned_and_scored(runs, files):
    phrases = evaluate(runs / "constituents", [files[1]])
    assert phrases["bracket_f1"] > 85
    assert "uas" not in phrases
    assert phrases["xpos"] > 80
    arcs = evaluate(runs / "dependencies", ["+".join(files)])
    assert arcs["las"] > 80
    assert "bracket_f1" not in arcs


def test_a_phrase_parser_gets_heads_from_rules(runs, files):
    task = ParsingTask.from_pretrained(runs / "constituents")
    assert task.primary == "bracket_f1"
    again = experiment("parsing", files[1], str(runs / "constituents"), preset="saved")
    assert ParsingTask.primaries(again)[0] == task.primary
    for parse in task.predict(task.read(files[1])):
        assert agree(parse.constituents, parse.heads)


@pytest.mark.parametrize("decoding", ["dependencies", "separate", "joint"])
def test_untrained_arcs_are_not_output(runs, decoding):
    parser = load_parser(runs / "constituents", decoding=decoding, max_words=5)
    (parse,) = parser.parse([Sentence.from_words(SENTENCES[0].split())])
    assert agree(parse.constituents, parse.heads)
    for head, relation in zip(parse.heads, parse.relations, strict=True):
        assert relation in (("root",) if head == 0 else ("dep", "parataxis"))
    assert parse.probabilities is None


def test_joint_decoding_gives_one_tree_in_two_views(runs, files):
    task = ParsingTask.from_pretrained(runs / "joint")
    assert task.parser.decoding == "joint"
    for parse in task.predict(task.read(files[0])):
        assert agree(parse.constituents, parse.heads)


def test_batching_does_not_change_phrases(runs, files):
    sentences = [example.gold.sentence for example in read_treebank(files[0])[:8]]
    for decoding in ("joint", "separate"):
        parser = JointParser.from_pretrained(runs / "joint", decoding=decoding)
        together = parser.parse(sentences)
        alone = [parser.parse([sentence])[0] for sentence in sentences]
        assert [p.constituents for p in together] == [p.constituents for p in alone]
        assert [p.heads for p in together] == [p.heads for p in alone]


def test_sentences_too_long_for_joint_decoding_are_decoded_separately(runs, files, monkeypatch):
    sentences = [example.gold.sentence for example in read_treebank(files[0])[:4]]
    separate = JointParser.from_pretrained(runs / "joint", decoding="separate").parse(sentences)
    monkeypatch.setattr("syntagma.parse.decode.MAX_JOINT_WORDS", 3)
    found = JointParser.from_pretrained(runs / "joint", decoding="joint").parse(sentences)
    assert [p.heads for p in found] == [p.heads for p in separate]
    assert [p.constituents for p in found] == [p.constituents for p in separate]


def test_a_long_sentence_does_not_change_how_others_are_decoded(runs, files, monkeypatch):
    sentences = [example.gold.sentence for example in read_treebank(files[0])[:8]]
    most = sorted(map(len, sentences))[4]
    monkeypatch.setattr("syntagma.parse.decode.MAX_JOINT_WORDS", most)
    parser = JointParser.from_pretrained(runs / "joint", decoding="joint")
    separate = JointParser.from_pretrained(runs / "joint", decoding="separate")
    assert any(len(sentence) > most for sentence in sentences)
    for sentence, found in zip(sentences, parser.parse(sentences), strict=True):
        (alone,) = (separate if len(sentence) > most else parser).parse([sentence])
        assert (found.heads, found.constituents) == (alone.heads, alone.constituents)
        assert found.relations == alone.relations


def test_sentences_split_into_parts_keep_their_phrases(runs, files):
    sentence = read_treebank(files[0])[1].gold.sentence
    parser = JointParser.from_pretrained(runs / "separate", decoding="separate", max_words=5)
    (parse,) = parser.parse([sentence])
    assert all(0 <= start < end <= len(sentence) for _, start, end in parse.constituents)
    assert {start // 5 for _, start, _ in parse.constituents} > {0}


def test_predictions_in_both_formats(runs, files, tmp_path):
    count = predict(runs / "joint", [files[1]], tmp_path / "out.ptb")
    trees = list(read_brackets(tmp_path / "out.ptb"))
    assert len(trees) == count == 24
    assert [tree.forms for tree in trees] == [tree.forms for tree in read_brackets(files[1])]
    predict(runs / "joint", [files[1]], tmp_path / "out.conllu")
    assert len(read_treebank(tmp_path / "out.conllu")) == 24


def test_scores_by_relation_and_by_length(runs, files):
    scores = evaluate(runs / "joint", [files[0]], by=["relation", "length"])
    words = [value for key, value in scores.items() if key.endswith(".words")]
    assert sum(words) == 2 * scores["words"]
    assert {"relation.root.las", "length.1-10.uas", "length.11-20.words"} <= scores.keys()
    with pytest.raises(InputError, match=naming("--by size parsing relation length")):
        evaluate(runs / "joint", [files[0]], by=["size"])


def test_a_parser_without_phrases_rejects_phrase_decoding(runs):
    with pytest.raises(InputError, match=naming("phrases brackets dependencies")):
        JointParser.from_pretrained(runs / "dependencies", decoding="separate")


class TestPairedTreebanks:
    def test_pairs_have_both_trees_of_each_sentence(self, files):
        examples = read_treebank("+".join(files))
        assert len(examples) == 24
        assert all(example.agrees for example in examples)
        assert examples[0].gold.constituents[0][1:] == (0, len(examples[0].gold))

    def test_names_in_capitals_are_those_of_the_same_formats(self, files, tmp_path):
        brackets(tmp_path / "TIDES.PTB")
        found = read_treebank(tmp_path / "TIDES.PTB")
        assert [one.gold for one in found] == [one.gold for one in read_treebank(files[1])]

    def test_broken_phrases_in_a_comment_are_skipped(self, tmp_path):
        path = tmp_path / "a.conllu"
        row = "1\tRain\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
        trees = ("(S (NN Rain))", "(S (NN Rain)", "(S (NN A) (NN b))", "(NN a) (NN b)")
        path.write_text("".join(f"# constituency = {tree}\n{row}" for tree in trees))
        (found,) = read_treebank(path, skip_bad=True)
        assert found.gold.constituents == (("S", 0, 1),)
        with pytest.raises(BadExampleError, match=naming("a.conllu line 4 constituency")):
            read_treebank(path)

    def test_brackets_alone_get_heads_by_rule(self, files):
        (example, *_) = read_treebank(files[1])
        assert example.source is None
        assert example.gold.heads.count(0) == 1
        assert example.gold.upos == ("_",) * len(example.gold)

    def test_incompatible_trees_are_counted(self, files, tmp_path, caplog):
        lines = Path(files[1]).read_text().splitlines(keepends=True)
        words = [f"(NN {form})" for form in next(iter(read_brackets(files[1]))).forms]
        # The third word depends on the second, but the head of the phrase of both is the first.
        lines[0] = f"(TOP (S (X {words[0]} {words[1]}) {' '.join(words[2:])}))\n"
        other = tmp_path / "other.ptb"
        other.write_text("".join(lines))
        with caplog.at_level(logging.WARNING):
            examples = read_treebank(f"{files[0]}+{other}")
        assert [example.agrees for example in examples] == [False] + [True] * 23
        assert says(caplog.text, "1 24 sentences")

    def test_pairs_with_other_words_are_rejected(self, files, tmp_path):
        lines = Path(files[1]).read_text().splitlines(keepends=True)
        forms = next(iter(read_brackets(files[1]))).forms
        lines[0] = f"(TOP (S {' '.join(f'(NN {form}x)' for form in forms)}))\n"
        other = tmp_path / "other.ptb"
        other.write_text("".join(lines))
        with pytest.raises(
            InputError, match=naming("other.ptb line 1 tree 1 'Thex' tides.conllu 'The'")
        ):
            read_treebank(f"{files[0]}+{other}")

    def test_pairs_with_another_number_of_words_are_rejected(self, files, tmp_path):
        short = tmp_path / "short.ptb"
        lines = Path(files[1]).read_text().splitlines(keepends=True)
        short.write_text("".join([lines[0], "(TOP (NN salt))\n", *lines[2:]]))
        with pytest.raises(InputError, match=naming("short.ptb line 2 tree 2 1 tides.conllu 13")):
            read_treebank(f"{files[0]}+{short}")
        assert len(read_treebank(f"{files[0]}+{short}", skip_bad=True)) == 23

    def test_pairs_with_another_number_of_sentences_are_rejected(self, files, tmp_path):
        short = tmp_path / "short.ptb"
        short.write_text("".join(Path(files[1]).read_text().splitlines(keepends=True)[:5]))
        with pytest.raises(InputError, match=naming("tides.conllu short.ptb")):
            read_treebank(f"{files[0]}+{short}")

    def test_pairs_in_the_wrong_order_are_rejected(self, files):
        with pytest.raises(InputError, match=naming("tides.conllu .ptb train.conllu+train.ptb")):
            read_treebank(f"{files[1]}+{files[0]}")


def test_dev_data_must_have_the_primary_metric(files, tiny_encoder, tmp_path):
    settings = experiment("parsing", files[1], tiny_encoder, head={"views": "dependencies"})
    with pytest.raises(InputError, match=naming("data.dev las xpos")):
        train(settings, tmp_path / "run")


def test_every_sentence_is_scored_on_its_own_annotation(runs, files):
    """Even if treebanks share sentence ids, or have only phrases or only dependencies."""
    task = ParsingTask.from_pretrained(runs / "joint")
    examples = [*task.read("+".join(files)), *task.read(files[0]), *task.read(files[1])]
    parses = task.predict(examples)
    rows = list(task.score_examples(examples, parses).values())
    assert len(rows) == len(examples)
    scores = task.score(examples, parses)
    total = {name: sum(row[name] for row in rows) for name in rows[0]}
    assert scores["las"] == pytest.approx(100 * total["las"] / total["words"])
    assert scores["bracket_f1"] == pytest.approx(
        200 * total["brackets_matched"] / (total["brackets_predicted"] + total["brackets_gold"])
    )


@pytest.mark.parametrize("views", ["both", "constituents"])
@pytest.mark.parametrize("which", ["+", "dependencies"])
def test_every_trainable_parameter_gets_a_gradient(files, tiny_encoder, views, which):
    """Under DDP every rank waits for all gradients, so no batch may skip a parameter."""
    examples = ParsingTask.read("+".join(files))
    settings = experiment("parsing", files[1], tiny_encoder, head={"views": views})
    task = ParsingTask.new(settings, examples)
    chosen = examples if which == "+" else ParsingTask.read(files[0])
    features = task.features(chosen)
    loss = task.model.train()(**task.collate([features[0], features[1]])).loss
    loss.backward()
    unreached = {
        name for name, weights in task.model.named_parameters()
        if weights.requires_grad and weights.grad is None and not name.startswith("encoder.")
    }  # fmt: skip
    assert not unreached
