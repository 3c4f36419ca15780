"""Each command that loads a model refuses a broken folder in one line, before it does anything."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from syntagma.encoders.default import CONFIG, TOKENIZER, WEIGHTS, sha256
from syntagma.encoders.saved_config import DIGEST
from tests.builders import treebank
from tests.saved_folders import SAVED, change


def whole(name: str, text: str):
    return lambda folder: (folder / name).write_text(text)


def encoder(key: str, value: object):
    def edit(folder: Path) -> None:
        change(folder / CONFIG, lambda values: values["encoder"].update({key: value}))

    return edit


def flipped(folder: Path) -> None:
    digest = sha256(folder / WEIGHTS)
    change(folder / CONFIG, lambda values: values.update({DIGEST: digest}))
    content = bytearray((folder / WEIGHTS).read_bytes())
    content[-3] ^= 0x40
    (folder / WEIGHTS).write_bytes(content)


def without_letters(folder: Path) -> None:
    removed = {"type": "Replace", "pattern": {"Regex": "[a-z]"}, "content": ""}
    change(folder / TOKENIZER, lambda values: values.update(normalizer=removed))


def pattern_without_end(folder: Path) -> None:
    cut = {"type": "Split", "pattern": {"Regex": r"\w+\w+!"}, "behavior": "Isolated"}
    change(folder / TOKENIZER, lambda values: values.update(pre_tokenizer={**cut, "invert": False}))


def folder_for(name: str):
    def edit(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()

    return edit


BROKEN = {
    "no object": whole(CONFIG, '["syntagma_version"]'),
    "no configuration": lambda folder: (folder / CONFIG).unlink(),
    "negative heads": encoder("num_attention_heads", -2),
    "words for labels": lambda folder: change(
        folder / CONFIG, lambda values: values.update(num_labels="three")
    ),
    "tokenizer settings": whole("tokenizer_config.json", "[]"),
    "no letters": without_letters,
    "endless pattern": pattern_without_end,
    "flipped bit": flipped,
    "empty weights": whole(WEIGHTS, ""),
    "folder for weights": folder_for(WEIGHTS),
    "folder for tokenizer": folder_for(TOKENIZER),
}


@pytest.mark.parametrize("edit", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("command", ["parse", "answer", "train"])
def test_a_broken_folder(run, tmp_path, command, edit):
    kind = {"parse": "parsing", "answer": "spans", "train": "pairs"}[command]
    folder = Path(shutil.copytree(SAVED / kind, tmp_path / "broken"))
    edit(folder)
    text = tmp_path / "text.txt"
    text.write_text("Gulls cried over the harbour.\n")
    data = treebank(tmp_path / "tides.conllu", copies=1)
    experiment = tmp_path / "tiny.yaml"
    experiment.write_text(
        f"task: parsing\nencoder: {folder}\ndata:\n  train: {data}\n  dev: {data}\n"
    )
    arguments = {
        "parse": ("parse", text, "--parser", folder),
        "answer": ("answer", text, "Who cried?", "--model", folder),
        "train": ("train", experiment, "--out", tmp_path / "run"),
    }
    code, out, err = run(*arguments[command])
    assert (code, out) == (2, "")
    assert str(folder) in err
    assert err.count("\n") == 1
