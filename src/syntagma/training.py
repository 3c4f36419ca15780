"""Train any task: one thin subclass of the Hugging Face Trainer and a run folder around it."""

from __future__ import annotations

import json
import logging
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from torch import Tensor, nn
from torch.utils.data import DataLoader
from tqdm.auto import tqdm
from transformers import (
    PrinterCallback,
    ProgressCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR

from syntagma.batches import TokenBudgetSampler
from syntagma.encoders.precision import autocast
from syntagma.errors import InputError
from syntagma.files import require_absent, write_json, write_text
from syntagma.settings import to_dict
from syntagma.tasks import find_task
from syntagma.tasks.experiment import Experiment, TrainingSettings
from syntagma.tasks.task import Task

__all__ = ["SyntagmaTrainer", "train"]

log = logging.getLogger(__name__)

COMPLETE = "complete"
EXPERIMENT, METRICS, CHECKPOINTS, BEST = "experiment.yaml", "metrics.jsonl", "checkpoints", "best"


class _SetEpoch(TrainerCallback):  # type: ignore[misc]
    """Tell the batch sampler which epoch begins; plain data loaders are not told by the Trainer."""

    def __init__(self, sampler: TokenBudgetSampler) -> None:
        self.sampler = sampler

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.sampler.set_epoch(int(state.epoch or 0))


class _Progress(TrainerCallback):  # type: ignore[misc]
    """A bar with the loss, and a line with the primary metric after each evaluation."""

    def __init__(self, primary: str) -> None:
        self.primary = f"eval_{primary}"
        self.bar: tqdm[Any] | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:
            self.bar = tqdm(
                total=state.max_steps, initial=state.global_step, unit="step", mininterval=1
            )

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.bar is not None:
            self.bar.update(1)

    def on_log(
        self, args: Any, state: Any, control: Any, logs: dict[str, float], **kwargs: Any
    ) -> None:
        if self.bar is None:
            return
        if "loss" in logs:
            self.bar.set_postfix(loss=f"{float(logs['loss']):.3f}")
        if self.primary in logs:
            name = self.primary.removeprefix("eval_")
            self.bar.write(
                f"epoch {state.epoch:.2f}  step {state.global_step}  "
                f"{name} {logs[self.primary]:.2f}"
            )

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.bar is not None:
            self.bar.close()


class SyntagmaTrainer(Trainer):  # type: ignore[misc]
    """The Hugging Face Trainer over token-budget batches, scored by the task's own metrics.

    Args:
        task: what is trained.
        settings: how.
        arguments: where, and how often.
        train: training examples.
        dev: dev examples by file.
        folder: the run folder.
    """

    def __init__(
        self,
        *,
        task: Task[Any, Any],
        settings: TrainingSettings,
        arguments: TrainingArguments,
        train: Sequence[Any],
        dev: dict[str, Sequence[Any]],
        folder: Path,
    ) -> None:
        self.task = task
        self.settings = settings
        self.dev = dev
        self.folder = folder
        features = task.features(train)
        self.sampler = TokenBudgetSampler(
            features.lengths,
            budget=settings.batch_pieces,
            seed=settings.seed,
            world=arguments.world_size,
            rank=arguments.process_index,
        )
        steps_per_epoch = -(-len(self.sampler) // settings.accumulate)
        arguments.eval_steps = max(1, steps_per_epoch // settings.evaluations)
        super().__init__(
            model=task.model,
            args=arguments,
            train_dataset=features,
            eval_dataset=[example for part in dev.values() for example in part] or None,
            data_collator=task.collate,
            callbacks=[_SetEpoch(self.sampler), _Progress(task.primary)],
        )
        self.remove_callback(PrinterCallback)
        self.remove_callback(ProgressCallback)

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Batches of similar length; each process takes its own share of them."""
        return DataLoader(
            self.train_dataset,
            batch_sampler=self.sampler,  # type: ignore[arg-type]
            collate_fn=self.data_collator,
            num_workers=self.args.dataloader_num_workers,
            pin_memory=self.args.device.type == "cuda",
        )

    def create_optimizer(self, model: nn.Module | None = None) -> torch.optim.Optimizer:
        """AdamW with a learning rate for the encoder and one for what stands on it."""
        if self.optimizer is None:
            self.optimizer = torch.optim.AdamW(
                parameter_groups(self.task.model, self.settings), fused=True
            )
        return self.optimizer

    def compute_loss(
        self, model: nn.Module, inputs: dict[str, Tensor], return_outputs: bool = False, **_: Any
    ) -> Any:
        """The model's own loss, a mean over the batch."""
        with autocast(self.args.device, self.settings.precision):
            outputs = model(**inputs)
        loss = outputs.loss.float()
        return (loss, outputs) if return_outputs else loss

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Score the dev files, write a line to ``metrics.jsonl`` and keep the best weights."""
        if not self.dev:
            return {}
        begin = time.perf_counter()
        self.task.model.eval()
        predictions = {name: self.task.predict(examples) for name, examples in self.dev.items()}
        examples = [example for part in self.dev.values() for example in part]
        values = self.task.score(examples, [p for part in predictions.values() for p in part])
        if len(self.dev) > 1:
            for name, part in self.dev.items():
                scores = self.task.score(part, predictions[name])
                values.update({f"{name}.{key}": value for key, value in scores.items()})
        values["evaluation_seconds"] = time.perf_counter() - begin
        metrics = {f"eval_{key}": value for key, value in values.items()}
        if self.is_world_process_zero():
            self._keep_best(values)
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        self.task.model.train()
        return metrics

    def _keep_best(self, values: dict[str, float]) -> None:
        score = values[self.task.primary]
        record = self.folder / CHECKPOINTS / BEST / "score.json"
        best = json.loads(record.read_text())["score"] if record.is_file() else -np.inf
        if score <= best:
            return
        draft = self.folder / CHECKPOINTS / f".{BEST}"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        self.task.model.save_folder(draft)
        write_json(draft / "score.json", {"score": score, "step": self.state.global_step})
        shutil.rmtree(record.parent, ignore_errors=True)
        draft.rename(record.parent)

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """Also append to ``metrics.jsonl``."""
        super().log(logs, *args, **kwargs)
        if self.is_world_process_zero():
            line = {"step": self.state.global_step, "epoch": self.state.epoch, **logs}
            with open(self.folder / METRICS, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    def _save_checkpoint(self, model: nn.Module, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        if self.is_world_process_zero():
            # A killed run may leave a folder half-written; this file comes last.
            folder = Path(self.args.output_dir) / f"{PREFIX_CHECKPOINT_DIR}-{self.state.global_step}"
            write_text(folder / COMPLETE, "")


def parameter_groups(model: nn.Module, settings: TrainingSettings) -> list[dict[str, Any]]:
    """Four groups: the encoder's weights or new ones, with or without weight decay."""
    groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            key = (name.startswith("encoder."), parameter.ndim >= 2)
            groups.setdefault(key, []).append(parameter)
    head_rate = settings.head_learning_rate or settings.learning_rate
    return [
        {
            "params": parameters,
            "lr": settings.learning_rate if in_encoder else head_rate,
            "weight_decay": settings.weight_decay if is_matrix else 0.0,
        }
        for (in_encoder, is_matrix), parameters in groups.items()
    ]


def last_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint that was written to its end; half-written ones are removed."""
    found = []
    for path in folder.glob(f"{PREFIX_CHECKPOINT_DIR}-*"):
        if (path / COMPLETE).is_file():
            found.append(path)
        else:
            shutil.rmtree(path)
    return max(found, key=lambda path: int(path.name.rpartition("-")[2]), default=None)


def freeze(task: Task[Any, Any], settings: TrainingSettings) -> None:
    """Make the chosen part of the encoder learn."""
    encoder = task.model.encoder
    if settings.encoder == "frozen":
        encoder.requires_grad_(False)
    elif settings.encoder == "layers":
        encoder.get_input_embeddings().requires_grad_(False)
    elif settings.encoder == "lora":
        raise InputError("training.encoder: lora is not available yet; use full, layers or frozen")


def train(experiment: Experiment, folder: str | Path, *, resume: bool = False) -> dict[str, float]:
    """Train a task and leave everything about it in a run folder.

    Args:
        experiment: what to train.
        folder: the run folder; it must not exist, unless ``resume``.
        resume: go on from the last checkpoint in the folder.

    Returns:
        The metrics of the kept model on the dev files.

    Raises:
        InputError: data or settings cannot be used, or the folder exists.
    """
    folder = Path(folder)
    task_class = find_task(experiment.task)
    settings = experiment.training
    if not resume:
        require_absent(folder)
    examples = [
        example
        for path in experiment.data.train
        for example in task_class.read(path, skip_bad=experiment.data.skip_bad)
    ]
    if experiment.data.limit and experiment.data.limit < len(examples):
        random = np.random.default_rng(settings.seed)
        chosen = np.sort(random.permutation(len(examples))[: experiment.data.limit])
        examples = [examples[index] for index in chosen]
    dev = {_stem(path): task_class.read(path, skip_bad=experiment.data.skip_bad)
           for path in experiment.data.dev}
    set_seed(settings.seed)
    task = task_class.new(experiment, examples)
    freeze(task, settings)
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / EXPERIMENT, yaml.safe_dump(to_dict(experiment), sort_keys=False))
    trainer = _trainer(task, settings, examples, dev, folder)
    checkpoint = last_checkpoint(folder / CHECKPOINTS) if resume else None
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    return _finish(trainer, task, dev, folder)


def _stem(path: str) -> str:
    return Path(path).name.split(".")[0]


def _trainer(
    task: Task[Any, Any],
    settings: TrainingSettings,
    examples: Sequence[Any],
    dev: dict[str, Sequence[Any]],
    folder: Path,
) -> SyntagmaTrainer:
    arguments = TrainingArguments(
        output_dir=str(folder / CHECKPOINTS),
        num_train_epochs=settings.epochs,
        gradient_accumulation_steps=settings.accumulate,
        warmup_steps=settings.warmup,
        max_grad_norm=settings.max_gradient_norm,
        lr_scheduler_type="linear",
        seed=settings.seed,
        data_seed=settings.seed,
        logging_steps=50,
        eval_strategy="steps" if dev else "no",
        save_strategy="steps",
        save_steps=settings.checkpoint_steps,
        save_total_limit=2,
        report_to=[],
        remove_unused_columns=False,
        disable_tqdm=True,
    )
    return SyntagmaTrainer(
        task=task, settings=settings, arguments=arguments, train=examples, dev=dev, folder=folder
    )


def _finish(
    trainer: SyntagmaTrainer,
    task: Task[Any, Any],
    dev: dict[str, Sequence[Any]],
    folder: Path,
) -> dict[str, float]:
    """Keep the best weights, fit what is fitted on dev data, write predictions and metrics."""
    best = folder / CHECKPOINTS / BEST
    if (best / "score.json").is_file():
        best_model = type(task.model).from_folder(best)
        task.model.load_state_dict(best_model.state_dict())
    task.model.eval()
    metrics: dict[str, float] = {}
    if dev:
        examples = [example for part in dev.values() for example in part]
        predictions = task.predict(examples)
        task.fit_after_training(examples, predictions)
        metrics = task.score(examples, predictions)
        task.write_predictions(examples, predictions, folder / "predictions.json")
    task.save(folder)
    write_json(folder / "metrics.json", metrics)
    return metrics
