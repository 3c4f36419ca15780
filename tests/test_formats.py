"""Folders state their format, and one that cannot be read is named before anything else."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch

from syntagma.errors import DamagedFileError, InputError
from syntagma.evaluation import open_model
from syntagma.formats import check_format, stamp
from syntagma.tasks import TASKS
from tests.messages import naming

PATH = Path("folder") / "run.json"


def test_what_is_stamped_can_be_read():
    check_format(stamp(2), PATH, 2, remedy="-")
    check_format(stamp(1), PATH, 2, remedy="-")


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({}, InputError, "folder/run.json scripts/convert_to_0_1.py"),
        ({"format_version": "new", "syntagma_version": "0.1.0"}, DamagedFileError, "new train"),
        ({"format_version": True, "syntagma_version": "0.1.0"}, DamagedFileError, "True train"),
        ({"format_version": 1}, DamagedFileError, "format_version None train"),
        ({"format_version": 3, "syntagma_version": "0.9.0"}, InputError, "3 2 syntagma>=0.9.0"),
    ],
)
def test_other_formats_are_named(values, error, message):
    with pytest.raises(error, match=naming(message)):
        check_format(values, PATH, 2, remedy="train again")


ROOT = Path(__file__).parents[1]


def test_the_table_of_renamed_settings_has_what_the_script_renames():
    spec = importlib.util.spec_from_file_location("convert", ROOT / "scripts/convert_to_0_1.py")
    convert = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(convert)
    table = (ROOT / "docs" / "renamed-settings.md").read_text(encoding="utf-8")
    renamed = [convert.TRAINING, *convert.HEADS.values(), *convert.GUIDES.values()]
    for old, new in (pair for names in renamed for pair in names.items()):
        assert f"`{old}` | `{new}` |" in table


def expected_of(folder: Path) -> dict[str, float]:
    """What a saved model computes of its task's sample: scores, the loss, and sums of weights."""
    task = open_model(folder, precision="float32")
    with TemporaryDirectory() as place:
        examples = task.read(task.sample.write(Path(place), 1))
        found = task.score(examples, task.predict(examples))
        if not task.streams:
            features = task.features(examples)
            batch = task.collate([features[number] for number in range(4)])
            with torch.no_grad():
                # Unlike scores, it changes with every weight that the model reads.
                found["loss of a batch"] = float(task.model.eval()(**batch).loss)
    found |= {name: float(value.double().sum()) for name, value in task.model.weights().items()}
    return {name: value for name, value in found.items() if value == value}


SAVED = sorted((Path(__file__).parent / "data" / "formats").glob("*/*/config.json"))


@pytest.mark.parametrize("config", SAVED, ids=[f"{p.parts[-3]}-{p.parts[-2]}" for p in SAVED])
def test_models_of_earlier_versions_are_read(config):
    """What 0.1 wrote is read for ever: weights, settings, and what the model predicts."""
    expected = json.loads((config.parent / "expected.json").read_text(encoding="utf-8"))
    assert expected_of(config.parent) == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert sum(path.stat().st_size for path in config.parent.iterdir()) <= 100_000


def test_a_model_of_every_task_is_kept():
    missing = {*TASKS} - {config.parts[-2] for config in SAVED}
    assert not missing, "run scripts/save_format_examples.py VERSION"
