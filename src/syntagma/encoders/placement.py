"""Options of ``from_pretrained`` that say how a model computes: where, and in which numbers.

Names and meanings are those of Transformers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from syntagma.encoders.attention import use_attention
from syntagma.encoders.precision import best_device, require_device
from syntagma.encoders.quiet import quiet
from syntagma.errors import InputError

FIELDS = ("device_map", "attn_implementation", "dtype")
AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where and how a loaded model computes.

    Args:
        device_map: a device, such as ``cuda:0`` or 0; ``auto`` for the fastest; or a mapping of
            ``""`` to a device. A model is not split over several devices.
        attn_implementation: attention of the encoder, such as ``sdpa`` or ``eager``.
        dtype: type of the weights, such as ``bfloat16``; ``auto`` for the one that they were saved
            in.  By default float32.
    """

    device_map: Any = None
    attn_implementation: str | None = None
    dtype: str | torch.dtype | None = None

    def device(self, other: str | torch.device | None = None) -> str | torch.device | None:
        """Return the device to compute on; ``None`` if none was asked for.

        Args:
            other: the argument ``device``, which means the same as ``device_map``.

        Raises:
            InputError: the map names several devices, there is no such device, or ``device`` is
                another one.
        """
        wanted = self.device_map
        if isinstance(wanted, Mapping):
            if set(wanted) != {""}:
                raise InputError(
                    f"device_map: expected one device for the whole model, such as cuda:0 or "
                    f'{{"": 0}}; got {wanted!r:.80}'
                )
            wanted = wanted[""]
        name = other if wanted is None else _device_name(wanted)
        if name is not None:
            require_device(name)
        # Where there is an argument `device`, cpu is its default.
        if other is not None and str(other) not in ("cpu", str(name)):
            raise InputError(f"device {other} and device_map {name}: give only one of them")
        return name

    def apply(
        self,
        model: Any,
        *,
        device: str | torch.device | None = None,
        saved_dtype: str | torch.dtype | None = None,
    ) -> Any:
        """Place a model.

        Args:
            model: a model of this package; changed.
            device: as for :meth:`device`.
            saved_dtype: the type that its weights were saved in, which ``auto`` stands for.

        Returns:
            The model.

        Raises:
            InputError: there is no such device, type or attention.
        """
        if self.attn_implementation is not None:
            set_attention(model.encoder, self.attn_implementation)
        dtype = read_dtype(saved_dtype if self.dtype == AUTO else self.dtype)
        return model.to(device=self.device(device), dtype=dtype)


def take_placement(options: dict[str, Any]) -> Placement:
    """Remove the options of the placement from keyword arguments, and return them.

    Args:
        options: keyword arguments of ``from_pretrained``; changed.
    """
    return Placement(**{name: options.pop(name) for name in FIELDS if name in options})


def read_dtype(dtype: str | torch.dtype | None) -> torch.dtype | None:
    """Return a dtype by its name, such as ``bfloat16``.

    Args:
        dtype: a name; a dtype and ``None`` are returned unchanged.

    Raises:
        InputError: no dtype has this name.
    """
    if dtype is None or isinstance(dtype, torch.dtype):
        return dtype
    found = getattr(torch, str(dtype).removeprefix("torch."), None)
    if not isinstance(found, torch.dtype):
        raise InputError(f"dtype: expected float32, bfloat16, float16 or auto, got {dtype!r}")
    return found


def set_attention(encoder: nn.Module, name: str) -> None:
    """Set how an encoder of Transformers computes attention.

    Args:
        encoder: changed.
        name: a name of Transformers, such as ``sdpa``.

    Raises:
        InputError: there is no such attention, or the encoder cannot use it.
    """
    # Names with a slash are kernels on the hub: code that would be downloaded and run.
    if not isinstance(name, str) or "/" in name:
        raise InputError(
            f"attn_implementation: expected eager, sdpa, flash_attention_2 or flex_attention, got "
            f"{name!r}"
        )
    try:
        with quiet():
            encoder.set_attn_implementation(name)  # type: ignore[operator]
    except (ValueError, ImportError) as error:
        raise InputError(
            f"attn_implementation {name}: {' '.join(str(error).split())[:200]}; use sdpa or eager"
        ) from error
    # Transformers leaves encoders that cannot change their attention as they are.
    found = getattr(encoder.config, "_attn_implementation", name)
    if found != name:
        raise InputError(
            f"attn_implementation {name}: an encoder of type {encoder.config.model_type!r} can "  # type: ignore[union-attr]
            f"only use {found}"
        )
    # Ours in its place: it is the same, but avoids a faulty backend on GPUs.
    use_attention(encoder)


def _device_name(device: Any) -> str:
    """Return the name of a device that may be given as a number or ``auto``, as in Transformers."""
    if device == AUTO:
        return best_device()
    if isinstance(device, int) and not isinstance(device, bool):
        kind = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else ""
        return f"{kind or 'cuda'}:{device}"
    try:
        return str(torch.device(device))
    except (RuntimeError, TypeError) as error:
        raise InputError(
            f"device_map: expected a device such as cpu, cuda:0 or 0, or auto; got {device!r:.60}"
        ) from error
