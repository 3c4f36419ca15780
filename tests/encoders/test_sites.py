"""Every row of the table of sites is correct for its encoder."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from syntagma.encoders.load import build_encoder
from syntagma.encoders.sites import SITES, last_layer, set_dropout
from syntagma.models.ancestor_attention import copy_layer, layer_like
from syntagma.tasks.pairs.task import PairClassifier
from syntagma.training.run import train
from tests.builders import experiment, pairs
from tests.conftest import SITED, save_encoder, tiny_config
from tests.guided import GUIDES, guided, whole_batch

COPIED = [name for name in SITED if SITES[name].layer_parts]
RELATIVE = {"deberta-v2", "jina_embeddings_v3", "mpnet", "roformer"}


def encoder_of(model_type, **dropout):
    torch.manual_seed(0)
    config = tiny_config(model_type)
    set_dropout(config, **dropout)
    return build_encoder(config), config


def states_of(encoder):
    ids = torch.tensor([[2, 5, 9, 14, 27, 3], [2, 7, 6, 3, 1, 1]])
    mask = (ids != 1).long()
    return encoder(input_ids=ids, attention_mask=mask).last_hidden_state[mask.bool()]


@pytest.mark.parametrize("model_type", SITED)
def test_the_row_names_the_word_embeddings_and_dropout(model_type):
    encoder, _ = encoder_of(model_type, hidden=0.0, attention=0.0)
    words = encoder.get_submodule(SITES[model_type].word_embeddings)
    assert isinstance(words, nn.Embedding)
    assert words.num_embeddings == 400
    with torch.no_grad():
        assert torch.equal(states_of(encoder.train()), states_of(encoder.eval()))
        for only in ("hidden", "attention"):
            if only == "attention" or SITES[model_type].hidden_dropout:
                dropping, _ = encoder_of(
                    model_type, **{"hidden": None, "attention": None, only: 0.5}
                )
                assert not torch.equal(states_of(dropping.train()), states_of(dropping.eval()))


@pytest.mark.parametrize("model_type", SITED)
def test_gradients_in_bfloat16_reach_the_embeddings(model_type):
    model = guided(model_type, **GUIDES).train()
    with torch.autocast("cpu", torch.bfloat16):
        states = model(**whole_batch()).last_hidden_state
    states.float().square().mean().backward()
    assert states.isfinite().all()
    words = model.trunk.get_submodule(SITES[model_type].word_embeddings).weight
    assert words.grad.isfinite().all()
    assert words.grad.any()


@pytest.mark.parametrize("model_type", COPIED)
def test_a_copied_layer_computes_the_same_as_the_original(model_type):
    """Except relative positions, which the copy does not have."""
    encoder, config = encoder_of(model_type, hidden=None, attention=None)
    layer = layer_like(config, SITES[model_type]).eval()
    for module in encoder.modules():
        if isinstance(module, nn.LayerNorm):
            nn.init.normal_(module.weight, 1.0, 0.1)
    copy_layer(layer, encoder, SITES[model_type])
    read, left = [], []
    source = last_layer(encoder.eval(), SITES[model_type])
    source.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0]))
    source.register_forward_hook(
        lambda _, __, output: left.append(output[0] if isinstance(output, tuple) else output)
    )
    ids = torch.tensor([[2, 5, 9, 14, 27, 3]])
    with torch.no_grad():
        encoder(input_ids=ids, attention_mask=torch.ones_like(ids))
        found = layer(read[-1][:, :6], torch.ones(1, 6, 6, dtype=torch.bool))
    near = 0.3 if model_type in RELATIVE else 1e-5
    torch.testing.assert_close(found, left[-1][:, :6], atol=near, rtol=1e-5)


@pytest.mark.parametrize(
    "model_type",
    [
        "big_bird",
        "deberta",
        "eurobert",
        "longformer",
        "megatron-bert",
        "mobilebert",
        "rembert",
        "t5",
    ],
)
def test_a_task_can_be_trained_on_unusual_encoders(model_type, tmp_path):
    """No or one token type, no norm over the embeddings, narrow embeddings, long sequences."""
    narrow = {
        "mobilebert": {"embedding_size": 16, "trigram_input": True},
        "rembert": {"input_embedding_size": 16},
    }.get(model_type, {})
    encoder = save_encoder(tmp_path / "encoder", model_type, **narrow)
    guides = {"ancestor_attention": {}, "tree_distance": {}}
    settings = experiment(
        "pairs", pairs(tmp_path / "pairs.jsonl", copies=2), str(encoder), preset="poi-net",
        guides=guides, parser="linear", training={"num_train_epochs": 1},
    )  # fmt: skip
    train(settings, tmp_path / "run")
    found = PairClassifier.from_pretrained(tmp_path / "run").classify("A gull cried.", "It sang.")
    assert sum(found.probabilities) == pytest.approx(1, abs=1e-5)
