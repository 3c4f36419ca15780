"""The bias by tree relation, against the formula, in every kind of encoder."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from syntagma.encoders.score_bias import heads_of
from syntagma.encoders.sites import SITES, layers
from syntagma.errors import InputError
from syntagma.evaluation import open_model
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.guides import GUIDES
from syntagma.models.observe import observe
from syntagma.syntax.pair_types import CHILD, PARENT, pair_types
from syntagma.syntax.relations import N_RELATIONS, RELATIONS, relation_ids
from syntagma.tasks.experiment import TrainingSettings
from syntagma.training.run import train
from syntagma.training.trainable import parameter_groups
from tests.builders import experiment, pairs
from tests.conftest import SUPPORTED, tiny_config
from tests.guided import ADDING, NOT_ADDING, guided, padded_batch, plain
from tests.messages import naming

COLUMNS = ("enter", "exit", "depth", "sentence", "word", "parent")


def types_of(batch, *, labels=False):
    names = (*COLUMNS, "relation") if labels else COLUMNS
    return pair_types(*(batch[name] for name in names))


def trained(model, std=1.0):
    """Give the guide weights as if it had been trained."""
    torch.manual_seed(7)
    with torch.no_grad():
        model.tree_bias.table.normal_(std=std)
    return model


@pytest.mark.parametrize("model_type", ADDING)
def test_a_new_guide_changes_nothing_and_a_trained_one_does(model_type):
    """Bit for bit, with fused attention and with explicit weights, which then agree."""
    model, batch = guided(model_type, tree_bias={"labels": True}), padded_batch()
    seen = batch["attention_mask"].bool()
    after = []
    for attention in (None, "eager"):
        if attention:
            model.set_attn_implementation(attention)
        with torch.no_grad():
            model.tree_bias.reset()
            expected = model.trunk(**plain(batch)).last_hidden_state
            assert torch.equal(model(**batch).last_hidden_state, expected)
            after.append(trained(model)(**batch).last_hidden_state[seen])
        assert (after[-1] - expected[seen]).abs().max() > 1e-6
    torch.testing.assert_close(*after, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("model_type", ["albert", "bert", "distilbert", "mpnet", "roberta"])
def test_training_starts_from_the_states_of_the_plain_encoder(model_type):
    """Bit for bit: with gradients of the bias, attention in the forward pass stays fused."""
    model, batch = guided(model_type, tree_bias={}), padded_batch()
    found, expected = model(**batch).last_hidden_state, model.trunk(**plain(batch))[0]
    assert found.requires_grad
    assert torch.equal(found, expected)


@pytest.mark.parametrize("model_type", ADDING)
def test_attention_of_the_first_layer_is_weighted_by_the_exponential_of_the_bias(model_type):
    """softmax(s + b) = softmax(s) · exp(b), normalised; whatever else is part of the scores s."""
    model, batch = guided(model_type, tree_bias={}), padded_batch()
    try:
        before = observe(model, batch).layers[0]
    except InputError as error:  # ModernBERT's of early versions of Transformers.
        pytest.skip(str(error))
    found = observe(trained(model), batch).layers[0]
    types = types_of(batch)
    rows = torch.cat(
        [torch.zeros(1, heads_of(model.config.encoder)), model.tree_bias.table[0].detach()]
    )
    expected = before * rows[types.long()].permute(0, 3, 1, 2).exp()
    expected = expected / expected.sum(-1, keepdim=True)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_every_layer_of_bert_computes_the_formula():
    model, batch = trained(guided("bert", tree_bias={})), padded_batch()
    read = []
    for layer in layers(model.trunk, SITES["bert"]):
        layer.register_forward_pre_hook(lambda _, arguments: read.append(arguments[0]))
    weights = observe(model, batch).layers
    types, seen = types_of(batch).tolist(), batch["attention_mask"].bool()
    for index, layer in enumerate(layers(model.trunk, SITES["bert"])):
        attention, table = layer.attention.self, model.tree_bias.table[index].tolist()
        query, key = (
            part(read[index]).unflatten(-1, (4, 8)).transpose(1, 2)
            for part in (attention.query, attention.key)
        )
        scores = query @ key.mT / 8**0.5
        for row in range(3):
            for i in range(9):
                for j in range(9):
                    if kind := types[row][i][j]:
                        scores[row, :, i, j] += torch.tensor(table[kind - 1])
        scores = scores.masked_fill(~seen[:, None, None], -torch.inf)
        torch.testing.assert_close(weights[index], scores.softmax(-1), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("model_type", ["bert", "mpnet", "albert", "modernbert"])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_only_types_that_occur_get_gradients(model_type, precision):
    model, batch = guided(model_type, tree_bias={"labels": True}).train(), padded_batch()
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
        states = model(**batch).last_hidden_state
    (states.float() * torch.linspace(-1, 1, states.numel()).view_as(states)).sum().backward()
    reached = model.tree_bias.table.grad.abs().sum((0, 2)) > 0
    present = {kind - 1 for kind in types_of(batch, labels=True).unique().tolist() if kind}
    assert set(reached.nonzero().flatten().tolist()) == present
    assert (model.tree_bias.table.grad.abs().sum((1, 2)) > 0).all()


def test_gradients_agree_with_differences():
    model, batch = trained(guided("bert", tree_bias={})).double(), padded_batch()
    model.set_attn_implementation("eager")
    table = model.tree_bias.table
    weights = torch.linspace(-1, 1, 3 * 9 * 32).view(3, 9, 32).double()

    def loss():
        return (model(**batch).last_hidden_state * weights).sum()

    loss().backward()
    for place in ((0, 0, 1), (1, PARENT - 1, 2), (1, CHILD - 1, 0)):
        with torch.no_grad():
            sides = []
            for step in (1e-5, -2e-5):
                table[place] += step
                sides.append(loss())
            table[place] += 1e-5
        assert table.grad[place].item() == pytest.approx(
            ((sides[0] - sides[1]) / 2e-5).item(), rel=1e-4
        )


def test_padding_and_other_texts_of_a_batch_change_nothing():
    model, batch = trained(guided("bert", tree_bias={})), padded_batch()
    alone = {name: column[1:2, :6] for name, column in batch.items()}
    with torch.no_grad():
        found = model(**batch).last_hidden_state[1:2, :6]
        torch.testing.assert_close(found, model(**alone).last_hidden_state, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    "other", [name for name in GUIDES if name != "tree_bias"], ids=lambda name: name
)
def test_it_acts_together_with_every_other_guide(other):
    batch = padded_batch() | {"domain": torch.tensor([0] * 5 + [1] * 4).expand(3, 9)}
    alone, both = guided("bert", **{other: {}}), guided("bert", tree_bias={}, **{other: {}})
    own = {**alone.state_dict(), "tree_bias.table": both.tree_bias.table}
    both.load_state_dict(own)
    with torch.no_grad():
        expected = alone(**batch).last_hidden_state
        assert torch.equal(both(**batch).last_hidden_state, expected)
        changed = trained(both)(**batch).last_hidden_state
    assert (changed - expected).abs().max() > 1e-4
    both.train()(**batch).last_hidden_state.square().sum().backward()
    assert all(part.grad is not None for guide in both.guides for part in guide.parameters())


def test_another_rule_for_pieces_is_refused():
    with pytest.raises(InputError, match=naming("tree_bias ancestor_attention.pieces share")):
        guided("bert", tree_bias={}, ancestor_attention={"pieces": "first_piece"})


def test_the_table_has_a_number_for_each_layer_type_and_head():
    for settings, shape in (
        ({}, (2, 9, 4)),
        ({"share_layers": True}, (1, 9, 4)),
        ({"labels": True}, (2, 7 + 2 * (len(RELATIONS) + 1), 4)),
    ):
        model = guided("bert", tree_bias=settings)
        assert model.tree_bias.table.shape == shape
        assert model.num_parameters() - guided("bert").num_parameters() == np.prod(shape)
    assert guided("convbert", tree_bias={}).tree_bias.table.shape == (2, 9, 2)


def test_shared_layers_have_the_same_bias():
    one, both = guided("bert", tree_bias={"share_layers": True}), guided("bert", tree_bias={})
    trained(one)
    with torch.no_grad():
        both.tree_bias.table.copy_(one.tree_bias.table.expand(2, -1, -1))
        batch = padded_batch()
        found = one(**batch).last_hidden_state
        assert torch.equal(found, both(**batch).last_hidden_state)


@pytest.mark.parametrize("model_type", sorted(NOT_ADDING & {*SUPPORTED}))
def test_layers_that_do_not_add_their_mask_are_refused(model_type):
    message = rf"{naming(f'guides.tree_bias {model_type} tree_distance ancestor_attention')}.*\Z"
    with pytest.raises(InputError, match=message) as caught:
        guided(model_type, tree_bias={})
    assert "\n" not in str(caught.value)


def test_attention_that_adds_no_mask_is_refused():
    message = naming('guides.tree_bias flash_attention_2 set_attn_implementation("sdpa")')
    model = guided("bert", tree_bias={})
    model.trunk.config._attn_implementation = "flash_attention_2"
    with pytest.raises(InputError, match=message):
        model(**padded_batch())
    assert all(not layer._forward_pre_hooks for layer in model.encoder.encoder.layer)
    config = tiny_config("bert")
    config._attn_implementation = "flash_attention_2"
    kind = GUIDES["tree_bias"]
    with pytest.raises(InputError, match=message):
        kind.build(kind.settings_class(), config)


def test_missing_syntax_is_reported():
    batch = padded_batch()
    del batch["relation"]
    with pytest.raises(InputError, match=naming("relation preset none")):
        guided("bert", tree_bias={"labels": True})(**batch)
    guided("bert", tree_bias={})(**batch)


def test_saving_and_loading_changes_nothing(tiny_encoder, tmp_path):
    guides = {"tree_bias": {"labels": True, "share_layers": True}}
    model, batch = (
        trained(GuidedEncoder.from_pretrained(tiny_encoder, guides=guides)),
        padded_batch(),
    )
    model.save_pretrained(tmp_path)
    again = GuidedEncoder.from_pretrained(tmp_path)
    assert again.tree_bias.settings == model.tree_bias.settings
    with torch.no_grad():
        expected = model(**batch).last_hidden_state
        assert torch.equal(again(**batch).last_hidden_state, expected)
        # A new model on the saved one keeps its biases.
        new = GuidedEncoder.from_encoder(str(tmp_path), guides=guides)
        assert torch.equal(new.eval()(**batch).last_hidden_state, expected)
    assert new.pretrained_keys == {"tree_bias.table"}
    with pytest.raises(InputError, match=naming("guides.tree_bias config.json")):
        GuidedEncoder.from_encoder(str(tmp_path), guides={"tree_bias": {}})


def test_recomputed_layers_get_the_same_gradients():
    found = []
    for recompute in (False, True):
        model = trained(guided("bert", tree_bias={"labels": True})).train()
        if recompute:
            model.gradient_checkpointing_enable()
        torch.manual_seed(5)
        model(**padded_batch()).last_hidden_state.square().mean().backward()
        found.append(model.tree_bias.table.grad)
    assert torch.equal(*found)
    assert found[0].any()


@pytest.mark.parametrize("parser", ["linear", "random"])
def test_an_experiment_trains_it_on_any_source_of_trees(parser, tiny_encoder, tmp_path):
    settings = experiment(
        "pairs", pairs(tmp_path / "pairs.jsonl", 1), tiny_encoder, parser=parser,
        guides={"tree_bias": {"labels": True}}, training={"max_steps": 3},
    )  # fmt: skip
    train(settings, tmp_path / "run")
    model = open_model(tmp_path / "run").model
    moved = model.tree_bias.table.abs().sum((0, 2)) > 0
    places = {*range(7)}
    for name in ("dep", "root"):
        (relation,) = relation_ids([name])
        places |= {PARENT - 1 + relation, PARENT - 1 + N_RELATIONS + relation}
    assert set(moved.nonzero().flatten().tolist()) <= places
    assert moved[PARENT - 1 + RELATIONS.index("dep")]


def test_it_has_the_learning_rate_of_new_guides():
    settings = TrainingSettings(learning_rate=1e-5, guide_learning_rate=1e-2)
    model = guided("bert", tree_bias={})
    (rate,) = {
        group["lr"]
        for group in parameter_groups(model, settings)
        if any(part is model.tree_bias.table for part in group["params"])
    }
    assert rate == 1e-2
