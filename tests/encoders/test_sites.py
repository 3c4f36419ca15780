"""Every row of the table of sites is correct for its encoder."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from syntagma.encoders.dropout_settings import set_dropout
from syntagma.encoders.load import build_encoder
from syntagma.encoders.sites import SITES, last_layer
from syntagma.errors import InputError
from syntagma.models.ancestor_attention import can_copy, copy_layer, layer_like
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.tasks.pairs.task import PairClassifier
from syntagma.training.run import train
from tests.builders import experiment, pairs
from tests.conftest import SUPPORTED, save_encoder, tiny_config
from tests.guided import GUIDES, guided, whole_batch
from tests.messages import naming, says

COPIED = [name for name in SUPPORTED if SITES[name].layer_parts]
RELATIVE = {
    "deberta c2p": ("deberta", {"pos_att_type": ["c2p"], "max_relative_positions": 20}),
    "deberta both": ("deberta", {"pos_att_type": ["c2p", "p2c"]}),
    "deberta-v2 p2c": ("deberta-v2", {"pos_att_type": ["p2c"], "max_relative_positions": 20}),
    "deberta-v2 off": ("deberta-v2", {"relative_attention": False}),
    "deberta-v2 buckets": (
        "deberta-v2",
        {"position_buckets": 8, "share_att_key": True, "norm_rel_ebd": "layer_norm"},
    ),
    "jina": ("jina_embeddings_v3", {}),
    "mpnet": ("mpnet", {}),
    "roformer values": ("roformer", {"rotary_value": True}),
}
"""Encoders whose attention adds relative positions, in each way that they may be configured."""


def encoder_of(model_type, **dropout):
    torch.manual_seed(0)
    config = tiny_config(model_type)
    set_dropout(config, **dropout)
    return build_encoder(config), config


def states_of(encoder):
    ids = torch.tensor([[2, 5, 9, 14, 27, 3], [2, 7, 6, 3, 1, 1]])
    mask = (ids != 1).long()
    return encoder(input_ids=ids, attention_mask=mask).last_hidden_state[mask.bool()]


@pytest.mark.parametrize("model_type", SUPPORTED)
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


@pytest.mark.parametrize("model_type", SUPPORTED)
def test_gradients_in_bfloat16_reach_the_embeddings(model_type):
    model = guided(model_type, **GUIDES).train()
    with torch.autocast("cpu", torch.bfloat16):
        states = model(**whole_batch()).last_hidden_state
    states.float().square().mean().backward()
    assert states.isfinite().all()
    words = model.trunk.get_submodule(SITES[model_type].word_embeddings).weight
    assert words.grad.isfinite().all()
    assert words.grad.any()


def assert_copy_is_exact(config, *, n_pieces, far_weights):
    """Compare the copied layer with the last layer on the states that the latter reads."""
    torch.manual_seed(0)
    encoder = build_encoder(config).eval()
    sites = SITES[config.model_type]
    layer = layer_like(config, sites).eval()
    for module in encoder.modules():
        trained = isinstance(module, nn.Linear | nn.Embedding) and module.weight.requires_grad
        if far_weights and trained:
            nn.init.normal_(module.weight, std=0.3)
        if getattr(module, "bias", None) is not None:
            nn.init.normal_(module.bias, std=0.1)
        if "LayerNorm" in type(module).__name__:
            nn.init.normal_(module.weight, 1.0, 0.1)
    copy_layer(layer, encoder, sites)
    read, left = [], []
    source = last_layer(encoder, sites)
    source.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0]))
    source.register_forward_hook(
        lambda _, __, output: left.append(output[0] if isinstance(output, tuple) else output)
    )
    ids = torch.randint(2, 90, (2, n_pieces))
    with torch.no_grad():
        encoder(input_ids=ids, attention_mask=torch.ones_like(ids))
        states, mask = read[-1][:, :n_pieces], torch.ones(2, n_pieces, n_pieces, dtype=torch.bool)
        found, weights = layer(states, mask), layer.weights(states, mask)
    torch.testing.assert_close(found, left[-1][:, :n_pieces], atol=1e-5, rtol=1e-5)
    if not getattr(config, "rotary_value", False):
        # The weights that are shown are those that are used.
        values = layer.value(states).unflatten(-1, (layer.n_heads, -1)).transpose(1, 2)
        attended = layer.attention_output((weights @ values).transpose(1, 2).flatten(2))
        shown = layer.attention_norm(states + attended)
        shown = shown + layer.feed_forward_out(layer.activation(layer.feed_forward_in(shown)))
        torch.testing.assert_close(layer.output_norm(shown), found, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("model_type", COPIED)
def test_a_copied_layer_computes_the_same_as_the_original(model_type):
    assert_copy_is_exact(tiny_config(model_type), n_pieces=6, far_weights=False)


@pytest.mark.parametrize("model_type", ["t5", "mt5", "umt5"])
def test_an_encoder_with_one_dropout_takes_one_value(model_type, caplog):
    config = tiny_config(model_type)
    set_dropout(config, hidden=0.2, attention=None)
    set_dropout(config, hidden=0.3, attention=0.3)
    assert config.dropout_rate == 0.3
    with pytest.raises(InputError, match=naming(f"attention_dropout 0.2 {model_type} 0.0")):
        set_dropout(config, hidden=0.2, attention=0.0)
    assert not caplog.records
    set_dropout(config, hidden=None, attention=0.1)
    assert config.dropout_rate == 0.1
    assert says(caplog.text, f"attention_dropout 0.1 hidden {model_type}")


def test_a_dropout_that_an_encoder_lacks_is_named(caplog):
    set_dropout(tiny_config("eurobert"), hidden=0.0, attention=0.1)
    assert not caplog.records
    set_dropout(tiny_config("eurobert"), hidden=0.1, attention=0.1)
    assert says(caplog.text, "hidden_dropout 0.1 eurobert")


@pytest.mark.parametrize("n_pieces", [7, 90])
@pytest.mark.parametrize("name", RELATIVE)
def test_a_copied_layer_has_the_relative_positions_of_the_original(name, n_pieces):
    """With large weights, and with differences of positions beyond the last bucket."""
    model_type, settings = RELATIVE[name]
    config = tiny_config(model_type, **settings)
    if model_type == "deberta":
        config.relative_attention, config.position_biased_input = True, False
    assert_copy_is_exact(config, n_pieces=n_pieces, far_weights=True)


@pytest.mark.parametrize("name", RELATIVE)
def test_relative_positions_are_saved_and_loaded(name, tmp_path):
    model_type, settings = RELATIVE[name]
    save_encoder(tmp_path / "encoder", model_type, **settings)
    guides = {"ancestor_attention": {"initialise": "last_layer", "aggregate_special": True}}
    model = GuidedEncoder.from_encoder(str(tmp_path / "encoder"), guides=guides).eval()
    model.save_pretrained(tmp_path / "model")
    again = GuidedEncoder.from_pretrained(tmp_path / "model").eval()
    inputs = whole_batch()
    with torch.no_grad():
        expected = model(**inputs).last_hidden_state
        assert torch.equal(again(**inputs).last_hidden_state, expected)


@pytest.mark.parametrize(
    ("model_type", "settings"),
    [
        ("deberta", {"talking_head": True, "relative_attention": True}),
        (
            "jina_embeddings_v3",
            {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}},
        ),
    ],
)
def test_positions_that_cannot_be_copied_are_rejected(model_type, settings):
    config = tiny_config(model_type, **settings)
    assert not can_copy(config)
    encoder = build_encoder(config)
    layer = layer_like(config, SITES[model_type])
    with pytest.raises(InputError, match=naming("guides.ancestor_attention.initialise=random")):
        copy_layer(layer, encoder, SITES[model_type])


@pytest.mark.parametrize("model_type", ["bert", "mpnet", "t5"])
def test_a_preset_copies_the_last_layer_where_it_can(model_type, tmp_path, caplog):
    folder = save_encoder(tmp_path / "encoder", model_type)
    model = GuidedEncoder.from_pretrained(str(folder), guides="sg-net")
    expected = "random" if model_type == "t5" else "last_layer"
    assert model.config.guides["ancestor_attention"].initialise == expected
    assert ("guides.ancestor_attention.initialise" in caplog.text) == (model_type == "t5")


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
@pytest.mark.slow
def test_a_task_can_be_trained_on_unusual_encoders(model_type, tmp_path):
    """With no or one token type, no norm over the embeddings, narrow embeddings, long sequences."""
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
