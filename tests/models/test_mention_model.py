"""Mentions are classified by the states of their opening markers."""

from __future__ import annotations

import pytest
import torch

from syntagma.encoders.config import SyntagmaConfig
from syntagma.errors import InputError
from syntagma.models.mention_model import MentionHead, RelationModel, TypingHead, TypingModel
from tests.conftest import tiny_config
from tests.messages import naming

LABELS = ["boat", "bird", "town"]


def model_of(kind, **head):
    torch.manual_seed(0)
    config = SyntagmaConfig(
        encoder=tiny_config("bert"), labels={"labels": LABELS}, head={"dropout": 0.0} | head
    )
    return kind(config).eval()


def inputs():
    torch.manual_seed(1)
    return {
        "input_ids": torch.randint(5, 90, (2, 9)),
        "attention_mask": torch.tensor([[1] * 9, [1] * 6 + [0] * 3]),
    }


def states_of(model, batch):
    return model.encoder(**batch).last_hidden_state


def test_types_are_scored_from_the_opening_marker():
    model, batch = model_of(TypingModel), inputs()
    gold = torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    with torch.no_grad():
        found = model(**batch, markers=torch.tensor([[3], [1]]), labels=gold)
        states = states_of(model, batch)
        expected = model.label_scores(torch.stack([states[0, 3], states[1, 1]]))
    torch.testing.assert_close(found.logits, expected)
    # Labels are scored independently; the loss is a mean over all.
    right = torch.where(gold > 0, expected.sigmoid(), 1 - expected.sigmoid())
    torch.testing.assert_close(found.loss, -right.log().mean())


def test_relations_are_scored_from_both_opening_markers():
    model, batch = model_of(RelationModel), inputs()
    with torch.no_grad():
        found = model(**batch, markers=torch.tensor([[6, 2], [1, 4]]), labels=torch.tensor([2, 0]))
        states = states_of(model, batch)
        joined = torch.stack(
            [torch.cat([states[0, 6], states[0, 2]]), torch.cat([states[1, 1], states[1, 4]])]
        )
        expected = model.label_scores(joined)
    torch.testing.assert_close(found.logits, expected)
    log = expected.log_softmax(-1)
    torch.testing.assert_close(found.loss, -(log[0, 2] + log[1, 0]) / 2)
    assert model(**batch, markers=torch.tensor([[6, 2], [1, 4]])).loss is None


def test_fitted_settings_are_saved():
    model = model_of(TypingModel)
    model.set_head(threshold=0.25)
    assert model.config.head.threshold == model.head.threshold == 0.25


@pytest.mark.parametrize(
    ("kind", "values", "message"),
    [
        (MentionHead, {"max_length": 15}, "max_length 16 15"),
        (MentionHead, {"dropout": 1.0}, "dropout [0, 1) 1.0"),
        (TypingHead, {"max_length": 2}, "max_length 16 2"),
        (TypingHead, {"threshold": 1.5}, "threshold 0 1 1.5"),
    ],
)
def test_settings_are_checked(kind, values, message):
    with pytest.raises(InputError, match=naming(message)):
        kind(**values)


def test_unknown_settings_are_reported():
    with pytest.raises(InputError, match=naming("head.markers head special tail")):
        model_of(TypingModel, markers="tail")
    with pytest.raises(InputError, match=naming("head threshold")):
        model_of(RelationModel, threshold=0.5)
