"""Calibrate a saved reader on labelled questions about passages, and write its folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagma.encoders.config import read_config
from syntagma.encoders.default import CONFIG, MODELS
from syntagma.encoders.reference import ModelName, ModelRef, find_model
from syntagma.encoders.saving import rebase, relative_base
from syntagma.errors import InputError, how_to_skip
from syntagma.models.calibration import Calibration, require_share
from syntagma.outputs import require_absent, write_folder, write_json
from syntagma.progress import predicting
from syntagma.settings import to_dict
from syntagma.tasks.spans.calibrate import FittedCalibration, calibrate, calibration_rows
from syntagma.tasks.spans.task import SpanTask
from syntagma.tasks.task import Task

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
        fitted: the calibrations with their errors, by their settings in the head.
        n_questions: number of questions that they were fitted on.
        n_unanswerable: number of them without an answer.
        threshold: threshold of abstention, if it was fitted too.
    """

    folder: Path
    fitted: Mapping[str, FittedCalibration[Any]]
    n_questions: int
    n_unanswerable: int
    threshold: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as in the JSON file of ``calibrate --json``."""
        return {
            "folder": str(self.folder),
            "n_questions": self.n_questions,
            "n_unanswerable": self.n_unanswerable,
            "fitted": {name: fitted.to_dict() for name, fitted in self.fitted.items()},
            "threshold": self.threshold,
        }


@dataclass(frozen=True, slots=True)
class Target:
    """A reader that is calibrated, and where the calibrated one is written.

    Args:
        ref: the reader.
        settings: content of its ``config.json``.
        folder: folder of the calibrated reader.
        is_copy: whether the folder is a new one.
    """

    ref: ModelRef
    settings: Mapping[str, Any]
    folder: Path
    is_copy: bool

    @classmethod
    def of(cls, name: ModelName, out: str | Path | None, task: str | tuple[str, ...]) -> Target:
        """Find a reader, and check that the result can be written.

        Args:
            name: the reader.
            out: folder to write; by default, the reader's own folder is changed.
            task: task of the reader, or several.

        Raises:
            InputError: it is not such a reader, or the folder cannot be written.
        """
        ref = find_model(name)
        read_config(ref, task=task)
        if out is not None:
            return cls(ref, ref.settings, require_absent(out), is_copy=True)
        # A model of the hub has a folder too, in the cache that other programs use.
        is_own_folder = ref.place == ref.name and ref.folder.is_dir()
        if ref.name in MODELS or not is_own_folder:
            raise InputError(
                f"{ref.name}: is not a folder of yours, so its settings cannot be changed; give "
                f"the folder for a calibrated copy as --out FOLDER"
            )
        return cls(ref, ref.settings, ref.folder, is_copy=False)

    def write(self, head: Mapping[str, Calibration | float | None]) -> None:
        """Write the reader with these settings of the head, and otherwise unchanged.

        Args:
            head: calibrations and thresholds by their names; ``None`` removes a calibration.
        """
        values: dict[str, Any] = json.loads(json.dumps(self.settings))
        values["base"] = relative_base(values["base"], self.folder)
        values["head"] |= {
            name: to_dict(value) if isinstance(value, Calibration) else value
            for name, value in head.items()
        }
        # A threshold may be infinite: as `null` it could not be read again.
        if not self.is_copy:
            write_json(self.folder / CONFIG, values, finite=False)
            return
        with write_folder(self.folder) as draft:
            _copy_model(self.ref, draft)
            rebase(draft, self.folder, origin=self.ref.folder)
            write_json(draft / CONFIG, values, finite=False)


def calibrate_reader(
    name: ModelName,
    data: Sequence[str | Path],
    *,
    out: str | Path | None = None,
    unanswerable: float | None = None,
    fit_threshold: bool = False,
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
        fit_threshold: set the threshold of abstention too, to the one with the best F1 on all of
            these questions together.
        skip_bad: skip bad questions and count them.
        device: where to compute.

    Raises:
        InputError: the model is not a reader, the data cannot be used, or the folder cannot be
            written.
    """
    if unanswerable is not None:
        require_share(unanswerable, "--unanswerable")
    target = Target.of(name, out, "spans")
    task = SpanTask.from_pretrained(target.ref, device=device)
    examples = read_labelled(SpanTask, data, skip_bad=skip_bad)
    if fit_threshold and all(example.has_answers for example in examples):
        raise InputError(
            "--fit-threshold: expected questions without an answer among the data, found none; "
            "add some, or leave the option out"
        )
    with predicting(len(examples)):
        predictions = task.predict(examples)
    rows = calibration_rows(examples, predictions)
    before: Calibration | None = task.model.head.calibration
    if unanswerable is None:
        unanswerable = 0.5 if before is None else before.unanswerable
    fitted = calibrate(rows, Calibration, unanswerable=unanswerable, before=before)
    head = task.fit_after_training(examples, predictions) if fit_threshold else {}
    target.write({"calibration": fitted.calibration, **head})
    return CalibratedReader(
        target.folder,
        {"calibration": fitted},
        n_questions=len(rows),
        n_unanswerable=sum(row.impossible for row in rows),
        threshold=head.get("null_score_diff_threshold"),
    )


def read_labelled(
    task: type[Task[Any, Any]], data: Sequence[str | Path], *, skip_bad: bool
) -> list[Any]:
    """Read the labelled questions of some files.

    Args:
        task: their task.
        data: the files.
        skip_bad: skip bad questions and count them.

    Raises:
        InputError: a file cannot be used, or no question is labelled.
    """
    with how_to_skip("--skip-bad"):
        parts = task.read_parts(list(map(str, data)), skip_bad=skip_bad)
    examples = [example for part in parts.values() for example in part if task.is_labelled(example)]
    task.require_labels(examples, "data")
    return examples


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
