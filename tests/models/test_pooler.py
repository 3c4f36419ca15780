"""Pooling by the encoder's own pooler."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoModel

from syntagma import SyntaxTokenizer
from syntagma.errors import InputError
from syntagma.models.choice_model import ChoiceModel
from syntagma.models.pair_model import PairModel
from syntagma.models.span_model import SpanModel
from syntagma.tasks.experiment import TrainingSettings
from syntagma.training.trainable import parameter_groups
from tests.conftest import save_encoder, tiny_config
from tests.messages import naming, says

LABELS = {"labels": ["no", "yes"]}
TEXTS = ["The ferry left Port Ann at dawn.", "Nobody waved."]
OTHERS = ["It left.", "Who waved at whom?"]
WITH_POOLER = ["albert", "bert", "big_bird", "mpnet", "rembert", "roberta", "xlm-roberta"]
HEADS = {
    PairModel: {"pooling": "pooler"},
    ChoiceModel: {"pooling": "pooler"},
    SpanModel: {
        "objective": "answerability",
        "answerability_pooling": "pooler",
        "max_length": 96,
        "max_question_length": 24,
        "doc_stride": 32,
    },
}


def saved_encoder(model_type: str, folder):
    torch.manual_seed(4)
    return AutoModel.from_pretrained(save_encoder(folder, model_type)).eval()


@pytest.mark.parametrize("model_type", WITH_POOLER)
def test_the_vector_is_that_of_the_encoders_own_pooler(model_type, tmp_path):
    whole = saved_encoder(model_type, tmp_path)
    model = PairModel.from_encoder(
        str(tmp_path), task="pairs", labels=LABELS, head={"pooling": "pooler"}
    ).eval()
    inputs = {"input_ids": torch.randint(5, 90, (2, 9)), "attention_mask": torch.ones(2, 9).long()}
    with torch.no_grad():
        expected = whole(**inputs).pooler_output
        found = model.pool(model.encode(**inputs).last_hidden_state, inputs["attention_mask"])
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("kind", HEADS)
def test_it_is_read_trained_and_saved_behind_the_guided_layer(kind, tmp_path):
    saved_encoder("bert", tmp_path / "encoder")
    labels = {"labels": LABELS} if kind is PairModel else {}
    model = kind.from_encoder(
        str(tmp_path / "encoder"),
        task={PairModel: "pairs", ChoiceModel: "choice", SpanModel: "spans"}[kind],
        guides={"ancestor_attention": {"aggregate_special": "released"}},
        head=HEADS[kind],
        **labels,
    )
    batch = SyntaxTokenizer.for_model(model, parser="linear")(TEXTS, OTHERS)
    if kind is ChoiceModel:
        batch["n_options"] = torch.tensor([2])
    if kind is SpanModel:
        batch["context"] = batch["attention_mask"].bool()

    def scores(own):
        found = own(**batch)
        return found.answerability_logits if kind is SpanModel else found[0]

    scores(model)[0].square().sum().backward()
    assert model.pooler.dense.weight.grad.any()
    assert model.ancestor_attention.layers[0].value.weight.grad.any()
    settings = TrainingSettings(learning_rate=1e-4, head_learning_rate=1e-3)
    rates = {id(p): g["lr"] for g in parameter_groups(model, settings) for p in g["params"]}
    assert rates[id(model.pooler.dense.weight)] == 1e-4
    with torch.no_grad():
        model.pooler.dense.weight.mul_(1.5)
    model.save_pretrained(tmp_path / "saved")
    loaded = kind.from_pretrained(tmp_path / "saved").eval()
    with torch.no_grad():
        assert torch.equal(scores(loaded), scores(model.eval()))
    # A model for another task starts from the trained pooler.
    further = PairModel.from_encoder(
        str(tmp_path / "saved"), task="pairs", labels=LABELS, head={"pooling": "pooler"}
    )
    assert torch.equal(further.pooler.dense.weight, model.pooler.dense.weight)


@pytest.mark.parametrize("is_trained", [False, True])
def test_a_pooler_that_was_never_trained_is_reported(is_trained, tmp_path, caplog):
    whole = saved_encoder("bert", tmp_path)
    if is_trained:
        torch.nn.init.normal_(whole.pooler.dense.bias)
        whole.save_pretrained(tmp_path)
    PairModel.from_encoder(str(tmp_path), task="pairs", labels=LABELS, head={"pooling": "pooler"})
    assert says(caplog.text, f"{tmp_path} pooler trained random") != is_trained


def test_after_a_model_without_pooler_that_of_the_base_encoder_is_read(tmp_path):
    whole = saved_encoder("bert", tmp_path / "encoder")
    first = PairModel.from_encoder(str(tmp_path / "encoder"), task="pairs", labels=LABELS)
    assert first.pooler is None
    first.save_pretrained(tmp_path / "saved")
    found = PairModel.from_encoder(
        str(tmp_path / "saved"), task="pairs", labels=LABELS, head={"pooling": "pooler"}
    )
    assert torch.equal(found.pooler.dense.weight, whole.pooler.dense.weight)


@pytest.mark.parametrize("model_type", ["bert", "distilbert", "electra", "deberta"])
def test_an_encoder_without_pretrained_pooler_is_reported(model_type, tmp_path):
    saved_encoder(model_type, tmp_path)
    if model_type == "bert":
        bare = AutoModel.from_config(tiny_config("bert"), add_pooling_layer=False)
        bare.save_pretrained(tmp_path)
    with pytest.raises(InputError, match=naming(f"pooler {tmp_path} {model_type} first")):
        PairModel.from_encoder(
            str(tmp_path), task="pairs", labels=LABELS, head={"pooling": "pooler"}
        )


@pytest.mark.parametrize(
    ("guides", "kind", "message"),
    [
        ({"ancestor_attention": {}}, PairModel, "head.pooling max mean ancestor_attention pooler"),
        ({"coattention": {}}, ChoiceModel, "head.pooling max mean co-attention pooler"),
        ({"ancestor_attention": {}}, SpanModel, "head.answerability_pooling max mean pooler"),
    ],
)
def test_the_pooler_needs_a_first_piece(guides, kind, message, tiny_encoder):
    options = {"labels": LABELS} if kind is PairModel else {}
    with pytest.raises(InputError, match=naming(message)):
        kind.from_pretrained(tiny_encoder, guides=guides, head=HEADS[kind], **options)


def test_pooling_of_answerability_needs_answerability(tiny_encoder):
    with pytest.raises(InputError, match=naming("answerability_pooling max spans both")):
        SpanModel.from_pretrained(tiny_encoder, head={"answerability_pooling": "max"})
