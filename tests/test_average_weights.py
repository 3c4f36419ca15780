"""The mean of the weights of readers."""

from __future__ import annotations

import average_weights
import pytest
import torch

from syntagma.encoders.load import load_tokenizer
from syntagma.errors import InputError
from syntagma.models.span_model import SpanHead, SpanModel
from syntagma.tasks.spans.reader import Reader


def reader_on(encoder: str, **settings) -> Reader:
    head = SpanHead(max_length=32, doc_stride=8, max_question_length=12)
    model = SpanModel.from_encoder(encoder, task="spans", head=head, **settings)
    return Reader(model, load_tokenizer(encoder), precision="float32")


def test_weights_are_the_mean_by_name(tiny_encoder):
    first, second = reader_on(tiny_encoder), reader_on(tiny_encoder)
    with torch.no_grad():
        for number, reader in enumerate((first, second)):
            for weight in reader.model.parameters():
                weight.fill_(float(number))
    mean = average_weights.mean_of([first, first, second])
    assert mean is second
    for weight in mean.model.parameters():
        torch.testing.assert_close(weight, torch.full_like(weight, 1 / 3))


def test_models_of_another_shape_are_refused(tiny_encoder):
    other = reader_on(tiny_encoder, num_hidden_layers=1)
    with pytest.raises(InputError, match="by name and shape"):
        average_weights.mean_of([other, reader_on(tiny_encoder)])
