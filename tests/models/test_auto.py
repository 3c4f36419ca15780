from dataclasses import is_dataclass

import pytest
import torch
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForMultipleChoice,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)

from syntagma import GuidedEncoder, SyntaxTokenizer
from syntagma.encoders.load import load_tokenizer
from syntagma.encoders.model import SyntagmaModel
from syntagma.errors import InputError
from syntagma.models.choice_model import ChoiceModel
from syntagma.models.pair_model import PairModel
from syntagma.models.span_model import SpanModel
from syntagma.settings import to_dict
from syntagma.tasks import TASKS
from syntagma.tasks.auto import register
from tests.messages import naming


@pytest.fixture(autouse=True)
def registered():
    register()
    register()  # must be idempotent


def test_a_guided_encoder_can_be_loaded_by_auto_classes(tiny_encoder, tmp_path):
    model = GuidedEncoder.from_pretrained(tiny_encoder, guides={"tree_distance": {}})
    model.save_pretrained(tmp_path)
    load_tokenizer(tiny_encoder).save_pretrained(tmp_path)
    assert AutoConfig.from_pretrained(tmp_path).guides == to_dict(model.config.guides)
    found = AutoModel.from_pretrained(tmp_path)
    assert type(found) is GuidedEncoder
    batch = SyntaxTokenizer.from_pretrained(tmp_path, parser="linear")("The ferry left.")
    assert torch.equal(model(**batch)[0], found(**batch)[0])
    pieces = AutoTokenizer.from_pretrained(tmp_path)("The ferry left.")["input_ids"]
    assert batch["input_ids"][0, : len(pieces)].tolist() == pieces
    assert AutoModel.from_pretrained(tmp_path, dtype=torch.bfloat16).dtype == torch.bfloat16


def test_auto_classes_choose_the_model_of_the_task(tiny_encoder, tmp_path):
    labels = {"labels": ["no", "yes"]}
    PairModel.from_pretrained(tiny_encoder, task="pairs", labels=labels).save_pretrained(tmp_path)
    assert type(AutoModel.from_pretrained(tmp_path)) is PairModel


AUTO = {
    AutoModelForQuestionAnswering: (SpanModel, {}),
    AutoModelForMultipleChoice: (ChoiceModel, {}),
    AutoModelForSequenceClassification: (PairModel, {"num_labels": 2}),
}


@pytest.mark.parametrize("auto", AUTO)
def test_auto_classes_of_tasks_load_models_of_these_tasks(auto, tiny_encoder, tmp_path):
    kind, settings = AUTO[auto]
    model = kind.from_pretrained(tiny_encoder, guides={"tree_distance": {}}, **settings)
    model.save_pretrained(tmp_path / "model")
    found = auto.from_pretrained(tmp_path / "model")
    assert type(found) is kind
    for name, weight in model.state_dict().items():
        assert torch.equal(found.state_dict()[name], weight)
    assert type(auto.from_config(model.config)) is kind
    GuidedEncoder.from_pretrained(tiny_encoder).save_pretrained(tmp_path / "encoder")
    with pytest.raises(InputError, match=naming(f"'{model.config.task}' task")):
        auto.from_pretrained(tmp_path / "encoder")
    with pytest.raises(InputError, match=naming(f"'{model.config.task}' task")):
        auto.from_config(AutoConfig.from_pretrained(tmp_path / "encoder"))


def test_auto_classes_still_load_the_models_of_transformers(tiny_encoder):
    assert type(AutoModelForSequenceClassification.from_pretrained(tiny_encoder)).__name__ == (
        "BertForSequenceClassification"
    )


def test_a_new_model_can_be_built_from_a_configuration(tiny_encoder):
    guides = {"tree_distance": {"alpha": 0.25}}
    labels = {"labels": ["no", "yes"]}
    model = PairModel.from_pretrained(tiny_encoder, task="pairs", guides=guides, labels=labels)
    found = AutoModel.from_config(model.config, dtype=torch.bfloat16)
    assert type(found) is PairModel
    assert found.dtype == torch.bfloat16
    assert found.state_dict().keys() == model.state_dict().keys()
    assert found.tree_distance.alpha == 0.25
    assert not torch.equal(found.get_input_embeddings().weight, model.get_input_embeddings().weight)


def test_every_task_has_a_model():
    for task in TASKS.values():
        assert issubclass(task.model_class, SyntagmaModel)
        assert is_dataclass(task.model_class.head_class)


def test_a_model_for_an_unknown_task_is_reported(tiny_encoder, tmp_path):
    GuidedEncoder.from_pretrained(tiny_encoder, task="rides").save_pretrained(tmp_path)
    with pytest.raises(InputError, match=naming("rides choice spans typing")):
        AutoModel.from_pretrained(tmp_path)


def test_unknown_options_are_rejected(tiny_encoder, tmp_path):
    GuidedEncoder.from_pretrained(tiny_encoder).save_pretrained(tmp_path)
    with pytest.raises(InputError, match=naming("config.json quantization_config")):
        AutoModel.from_pretrained(tmp_path, quantization_config={"bits": 4})
