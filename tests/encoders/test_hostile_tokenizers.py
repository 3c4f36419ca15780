"""Damaged and hostile tokenizers in model folders get an error of one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from syntagma.encoders.load import load_tokenizer
from syntagma.encoders.tokenizer_files import repeats_repetitions
from syntagma.errors import InputError
from tests.messages import naming
from tests.saved_folders import change

TOKENIZER = "tokenizer.json"


def put(name: str, value: object):
    return lambda values: values.update({name: value})


def assert_rejected(folder: Path, words: str) -> None:
    with pytest.raises(InputError, match=naming(words)) as found:
        load_tokenizer(folder)
    assert "\n" not in str(found.value)


def of_model(**changes):
    return lambda values: values["model"].update(changes)


def numbered(code):
    def edit(values):
        pieces = values["model"]["vocab"]
        values["model"]["vocab"] = {piece: code(number) for piece, number in pieces.items()}

    return edit


def split_by(pattern: str):
    return put(
        "pre_tokenizer",
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
    )


def deep(values):
    inner: dict = {"type": "Lowercase"}
    for _ in range(400):
        inner = {"type": "Sequence", "normalizers": [inner]}
    values["normalizer"] = inner


LONGER = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 1000}


@pytest.mark.parametrize(
    "edit",
    [
        lambda values: [values["version"]],
        put("model", None),
        of_model(vocab={}),
        of_model(vocab=["a", "b"]),
        of_model(type="Unknown"),
        of_model(max_input_chars_per_word=10**9),
        numbered(lambda number: -number - 1),
        numbered(lambda number: number + 2_000_000_000),
        numbered(str),
        numbered(lambda number: 0),
        put("added_tokens", 5),
        deep,
        split_by("(a+)+$"),
        split_by("(a|aa)+b"),
        split_by("(x{2,}){3,}y"),
        split_by("("),
        put("normalizer", {"type": "Sequence", "normalizers": [LONGER] * 3}),
    ],
)
def test_a_damaged_tokenizer_is_rejected(folder, edit):
    change(folder / TOKENIZER, edit)
    assert_rejected(folder, "")


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "[" * 100_000])
@pytest.mark.parametrize("name", [TOKENIZER, "tokenizer_config.json"])
def test_a_tokenizer_file_of_another_structure_is_rejected(folder, name, text):
    if name != TOKENIZER and text == "{}":
        return
    (folder / name).write_text(text)
    assert_rejected(folder, name)


@pytest.mark.parametrize(
    ("pattern", "repeats"),
    [
        # The patterns of GPT-2, Llama 3, DeepSeek and Bloom, and a set that contains sets.
        (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", False),
        (r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s]+[\r\n]*|\s*[\r\n]+", False),
        (r"\d{1,3}(?=(?:\d{3})*\b)", False),
        (r" ?[^(\s|[.,!?…。，、।۔،])]+", False),
        (r"[a[+*]&&[^]b]]+(?:x|y)?", False),
        (r"\((a)+\)+", False),
        (r"(?:ab+)*", True),
        (r"((a|b))+", True),
        (r"(?<name>a*){2,}", True),
        (r"((a+)b)+", True),
    ],
)
def test_patterns_that_take_exponential_time_are_recognised(pattern, repeats):
    assert repeats_repetitions(pattern) is repeats
