"""``syntagma export`` writes all that a program needs, or nothing and one line."""

from __future__ import annotations

import json
import sys

import onnxruntime
import pytest
from tokenizers import Tokenizer

from syntagma.cli import doctor
from syntagma.errors import InputError, MissingExtraError
from syntagma.export import folder as exporting
from syntagma.export import parity
from syntagma.export.families import family_of
from syntagma.export.folder import export
from syntagma.export.texts import passages
from tests.export.exported import new_task, save
from tests.messages import naming

FILES = {"README.md", "config.json", "model.onnx", "parity.json", "tokenizer.json"}


def left_in(folder):
    """What a command has left in a folder, apart from the cache of parses."""
    return [path.name for path in folder.iterdir() if path.name != "cache"]


@pytest.fixture(scope="module")
def pair_model(tmp_path_factory, tiny_encoder):
    folder = tmp_path_factory.mktemp("pairs")
    task, data = new_task("pairs", tiny_encoder, folder, "sg-net")
    return save(task, folder / "model"), data


@pytest.fixture(scope="module")
def exported(tmp_path_factory, pair_model):
    out = tmp_path_factory.mktemp("exported") / "nli"
    return export(pair_model[0], out, check=[pair_model[1]])


def test_a_folder_has_all_that_a_program_needs(exported, pair_model):
    assert {path.name for path in exported.folder.iterdir()} == FILES
    config = json.loads((exported.folder / "config.json").read_text())
    assert config["task"] == "pairs"
    assert config["labels"] == {"labels": ["contradiction", "entailment"]}
    assert config["head"]["max_length"] == 64
    assert config["columns"] == ["enter", "exit", "word"]
    assert [len(tokens) for tokens in config["sequence"]["two"]["special"]] == [1, 1, 1]
    readme = (exported.folder / "README.md").read_text()
    for name in ("input_ids", "attention_mask", "enter", "exit", "word", "labels"):
        assert f"`{name}`" in readme
    assert "equal predictions: 100.0 %" in readme
    session = onnxruntime.InferenceSession(str(exported.folder / "model.onnx"))
    assert [each.name for each in session.get_inputs()] == [
        each["name"] for each in config["inputs"]
    ]
    types = {"int64": "tensor(int64)", "bool": "tensor(bool)", "float32": "tensor(float)"}
    for found, wanted in zip(session.get_outputs(), config["outputs"], strict=True):
        assert (found.name, found.type) == (wanted["name"], types[wanted["dtype"]])


def test_parity_is_stored(exported):
    stored = json.loads((exported.folder / "parity.json").read_text())
    assert stored == exported.parity.to_dict()
    assert stored["n_examples"] == stored["n_predictions"] == 16
    assert stored["equal_predictions"] == 1
    assert 0 <= stored["mean_difference"] <= stored["largest_difference"] < 1e-4
    assert stored["examples"] == "pairs.jsonl"
    assert stored["bounds"]["largest_difference"] == parity.LARGEST_DIFFERENCE
    assert stored["bounds"]["mean_difference"] == parity.MEAN_DIFFERENCE


def test_the_tokenizer_gives_the_same_pieces(exported, pair_model, tokenizers):
    text = "The old ferry crossed the river [SEP] in Zürich."
    tokenizer = Tokenizer.from_file(str(exported.folder / "tokenizer.json"))
    tokenizer.encode_special_tokens = True
    found = tokenizer.encode(text, add_special_tokens=False).ids
    own = tokenizers["wordpiece"].backend_tokenizer
    own.encode_special_tokens = True
    assert found == own.encode(text, add_special_tokens=False).ids


def test_int8_is_smaller_and_predicts_the_same(exported, pair_model, tmp_path):
    found = export(pair_model[0], tmp_path / "small", int8=True, check=[pair_model[1]])
    assert found.size < exported.size
    assert json.loads((tmp_path / "small/config.json").read_text())["precision"] == "int8"
    assert found.parity.equal_predictions >= found.parity.bounds["equal_predictions"] == 0.95
    assert "largest_difference" not in found.parity.bounds


@pytest.mark.parametrize(
    ("share", "message"),
    [
        (1.0, "mean difference 0.001 0.0001 16"),  # All logits a little.
        (0.01, "largest difference 0.1 0.01 16"),  # A few by much.
    ],
)
def test_an_export_that_differs_is_not_written(pair_model, tmp_path, monkeypatch, share, message):
    class Broken(exporting.Session):
        def __call__(self, batch):
            found = super().__call__(batch)
            for values in found.values():
                values.reshape(-1)[: max(1, int(share * values.size))] += 0.001 / share
            return found

    monkeypatch.setattr(exporting, "Session", Broken)
    with pytest.raises(InputError, match=naming(message)):
        export(pair_model[0], tmp_path / "out", check=[pair_model[1]])
    assert left_in(tmp_path) == []


def test_without_the_extra_one_line_names_it(pair_model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=naming("export pip -e '.[export]'")):
        export(pair_model[0], tmp_path / "out")


def test_a_model_that_predicts_nothing_is_refused():
    class Translating:
        name = "translation"

    with pytest.raises(InputError, match=naming("translation loop pairs spans")):
        family_of(Translating())


def test_a_guide_that_no_graph_can_hold_is_refused(tiny_encoder, tmp_path):
    guides = {"ancestor_attention": {"mask": "random"}}
    task, _ = new_task("pairs", tiny_encoder, tmp_path, guides=guides)
    with pytest.raises(InputError, match=naming("guides.ancestor_attention random ancestors")):
        exporting.make_plain(task.model)


def test_what_torch_cannot_export_is_named(pair_model, tmp_path, monkeypatch):
    def fails(*_, **__):
        raise RuntimeError("No ONNX function found for aten.sort\nand a long report")

    monkeypatch.setattr("torch.onnx.export", fails)
    with pytest.raises(InputError, match=naming("model bert ancestor_attention ONNX aten.sort")):
        export(pair_model[0], tmp_path / "out", check=[pair_model[1]])
    assert left_in(tmp_path) == []


def test_passages_that_ship_are_enough():
    found = passages()
    assert sum(len(each.questions) for each in found) == 200
    assert all(each.text.strip() for each in found)


def test_doctor_says_whether_export_can_run(monkeypatch):
    ready = [line for line in doctor.report() if line.startswith("export")]
    assert ready == [f"export         to ONNX, checked with onnxruntime {onnxruntime.__version__}"]
    monkeypatch.setattr(doctor, "find_spec", lambda module: None if module == "onnx" else module)
    (line,) = (line for line in doctor.report() if line.startswith("export"))
    assert "pip install -e '.[export]'" in line
