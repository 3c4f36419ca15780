"""What a run leaves behind, and how a killed run finds its way back.

``experiment.yaml``    the settings, complete
``metrics.jsonl``      a line each logging step and each evaluation
``checkpoints/``       what to resume from, and the best weights by then; gone when it is finished
``metrics.json``       the metrics of the kept model; written last, so a run that has it is finished
``examples.json``      its score on each dev example, for significance tests
``data.json``          hashes of the dev examples, so that runs on others are told apart
``predictions.json``   its predictions in the task's format (``.conllu`` for parsers)
``config.json``, ``model.safetensors``, …   the kept model
``scored/``            the like of the four above on other files, a folder each
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from syntagma.errors import DamagedFileError, InputError
from syntagma.files import read_json
from syntagma.outputs import hold_folder, require_absent, write_file, write_text
from syntagma.runs.log import read_records
from syntagma.runs.names import METRICS, RECORDS, SETTINGS
from syntagma.settings import differences, to_dict

if TYPE_CHECKING:
    from syntagma.tasks.experiment import Experiment

__all__ = ["RunFolder"]

BEST = "best"
COMPLETE = "complete"
CHECKPOINT = "checkpoint"
"""What the trainer of transformers calls them; its own constant costs the import of all of it."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The paths of a run, and the records in it.

    Args:
        path: of the folder.
    """

    path: Path

    @property
    def checkpoints(self) -> Path:
        """Where checkpoints lie."""
        return self.path / "checkpoints"

    @property
    def metrics(self) -> Path:
        """A line each logging step and each evaluation."""
        return self.path / RECORDS

    @property
    def experiment(self) -> Path:
        """The settings."""
        return self.path / SETTINGS

    @property
    def state(self) -> str:
        """``done``, ``begun`` or ``to do``."""
        if not self.experiment.is_file():
            return "to do"
        return "done" if (self.path / METRICS).is_file() else "begun"

    def result(self) -> dict[str, Any]:
        """The metrics of the kept model, of a run that is done."""
        return dict(read_json(self.path / METRICS))

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Keep other processes out, on this machine and on others that share the folder.

        Raises:
            BusyError: one is in it.
            InputError: nothing can be written beside the folder.
        """
        with hold_folder(self.path):
            yield

    def begin(self, experiment: Experiment, *, resume: bool) -> None:
        """Make the folder, or check that it belongs to the same experiment.

        Raises:
            InputError: it exists, and ``resume`` is false or its settings are others.
        """
        if not resume or not self.experiment.is_file():
            require_absent(self.path)
        else:
            self._check_same(experiment)
            return
        self.path.mkdir(parents=True, exist_ok=True)
        text = yaml.safe_dump(to_dict(experiment), sort_keys=False, allow_unicode=True)
        write_text(self.experiment, text)

    def take_back(self, *, keep_folder: bool) -> None:
        """Remove what :meth:`begin` wrote, and the folder itself unless it was there before."""
        shutil.rmtree(self.checkpoints, ignore_errors=True)
        self.experiment.unlink(missing_ok=True)
        if not keep_folder:
            self.path.rmdir()

    def _check_same(self, experiment: Experiment) -> None:
        from syntagma.tasks.experiment import comparable, load_run_settings

        saved = comparable(load_run_settings(self.experiment))
        for key, before, now in differences(saved, comparable(to_dict(experiment))):
            raise InputError(
                f"{self.path}: cannot resume with {key}={now!r}, the run was begun with "
                f"{before!r}; give the same settings or another --out"
            )

    def last_checkpoint(self, *, n_processes: int = 1) -> Path | None:
        """The newest checkpoint that was written to its end; half-written ones are removed.

        Args:
            n_processes: that go on from it.

        Raises:
            InputError: it is of another number of processes, which shared the data otherwise.
        """
        whole = self._whole_checkpoints()
        for path in {*self._by_step(f"{CHECKPOINT}-*")} - {*whole}:
            # Of several processes each finds them, and one is the first.
            shutil.rmtree(path, ignore_errors=True)
        newest = whole[-1] if whole else None
        if newest is not None:
            before = (newest / COMPLETE).read_text(encoding="utf-8").strip() or str(n_processes)
            if before != str(n_processes):
                raise InputError(
                    f"{self.path}: was begun by {before} processes and cannot be gone on with by "
                    f"{n_processes}; start as many as before, or give another --out"
                )
        return newest

    def checkpoint(self, step: int) -> Path:
        """Where the checkpoint of a step lies."""
        return self.checkpoints / f"{CHECKPOINT}-{step}"

    def mark_complete(self, step: int, *, n_processes: int = 1) -> None:
        """Say that a checkpoint is whole, and of how many processes; a kill may leave it half."""
        write_text(self.checkpoint(step) / COMPLETE, f"{n_processes}\n")
        self._drop_worse(step)

    @contextmanager
    def keep(self, step: int) -> Iterator[Path]:
        """Keep the weights of a step, which are better than all before.

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
                f"{self.checkpoints}: the best weights of this run are gone; begin it again in "
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
        """Those that were written to their end, the newest last."""
        return [path for path in self._by_step(f"{CHECKPOINT}-*") if (path / COMPLETE).is_file()]

    def _by_step(self, pattern: str) -> list[Path]:
        """Checkpoints or kept weights, the newest last."""
        return sorted(self.checkpoints.glob(pattern), key=_step)

    def records(self) -> list[dict[str, Any]]:
        """The lines of ``metrics.jsonl``; none before there are some.

        Raises:
            InputError: a line is damaged.
        """
        return read_records(self.path) if self.metrics.is_file() else []

    def forget_after(self, checkpoint: Path | None) -> None:
        """Drop the records, and the kept weights, of steps that a resumed run does again.

        Args:
            checkpoint: that it goes on from; from the beginning if ``None``.
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


def _step(path: Path) -> int:
    """Of a checkpoint or of kept weights, by its name."""
    return int(path.stem.rpartition("-")[2])
