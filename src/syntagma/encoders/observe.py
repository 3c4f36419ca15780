"""Watch an encoder attend: fused attention keeps no weights, so that it is set aside meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from syntagma.errors import InputError

EAGER = "eager"
"""Transformers' name for attention that writes its weights out."""


@contextmanager
def watch_attention(encoder: nn.Module) -> Iterator[list[Tensor]]:
    """Collect the attention weights of an encoder of Transformers.

    Args:
        encoder: it is as before when the block ends.

    Yields:
        A list that holds, after the encoder has run once, the weights of each layer,
        ``[batch, n_heads, n, n]``; rows sum to 1.

    Raises:
        InputError: the encoder gives no weights (it does not attend).
    """
    found: list[Tensor] = []

    def ask(_: nn.Module, arguments: Any, options: dict[str, Any]) -> Any:
        return arguments, options | {"output_attentions": True}

    def keep(_: nn.Module, arguments: Any, output: Any) -> None:
        weights = getattr(output, "attentions", None) or ()
        found[:] = [layer for layer in weights if layer is not None]
        if not found:
            name = getattr(encoder.config, "model_type", type(encoder).__name__)
            raise InputError(f"encoder {name}: gives no attention weights, nothing can be drawn")

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
