"""Parsers whose words are read from an average of all layers."""

import pytest
import torch

from syntagma.errors import InputError
from syntagma.packing import pack
from syntagma.parse.layer_average import LayerAverage
from syntagma.parse.parser import JointParser
from syntagma.tasks.parsing.task import ParsingTask
from syntagma.tasks.parsing.treebanks import read_treebank
from syntagma.training.run import train
from tests.builders import experiment, treebank
from tests.conftest import SUPPORTED, save_encoder
from tests.messages import naming

HEAD = {"layers": "weighted"}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return treebank(tmp_path_factory.mktemp("trees") / "tides.conllu")


def new_model(encoder, data):
    """A new parser on an encoder, and a batch of two sentences."""
    examples = read_treebank(data)
    task = ParsingTask.new(experiment("parsing", data, str(encoder), head=HEAD), examples)
    return task.model.train(), task.collate(task.features(examples)[:2])


@pytest.fixture(scope="module")
def trained(tmp_path_factory, data, tiny_encoder):
    run = tmp_path_factory.mktemp("weighted") / "run"
    training = {"num_train_epochs": 3, "learning_rate": 3e-3, "head_learning_rate": 2e-2}
    train(experiment("parsing", data, tiny_encoder, head=HEAD, training=training), run)
    return run


def test_the_average_starts_even_and_follows_its_weights() -> None:
    average = LayerAverage(3)
    states = [torch.full((2, 4), float(layer)) for layer in (1, 2, 6)]
    torch.testing.assert_close(average(states), torch.full((2, 4), 3.0))
    with torch.no_grad():
        average.logits[2] = 5.0
    torch.testing.assert_close(average(states), states[2])
    average(states).sum().backward()
    assert average.logits.grad is not None


def test_words_are_read_from_all_layers_alone_and_in_batches(data, tiny_encoder):
    task = ParsingTask.new(
        experiment("parsing", data, tiny_encoder, head=HEAD), read_treebank(data)
    )
    model, encoder = task.model.eval(), task.parser.encoder
    encoded = encoder.encode([example.gold.sentence for example in read_treebank(data)[:3]])
    batch = encoder.collate(encoded)
    pieces = batch["attention_mask"].bool()
    inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
    with torch.inference_mode():
        states, _ = model.encode_pieces(**inputs)
        layers = model.encoder(**inputs, output_hidden_states=True).hidden_states
        torch.testing.assert_close(states[pieces], torch.stack(layers).mean(0)[pieces])
        alone = model(**encoder.collate([encoded[0]])).states.arcs
        together = model(**batch).states.arcs[:1, : alone.shape[1], : alone.shape[2]]
    torch.testing.assert_close(alone, together)


def test_the_weights_are_learned_and_saved(trained, data, tmp_path):
    parser = JointParser.from_pretrained(trained)
    weights = parser.model.layer_average.logits
    assert len(set(weights.tolist())) == len(weights)
    pack(trained, tmp_path / "packed", bits=8)
    sentences = [example.gold.sentence for example in read_treebank(data)]
    packed = JointParser.from_pretrained(tmp_path / "packed")
    assert packed.model.layer_average.logits.tolist() == pytest.approx(weights.tolist(), abs=1e-3)
    expected, found = parser.parse(sentences), packed.parse(sentences)
    same = [a == b for p, q in zip(expected, found, strict=True)
            for a, b in zip(p.heads, q.heads, strict=True)]  # fmt: skip
    assert sum(same) > 0.95 * len(same)


@pytest.mark.parametrize("model_type", SUPPORTED)
def test_every_supported_encoder_gives_its_layers(model_type, data, tmp_path):
    model, batch = new_model(save_encoder(tmp_path / model_type, model_type), data)
    model(**batch).loss.backward()
    assert model.layer_average.logits.grad.abs().sum() > 0


@pytest.mark.parametrize("given", [None, slice(1, None)])
def test_an_encoder_that_lacks_a_layer_is_refused(given, data, tiny_encoder):
    def keep_some(module, inputs, output):
        output.hidden_states = None if given is None else output.hidden_states[given]

    model, batch = new_model(tiny_encoder, data)
    model.encoder.register_forward_hook(keep_some)
    with pytest.raises(InputError, match=naming("'bert' head.layers head.morphology_layer top")):
        model(**batch)
