"""Check ``config.json`` of a model folder before anything else reads it.

The file may come from another machine, be edited by hand, or be damaged.  After these checks the
rest of the package can rely on the types of its fields, and no number in it makes the program run
for hours or fill the memory before the weights, which have other sizes, are looked at.

The checks are a table of functions instead of dataclasses read by :func:`syntagma.settings.build`:
that function reads what people write in YAML and is lenient on purpose (a text for a list of one,
``1e-5`` as a text), and a configuration has further keys, which Transformers knows.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from syntagma.errors import DamagedFileError
from syntagma.files import read_errors, read_json
from syntagma.formats import check_format

FORMAT = 1
"""Format version of a model folder; raise it when older versions could not read the new format."""
SAVE_AGAIN = "save or download the model again"
DIGEST = "weights_sha256"
"""Field with the SHA-256 of the weights; folders written before it was introduced lack it."""

Fields = dict[str, tuple[str, Callable[[Any], bool]]]
"""For each field what it must be, in words, and a function that tells whether it is."""

MAX_BYTES = 2**26
MAX_DEPTH = 32
MAX_LABELS = 2**20
MAX_RANK = 4096
MAX_PARTS = 1000
MAX_NUMBER = 2**31 - 1
"""The largest integer in a configuration.  Sizes of tensors are compared with the weights."""

_PARTS = re.compile(r"layers?$|layers?_|_groups?|blocks?$|experts|group_num|depths?$|stages")
"""Names of numbers that count parts of a network: it is built in a loop over them."""
_COUNTS = re.compile(r"(?:heads|layers|groups|blocks|experts|_dim|(?<!chunk)_size)$")
"""Names of numbers that cannot be negative; an index of a layer can."""
_SCALES = re.compile(r"eps|initializer|init_std")
_POSITIONS = re.compile(r"position|n_ctx|max_seq")
_COMPUTED = ("distilbert", "roformer", "marian", "fsmt", "xlm", "flaubert", "m2m_100", "pegasus")
"""Types of encoders that compute a table of positions on the host when they are built."""
MAX_COMPUTED = 2**16


def is_own(path: Path) -> bool:
    """Whether a ``config.json`` was written by this package, judged by a word in it."""
    if not path.is_file():
        return False
    _require_size(path)
    with read_errors(path):
        return b'"syntagma_version"' in path.read_bytes()


def _require_size(path: Path) -> None:
    if (size := path.stat().st_size) > MAX_BYTES:
        raise DamagedFileError(
            f"{path}: expected at most {MAX_BYTES} bytes, got {size}; {SAVE_AGAIN}"
        )


def read_saved_config(path: Path) -> dict[str, Any]:
    """Read and check the configuration of a model that this package saved.

    The settings of head and guides are checked by their own classes, when a model is built.

    Args:
        path: a ``config.json``.

    Raises:
        DamagedFileError: a field is missing, or has a value of the wrong type or size.
        InputError: the file is not JSON, or was written by a later version, or before 0.1.0.
    """
    values = read_json(path, finite=False)
    if not isinstance(values, dict):
        raise DamagedFileError(
            f"{path}: expected an object with settings, got {_short(values)}; {SAVE_AGAIN}"
        )
    # First: another format may have other fields.
    check_format(values, path, FORMAT, remedy=SAVE_AGAIN)
    _check(values, _FIELDS, path)
    _check(values, _COMMON, path)
    _check(values["encoder"], _COMMON, path, "encoder.")
    _check_padding(values["encoder"], path)
    check_numbers(values, path)
    values["base"] = absolute_base(values["base"], path.parent)
    return values


def absolute_base(base: str, folder: Path) -> str:
    """Return the name of a base as it is used in memory.

    A base in a folder is saved relative to the model's, so that both can be moved together.

    Args:
        base: the name as it was saved.
        folder: the model's folder.
    """
    return os.path.normpath(folder.resolve() / base) if base.startswith(("./", "../")) else base


def _check(values: dict[str, Any], fields: Fields, path: Path, place: str = "") -> None:
    for name, (expected, fits) in fields.items():
        if name not in values and name in _OPTIONAL:
            continue
        if not fits(values.get(name)):
            found = _short(values[name]) if name in values else "nothing"
            raise DamagedFileError(
                f"{path}: {place}{name}: expected {expected}, got {found}; {SAVE_AGAIN}"
            )


def read_encoder_config(path: Path) -> dict[str, Any]:
    """Read and check the configuration of an encoder that another program saved.

    Args:
        path: a ``config.json``.

    Raises:
        DamagedFileError: it is not an object, or has an absurd number.
        InputError: the file cannot be read, or is not JSON.
    """
    _require_size(path)
    values = read_json(path, finite=False)
    if not isinstance(values, dict):
        raise DamagedFileError(
            f"{path}: expected an object with the encoder's settings, got {_short(values)}; "
            f"copy or download the encoder again"
        )
    _check(values, _COMMON, path)
    _check_padding(values, path)
    check_numbers(values, path)
    return values


def check_numbers(values: Mapping[str, Any], path: Path) -> None:
    """Check that no value of a configuration is absurd: no number, and not its depth.

    Args:
        values: the configuration.
        path: its file, for messages.

    Raises:
        DamagedFileError: a value is.
    """
    left: list[tuple[str, str, Any, int]] = [("", "", dict(values), 0)]
    while left:
        place, name, value, depth = left.pop()
        if depth > MAX_DEPTH:
            raise DamagedFileError(
                f"{path}: {place[:60]}…: expected at most {MAX_DEPTH} levels; {SAVE_AGAIN}"
            )
        if isinstance(value, dict):
            for key, inner in value.items():
                left.append((f"{place}{key}.", key, inner, depth + 1))
        elif isinstance(value, list):
            # Numbers in a list count the same as the list's name says.
            left += ((place, name, inner, depth + 1) for inner in value)
        elif wanted := _wanted(name, value, values):
            raise DamagedFileError(
                f"{path}: {place.rstrip('.')}: expected {wanted}, got {_short(value)}; {SAVE_AGAIN}"
            )


def _wanted(name: str, value: Any, values: Mapping[str, Any]) -> str:
    """Describe what a number should be; empty if it is, and for other values."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return ""
    if isinstance(value, float) and math.isnan(value):
        return "a number"
    if _SCALES.search(name) and not 0 <= value < math.inf:
        return "a finite number from 0"
    if _COUNTS.search(name) and value < 0:
        return "a number from 0"
    limit = _limit(name, values)
    return f"at most {limit}" if isinstance(value, int) and abs(value) > limit else ""


def _check_padding(values: Mapping[str, Any], path: Path) -> None:
    padding, n_pieces = values.get("pad_token_id"), values.get("vocab_size")
    if isinstance(padding, int) and isinstance(n_pieces, int) and padding >= n_pieces:
        raise DamagedFileError(
            f"{path}: pad_token_id: expected an id below vocab_size {n_pieces}, got {padding}; "
            f"{SAVE_AGAIN}"
        )


def _limit(name: str, values: Mapping[str, Any]) -> int:
    if name == "num_labels":
        return MAX_LABELS
    if _PARTS.search(name):
        return MAX_PARTS
    encoder = values.get("encoder")
    kind = encoder.get("model_type") if isinstance(encoder, dict) else values.get("model_type")
    if _POSITIONS.search(name) and kind in _COMPUTED:
        return MAX_COMPUTED
    return MAX_NUMBER


def _short(value: Any) -> str:
    """Return a value as JSON, cut after 40 characters."""
    if isinstance(value, int) and abs(value) > 10**30:
        return "a number of more than 30 digits"
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 40 else f"{text[:40]}…"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value and len(value) < 4096


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_object_or_null(value: Any) -> bool:
    return value is None or isinstance(value, dict)


def _is_text_or_null(value: Any) -> bool:
    return value is None or _is_text(value)


def _is_count_or_null(value: Any) -> bool:
    return value is None or (type(value) is int and value >= 0)


def _is_encoder(value: Any) -> bool:
    return isinstance(value, dict) and _is_text(value.get("model_type"))


def _is_guides(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, dict) for each in value.values())


def _is_labels(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(names, list)
        and len(names) <= MAX_LABELS
        and all(isinstance(name, str) for name in names)
        and len({*names}) == len(names)
        for names in value.values()
    )


def _is_storage(value: Any) -> bool:
    return value == {} or (
        isinstance(value, dict)
        and value.get("format") == "differences"
        and type(value.get("bits")) is int
        and value["bits"] in (4, 8, 32)
        and type(value.get("group")) is int
        and value["group"] == 64
        and type(value.get("rank", 0)) is int
        and 0 <= value.get("rank", 0) <= MAX_RANK
    )


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) is not None


def _is_names(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(map(_is_text, value)))


_FIELDS: Fields = {
    "model_type": ("syntagma", lambda value: value == "syntagma"),
    "encoder": ("an object with the encoder's settings and its model_type", _is_encoder),
    "base": ("the name of the base encoder", _is_text),
    "task": ("the name of a task", _is_text),
    "guides": ("an object with the settings of each guide", _is_guides),
    "head": ("an object with the settings of the head", _is_object),
    "labels": ("an object with lists of different texts", _is_labels),
    "parser": ("the name of a parse source", _is_text),
    "storage": (
        '{} or {"format": "differences", "bits": 4, 8 or 32, "group": 64}, with "rank" from 0 to '
        f"{MAX_RANK} or without",
        _is_storage,
    ),
    "syntagma_version": ("a version such as 0.1.0", _is_text),
    DIGEST: ("a SHA-256 of 64 hexadecimal digits", _is_digest),
}
_COMMON: Fields = {
    "id2label": ("an object with the names of labels", _is_object_or_null),
    "label2id": ("an object with the numbers of labels", _is_object_or_null),
    "architectures": ("a list of names", _is_names),
    "num_labels": ("a number from 0", _is_count_or_null),
    "dtype": ("the name of a type such as float32", _is_text_or_null),
    "problem_type": ("a name", _is_text_or_null),
    "transformers_version": ("a version", _is_text_or_null),
    "chunk_size_feed_forward": ("a number from 0", _is_count_or_null),
    **dict.fromkeys(
        ("return_dict", "output_hidden_states", "output_attentions", "is_encoder_decoder"),
        ("true or false", lambda value: value is None or isinstance(value, bool)),
    ),
}
"""Fields that every configuration of Transformers may have, and that it does not check."""
_OPTIONAL = {*_COMMON, "model_type", DIGEST}
