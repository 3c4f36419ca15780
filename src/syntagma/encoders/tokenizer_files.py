"""Check the tokenizer of a model folder before it is loaded and used.

``tokenizers`` reads the file in Rust and refuses most damage, but not what makes it slow or greedy
later: a regular expression that backtracks without end, or replacements that multiply the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagma.encoders.default import TOKENIZER
from syntagma.encoders.patterns import may_take_forever
from syntagma.errors import DamagedFileError
from syntagma.files import read_json

REMEDY = "copy the tokenizer of the model again"

JSON_FILES = (TOKENIZER, "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
"""Files whose content must be an object, if they exist."""
MAX_GROWTH = 1000
"""The most characters that normalisation may make of one."""
MAX_WORD = 1000
"""The longest word that WordPiece may cut; its time grows with the square of the length."""
MAX_STEPS = 1000
"""The most steps of normalising and splitting a text; published tokenizers have about twenty."""


def remove_tokenizer(folder: Path) -> None:
    """Remove the tokenizer of a folder that is to get another one.

    A file that only the old one has would change how the new one is read: what pads, for example.

    Args:
        folder: the model's folder.
    """
    for name in JSON_FILES:
        (folder / name).unlink(missing_ok=True)


def check_tokenizer_files(folder: Path) -> None:
    """Check the JSON files of a tokenizer, if there are any.

    Args:
        folder: the model's folder.

    Raises:
        DamagedFileError: a file has the wrong form, or could make tokenizing endless.
        InputError: a file is not JSON.
    """
    for name in JSON_FILES:
        path = folder / name
        if not path.is_file():
            continue
        values = read_json(path, finite=False)
        if not isinstance(values, dict):
            raise DamagedFileError(
                f"{path}: expected an object, got {type(values).__name__}; {REMEDY}"
            )
        if name == TOKENIZER and (problem := _problem(values)):
            raise DamagedFileError(f"{path}: {problem}; {REMEDY}")


def _problem(values: dict[str, Any]) -> str:
    """Describe what is wrong with the content of ``tokenizer.json``; empty if nothing is."""
    model = values.get("model")
    if not isinstance(model, dict):
        return f"model: expected an object with a vocabulary, got {model!r:.40}"
    vocabulary = model.get("vocab")
    if not isinstance(vocabulary, dict | list) or not vocabulary:
        return "model.vocab: expected a vocabulary, got nothing"
    if isinstance(vocabulary, dict):
        for piece, code in vocabulary.items():
            if type(code) is not int or code < 0:
                return f"model.vocab: {piece!r:.40}: expected an id from 0, got {code!r:.20}"
        if len({*vocabulary.values()}) < len(vocabulary):
            return "model.vocab: two pieces have the same id"
    longest = model.get("max_input_chars_per_word")
    if isinstance(longest, int) and longest > MAX_WORD:
        return f"model.max_input_chars_per_word: expected at most {MAX_WORD}, got {longest}"
    growth, n_steps = 1, 0
    for part in _parts([values.get(name) for name in ("normalizer", "pre_tokenizer", "decoder")]):
        n_steps += "type" in part
        pattern = part.get("pattern")
        expression = pattern.get("Regex") if isinstance(pattern, dict) else None
        if isinstance(expression, str) and may_take_forever(expression):
            return (
                f"the pattern {expression[:60]!r} has too many ways to match, which can take "
                f"forever on some texts"
            )
        if part.get("type") in ("Replace", "Prepend"):
            added = part.get("content", part.get("prepend", ""))
            growth *= max(1, len(added) if isinstance(added, str) else 1)
    if growth > MAX_GROWTH:
        return f"its replacements make more than {MAX_GROWTH} characters of one"
    if n_steps > MAX_STEPS:
        return f"expected at most {MAX_STEPS} steps of normalisation and splitting, got {n_steps}"
    return ""


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects inside a value."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            yield one
            left += one.values()
        elif isinstance(one, list):
            left += one
