"""The Hugging Face Trainer with batches of a token budget, scored by a task's own metrics."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import broadcast_object_list
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.utils.data import DataLoader
from transformers import (
    PrinterCallback,
    ProgressCallback,
    Trainer,
    TrainerState,
    TrainingArguments,
)

from syntagma.batches import TokenBudgetSampler
from syntagma.encoders.load import quiet
from syntagma.encoders.precision import autocast
from syntagma.errors import InputError, TrainingError
from syntagma.models.guides import GUIDES
from syntagma.outputs import disk_errors, write_file
from syntagma.runs.folder import RunFolder
from syntagma.tasks.experiment import TrainingSettings
from syntagma.tasks.stream import BatchStream
from syntagma.tasks.task import Task
from syntagma.training.callbacks import LogBeforeSaving, ProgressBar, SetEpoch
from syntagma.training.stream_loader import StreamLoader

STATE = "trainer_state.json"
REMEDY = "begin again with a lower training.learning_rate or a longer warmup"


class SyntagmaTrainer(Trainer):  # type: ignore[misc]
    """Trains a task.

    Args:
        task: what is trained.
        settings: how.
        arguments: where, and how often.
        train: training examples.
        dev: dev examples by name of their file.
        folder: the run folder.

    Attributes:
        best_predictions: for all dev examples by the best weights; ``None`` where these were kept
            before this process went on with the run.
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
            self._held(task, train, arguments)
            if stream is None
            else self._streamed(task, stream, arguments)
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

    def _held(
        self, task: Task[Any, Any], train: Sequence[Any], arguments: TrainingArguments
    ) -> DataLoader[Any]:
        """Features in memory; each process takes its own share of the batches."""
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
        n_steps = settings.max_steps or round(steps_per_epoch * settings.num_train_epochs)
        arguments.eval_steps = _eval_steps(settings, n_steps, default=steps_per_epoch)
        arguments.logging_steps = max(1, min(arguments.logging_steps, n_steps))
        return DataLoader(
            features,  # type: ignore[arg-type]
            batch_sampler=sampler,  # type: ignore[arg-type]
            collate_fn=task.collate,
            num_workers=self.settings.dataloader_num_workers,
            pin_memory=arguments.device.type == "cuda",
        )

    def _streamed(
        self, task: Task[Any, Any], stream: BatchStream, arguments: TrainingArguments
    ) -> StreamLoader:
        n_steps = self.settings.max_steps
        if n_steps is None:
            raise InputError(
                "training.max_steps: is missing; a corpus is an endless stream, say after how many "
                "steps to stop"
            )
        arguments.eval_steps = _eval_steps(self.settings, n_steps, default=n_steps)
        arguments.logging_steps = min(arguments.logging_steps, n_steps)
        # The stream itself finds its position in a resumed run.
        arguments.ignore_data_skip = True
        return StreamLoader(
            stream,
            task.collate,
            n_workers=self.settings.dataloader_num_workers,
            world=arguments.world_size,
            rank=arguments.process_index,
            pin_memory=arguments.device.type == "cuda",
        )

    def train_from(self, checkpoint: Path | None) -> None:
        """Train to the end, from a checkpoint if there is one; the bar ends however it ends."""
        if checkpoint is not None and self._is_over(checkpoint):
            self._load_from_checkpoint(str(checkpoint))
            return
        try:
            self.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        finally:
            self.progress.close()

    def _is_over(self, checkpoint: Path) -> bool:
        """Whether nothing was left to be trained; the Trainer itself would go a step further."""
        path = checkpoint / STATE
        state = TrainerState.load_from_json(str(path))
        is_over = state.global_step >= state.max_steps or self._has_stopped()
        # Others may still see records behind the checkpoint.
        [is_over] = broadcast_object_list([is_over])
        if self.is_world_process_zero() and state.save_steps != self.args.save_steps:
            # The Trainer would go by what it was before.
            state.save_steps = self.args.save_steps
            with write_file(path) as draft:
                state.save_to_json(str(draft))
        self.accelerator.wait_for_everyone()
        return bool(is_over)

    def _has_stopped(self) -> bool:
        """Whether so many evaluations have brought nothing that training is to stop."""
        scores = [score for _, score in self.folder.evaluations(self.task.primary)]
        n_since = len(scores) - 1 - scores.index(max(scores)) if scores else 0
        return 0 < self.settings.early_stopping_patience <= n_since

    def get_train_dataloader(self) -> Any:
        """Batches of similar length."""
        return self.loader

    def create_optimizer(self, model: nn.Module | None = None) -> torch.optim.Optimizer:
        """AdamW with a learning rate for the encoder and one for what stands on it."""
        if self.optimizer is None:
            groups = parameter_groups(self.task.model, self.settings)
            betas = (0.9, self.settings.adam_beta2)
            self.optimizer = torch.optim.AdamW(groups, betas=betas, fused=True)
        return self.optimizer

    def compute_loss(
        self, model: nn.Module, inputs: dict[str, Tensor], return_outputs: bool = False, **_: Any
    ) -> Any:
        """The model's own loss, a mean over the batch."""
        with autocast(self.args.device, self.settings.precision):
            outputs = model(**inputs)
        loss = outputs.loss.float()
        return (loss, outputs) if return_outputs else loss

    def _prepare_input(self, data: Any) -> Any:
        """On the device; the loader has pinned batches, which are copied while it computes."""
        if isinstance(data, Tensor):
            return data.to(self.args.device, non_blocking=True)
        return super()._prepare_input(data)

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Score the dev files, keep the best weights, and stop where nothing gets better."""
        if not self.dev:
            return {}
        begin = time.perf_counter()
        with self._paused():
            values, predictions = self._score_dev()
        values["evaluation_seconds"] = time.perf_counter() - begin
        if self.task.primary not in values:
            raise InputError(
                f"data.dev: models are chosen by {self.task.primary}, which these files cannot "
                f"tell; they give {', '.join(values)}"
            )
        score = values[self.task.primary]
        if not math.isfinite(score):
            raise TrainingError(
                f"training: {self.task.primary} is {score} after {self.state.global_step} steps; "
                f"{REMEDY}"
            )
        before = [score for _, score in self.folder.evaluations(self.task.primary)]
        if score > max(before, default=-math.inf):
            self.best_predictions = predictions
            if self.is_world_process_zero():
                self._keep_weights()
        metrics = {f"eval_{key}": value for key, value in values.items()}
        self.log(metrics)
        # The first process, which writes the records, decides for all.
        [stop] = broadcast_object_list([self._has_stopped()])
        if stop:
            self.control.should_training_stop = True
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        self.task.model.train()
        return metrics

    def _score_dev(self) -> tuple[dict[str, float], list[Any]]:
        """The scores of all dev files together and of each, and the predictions."""
        self.task.model.eval()
        predictions = {name: self.task.predict(examples) for name, examples in self.dev.items()}
        examples = [example for part in self.dev.values() for example in part]
        every = [prediction for part in predictions.values() for prediction in part]
        values = self.task.score(examples, every)
        if len(self.dev) > 1:
            for name, part in self.dev.items():
                scores = self.task.score(part, predictions[name])
                values |= {f"{name}.{key}": value for key, value in scores.items()}
        return values, every

    def _keep_weights(self) -> None:
        with self.folder.keep(self.state.global_step) as draft:
            save_file(self.task.model.weights(), draft)

    def _paused(self) -> AbstractContextManager[None]:
        """The time inside does not count as training."""
        return self.loader.pause() if isinstance(self.loader, StreamLoader) else nullcontext()

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """Also append to ``metrics.jsonl``; of a stream with its rates over all processes.

        Raises:
            TrainingError: the loss is no number, or its gradient.
        """
        for key, name in (("loss", "the loss"), ("grad_norm", "the length of its gradient")):
            if not math.isfinite(logs.get(key, 0.0)):
                raise TrainingError(
                    f"training: {name} is {logs[key]} after {self.state.global_step} steps; "
                    f"{REMEDY}"
                )
        if isinstance(self.loader, StreamLoader):
            # It has no epochs, and a resumed run would count from its checkpoint on.
            self.state.epoch = self.state.global_step / self.state.max_steps
            if "loss" in logs:
                rates = torch.tensor(self.loader.rates(), device=self.args.device)
                speed, waited = self.accelerator.reduce(rates, "sum").tolist()
                logs["pieces_per_second"] = speed
                logs["data_wait"] = waited / self.args.world_size
        if "train_runtime" in logs:
            logs |= self.task.costs()
        super().log(logs, *args, **kwargs)
        if self.is_world_process_zero():
            self.folder.add_record(
                {"step": self.state.global_step, "epoch": self.state.epoch, **logs}
            )

    def _issue_warnings_after_load(self, load_result: Any) -> None:
        """Weights that are tied to others, or computed, are rightly missing in a checkpoint."""
        model = self.task.model
        rightly = {*model.all_tied_weights_keys, *(model._keys_to_ignore_on_save or ())}
        missing = [key for key in load_result.missing_keys if key not in rightly]
        super()._issue_warnings_after_load(load_result._replace(missing_keys=missing))

    def _save_checkpoint(self, model: nn.Module, trial: Any) -> None:
        with self._paused(), quiet(), disk_errors(self.folder.checkpoints):
            super()._save_checkpoint(model, trial)
            if isinstance(self.loader, StreamLoader):
                self.loader.save(self.folder.checkpoint(self.state.global_step))
        # Every process has its own part of a checkpoint.
        self.accelerator.wait_for_everyone()
        if self.is_world_process_zero():
            self.folder.mark_complete(self.state.global_step, n_processes=self.args.world_size)


def _eval_steps(settings: TrainingSettings, n_steps: int, *, default: int) -> int:
    """Steps between two evaluations, as Transformers reads the setting of that name."""
    steps = settings.eval_steps
    if steps is None:
        return max(1, default)
    return math.ceil(steps * n_steps) if steps < 1 else int(steps)


def parameter_groups(model: nn.Module, settings: TrainingSettings) -> list[dict[str, Any]]:
    """Parameter groups by learning rate (loaded weights, new guides, the head) and weight decay.

    New guides train with the head's rate unless they have one of their own.
    """
    known: Collection[str] = getattr(model, "pretrained_keys", ())
    head_rate = settings.head_learning_rate or settings.learning_rate
    rates = {"known": settings.learning_rate, "head": head_rate}
    if settings.guide_learning_rate is not None:
        rates["guide"] = settings.guide_learning_rate

    def part_of(name: str) -> str:
        part = name.partition(".")[0]
        if part == "encoder" or name in known:
            return "known"
        return "guide" if part in GUIDES and "guide" in rates else "head"

    groups: dict[tuple[str, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            groups.setdefault((part_of(name), parameter.ndim >= 2), []).append(parameter)
    return [
        {
            "params": parameters,
            "lr": rates[part],
            "weight_decay": settings.weight_decay if is_matrix else 0.0,
        }
        for (part, is_matrix), parameters in groups.items()
    ]
