"""The one switch for all kernels of this package that act inside a model.

Two more are not switched here: users ask for :mod:`.recompute`, which trades time for memory, and
models call :mod:`.cross_entropy` as their loss.
"""

from __future__ import annotations

from typing import Any

from torch import nn
from transformers import GenerationMixin

from syntagma.encoders.attention import use_attention
from syntagma.encoders.cpu.dropout import replace_dropout, replace_functional_dropout
from syntagma.encoders.cpu.linear import pad_linear_layers


def use_cpu_kernels(model: nn.Module, encoder: Any) -> None:
    """Make a model fast on CPUs, most of all in training; little changes on GPUs.

    Args:
        model: the whole model.
        encoder: the part of it that Transformers built: an encoder, or an encoder-decoder.
    """
    # On GPUs this attention avoids a faulty backend of torch's.
    use_attention(encoder)
    replace_dropout(model)
    pad_linear_layers(model)
    if isinstance(encoder, GenerationMixin):
        # Layers of BART and similar encoder-decoders call the function in place of a module.  Both
        # are wrapped because the encoder is called on its own, with guides, before the rest.
        for part in (encoder, encoder.get_encoder()):
            replace_functional_dropout(part)
