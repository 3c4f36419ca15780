"""An experiment: one YAML file that says what is trained, on what, and how."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from syntagma.encoders.default import DEFAULT
from syntagma.encoders.precision import Precision
from syntagma.errors import InputError
from syntagma.settings import apply_overrides, build, flatten, load_yaml, to_dict

__all__ = [
    "DataSettings",
    "Experiment",
    "TrainingSettings",
    "comparable",
    "load_experiment",
    "load_run_settings",
]


MOST_SEEDS = 2**32
"""As many as NumPy knows."""


@dataclass(frozen=True)
class DataSettings:
    """Which files.

    Args:
        train: files to learn from.
        dev: files to score on after each evaluation interval.
        limit: take only this many training examples, chosen at random with the training seed.
        dev_limit: score on only this many examples of each dev file, the same ones with every seed.
        skip_bad: leave out examples that are not as the format says, and count them, instead of
            stopping at the first.
    """

    train: tuple[str, ...]
    dev: tuple[str, ...] = ()
    limit: int | None = None
    dev_limit: int | None = None
    skip_bad: bool = False

    def __post_init__(self) -> None:
        if not self.train:
            raise InputError("train names no file")
        for name, value in (("limit", self.limit), ("dev_limit", self.dev_limit)):
            if value is not None and value < 1:
                raise InputError(f"{name} must be at least 1, got {value}")


@dataclass(frozen=True)
class TrainingSettings:
    """How to train.

    Args:
        epochs: passes over the training data; a fraction ends inside an epoch.
        steps: train for this many steps instead; a corpus is an endless stream and needs it.
        learning_rate: peak, for the encoder's own weights, and for guides and a head that the
            saved model brought along.
        head_learning_rate: peak, for new weights; the same as ``learning_rate`` if not given.
        guide_learning_rate: peak, for new guides; as that of all new weights if not given.
        batch_pieces: the most pieces in a batch, padding included.
        accumulate: batches over whose gradients a step takes the mean.
        warmup: share of all steps in which the learning rate rises.
        schedule: how it goes on: ``linear`` and ``cosine`` fall to 0, ``inverse_sqrt`` falls with
            the root of the steps, ``constant_with_warmup`` stays.
        second_moment: share of AdamW's second moment that is kept each step (β₂).
        weight_decay: not applied to biases and norms.
        max_gradient_norm: longer gradients are shortened to this.
        seed: of everything random.
        precision: ``auto`` computes in bfloat16 where the device does it fast.
        encoder: which of the encoder's weights learn: ``full`` all, ``layers`` all but the table
            of piece vectors, ``frozen`` none, ``lora`` low-rank additions.
        lora_rank: rank of those additions.
        evaluations: how often an epoch is scored on the dev files, 0.5 every second one; a stream,
            how often in all. The end of the training is scored in any case.
        patience: stop after this many evaluations without a better primary metric; 0 never.
        checkpoint_steps: a checkpoint to resume from every so many steps.
        data_workers: processes that make batches beside the one that trains.
        recompute: keep of each of the encoder's layers only what it reads, and compute the rest
            again for the gradients: the same result from much less memory, in a third more time.
    """

    epochs: float = 3.0
    steps: int | None = None
    learning_rate: float = 3e-5
    head_learning_rate: float | None = None
    guide_learning_rate: float | None = None
    batch_pieces: int = 6144
    accumulate: int = 1
    warmup: float = 0.1
    schedule: Literal["linear", "cosine", "inverse_sqrt", "constant_with_warmup"] = "linear"
    second_moment: float = 0.999
    weight_decay: float = 0.01
    max_gradient_norm: float = 1.0
    seed: int = 1
    precision: Precision = "auto"
    encoder: Literal["full", "layers", "frozen", "lora"] = "full"
    lora_rank: int = 16
    evaluations: float = 1.0
    patience: int = 0
    checkpoint_steps: int = 200
    data_workers: int = 0
    recompute: bool = False

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            # No gradient is longer than an infinite norm: none is shortened.
            if value == math.inf and name == "max_gradient_norm":
                continue
            if isinstance(value, float) and not math.isfinite(value):
                raise InputError(f"{name} must be a finite number, got {value}")
        for name in (
            "epochs",
            "learning_rate",
            "batch_pieces",
            "accumulate",
            "max_gradient_norm",
            "lora_rank",
            "evaluations",
            "checkpoint_steps",
        ):
            if getattr(self, name) <= 0:
                raise InputError(f"{name} must be positive, got {getattr(self, name)}")
        for name in ("head_learning_rate", "guide_learning_rate"):
            rate = getattr(self, name)
            if rate is not None and rate <= 0:
                raise InputError(f"{name} must be positive, or left out; got {rate}")
        if self.steps is not None and self.steps < 1:
            raise InputError(f"steps must be at least 1, got {self.steps}")
        for name in ("weight_decay", "patience", "data_workers"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} must be at least 0, got {getattr(self, name)}")
        if not 0 <= self.seed < MOST_SEEDS:
            raise InputError(f"seed must be from 0 to {MOST_SEEDS - 1}, got {self.seed}")
        if not 0 <= self.warmup < 1:
            raise InputError(f"warmup is a share from 0 to below 1, got {self.warmup}")
        if not 0 < self.second_moment < 1:
            raise InputError(f"second_moment lies between 0 and 1, got {self.second_moment}")


@dataclass(frozen=True)
class Experiment:
    """What ``syntagma train`` reads.

    Args:
        task: a name from :data:`syntagma.tasks.TASKS`.
        data: the files.
        encoder: ``default``, ``accurate``, ``multilingual``, a folder, or a name on the Hugging
            Face hub.
        hidden_dropout: of the encoder; its own if not given.
        attention_dropout: of the encoder's attention weights; its own if not given. On processors
            0 makes training about three times as fast, because fused attention has no dropout.
        preset: guides of a paper (:data:`syntagma.models.config.PRESETS`), or ``saved``: go on from
            the model of ours that ``encoder`` names, with its guides, and its head where that was
            for the same task.
        guides: settings of each guide by name, on top of the preset.
        head: settings of the task.
        parser: where trees come from: ``default-parser``, a parser's folder, ``conllu:FILE``,
            ``tacred:FILE``, or what else :func:`syntagma.parse.sources.load.load_source` knows.
        training: how to train.
    """

    task: str
    data: DataSettings
    encoder: str = DEFAULT
    hidden_dropout: float | None = None
    attention_dropout: float | None = None
    preset: str = "none"
    guides: dict[str, Any] = field(default_factory=dict)
    head: dict[str, Any] = field(default_factory=dict)
    parser: str = "default-parser"
    training: TrainingSettings = field(default_factory=TrainingSettings)

    def __post_init__(self) -> None:
        for name in ("hidden_dropout", "attention_dropout"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < 1:
                raise InputError(f"{name} is a probability from 0 to below 1, got {value}")


PRACTICAL = ("training.checkpoint_steps", "training.recompute", "data.skip_bad")
"""Settings of training that do not change what is learnt."""


def load_experiment(path: str | Path, overrides: list[str] | None = None) -> Experiment:
    """Read an experiment file and apply ``key=value`` overrides.

    Args:
        path: a YAML file.
        overrides: ``training.epochs=3``; values are read as YAML.

    Raises:
        InputError: a key is unknown, a value impossible, or the file is not YAML.
    """
    values = apply_overrides(load_yaml(path), overrides or [])
    return build(Experiment, values, where=str(path))


def load_run_settings(path: str | Path) -> dict[str, Any]:
    """The settings that a run has left.

    A run of an earlier version had settings that have come since at their defaults.

    Args:
        path: its ``experiment.yaml``.

    Raises:
        InputError: the file is not YAML.
    """
    defaults = to_dict(Experiment("", DataSettings(("",))))
    return _filled(load_yaml(path), defaults)


def comparable(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What decides on what is learnt, by flat names.

    Practical settings are left out, and what is not said of head and guides is at its default.

    Args:
        settings: of an experiment, all of them.
    """
    from syntagma.models.config import PRESETS, resolve_guides
    from syntagma.tasks import find_task

    defaults = {
        each.name: to_dict(each.default)
        for each in fields(find_task(settings["task"]).settings)
        if each.default is not MISSING
    }
    filled = {**settings, "head": _filled(settings["head"], defaults)}
    # Those of a saved model stand in its own folder.
    if settings["preset"] in [*PRESETS] and isinstance(settings["guides"], Mapping):
        filled["guides"] = resolve_guides(settings["preset"], settings["guides"])
    flat = flatten(filled)
    return {key: value for key, value in flat.items() if key not in PRACTICAL}


def _filled(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    filled = {**defaults, **values}
    for key, default in defaults.items():
        if isinstance(default, Mapping) and isinstance(filled[key], Mapping):
            filled[key] = _filled(filled[key], default)
        elif type(default) is float and type(filled[key]) is int:
            # It was a whole number in an earlier version, or in the user's file.
            filled[key] = float(filled[key])
    return filled
