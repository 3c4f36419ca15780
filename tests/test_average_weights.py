"""The mean of the weights of models."""

from __future__ import annotations

import average_weights
import pytest
import torch

from syntagma.encoders.load import load_tokenizer
from syntagma.errors import InputError
from syntagma.evaluation import open_model
from syntagma.models.span_model import SpanHead, SpanModel
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.task import SpanTask


def reader_on(encoder: str, **settings) -> SpanTask:
    head = SpanHead(max_length=32, doc_stride=8, max_question_length=12)
    model = SpanModel.from_encoder(encoder, task="spans", head=head, **settings)
    return SpanTask(Reader(model, load_tokenizer(encoder), precision="float32"))


def fill(task, number: float):
    with torch.no_grad():
        for weight in task.model.parameters():
            weight.fill_(number)
    return task


def test_weights_are_the_mean_by_name(tiny_encoder):
    first, second = (fill(reader_on(tiny_encoder), float(number)) for number in range(2))
    mean = average_weights.mean_of([first, first, second])
    assert mean is second
    for weight in mean.model.parameters():
        torch.testing.assert_close(weight, torch.full_like(weight, 1 / 3))


def test_some_count_more_and_what_is_equal_stays(tiny_encoder):
    tasks = [reader_on(tiny_encoder) for _ in range(3)]
    same = tasks[0].model.encoder.embeddings.word_embeddings.weight.detach().clone()
    for number, task in enumerate(tasks):
        fill(task, float(number))
        with torch.no_grad():
            task.model.encoder.embeddings.word_embeddings.weight.copy_(same)
    mean = average_weights.mean_of(tasks, [1, 2, 2]).model
    assert torch.equal(mean.encoder.embeddings.word_embeddings.weight, same)
    bias = mean.encoder.embeddings.LayerNorm.bias
    torch.testing.assert_close(bias, torch.full_like(bias, 6 / 5))
    with pytest.raises(InputError, match="--weights: expected a number for each of 3 models"):
        average_weights.mean_of(tasks, [1, 2])


def test_the_mean_of_parsers_is_written(tiny_parser, tmp_path):
    names = []
    for number in range(2):
        fill(open_model(tiny_parser), float(number)).save(tmp_path / str(number))
        names.append(str(tmp_path / str(number)))
    average_weights.main([*names, "--out", str(tmp_path / "mean")])
    for weight in open_model(str(tmp_path / "mean")).model.parameters():
        torch.testing.assert_close(weight, torch.full_like(weight, 0.5))


def test_models_of_another_shape_are_refused(tiny_encoder):
    other = reader_on(tiny_encoder, num_hidden_layers=1)
    with pytest.raises(InputError, match="by name and shape"):
        average_weights.mean_of([other, reader_on(tiny_encoder)])
