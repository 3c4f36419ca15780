"""Heads that learn to attend to parents, against the formula, in every kind of encoder."""

from __future__ import annotations

import math

import pytest
import torch

from syntagma.encoders.sites import SITES, layers
from syntagma.errors import InputError
from syntagma.evaluation import open_model
from syntagma.models.ancestor_heads import LOWEST, TaughtHeads, parent_loss
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.guides import GUIDES
from syntagma.models.observe import observe
from syntagma.tasks.experiment import TrainingSettings
from syntagma.training.run import train
from syntagma.training.trainable import parameter_groups
from tests.builders import experiment, pairs
from tests.conftest import SUPPORTED
from tests.guided import ADDING, NOT_ADDING, guided, padded_batch, plain
from tests.messages import naming

PARENTS = [None, 0, 1, 2, 3, 0, 5, 5, None]
"""Place of the parent of each piece of :func:`padded_batch`; of roots the special token's."""


def heads(model_type="bert", *, gate=0.0, **settings):
    model = guided(model_type, ancestor_heads=settings)
    torch.manual_seed(7)
    with torch.no_grad():
        model.ancestor_heads.gates.fill_(gate)
        for part in (model.ancestor_heads.as_dependent, model.ancestor_heads.as_head):
            part.weight.normal_(std=0.5)
    return model


def learning(model):
    model.learns_trees = True
    return model.train()


@torch.no_grad()
def parents_of(model, batch):
    """Compute P of the guide from its formula, ``[batch, n, n]``."""
    guide, read = model.ancestor_heads, []
    layer = layers(model.trunk, SITES[model.config.encoder.model_type])[guide.layer]
    hook = layer.register_forward_pre_hook(lambda _, arguments: read.append(arguments[0]))
    model(**plain(batch))
    hook.remove()
    scores = guide.as_dependent(read[0]) @ guide.as_head(read[0]).mT / 128**0.5
    seen = batch["attention_mask"].bool()
    return scores.masked_fill(~seen[:, None], -torch.inf).softmax(-1)


@pytest.mark.parametrize("model_type", ADDING)
def test_a_new_guide_changes_nothing_and_a_trained_one_does(model_type):
    """Bit for bit, with fused attention and with explicit weights, which then agree; no trees."""
    model, batch = heads(model_type), padded_batch()
    seen = batch["attention_mask"].bool()
    after = []
    for attention in (None, "eager"):
        if attention:
            model.set_attn_implementation(attention)
        with torch.no_grad():
            model.ancestor_heads.reset()
            expected = model.trunk(**plain(batch)).last_hidden_state
            assert torch.equal(model(**plain(batch)).last_hidden_state, expected)
            model.ancestor_heads.gates.fill_(10.0)
            after.append(model(**plain(batch)).last_hidden_state[seen])
        # Bit for bit the same before; MobileBERT's random layers change little.
        assert not torch.equal(after[-1], expected[seen])
    torch.testing.assert_close(*after, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("attend_to", ["parent", "children", "ancestors"])
def test_the_heads_are_weighted_by_powers_of_the_probability(attend_to):
    """softmax(s + g log p) = softmax(s) · p^g, normalised; the other heads are as before."""
    batch = padded_batch()
    before = observe(heads(), plain(batch)).layers[1]
    model = heads(gate=0.7, attend_to=attend_to, n_heads=2, layer=2)
    found = observe(model, plain(batch)).layers[1]
    one = parents_of(model, batch)
    if attend_to == "children":
        one = one.mT
    if attend_to == "ancestors":
        one[:, 0] = 0
        one = sum(torch.matrix_power(one, k) for k in range(1, 8))
    expected = before.clone()
    expected[:, :2] *= one.clamp(LOWEST, 1).pow(0.7).unsqueeze(1)
    expected /= expected.sum(-1, keepdim=True)
    seen = batch["attention_mask"].bool()
    torch.testing.assert_close(
        found.transpose(1, 2)[seen], expected.transpose(1, 2)[seen], atol=1e-5, rtol=1e-4
    )


def test_the_loss_is_that_of_the_parents():
    batch, model = padded_batch(), heads(gate=0.3)
    chosen = [
        -parents_of(model, batch)[row, place, parent].log()
        for row, length in ((0, 9), (1, 6), (2, 9))
        for place, parent in enumerate(PARENTS[:length])
        if parent is not None
    ]
    expected = model.ancestor_heads.settings.loss_weight * torch.stack(chosen).mean()
    assert len(chosen) == 7 + 5 + 7
    learning(model).trunk.eval()  # without dropout
    torch.testing.assert_close(model(**batch).guide_loss, expected)


def test_the_loss_of_a_layer_that_is_used_twice_counts_once(monkeypatch):
    monkeypatch.setattr(TaughtHeads, "forward", one_more_each_time(TaughtHeads.forward))
    model = learning(heads("albert"))
    assert model(**padded_batch()).guide_loss.item() == 1.5


def one_more_each_time(compute):
    """Let the guide return the losses 1, 2, …"""
    losses = iter(torch.arange(1.0, 9.0))
    return lambda *arguments, **options: compute(*arguments, **options)._replace(loss=next(losses))


def test_all_pieces_of_a_word_have_its_parent_and_any_piece_of_the_parent_will_do():
    enter, exit = torch.tensor([[-1, 0, 0, 1, -9]]), torch.tensor([[0, 2, 2, 2, -8]])
    depth, word = torch.tensor([[-1, 0, 0, 1, -1]]), torch.tensor([[-1, 0, 0, 1, -1]])
    logs = torch.randn(1, 5, 5).log_softmax(-1)
    one = logs[0].exp()
    expected = -(one[1, 0].log() + one[2, 0].log() + (one[3, 1] + one[3, 2]).log()) / 3
    torch.testing.assert_close(parent_loss(logs, enter, exit, depth, word), expected)


def test_a_parent_that_was_cut_off_is_not_learned():
    """Of a window that begins within a tree, and one without any word."""
    one = torch.ones(1, 2, dtype=torch.long)
    logs = torch.zeros(1, 2, 2, requires_grad=True)
    places = torch.tensor([[3, 5]])
    loss = parent_loss(logs, places, places + 1, 2 * one, places)
    loss.backward()
    assert loss.item() == 0
    assert not logs.grad.any()


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_loss_teaches_who_the_parents_are(precision):
    model, batch = learning(heads(n_heads=1)), padded_batch()
    optimizer = torch.optim.Adam(model.ancestor_heads.parameters(), lr=1e-2)
    for _ in range(60):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
            found = model(**batch)
        assert found.guide_loss.dtype == torch.float32
        found.guide_loss.backward()
        optimizer.step()
    rows = parents_of(model.eval(), batch)[0]
    likely = rows.argmax(-1).tolist()
    assert [likely[place] for place, parent in enumerate(PARENTS) if parent is not None] == [
        parent for parent in PARENTS if parent is not None
    ]


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_trees_are_read_only_to_learn_from_them(is_new, training):
    model, batch = heads().train(training), padded_batch()
    model.learns_trees = is_new
    assert model.syntax_columns == (("enter", "exit", "depth", "word") if is_new else ())
    assert model.reads_trees == is_new
    learns = is_new and training
    assert (model(**batch).guide_loss is not None) == learns
    if learns:
        with pytest.raises(InputError, match=naming("enter preset none")):
            model(**plain(batch))
    else:
        assert model(**plain(batch)).guide_loss is None


def test_without_a_weight_no_trees_are_needed(tiny_encoder):
    guides = {"ancestor_heads": {"loss_weight": 0}}
    model = GuidedEncoder.from_encoder(tiny_encoder, guides=guides).train()
    assert not model.reads_syntax
    found = model(**plain(padded_batch()))
    assert found.guide_loss is None
    found.last_hidden_state.square().sum().backward()
    assert model.ancestor_heads.gates.grad.any()


def test_the_gradient_of_the_task_reaches_the_gates():
    model = learning(heads())
    found = model(**padded_batch())
    (found.with_guide_loss(found.last_hidden_state.square().mean())).backward()
    assert all(part.grad.any() for part in model.ancestor_heads.parameters())


def test_recomputed_layers_get_the_same_gradients():
    found = []
    for recompute in (False, True):
        model = learning(heads(gate=0.5))
        if recompute:
            model.gradient_checkpointing_enable()
        torch.manual_seed(5)
        output = model(**padded_batch())
        output.with_guide_loss(output.last_hidden_state.square().mean()).backward()
        found.append([part.grad for part in model.parameters() if part.grad is not None])
    assert len(found[0]) == len(found[1])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


def test_padding_changes_nothing():
    model, batch = heads(gate=1.0), padded_batch()
    alone = {name: column[1:2, :6] for name, column in batch.items()}
    with torch.no_grad():
        found = model(**plain(batch)).last_hidden_state[1:2, :6]
        expected = model(**plain(alone)).last_hidden_state
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("other", [name for name in GUIDES if name != "ancestor_heads"])
def test_it_acts_together_with_every_other_guide(other):
    batch = padded_batch() | {"domain": torch.tensor([0] * 5 + [1] * 4).expand(3, 9)}
    alone, both = guided("bert", **{other: {}}), guided("bert", ancestor_heads={}, **{other: {}})
    both.load_state_dict(alone.state_dict(), strict=False)
    with torch.no_grad():
        expected = alone(**batch).last_hidden_state
        assert torch.equal(both(**batch).last_hidden_state, expected)
        both.ancestor_heads.gates.fill_(1.0)
        assert (both(**batch).last_hidden_state - expected).abs().max() > 1e-6
    found = learning(both)(**batch)
    found.with_guide_loss(found.last_hidden_state.square().sum()).backward()
    assert all(part.grad is not None for guide in both.guides for part in guide.parameters())


def test_the_layer_after_the_middle_and_a_third_of_its_heads_by_default():
    guide = heads().ancestor_heads
    assert (guide.layer, len(guide.gates)) == (1, 1)
    guide = heads(layer=1, n_heads=4, width=16).ancestor_heads
    assert (guide.layer, len(guide.gates), guide.as_head.out_features) == (0, 4, 16)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"layer": 3}, "guides.ancestor_heads.layer 2 3"),
        ({"n_heads": 5}, "guides.ancestor_heads.n_heads 4 5"),
        ({"layer": 0}, "layer 1 0"),
        ({"loss_weight": -1.0}, "loss_weight 0 -1"),
        ({"attend_to": "cousins"}, "attend_to parent ancestors children cousins"),
    ],
)
def test_settings_that_fit_no_layer_are_refused(settings, words):
    with pytest.raises(InputError, match=naming(words)):
        guided("bert", ancestor_heads=settings)


@pytest.mark.parametrize("model_type", sorted(NOT_ADDING & {*SUPPORTED}))
def test_layers_that_do_not_add_their_mask_are_refused(model_type):
    with pytest.raises(InputError, match=naming(f"guides.ancestor_heads {model_type}")):
        guided(model_type, ancestor_heads={})


def test_saving_and_loading_changes_nothing(tiny_encoder, tmp_path):
    guides = {"ancestor_heads": {"attend_to": "ancestors"}}
    model = GuidedEncoder.from_pretrained(tiny_encoder, guides=guides)
    assert model.learns_trees
    with torch.no_grad():
        model.ancestor_heads.gates.fill_(0.5)
    model.save_pretrained(tmp_path)
    again = GuidedEncoder.from_pretrained(tmp_path)
    assert not again.reads_syntax
    with torch.no_grad():
        expected = model.eval()(**plain(padded_batch())).last_hidden_state
        assert torch.equal(again(**plain(padded_batch())).last_hidden_state, expected)
    # A new model on the saved one keeps what the heads have learned, and learns more.
    new = GuidedEncoder.from_encoder(str(tmp_path), guides=guides)
    assert new.pretrained_keys >= {"ancestor_heads.gates", "ancestor_heads.as_head.weight"}
    assert new.learns_trees
    same = {"ancestor_heads": {"attend_to": "ancestors", "layer": 2}}
    assert (
        "ancestor_heads.gates" in GuidedEncoder.from_encoder(tmp_path, guides=same).pretrained_keys
    )
    for changed, fewer, words in (
        ({"attend_to": "children"}, None, "attend_to ancestors children"),
        ({"attend_to": "ancestors", "layer": 1}, None, "layer 2 1"),
        ({"attend_to": "ancestors"}, 1, "layer 2 1"),
    ):
        with pytest.raises(InputError, match=naming(f"guides.ancestor_heads.{words}")):
            GuidedEncoder.from_encoder(
                tmp_path, guides={"ancestor_heads": changed}, num_hidden_layers=fewer
            )


def test_an_experiment_learns_from_trees_and_its_model_needs_none(tiny_encoder, tmp_path):
    settings = experiment(
        "pairs", pairs(tmp_path / "pairs.jsonl", 1), tiny_encoder, parser="linear",
        guides={"ancestor_heads": {}},
        training={"max_steps": 3, "alpha_learning_rate": 1e-2},
    )  # fmt: skip
    train(settings, tmp_path / "run")
    task = open_model(tmp_path / "run")
    assert task.parser_used() is None
    assert "needs no parser now" in (tmp_path / "run" / "README.md").read_text(encoding="utf-8")
    assert not task.model.reads_syntax
    assert task.model.ancestor_heads.gates.abs().max() > 1e-3
    with pytest.raises(InputError, match=naming("random changes nothing")):
        open_model(tmp_path / "run", parser="random")


def test_gates_have_the_rate_of_shares():
    settings = TrainingSettings(
        learning_rate=1e-5, guide_learning_rate=1e-3, alpha_learning_rate=1e-2
    )
    model = heads()
    rates = {
        name: group["lr"]
        for group in parameter_groups(model, settings)
        for part in group["params"]
        for name, own in model.ancestor_heads.named_parameters()
        if part is own
    }
    assert rates.pop("gates") == 1e-2
    assert {*rates.values()} == {1e-3}


def test_a_report_shows_the_mean_gate():
    model = heads(gate=0.25, n_heads=3)
    weights = {"gates": model.ancestor_heads.gates.tolist}
    (value,) = (
        GUIDES["ancestor_heads"].learned_numbers(model.ancestor_heads.settings, weights).values()
    )
    assert math.isclose(value, 0.25)
