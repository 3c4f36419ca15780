"""Records of a run, and its training speed computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.files import read_lines
from syntagma.json_values import parse_json
from syntagma.runs.names import RECORDS, SETTINGS
from syntagma.settings import load_yaml


@dataclass(frozen=True, slots=True)
class Speed:
    """Training speed of a run, as measured by its trainer.

    Args:
        steps: number of optimizer steps.
        examples_per_second: training examples per second, including the time of evaluations; each
            window of a passage counts as one. ``None`` if not recorded, or if the length of the
            training was given in steps.
        steps_per_second: optimizer steps per second, including the time of evaluations.
        pieces_per_second: pieces per second of a streamed corpus, mean over the records.
        evaluation_seconds: mean duration of an evaluation.
        parsed_words_per_second: parsing speed on texts that were not in the cache; ``None`` if all
            were.
    """

    steps: int
    examples_per_second: float | None
    steps_per_second: float | None
    pieces_per_second: float | None
    evaluation_seconds: float | None
    parsed_words_per_second: float | None = None

    @property
    def hours(self) -> float | None:
        """Duration of the whole training in hours, ``None`` if the speed is unknown.

        Computed from the speed, since the times in a resumed run cover only its last part.
        """
        return self.steps / self.steps_per_second / 3600 if self.steps_per_second else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"hours": self.hours}


def read_records(run: str | Path) -> list[dict[str, Any]]:
    """Read the records of a run, one for each logging step and each evaluation.

    An incomplete last line, which a killed run may leave, is skipped; see :func:`is_cut`.

    Args:
        run: path of the run folder.

    Raises:
        InputError: the folder does not contain a run, or a line is not a record.
    """
    path, lines = _lines(run)
    complete = lines[:-1] if _last_is_cut(lines) else lines
    return [
        _record(line, f"{path}, line {number}")
        for number, line in enumerate(complete, start=1)
        if line.strip()
    ]


def is_cut(run: str | Path) -> bool:
    """Whether the last record of a run is incomplete.

    Args:
        run: path of the run folder.

    Raises:
        InputError: the folder does not contain a run.
    """
    return _last_is_cut(_lines(run)[1])


def _lines(run: str | Path) -> tuple[Path, list[str]]:
    path = Path(run) / RECORDS
    if not path.is_file():
        raise InputError(
            f"{run}: expected a run folder, but it has no {RECORDS}; give a folder that "
            f"`syntagma train` wrote"
        )
    return path, list(read_lines(path))


def _last_is_cut(lines: Sequence[str]) -> bool:
    last = lines[-1].strip() if lines else ""
    return last.startswith("{") and not last.endswith("}")


def _record(line: str, place: str) -> dict[str, Any]:
    try:
        record = parse_json(line, finite=False)
    except ValueError as error:
        raise InputError(f"{place}: broken JSON ({error}); remove the line") from error
    if not isinstance(record, dict) or "step" not in record:
        raise InputError(f"{place}: expected an object with a step, got {line!r:.40}; remove it")
    for name, value in record.items():
        if not isinstance(value, int | float | None):
            raise InputError(f"{place}: {name}: expected a number, got {value!r:.40}; remove it")
    return {name: value for name, value in record.items() if value is not None}


def read_speed(run: str | Path) -> Speed:
    """Compute the training speed of a run.

    Args:
        run: path of the run folder.

    Raises:
        InputError: the folder does not contain a run.
    """
    records = read_records(run)

    def last(name: str) -> float | None:
        values = [float(record[name]) for record in records if name in record]
        return values[-1] if values else None

    def mean(name: str) -> float | None:
        values = [float(record[name]) for record in records if name in record]
        return sum(values) / len(values) if values else None

    settings = load_yaml(Path(run) / SETTINGS)
    # With `max_steps`, Trainer reports steps times its default batch size as examples, which is
    # wrong for batches of a token budget.
    counted = not settings.get("training", {}).get("max_steps")
    return Speed(
        max((int(record["step"]) for record in records), default=0),
        last("train_samples_per_second") if counted else None,
        last("train_steps_per_second"),
        mean("pieces_per_second"),
        mean("eval_evaluation_seconds"),
        last("parsed_words_per_second"),
    )
