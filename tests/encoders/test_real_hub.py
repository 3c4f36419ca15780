"""A model from the real Hugging Face hub."""

from __future__ import annotations

import pytest
import torch

from syntagma import Reader
from syntagma.encoders import hub
from syntagma.encoders.load import load_encoder_config
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.syntax.tokenizer import SyntaxTokenizer
from tests.conftest import SENTENCES
from tests.messages import naming

# Half a megabyte.
TINY = "hf-internal-testing/tiny-random-bert"

pytestmark = pytest.mark.hub


@pytest.fixture(autouse=True)
def _reachable(tmp_path, monkeypatch):
    if not hub.is_reachable():
        pytest.skip("the hub is not reachable")
    # An empty cache.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))


def test_an_encoder_from_the_hub_can_be_guided():
    config = load_encoder_config(TINY)
    assert config.model_type == "bert"
    model = GuidedEncoder.from_pretrained(TINY, guides="sg-net").eval()
    tokenizer = SyntaxTokenizer.from_pretrained(TINY, parser="linear")
    with torch.no_grad():
        states = model(**tokenizer(SENTENCES[:2])).last_hidden_state
    assert states.shape[0] == 2
    assert states.shape[-1] == config.hidden_size
    assert states.isfinite().all()


def test_a_question_answering_model_from_the_hub_is_a_reader():
    """17 MB, trained on SQuAD 2.0."""
    reader = Reader.from_pretrained("mrm8488/bert-tiny-finetuned-squadv2")
    assert reader.model.head.question_first
    answer = reader("The ferry left Port Ann at dawn.", "Where did the ferry leave?")
    assert answer.candidates


def test_a_missing_model_is_reported():
    with pytest.raises(InputError, match=naming("hf-internal-testing/no-such-model-here")):
        load_encoder_config("hf-internal-testing/no-such-model-here")
