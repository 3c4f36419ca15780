"""Multiple choice: the sequences that the model reads, and the scores."""

from __future__ import annotations

import json
from typing import get_args

import pytest
import torch

from syntagma.errors import InputError
from syntagma.evaluation import evaluate, predict
from syntagma.models.choice_model import ChoiceHead, ChoiceModel, Layout
from syntagma.parse.corpora.annotator import AnnotationSettings
from syntagma.syntax.encode import concatenate
from syntagma.tasks.annotation import annotate_files
from syntagma.tasks.choice.chooser import Chooser
from syntagma.tasks.choice.task import ChoiceTask
from syntagma.training.run import train
from tests.builders import dream, experiment
from tests.conftest import SENTENCES
from tests.messages import naming

LAYOUTS = get_args(Layout)


@pytest.fixture(scope="module")
def chooser(tiny_encoder):
    return new_chooser(tiny_encoder)


def new_chooser(encoder, source="linear", **head):
    from syntagma.encoders.load import load_tokenizer
    from syntagma.parse.sources.load import load_source

    torch.manual_seed(0)
    model = ChoiceModel.from_encoder(
        encoder,
        task="choice",
        guides={"ancestor_attention": {}, "pos_embedding": {}, "coattention": {}},
        head={"max_length": 60} | head,
        parser="linear",
    )
    return Chooser(model, load_tokenizer(encoder), source=load_source(source))


def decoded(chooser, part):
    text = part.text
    spelled = chooser.tokenizer.decode(text.pieces[part.begin : part.end])
    return spelled.replace("##", "").replace(" ", "")


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"passage": "x"}, "question 1 (passage, question, options)"),
        ("abc", "question 1 (passage, question, options) 'abc'"),
        (("A gull.", "Who?", "ab"), "list options ab"),
        (("A gull.", "Who?", {"a": 1, "b": 2}), "list options {'a': 1, 'b': 2}"),
    ],
)
def test_stream_rejects_items_of_another_shape(item, message, chooser):
    with pytest.raises(InputError, match=naming(message)):
        next(chooser.stream([item]))


class TestSequences:
    def test_question_and_option_follow_the_passage(self, chooser):
        (item,) = chooser.items([("A gull cried.", "Who cried?", ["the gull", "nobody"])])
        first, second = item.sequences[1]
        assert decoded(chooser, first) == decoded(chooser, item.sequences[0][0])
        assert decoded(chooser, second) == "whocried?nobody"
        assert not item.truncated

    def test_only_the_option_is_the_second_text_in_the_other_layout(self, tiny_encoder):
        other = new_chooser(tiny_encoder, layout="passage+question|option")
        (item,) = other.items([("A gull cried.", "Who cried?", ["the gull", "nobody"])])
        first, second = item.sequences[1]
        assert decoded(other, first) == "agullcried.whocried?"
        assert decoded(other, second) == "nobody"

    def test_question_and_option_precede_the_passage(self, tiny_encoder):
        other = new_chooser(tiny_encoder, layout="question+option|passage")
        (item,) = other.items([("A gull cried.", "Who cried?", ["the gull", "nobody"])])
        first, second = item.sequences[1]
        assert decoded(other, first) == "whocried?nobody"
        assert decoded(other, second) == "agullcried."
        # Still only the passage is truncated.
        (long,) = other.items([(" ".join(SENTENCES), "Who cried?", ["a gull", SENTENCES[0]])])
        assert long.truncated
        assert decoded(other, long.sequences[1][0]).endswith("dawn.")
        assert [len(first) + len(second) for first, second in long.sequences] == [57, 57]

    def test_blanks_are_filled_only_if_the_setting_is_on(self, tiny_encoder):
        question = ("A gull cried.", "The _ cried.", ["gull", "crew"])
        for fill, expected in ((True, "thegullcried."), (False, "the_cried.gull")):
            chosen = new_chooser(tiny_encoder, fill_blank=fill)
            (item,) = chosen.items([question])
            found = decoded(chosen, item.sequences[0][1]).replace("[UNK]", "_")
            assert found == expected

    def test_only_the_passage_is_truncated(self, chooser):
        passage = " ".join(SENTENCES)
        (item,) = chooser.items([(passage, "Who cried?", ["a gull", SENTENCES[0]])])
        assert item.truncated
        assert item.length == 60
        for first, second in item.sequences:
            assert len(first) + len(second) == 57
        assert decoded(chooser, item.sequences[1][1]).endswith("dawn.")
        # Even a very long option leaves a quarter of the sequence to the passage.
        (long,) = chooser.items([(passage, "Who?", ["a gull", passage])])
        assert len(long.sequences[1][0]) == 57 // 4
        assert long.length == 60

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_a_long_question_does_not_truncate_the_options(self, tiny_encoder, layout):
        chooser = new_chooser(tiny_encoder, layout=layout)
        question = "Who " + "and who " * 60 + "cried?"
        (item,) = chooser.items([("A gull cried.", question, ["a gull", "nobody"])])
        assert item.truncated
        assert item.length <= 60
        part = 0 if layout.endswith("passage") else 1
        for parts, option in zip(item.sequences, ("agull", "nobody"), strict=True):
            assert decoded(chooser, parts[part]).endswith(option)
        one, two = chooser.choose("A gull cried.", question, ["a gull", "nobody"]).probabilities
        assert one != two

    def test_questions_may_be_empty_and_differ_in_number_of_options(self, chooser):
        questions = [
            ("A gull cried.", "Who?", ["a", "b"]),
            ("Rain fell.", "", ["on the roofs", "on the town", "nowhere", "up", "down"]),
        ]
        together = list(chooser.stream(questions))
        assert [len(choice.probabilities) for choice in together] == [2, 5]
        for question, choice in zip(questions, together, strict=True):
            alone = chooser.choose(*question)
            assert alone.chosen == choice.chosen
            assert alone.probabilities == pytest.approx(choice.probabilities, abs=1e-2)
            assert sum(choice.probabilities) == pytest.approx(1)
            assert choice.option == question[2][choice.chosen]

    def test_joined_texts_keep_their_syntax_apart(self, chooser):
        texts = chooser.texts.encode(["A gull cried.", "Who cried?", "the gull"])
        joined = concatenate(list(texts.values()))
        enter, exit_, word = (joined.syntax[name] for name in ("enter", "exit", "word"))
        borders = [0]
        for text in texts.values():
            borders.append(borders[-1] + len(text))
        for begin, end in zip(borders[:-1], borders[1:], strict=True):
            inside = slice(begin, end)
            outside = [i for i in range(len(joined)) if not begin <= i < end and word[i] >= 0]
            low, high = enter[inside].min(), exit_[inside].max()
            assert all(not low <= enter[i] < high for i in outside)
        assert word.max() + 1 == joined.n_words == sum(t.n_words for t in texts.values())

    @pytest.mark.parametrize(
        ("question", "message"),
        [
            ((" ", "q", ["a", "b"]), "passage empty"),
            (("p", "q", ["a"]), "two options 1"),
        ],
    )
    def test_invalid_questions_are_rejected(self, chooser, question, message):
        with pytest.raises(InputError, match=naming(message)):
            chooser.choose(*question)

    def test_lengths_are_checked(self, tiny_encoder):
        with pytest.raises(InputError, match=naming("head.max_length 500 160")):
            new_chooser(tiny_encoder, max_length=500).choose("p", "q", ["a", "b"])
        for values, message in (
            ({"max_length": 2}, "max_length 16 2"),
            ({"dropout": 1}, "dropout [0, 1) 1"),
        ):
            with pytest.raises(InputError, match=naming(message)):
                ChoiceHead(**values)


@pytest.mark.parametrize("fill", [True, False])
def test_an_annotated_file_has_all_texts_that_a_model_reads(fill, tmp_path, tiny_encoder):
    pytest.importorskip("pyarrow")
    questions = [
        {"question": " The _ cried; the _ slept.", "choice": ["gull ", "crew"]},
        {"question": "Who cried?", "choice": ["the gull", " "]},
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps([[["A gull cried. "], questions, "1"]]))
    chosen = AnnotationSettings(kind="choice", parser="linear")
    annotate_files([str(path)], tmp_path / "parsed", chosen, workers=1)
    stored = new_chooser(tiny_encoder, f"parquet:{tmp_path / 'parsed'}", fill_blank=fill)
    parsed = new_chooser(tiny_encoder, fill_blank=fill)
    examples = ChoiceTask.read(path)
    assert ChoiceTask(stored).predict(examples) == ChoiceTask(parsed).predict(examples)


def test_it_learns_and_predicts(tmp_path, tiny_encoder):
    data = dream(tmp_path / "train.json")
    settings = experiment(
        "choice", data, tiny_encoder, preset="poi-net", parser="linear",
        hidden_dropout=0.0, attention_dropout=0.0,
        training={"num_train_epochs": 8, "learning_rate": 3e-3, "batch_tokens": 1024},
    )  # fmt: skip
    train(settings, tmp_path / "run")
    scores = evaluate(tmp_path / "run", [data], by=["subset"])
    assert scores["accuracy"] > 75
    assert scores["total"] == 24
    assert scores["truncated"] == 0
    count = predict(tmp_path / "run", [data], tmp_path / "out.json")
    rows = json.loads((tmp_path / "out.json").read_text())
    assert count == len(rows) == 24
    assert all(sum(row["probabilities"]) == pytest.approx(1, abs=1e-4) for row in rows.values())


def test_unlabelled_questions_are_only_predicted(tmp_path, tiny_encoder):
    rows = [[["x y."], [{"question": "q", "choice": ["a", "b"]}], "1"]]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows))
    with pytest.raises(InputError, match=naming("data.train 1")):
        train(experiment("choice", str(path), tiny_encoder), tmp_path / "run")
    task = ChoiceTask(new_chooser(tiny_encoder))
    examples = task.read(path)
    with pytest.raises(InputError, match=naming("question 1-0 answer")):
        task.features(examples)
    with pytest.raises(InputError, match=naming("1 `syntagma predict`")):
        task.evaluate(examples)
    assert len(task.predict(examples)) == 1
