"""Made-up data in the official layout of the papers' datasets."""

from __future__ import annotations

from pathlib import Path

import pytest

from syntagma.reproduce.datasets import read_datasets
from syntagma.reproduce.runs import Setting
from tests.builders import dream, open_qa, pairs, relations, squad, typing

TINY = (
    "training.precision=float32",
    "training.batch_tokens=512",
    "hidden_dropout=0.0",
    "data.limit=40",
)


@pytest.fixture(scope="session")
def data(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("data")
    places = {
        "squad/train-v1.1.json": squad,
        "squad/dev-v1.1.json": squad,
        "squad/train-v2.0.json": squad,
        "squad/dev-v2.0.json": squad,
        "dream/train.json": dream,
        "dream/dev.json": dream,
        "snli/snli_1.0_train.jsonl": pairs,
        "snli/snli_1.0_dev.jsonl": pairs,
        "typing/openentity/train.json": typing,
        "typing/openentity/dev.json": typing,
        "relations/kbp37/train.txt": relations,
        "relations/kbp37/dev.txt": relations,
        "openqa/dev.jsonl": open_qa,
    }
    for name, write in places.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        write(root / name, 2)
    return root


@pytest.fixture
def setting(data, tmp_path, tiny_encoder, tiny_parser):
    """A function that makes settings with tiny data, a tiny encoder and a tiny parser."""

    def make(*overrides, **changes):
        values = {"encoder": tiny_encoder, "parser": tiny_parser, "scale": "tiny"} | changes
        return Setting(data, tmp_path / "out", overrides=(*TINY, *overrides), **values)

    return make


@pytest.fixture
def empty_datasets(tmp_path):
    """Create a folder with every file of every dataset, all of them empty."""
    for dataset in read_datasets().values():
        for files in dataset.choices:
            for path in files.needed:
                (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / path).touch()
    return tmp_path
