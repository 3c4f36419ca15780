"""Attention weights and co-attention scores of models, and figures that show them."""

from __future__ import annotations

import re
import shutil
from typing import get_args

import numpy as np
import pytest
from typer.testing import CliRunner

from syntagma.analysis.attention.draw import draw_attention, draw_turns
from syntagma.analysis.attention.matrices import attention_matrix
from syntagma.analysis.attention.observation import (
    observe_reading,
    open_predictor,
    sentences_of,
)
from syntagma.analysis.attention.word_scores import answer_scores, turn_scores
from syntagma.cli import app
from syntagma.encoders.load import load_tokenizer
from syntagma.errors import InputError
from syntagma.models.choice_model import ChoiceHead, ChoiceModel, Layout
from syntagma.models.guides import resolve_guides
from syntagma.models.pair_model import PairHead, PairModel
from syntagma.models.span_model import SpanModel
from syntagma.parse.sources.load import load_source
from syntagma.settings import to_dict
from syntagma.tasks.choice.chooser import Chooser
from syntagma.tasks.layout import TextPair
from syntagma.tasks.pairs.task import PairClassifier
from syntagma.tasks.spans.reader import Reader
from tests.conftest import SENTENCES
from tests.messages import naming

PASSAGE = " ".join(SENTENCES[:6])
LAYOUTS = get_args(Layout)
QUESTION = "Who counted the crates of oranges?"


def reader(encoder, preset="none", **head):
    model = SpanModel.from_encoder(
        encoder,
        task="spans",
        guides=resolve_guides(preset, {}),
        head={"max_length": 120, "doc_stride": 40, "max_question_length": 30} | head,
        parser="linear",
    )
    source = {"source": load_source("linear")} if model.reads_syntax else {}
    return Reader(model, load_tokenizer(encoder), precision="float32", **source)


def chooser(encoder, preset="none", **head):
    settings = to_dict(ChoiceHead(max_length=120, **head))
    model = ChoiceModel.from_encoder(
        encoder, task="choice", guides=resolve_guides(preset, {}), head=settings, parser="linear"
    )
    source = {"source": load_source("linear")} if model.reads_syntax else {}
    return Chooser(model, load_tokenizer(encoder), precision="float32", **source)


def save(predictor, folder):
    folder.mkdir()
    predictor.model.save_pretrained(folder)
    predictor.tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory, tiny_encoder):
    root = tmp_path_factory.mktemp("models")
    return {
        name: save(reader(tiny_encoder, name), root / name)
        for name in ("none", "sg-net", "poi-net", "seprem")
    }


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "ferry.txt"
    path.write_text(PASSAGE, encoding="utf-8")
    return path


def spelled(predictor, layout):
    """Return the pieces of each text in the batch."""
    ids = layout.batch["input_ids"][0]
    return [
        predictor.tokenizer.decode(ids[s.begin : s.begin + len(s.pieces)])
        .replace(" ", "")
        .replace("##", "")
        for s in layout.stretches
    ]


def named(predictor, layout):
    """Return the pieces of each text by its name, in the order of the sequence."""
    names = [stretch.name for stretch in layout.stretches]
    return dict(zip(names, spelled(predictor, layout), strict=True))


def normalised(text):
    """Return a text in lower case without spaces."""
    return "".join(text.lower().split())


class TestLayingOut:
    def test_the_input_of_a_reader(self, tiny_encoder):
        found = reader(tiny_encoder)
        layout = found.lay_out(TextPair(SENTENCES[0], SENTENCES[4]))
        assert [stretch.text for stretch in layout.stretches] == [SENTENCES[0], SENTENCES[4]]
        assert spelled(found, layout) == [normalised(SENTENCES[0]), normalised(SENTENCES[4])]

    def test_the_window_contains_the_requested_span(self, tiny_encoder):
        found = reader(tiny_encoder, max_length=90, doc_stride=20)
        start = PASSAGE.index(SENTENCES[4])
        place = (start, start + 10)
        first = found.lay_out(TextPair(PASSAGE, QUESTION)).stretches[0].pieces
        other = found.lay_out(TextPair(PASSAGE, QUESTION, place=place)).stretches[0].pieces
        assert first.starts[0] == 0
        assert first.ends[-1] < place[1]
        assert other.starts[0] <= place[0] < place[1] <= other.ends[-1]

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_the_input_of_a_multiple_choice_model(self, tiny_encoder, layout):
        found = chooser(tiny_encoder, layout=layout)
        options = ("a gull", "the crew")
        laid_out = found.lay_out(TextPair(SENTENCES[4], "Who tied the ropes?", options, 1))
        expected = {
            "passage": normalised(SENTENCES[4]),
            "question": "whotiedtheropes?",
            "option": "thecrew",
        }
        assert named(found, laid_out) == expected
        assert [*named(found, laid_out)] == re.split(r"[|+]", layout)
        # A passage that is too long is truncated; the question is not.
        long = found.lay_out(TextPair(" ".join(SENTENCES), "Who tied the ropes?", options, 1))
        assert named(found, long) | {"passage": expected["passage"]} == expected
        with pytest.raises(InputError, match=naming("option 1 2 3")):
            found.lay_out(TextPair(SENTENCES[4], "Who?", options, 2))

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_the_input_with_a_truncated_question(self, tiny_encoder, layout):
        found = chooser(tiny_encoder, layout=layout)
        question = "who of the many people there " * 12 + "tied the ropes?"
        laid_out = found.lay_out(TextPair(SENTENCES[4], question, ("a gull", "the crew"), 1))
        texts = named(found, laid_out)
        passage, found_question, option = (
            texts[name] for name in ("passage", "question", "option")
        )
        assert normalised(SENTENCES[4]).startswith(passage)
        assert passage
        assert normalised(question).startswith(found_question)
        assert 20 < len(found_question) < len(normalised(question))
        assert option == "thecrew"

    def test_the_input_of_a_fill_in_question(self, tiny_encoder):
        found = chooser(tiny_encoder, fill_blank=True)
        layout = found.lay_out(TextPair(SENTENCES[4], "A _ cried.", ("gull", "crew")))
        assert spelled(found, layout) == [normalised(SENTENCES[4]), "agullcried."]


class TestAttention:
    def matrix(self, predictor, layer=None, head=None, text=PASSAGE):
        texts = TextPair(text, QUESTION)
        (question,) = sentences_of([predictor], QUESTION)
        shown = [(QUESTION, question)]
        return attention_matrix(
            observe_reading("m", predictor, texts), shown, layer=layer, head=head
        )

    def test_the_guided_layer_attends_to_ancestors_only(self, tiny_encoder):
        found = self.matrix(reader(tiny_encoder, "sg-net"), head=2)
        assert found.title == "m: guided layer, head 2 of 4"
        assert found.rows == found.columns == tuple("Who counted the crates of oranges ?".split())
        weights = np.array(found.weights)
        # If each word depends on the previous one, its ancestors are all words before it.
        assert np.array_equal(weights > 0, np.tri(7, dtype=bool))
        assert weights.sum(1) == pytest.approx(np.ones(7), abs=1e-3)
        assert max(found.elsewhere) < 1e-3

    def test_the_plain_layer_attends_to_the_passage(self, tiny_encoder):
        found = self.matrix(reader(tiny_encoder))
        assert found.title == "m: layer 2 of 2, mean of 4 heads"
        assert min(found.elsewhere) > 0.05
        heads = [self.matrix(reader(tiny_encoder), head=head) for head in range(1, 5)]
        mean = np.mean([head.weights for head in heads], 0)
        assert mean == pytest.approx(np.array(found.weights), abs=1e-4)
        assert np.abs(np.array(heads[0].weights) - np.array(heads[1].weights)).max() > 1e-4
        first = self.matrix(reader(tiny_encoder), layer=1)
        assert np.abs(np.array(first.weights) - np.array(found.weights)).max() > 1e-4

    def test_weights_are_averaged_over_the_pieces_of_a_row_and_summed_over_those_of_a_column(
        self, tiny_encoder
    ):
        predictor = reader(tiny_encoder)
        seen = observe_reading("m", predictor, TextPair(PASSAGE, QUESTION))
        (question,) = sentences_of([predictor], QUESTION)
        stretch = seen.layout.stretches[1]
        pieces = [
            [
                stretch.begin + piece
                for piece in range(len(stretch.pieces))
                if start <= stretch.pieces.starts[piece] < end
            ]
            for start, end in zip(question.starts, question.ends, strict=True)
        ]
        assert max(map(len, pieces)) > 1
        weights = seen.observed.layers[-1][0, 0]
        expected = [[float(weights[row][:, to].sum(1).mean()) for to in pieces] for row in pieces]
        found = attention_matrix(seen, [(QUESTION, question)], head=1).weights
        assert np.array(found) == pytest.approx(np.array(expected), abs=1e-4)

    def test_unknown_layers_and_heads_are_rejected(self, tiny_encoder):
        for options, message in (
            ({"layer": 3}, "m layer 1 2 3"),
            ({"layer": "guided"}, "m guided none layer 1 2"),
            ({"head": 5}, "m head 1 4 5"),
        ):
            with pytest.raises(InputError, match=naming(message)):
                self.matrix(reader(tiny_encoder), **options)

    def test_the_attention_of_a_sentence_pair_model(self, tiny_encoder):
        model = PairModel.from_encoder(
            tiny_encoder, task="pairs", head=to_dict(PairHead()), labels={"labels": ["no", "yes"]}
        )
        pairs = PairClassifier(model, load_tokenizer(tiny_encoder), precision="float32")
        seen = observe_reading("m", pairs, TextPair(SENTENCES[0], SENTENCES[4]))
        sentences = [(t, s) for t in (SENTENCES[0], SENTENCES[4]) for s in sentences_of([], t)]
        found = attention_matrix(seen, sentences)
        assert len(found.rows) == sum(len(sentence) for _, sentence in sentences)
        # All words are shown, so the rest is attention to [CLS] and [SEP].
        assert 0 < max(found.elsewhere) < 0.5


class TestTurns:
    def test_scores_of_words(self, tiny_encoder):
        for predictor, texts, titles in (
            (reader(tiny_encoder, "poi-net"), TextPair(PASSAGE, QUESTION), ("passage", "question")),
            (
                chooser(tiny_encoder, "poi-net"),
                TextPair(SENTENCES[4], QUESTION, ("a gull", "the crew"), 1),
                ("passage", "question", "option"),
            ),
        ):
            seen = observe_reading("m", predictor, texts)
            parts = [sentences_of([predictor], s.text) for s in seen.layout.stretches]
            found = turn_scores(seen, parts)
            assert tuple(part.title for part in found) == tuple(f"m: {title}" for title in titles)
            for part in found:
                assert len(part.scores) == 3
                assert all(score != score or 0 <= score <= 1 for t in part.scores for score in t)
            for turn in range(3):
                words = [score for part in found for score in part.scores[turn] if score == score]
                assert max(words) - min(words) > 0.1

    def test_truncated_words_have_no_score(self, tiny_encoder):
        predictor = reader(tiny_encoder, "poi-net", max_length=90)
        seen = observe_reading("m", predictor, TextPair(PASSAGE, QUESTION))
        parts = [sentences_of([predictor], s.text) for s in seen.layout.stretches]
        passage = turn_scores(seen, parts)[0]
        assert not np.isnan(passage.scores[0][0])
        # The words are followed by the separator token.
        assert passage.words[0] == "[CLS]"
        assert passage.words[-1] == "[SEP]"
        assert np.isnan([turn[-2] for turn in passage.scores]).all()
        assert not np.isnan([turn[-1] for turn in passage.scores]).any()

    def test_special_tokens_are_at_their_position(self, tiny_encoder):
        predictor = reader(tiny_encoder, "poi-net")
        seen = observe_reading("m", predictor, TextPair(SENTENCES[4], QUESTION))
        parts = [sentences_of([predictor], s.text) for s in seen.layout.stretches]
        passage, question = turn_scores(seen, parts)
        assert (passage.words[0], passage.words[-1]) == ("[CLS]", "[SEP]")
        assert question.words[0] != "[SEP]" == question.words[-1]
        first = seen.observed.turns[:, 0, 0].tolist()
        assert [turn[0] for turn in passage.scores] == pytest.approx(first, abs=1e-4)

    def test_answer_scores_of_readers(self, tiny_encoder):
        predictor = reader(tiny_encoder)
        seen = observe_reading("m", predictor, TextPair(SENTENCES[4], QUESTION))
        sentences = sentences_of([predictor], SENTENCES[4])
        found = answer_scores(seen, sentences)
        assert found.names == ("start", "end")
        assert len(found.words) == sum(map(len, sentences))
        # The remainder is the probability of no answer.
        for row in found.scores:
            assert 0 < sum(row) < 1
        best = predictor.answer(SENTENCES[4], QUESTION, threshold=float("inf")).prediction.spans[0]
        shares = dict(zip(found.words, found.scores[0], strict=True))
        assert max(shares.values()) >= best.probability
        pair = observe_reading(
            "m", chooser(tiny_encoder), TextPair(SENTENCES[4], QUESTION, ("a", "b"), 0)
        )
        with pytest.raises(InputError, match=naming("m reader")):
            answer_scores(pair, sentences)

    def test_models_without_scores_are_rejected(self, tiny_encoder):
        seen = observe_reading("m", reader(tiny_encoder), TextPair(PASSAGE, QUESTION))
        with pytest.raises(InputError, match=naming("m coattention iterative poi-net")):
            turn_scores(seen, [])


class TestDrawing:
    def test_one_guided_model_is_drawn_with_its_last_encoder_layer(self, folders, text, tmp_path):
        out = tmp_path / "one.svg"
        titles = draw_attention([folders["sg-net"]], text, QUESTION, out=out, head=1)
        assert titles == ["sg-net: layer 2 of 2, head 1 of 4", "sg-net: guided layer, head 1 of 4"]
        for word in (*titles, "oranges", "elsewhere"):
            assert f">{word}<" in out.read_text()

    def test_two_models_are_drawn_with_the_same_words(self, folders, text, tmp_path):
        out = tmp_path / "two.svg"
        models = [folders["none"], folders["seprem"]]
        titles = draw_attention(models, text, QUESTION, out=out, show="2", layer="1")
        assert [title.partition(":")[0] for title in titles] == ["none", "seprem"]
        assert out.read_text().count(">Nobody<") == 4
        again = tmp_path / "again.svg"
        draw_attention(models, text, QUESTION, out=again, show="2", layer="1")
        assert again.read_bytes() == out.read_bytes()

    @pytest.mark.parametrize("show", ["answer", "both", "all"])
    def test_other_words_can_be_shown(self, folders, text, tmp_path, show):
        out = tmp_path / "words.svg"
        draw_attention([folders["none"]], text, QUESTION, out=out, show=show)
        first = QUESTION.split()[0]
        assert (f">{first}<" in out.read_text()) == (show != "answer")
        words = [word for word in ("gull", "ferry", "engines") if f">{word}<" in out.read_text()]
        assert len(words) == 3 if show == "all" else len(words) < 3

    def test_turns_are_drawn(self, folders, text, tmp_path):
        out = tmp_path / "turns.svg"
        draw_turns([folders["poi-net"]], text, QUESTION, out=out)
        assert out.read_text().count(">turn 3<") > 1
        assert out.read_text().count(">start<") >= 1
        assert ">poi-net: passage<" in out.read_text()

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"out": "a.pdf"}, "a.pdf .svg"),
            ({"layer": "last"}, "--layer guided last"),
            ({"show": "9"}, "--show question answer both all 1 6 9"),
            ({"options": ["a", "b"]}, "--options choice"),
            ({"passage": "nowhere.txt"}, "nowhere.txt"),
            ({"models": ["nowhere"]}, "nowhere default-parser default-reader"),
            ({"models": ["default-parser"]}, "default-parser parsing spans choice pairs"),
        ],
    )
    def test_invalid_input_writes_no_file(self, folders, text, tmp_path, changes, message):
        given = {"models": [folders["none"]], "passage": text, "out": "a.svg"} | changes
        given["out"] = tmp_path / "new" / given["out"]
        with pytest.raises(InputError, match=naming(message)):
            draw_attention(question=QUESTION, **given)
        assert not (tmp_path / "new").exists()

    def test_models_with_the_same_name_are_distinguished(self, folders, text, tmp_path):
        models = [tmp_path / name / "run" for name in ("one", "two")]
        for model in models:
            shutil.copytree(folders["none"], model)
        titles = draw_attention(models, text, QUESTION, out=tmp_path / "a.svg")
        assert [title.partition(":")[0] for title in titles] == ["one/run", "two/run"]

    @pytest.mark.parametrize("ignored", [["--layer", "2"], ["--head", "1"], ["--show", "all"]])
    def test_layers_and_turns_exclude_each_other(self, text, tmp_path, ignored):
        found = CliRunner().invoke(app, [
            "attention", "nowhere", "--passage", str(text), "--question", QUESTION,
            "--out", str(tmp_path / "a.svg"), "--turns", *ignored,
        ])  # fmt: skip
        assert re.search(naming("--layer --head --show"), str(found.exception))

    def test_a_chooser_needs_options(self, tiny_encoder, tmp_path, text):
        folder = save(chooser(tiny_encoder, "poi-net"), tmp_path / "chooser")
        with pytest.raises(InputError, match=naming("choice --options 'A | B'")):
            draw_turns([folder], text, QUESTION, out=tmp_path / "a.svg")
        titles = draw_turns(
            [folder], text, QUESTION, out=tmp_path / "a.svg", options=["a gull | the captain"]
        )
        assert titles == ["chooser: passage", "chooser: question", "chooser: option"]
        assert isinstance(open_predictor(folder), Chooser)
