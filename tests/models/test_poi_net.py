"""The parts of POI-Net against naive code written from the paper, on every encoder."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from syntagma.encoders.config import SyntagmaConfig
from syntagma.encoders.sites import SITES
from syntagma.errors import InputError
from syntagma.models.coattention import IterativeCoAttention
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.guides import read_guides, resolve_guides
from syntagma.models.pooling import find_pooling
from syntagma.syntax.tags import N_TAGS
from tests.conftest import SUPPORTED, tiny_config
from tests.guided import guided
from tests.messages import naming

INTEGRATIONS = ["average", "weighted", "forgetting", "intuition"]


def cosine(one, other):
    return float(one @ other / max(one.norm() * other.norm(), 1e-12))


def scale(scores):
    low, high = min(scores.values()), max(scores.values())
    return {i: (s - low) / (high - low) if high - low > 1e-6 else 1.0 for i, s in scores.items()}


def naive(states, domain, turns, how):
    """Compute sections 2.2 and 2.3 for one sequence, piece by piece."""
    passage = [i for i, d in enumerate(domain) if d == 0]
    question = [i for i, d in enumerate(domain) if d == 1]
    scaled = {i: states[i] for i in passage + question}
    raw_p, raw_q, scores, betas = 1.0, 1.0, [], []
    for _ in range(turns):
        pool_p = torch.stack([scaled[i] for i in passage]).max(0).values
        pool_q = torch.stack([scaled[i] for i in question]).max(0).values
        s_p = {i: cosine(states[i], pool_q) for i in passage}
        s_q = {i: cosine(states[i], pool_p) for i in question}
        scores.append(scale(s_p) | scale(s_q))
        betas.append(((raw_q + 1) / 2, (raw_p + 1) / 2))
        raw_p, raw_q = max(s_p.values()), max(s_q.values())
        scaled = {i: scores[-1][i] * states[i] for i in scaled}
    result = torch.zeros_like(states)
    for i in scaled:
        s, b = [turn[i] for turn in scores], [beta[domain[i]] for beta in betas]
        if how == "average":
            weight = sum(s) / turns
        elif how == "weighted":
            weight = sum(x * y for x, y in zip(s, b, strict=True)) / sum(b)
        elif how == "intuition":
            alpha = [math.prod(b[: t + 1]) for t in range(turns)]
            weight = sum(x * y for x, y in zip(s, alpha, strict=True)) / sum(alpha)
        else:
            # R and the bold s of section 2.3; in the first turn, the bold s is the score itself.
            bold = s[0]
            for t in range(1, turns):
                bold = (bold + b[t - 1] * s[t - 1]) / (1 + b[t - 1])
            weight = (bold + b[-1] * s[-1]) / (1 + b[-1])
        result[i] = weight * states[i]
    return result, scores


@pytest.mark.parametrize("turns", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("how", INTEGRATIONS)
def test_co_attention_agrees_with_the_paper(turns, how):
    torch.manual_seed(turns)
    states = torch.randn(2, 9, 6)
    domain = torch.tensor([[0, 0, 0, 0, 0, 1, 1, 1, -1], [0, 0, 1, 1, 1, 1, 1, 1, 1]])
    found = IterativeCoAttention(turns=turns, integration=how)(states, domain)
    for row in range(2):
        expected, scores = naive(states[row], domain[row].tolist(), turns, how)
        inside = domain[row] >= 0
        torch.testing.assert_close(found.states[row][inside], expected[inside])
        for turn in range(turns):
            for piece, score in scores[turn].items():
                assert float(found.scores[turn, row, piece]) == pytest.approx(score, abs=1e-5)
    assert (found.scores[:, 0, -1] == 0).all()


def test_integrations_differ_from_the_second_or_third_turn_on():
    torch.manual_seed(0)
    states, domain = torch.randn(2, 9, 6), torch.tensor([[0] * 5 + [1] * 4, [0] * 3 + [1] * 6])
    one, two, three = (
        [
            IterativeCoAttention(turns=turns, integration=how)(states, domain).states
            for how in INTEGRATIONS
        ]
        for turns in (1, 2, 3)
    )
    for same in (one, two[1:]):
        for found in same[1:]:
            torch.testing.assert_close(found, same[0])
    assert not torch.allclose(two[0], two[1])
    assert all(not torch.allclose(a, b) for i, a in enumerate(three) for b in three[:i])


def test_zero_turns_change_nothing():
    states = torch.randn(1, 4, 6)
    found = IterativeCoAttention(turns=0)(states, torch.tensor([[0, 0, 1, 1]]))
    assert found.states is states
    assert found.scores.shape == (0, 1, 4)


@pytest.mark.parametrize("how", INTEGRATIONS)
@pytest.mark.parametrize(
    "domain",
    [
        [0, 1, -1, -1],  # one piece each
        [0, 0, 0, 0],  # the question was truncated
        [1, 1, 1, 1],
        [0, 0, 0, 1],
        [-1, -1, -1, -1],
    ],
)
@pytest.mark.parametrize("equal", [False, True])
def test_degenerate_domains_give_finite_states_and_gradients(how, domain, equal):
    states = torch.randn(1, 4, 5)
    if equal:
        states = torch.ones(1, 4, 5)
    states.requires_grad_()
    found = IterativeCoAttention(turns=3, integration=how)(states, torch.tensor([domain]))
    found.states.pow(2).sum().backward()
    assert found.states.isfinite().all()
    assert found.scores.isfinite().all()
    assert states.grad.isfinite().all()
    if equal:
        inside = torch.tensor([domain]) >= 0
        # The states of a domain with equal scores do not change.
        torch.testing.assert_close(found.states[inside], states.detach()[inside])


@pytest.mark.parametrize("how", INTEGRATIONS)
def test_gradients_agree_with_finite_differences(how):
    torch.manual_seed(3)
    states = torch.randn(1, 6, 4, dtype=torch.double, requires_grad=True)
    domain = torch.tensor([[0, 0, 0, 0, 1, 1]])
    attention = IterativeCoAttention(turns=3, integration=how)
    assert torch.autograd.gradcheck(lambda x: attention(x, domain).states, (states,))


def test_scores_are_not_rounded_in_mixed_precision():
    torch.manual_seed(5)
    states = torch.randn(1, 40, 16)
    domain = torch.tensor([[0] * 30 + [1] * 10])
    attention = IterativeCoAttention(turns=3)
    expected = attention(states, domain)
    with torch.autocast("cpu", torch.bfloat16):
        found = attention(states, domain)
    assert found.scores.dtype == torch.float32
    torch.testing.assert_close(found.scores, expected.scores)


def test_padding_and_other_sequences_change_nothing():
    torch.manual_seed(0)
    attention = IterativeCoAttention(turns=3)
    short, long = torch.randn(1, 5, 8), torch.randn(1, 9, 8)
    domains = torch.tensor([[0, 0, 0, 1, 1, -1, -1, -1, -1], [0, 0, 0, 0, 1, 1, 1, 1, 1]])
    padded = torch.cat([torch.cat([short, torch.full((1, 4, 8), 77.0)], 1), long])
    together = attention(padded, domains).states
    alone = attention(short, domains[:1, :5]).states
    torch.testing.assert_close(together[:1, :5], alone)


def inputs(n: int = 7) -> dict[str, torch.Tensor]:
    torch.manual_seed(1)
    return {
        "input_ids": torch.randint(5, 90, (2, n)),
        "attention_mask": torch.ones(2, n, dtype=torch.long),
        "tag": torch.randint(0, N_TAGS, (2, n)),
        "domain": torch.tensor([[0, 0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1, 1]]),
    }


@pytest.mark.parametrize("model_type", ["deberta-v2", "electra", "albert", "mobilebert"])
def test_tag_embeddings_have_the_width_of_the_norm(model_type):
    config = tiny_config(model_type, embedding_size=16)
    model = GuidedEncoder(SyntagmaConfig(encoder=config, guides={"pos_embedding": {}}))
    ids = torch.tensor([[2, 5, 6, 3]])
    found = model(ids, torch.ones_like(ids), tag=torch.tensor([[36, 1, 2, 36]]))
    assert found.last_hidden_state.shape == (1, 4, config.hidden_size)


@pytest.mark.parametrize("model_type", SUPPORTED)
class TestPosEmbedding:
    def test_tags_are_added_to_the_embeddings_before_the_norm(self, model_type):
        model = guided(model_type, pos_embedding={})
        batch = inputs()
        words = model.encoder.get_submodule(SITES[model_type].word_embeddings)
        with torch.no_grad():
            found = model(**batch).last_hidden_state
            vectors = words(batch["input_ids"]) + model.pos_embedding.table(batch["tag"])
            expected = model.encoder(
                inputs_embeds=vectors, attention_mask=batch["attention_mask"]
            ).last_hidden_state
        torch.testing.assert_close(found, expected)

    def test_initialised_with_zeros_the_states_equal_the_encoders(self, model_type):
        model = guided(model_type, pos_embedding={"initialise": "zero"})
        batch = inputs()
        with torch.no_grad():
            found = model(**batch).last_hidden_state
            expected = model.encoder(
                input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
            ).last_hidden_state
        assert torch.equal(found, expected)

    def test_every_tag_that_occurs_gets_a_gradient(self, model_type):
        model = guided(model_type, pos_embedding={}, coattention={"turns": 2}).train()
        model(**inputs()).last_hidden_state.pow(2).mean().backward()
        used = model.pos_embedding.table.weight.grad.abs().sum(1) > 0
        assert set(used.nonzero().flatten().tolist()) == set(inputs()["tag"].flatten().tolist())


def test_no_tag_embedding_remains_in_the_encoder():
    model = guided("bert", pos_embedding={})
    batch = inputs() | {"tag": torch.full((2, 7), N_TAGS)}
    with pytest.raises(IndexError):
        model(**batch)
    norm = model.encoder.embeddings.LayerNorm
    assert not norm._forward_pre_hooks


def test_a_trained_table_is_not_read_with_other_tags(tiny_encoder, tmp_path):
    penn = {"pos_embedding": {"tags": "penn"}}
    GuidedEncoder.from_encoder(tiny_encoder, guides=penn).save_pretrained(tmp_path)
    for tags in ("penn", "auto"):
        model = GuidedEncoder.from_encoder(tmp_path, guides={"pos_embedding": {"tags": tags}})
        assert model.pretrained_keys == {"pos_embedding.table.weight"}
        # Else training on texts with other tags would choose those for the rows of these.
        assert model.config.guides["pos_embedding"].tags == "penn"
    with pytest.raises(InputError, match=naming("guides.pos_embedding.tags penn upos")):
        GuidedEncoder.from_encoder(tmp_path, guides={"pos_embedding": {"tags": "upos"}})


def test_missing_tensors_are_reported():
    for guide, name in (("pos_embedding", "tag"), ("coattention", "domain")):
        batch = inputs()
        del batch[name]
        with pytest.raises(InputError, match=naming(f"{name} preset none")):
            guided("bert", **{guide: {}})(**batch)


def test_tag_embeddings_need_an_encoder_in_the_table_of_sites():
    config = tiny_config("bert")
    config.model_type = "unheard-of"
    with pytest.raises(InputError, match=naming("unheard-of albert bert")):
        GuidedEncoder.__init__(
            GuidedEncoder.__new__(GuidedEncoder),
            SyntagmaConfig(encoder=config, guides=resolve_guides("poi-net", {})),
        )


def test_poi_net_adds_only_the_tag_embeddings_as_parameters():
    plain, poi = guided("bert"), guided("bert", pos_embedding={}, coattention={})
    counts = [sum(p.numel() for p in model.parameters()) for model in (plain, poi)]
    assert counts[1] - counts[0] == N_TAGS * 32
    multi_head = guided("bert", coattention={"kind": "multi_head"})
    added = sum(p.numel() for p in multi_head.parameters()) - counts[0]
    one_layer = sum(p.numel() for p in plain.encoder.encoder.layer[0].parameters())
    assert added == one_layer


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_multi_head_attends_to_the_other_domain_only(turns):
    model = guided("bert", coattention={"kind": "multi_head", "turns": turns})
    states = torch.randn(1, 5, 32)
    domain = torch.tensor([[0, 0, 1, 1, -1]])
    attention = model.coattention.attention
    found = attention(states, domain)
    if turns == 1:
        changed = states.clone()
        changed[0, 1] += 1.0
        other = attention(changed, domain)
        # Piece 0 does not attend to piece 1 of its own domain; pieces 2 and 3 do.
        torch.testing.assert_close(found[0, 0], other[0, 0])
        assert not torch.allclose(found[0, 2], other[0, 2])
    alone = attention(states, torch.tensor([[0, 0, 0, 0, 0]]))
    assert alone.isfinite().all()
    if turns == 0:
        assert torch.equal(found, states)


def test_scores_of_every_turn_are_returned_on_request():
    model = guided("bert", coattention={"turns": 4}, ancestor_attention=False)
    observed = model(**inputs(), observe=True).observed
    assert observed["coattention"].shape == (4, 2, 7)
    assert model(**inputs()).observed is None


def test_settings_are_checked():
    for guides, message in (
        ({"coattention": {"turns": -1}}, "guides.coattention turns 0 -1"),
        (
            {"coattention": {"integration": "sum"}},
            "guides.coattention.integration average weighted sum",
        ),
        (
            {"pos_embedding": {"initialise": "one"}},
            "guides.pos_embedding.initialise random zero one",
        ),
    ):
        with pytest.raises(InputError, match=naming(message)):
            resolve_guides("poi-net", guides)
    order = list(resolve_guides("none", {"coattention": {}, "pos_embedding": {}}))
    assert order == ["pos_embedding", "coattention"]
    assert isinstance(guided("bert").guides, list)
    assert nn.Module not in [type(guide) for guide in guided("bert").guides]


def test_the_first_piece_cannot_represent_a_sequence_after_co_attention():
    coattention = read_guides({"coattention": {}})
    assert find_pooling("auto", coattention) == "max"
    assert find_pooling("mean", coattention) == "mean"
    for guides in ({}, {"coattention": {"kind": "multi_head"}}, {"coattention": {"turns": 0}}):
        guides = read_guides(guides)
        assert find_pooling("auto", guides) == find_pooling("first", guides) == "first"
    with pytest.raises(InputError, match=naming("head.pooling max mean first")):
        find_pooling("first", coattention)
