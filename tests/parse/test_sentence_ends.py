"""Doubtful sentence ends, which the encoder of a parser decides on."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from transformers import AutoModel

from syntagma.encoders.lowest_layers import lowest_layers
from syntagma.parse.languages import RESCORED, Languages
from syntagma.parse.parser import JointParser
from syntagma.parse.scorer import ParserModel
from syntagma.parse.sentence_ends import WORDS_AROUND, EndRescorer, segment_together, windows_around
from syntagma.tasks.parsing.segmentation.end_training import texts_of, train_sentence_ends
from syntagma.tasks.parsing.segmentation.layouts import joined
from syntagma.text.segmentation.segment import segment
from syntagma.text.segmentation.segmenter import english

LABELS = {"relations": ["dep", "root"], "upos": ["NOUN"], "xpos": ["NN"], RESCORED: ["en"]}
ENDS = ["before dawn", "the river", "the old ferry"]
STARTS = ["Nobody", "The captain", "Rain"]
WITHIN = ["with Ada", "near Paris", "for Mary"]


def made_text(seed: int, n_sentences: int = 12):
    """Sentences without marks: a capital begins one, or is a name after a preposition."""
    draw = random.Random(seed)
    pick = draw.choice
    sentences = [f"{pick(STARTS)} crossed {pick(WITHIN)} {pick(ENDS)}" for _ in range(n_sentences)]
    return joined(sentences, " ")


@pytest.fixture
def parser(tiny_encoder, tokenizers) -> JointParser:
    torch.manual_seed(1)
    head = {"arc_width": 8, "relation_width": 4, "sentence_ends": "encoder"}
    model = ParserModel.from_encoder(tiny_encoder, task="parsing", head=head, labels=LABELS)
    return JointParser(model, tokenizers["wordpiece"])


@pytest.mark.parametrize("name", ["bert", "mpnet", "modernbert", "deberta-v2"])
def test_lowest_layers_are_those_of_the_encoder(encoder_folders, name):
    model = AutoModel.from_pretrained(encoder_folders[name]).eval()
    ids = torch.tensor([[0, 7, 9, 11, 2]])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    with torch.no_grad():
        before = model(**inputs).last_hidden_state
        lower = lowest_layers(model, 1)
        found = lower(**inputs).last_hidden_state
        layers = model(**inputs, output_hidden_states=True).hidden_states
    # ModernBERT ends with a norm, which is part of what its lowest layers give.
    expected = model.final_norm(layers[1]) if name == "modernbert" else layers[1]
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(layers[-1], before)
    own = {id(weight) for weight in model.parameters()}
    assert {id(weight) for weight in lower.parameters()} < own


def test_all_layers_of_an_unknown_encoder_are_computed():
    class Unknown(torch.nn.Module):
        config = type("Config", (), {"model_type": "unheard-of"})()

    encoder = Unknown()
    assert lowest_layers(encoder, 1) is encoder


def _states(rescorer, forms, first_words, gaps):
    return rescorer.states(windows_around(forms, np.array(first_words), np.array(gaps)))


def test_states_are_those_around_the_gap(parser):
    forms = ["Nobody", "crossed", "the", "river", "The", "captain", "left"]
    rescorer = parser.languages.rescorer
    states, known = _states(rescorer, forms, [0], [3])
    assert known.tolist() == [True]
    encoded = parser.encoder.encode([segment(" ".join(forms), mode="lines")[0]])
    batch = parser.encoder.collate(encoded)
    with torch.no_grad():
        found = rescorer.trunk(
            input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
        ).last_hidden_state[0]
    pieces = batch["word_of_piece"][0].tolist()
    last = len(pieces) - 1 - pieces[::-1].index(3)
    torch.testing.assert_close(states[0], torch.stack([found[last], found[pieces.index(4)]]))


def test_a_gap_is_read_with_the_words_of_its_paragraph_alone(parser):
    rescorer = parser.languages.rescorer
    forms = [*["river"] * 30, *["ferry"] * 30]
    both, _ = _states(rescorer, forms, [0, 30], [28, 31])
    alone, _ = _states(rescorer, forms[30:], [0], [1])
    torch.testing.assert_close(both[1:], alone)
    near = forms[28 + 1 - WORDS_AROUND : 30]
    first, _ = _states(rescorer, near, [0], [WORDS_AROUND - 1])
    torch.testing.assert_close(both[:1], first)


def test_words_that_are_too_long_to_read_leave_the_splitter_to_decide(parser):
    parser.languages.rescorer.max_content = 5
    forms = ["Nobody", "crossed", "the", "river", "The"]
    states, known = _states(parser.languages.rescorer, forms, [0], [3])
    assert known.tolist() == [False]
    assert not states.any()
    text = made_text(1).text
    assert _forms(parser.languages.segmenter_for(text), text) == _forms(english(), text)


class Fixed:
    """Gives each gap the same score, and records what it was asked."""

    def __init__(self, score: float, doubt: float = 3.0) -> None:
        self.score, self.doubt, self.asked = score, doubt, []

    def __call__(self, forms, first_words, features, scores):
        self.asked += [forms[gap] for gap in features.gaps.tolist()]
        assert (np.abs(scores) < self.doubt).all()
        return np.full(len(scores), self.score, np.float32)


def _forms(segmenter, text):
    return [sentence.forms for sentence in segment(text, segmenter=segmenter)]


def test_only_doubtful_places_are_asked_about():
    text = "The ferry left. Thanks Josh Nobody saw it."
    clear = Fixed(-9.0)
    assert len(_forms(english().rescored_by(clear), text)) == 2
    assert "." not in clear.asked
    sure = Fixed(9.0, doubt=0.0)
    assert _forms(english().rescored_by(sure), text) == _forms(english(), text)
    assert not sure.asked
    every = Fixed(9.0, doubt=1e9)
    assert len(_forms(english().rescored_by(every), text)) > 2


def test_training_finds_what_the_shapes_of_words_do_not_say(parser, monkeypatch):
    monkeypatch.setattr(EndRescorer, "doubt", 1e9)
    texts = [made_text(seed) for seed in range(150)]
    train_sentence_ends(parser, {"en": texts})
    wrong = {"words": 0, "encoder": 0}
    for seed in range(1000, 1010):
        document = made_text(seed)
        for name, segmenter in (
            ("words", english()),
            ("encoder", parser.languages.segmenter_for(document.text)),
        ):
            found = {(s.start, s.end) for s in segment(document.text, segmenter=segmenter)}
            wrong[name] += len(found ^ set(document.sentences))
    assert wrong["words"] > 50
    assert wrong["encoder"] < 10


def test_the_same_texts_and_seed_give_the_same_weights(parser):
    texts = {"en": [made_text(seed) for seed in range(10)]}
    found = []
    for seed in (1, 1, 2):
        torch.manual_seed(0)
        scorer = parser.model.sentence_ends
        for module in scorer.modules():
            if hasattr(module, "reset_parameters"):
                module.reset_parameters()
        train_sentence_ends(parser, texts, seed=seed)
        found.append(torch.cat([weight.flatten() for weight in scorer.parameters()]))
        assert not any(weight.requires_grad for weight in scorer.parameters())
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


def test_texts_without_a_doubtful_place_teach_nothing(parser, caplog):
    before = parser.model.sentence_ends.output.weight.clone()
    train_sentence_ends(parser, {"en": [joined(["ferry"], " ")]})
    assert "no place to learn from" in caplog.text
    assert torch.equal(parser.model.sentence_ends.output.weight, before)
    assert texts_of([]) == []


def test_many_texts_are_asked_about_in_one_call(parser, monkeypatch):
    monkeypatch.setattr(EndRescorer, "doubt", 1e9)
    texts = [made_text(seed).text for seed in range(12)]
    train_sentence_ends(parser, {"en": [made_text(seed) for seed in range(40)]})
    # One of them is so long that it is cut where sentences end.
    texts += [" ".join(made_text(seed, 60).text for seed in range(15))]
    segmenters = [parser.languages.segmenter_for(text) for text in texts]
    alone = [segment(text, segmenter=each) for text, each in zip(texts, segmenters, strict=True)]
    calls, score = [], EndRescorer.score

    def counted(self, windows, seen, scores):
        calls.append(len(windows))
        return score(self, windows, seen, scores)

    monkeypatch.setattr(EndRescorer, "score", counted)
    assert segment_together(texts, segmenters) == alone
    assert calls[0] > 100
    assert len(calls) < 4
    assert [[p.sentence for p in parses] for parses in parser.parse_texts(texts)] == alone
    assert segment_together(["Nobody left. It rained."], [None]) == [
        segment("Nobody left. It rained.")
    ]


def test_languages_that_it_does_not_know_are_cut_as_before():
    rescorer = Fixed(9.0, doubt=1e9)
    languages = Languages({"en": None, "fr": None}).rescored_by(rescorer, ["en"])
    assert languages.choose("fr").segmenter_for("any text") is None
    assert languages.choose("en").segmenter_for("any text") is not None
    unknown = Languages({"": None}).rescored_by(rescorer, [""])
    assert unknown.choose("tr").segmenter_for("any text") is not None


def test_a_saved_parser_cuts_as_before(parser, tokenizers, tmp_path):
    texts = [made_text(seed) for seed in range(20)]
    train_sentence_ends(parser, {"en": texts})
    parser.model.save_pretrained(tmp_path)
    tokenizers["wordpiece"].save_pretrained(tmp_path)
    loaded = JointParser.from_pretrained(tmp_path)
    for text in (document.text for document in texts[:5]):
        assert [parse.sentence for parse in loaded(text)] == [
            parse.sentence for parse in parser(text)
        ]
    assert loaded.for_language("en").languages.segmenter_for("any text") is not None


def test_its_weights_are_part_of_the_fingerprint(parser, tokenizers):
    before = parser.fingerprint
    with torch.no_grad():
        parser.model.sentence_ends.output.bias += 1
    assert JointParser(parser.model, tokenizers["wordpiece"]).fingerprint != before
