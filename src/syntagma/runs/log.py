"""How fast runs trained, read from their records."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.files import read_lines
from syntagma.runs.names import RECORDS, SETTINGS
from syntagma.settings import load_yaml

__all__ = ["Speed", "is_cut", "read_records", "read_speed"]


@dataclass(frozen=True, slots=True)
class Speed:
    """The speed of a run, as its trainer measured it on the machine where it ran.

    Args:
        steps: updates of the weights.
        examples_per_second: in training, evaluations included, a window of a passage counted as
            one; ``None`` where it is not recorded, or the length of training was given in steps.
        steps_per_second: the same in steps.
        pieces_per_second: of a stream, the mean over the records.
        evaluation_seconds: of one evaluation, the mean.
        parsed_words_per_second: of the texts that were not parsed before; ``None`` where all were.
    """

    steps: int
    examples_per_second: float | None
    steps_per_second: float | None
    pieces_per_second: float | None
    evaluation_seconds: float | None
    parsed_words_per_second: float | None = None

    @property
    def hours(self) -> float | None:
        """Of the whole training: the records of a resumed run tell of its last part only."""
        return self.steps / self.steps_per_second / 3600 if self.steps_per_second else None

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"hours": self.hours}


def read_records(run: str | Path) -> list[dict[str, Any]]:
    """The records of a run: a logging step or an evaluation each.

    Half a line at the end, as a killed run leaves it, is left out, see :func:`is_cut`.

    Raises:
        InputError: the folder holds no run, or a line is no record.
    """
    path, lines = _lines(run)
    whole = lines[:-1] if _is_half(lines) else lines
    return [
        _record(line, f"{path}, line {number}")
        for number, line in enumerate(whole, start=1)
        if line.strip()
    ]


def is_cut(run: str | Path) -> bool:
    """Whether the last line of a run's records is half a line.

    Raises:
        InputError: the folder holds no run.
    """
    return _is_half(_lines(run)[1])


def _lines(run: str | Path) -> tuple[Path, list[str]]:
    path = Path(run) / RECORDS
    if not path.is_file():
        raise InputError(f"{run}: no run (it has no {RECORDS}); give a folder that train wrote")
    return path, list(read_lines(path))


def _is_half(lines: Sequence[str]) -> bool:
    last = lines[-1].strip() if lines else ""
    return last.startswith("{") and not last.endswith("}")


def _record(line: str, place: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{place}: broken JSON ({error}); remove the line") from error
    if not isinstance(record, dict) or "step" not in record:
        raise InputError(f"{place}: expected an object with a step, got {line!r:.40}; remove it")
    for name, value in record.items():
        if not isinstance(value, int | float | None):
            raise InputError(f"{place}: {name}: expected a number, got {value!r:.40}; remove it")
    return {name: value for name, value in record.items() if value is not None}


def read_speed(run: str | Path) -> Speed:
    """How fast a run trained.

    Args:
        run: its folder.

    Raises:
        InputError: the folder holds no run.
    """
    records = read_records(run)

    def last(name: str) -> float | None:
        values = [float(record[name]) for record in records if name in record]
        return values[-1] if values else None

    def mean(name: str) -> float | None:
        values = [float(record[name]) for record in records if name in record]
        return sum(values) / len(values) if values else None

    settings = load_yaml(Path(run) / SETTINGS)
    # The trainer takes steps times its own default batch for examples then.
    counted = not settings.get("training", {}).get("max_steps")
    return Speed(
        max((int(record["step"]) for record in records), default=0),
        last("train_samples_per_second") if counted else None,
        last("train_steps_per_second"),
        mean("pieces_per_second"),
        mean("eval_evaluation_seconds"),
        last("parsed_words_per_second"),
    )
