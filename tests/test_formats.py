"""Saved folders state their format version, and earlier versions can still be read."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch
from safetensors.torch import load_file

from syntagma.analysis.cases import read_answers
from syntagma.analysis.compare import compare_runs
from syntagma.analysis.systems import read_systems
from syntagma.errors import DamagedFileError, InputError
from syntagma.evaluation import evaluate, open_model
from syntagma.formats import check_format, stamp
from syntagma.parse.corpora.corpus import AnnotatedCorpus
from syntagma.runs.folder import RunFolder, read_experiment, read_sources
from syntagma.tasks import TASKS
from syntagma.tasks.experiment import comparable
from syntagma.tasks.pretraining.task import PretrainingTask
from syntagma.training.run import train
from tests.messages import naming
from tests.written_runs import change_settings

PATH = Path("folder") / "run.json"


def test_stamped_formats_can_be_read():
    check_format(stamp(2), PATH, 2, remedy="-")
    check_format(stamp(1), PATH, 2, remedy="-")


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({}, InputError, "folder/run.json scripts/convert_to_0_1.py"),
        ({"format_version": "new", "syntagma_version": "0.1.0"}, DamagedFileError, "new train"),
        ({"format_version": True, "syntagma_version": "0.1.0"}, DamagedFileError, "True train"),
        ({"format_version": 1}, DamagedFileError, "format_version None train"),
        ({"format_version": 3, "syntagma_version": "0.9.0"}, InputError, "3 2 update 0.9.0"),
    ],
)
def test_unreadable_formats_are_reported(values, error, message):
    with pytest.raises(error, match=naming(message)):
        check_format(values, PATH, 2, remedy="train again")


ROOT = Path(__file__).parents[1]


def test_the_table_of_renamed_settings_matches_the_script():
    spec = importlib.util.spec_from_file_location("convert", ROOT / "scripts/convert_to_0_1.py")
    convert = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(convert)
    table = (ROOT / "docs" / "renamed-settings.md").read_text(encoding="utf-8")
    renamed = [convert.TRAINING, *convert.HEADS.values(), *convert.GUIDES.values()]
    for old, new in (pair for names in renamed for pair in names.items()):
        assert f"`{old}` | `{new}` |" in table


def expected_of(folder: Path) -> dict[str, float]:
    """What a saved model computes on its task's sample: scores, the loss, and sums of weights."""
    task = open_model(folder, precision="float32")
    with TemporaryDirectory() as place:
        examples = task.read(task.sample.write(Path(place), 1))
        found = task.score(examples, task.predict(examples))
        if not task.streams:
            features = task.features(examples)
            batch = task.collate([features[number] for number in range(4)])
            with torch.no_grad():
                # Unlike the scores, the loss changes with every weight that the model uses.
                found["loss of a batch"] = float(task.model.eval()(**batch).loss)
    found |= {name: float(value.double().sum()) for name, value in task.model.weights().items()}
    return {name: value for name, value in found.items() if value == value}


FORMATS = Path(__file__).parent / "data" / "formats"
SAVED = sorted(FORMATS.glob("*/*/config.json"))


@pytest.mark.parametrize("config", SAVED, ids=[f"{p.parts[-3]}-{p.parts[-2]}" for p in SAVED])
def test_models_of_earlier_versions_are_read(config):
    """Every later version must read the models that 0.1 wrote, and predict the same."""
    expected = json.loads((config.parent / "expected.json").read_text(encoding="utf-8"))
    found = expected_of(config.parent)
    # Later versions may add metrics.
    found = {name: found[name] for name in expected}
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert sum(path.stat().st_size for path in config.parent.iterdir()) <= 100_000


def test_there_is_a_saved_model_of_every_task():
    missing = {*TASKS} - {config.parts[-2] for config in SAVED}
    assert not missing, "run scripts/save_format_examples.py VERSION"


def examples_of(kind: str) -> list:
    """The examples of a kind, one per version, as parameters."""
    return [pytest.param(path, id=path.parts[-2]) for path in sorted(FORMATS.glob(f"*/{kind}"))]


@pytest.fixture
def example(request, tmp_path, monkeypatch):
    """A copy of an example, as the working directory: its files contain relative paths."""
    copy = shutil.copytree(request.param, tmp_path / "example")
    monkeypatch.chdir(copy)
    return copy


def expected_in(folder: Path) -> dict:
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) <= 100_000
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def contents_of_run(folder: Path) -> dict:
    """What is read from a finished run."""
    (system,) = read_systems([folder])
    (run,) = system.runs
    return {
        "settings": comparable(run.experiment),
        "sources": read_sources(folder),
        "evaluations": [[*each] for each in RunFolder(folder).evaluations("accuracy")],
        "metrics": run.metrics,
        "scores": run.rows,
        "data": run.fingerprints,
        "answers": read_answers(run),
    }


@pytest.mark.parametrize("example", examples_of("finished_run"), indirect=True)
def test_finished_runs_of_earlier_versions_are_read(example):
    expected, found = expected_in(example), contents_of_run(example / "run")
    # Later versions may add settings and metrics.
    for part in ("settings", "metrics"):
        found[part] = {key: found[part][key] for key in expected[part]}
    assert found == expected
    assert RunFolder(example / "run").state == "done"
    scores = evaluate("run", ["pairs.jsonl"], precision="float32")
    assert scores["accuracy"] == pytest.approx(expected["metrics"]["accuracy"])


@pytest.mark.parametrize("example", examples_of("finished_run"), indirect=True)
def test_finished_runs_of_earlier_versions_are_compared(example):
    pytest.importorskip("scipy")
    other = shutil.copytree(example / "run", example / "other")
    change_settings(other, preset="none")
    rows = json.loads((other / "examples.json").read_text(encoding="utf-8"))
    right = [key for key, row in rows.items() if row["accuracy"]]
    rows[right[0]]["accuracy"] = 0.0
    (other / "examples.json").write_text(json.dumps(rows), encoding="utf-8")
    _, changed = (found := compare_runs([example / "run", other])).systems
    assert found.n_examples == len(rows)
    assert (changed.gained, changed.lost) == (0, 1)


def end_of_training(folder: Path) -> dict:
    """The last step of a finished run, its metrics, and sums of its weights."""
    weights = load_file(folder / "model.safetensors")
    return {
        "step": max(record["step"] for record in RunFolder(folder).records()),
        "metrics": RunFolder(folder).result(),
        "weights": {name: float(value.double().sum()) for name, value in weights.items()},
    }


@pytest.mark.parametrize("example", examples_of("unfinished_run"), indirect=True)
def test_unfinished_runs_of_earlier_versions_are_resumed(example):
    expected, run = expected_in(example), RunFolder(example / "run")
    assert run.state == "begun"
    assert run.last_checkpoint().name == f"checkpoint-{expected['checkpoint']}"
    before = run.records()
    train(read_experiment(run.path), "run", resume=True)
    assert run.state == "done"
    assert run.records()[: len(before)] == before
    found = end_of_training(run.path)
    assert found["step"] == expected["step"]
    for part in ("metrics", "weights"):
        assert found[part] == pytest.approx(expected[part], rel=1e-3, abs=1e-3)


def trees_in(folder: Path) -> list:
    """The sentences of an annotated corpus, with their files, documents and trees."""
    return [
        [
            each.file, each.document, each.text, *map(list, (
                each.parse.sentence.forms, each.parse.heads, each.parse.relations, each.parse.upos,
            )),
        ]
        for each in AnnotatedCorpus(folder).sentences()
    ]  # fmt: skip


@pytest.mark.parametrize("example", examples_of("corpus"), indirect=True)
def test_corpora_of_earlier_versions_are_read(example):
    pytest.importorskip("pyarrow")
    expected = expected_in(example)
    assert trees_in(example / "corpus") == expected["trees"]
    assert AnnotatedCorpus(example / "corpus").check() == []
    assert len(PretrainingTask.read(example / "corpus")) == expected["corpora"]


def test_there_is_an_example_of_every_format():
    for kind in ("finished_run", "unfinished_run", "corpus"):
        assert examples_of(kind), "run scripts/save_format_examples.py VERSION"
