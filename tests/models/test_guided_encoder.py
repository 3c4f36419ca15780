"""Guides on any encoder: equality without guides, oracles, gradients."""

from __future__ import annotations

import copy
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from transformers import AutoConfig, AutoModel

from syntagma.encoders.config import SyntagmaConfig
from syntagma.encoders.load import max_pieces
from syntagma.errors import InputError
from syntagma.models.guide import Syntax
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.guided_layers import AncestorAttention
from syntagma.models.guides import resolve_guides
from syntagma.syntax.tokenizer import SyntaxTokenizer
from tests.conftest import ENCODERS, tiny_config
from tests.guided import batch
from tests.messages import naming, says

AGGREGATIONS = ["dual", "learned", "concatenation", "bi_attention", "guided_only", "vanilla_only"]


def model_of(model_type: str, **guide) -> GuidedEncoder:
    torch.manual_seed(0)
    guides = {"ancestor_attention": guide} if guide.pop("guided", True) else {}
    config = SyntagmaConfig(encoder=tiny_config(model_type), guides=resolve_guides("none", guides))
    model = GuidedEncoder(config)
    model.post_init()
    return model.eval()


@pytest.mark.parametrize("model_type", ENCODERS)
def test_without_guides_states_equal_the_encoders_bit_for_bit(encoder_folders, model_type):
    plain = AutoModel.from_pretrained(encoder_folders[model_type]).eval()
    guided = GuidedEncoder.from_encoder(str(encoder_folders[model_type]))
    inputs = batch()
    with torch.no_grad():
        expected = plain(
            input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]
        ).last_hidden_state
        found = guided(**inputs).last_hidden_state
    assert torch.equal(expected, found)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("model_type", ENCODERS)
def test_a_step_lowers_the_loss_and_reaches_every_parameter(model_type, aggregation):
    model = model_of(model_type, aggregation=aggregation, aggregate_special=True).train()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    inputs = batch()
    target = torch.randn(3, 9, 32)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for _ in range(2):
        loss = (model(**inputs).last_hidden_state - target).pow(2).mean()
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert losses[1] < losses[0]
    without = {
        name for name, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0
    }
    # An encoder may have parameters that these inputs do not use, such as positions of padding.
    # The bias of a key adds a constant to all scores of a row, which changes nothing.
    without = {name for name in without if not name.endswith("key.bias")}
    assert not {name for name in without if not name.startswith("encoder.")}, without


def test_a_bare_guided_encoder_is_initialised_like_task_models(encoder_folders):
    """Guides have their own initialisation, not PyTorch's."""
    guides = {
        "pos_embedding": {"initialise": "zero"},
        "tree_distance": {"alpha": 0.0},
        "ancestor_attention": {"aggregation": "concatenation"},
    }
    folder = str(encoder_folders["bert"])
    model = GuidedEncoder.from_pretrained(folder, guides=guides)
    inputs = batch() | {"depth": batch()["enter"].clamp(min=0), "tag": batch()["enter"] + 9}
    del model.ancestor_attention
    plain = GuidedEncoder.from_pretrained(folder)
    assert torch.equal(model(**inputs).last_hidden_state, plain(**inputs).last_hidden_state)
    project = GuidedEncoder.from_pretrained(folder, guides=guides).ancestor_attention
    weight = project.aggregator.project.weight
    assert torch.equal(weight[:, :64], torch.eye(32).repeat(1, 2) / 2)
    for layer in model.tree_distance.layers:
        assert layer.own.weight.std().item() == pytest.approx(0.02, rel=0.2)
        assert not layer.own.bias.any()
    kinds = {type(part) for part in model.modules() if isinstance(part, torch.nn.Dropout)}
    assert kinds.isdisjoint({torch.nn.Dropout}), "CPUs use the faster dropout"


def naive_guided_layer(layer, states, mask):
    """One sequence, one head, one row at a time, from the paper's equations."""
    n, width = states.shape
    size = width // layer.n_heads
    query, key, value = layer.query(states), layer.key(states), layer.value(states)
    rows = []
    for i in range(n):
        parts = []
        for h in range(layer.n_heads):
            part = slice(h * size, (h + 1) * size)
            allowed = [j for j in range(n) if mask[i][j]]
            scores = torch.stack([query[i, part] @ key[j, part] / size**0.5 for j in allowed])
            weights = scores.softmax(0)
            parts.append(sum(w * value[j, part] for w, j in zip(weights, allowed, strict=True)))
        rows.append(torch.cat(parts))
    hidden = layer.attention_norm(states + layer.attention_output(torch.stack(rows)))
    inner = layer.feed_forward_out(layer.activation(layer.feed_forward_in(hidden)))
    return layer.output_norm(hidden + inner)


def test_the_guided_layer_agrees_with_the_equations():
    model = model_of("bert", aggregation="dual", alpha=0.3)
    inputs = batch(rows=1)
    with torch.no_grad():
        plain = model.encoder(
            input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]
        ).last_hidden_state[0]
        enter, exit_ = inputs["enter"][0].tolist(), inputs["exit"][0].tolist()
        mask = [[enter[j] <= enter[i] < exit_[j] for j in range(9)] for i in range(9)]
        guided = naive_guided_layer(model.ancestor_attention.layers[0], plain, mask)
        expected = 0.3 * plain + 0.7 * guided
        expected[0], expected[8] = plain[0], plain[8]
        found = model(**inputs).last_hidden_state[0]
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_special_tokens_keep_the_encoders_states_by_default():
    inputs = batch()
    model = model_of("bert")
    with torch.no_grad():
        plain = model.encoder(
            input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]
        ).last_hidden_state
        found = model(**inputs).last_hidden_state
        assert torch.equal(found[:, [0, 8]], plain[:, [0, 8]])
        assert not torch.allclose(found[:, 1:8], plain[:, 1:8])
        aggregated = model_of("bert", aggregate_special=True)(**inputs).last_hidden_state
    assert not torch.allclose(aggregated[:, 0], plain[:, 0])


def test_a_word_attends_only_to_its_ancestors():
    """Changing the state of a word changes its own row and those of its descendants."""
    model = model_of("bert", aggregation="guided_only")
    guide = model.ancestor_attention
    inputs = batch(rows=1)
    states = torch.randn(1, 9, 32)
    changed = states.clone()
    changed[0, 3] += 1.0
    syntax = {name: inputs[name] for name in ("enter", "exit", "word")}
    mask = inputs["attention_mask"]
    with torch.no_grad():
        before = guide(states, Syntax(mask, **syntax))
        after = guide(changed, Syntax(mask, **syntax))
    rows = (before != after).any(-1)[0].nonzero().flatten().tolist()
    assert rows == [3, 4]


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_padding_on_either_side_changes_nothing(aggregation):
    model = model_of("bert", aggregation=aggregation)
    guide = model.ancestor_attention
    inputs = batch(rows=1)
    states = torch.randn(1, 9, 32)
    syntax = {name: inputs[name] for name in ("enter", "exit", "word")}
    with torch.no_grad():
        alone = guide(states, Syntax(inputs["attention_mask"], **syntax))
        for left, right in ((0, 4), (4, 0), (2, 3)):
            place = torch.arange(9 + left + right)
            keep = slice(left, left + 9)
            padded = {
                "enter": -100 - place,
                "exit": -99 - place,
                "word": torch.full_like(place, -1),
            }
            for name, column in padded.items():
                column[keep] = syntax[name][0]
            padded_states = torch.full((1, 9 + left + right, 32), 7.0)
            padded_states[:, keep] = states
            attention_mask = torch.zeros_like(place)
            attention_mask[keep] = 1
            rows = {name: column.unsqueeze(0) for name, column in padded.items()}
            found = guide(padded_states, Syntax(attention_mask.unsqueeze(0), **rows))
            assert found.isfinite().all()
            torch.testing.assert_close(found[:, keep], alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("model_type", [name for name in ENCODERS if name != "modernbert"])
def test_a_copied_layer_computes_the_same_as_the_last_layer(encoder_folders, model_type):
    model = GuidedEncoder.from_encoder(
        str(encoder_folders[model_type]),
        guides=resolve_guides(
            "none",
            {"ancestor_attention": {"initialise": "last_layer", "aggregation": "vanilla_only"}},
        ),
    )
    inputs = batch()
    hidden = model.encoder(
        input_ids=inputs["input_ids"],
        attention_mask=inputs["attention_mask"],
        output_hidden_states=True,
    ).hidden_states
    layer = model.ancestor_attention.layers[0]
    with torch.no_grad():
        found = layer(hidden[-2], inputs["attention_mask"].bool().unsqueeze(1))
    torch.testing.assert_close(found, hidden[-1], atol=1e-5, rtol=1e-5)


def test_copying_a_layer_of_another_structure_is_rejected(encoder_folders):
    guides = {"ancestor_attention": {"initialise": "last_layer"}}
    with pytest.raises(InputError, match=naming("guides.ancestor_attention.initialise=random")):
        GuidedEncoder.from_encoder(
            str(encoder_folders["modernbert"]), guides=resolve_guides("none", guides)
        )


def test_the_control_without_a_mask_reads_no_syntax():
    inputs = batch()
    model = model_of("bert", aggregation="vanilla_only")
    assert not model.reads_syntax
    bare = {name: inputs[name] for name in ("input_ids", "attention_mask")}
    with torch.no_grad():
        assert torch.equal(model(**bare).last_hidden_state, model(**inputs).last_hidden_state)


def test_missing_syntax_is_reported():
    inputs = batch()
    del inputs["enter"]
    with pytest.raises(InputError, match=naming("enter preset none")):
        model_of("bert")(**inputs)


def test_attention_weights_follow_the_mask():
    inputs = batch()
    with torch.no_grad():
        weights = model_of("bert")(**inputs, observe=True).observed["ancestor_attention"][0]
    allowed = (inputs["enter"].unsqueeze(1) <= inputs["enter"].unsqueeze(2)) & (
        inputs["enter"].unsqueeze(2) < inputs["exit"].unsqueeze(1)
    )
    assert weights.shape == (3, 4, 9, 9)
    assert (weights[~allowed.unsqueeze(1).expand_as(weights)] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 4, 9))


SIZES = {"vocab_size": 100, "num_layers": 2, "num_attention_heads": 4, "pad_token_id": 1}
UNLISTED = {
    "fnet": AutoConfig.for_model("fnet", hidden_size=32, num_hidden_layers=2, vocab_size=100),
    "layoutlm": tiny_config("layoutlm"),
    "xlm": AutoConfig.for_model("xlm", emb_dim=32, **SIZES),
    "xlnet": AutoConfig.for_model("xlnet", d_model=32, d_inner=48, n_head=4, **SIZES),
}


@pytest.mark.parametrize("model_type", UNLISTED)
def test_guides_that_need_no_site_work_on_other_encoders(model_type, caplog):
    """Those not in the table of sites; one has no attention, another one no maximum length."""
    config = UNLISTED[model_type]
    model = GuidedEncoder(
        SyntagmaConfig(encoder=config, guides=resolve_guides("sg-net", {}))
    ).eval()
    assert model(**batch()).last_hidden_state.shape == (3, 9, 32)
    assert max_pieces(config) >= 160
    warned = says(caplog.text, "fnet padding")
    assert warned == (model_type == "fnet")


def test_a_layer_is_not_copied_from_an_encoder_without_sites():
    guides = resolve_guides("sg-net", {})
    model = GuidedEncoder(SyntagmaConfig(encoder=tiny_config("layoutlm"), guides=guides))
    model.ancestor_attention.settings = AncestorAttention(initialise="last_layer")
    with pytest.raises(InputError, match=naming("layoutlm albert bert")):
        model.after_encoder_loaded("rembert")


@pytest.mark.parametrize(
    ("preset", "guides", "message"),
    [
        ("sgnet", {}, "sgnet sg-net"),
        ("none", {"ancestor_atention": {}}, "ancestor_atention ancestor_attention"),
        ("none", {"tree_bais": False}, "guides tree_bais tree_bias"),
        ("sg-net", {"ancestor_atention": False}, "guides ancestor_atention ancestor_attention"),
        ("sg-net", {"ancestor_attention": {"alfa": 1}}, "guides.ancestor_attention alfa alpha"),
        ("sg-net", {"ancestor_attention": {"alpha": 2}}, "guides.ancestor_attention alpha 0 1 2.0"),
        (
            "sg-net",
            {"ancestor_attention": {"aggregation": "sum"}},
            "guides.ancestor_attention.aggregation dual learned sum",
        ),
        ("sg-net", {"ancestor_attention": 3}, "guides.ancestor_attention `key: value` false 3"),
    ],
)
def test_invalid_guides_are_reported(preset, guides, message):
    with pytest.raises(InputError, match=naming(message)):
        resolve_guides(preset, guides)


@pytest.mark.parametrize("aggregation", ["concatenation", "bi_attention"])
def test_linear_aggregations_are_initialised_to_the_mean(encoder_folders, aggregation):
    guides = resolve_guides("sg-net", {"ancestor_attention": {"aggregation": aggregation}})
    model = GuidedEncoder.from_encoder(str(encoder_folders["bert"]), guides=guides)
    model.post_init()
    project = model.ancestor_attention.aggregator.project
    width = project.out_features
    assert torch.equal(project.weight[:, :width], torch.eye(width) / 2)
    assert torch.equal(project.weight[:, width : 2 * width], torch.eye(width) / 2)
    assert not project.weight[:, 2 * width :].any()
    assert not project.bias.any()


def test_a_model_limits_the_cache_of_compiled_kernels(tiny_encoder, monkeypatch):
    name = "ONEDNN_PRIMITIVE_CACHE_CAPACITY"
    monkeypatch.delenv(name, raising=False)
    GuidedEncoder.from_pretrained(tiny_encoder)
    assert os.environ[name] == "256"
    monkeypatch.setenv(name, "64")
    GuidedEncoder.from_pretrained(tiny_encoder)
    assert os.environ[name] == "64", "a value that the user has set is kept"


def test_threads_read_only_their_own_trees(tiny_encoder):
    guides = {"tree_distance": {"alpha": 0.9}, "pos_embedding": {}}
    torch.manual_seed(1)
    model = GuidedEncoder.from_pretrained(tiny_encoder, guides=guides)
    texts = ["The ferry left Port Ann at dawn.", "She sold the old barge to him."]
    batches = [
        SyntaxTokenizer.from_pretrained(tiny_encoder, parser=parser)(texts)
        for parser in ("linear", "linear:right")
    ]
    with torch.inference_mode():
        alone = [model(**batch).last_hidden_state for batch in batches]

    def read(place):
        with torch.inference_mode():
            return torch.equal(model(**batches[place]).last_hidden_state, alone[place])

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read, [0, 1] * 40))
    copied = copy.deepcopy(model)
    with torch.inference_mode():
        assert torch.equal(copied(**batches[0]).last_hidden_state, alone[0])


def test_threads_get_only_their_own_states_of_a_layer():
    model = model_of("bert", guided=False)
    batches = [{"input_ids": torch.full((1, 4), n), "attention_mask": torch.ones(1, 4)}
               for n in range(5, 13)]  # fmt: skip
    with torch.no_grad():
        expected = [model.states_after(1, **inputs) for inputs in batches]

    def ask(number: int) -> torch.Tensor:
        with torch.no_grad():
            return model.states_after(1, **batches[number % 8])

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, range(64)))
    assert all(torch.equal(states, expected[n % 8]) for n, states in enumerate(found))


@pytest.mark.slow
def test_compiled_code_without_guides_is_not_reused_with_guides(encoder_folders):
    folder = str(encoder_folders["bert"])
    plain = GuidedEncoder.from_pretrained(folder)
    guided = GuidedEncoder.from_pretrained(folder, guides={"tree_distance": {"alpha": 0.5}})
    inputs = batch() | {"depth": batch()["enter"].clamp(min=0)}
    with torch.no_grad():
        torch.compile(plain, backend="eager")(**inputs)
        found = torch.compile(guided, backend="eager")(**inputs).last_hidden_state
        expected = guided(**inputs).last_hidden_state
    torch.testing.assert_close(found, expected)
    assert not torch.allclose(expected, plain(**inputs).last_hidden_state)
