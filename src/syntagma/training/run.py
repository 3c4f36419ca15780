"""Train the model of an experiment and write its run folder."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors.torch import load_file

from syntagma.encoders.compact import EXACT
from syntagma.encoders.model_card import CardSettings, write_card
from syntagma.encoders.saving import rebase
from syntagma.errors import InputError, MissingExtraError, TrainingError, how_to_skip
from syntagma.outputs import disk_errors, require_absent
from syntagma.runs.folder import RunFolder
from syntagma.runs.names import METRICS
from syntagma.runs.scores import write_scores
from syntagma.tasks import find_task
from syntagma.tasks.experiment import DataSettings, Experiment, TrainingSettings
from syntagma.tasks.predictor import TextEncoder
from syntagma.tasks.task import Task
from syntagma.training.kept_memory import kept_memory
from syntagma.training.processes import is_first_process
from syntagma.training.requirements import require_peft
from syntagma.training.stream_loader import StreamLoader
from syntagma.training.trainable import parameter_groups, prepare_encoder, warn_of_unused
from syntagma.training.trainer import SyntagmaTrainer

if TYPE_CHECKING:
    from transformers import TrainingArguments

log = logging.getLogger(__name__)

PEER_DIED = ("closed by peer", "reset by peer", "remote process exited")
"""Texts in torch's error messages when another process of the training has ended."""


def train(experiment: Experiment, folder: str | Path, *, resume: bool = False) -> dict[str, Any]:
    """Train a model and save it with its predictions and scores in a run folder.

    Args:
        experiment: the settings.
        folder: path of the run folder; it must not exist, unless ``resume``.
        resume: continue from the last checkpoint in the folder, if there is one; the result equals
            that of an uninterrupted run. A finished run is not changed.

    Returns:
        The metrics of the best model on the dev files, by name, in the units of
        :func:`syntagma.evaluate`; ``signature`` identifies the
        computation of the primary metric where tools differ (as for BLEU).

    Raises:
        InputError: data or settings cannot be used, the folder exists, the data, the encoder or
            the parser of a resumed run have changed, or another process of the same training has
            ended.
        BusyError: another process is training in the folder.
        TrainingError: training failed, for example because the loss diverged or memory ran out.
    """
    if not isinstance(experiment, Experiment):
        raise InputError(
            f"train: expected an Experiment, got {experiment!r:.60}; read a file with "
            f"load_experiment()"
        )
    run = RunFolder(Path(folder))
    is_first = is_first_process()
    with run.claimed() if is_first else nullcontext(), _peer_errors():
        if resume and run.state == "done":
            run.begin(experiment, resume=True)
            if is_first:
                log.warning("%s is already finished", run.path)
            return run.result()
        if not resume and is_first:
            require_absent(run.path)
        return _train(experiment, run, resume=resume)


def _train(experiment: Experiment, run: RunFolder, *, resume: bool) -> dict[str, Any]:
    from transformers import set_seed

    task_class = find_task(experiment.task)
    settings = experiment.training
    require_peft(settings)  # Before data are read, which can take minutes.
    with how_to_skip("--set data.skip_bad=true"):
        examples, dev = _read(task_class, experiment.data, settings.seed)
    data = {"data.train": task_class.fingerprint(examples)}
    for path, part in zip(experiment.data.dev, dev.values(), strict=True):
        data[f"data.dev {path}"] = task_class.fingerprint(part)
    if resume and run.state == "begun":
        run.check_data(data)
    set_seed(settings.seed)
    task = task_class.new(experiment, examples)
    texts = getattr(getattr(task, "predictor", None), "texts", None)
    if isinstance(texts, TextEncoder):
        texts.chooses_tags = True
    merge = prepare_encoder(task.model, settings)
    parameter_groups(task.model, settings)  # Its error must come before the folder is written.
    if is_first_process():
        warn_of_unused(task.model, settings, evaluates=bool(dev))
    arguments = training_arguments(run, settings, evaluates=bool(dev))
    task.model.to(arguments.device)
    with arguments.main_process_first(local=False):
        had_folder, is_new = run.path.exists(), run.state == "to do"
        if arguments.process_index == 0:
            run.begin(experiment, resume=resume, sources=task.sources(), data=data)
    began = run if is_new and arguments.process_index == 0 else None
    with _taken_back(began, BaseException, keep_folder=had_folder):
        trainer = SyntagmaTrainer(
            task=task, settings=settings, arguments=arguments, train=examples, dev=dev, folder=run
        )
    if arguments.process_index:
        # All processes initialise the same model from one seed, but need different dropout masks.
        torch.manual_seed(settings.seed + arguments.process_index)
    checkpoint = run.last_checkpoint(n_processes=arguments.world_size) if resume else None
    if arguments.process_index == 0:
        run.forget_after(checkpoint)
    if checkpoint is not None and isinstance(trainer.loader, StreamLoader):
        trainer.loader.load(checkpoint)
    on_cpu = arguments.device.type == "cpu"
    with (
        _taken_back(began, InputError, keep_folder=had_folder, unless=_can_resume(trainer)),
        _memory_errors(settings),
        kept_memory() if on_cpu else nullcontext() as give_back,
    ):
        trainer.train_from(checkpoint, after_step=give_back)
    if arguments.world_size > 1:
        atexit.register(_leave_group)
    if arguments.process_index != 0:
        return {}
    if dev:
        task.model.load_weights(load_file(run.best()))
    merge()
    # Merging LoRA matrices changes results in the last bits, so predict again.
    predictions = trainer.best_predictions if settings.encoder != "lora" else None
    return _finish(trainer, predictions)


@contextmanager
def _taken_back(
    run: RunFolder | None,
    kind: type[BaseException],
    *,
    keep_folder: bool,
    unless: Callable[[BaseException], bool] = lambda error: False,
) -> Iterator[None]:
    """Take a run folder back after an error, so that it does not block the corrected call.

    Args:
        run: the folder; ``None`` if this process did not begin it.
        kind: the errors after which that is done.
        keep_folder: as for :meth:`RunFolder.take_back`.
        unless: whether there is something to resume after an error.
    """
    try:
        yield
    except kind as error:
        if run is not None and not unless(error):
            run.take_back(keep_folder=keep_folder)
        raise


def _can_resume(trainer: SyntagmaTrainer) -> Callable[[BaseException], bool]:
    """Return whether a run can be resumed after an error: it has made a step, or ran into one."""
    return lambda error: isinstance(error, TrainingError) or trainer.state.global_step > 0


@contextmanager
def _memory_errors(settings: TrainingSettings) -> Iterator[None]:
    """Report an out-of-memory error in one line, with the settings to change.

    Raises:
        TrainingError: the device is out of memory.
    """
    try:
        yield
    except torch.OutOfMemoryError as error:
        recompute = ", or --resume with --set training.gradient_checkpointing=true"
        remedy = "" if settings.gradient_checkpointing else recompute
        raise TrainingError(
            f"out of device memory ({str(error).partition('. ')[0]}); lower training.batch_tokens "
            f"(now {settings.batch_tokens}) and raise training.gradient_accumulation_steps{remedy}"
        ) from error


@contextmanager
def _peer_errors() -> Iterator[None]:
    """If a peer process died, report that in one line; the peer's own output has the cause.

    Raises:
        InputError: a peer has ended.
    """
    try:
        yield
    except RuntimeError as error:
        # torch has no exception class for this; its message mentions only a closed connection.
        if os.environ.get("WORLD_SIZE", "1") == "1" or not any(s in str(error) for s in PEER_DIED):
            raise
        raise InputError(
            "another process of this training has ended; fix the cause, which its own output "
            "reports, and start all processes again with --resume"
        ) from error


def _leave_group() -> None:
    """Leave the process group: its threads would abort the process when the interpreter exits."""
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def _read(
    task_class: type[Task[Any, Any]], data: DataSettings, seed: int
) -> tuple[list[Any], dict[str, list[Any]]]:
    """Read the labelled training examples, and the dev examples of each file by its name."""
    examples = [
        example for path in data.train for example in task_class.read(path, skip_bad=data.skip_bad)
    ]
    if task_class.streams and (data.limit, data.dev_limit) != (None, None):
        log.warning(
            "data.limit and data.dev_limit are ignored for corpora, which are read as a stream; "
            "set training.max_steps instead"
        )
        data = replace(data, limit=None, dev_limit=None)
    if data.documents:
        examples = data.documents.select(examples, task_class.document_of)
    task_class.require_labels(examples, "data.train", training=True)
    labelled = [example for example in examples if task_class.is_labelled(example)]
    if len(labelled) < len(examples):
        log.warning(
            "data.train: skipped %d of %d examples without a gold label",
            len(examples) - len(labelled),
            len(examples),
        )
    examples = _some(labelled, data.limit, seed)
    parts = task_class.read_parts(data.dev, skip_bad=data.skip_bad)
    # Apply the limit after reading, so that ids do not depend on it: when a finished run is
    # analysed, the files are read again without the limit.
    dev = {name: _some(part, data.dev_limit, seed=0) for name, part in parts.items()}
    for part, path in zip(dev.values(), data.dev, strict=True):
        task_class.require_labels(part, f"data.dev: {path}")
    return examples, dev


def _some(examples: list[Any], limit: int | None, seed: int) -> list[Any]:
    """Select ``limit`` examples at random, and keep their order."""
    if limit is None or limit >= len(examples):
        return examples
    chosen = np.random.default_rng(seed).permutation(len(examples))[:limit]
    return [examples[index] for index in np.sort(chosen)]


def training_arguments(
    run: RunFolder, settings: TrainingSettings, *, evaluates: bool
) -> TrainingArguments:
    """Translate training settings into arguments of Trainer.

    Args:
        run: the run folder.
        settings: the training settings.
        evaluates: whether there are dev files.

    Raises:
        MissingExtraError: accelerate is not installed, or is too old.
    """
    from transformers import TrainingArguments

    try:
        arguments = TrainingArguments(
            output_dir=str(run.checkpoints),
            num_train_epochs=settings.num_train_epochs,
            max_steps=settings.max_steps or -1,
            gradient_accumulation_steps=settings.gradient_accumulation_steps,
            warmup_steps=settings.warmup_ratio,
            max_grad_norm=settings.max_grad_norm,
            lr_scheduler_type=settings.lr_scheduler_type,
            seed=settings.seed,
            data_seed=settings.seed,
            logging_steps=50,
            eval_strategy="steps" if evaluates else "no",
            eval_steps=1 if evaluates else None,
            save_strategy="steps",
            save_steps=settings.save_steps,
            save_total_limit=2,
            report_to=[],
            remove_unused_columns=False,
            disable_tqdm=True,
            ddp_find_unused_parameters=False,
            # Set explicitly, so that several CPU processes select the gloo backend.
            use_cpu=not (torch.cuda.is_available() or torch.backends.mps.is_available()),
            # The filter would wait for the device at every step, and hide a NaN loss.
            logging_nan_inf_filter=False,
        )
    except ImportError as error:
        raise MissingExtraError("training", "train") from error
    # One GPU per process. With several, Trainer would use DataParallel, which is slow, and whose
    # threads would share the state that guides keep during a forward pass.
    if arguments.n_gpu > 1:
        arguments._n_gpu = 1
    # `training.precision` decides, not the environment of `accelerate launch`.
    arguments.mixed_precision = "no"
    return arguments


def _finish(trainer: SyntagmaTrainer, predictions: list[Any] | None) -> dict[str, Any]:
    """Finish the training, fit thresholds, and write predictions, metrics and the final model.

    If ``predictions`` is ``None``, they are computed.  If the encoder was frozen, only differences
    from the published weights are saved.
    """
    task, dev, run = trainer.task, trainer.dev, trainer.folder
    frozen = trainer.settings.encoder == "frozen"
    task.model.eval()
    task.finish_training()
    examples = [example for part in dev.values() for example in part]
    if predictions is None:
        values, predictions = trainer.score_dev() if examples else ({}, [])
        if examples and not run.evaluations(task.primary):
            # Training has left its only evaluation to this one (SyntagmaTrainer.scores_later).
            last = run.records()[-1]
            scores = {f"eval_{key}": value for key, value in values.items()}
            run.add_record({"step": last["step"], "epoch": last["epoch"], **scores})
    if examples and task.fit_after_training(examples, predictions):
        predictions = task.predict(examples)
    with disk_errors(run.path):
        for cut in run.path.glob(".kept.*"):
            shutil.rmtree(cut)
        draft = Path(tempfile.mkdtemp(dir=run.path, prefix=".kept."))
        try:
            metrics = write_scores(task, dev, predictions, draft)
            # Weights of a frozen encoder that equal the published ones are not saved again.
            task.save(draft, bits=EXACT if frozen else None)
            rebase(draft, run.path)
            _write_card(task, metrics, draft, n_evaluations=len(run.evaluations(task.primary)))
            # The metrics mark a finished run, so move them last.
            for path in sorted(draft.iterdir(), key=lambda path: path.name == METRICS):
                target = run.path / path.name
                if target.is_dir():
                    shutil.rmtree(target)
                path.replace(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        # Checkpoints take five times the space of the model, and a finished run needs none.
        shutil.rmtree(run.checkpoints, ignore_errors=True)
    return metrics


def _write_card(
    task: Task[Any, Any], metrics: dict[str, Any], folder: Path, *, n_evaluations: int
) -> None:
    """Write the model card again, with its score, and what else the data of the score chose."""
    score = metrics.get(task.primary)
    if isinstance(score, int | float):
        chose = f", which also chose the best of {n_evaluations} evaluations"
        card = CardSettings(
            metrics={task.primary: float(score)},
            text=f"Its score ({task.primary}) is that on its dev data"
            f"{chose if n_evaluations > 1 else ''}.",
        )
        write_card(folder, task.model, card)
