"""The files of a run folder, and how an interrupted run finds its way back.

``experiment.yaml``    the settings, complete
``run.json``           format and version, and what the run was made from: encoder and parser, each
                       with name, version and digest
``metrics.jsonl``      a line for each logging step and each evaluation
``checkpoints/``       what to resume from, and the best weights so far; removed at the end
``metrics.json``       the metrics of the best model; written last, so a run that has it is finished
``examples.json``      its score on each dev example, for significance tests
``data.json``          hashes of the dev examples, so that runs on other data are recognised
``predictions.json``   its predictions in the task's format (``.conllu`` for parsers)
``config.json``, ``model.safetensors``, …   the best model
``scored/``            the last files for other data that the run was scored on, a folder each
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from syntagma.errors import DamagedFileError, InputError
from syntagma.files import read_json
from syntagma.formats import CONVERT, check_format, stamp
from syntagma.outputs import hold_folder, require_absent, write_file, write_json, write_text
from syntagma.runs.log import read_records
from syntagma.runs.names import METRICS, RECORDS, RUN, SETTINGS
from syntagma.settings import build, differences, load_yaml, to_dict
from syntagma.tasks.experiment import Experiment, comparable

FORMAT = 1
"""Of a run folder. Raise it when an older version could not read what is written."""
REMEDY = "put back the file that `syntagma train` wrote"

BEST = "best"
COMPLETE = "complete"
CHECKPOINT = "checkpoint"
"""As in ``transformers.trainer_utils.PREFIX_CHECKPOINT_DIR``, which is slow to import."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run folder: its paths, and the records in it.

    Args:
        path: of the folder.
    """

    path: Path

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints."""
        return self.path / "checkpoints"

    @property
    def metrics(self) -> Path:
        """The file of records: a line for each logging step and each evaluation."""
        return self.path / RECORDS

    @property
    def experiment(self) -> Path:
        """The file of settings."""
        return self.path / SETTINGS

    @property
    def state(self) -> str:
        """``done``, ``begun`` or ``to do``."""
        if not self.experiment.is_file():
            return "to do"
        return "done" if (self.path / METRICS).is_file() else "begun"

    def result(self) -> dict[str, Any]:
        """The metrics of the best model, of a finished run."""
        return dict(read_json(self.path / METRICS))

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Lock the folder against other processes, also on machines that share it.

        Raises:
            BusyError: another process has locked it.
            InputError: the lock file cannot be written.
        """
        with hold_folder(self.path):
            yield

    def begin(
        self,
        experiment: Experiment,
        *,
        resume: bool,
        sources: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Make the folder, or check that it belongs to the same experiment.

        Args:
            experiment: the settings.
            resume: whether the folder may hold the first part of the same run.
            sources: name, version and digest of what the run is made from, by what it is.

        Raises:
            InputError: it exists, and ``resume`` is false or its settings differ.
        """
        if resume and self.experiment.is_file():
            self._check_same(experiment)
            return
        require_absent(self.path)
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(
            self.path / RUN, stamp(FORMAT) | {key: dict(of) for key, of in (sources or {}).items()}
        )
        text = yaml.safe_dump(to_dict(experiment), sort_keys=False, allow_unicode=True)
        write_text(self.experiment, text)

    def take_back(self, *, keep_folder: bool) -> None:
        """Remove what :meth:`begin` wrote, and the folder itself unless it existed before."""
        shutil.rmtree(self.checkpoints, ignore_errors=True)
        self.experiment.unlink(missing_ok=True)
        (self.path / RUN).unlink(missing_ok=True)
        if not keep_folder:
            self.path.rmdir()

    def _check_same(self, experiment: Experiment) -> None:
        saved = comparable(read_experiment(self.path))
        for key, before, now in differences(saved, comparable(experiment)):
            raise InputError(
                f"{self.path}: cannot resume with {key}={now!r}, the run was started with "
                f"{before!r}; give the same settings, or another --out"
            )

    def last_checkpoint(self, *, n_processes: int = 1) -> Path | None:
        """The newest complete checkpoint; incomplete ones are removed.

        Args:
            n_processes: number of processes that will resume from it.

        Raises:
            InputError: another number of processes wrote it, which divided the data differently.
        """
        whole = self._whole_checkpoints()
        for path in {*self._by_step(f"{CHECKPOINT}-*")} - {*whole}:
            # Several processes do this at once: another one may have removed it already.
            shutil.rmtree(path, ignore_errors=True)
        newest = whole[-1] if whole else None
        if newest is not None:
            before = (newest / COMPLETE).read_text(encoding="utf-8").strip() or str(n_processes)
            if before != str(n_processes):
                raise InputError(
                    f"{self.path}: was started with {before} processes; resume with {before} (got "
                    f"{n_processes}), or use another --out"
                )
        return newest

    def checkpoint(self, step: int) -> Path:
        """The folder of the checkpoint of a step."""
        return self.checkpoints / f"{CHECKPOINT}-{step}"

    def mark_complete(self, step: int, *, n_processes: int = 1) -> None:
        """Mark a checkpoint as completely written, and by how many processes."""
        write_text(self.checkpoint(step) / COMPLETE, f"{n_processes}\n")
        self._drop_worse(step)

    @contextmanager
    def keep(self, step: int) -> Iterator[Path]:
        """Keep the weights of a step, the best so far.

        Yields:
            The file to fill.
        """
        with write_file(self.checkpoints / f"{BEST}-{step}.safetensors") as draft:
            yield draft
        whole = self._whole_checkpoints()
        self._drop_worse(_step(whole[-1]) if whole else 0)

    def best(self) -> Path:
        """The best weights so far.

        Raises:
            DamagedFileError: they are gone.
        """
        kept = self._by_step(f"{BEST}-*.safetensors")
        if not kept:
            raise DamagedFileError(
                f"{self.checkpoints}: the best weights of this run are missing; train it again in "
                f"another folder"
            )
        return kept[-1]

    def _drop_worse(self, checkpoint: int) -> None:
        """Remove all kept weights but the best, and the best at the checkpoint of a step."""
        kept = self._by_step(f"{BEST}-*.safetensors")
        there = [path for path in kept if _step(path) <= checkpoint]
        for path in {*kept} - {*kept[-1:], *there[-1:]}:
            path.unlink()

    def _whole_checkpoints(self) -> list[Path]:
        """Completely written checkpoints, the newest last."""
        return [path for path in self._by_step(f"{CHECKPOINT}-*") if (path / COMPLETE).is_file()]

    def _by_step(self, pattern: str) -> list[Path]:
        """Checkpoints or kept weights, the newest last."""
        return sorted(self.checkpoints.glob(pattern), key=_step)

    def records(self) -> list[dict[str, Any]]:
        """The lines of ``metrics.jsonl``; empty if there is no such file yet.

        Raises:
            InputError: a line is damaged.
        """
        return read_records(self.path) if self.metrics.is_file() else []

    def forget_after(self, checkpoint: Path | None) -> None:
        """Drop records and kept weights of steps that a resumed run will repeat.

        Args:
            checkpoint: that it resumes from; ``None`` to start from the beginning.
        """
        step = _step(checkpoint) if checkpoint else 0
        for path in self._by_step(f"{BEST}-*.safetensors"):
            if _step(path) > step:
                path.unlink()
        if not self.metrics.is_file():
            return
        kept = [json.dumps(record) + "\n" for record in self.records() if record["step"] <= step]
        write_text(self.metrics, "".join(kept))

    def add_record(self, record: dict[str, Any]) -> None:
        """Append a line to ``metrics.jsonl``."""
        with open(self.metrics, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def evaluations(self, primary: str) -> list[tuple[int, float]]:
        """Step and primary metric of each evaluation so far."""
        key = f"eval_{primary}"
        return [(record["step"], record[key]) for record in self.records() if key in record]


def read_experiment(folder: Path, *, check: bool = True) -> Experiment:
    """The settings in a run folder.

    Args:
        folder: of a run.
        check: whether the format of the folder is checked first.

    Raises:
        InputError: the folder was written before release 0.1.0 or by a later version, or the
            settings are not those of an experiment.
    """
    if check:
        _check_format(folder)
    path = folder / SETTINGS
    try:
        return build(Experiment, load_yaml(path), where=str(path))
    except InputError as error:
        raise InputError(f"{error}; {REMEDY}") from error


def read_sources(folder: Path) -> dict[str, dict[str, str]]:
    """Name, version and digest of the encoder that a run was trained on, and of its parser.

    Raises:
        InputError: the folder was written before release 0.1.0, or in a later format.
        DamagedFileError: its file cannot be read.
    """
    return {key: of for key, of in _check_format(folder).items() if isinstance(of, dict)}


def _check_format(folder: Path) -> dict[str, Any]:
    """The content of a run's file about itself, once it is known that it can be read."""
    path = folder / RUN
    if not path.is_file():
        raise InputError(f"{folder}: written before release 0.1.0 (it has no {RUN}); {CONVERT}")
    about = read_json(path)
    if not isinstance(about, dict):
        raise DamagedFileError(f"{path}: expected an object, got {about!r}; {REMEDY}")
    check_format(about, path, FORMAT, remedy=REMEDY)
    return about


def _step(path: Path) -> int:
    """The step of a checkpoint or of kept weights, from its name."""
    return int(path.stem.rpartition("-")[2])
