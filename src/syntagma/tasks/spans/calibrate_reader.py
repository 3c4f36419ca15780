"""Calibrate a saved reader on labelled questions, and write its folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagma.encoders.config import read_config
from syntagma.encoders.default import CONFIG, SHIPPED
from syntagma.encoders.reference import ModelName, ModelRef, find_model
from syntagma.errors import InputError, how_to_skip
from syntagma.models.calibration import Calibration, require_share
from syntagma.outputs import require_absent, write_folder, write_json
from syntagma.settings import to_dict
from syntagma.tasks.spans.calibrate import FittedCalibration, calibrate, calibration_rows
from syntagma.tasks.spans.task import SpanTask

MODEL_FILES = ("*.safetensors", "*.model", "*.txt", "*.tiktoken", "README.md", "LICENSE*")
TOKENIZER_FILES = (
    "tokenizer*.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab*.json",
    "*.bpe",
)


@dataclass(frozen=True, slots=True)
class CalibratedReader:
    """A calibrated reader's folder, and how well its numbers hold.

    Args:
        folder: folder of the reader.
        fitted: the calibration, with its errors.
        n_questions: number of questions that it was fitted on.
        n_unanswerable: number of them without an answer.
    """

    folder: Path
    fitted: FittedCalibration
    n_questions: int
    n_unanswerable: int


def calibrate_reader(
    name: ModelName,
    data: Sequence[str | Path],
    *,
    out: str | Path | None = None,
    unanswerable: float | None = None,
    skip_bad: bool = False,
    device: str = "cpu",
) -> CalibratedReader:
    """Fit the two numbers of a reader on labelled questions, and store them in its settings.

    The questions should be of the kind that the reader will get, and none that it was trained on:
    on those it is right more often.

    Args:
        name: the reader.
        data: files in the SQuAD format, with questions without an answer among them.
        out: folder to write; by default, the settings of the reader's own folder are changed.
        unanswerable: share of questions without an answer that the numbers assume; by default as
            before, or half.
        skip_bad: skip bad questions and count them.
        device: where to compute.

    Raises:
        InputError: the model is not a reader, the data cannot be used, or the folder cannot be
            written.
    """
    ref = find_model(name)
    read_config(ref, task="spans")
    if unanswerable is not None:
        require_share(unanswerable, "--unanswerable")
    target = ref.folder if out is None else require_absent(out)
    if out is None and (ref.name in SHIPPED or not ref.folder.is_dir()):
        raise InputError(
            f"{ref.name}: is not a folder of yours, so its settings cannot be changed; give the "
            f"folder for a calibrated copy as --out FOLDER"
        )
    task = SpanTask.from_pretrained(ref, device=device)
    with how_to_skip("--skip-bad"):
        parts = SpanTask.read_parts(list(map(str, data)), skip_bad=skip_bad)
    examples = [
        example for part in parts.values() for example in part if SpanTask.is_labelled(example)
    ]
    SpanTask.require_labels(examples, "data")
    rows = calibration_rows(examples, task.predict(examples))
    before: Calibration | None = task.model.head.calibration
    if unanswerable is None:
        unanswerable = 0.5 if before is None else before.unanswerable
    fitted = calibrate(rows, unanswerable=unanswerable, before=before)
    values = _with_calibration(ref.settings, fitted.calibration)
    if out is None:
        write_json(target / CONFIG, values)
    else:
        with write_folder(target) as draft:
            _copy_model(ref, draft)
            write_json(draft / CONFIG, values)
    return CalibratedReader(target, fitted, len(rows), sum(row.impossible for row in rows))


def _with_calibration(settings: Mapping[str, Any], calibration: Calibration) -> dict[str, Any]:
    """Return the content of ``config.json`` with a calibration, and otherwise unchanged."""
    values: dict[str, Any] = json.loads(json.dumps(settings))
    values["head"]["calibration"] = to_dict(calibration)
    return values


def _copy_model(ref: ModelRef, draft: Path) -> None:
    """Copy the files of a model, but nothing else that a run folder holds."""
    verifier = ref.settings["head"].get("verifier", "")
    folders = [Path()]
    folders += [Path(verifier)] if verifier and (ref.folder / verifier).is_dir() else []
    for folder in folders:
        (draft / folder).mkdir(parents=True, exist_ok=True)
        for pattern in (*MODEL_FILES, *TOKENIZER_FILES, CONFIG):
            for path in (ref.folder / folder).glob(pattern):
                if path.is_file():
                    shutil.copyfile(path, draft / folder / path.name)
