"""Joint decoding of batches with sentences that are too long for a joint chart."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from syntagma.encoders.load import load_tokenizer
from syntagma.parse import decode as decoding
from syntagma.parse.parser import JointParser
from syntagma.parse.scorer import ParserModel
from syntagma.text.sentence import Sentence

WORDS = "tides turn when the moon pulls and we read on".split()


@pytest.fixture(scope="module")
def parser(tiny_encoder):
    """A parser with random weights, large enough that the modes disagree."""
    torch.manual_seed(5)
    model = ParserModel.from_encoder(
        tiny_encoder,
        task="parsing",
        head={"arc_width": 16, "relation_width": 8, "span_width": 16, "span_share": 0.3},
        labels={
            "relations": ["dep", "nsubj", "root"],
            "upos": ["NOUN", "X"],
            "xpos": ["NN", "VB"],
            "constituents": ["NP", "S", "VP"],
        },
    )
    with torch.no_grad():
        for weights in (*model.arcs.parameters(), *model.spans.parameters()):
            weights.normal_(std=1.0)
    return JointParser(model, load_tokenizer(tiny_encoder), decoding="joint")


def decoded(parser, mode, lengths):
    parser.decoding = mode
    return [
        (parse.heads, parse.relations, parse.xpos, parse.constituents)
        for parse in parser.parse([Sentence.from_words(WORDS[:length]) for length in lengths])
    ]


@pytest.mark.parametrize("lengths", [(4, 9), (9, 4, 5, 7), (9, 9), (5,)])
def test_only_long_sentences_are_decoded_separately(parser, lengths, monkeypatch):
    joint, separate = (decoded(parser, mode, lengths) for mode in ("joint", "separate"))
    assert any(one != other for one, other in zip(joint, separate, strict=True))
    monkeypatch.setattr(decoding, "MAX_JOINT_WORDS", 5)
    expected = [
        one if length <= 5 else other
        for length, one, other in zip(lengths, joint, separate, strict=True)
    ]
    assert decoded(parser, "joint", lengths) == expected


def test_labels_are_cut_to_the_words_of_each_sentence(parser):
    for (heads, relations, xpos, _), length in zip(
        decoded(parser, "joint", (3, 8)), (3, 8), strict=True
    ):
        assert len(heads) == len(relations) == len(xpos) == length
        assert np.flatnonzero(np.array(heads) == 0).tolist() == [relations.index("root")]


def test_joint_trees_weigh_spans_and_arcs_by_the_span_share(parser, monkeypatch):
    labels_found, joint_inputs = [], []
    find_labels, find_trees = parser.model.spans.best_labels, decoding.best_joint_trees

    def best_labels(*arguments):
        labels_found.append(find_labels(*arguments))
        return labels_found[-1]

    def best_joint_trees(spans, arcs, n_words):
        joint_inputs.append((spans, arcs))
        return find_trees(spans, arcs, n_words)

    monkeypatch.setattr(parser.model.spans, "best_labels", best_labels)
    monkeypatch.setattr(decoding, "best_joint_trees", best_joint_trees)
    parser.decoding = "joint"
    sentence = Sentence.from_words(WORDS[:6])
    [encoded] = parser.encoder.encode([sentence])
    with torch.inference_mode():
        arcs = parser._score([encoded]).arcs
    [parse] = parser.parse([sentence])
    [best], [(spans_given, arcs_given)] = labels_found, joint_inputs
    share = parser.model.head.span_share
    torch.testing.assert_close(spans_given, share * best.scores)
    torch.testing.assert_close(arcs_given, (1 - share) * arcs)
    names = parser.model.config.labels["constituents"]
    assert parse.constituents
    for label, start, end in parse.constituents:
        assert label == names[best.labels[0, start, end] - 1]
