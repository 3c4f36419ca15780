"""Record the attention weights of an encoder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from syntagma.errors import InputError

EAGER = "eager"
"""Transformers' name for attention that computes its weights explicitly."""


@contextmanager
def watch_attention(encoder: nn.Module) -> Iterator[list[Tensor]]:
    """Record the attention weights of an encoder of Transformers inside a ``with`` block.

    Args:
        encoder: the encoder; its settings are restored when the block ends.

    Yields:
        A list that contains, once the encoder has run, the weights of each layer,
        ``[batch, n_heads, n, n]``; rows sum to 1.

    Raises:
        InputError: the encoder returns no attention weights, for example because it has none.
    """
    found: list[Tensor] = []

    # Hooks, because the encoder runs inside the `forward` of a model that passes no such option.
    def ask(_: nn.Module, arguments: Any, options: dict[str, Any]) -> Any:
        return arguments, options | {"output_attentions": True}

    def keep(_: nn.Module, arguments: Any, output: Any) -> None:
        weights = getattr(output, "attentions", None) or ()
        found[:] = [layer for layer in weights if layer is not None]
        if not found:
            name = getattr(encoder.config, "model_type", type(encoder).__name__)
            raise InputError(f"encoder {name}: returns no attention weights; use another encoder")

    # Fused attention returns no weights.  Transformers has no public way to read the current
    # implementation, hence the private attribute.
    before = getattr(encoder.config, "_attn_implementation", None)
    if before != EAGER:
        encoder.set_attn_implementation(EAGER)  # type: ignore[operator]
    hooks = [
        encoder.register_forward_pre_hook(ask, with_kwargs=True),
        encoder.register_forward_hook(keep),
    ]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()
        if before != EAGER:
            encoder.set_attn_implementation(before)  # type: ignore[operator]
