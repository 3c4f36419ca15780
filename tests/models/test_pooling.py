import pytest
import torch

from syntagma import SyntaxTokenizer
from syntagma.errors import InputError
from syntagma.models.guides import read_guides, resolve_guides
from syntagma.models.mention_model import TypingModel
from syntagma.models.pair_model import PairModel
from syntagma.models.pooling import find_pooling
from syntagma.models.span_model import SpanModel
from tests.messages import naming

LABELS = {"labels": ["no", "yes"]}
TEXTS = ["The ferry left Port Ann at dawn.", "Nobody waved."]
OTHERS = ["It left.", "Who waved at whom?"]


@pytest.mark.parametrize(
    ("guides", "expected"),
    [
        ({}, "first"),
        ({"tree_distance": {}, "pos_embedding": {}}, "first"),
        ({"coattention": {}}, "max"),
        ({"coattention": {"turns": 0}}, "first"),
        ({"ancestor_attention": {}}, "mean"),
        ({"ancestor_attention": {"mask": "all"}}, "mean"),
        ({"ancestor_attention": {"aggregation": "vanilla_only"}}, "first"),
        ({"ancestor_attention": {}, "coattention": {}}, "max"),
    ],
)
def test_the_first_piece_is_pooled_only_if_guides_reach_it(guides, expected):
    guides = read_guides(guides)
    assert find_pooling("auto", guides) == expected
    if expected != "first":
        with pytest.raises(InputError, match=naming("head.pooling max mean first")):
            find_pooling("first", guides)


@pytest.mark.parametrize("special", [True, "released"])
def test_an_aggregated_first_piece_is_pooled_on_request(special, tiny_encoder):
    own = {"ancestor_attention": {"aggregate_special": special}}
    guides = read_guides(own)
    assert find_pooling("auto", guides) == "mean"
    assert find_pooling("first", guides) == "first"
    with pytest.raises(InputError, match=naming("head.pooling max mean co-attention first")):
        find_pooling("first", read_guides(own | {"coattention": {}}))
    model = PairModel.from_pretrained(
        tiny_encoder, guides=own, labels=LABELS, head={"pooling": "first"}
    )
    batch = SyntaxTokenizer.from_pretrained(tiny_encoder, parser="linear")(TEXTS, OTHERS)
    model(**batch, labels=torch.tensor([0, 1])).loss.backward()
    layer = model.ancestor_attention.layers[0]
    assert all(part.weight.grad.any() for part in (layer.value, layer.feed_forward_out))
    # Attention to one piece has the weight 1, whatever query and key are.
    assert bool(layer.query.weight.grad.abs().max() > 1e-9) == (special == "released")


@pytest.mark.parametrize("preset", ["sg-net", "poi-net", "seprem"])
@pytest.mark.parametrize("objective", ["pairs", "answerability", "both"])
def test_every_guide_gets_gradients_from_the_pooled_vector(preset, objective, tiny_encoder):
    guides = resolve_guides(preset, {})
    torch.manual_seed(1)
    if objective == "pairs":
        model = PairModel.from_pretrained(tiny_encoder, guides=guides, labels=LABELS)
    else:
        model = SpanModel.from_pretrained(
            tiny_encoder,
            guides=guides,
            head={
                "objective": objective,
                "max_length": 96,
                "max_question_length": 24,
                "doc_stride": 32,
            },
        )
    batch = SyntaxTokenizer.from_pretrained(tiny_encoder, parser="linear")(TEXTS, OTHERS)
    if objective == "pairs":
        loss = model(**batch, labels=torch.tensor([0, 1])).loss
    else:
        found = model(**batch, context=batch["attention_mask"].bool())
        loss = found.answerability_logits.square().sum()
    loss.backward()
    for guide in model.guides:
        parameters = [p for p in guide.parameters() if p.requires_grad]
        assert not parameters or any(p.grad is not None and p.grad.any() for p in parameters)


def test_special_markers_are_rejected_with_ancestor_attention(tiny_encoder):
    options = {"labels": LABELS, "head": {"markers": "special"}}
    with pytest.raises(InputError, match=naming("head.markers ancestor_attention head special")):
        TypingModel.from_pretrained(tiny_encoder, guides="sg-net", **options)
    TypingModel.from_pretrained(tiny_encoder, guides="seprem", **options)
