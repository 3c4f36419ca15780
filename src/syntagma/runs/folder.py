"""Files of a run folder, and resumption of an interrupted run.

``experiment.yaml``    all settings
``run.json``           format and version; name, version and digest of the encoder and the parser;
                       hashes of the examples
``metrics.jsonl``      a line for each logging step and each evaluation
``checkpoints/``       checkpoints to resume from, and the best weights so far; removed at the end
``metrics.json``       metrics of the best model; written last, so it marks a finished run
``examples.json``      its score on each dev example, for significance tests
``data.json``          hashes of the dev examples, to detect runs on other data
``clusters.json``      which dev examples belong together, such as the questions about a paragraph
``predictions.json``   its predictions in the task's format (``.conllu`` for parsers)
``config.json``, ``model.safetensors``, …   the best model
``scored/``            a folder for each other data set that the run was evaluated on
"""

from __future__ import annotations

import json
import math
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
from syntagma.outputs import (
    disk_errors,
    hold_folder,
    require_absent,
    write_file,
    write_json,
    write_text,
)
from syntagma.reprs import brief
from syntagma.runs.log import read_records
from syntagma.runs.names import METRICS, RECORDS, RUN, SETTINGS
from syntagma.settings import build, differences, load_yaml, to_dict
from syntagma.tasks.experiment import Experiment, comparable

FORMAT = 1
"""Version of the run folder format; increase it when older versions cannot read the new files."""
REMEDY = "put back the file that `syntagma train` wrote"

DATA = "data"
"""Entry of ``run.json`` with the hashes of the examples."""

BEST = "best"
COMPLETE = "complete"
CHECKPOINT = "checkpoint"
"""As in ``transformers.trainer_utils.PREFIX_CHECKPOINT_DIR``, which is slow to import."""


@dataclass(frozen=True, slots=True, repr=False)
class RunFolder:
    """Paths and records of a run folder.

    Args:
        path: path of the folder.
    """

    path: Path

    def __repr__(self) -> str:
        return brief(self, repr(str(self.path)), self.state)

    def _repr_html_(self) -> str:
        from syntagma.runs.summary import run_html

        return run_html(self)

    @property
    def checkpoints(self) -> Path:
        """Path of the folder of checkpoints."""
        return self.path / "checkpoints"

    @property
    def metrics(self) -> Path:
        """Path of the records: a line for each logging step and each evaluation."""
        return self.path / RECORDS

    @property
    def experiment(self) -> Path:
        """Path of the settings."""
        return self.path / SETTINGS

    @property
    def state(self) -> str:
        """``done``, ``begun`` (started but not finished), or ``to do``."""
        if not self.experiment.is_file():
            return "to do"
        return "done" if (self.path / METRICS).is_file() else "begun"

    def result(self) -> dict[str, Any]:
        """Read the metrics of the best model; the run must be finished.

        One that is not finite, which is ``null`` in the file, is NaN, as when it was computed.
        """
        values = read_json(self.path / METRICS)
        return {name: math.nan if value is None else value for name, value in values.items()}

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Lock the folder against other processes, including those on machines that share it.

        Raises:
            BusyError: another process holds the lock.
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
        data: Mapping[str, str] | None = None,
    ) -> None:
        """Create the folder, or check that it belongs to the same experiment.

        Args:
            experiment: the settings.
            resume: accept a folder with an unfinished or finished run of the same experiment.
            sources: name, version and digest of the ``encoder``, ``parser`` and so on.
            data: a hash of the examples of each setting that names files, such as ``data.train``.

        Raises:
            InputError: the folder exists, and ``resume`` is false, or its settings, sources or
                data differ.
        """
        if resume and self.experiment.is_file():
            self._check_same(experiment)
            self.check_data(data or {})
            self._check_sources(sources or {})
            return
        require_absent(self.path)
        with disk_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        about = {key: dict(of) for key, of in (sources or {}).items()} | {DATA: dict(data or {})}
        write_json(self.path / RUN, stamp(FORMAT) | about)
        text = yaml.safe_dump(to_dict(experiment), sort_keys=False, allow_unicode=True)
        write_text(self.experiment, text)

    def take_back(self, *, keep_folder: bool) -> None:
        """Undo :meth:`begin`: remove its files, and the folder unless ``keep_folder``."""
        shutil.rmtree(self.checkpoints, ignore_errors=True)
        for path in (self.experiment, self.path / RUN, self.metrics):
            path.unlink(missing_ok=True)
        if not keep_folder:
            self.path.rmdir()

    def _check_same(self, experiment: Experiment) -> None:
        saved = comparable(read_experiment(self.path))
        for key, before, now in differences(saved, comparable(experiment)):
            raise InputError(
                f"{self.path}: cannot resume with {key}={now!r}, the run was started with "
                f"{before!r}; give the same settings, or another --out"
            )

    def check_data(self, data: Mapping[str, str]) -> None:
        """Check that the examples of a run that is resumed are those that it was started with.

        A run that an earlier version started has no record of them, and passes.

        Args:
            data: as for :meth:`begin`.

        Raises:
            InputError: they differ.
        """
        before = read_data_digests(self.path)
        for key, digest in data.items():
            if before.get(key, digest) != digest:
                raise InputError(
                    f"{self.path}: cannot resume, the examples of {key} have changed since the "
                    f"run was started; put the old files back, or give another --out"
                )

    def _check_sources(self, sources: Mapping[str, Mapping[str, str]]) -> None:
        before = read_sources(self.path)
        for key, now in sources.items():
            digests = before.get(key, {}).get("digest"), now["digest"]
            # There is no digest of an encoder on the hub, nor in the folders of earlier versions.
            if all(digests) and digests[0] != digests[1]:
                raise InputError(
                    f"{self.path}: cannot resume, the {key} {now['name']} has changed since the "
                    f"run was started; put the old one back, or give another --out"
                )

    def last_checkpoint(self, *, n_processes: int = 1) -> Path | None:
        """Find the latest complete checkpoint, and remove incomplete ones.

        Args:
            n_processes: number of processes that will resume from it.

        Raises:
            InputError: it was written by another number of processes, which split the data
                differently.
        """
        complete = self._complete_checkpoints()
        for path in {*self._by_step(f"{CHECKPOINT}-*")} - {*complete}:
            # All processes of a training do this at once: another may have removed it already.
            shutil.rmtree(path, ignore_errors=True)
        newest = complete[-1] if complete else None
        if newest is not None:
            before = (newest / COMPLETE).read_text(encoding="utf-8").strip() or str(n_processes)
            if before != str(n_processes):
                raise InputError(
                    f"{self.path}: was started with {before} processes; resume with {before} (got "
                    f"{n_processes}), or use another --out"
                )
        return newest

    def checkpoint(self, step: int) -> Path:
        """Path of the checkpoint at a step."""
        return self.checkpoints / f"{CHECKPOINT}-{step}"

    def mark_complete(self, step: int, *, n_processes: int = 1) -> None:
        """Mark a checkpoint as completely written by ``n_processes``, and prune old weights."""
        write_text(self.checkpoint(step) / COMPLETE, f"{n_processes}\n")
        self._drop_worse(step)

    @contextmanager
    def keep(self, step: int) -> Iterator[Path]:
        """Save the weights of a step as the best so far.

        Yields:
            Path of the file to write to.
        """
        with write_file(self.checkpoints / f"{BEST}-{step}.safetensors") as draft:
            yield draft
        complete = self._complete_checkpoints()
        self._drop_worse(_step(complete[-1]) if complete else 0)

    def best(self) -> Path:
        """Path of the best weights so far.

        Raises:
            DamagedFileError: the file does not exist.
        """
        kept = self._by_step(f"{BEST}-*.safetensors")
        if not kept:
            raise DamagedFileError(
                f"{self.checkpoints}: the best weights of this run are missing; train it again in "
                f"another folder"
            )
        return kept[-1]

    def _drop_worse(self, checkpoint: int) -> None:
        """Remove all saved weights but the best, and the best as of the checkpoint at a step."""
        # A run that resumes from the checkpoint needs the weights that were the best then.
        kept = self._by_step(f"{BEST}-*.safetensors")
        earlier = [path for path in kept if _step(path) <= checkpoint]
        for path in {*kept} - {*kept[-1:], *earlier[-1:]}:
            path.unlink()

    def _complete_checkpoints(self) -> list[Path]:
        """Find the completely written checkpoints, the latest last."""
        return [path for path in self._by_step(f"{CHECKPOINT}-*") if (path / COMPLETE).is_file()]

    def _by_step(self, pattern: str) -> list[Path]:
        """Find checkpoints or saved weights, the latest last."""
        return sorted(self.checkpoints.glob(pattern), key=_step)

    def records(self) -> list[dict[str, Any]]:
        """Read the lines of ``metrics.jsonl``; empty if the file does not exist yet.

        Raises:
            InputError: a line is damaged.
        """
        return read_records(self.path) if self.metrics.is_file() else []

    def forget_after(self, checkpoint: Path | None) -> None:
        """Remove records and saved weights of steps that a resumed run will repeat.

        Args:
            checkpoint: the checkpoint to resume from; ``None`` to start from the beginning.
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
        """Read the step and the primary metric of each evaluation so far."""
        key = f"eval_{primary}"
        return [(record["step"], record[key]) for record in self.records() if key in record]


def read_experiment(folder: Path, *, check: bool = True) -> Experiment:
    """Read the settings in a run folder.

    Args:
        folder: path of the run folder.
        check: check the format version of the folder first.

    Raises:
        InputError: the folder was written before release 0.1.0 or by a later version, or the
            settings are not valid.
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
    about = _check_format(folder)
    return {key: of for key, of in about.items() if isinstance(of, dict) and key != DATA}


def read_data_digests(folder: Path) -> dict[str, str]:
    """Read the digests of the examples that a run was started with, by setting.

    Args:
        folder: path of the run folder.

    Returns:
        Entries such as ``data.train``; empty for runs of versions that did not record them.

    Raises:
        InputError: the folder was written before release 0.1.0, or in a later format.
        DamagedFileError: its file cannot be read.
    """
    recorded = _check_format(folder).get(DATA)
    return dict(recorded) if isinstance(recorded, dict) else {}


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
    """Return the step of a checkpoint or of saved weights, from its name."""
    return int(path.stem.rpartition("-")[2])
