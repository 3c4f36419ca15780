"""Training examples with mentions are packed, which takes little memory."""

from __future__ import annotations

import json

import numpy as np
import pytest

from syntagma.tasks.mentions import classifier, packed
from syntagma.tasks.relations.task import RelationTask
from syntagma.tasks.typing.task import TypingTask
from tests.builders import experiment, relations, typing

TASKS = {"typing": (TypingTask, typing), "relations": (RelationTask, relations)}


@pytest.mark.parametrize("preset", ["none", "seprem", "sg-net"])
@pytest.mark.parametrize("name", TASKS)
def test_packed_items_make_the_same_batches(name, preset, tiny_encoder, tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "BLOCK", 3)
    monkeypatch.setattr(classifier, "TRAINING_CHUNK", 5)
    task_class, write = TASKS[name]
    data = write(tmp_path / ("data.json" if name == "typing" else "data.txt"), 2)
    settings = experiment(name, data, tiny_encoder, preset=preset, parser="linear")
    examples = task_class.read(settings.data.train[0])
    task = task_class.new(settings, examples)
    features = task.features(examples)
    texts = [
        (example.text, example.mention)
        if name == "typing"
        else (example.text, example.subject, example.object)
        for example in examples
    ]
    plain = task.predictor.items(list(task.predictor.all_checked(texts)))
    assert len(features) == len(features.items[:]) == len(examples) > 5
    assert features.items.lengths == [len(item) for item in plain]
    assert features.lengths == features.padded_lengths(map(len, plain))
    expected = task.collate(plain)
    found = task.collate([features[number] for number in range(len(features))])
    labels = found.pop("labels")
    assert len(labels) == len(examples)
    assert found.keys() == expected.keys()
    for column, values in expected.items():
        assert np.array_equal(found[column], values), column
    assert [item.labels for item in features.items] == [item.labels for item in features.items[:]]
    with pytest.raises(IndexError):
        features[len(features)]


def test_two_million_mentions_fit_in_two_gigabytes(tiny_encoder, tmp_path):
    """FIGER has two million mentions. With 40 pieces each, 16 bytes a piece make 1.3 GB."""
    text = " ".join(["The old ferry crossed the wide river before dawn"] * 2)
    rows = [
        {"sent": text, "start": 4, "end": 7, "labels": ["/a", f"/a/{n % 9}"]} for n in range(99)
    ]
    path = tmp_path / "data.json"
    path.write_text(json.dumps(rows))
    settings = experiment("typing", str(path), tiny_encoder, preset="seprem", parser="linear")
    examples = TypingTask.read(path)
    features = TypingTask.new(settings, examples).features(examples)
    (block,) = features.items._blocks
    n_bytes = sum(getattr(block, name).nbytes for name in block.__slots__)
    n_pieces = sum(features.items.lengths)
    assert n_bytes / n_pieces < 16
    labels = {id(label) for example in examples for label in example.labels}
    assert len(labels) == 10, "equal labels are one object"
    assert len({id(example.text) for example in examples}) == 1
