"""Models return what Transformers' models return."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoModel
from transformers.utils import ModelOutput

from syntagma import GuidedEncoder, SyntaxTokenizer
from syntagma.models.choice_model import ChoiceModel
from syntagma.models.mention_model import RelationModel, TypingModel
from syntagma.models.pair_model import PairModel
from syntagma.models.span_model import SpanModel
from syntagma.parse.scorer import ParserScores, WordStates
from tests.guided import whole_batch

N = 9
HEADS = {
    GuidedEncoder: ({}, {}),
    PairModel: ({"num_labels": 3}, {"labels": torch.tensor([0, 1, 2])}),
    SpanModel: (
        {},
        {"start_positions": torch.tensor([1, 2, 3]), "end_positions": torch.tensor([2, 2, 4])},
    ),
    ChoiceModel: ({}, {"n_options": torch.tensor([3]), "labels": torch.tensor([1])}),
    TypingModel: ({"num_labels": 2}, {"markers": torch.ones(3, 1, dtype=torch.long)}),
    RelationModel: (
        {"num_labels": 2},
        {"markers": torch.ones(3, 2, dtype=torch.long), "labels": torch.tensor([0, 1, 1])},
    ),
}


def made(kind: type[GuidedEncoder], encoder: str, **settings: object) -> GuidedEncoder:
    torch.manual_seed(7)
    return kind.from_pretrained(encoder, parser="linear", **(HEADS[kind][0] | settings))


@pytest.mark.parametrize("kind", HEADS)
def test_results_are_model_outputs(kind, tiny_encoder):
    model = made(kind, tiny_encoder, guides={"tree_distance": {}, "ancestor_attention": {}})
    inputs = whole_batch() | HEADS[kind][1]
    with torch.no_grad():
        plain = model(**inputs)
        found = model(**inputs, output_hidden_states=True, output_attentions=True)
    assert isinstance(plain, ModelOutput)
    assert plain.hidden_states is None
    assert plain.attentions is None
    assert list(plain.keys()) == [
        key for key in found if key not in ("hidden_states", "attentions")
    ]
    n_layers, n_heads = (
        getattr(model.config.encoder, name) for name in ("num_hidden_layers", "num_attention_heads")
    )
    assert len(found.hidden_states) == n_layers + 1
    assert {states.shape for states in found.hidden_states} == {
        (3, N, model.config.encoder.hidden_size)
    }
    assert [weights.shape for weights in found.attentions] == [(3, n_heads, N, N)] * n_layers
    first = next(iter(plain))
    assert plain[0] is plain[first] is plain.to_tuple()[0]
    torch.testing.assert_close(plain[0], found[0])
    assert (first == "loss") == ("labels" in inputs or "start_positions" in inputs)


def test_states_and_weights_are_those_of_the_encoder(tiny_encoder):
    plain = AutoModel.from_pretrained(tiny_encoder, attn_implementation="eager").eval()
    model = made(GuidedEncoder, tiny_encoder)
    inputs = {name: whole_batch()[name] for name in ("input_ids", "attention_mask")}
    wanted = plain(**inputs, output_hidden_states=True, output_attentions=True)
    before = model.trunk.config._attn_implementation
    found = model(**inputs, output_hidden_states=True, output_attentions=True)
    for name in ("hidden_states", "attentions"):
        for one, other in zip(found[name], wanted[name], strict=True):
            torch.testing.assert_close(one, other)
    assert model.trunk.config._attn_implementation == before
    assert torch.equal(found.hidden_states[-1], found.last_hidden_state)


def test_an_answer_may_be_anywhere_without_a_context(tiny_encoder):
    model = made(SpanModel, tiny_encoder)
    inputs = whole_batch()
    found = model(**inputs)
    wanted = model(**inputs, context=inputs["attention_mask"].bool())
    assert torch.equal(found.start_logits, wanted.start_logits)
    inside = inputs["attention_mask"].bool()
    assert found.end_logits[inside].isfinite().all()
    assert found.end_logits[~inside].isinf().all()


def test_options_can_be_a_dimension(tiny_encoder):
    model = made(ChoiceModel, tiny_encoder, guides={"tree_distance": {}})
    inputs = {name: torch.cat([part, part]) for name, part in whole_batch().items()}
    flat = model(**inputs, n_options=torch.tensor([3, 3]), labels=torch.tensor([1, 0]))
    shaped = {name: tensor.unflatten(0, (2, 3)) for name, tensor in inputs.items()}
    found = model(**shaped, labels=torch.tensor([1, 0]))
    assert torch.equal(found.logits, flat.logits)
    assert torch.equal(found.loss, flat.loss)
    with pytest.raises(ValueError, match="n_options"):
        model(**inputs)


@pytest.mark.parametrize(
    "given",
    [
        {"labels": ["no", "yes"]},
        {"id2label": {0: "no", 1: "yes"}},
        {"labels": {"labels": ["no", "yes"]}},
    ],
)
def test_classes_are_named_in_several_ways(tiny_encoder, given, tmp_path):
    model = PairModel.from_pretrained(tiny_encoder, **given)
    assert model.config.id2label == {0: "no", 1: "yes"}
    assert model.config.task == "pairs"
    model.save_pretrained(tmp_path)
    assert PairModel.from_pretrained(tmp_path).config.labels == {"labels": ["no", "yes"]}


@pytest.mark.parametrize(
    "given", [{}, {"num_labels": 0}, {"id2label": {1: "no"}}, {"num_labels": 2, "labels": ["a"]}]
)
def test_missing_classes_are_reported(tiny_encoder, given):
    with pytest.raises(ValueError, match="labels"):
        PairModel.from_pretrained(tiny_encoder, **given)


def test_the_scores_of_a_parser_are_a_field():
    states = WordStates(*torch.zeros(5, 1), None)
    assert ParserScores(states=states).states is states
    assert ParserScores(states=states).loss is None


def test_tokenizers_return_tensors_arrays_or_lists(tiny_encoder):
    tokenizer = SyntaxTokenizer.from_pretrained(tiny_encoder, parser="linear")
    texts = ["The ferry left.", "Gulls cried over the harbour."]
    tensors = tokenizer(texts)
    assert tokenizer(texts, return_tensors="pt").keys() == tensors.keys()
    arrays, lists = (tokenizer(texts, return_tensors=kind) for kind in ("np", None))
    for name, tensor in tensors.items():
        assert (arrays[name] == tensor.numpy()).all()
        assert lists[name] == tensor.tolist()
    with pytest.raises(ValueError, match=r"return_tensors.*'tf'"):
        tokenizer(texts, return_tensors="tf")
