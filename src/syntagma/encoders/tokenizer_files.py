"""Check the tokenizer of a model folder before it is loaded and used.

``tokenizers`` reads the file in Rust and refuses most damage, but not what makes it slow or greedy
later: a regular expression that backtracks without end, or replacements that multiply the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagma.encoders.default import TOKENIZER
from syntagma.errors import DamagedFileError
from syntagma.files import read_json

REMEDY = "copy the tokenizer of the model again"

JSON_FILES = (TOKENIZER, "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
"""Files whose content must be an object, if they exist."""
MAX_GROWTH = 1000
"""The most characters that normalisation may make of one."""
MAX_WORD = 1000
"""The longest word that WordPiece may cut; its time grows with the square of the length."""
MANY = 16
"""A repetition up to this many times counts as bounded."""


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
    growth = 1
    for part in _parts([values.get(name) for name in ("normalizer", "pre_tokenizer", "decoder")]):
        pattern = part.get("pattern")
        expression = pattern.get("Regex") if isinstance(pattern, dict) else None
        if isinstance(expression, str) and repeats_repetitions(expression):
            return (
                f"the pattern {expression[:60]!r} repeats a repetition or a choice, which can take "
                f"forever on some texts"
            )
        if part.get("type") in ("Replace", "Prepend"):
            added = part.get("content", part.get("prepend", ""))
            growth *= max(1, len(added) if isinstance(added, str) else 1)
    if growth > MAX_GROWTH:
        return f"its replacements make more than {MAX_GROWTH} characters of one"
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


_ATOM = re.compile(r"\\[pPx]\{[^}]*\}|\\.|\[\^?\]?", re.DOTALL)
_QUANTIFIER = re.compile(r"[*+?]|\{(\d*)(,?)(\d*)\}")


def repeats_repetitions(pattern: str) -> bool:
    """Whether a group that has a repetition or a choice inside is itself repeated.

    Only such groups can take exponential time.  None of the published tokenizers has one.

    Args:
        pattern: a regular expression of Oniguruma.

    >>> repeats_repetitions(r" ?\\p{L}+|\\s+(?!\\S)"), repeats_repetitions(r"(a+)+$")
    (False, True)
    """
    risky = [False]
    """For each open group, the outermost first, whether it has a repetition or a choice inside."""
    last_group = False
    """Whether what comes before the position is a group with one."""
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character in "*+?" or (character == "{" and _QUANTIFIER.match(pattern, position)):
            match = _QUANTIFIER.match(pattern, position)
            assert match is not None
            many = character in "*+" or (
                character == "{"
                and ((bool(match[2]) and not match[3]) or int(match[3] or match[1] or 0) > MANY)
            )
            if many and last_group:
                return True
            risky[-1] |= many
            position = match.end()
            # A lazy or possessive mark does not begin another repetition.
            if pattern[position : position + 1] in ("?", "+"):
                position += 1
            continue
        last_group = False
        if character == "[":
            position = _after_set(pattern, position)
        elif character == "\\":
            atom = _ATOM.match(pattern, position)
            position = atom.end() if atom else position + 1
        elif character == "(":
            risky.append(False)
            position += 1
            # The question mark of (?: and the like is not a repetition.
            if pattern[position : position + 1] == "?":
                position += 2
        elif character == ")" and len(risky) > 1:
            last_group = risky.pop()
            risky[-1] |= last_group
            position += 1
        else:
            risky[-1] |= character == "|"
            position += 1
    return False


def _after_set(pattern: str, position: int) -> int:
    """Return the position after a set such as ``[^a-z]``, which may contain other sets."""
    depth = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "\\":
            position += 2
            continue
        depth += (character == "[") - (character == "]")
        position += 1
        if character == "[" and pattern[position : position + 1] == "^":
            position += 1
        # A bracket at the beginning of a set is an ordinary character.
        if character == "[" and pattern[position : position + 1] == "]":
            position += 1
        if depth == 0:
            break
    return position
