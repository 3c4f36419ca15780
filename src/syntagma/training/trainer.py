"""A Hugging Face Trainer with batches of a token budget, evaluated with the task's metrics."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.utils.data import DataLoader

from syntagma.errors import InputError, MissingExtraError, TrainingError
from syntagma.progress import predicting

try:
    # Before Transformers' Trainer, whose own error without accelerate names no remedy.
    from accelerate.utils import broadcast_object_list
except ImportError as error:
    raise MissingExtraError("training", "train") from error
from transformers import (
    PrinterCallback,
    ProgressCallback,
    Trainer,
    TrainerState,
    TrainingArguments,
)

from syntagma.batches import TokenBudgetSampler
from syntagma.encoders.precision import autocast
from syntagma.encoders.quiet import quiet
from syntagma.outputs import disk_errors, write_file
from syntagma.runs.folder import RunFolder
from syntagma.tasks.experiment import TrainingSettings
from syntagma.tasks.stream import BatchStream
from syntagma.tasks.task import Task
from syntagma.training.callbacks import AfterStep, LogBeforeSaving, ProgressBar, SetEpoch
from syntagma.training.stream_loader import StreamLoader
from syntagma.training.trainable import parameter_groups

STATE = "trainer_state.json"
REMEDY = "start again with a lower training.learning_rate or a higher training.warmup_ratio"


class SyntagmaTrainer(Trainer):  # type: ignore[misc]
    """Trains the model of a task.

    Args:
        task: the task with its model.
        settings: the training settings.
        arguments: the arguments of Trainer, see :func:`syntagma.training.run.training_arguments`.
        train: training examples.
        dev: dev examples of each file, by name of the file.
        folder: the run folder.

    Attributes:
        best_predictions: predictions of the best weights for all dev examples; ``None`` if these
            weights were saved before this process resumed the run, or are not scored yet
            (:attr:`scores_later`).
    """

    optimizer: Any
    control: Any

    def __init__(
        self,
        *,
        task: Task[Any, Any],
        settings: TrainingSettings,
        arguments: TrainingArguments,
        train: Sequence[Any],
        dev: Mapping[str, Sequence[Any]],
        folder: RunFolder,
    ) -> None:
        self.task = task
        self.settings = settings
        self.dev = dev
        self.folder = folder
        self.best_predictions: list[Any] | None = None
        stream = task.stream(train, budget=settings.batch_tokens, seed=settings.seed)
        self.loader = (
            self._batch_loader(task, train, arguments)
            if stream is None
            else self._stream_loader(task, stream, arguments)
        )
        super().__init__(
            model=task.model,
            args=arguments,
            eval_dataset=[example for part in dev.values() for example in part] or None,
            data_collator=task.collate,
            callbacks=[LogBeforeSaving()],
        )
        self.progress = ProgressBar(task.primary)
        self.add_callback(self.progress)
        if isinstance(self.loader, DataLoader):
            assert isinstance(self.loader.batch_sampler, TokenBudgetSampler)
            self.add_callback(SetEpoch(self.loader.batch_sampler))
        self.remove_callback(PrinterCallback)
        self.remove_callback(ProgressCallback)

    def _batch_loader(
        self, task: Task[Any, Any], train: Sequence[Any], arguments: TrainingArguments
    ) -> DataLoader[Any]:
        """Batch features in memory; each process takes its own share of the batches."""
        features = task.features(train)
        sampler = TokenBudgetSampler(
            features.lengths,
            budget=self.settings.batch_tokens,
            seed=self.settings.seed,
            world=arguments.world_size,
            rank=arguments.process_index,
        )
        settings = self.settings
        steps_per_epoch = -(-len(sampler) // settings.gradient_accumulation_steps)
        n_steps = settings.max_steps or math.ceil(steps_per_epoch * settings.num_train_epochs)
        arguments.eval_steps = _eval_steps(settings, n_steps, default=steps_per_epoch)
        arguments.logging_steps = max(1, min(arguments.logging_steps, n_steps))
        return DataLoader(
            features,  # type: ignore[arg-type]
            batch_sampler=sampler,  # type: ignore[arg-type]
            collate_fn=task.collate,
            num_workers=self.settings.dataloader_num_workers,
            pin_memory=arguments.device.type == "cuda",
        )

    def _stream_loader(
        self, task: Task[Any, Any], stream: BatchStream, arguments: TrainingArguments
    ) -> StreamLoader:
        n_steps = self.settings.max_steps
        if n_steps is None:
            raise InputError(
                "training.max_steps: is missing; a corpus is an endless stream, so set the number "
                "of steps after which to stop"
            )
        arguments.eval_steps = _eval_steps(self.settings, n_steps, default=n_steps)
        arguments.logging_steps = min(arguments.logging_steps, n_steps)
        # Else Trainer would read the stream from the start; StreamLoader restores its own position.
        arguments.ignore_data_skip = True
        return StreamLoader(
            stream,
            task.collate,
            n_workers=self.settings.dataloader_num_workers,
            world=arguments.world_size,
            rank=arguments.process_index,
            pin_memory=arguments.device.type == "cuda",
        )

    def train_from(
        self, checkpoint: Path | None, *, after_step: Callable[[], None] | None = None
    ) -> None:
        """Train to the end.

        Args:
            checkpoint: the checkpoint to resume from; ``None`` to start from the beginning.
            after_step: called after each step of the optimizer.
        """
        if after_step is not None:
            self.add_callback(AfterStep(after_step))
        if checkpoint is not None and self._is_over(checkpoint):
            self._load_from_checkpoint(str(checkpoint))
            return
        try:
            self.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        finally:
            self.progress.close()

    def _is_over(self, checkpoint: Path) -> bool:
        """Whether training had ended at a checkpoint; Trainer would do one more step."""
        path = checkpoint / STATE
        state = TrainerState.load_from_json(str(path))
        is_over = state.global_step >= state.max_steps or self._has_stopped()
        # The first process decides: it has removed the records of later steps, which the others
        # may still have read.
        [is_over] = broadcast_object_list([is_over])
        if self.is_world_process_zero() and state.save_steps != self.args.save_steps:
            # A resumed Trainer takes this setting from its saved state.
            state.save_steps = self.args.save_steps
            with write_file(path) as draft:
                state.save_to_json(str(draft))
        self.accelerator.wait_for_everyone()
        return bool(is_over)

    def _has_stopped(self) -> bool:
        """Whether the last ``early_stopping_patience`` evaluations brought no improvement."""
        scores = [score for _, score in self.folder.evaluations(self.task.primary)]
        n_since = len(scores) - 1 - scores.index(max(scores)) if scores else 0
        return 0 < self.settings.early_stopping_patience <= n_since

    def get_train_dataloader(self) -> Any:
        """Return our loader: Trainer's own has no token budget."""
        return self.loader

    def create_optimizer(self, model: nn.Module | None = None) -> torch.optim.Optimizer:
        """Create AdamW with separate learning rates for the encoder, the guides and the head."""
        if self.optimizer is None:
            groups = parameter_groups(self.task.model, self.settings)
            betas = (0.9, self.settings.adam_beta2)
            self.optimizer = torch.optim.AdamW(groups, betas=betas, fused=True)
        return self.optimizer

    def compute_loss(
        self, model: nn.Module, inputs: dict[str, Tensor], return_outputs: bool = False, **_: Any
    ) -> Any:
        """Compute the loss of the model, a mean over the batch."""
        with autocast(self.args.device, self.settings.precision):
            outputs = model(**inputs)
        loss = outputs.loss.float()
        return (loss, outputs) if return_outputs else loss

    def _prepare_input(self, data: Any) -> Any:
        """Move a tensor to the device, asynchronously, since the loader pins batches."""
        if isinstance(data, Tensor):
            return data.to(self.args.device, non_blocking=True)
        return super()._prepare_input(data)

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Score the dev files, save the weights if they are the best, and stop training early.

        Raises:
            InputError: the dev files lack what the primary metric is computed from.
            TrainingError: the primary metric is not finite.
        """
        if not self.dev:
            return {}
        if self.scores_later:
            if self.is_world_process_zero():
                self._keep_weights()
            return {}
        with self._paused():
            values, predictions = self.score_dev()
        score = values[self.task.primary]
        before = [score for _, score in self.folder.evaluations(self.task.primary)]
        if score > max(before, default=-math.inf):
            self.best_predictions = predictions
            if self.is_world_process_zero():
                self._keep_weights()
        metrics = {f"eval_{key}": value for key, value in values.items()}
        self.log(metrics)
        # Only the first process writes the records, so it decides for all.
        [stop] = broadcast_object_list([self._has_stopped()])
        if stop:
            self.control.should_training_stop = True
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        self.task.model.train()
        return metrics

    @property
    def scores_later(self) -> bool:
        """Whether the dev files are scored after training only, with the model that is saved.

        With LoRA that model is scored in any case, since merging the matrices changes results in
        the last bits. A single evaluation, at the end of training, would score it twice.
        """
        return self.settings.encoder == "lora" and self.args.eval_steps >= self.state.max_steps

    def score_dev(self) -> tuple[dict[str, float], list[Any]]:
        """Score all dev files together and each of several.

        Returns:
            The metrics and the time that this took, and the predictions for all dev examples.

        Raises:
            InputError: the dev files lack what the primary metric is computed from.
            TrainingError: the primary metric is not finite.
        """
        begin = time.perf_counter()
        self.task.model.eval()
        examples = [example for part in self.dev.values() for example in part]
        with predicting(len(examples), "scoring"):
            predictions = {name: self.task.predict(part) for name, part in self.dev.items()}
        every = [prediction for part in predictions.values() for prediction in part]
        values = self.task.score(examples, every)
        if len(self.dev) > 1:
            for name, part in self.dev.items():
                scores = self.task.score(part, predictions[name])
                values |= {f"{name}.{key}": value for key, value in scores.items()}
        values["evaluation_seconds"] = time.perf_counter() - begin
        primary = self.task.primary
        if primary not in values:
            raise InputError(
                f"data.dev: expected files that give {primary}, by which the best model is "
                f"chosen, but they give only {', '.join(values)}; name other files"
            )
        if not math.isfinite(values[primary]):
            raise TrainingError(
                f"training: {primary} is {values[primary]} after {self.state.global_step} steps; "
                f"{REMEDY}"
            )
        return values, every

    def _keep_weights(self) -> None:
        with self.folder.keep(self.state.global_step) as draft:
            save_file(self.task.model.weights(), draft)

    def _paused(self) -> AbstractContextManager[None]:
        """Exclude the time inside the context from the training speed of a stream."""
        return self.loader.pause() if isinstance(self.loader, StreamLoader) else nullcontext()

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """Log as Trainer does, and append to ``metrics.jsonl``; add rates for a stream.

        Raises:
            TrainingError: the loss or the gradient norm is not finite.
        """
        for key, name in (("loss", "the loss"), ("grad_norm", "the gradient norm")):
            if not math.isfinite(logs.get(key, 0.0)):
                raise TrainingError(
                    f"training: {name} is {logs[key]} after {self.state.global_step} steps; "
                    f"{REMEDY}"
                )
        if isinstance(self.loader, StreamLoader):
            # A stream has no epochs, so log the fraction of training done.  Trainer's own count
            # would restart at the checkpoint of a resumed run.
            self.state.epoch = self.state.global_step / self.state.max_steps
            if "loss" in logs:
                rates = torch.tensor(self.loader.rates(), device=self.args.device)
                speed, waited = self.accelerator.reduce(rates, "sum").tolist()
                logs["pieces_per_second"] = speed
                logs["data_wait"] = waited / self.args.world_size
        if "train_runtime" in logs:
            logs |= {"train_loss": _mean_loss(self.state.log_history), **self.task.costs()}
        super().log(logs, *args, **kwargs)
        if self.is_world_process_zero():
            self.folder.add_record(
                {"step": self.state.global_step, "epoch": self.state.epoch, **logs}
            )

    def _issue_warnings_after_load(self, load_result: Any) -> None:
        """Do not warn about weights that checkpoints omit on purpose: tied and computed ones."""
        model = self.task.model
        omitted = {*model.all_tied_weights_keys, *(model._keys_to_ignore_on_save or ())}
        missing = [key for key in load_result.missing_keys if key not in omitted]
        super()._issue_warnings_after_load(load_result._replace(missing_keys=missing))

    def _save_checkpoint(self, model: nn.Module, trial: Any) -> None:
        """Save a checkpoint, with the position in the stream, and mark it as complete."""
        # Trainer has no public hook between the writing of a checkpoint and the next step.
        with self._paused(), quiet(), disk_errors(self.folder.checkpoints):
            super()._save_checkpoint(model, trial)
            if isinstance(self.loader, StreamLoader):
                self.loader.save(self.folder.checkpoint(self.state.global_step))
        # Each process writes its own files (random state, position in the stream); the checkpoint
        # is complete only when all have.
        self.accelerator.wait_for_everyone()
        if self.is_world_process_zero():
            self.folder.mark_complete(self.state.global_step, n_processes=self.args.world_size)


def _mean_loss(history: Sequence[Mapping[str, float]]) -> float:
    """Return the mean loss of all steps; Trainer's own leaves out those before a run was resumed.

    Args:
        history: what was logged; a loss is the mean over the steps since the one before.
    """
    total, last = 0.0, 0.0
    for logs in history:
        if "loss" in logs:
            total += logs["loss"] * (logs["step"] - last)
            last = logs["step"]
    return total / max(last, 1.0)


def _eval_steps(settings: TrainingSettings, n_steps: int, *, default: int) -> int:
    """Return the number of steps between evaluations; like Transformers, below 1 is a ratio."""
    steps = settings.eval_steps
    if steps is None:
        return max(1, default)
    return max(1, math.ceil(steps * n_steps)) if steps < 1 else int(steps)
