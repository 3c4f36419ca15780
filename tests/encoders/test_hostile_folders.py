"""Damaged and hostile model folders get an error of one line, before they take time or memory."""

from __future__ import annotations

import shutil
import struct
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from syntagma.encoders.load import load_encoder_config, load_tokenizer
from syntagma.encoders.model import SyntagmaModel
from syntagma.encoders.reference import find_model
from syntagma.encoders.saved_config import DIGEST
from syntagma.errors import InputError
from syntagma.evaluation import open_model
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.pair_model import PairModel
from syntagma.parse.parser import JointParser
from tests.conftest import save_encoder
from tests.messages import naming
from tests.saved_folders import SAVED, change

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"


def put(place: str, value: object):
    """Return a function that changes one setting; ``encoder.dtype`` is that of the encoder."""

    def edit(values):
        *parents, last = place.split(".")
        for parent in parents:
            values = values[parent]
        values[last] = value

    return edit


def assert_rejected(folder: Path, words: str) -> None:
    began = time.monotonic()
    with pytest.raises(InputError, match=naming(words)) as found:
        open_model(folder)
    # A generous limit: without an early check, loading takes minutes, or all memory.
    assert time.monotonic() - began < 30
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("text", ["null", "7", '"syntagma_version"', '["syntagma_version"]', "{"])
def test_a_configuration_that_is_not_an_object_is_rejected(folder, text):
    # The package recognises its own folders by this key.
    marked = text if "syntagma_version" in text else f'{text} "syntagma_version"'
    (folder / CONFIG).write_text(marked)
    assert_rejected(folder, "config.json")


SETTINGS = {
    "labels": [
        "yes",
        5,
        None,
        ["a"],
        {"labels": "yes"},
        {"labels": [1, 2]},
        {"labels": ["a", "a"]},
    ],
    "storage": ["small", None, [], {"format": "zip"}, {"format": "differences", "bits": "four"}],
    "head": ["spans", None, [], {"max_length": "long"}, {"unknown": 1}],
    "guides": [["ancestor_attention"], None, "sg-net", {"ancestor_attention": 5}, {"unknown": {}}],
    "base": [None, 3, ["default"]],
    "task": [5, None, [], "unknown"],
    "parser": [5, None],
    "dtype": [5, "float1000000"],
    "architectures": [5, "PairModel"],
    "id2label": [5, "yes", []],
    "label2id": ["no"],
    "model_type": ["bert", 5],
    "return_dict": ["yes"],
    "format_version": [True, "1", -1, 0, 1.5, 99],
    "syntagma_version": [5, None],
    "to_dict": [5],
    DIGEST: [5, "ab"],
    "num_labels": [10**9, -3, "three", 2.5, [1]],
    "encoder": [None, [], "bert", {}],
    "encoder.model_type": ["unknown", 5, None, "syntagma"],
    "encoder.hidden_size": ["wide", None, 0, -8, 10**9, 10**30, 16],
    "encoder.vocab_size": ["many", 2**31 - 1, 10**12, 7, -5],
    "encoder.num_hidden_layers": ["six", 10**9, 2.5, 5, -1],
    "encoder.num_attention_heads": [0, 3, -2, "two"],
    "encoder.initializer_range": [-1, -0.02, float("inf"), "small"],
    "encoder.max_position_embeddings": [10**9],
    "encoder.intermediate_size": [10**9, "a"],
    "encoder.hidden_act": ["unknown", 5],
    "encoder.layer_norm_eps": [float("nan"), -1.0],
    "encoder.pad_token_id": [10**6],
    "encoder.num_labels": [10**9],
    "encoder.dtype": ["float1000000"],
    "encoder.id2label": ["yes"],
    "encoder.chunk_size_feed_forward": ["all"],
    "encoder.from_dict": [1],
}


@pytest.mark.parametrize(
    ("place", "value"),
    [(place, value) for place, values in SETTINGS.items() for value in values],
    ids=lambda value: str(value)[:40],
)
def test_a_setting_of_the_wrong_type_or_size_is_rejected(folder, place, value):
    change(folder / CONFIG, put(place, value))
    assert_rejected(folder, "")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (place, value)
        for place, values in SETTINGS.items()
        if place.startswith("encoder.")
        for value in values
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_saved_model_as_the_encoder_of_another(folder, place, value):
    change(folder / CONFIG, put(place, value))
    began = time.monotonic()
    with pytest.raises(InputError, match=naming("config.json")) as found:
        PairModel.from_encoder(folder, task="pairs", labels={"labels": ["no", "yes"]})
    assert time.monotonic() - began < 30
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    "place", ["encoder", "base", "task", "guides", "head", "labels", "storage", "format_version"]
)
def test_a_missing_setting_is_rejected(folder, place):
    change(folder / CONFIG, lambda values: {k: v for k, v in values.items() if k != place})
    assert_rejected(folder, "config.json")


def test_a_deeply_nested_configuration_is_rejected(folder):
    inner: dict = {}
    for _ in range(300):
        inner = {"a": inner}
    change(folder / CONFIG, put("head", inner))
    assert_rejected(folder, "config.json 32 levels")
    (folder / CONFIG).write_text('{"syntagma_version": ' + "[" * 100_000)
    assert_rejected(folder, "config.json nested")


def no_digest(values):
    values.pop(DIGEST, None)


@pytest.mark.parametrize("bits", [None, 4])
def test_weights_with_changed_bytes_are_rejected(folder, tmp_path, tiny_encoder, bits):
    new = tmp_path / "new"
    model = PairModel.from_pretrained(tiny_encoder, task="pairs", labels={"labels": ["a", "b"]})
    with torch.no_grad():
        model.encoder.get_input_embeddings().weight += 0.01
    model.save_pretrained(new, bits=bits)
    PairModel.from_pretrained(new)
    blob = bytearray((new / WEIGHTS).read_bytes())
    blob[-8] ^= 0x40
    (new / WEIGHTS).write_bytes(blob)
    with pytest.raises(InputError, match=naming(f"model.safetensors SHA-256 {DIGEST} config.json")):
        PairModel.from_pretrained(new)
    # Without a digest, as in older folders, weights may be changed on purpose.
    change(new / CONFIG, no_digest)
    PairModel.from_pretrained(new)


def transposed(weights):
    name = next(
        name for name, value in weights.items() if value.ndim == 2 and len({*value.shape}) > 1
    )
    weights[name] = weights[name].T.contiguous()


def integers(weights):
    weights["label_scores.weight"] = weights["label_scores.weight"].int()


def first_bias(value):
    def edit(weights):
        weights["label_scores.bias"][0] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (transposed, "model.safetensors config.json"),
        (integers, "model.safetensors label_scores.weight int32 float32"),
        (first_bias(float("nan")), "model.safetensors label_scores.bias finite"),
        (first_bias(float("inf")), "model.safetensors label_scores.bias finite"),
        # What a flipped bit of an exponent makes of a small number.
        (first_bias(0.02 * 2.0**64), "model.safetensors label_scores.bias 1e+06"),
        (lambda weights: weights.pop("label_scores.bias"), "model.safetensors label_scores.bias"),
        (lambda weights: weights.update(other=torch.zeros(2)), "model.safetensors 1 unknown other"),
    ],
)
def test_weights_that_do_not_fit_the_model_are_rejected(folder, edit, words):
    weights = load_file(folder / WEIGHTS)
    weights = {name: value.clone() for name, value in weights.items()}
    edit(weights)
    save_file(weights, folder / WEIGHTS)
    change(folder / CONFIG, no_digest)
    assert_rejected(folder, words)


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 8 + b"x" * 99, struct.pack("<Q", 2**60), b"\x02" + b"\0" * 7 + b"[]"]
)
def test_a_damaged_weights_file_is_rejected(folder, content):
    (folder / WEIGHTS).write_bytes(content)
    change(folder / CONFIG, no_digest)
    assert_rejected(folder, "model.safetensors damaged")


def test_weights_of_eight_bits_are_read(folder):
    weights = load_file(folder / WEIGHTS)
    name = "label_scores.weight"
    save_file({**weights, name: weights[name].to(torch.float8_e4m3fn)}, folder / WEIGHTS)
    change(folder / CONFIG, no_digest)
    open_model(folder)


def test_a_configuration_that_cannot_be_read_is_rejected(folder):
    (folder / CONFIG).unlink()
    # It can be opened, but not read.
    (folder / CONFIG).symlink_to("/proc/self/mem")
    assert_rejected(folder, "config.json cannot be read")


def test_a_model_that_is_its_own_base_is_rejected(folder):
    change(folder / CONFIG, put("base", str(folder)))
    (folder / TOKENIZER).unlink()
    assert_rejected(folder, "base leads back")


def split_by(pattern: str):
    return put(
        "pre_tokenizer",
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
    )


class TestOtherEncoders:
    """Folders that other programs saved."""

    @pytest.fixture
    def encoder(self, tmp_path) -> Path:
        return save_encoder(tmp_path / "encoder", "bert")

    @pytest.mark.parametrize("text", ["null", "7", "[]", '"bert"', "{}", "{", ""])
    def test_a_configuration_that_is_not_an_object_is_rejected(self, encoder, text):
        (encoder / CONFIG).write_text(text)
        with pytest.raises(InputError, match="encoder"):
            GuidedEncoder.from_pretrained(encoder)

    @pytest.mark.parametrize(
        ("place", "value"),
        [
            ("hidden_size", "wide"),
            ("hidden_size", 10**9),
            ("num_hidden_layers", 10**9),
            ("num_labels", 10**9),
            ("vocab_size", 2**31 - 1),
            ("vocab_size", 10**12),
            ("dtype", 5),
            ("id2label", "yes"),
            ("model_type", 5),
            ("num_attention_heads", -2),
            ("initializer_range", -1),
            ("pad_token_id", 10**6),
            ("is_encoder_decoder", True),
        ],
    )
    def test_a_setting_of_the_wrong_type_or_size_is_rejected(self, encoder, place, value):
        change(encoder / CONFIG, put(place, value))
        began = time.monotonic()
        with pytest.raises(InputError, match="encoder"):
            GuidedEncoder.from_pretrained(encoder)
        assert time.monotonic() - began < 30

    @pytest.mark.parametrize(("value", "word"), [(float("nan"), "finite"), (3e38, "1e+06")])
    def test_weights_that_training_cannot_lead_to_are_rejected(self, encoder, value, word):
        weights = load_file(encoder / WEIGHTS)
        name = next(name for name in weights if name.endswith("word_embeddings.weight"))
        weights = {name: value.clone() for name, value in weights.items()}
        weights[name][0, 0] = value
        save_file(weights, encoder / WEIGHTS, metadata={"format": "pt"})
        with pytest.raises(InputError, match=naming(f"word_embeddings.weight {word}")):
            GuidedEncoder.from_pretrained(encoder)

    @pytest.mark.parametrize(
        ("place", "value"), [("return_dict", False), ("chunk_size_feed_forward", 3)]
    )
    def test_settings_that_only_say_how_to_compute_are_ignored(self, encoder, place, value):
        change(encoder / CONFIG, put(place, value))
        batch = load_tokenizer(encoder)(["Gulls cried over the harbour."], return_tensors="pt")
        states = GuidedEncoder.from_pretrained(encoder)(**batch).last_hidden_state
        assert states.shape[1] == batch["input_ids"].shape[1]

    @pytest.mark.parametrize("kind", [torch.complex64, torch.float8_e4m3fn])
    def test_unusual_types_of_weights(self, encoder, kind, capfd):
        weights = load_file(encoder / WEIGHTS)
        name = next(name for name in weights if name.endswith("word_embeddings.weight"))
        save_file({**weights, name: weights[name].to(kind)}, encoder / WEIGHTS, {"format": "pt"})
        if kind.is_complex:
            with pytest.raises(InputError, match=naming(f"{encoder} complex")):
                GuidedEncoder.from_pretrained(encoder)
        else:
            GuidedEncoder.from_pretrained(encoder)
        assert capfd.readouterr().err == ""

    def test_a_pattern_that_takes_exponential_time_is_rejected(self, encoder):
        change(encoder / TOKENIZER, split_by("(a+)+$"))
        with pytest.raises(InputError, match=naming("tokenizer.json (a+)+$")):
            load_tokenizer(encoder)


@pytest.mark.parametrize("value", ["yes", {}, {"relations": "root"}, None])
def test_a_parser_without_labels_is_rejected(tmp_path, value):
    folder = Path(shutil.copytree(SAVED / "parsing", tmp_path / "parser"))
    change(folder / CONFIG, put("labels", value))
    with pytest.raises(InputError, match=naming("config.json")):
        JointParser.from_pretrained(folder)


def test_differences_of_another_size_than_the_base_are_rejected(tmp_path, tiny_encoder):
    model = GuidedEncoder.from_pretrained(tiny_encoder)
    with torch.no_grad():
        model.encoder.get_input_embeddings().weight += 0.01
    model.save_pretrained(tmp_path, bits=4)
    weights = {name: value.clone() for name, value in load_file(tmp_path / WEIGHTS).items()}
    name = next(name for name in weights if name.endswith("::codes"))
    weights[name] = weights[name][:-1].contiguous()
    save_file(weights, tmp_path / WEIGHTS)
    change(tmp_path / CONFIG, no_digest)
    with pytest.raises(InputError, match=naming("model.safetensors differences")):
        GuidedEncoder.from_pretrained(tmp_path)


def test_a_saved_folder_can_be_moved(tmp_path, monkeypatch):
    """It contains weights and tokenizer, so that the original encoder is no longer needed."""
    encoder = save_encoder(tmp_path / "encoder", "bert")
    ids = load_tokenizer(encoder)("Gulls cried.")["input_ids"]
    labels = {"labels": ["no", "maybe", "yes"]}
    model = PairModel.from_pretrained(encoder, task="pairs", labels=labels)
    model.save_pretrained(tmp_path / "saved")
    shutil.rmtree(encoder)
    moved = (tmp_path / "saved").rename(tmp_path / "moved")
    again = PairModel.from_pretrained(moved)
    assert again.config.num_labels == 3
    assert [*again.config.id2label.values()] == labels["labels"]
    assert again.config.label2id == {"no": 0, "maybe": 1, "yes": 2}
    assert load_tokenizer(moved)("Gulls cried.")["input_ids"] == ids
    assert isinstance(again, SyntagmaModel)
    again.save_pretrained(tmp_path / "copy")
    assert load_tokenizer(tmp_path / "copy")("Gulls cried.")["input_ids"] == ids
    taken = GuidedEncoder.from_pretrained(moved)
    taken.save_pretrained(tmp_path / "taken")
    assert find_model(tmp_path / "taken").has_tokenizer


def test_the_missing_base_encoder_of_a_small_folder_is_reported(tmp_path):
    encoder = save_encoder(tmp_path / "encoder", "bert")
    GuidedEncoder.from_pretrained(encoder).save_pretrained(tmp_path / "small", bits=4)
    shutil.rmtree(encoder)
    with pytest.raises(InputError, match=naming(f"small {encoder} base config.json")):
        GuidedEncoder.from_pretrained(tmp_path / "small")
    with pytest.raises(InputError, match=naming(f"small tokenizer.json {encoder}")):
        load_tokenizer(tmp_path / "small")


def test_an_unknown_type_of_encoder_is_rejected(tmp_path, folder):
    change(folder / CONFIG, put("encoder.model_type", "unknown"))
    with pytest.raises(InputError, match=naming("config.json unknown")):
        load_encoder_config(folder)
