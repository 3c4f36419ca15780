"""How fast runs trained, read from their records."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.files import read_lines

__all__ = ["Speed", "read_records", "read_speed"]


@dataclass(frozen=True, slots=True)
class Speed:
    """The speed of a run, as its trainer measured it on the machine where it ran.

    Args:
        steps: updates of the weights.
        examples_per_second: in training, evaluations included; ``None`` where it is not recorded.
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
    """The records of a run: a logging step or an evaluation each; half a line is left out.

    Raises:
        InputError: the folder holds no run.
    """
    path = Path(run) / "metrics.jsonl"
    if not path.is_file():
        raise InputError(f"{run}: no run (it has no metrics.jsonl); give a folder that train wrote")
    return [json.loads(line) for line in read_lines(path) if line.rstrip().endswith("}")]


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

    return Speed(
        max((int(record["step"]) for record in records), default=0),
        last("train_samples_per_second"),
        last("train_steps_per_second"),
        mean("pieces_per_second"),
        mean("eval_evaluation_seconds"),
        last("parsed_words_per_second"),
    )
