"""SEPREM's distances against walks over parents, and its layer against the equation."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from transformers import AutoConfig, AutoModel

from syntagma.encoders.sites import SITES
from syntagma.encoders.sites import layers as layers_of
from syntagma.errors import InputError
from syntagma.models import guided_encoder
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.guides import resolve_guides
from syntagma.models.inside import guided_inside
from syntagma.parse.columns import ParsedText
from syntagma.syntax.distances import normalised_strength, tree_distances
from syntagma.syntax.pieces import piece_syntax
from syntagma.syntax.tags import N_TAGS
from syntagma.text.sentence import Parse, Sentence
from tests.conftest import SUPPORTED
from tests.guided import guided
from tests.messages import naming

NAMES = ("enter", "exit", "depth", "word")


@st.composite
def forests(draw):
    """Draw trees of one or two sentences, projective or not, and the word of each piece."""
    sentences = []
    for _ in range(draw(st.integers(1, 2))):
        n_words = draw(st.integers(1, 6))
        order = draw(st.permutations(range(1, n_words + 1)))
        heads = [0] * n_words
        for place, word in enumerate(order[1:], start=1):
            heads[word - 1] = order[draw(st.integers(0, place - 1))]
        sentences.append(heads)
    words = []
    for word in range(sum(map(len, sentences))):
        words += [word] * draw(st.integers(1, 3))
    return sentences, [-1, *words, -1]


def columns(sentences, words):
    parses = []
    for heads in sentences:
        parses.append(Parse(Sentence.from_words(["w"] * len(heads)), tuple(heads)))
    import numpy as np

    word_of_piece = np.array([-100 if word < 0 else word for word in words])
    syntax = piece_syntax(ParsedText.from_parses(parses), word_of_piece)
    rows = {name: torch.from_numpy(syntax[name].copy()) for name in NAMES}
    # Pieces without a word have isolated intervals, as the sequence builder sets them.
    places = torch.arange(len(words)).int()
    alone = rows["word"] < 0
    rows["enter"] = torch.where(alone, -1 - places, rows["enter"])
    rows["exit"] = torch.where(alone, -places, rows["exit"])
    return [rows[name].unsqueeze(0) for name in NAMES]


def walk(sentences, words, direction):
    """Distances between pieces, each found by walking from parent to parent.

    A word without pieces cannot be the common ancestor, but arcs through it count.
    """
    present = set(words)
    parent, first = {}, 0
    for heads in sentences:
        for place, head in enumerate(heads):
            parent[first + place] = first + head - 1 if head else None
        first += len(heads)

    def above(word):
        found, steps = {}, 0
        while word is not None:
            found[word] = steps
            word, steps = parent[word], steps + 1
        return found

    n = len(words)
    is_first = [w >= 0 and (i == 0 or words[i - 1] != w) for i, w in enumerate(words)]
    result = torch.zeros(n, n)
    for i in range(n):
        for j in range(n):
            if words[i] < 0 or words[j] < 0 or words[i] == words[j]:
                continue
            up, down = above(words[i]), above(words[j])
            if direction in ("down", "both") and words[i] in down and is_first[i]:
                result[i, j] = down[words[i]]
            if direction in ("up", "both") and words[j] in up and is_first[j]:
                result[i, j] = up[words[j]]
            if direction == "undirected" and (is_first[i] or is_first[j]):
                common = [up[word] + down[word] for word in up if word in down and word in present]
                result[i, j] = min(common, default=0)
    return result


@pytest.mark.parametrize("direction", ["down", "up", "both", "undirected"])
@given(forests())
def test_distances_agree_with_walks_over_parents(direction, forest):
    found = tree_distances(*columns(*forest), direction=direction)
    assert torch.equal(found[0].float(), walk(*forest, direction))


@pytest.mark.parametrize("direction", ["down", "up", "both", "undirected"])
@given(forests(), st.data())
def test_distances_in_a_truncated_sentence_agree_with_walks_over_parents(direction, forest, data):
    sentences, words = forest
    begin = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(begin + 1, len(words)))
    cut = [column[:, begin:end] for column in columns(sentences, words)]
    found = tree_distances(*cut, direction=direction)
    assert torch.equal(found[0].float(), walk(sentences, words[begin:end], direction))


def test_long_paths_are_exact_in_half_precision():
    heads = list(range(600))
    with torch.autocast("cpu", torch.bfloat16):
        found = tree_distances(*columns([heads], heads), direction="undirected")[0]
    places = torch.arange(600)
    assert torch.equal(found, (places.unsqueeze(0) - places.unsqueeze(1)).abs().int())


def test_example_of_the_paper():
    """In *my dog is playing frisbee outside the room*, *outside* is 2 arcs below *playing*."""
    heads = [2, 4, 4, 0, 4, 8, 8, 4]
    found = tree_distances(*columns([heads], list(range(8))))[0]
    assert found[3, 5] == 2
    assert found[5, 3] == 0
    assert found[5, 4] == 0
    assert found[3].tolist() == [2, 1, 1, 0, 1, 2, 2, 1]


def test_strength_is_the_inverse_distance_normalised_by_rows():
    distances = torch.tensor([[[0, 1, 2], [0, 0, 0], [4, 0, 0]]])
    found = normalised_strength(distances)[0]
    expected = torch.tensor([[0, 2 / 3, 1 / 3], [0, 0, 0], [1.0, 0, 0]])
    torch.testing.assert_close(found, expected)
    assert normalised_strength(distances.bfloat16()).dtype == torch.float


def inputs(n: int = 9):
    torch.manual_seed(1)
    words = [-1, 0, 0, 1, 2, 3, 4, 4, -1]
    rows = dict(zip(NAMES, columns([[2, 0, 2], [2, 0]], words), strict=True))
    return {
        "input_ids": torch.randint(5, 90, (2, n)),
        "attention_mask": torch.ones(2, n, dtype=torch.long),
        **{name: column.expand(2, n) for name, column in rows.items()},
    }


@pytest.mark.parametrize("model_type", SUPPORTED)
class TestLayer:
    def test_with_alpha_zero_states_equal_the_encoders_bit_for_bit(self, model_type):
        model = guided(model_type, tree_distance={"alpha": 0.0})
        batch = inputs()
        with torch.no_grad():
            found = model(**batch).last_hidden_state
            expected = model.encoder(
                input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
            ).last_hidden_state
        assert torch.equal(found, expected)

    def test_the_input_of_every_layer_agrees_with_the_equation(self, model_type, monkeypatch):
        model = guided(model_type, tree_distance={"alpha": 0.3})
        batch = inputs()
        strength = normalised_strength(tree_distances(*(batch[name] for name in NAMES)))
        guide = model.tree_distance
        modules = layers_of(model.encoder, SITES[model_type])
        seen = []

        def before(module, arguments):
            layer = guide.layers[list(modules).index(module)]
            # The encoder may have appended padding.
            states, padding = arguments[0].split([9, arguments[0].shape[1] - 9], dim=1)
            mixed = states @ layer.own.weight.T + layer.own.bias
            mixed = mixed + strength @ (states @ layer.related.weight.T)
            mixed = 0.7 * states + 0.3 * guide.activation(mixed)
            seen.append(torch.cat([mixed, padding], dim=1))

        def after(module, arguments):
            torch.testing.assert_close(arguments[0], seen[-1], atol=1e-5, rtol=1e-4)

        for module in modules:
            module.register_forward_pre_hook(before)

        # The guide's hook runs in between: `before` gets the original input of the layer, `after`
        # the changed one.
        @contextmanager
        def between(*arguments, **options):
            with guided_inside(*arguments, **options) as losses:
                for module in modules:
                    module.register_forward_pre_hook(after)
                yield losses

        monkeypatch.setattr(guided_encoder, "guided_inside", between)
        with torch.no_grad():
            model(**batch)
        uses = 2 if model_type == "albert" else len(modules)
        assert len(seen) == uses

    def test_every_parameter_gets_a_gradient(self, model_type):
        model = guided(model_type, tree_distance={}).train()
        model(**inputs()).last_hidden_state.pow(2).mean().backward()
        guide = model.tree_distance
        assert guide.alpha.grad.abs() > 0
        for name, parameter in guide.named_parameters():
            assert parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("model_type", ["big_bird", "longformer"])
def test_padding_appended_by_the_encoder_changes_nothing(model_type):
    """45 pieces are more than one window, and not a multiple of windows or blocks."""
    guides = {"pos_embedding": {}, "tree_distance": {"alpha": 0.3}}
    model = guided(model_type, **guides)
    batch = {name: column.repeat(1, 5) for name, column in inputs().items()}
    batch["tag"] = torch.randint(0, N_TAGS, (2, 45))
    padded = {name: nn.functional.pad(column, (0, 3)) for name, column in batch.items()}
    with torch.no_grad():
        found = model(**batch).last_hidden_state
        expected = model(**padded).last_hidden_state
        after = model.states_after(1, **batch)
        plain = guided(model_type)(**batch).last_hidden_state
    assert found.shape == after.shape == (2, 45, 32)
    torch.testing.assert_close(found, expected[:, :45])
    assert not torch.allclose(found, plain, atol=1e-2)


@pytest.mark.parametrize("model_type", ["bart", "m2m_100", "marian", "mbart", "t5"])
def test_the_encoder_of_an_encoder_decoder_can_be_guided(model_type, tmp_path):
    sizes = {"vocab_size": 100, "d_model": 32, "pad_token_id": 1}
    if model_type == "t5":
        sizes |= {"num_layers": 2, "num_heads": 4, "d_ff": 48, "d_kv": 8}
    else:
        sizes |= {"max_position_embeddings": 160, "decoder_start_token_id": 2}
        for side in ("encoder", "decoder"):
            sizes |= {f"{side}_layers": 2, f"{side}_attention_heads": 4, f"{side}_ffn_dim": 48}
    torch.manual_seed(0)
    whole = AutoModel.from_config(AutoConfig.for_model(model_type, **sizes)).eval()
    whole.save_pretrained(tmp_path)
    batch = inputs()
    plain = {name: batch[name] for name in ("input_ids", "attention_mask")}
    with torch.no_grad():
        expected = whole.get_encoder()(**plain).last_hidden_state
        still = GuidedEncoder.from_encoder(str(tmp_path), guides={"tree_distance": {"alpha": 0.0}})
        found = still.eval()(**batch).last_hidden_state
        assert torch.equal(found, expected)
    model = GuidedEncoder.from_encoder(str(tmp_path), guides={"tree_distance": {}})
    model(**batch).last_hidden_state.pow(2).sum().backward()
    assert all(layer.related.weight.grad.any() for layer in model.tree_distance.layers)


def test_alpha_can_be_fixed():
    model = guided("bert", tree_distance={"learn_alpha": False, "alpha": 0.2})
    assert not model.tree_distance.alpha.requires_grad
    assert float(model.tree_distance.alpha) == pytest.approx(0.2)


def test_the_sum_has_no_alpha():
    model = guided("bert", tree_distance={"combination": "sum"}).train()
    guide = model.tree_distance
    assert {name.partition(".")[0] for name, _ in guide.named_parameters()} == {"layers"}
    states, strength = torch.randn(2, 5, 32), torch.rand(2, 5, 5)
    layer = guide.layers[1]
    added = states @ layer.own.weight.T + layer.own.bias
    added = guide.activation(added + strength @ (states @ layer.related.weight.T))
    found = guide.before_layer(1, states, strength)
    torch.testing.assert_close(found, states + added, atol=1e-6, rtol=1e-5)
    model(**inputs()).last_hidden_state.pow(2).mean().backward()
    assert all(p.grad.any() for p in guide.parameters())
    assert guide.learned_numbers(guide.settings, {}) == {}


def test_a_saved_model_is_loaded_with_its_combination(tiny_encoder, tmp_path):
    guides = {"tree_distance": {"combination": "sum"}}
    model = GuidedEncoder.from_pretrained(tiny_encoder, guides=guides).eval()
    model.save_pretrained(tmp_path)
    loaded = GuidedEncoder.from_pretrained(tmp_path).eval()
    with torch.no_grad():
        expected, found = (m(**inputs()).last_hidden_state for m in (model, loaded))
    assert torch.equal(found, expected)
    with pytest.raises(InputError, match=naming("guides.tree_distance.combination sum share")):
        GuidedEncoder.from_encoder(str(tmp_path), guides={"tree_distance": {}})


def test_no_hook_remains_after_a_forward_pass():
    model = guided("bert", tree_distance={})
    model(**inputs())
    with pytest.raises(InputError, match=naming("depth preset none")):
        model(**{name: value for name, value in inputs().items() if name != "depth"})
    assert all(not layer._forward_pre_hooks for layer in model.encoder.encoder.layer)


def test_strength_is_computed_in_single_precision():
    model = guided("bert", tree_distance={})
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        assert model(**inputs()).last_hidden_state.isfinite().all()


def test_settings_are_checked():
    for preset, guides, message in (
        ("seprem", {"tree_distance": {"alpha": 2}}, "guides.tree_distance alpha 0 1 2.0"),
        (
            "seprem",
            {"tree_distance": {"combination": "mean"}},
            "guides.tree_distance.combination share sum 'mean'",
        ),
        (
            "seprem",
            {"tree_distance": {"combination": "sum", "alpha": 0.5}},
            "guides.tree_distance combination sum 0.5 true share",
        ),
        (
            "seprem",
            {"tree_distance": {"direction": "left"}},
            "guides.tree_distance.direction down up both undirected left",
        ),
        (
            "seprem",
            {"ancestor_attention": {"pieces": "projection"}},
            "ancestor_attention.pieces projection share",
        ),
    ):
        with pytest.raises(InputError, match=naming(message)):
            resolve_guides(preset, guides)
    with pytest.raises(InputError, match=naming("direction down up both undirected")):
        tree_distances(*columns([[0]], [0]), direction="left")
