"""Read files of predictions, made here or elsewhere, and check that they answer the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.files import read_json, read_lines


def require_ids(path: str | Path, found: Sequence[str], wanted: Iterable[str]) -> None:
    """Check that a file has one prediction for each example and no other.

    Args:
        path: the file, for the message.
        found: the ids in the file, repeated ones included.
        wanted: the ids of the examples.

    Raises:
        InputError: ids are given twice, missing or unknown; counts them and names the first.
    """
    known = dict.fromkeys(wanted)
    counts = Counter(found)
    wrong = {
        "given twice": [key for key, count in counts.items() if count > 1],
        "missing": [key for key in known if key not in counts],
        "not in the data": [key for key in counts if key not in known],
    }
    problems = [f"{len(ids)} {what}, such as {ids[0]!r}" for what, ids in wrong.items() if ids]
    if problems:
        raise InputError(
            f"{path}: expected one prediction for each of the {len(known)} examples, got "
            f"{'; '.join(problems)}; give the predictions for exactly these data files"
        )


def read_json_by_id(path: str | Path, ids: Sequence[str]) -> list[Any]:
    """Read a JSON object with a prediction for each id.

    Args:
        path: the file.
        ids: ids of the examples.

    Returns:
        The predictions in the order of ``ids``.

    Raises:
        InputError: the file is not such an object, a key occurs twice, or :func:`require_ids`
            raises it.
    """
    values = read_json(path)
    if not isinstance(values, dict):
        raise InputError(
            f"{path}: expected a JSON object with a prediction for each id, got {values!r:.40}"
        )
    require_ids(path, list(values), ids)
    return [values[key] for key in ids]


def read_labels_by_id(path: str | Path, ids: Sequence[str], *, header: str = "") -> list[str]:
    """Read lines of an id, a tab and a label.

    Args:
        path: the file.
        ids: ids of the examples.
        header: first line, which is skipped if the file has it.

    Returns:
        The labels in the order of ``ids``.

    Raises:
        InputError: a line has no tab, or :func:`require_ids` raises it.
    """
    rows = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip() or (number == 1 and line.strip() == header):
            continue
        key, tab, label = line.partition("\t")
        if not tab:
            raise InputError(
                f"{path}, line {number}: expected an id, a tab and a label, got {line[:40]!r}"
            )
        rows.append((key, label.strip()))
    require_ids(path, [key for key, _ in rows], ids)
    found = dict(rows)
    return [found[key] for key in ids]


def read_one_per_line(path: str | Path, n_examples: int) -> list[str]:
    """Read a prediction a line, in the order of the data.

    Args:
        path: the file.
        n_examples: number of examples.

    Raises:
        InputError: there are more or fewer lines.
    """
    lines = list(read_lines(path))
    if len(lines) != n_examples:
        raise InputError(
            f"{path}: expected one line for each of the {n_examples} examples, got {len(lines)}; "
            f"give the predictions for exactly these data files, in their order"
        )
    return lines


def require_text_value(path: str | Path, key: str, value: Any) -> str:
    """Return a prediction that must be a text.

    Raises:
        InputError: it is not.
    """
    if not isinstance(value, str):
        raise InputError(f"{path}: expected a text for {key!r}, got {value!r:.40}")
    return value
