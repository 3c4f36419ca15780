"""An experiment: one YAML file that says what is trained, on what, and how."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from syntagma.encoders.default import DEFAULT, SCRATCH
from syntagma.encoders.reference import ModelRef, find_model
from syntagma.errors import InputError
from syntagma.models.guides import GUIDES, PRESETS, check_changes, read_guides, resolve_guides
from syntagma.settings import apply_overrides, build, flatten, load_yaml, require_at_least, to_dict
from syntagma.tasks import find_task
from syntagma.tasks.document_filter import DocumentFilter

MOST_SEEDS = 2**32
"""NumPy's generators take seeds below this."""

SAVED = "saved"
"""The preset that stands for the guides of the saved model which ``encoder`` names."""


@dataclass(frozen=True)
class DataSettings:
    """Which files.

    Args:
        train: files to learn from.
        dev: files to score on at each evaluation.
        limit: train on only this many examples, chosen at random with the training seed.
        dev_limit: score on only this many examples of each dev file, the same ones with every seed.
        documents: learn only from some documents of the training files; for treebanks.
        skip_bad: skip and count examples that violate the format, instead of stopping at the
            first.
    """

    train: tuple[str, ...]
    dev: tuple[str, ...] = ()
    limit: int | None = None
    dev_limit: int | None = None
    documents: DocumentFilter = field(default_factory=DocumentFilter)
    skip_bad: bool = False

    def __post_init__(self) -> None:
        if not self.train:
            raise InputError("train names no file")
        require_at_least(self, 1, "limit", "dev_limit")


@dataclass(frozen=True)
class TrainingSettings:
    """How to train. The names are those of ``transformers.TrainingArguments`` where it has one.

    Args:
        num_train_epochs: passes over the training data; a fraction ends inside an epoch.
        max_steps: train for this many steps instead; a corpus is an endless stream and needs it.
        learning_rate: peak, for the encoder's weights, and for guides and a head that were loaded
            from a trained model.
        head_learning_rate: peak, for new weights; ``learning_rate`` if not given.
        guide_learning_rate: peak, for new guides; that of all new weights if not given.
        alpha_learning_rate: peak, for the α of ``tree_distance`` and the gates of
            ``ancestor_heads``, new or loaded; that of the guide's other weights if not given. A
            step of AdamW moves a single number by about the rate at most: 1,200 steps at 5e-5,
            falling to 0, move α by 0.03.
        batch_tokens: the most tokens in a batch, padding included.
        gradient_accumulation_steps: batches whose gradients are averaged for one step.
        warmup_ratio: share of all steps in which the learning rate rises.
        lr_scheduler_type: how the rate changes after that: ``linear`` and ``cosine`` fall to 0,
            ``inverse_sqrt`` falls with the root of the steps, ``constant_with_warmup`` stays.
        adam_beta2: β₂ of AdamW, the decay of its second moment.
        weight_decay: not applied to biases and norms.
        max_grad_norm: longer gradients are scaled down to this norm; ``inf`` scales none.
        seed: random seed of all that is drawn: order, initial weights, dropout, samples of data.
        precision: ``auto`` computes in bfloat16 where the device does it fast.
        encoder: which of the encoder's weights are trained: ``full`` all, ``layers`` all but the
            token embeddings, ``frozen`` none, ``lora`` low-rank additions.
        lora_rank: rank of those additions.
        eval_steps: steps between two evaluations on the dev files, or below 1 a share of all steps;
            if not given once an epoch, of a stream once. The end of the training is always scored.
        early_stopping_patience: stop after this many evaluations without a better primary metric;
            0 never stops early.
        save_steps: steps between two checkpoints to resume from.
        dataloader_num_workers: processes that prepare batches.
        gradient_checkpointing: keep only the inputs of the encoder's layers and recompute the rest
            for the gradients: the same result with much less memory, in a third more time.
    """

    num_train_epochs: float = 3.0
    max_steps: int | None = None
    learning_rate: float = 3e-5
    head_learning_rate: float | None = None
    guide_learning_rate: float | None = None
    alpha_learning_rate: float | None = None
    batch_tokens: int = 6144
    gradient_accumulation_steps: int = 1
    warmup_ratio: float = 0.1
    lr_scheduler_type: Literal["linear", "cosine", "inverse_sqrt", "constant_with_warmup"] = (
        "linear"
    )
    adam_beta2: float = 0.999
    weight_decay: float = 0.01
    max_grad_norm: float = 1.0
    seed: int = 1
    precision: Literal["auto", "bfloat16", "float32"] = "auto"
    encoder: Literal["full", "layers", "frozen", "lora"] = "full"
    lora_rank: int = 16
    eval_steps: float | None = None
    early_stopping_patience: int = 0
    save_steps: int = 200
    dataloader_num_workers: int = 0
    gradient_checkpointing: bool = False

    def __post_init__(self) -> None:
        # Types are checked in files only, not in Python.
        if str(self.precision) == "int8":
            raise InputError("precision int8 is for trained models; train in auto or float32")
        for name, value in vars(self).items():
            # No gradient is longer than an infinite norm: none is scaled down.
            if value == math.inf and name == "max_grad_norm":
                continue
            if isinstance(value, float) and not math.isfinite(value):
                raise InputError(f"{name} must be a finite number, got {value}")
        for name in (
            "num_train_epochs",
            "learning_rate",
            "batch_tokens",
            "gradient_accumulation_steps",
            "max_grad_norm",
            "lora_rank",
            "save_steps",
        ):
            if getattr(self, name) <= 0:
                raise InputError(f"{name} must be positive, got {getattr(self, name)}")
        for name in (
            "head_learning_rate",
            "guide_learning_rate",
            "alpha_learning_rate",
            "eval_steps",
        ):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise InputError(f"{name} must be positive, or omitted; got {value}")
        if self.eval_steps is not None and self.eval_steps >= 1 and self.eval_steps % 1:
            raise InputError(
                f"eval_steps is a whole number of steps, or a share of all steps below 1; got "
                f"{self.eval_steps}"
            )
        require_at_least(self, 1, "max_steps")
        require_at_least(
            self, 0, "weight_decay", "early_stopping_patience", "dataloader_num_workers"
        )
        if not 0 <= self.seed < MOST_SEEDS:
            raise InputError(f"seed must be from 0 to {MOST_SEEDS - 1}, got {self.seed}")
        if not 0 <= self.warmup_ratio < 1:
            raise InputError(f"warmup_ratio must be in [0, 1), got {self.warmup_ratio}")
        if not 0 < self.adam_beta2 < 1:
            raise InputError(f"adam_beta2 must be in (0, 1), got {self.adam_beta2}")


@dataclass(frozen=True)
class Experiment:
    """What ``syntagma train`` reads. Guides and head are read once, here, into dataclasses.

    Args:
        task: a name from :data:`syntagma.tasks.TASKS`.
        data: the files.
        encoder: ``default``, ``accurate``, ``multilingual``, a folder, or a name on the Hugging
            Face hub.
        hidden_dropout: dropout of the encoder's hidden states; its own value if not given.
        attention_dropout: of the encoder's attention weights; its own if not given. On CPUs
            0 makes training about three times as fast, because fused attention has no dropout. T5,
            mT5 and UMT5 have one dropout for both, which either setting sets.
        num_hidden_layers: keep only this many of the encoder's layers, the lowest ones; all if not
            given.
        preset: guides of a paper, or of ``all`` (:data:`syntagma.models.guides.PRESETS`), or
            ``saved``: continue from the saved model that ``encoder`` names, with its guides, and
            its head if it is for the same task.
        guides: settings of each guide by name, applied to the preset's; ``false`` removes a guide.
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
    num_hidden_layers: int | None = None
    preset: str = "none"
    guides: dict[str, Any] = field(default_factory=dict)
    head: Any = field(default_factory=dict)
    parser: str = "default-parser"
    training: TrainingSettings = field(default_factory=TrainingSettings)

    asked_copies: ClassVar[frozenset[str]] = frozenset()
    """Guides of the preset whose copy of pretrained weights the user wrote down."""

    def __post_init__(self) -> None:
        for name in ("hidden_dropout", "attention_dropout"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < 1:
                raise InputError(f"{name} is a probability in [0, 1), got {value}")
        require_at_least(self, 1, "num_hidden_layers")
        head_class = find_task(self.task).model_class.head_class
        if head_class is None:
            if self.head:
                raise InputError(f"head: the task {self.task} has no settings; leave it out")
        elif not isinstance(self.head, head_class):
            _set(self, "head", build(head_class, self.head or {}, where="head"))
        _set(self, "guides", self._read_guides())

    def _read_guides(self) -> dict[str, Any]:
        if self.preset == SAVED:
            # They complete what the saved model says, which is read when training starts.
            check_changes(self.guides)
            changed = {n: v for n, v in self.guides.items() if isinstance(v, Mapping)}
            read_guides(changed)
            return dict(self.guides)
        removed = {
            name: False for name in PRESETS.get(self.preset, {}) if self.guides.get(name) is False
        }
        guides = resolve_guides(self.preset, self.guides, others=[SAVED])
        asked = set()
        for name in PRESETS[self.preset].keys() & guides.keys():
            guide, given = GUIDES[name], self.guides.get(name)
            if not (copied := guide.copies_pretrained(guides[name])):
                continue
            explicit = copied in given if isinstance(given, Mapping) else given not in (None, True)
            # A preset copies pretrained weights where there are some.  For other encoders this is
            # known when the model is built (syntagma.models.guides.preset_on).
            if self.encoder == SCRATCH and not explicit:
                guides[name] = guide.without_copy(guides[name], None)
            # The file in a run folder lists all settings: it does not say which of them were given.
            if explicit and isinstance(given, Mapping) and len(given) < len(fields(guides[name])):
                asked.add(name)
        _set(self, "asked_copies", frozenset(asked))
        return guides | removed

    def changed(self, **values: Any) -> Experiment:
        """Return the experiment with other values of some fields."""
        other = replace(self, **values)
        _set(other, "asked_copies", self.asked_copies)
        return other

    @functools.cached_property
    def encoder_ref(self) -> ModelRef:
        """What ``encoder`` names, looked up when it is first needed."""
        return find_model(self.encoder)


def _set(experiment: Experiment, name: str, value: Any) -> None:
    object.__setattr__(experiment, name, value)  # The dataclass is frozen.


PRACTICAL = ("training.save_steps", "training.gradient_checkpointing", "data.skip_bad")
"""Settings that do not affect the result of the training."""


def load_experiment(path: str | Path, overrides: list[str] | None = None) -> Experiment:
    """Read an experiment file and apply ``key=value`` overrides.

    Args:
        path: a YAML file.
        overrides: ``training.num_train_epochs=3``; values are read as YAML.

    Returns:
        All settings, checked, with their defaults.

    Raises:
        InputError: a key is unknown, a value impossible, or the file is not YAML.
    """
    values = apply_overrides(load_yaml(path), overrides or [])
    return build(Experiment, values, where=str(path))


def comparable(experiment: Experiment) -> dict[str, Any]:
    """Flattened settings that affect the result, used to compare runs."""
    flat = flatten(to_dict(experiment))
    return {key: value for key, value in flat.items() if key not in PRACTICAL}
