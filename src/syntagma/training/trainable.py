"""Select the trainable weights of an encoder: all, all but the embeddings, none, or LoRA."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from syntagma.encoders.cpu.linear import pad_linear_layers
from syntagma.encoders.cpu.packed import forget_packed
from syntagma.encoders.model import SyntagmaModel
from syntagma.errors import MissingExtraError
from syntagma.tasks.experiment import TrainingSettings


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
        return _add_lora(encoder, settings.lora_rank)
    return lambda: None


def _add_lora(encoder: nn.Module, rank: int) -> Callable[[], None]:
    try:
        from peft import LoraConfig
        from peft.tuners.lora import LoraModel
    except ImportError as error:
        raise MissingExtraError("training.encoder: lora", "lora") from error
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
