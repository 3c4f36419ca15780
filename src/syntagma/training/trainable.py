"""Select the weights that are trained, and their learning rates."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator
from typing import Any

from torch import nn

from syntagma.encoders.cpu.linear import pad_linear_layers
from syntagma.encoders.cpu.packed import forget_packed
from syntagma.encoders.model import SyntagmaModel
from syntagma.errors import InputError
from syntagma.models.guides import GUIDES
from syntagma.tasks.experiment import TrainingSettings
from syntagma.training.requirements import require_peft

log = logging.getLogger(__name__)


def prepare_encoder(model: SyntagmaModel, settings: TrainingSettings) -> Callable[[], None]:
    """Freeze the weights that are not trained, add LoRA, and enable gradient checkpointing.

    Args:
        model: the model whose encoder is prepared.
        settings: the settings ``encoder``, ``lora_rank`` and ``gradient_checkpointing`` are used.

    Returns:
        A function to call after training, before the model is used or saved; it merges LoRA's
        low-rank matrices into the weights.

    Raises:
        InputError: ``gradient_checkpointing`` is not supported for this encoder.
        MissingExtraError: ``peft``, which ``lora`` needs, is not installed.
    """
    if settings.gradient_checkpointing:
        model.gradient_checkpointing_enable()
    encoder = model.encoder
    if settings.encoder == "frozen":
        encoder.requires_grad_(False)
    elif settings.encoder == "layers":
        model.get_input_embeddings().requires_grad_(False)
    elif settings.encoder == "lora":
        require_peft(settings)
        return _add_lora(encoder, settings.lora_rank)
    return lambda: None


def _add_lora(encoder: nn.Module, rank: int) -> Callable[[], None]:
    from peft import LoraConfig
    from peft.tuners.lora import LoraModel

    encoder.requires_grad_(False)
    config = LoraConfig(r=rank, lora_alpha=2 * rank, lora_dropout=0.0, target_modules="all-linear")
    # LoraModel changes the encoder in place, so the names of all other weights stay the same;
    # `get_peft_model` would wrap the encoder and rename them.
    tuner = LoraModel(encoder, {"default": config}, "default")
    pad_linear_layers(encoder)  # Those of LoRA are new.

    def merge() -> None:
        tuner.merge_and_unload()
        # Merging changes weights in a way of which torch keeps no record.
        forget_packed(encoder)

    return merge


def parameter_groups(model: nn.Module, settings: TrainingSettings) -> list[dict[str, Any]]:
    """Group trainable parameters by learning rate and weight decay.

    There are rates for pretrained weights, new guides (by default that of the head) and the head,
    and one for the α and the gates of guides if it is given.
    Weight decay applies only to matrices, not to biases and norms.

    Args:
        model: the model; its ``pretrained_keys`` name pretrained weights outside of the encoder.
        settings: the training settings.

    Returns:
        Parameter groups for an optimizer, with ``params``, ``lr`` and ``weight_decay``.

    Raises:
        InputError: there is a rate for α, and the model trains none.
    """
    head_rate = settings.head_learning_rate or settings.learning_rate
    rates = {"pretrained": settings.learning_rate, "head": head_rate}
    if settings.guide_learning_rate is not None:
        rates["guide"] = settings.guide_learning_rate
    if settings.alpha_learning_rate is not None:
        rates["alpha"] = settings.alpha_learning_rate

    groups: dict[tuple[str, bool], list[nn.Parameter]] = {}
    for rate, parameter in _trained(model, rates):
        groups.setdefault((rate, parameter.ndim >= 2), []).append(parameter)
    if "alpha" in rates and "alpha" not in {rate for rate, _ in groups}:
        raise InputError(
            f"training.alpha_learning_rate: expected a model that trains an α or gates, as with "
            f"guides: {{tree_distance: {{learn_alpha: true}}}}; got "
            f"{settings.alpha_learning_rate:g} for one that trains none; omit it"
        )
    return [
        {
            "params": parameters,
            "lr": rates[rate],
            "weight_decay": settings.weight_decay if is_matrix else 0.0,
        }
        for (rate, is_matrix), parameters in groups.items()
    ]


def _trained(model: nn.Module, rates: Collection[str]) -> Iterator[tuple[str, nn.Parameter]]:
    """Yield the parameters that are trained, each with the name of its rate."""
    pretrained: Collection[str] = getattr(model, "pretrained_keys", ())
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        module, _, inner = name.partition(".")
        if "alpha" in rates and module in GUIDES and inner in GUIDES[module].shares:
            yield "alpha", parameter
        elif module == "encoder" or name in pretrained:
            yield "pretrained", parameter
        else:
            yield "guide" if "guide" in rates and module in GUIDES else "head", parameter


def warn_of_unused(model: nn.Module, settings: TrainingSettings, *, evaluates: bool) -> None:
    """Warn of settings that were given and have no effect.

    They are no errors, so that experiments of earlier versions still run.

    Args:
        model: the model, prepared for training.
        settings: the training settings.
        evaluates: whether there are dev files.
    """
    unused = {}
    if settings.guide_learning_rate is not None and "guide" not in dict(_trained(model, ["guide"])):
        unused["guide_learning_rate"] = "the model trains no new guide"
    if settings.encoder != "lora":
        unused["lora_rank"] = f"encoder: {settings.encoder} adds nothing of low rank"
    if not evaluates:
        unused |= dict.fromkeys(("early_stopping_patience", "eval_steps"), "data.dev names no file")
    for name, reason in unused.items():
        value = getattr(settings, name)
        if value != getattr(TrainingSettings, name):
            log.warning("training.%s: %s has no effect, since %s; omit it", name, value, reason)
