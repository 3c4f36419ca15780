"""From an experiment to a run folder."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from transformers import TrainingArguments, set_seed

from syntagma.encoders.compact import EXACT
from syntagma.errors import InputError, MissingExtraError, TrainingError, how_to_skip
from syntagma.outputs import disk_errors, require_absent
from syntagma.runs.folder import RunFolder
from syntagma.runs.names import METRICS
from syntagma.runs.scores import write_scores
from syntagma.tasks import find_task
from syntagma.tasks.check import check_experiment
from syntagma.tasks.experiment import DataSettings, Experiment, TrainingSettings
from syntagma.tasks.task import Task
from syntagma.training.processes import is_first_process
from syntagma.training.stream_loader import StreamLoader
from syntagma.training.trainable import prepare_encoder
from syntagma.training.trainer import SyntagmaTrainer

__all__ = ["train"]

log = logging.getLogger(__name__)

LEFT_ALONE = ("closed by peer", "reset by peer", "remote process exited")
"""In the errors of torch's processes when one of the others is no more there."""


def train(experiment: Experiment, folder: str | Path, *, resume: bool = False) -> dict[str, Any]:
    """Train a task and leave everything about it in a run folder.

    Args:
        experiment: what to train.
        folder: the run folder; it must not exist, unless ``resume``.
        resume: go on from the last checkpoint in the folder, where there is one; the result is
            that of a run that never stopped. A finished run is left as it is.

    Returns:
        The metrics of the kept model on the dev files, numbers by their names; ``signature`` says
        how the primary one is computed, where tools differ in that.

    Raises:
        InputError: data or settings cannot be used, or the folder exists, or another process of
            the same training has ended.
        BusyError: another process trains it.
    """
    if not isinstance(experiment, Experiment):
        raise InputError(
            f"train: expected an Experiment, got {experiment!r:.60}; load_experiment() reads one "
            f"from a file"
        )
    check_experiment(experiment)
    run = RunFolder(Path(folder))
    is_first = is_first_process()
    with run.claimed() if is_first else nullcontext(), _in_company():
        if resume and run.state == "done":
            run.begin(experiment, resume=True)
            if is_first:
                log.warning("%s is finished; nothing is left to do", run.path)
            return run.result()
        if not resume and is_first:
            require_absent(run.path)
        return _train(experiment, run, resume=resume)


def _train(experiment: Experiment, run: RunFolder, *, resume: bool) -> dict[str, Any]:
    task_class = find_task(experiment.task)
    settings = experiment.training
    with how_to_skip("--set data.skip_bad=true"):
        examples, dev = _read(task_class, experiment.data, settings.seed)
    set_seed(settings.seed)
    task = task_class.new(experiment, examples)
    merge = prepare_encoder(task.model, settings)
    arguments = _arguments(run, settings, evaluates=bool(dev))
    task.model.to(arguments.device)
    with arguments.main_process_first(local=False):
        was_there, is_new = run.path.exists(), run.state == "to do"
        if arguments.process_index == 0:
            run.begin(experiment, resume=resume)
    try:
        trainer = SyntagmaTrainer(
            task=task, settings=settings, arguments=arguments, train=examples, dev=dev, folder=run
        )
    except BaseException:
        # Nothing is there yet that could be gone on with.
        if is_new and arguments.process_index == 0:
            run.take_back(keep_folder=was_there)
        raise
    if arguments.process_index:
        # All processes have built the same model; what they drop and hide is to differ.
        torch.manual_seed(settings.seed + arguments.process_index)
    checkpoint = run.last_checkpoint(n_processes=arguments.world_size) if resume else None
    if arguments.process_index == 0:
        run.forget_after(checkpoint)
    if checkpoint is not None and isinstance(trainer.loader, StreamLoader):
        trainer.loader.load(checkpoint)
    with _memory_errors(settings):
        trainer.train_from(checkpoint)
    if arguments.world_size > 1:
        atexit.register(_leave_group)
    if arguments.process_index != 0:
        return {}
    if dev:
        task.model.load_weights(load_file(run.best()))
    merge()
    # What low-rank additions are merged into computes a little otherwise than both did.
    predictions = trainer.best_predictions if settings.encoder != "lora" else None
    return _finish(task, dev, run, predictions, frozen=settings.encoder == "frozen")


@contextmanager
def _memory_errors(settings: TrainingSettings) -> Iterator[None]:
    """Turn a device whose memory is full into one clear line."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        recompute = ", or go on with --resume --set training.recompute=true"
        remedy = "" if settings.recompute else recompute
        raise TrainingError(
            f"the device's memory is full ({str(error).partition('. ')[0]}); begin a run with less "
            f"than {settings.batch_pieces} training.batch_pieces, and accumulate them{remedy}"
        ) from error


@contextmanager
def _in_company() -> Iterator[None]:
    """One of several processes that is left alone says so in a line; the one that ended, why.

    Raises:
        InputError: another one has ended.
    """
    try:
        yield
    except RuntimeError as error:
        # All that torch's own error tells is the end of a connection.
        if os.environ.get("WORLD_SIZE", "1") == "1" or not any(s in str(error) for s in LEFT_ALONE):
            raise
        raise InputError(
            "another process of this training has ended; what it wrote itself says why: mend that, "
            "and start all of them again with --resume"
        ) from error


def _leave_group() -> None:
    """Its threads must have ended before the interpreter does, or the process is aborted."""
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def _read(
    task_class: type[Task[Any, Any]], data: DataSettings, seed: int
) -> tuple[list[Any], dict[str, list[Any]]]:
    examples = [
        example for path in data.train for example in task_class.read(path, skip_bad=data.skip_bad)
    ]
    if task_class.streams and (data.limit, data.dev_limit) != (None, None):
        log.warning("data.limit and data.dev_limit do not hold for corpora, which are read as a "
                    "stream: training.steps says how much of them")  # fmt: skip
        data = replace(data, limit=None, dev_limit=None)
    task_class.require_gold(examples, "data.train", learnt=True)
    told = [example for example in examples if task_class.has_gold(example)]
    if len(told) < len(examples):
        n_left_out = len(examples) - len(told)
        log.warning("data.train: it is not told what is right for %d of %d examples; left out",
                    n_left_out, len(examples))  # fmt: skip
    examples = _some(told, data.limit, seed)
    parts = task_class.read_parts(data.dev, skip_bad=data.skip_bad)
    # Ids must not depend on the limit: the files are read again to look at a finished run.
    dev = {name: _some(part, data.dev_limit, seed=0) for name, part in parts.items()}
    for part, path in zip(dev.values(), data.dev, strict=True):
        task_class.require_gold(part, f"data.dev: {path}")
    return examples, dev


def _some(examples: list[Any], limit: int | None, seed: int) -> list[Any]:
    """Some of the examples, chosen at random, in their order."""
    if limit is None or limit >= len(examples):
        return examples
    chosen = np.random.default_rng(seed).permutation(len(examples))[:limit]
    return [examples[index] for index in np.sort(chosen)]


def _arguments(run: RunFolder, settings: TrainingSettings, *, evaluates: bool) -> TrainingArguments:
    try:
        arguments = TrainingArguments(
            output_dir=str(run.checkpoints),
            num_train_epochs=settings.epochs,
            max_steps=settings.steps or -1,
            gradient_accumulation_steps=settings.accumulate,
            warmup_steps=settings.warmup,
            max_grad_norm=settings.max_gradient_norm,
            lr_scheduler_type=settings.schedule,
            seed=settings.seed,
            data_seed=settings.seed,
            logging_steps=50,
            eval_strategy="steps" if evaluates else "no",
            eval_steps=1 if evaluates else None,
            save_strategy="steps",
            save_steps=settings.checkpoint_steps,
            save_total_limit=2,
            report_to=[],
            remove_unused_columns=False,
            disable_tqdm=True,
            ddp_find_unused_parameters=False,
            # Said outright, so that several processes on processors find their way to each other.
            use_cpu=not (torch.cuda.is_available() or torch.backends.mps.is_available()),
            # It would wait for the device at every step, and hide a loss that is no number.
            logging_nan_inf_filter=False,
        )
    except ImportError as error:
        raise MissingExtraError("training", "train") from error
    # One GPU a process: of several the Trainer would otherwise make one slow one (DataParallel),
    # whose threads share what guides hand on within a pass.
    if arguments.n_gpu > 1:
        arguments._n_gpu = 1
    # `training.precision` says it, not the environment of `accelerate launch`.
    arguments.mixed_precision = "no"
    return arguments


def _finish(
    task: Task[Any, Any],
    dev: dict[str, list[Any]],
    run: RunFolder,
    predictions: list[Any] | None,
    *,
    frozen: bool,
) -> dict[str, Any]:
    """Fit what is fitted on dev data, write predictions, metrics and the kept model.

    Args:
        task: with the weights to keep.
        dev: examples by name of their file.
        run: the folder.
        predictions: of these weights for all dev examples, where they are known.
        frozen: the encoder's weights are the published ones.
    """
    task.model.eval()
    examples = [example for part in dev.values() for example in part]
    predictions = task.predict(examples) if predictions is None else predictions
    if examples and task.fit_after_training(examples, predictions):
        predictions = task.predict(examples)
    with disk_errors(run.path):
        for cut in run.path.glob(".kept.*"):
            shutil.rmtree(cut)
        draft = Path(tempfile.mkdtemp(dir=run.path, prefix=".kept."))
        try:
            metrics = write_scores(task, dev, predictions, draft)
            # What a frozen encoder has in common with the published one is not saved again.
            task.save(draft, bits=EXACT if frozen else None)
            # What says that a run is finished comes last.
            for path in sorted(draft.iterdir(), key=lambda path: path.name == METRICS):
                target = run.path / path.name
                if target.is_dir():
                    shutil.rmtree(target)
                path.replace(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        # They take five times the room of the model, and nothing goes on from them any more.
        shutil.rmtree(run.checkpoints, ignore_errors=True)
    return metrics
