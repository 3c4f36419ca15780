"""Keep the weights of linear layers as oneDNN reads them, for inference in bfloat16 on CPUs.

Under autocast each call rounds the weights to bfloat16 and puts them into another order.  For a few
sentences both take longer than the product: with one thread, a layer of 384 × 1536 takes 264 µs for
16 pieces, and 39 µs when its weights are kept; for 4,096 pieces 3.1 ms and 2.3 ms.  The products
are the same bit for bit.  What is kept takes half the memory of the weights, in addition to them.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from syntagma.encoders.cpu.derived import DerivedLinear, version_of
from syntagma.encoders.cpu.forwards import wrap_forward
from syntagma.encoders.cpu.linear import PaddedLinear, padded_rows
from syntagma.encoders.cpu.shared_inputs import SharedInputs, share_inputs


class PackedWeights(NamedTuple):
    """The weights of a layer in bfloat16, and where they come from.

    Args:
        weight: as oneDNN stores it.
        bias: ``[out_features]``, or ``None``.
        sources: the parameters.
        versions: address and version of each, which change with it.
    """

    weight: Tensor
    bias: Tensor | None
    sources: tuple[weakref.ref[Tensor], ...]
    versions: tuple[tuple[int, int], ...]


class PackedLinear(PaddedLinear):
    """Computes a linear layer in bfloat16 with weights that are packed at the first call.

    They are packed again when they were changed, and after each call that may be a training step:
    of what fused optimizers change, torch keeps no record.  Another change that it does not record,
    such as one through ``weight.data``, needs :func:`forget_packed`.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__(module)
        self.packed: PackedWeights | None = None
        self.shared: SharedInputs[Tensor] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Tensors of oneDNN cannot be copied; they are made again.
        return {"module": self.module, "packed": None, "shared": None}

    def __call__(self, states: Tensor) -> Tensor:
        """Compute the layer.

        Args:
            states: ``[…, in_features]``.

        Returns:
            ``[…, out_features]``.
        """
        if not can_pack(states):
            if torch.is_grad_enabled():
                self.packed = None
            return super().__call__(states)
        assert isinstance(self.module, nn.Linear)
        packed = self.packed  # Another thread may forget it.
        if packed is None or not is_current(packed, self.module):
            packed = self.packed = pack(self.module)
        rows = pad_rows(states) if self.shared is None else self.shared.prepared(states, pad_rows)
        product: Tensor = torch.ops.mkldnn._linear_pointwise(
            rows, packed.weight, packed.bias, "none", [], ""
        )
        shape = states.shape[:-1]
        return product[: shape.numel()].view(*shape, product.shape[-1])


def can_pack(states: Tensor) -> bool:
    """Whether the product of these inputs is one in bfloat16 for which weights can be kept."""
    return (
        states.device.type == "cpu"
        and torch.is_autocast_enabled("cpu")
        and torch.get_autocast_dtype("cpu") == torch.bfloat16
        and not torch.is_grad_enabled()
        and not torch.compiler.is_compiling()
        and states.dtype != torch.float64  # Autocast leaves that as it is.
        and states.numel() > 0
    )


def pack(layer: nn.Linear) -> PackedWeights:
    """Round the weights of a layer and store them as oneDNN reads them.

    Args:
        layer: the layer.
    """
    parameters = [each for each in (layer.weight, layer.bias) if each is not None]
    weight, *bias = (each.detach().to(torch.bfloat16).contiguous() for each in parameters)
    return PackedWeights(
        torch.ops.mkldnn._reorder_linear_weight(weight, None),
        bias[0] if bias else None,
        tuple(weakref.ref(each) for each in parameters),
        tuple(map(version_of, parameters)),
    )


def is_current(packed: PackedWeights, layer: nn.Linear) -> bool:
    """Whether a layer still has the weights that were packed."""
    parameters = [each for each in (layer.weight, layer.bias) if each is not None]
    return len(parameters) == len(packed.sources) and all(
        source() is parameter and version == version_of(parameter)
        for source, parameter, version in zip(
            packed.sources, parameters, packed.versions, strict=True
        )
    )


def pad_rows(states: Tensor) -> Tensor:
    """Round inputs to bfloat16 and add rows of zeros, in one step.

    Args:
        states: ``[…, in_features]``; all dimensions but the last are rows.

    Returns:
        ``[padded_rows(n), in_features]``.
    """
    rows = states.reshape(-1, states.shape[-1])
    n = len(rows)
    if padded_rows(n) == n:
        return rows.to(torch.bfloat16).contiguous()
    padded = rows.new_empty(padded_rows(n), rows.shape[1], dtype=torch.bfloat16)
    padded[:n] = rows
    padded[n:] = 0
    return padded


@functools.cache
def has_packing() -> bool:
    """Whether this CPU and this build of torch multiply by weights that oneDNN has packed."""
    try:
        # Private: torch has no public functions for this; its own compiler uses these.
        if not torch.ops.mkldnn._is_mkldnn_bf16_supported():
            return False
        layer, states = nn.Linear(32, 32), torch.ones(16, 32, dtype=torch.bfloat16)
        weights = pack(layer)
        torch.ops.mkldnn._linear_pointwise(states, weights.weight, weights.bias, "none", [], "")
    except (AttributeError, RuntimeError, NotImplementedError):
        return False
    return True


def forget_packed(model: nn.Module) -> None:
    """Pack the weights of a model again at the next call.

    Args:
        model: a model whose weights were changed through their ``data``.
    """
    for module in model.modules():
        if isinstance(module.forward, PackedLinear):
            module.forward.packed = None


def pack_linear_layers(model: nn.Module) -> None:
    """Keep the weights of linear layers packed from their next call in bfloat16 on.

    Args:
        model: for inference; the names of its weights do not change.
    """
    if not has_packing():
        return
    for module in model.modules():
        # Layers that compute in another way, such as in 8-bit integers, go on doing so.
        own = "forward" not in vars(module) or isinstance(module.forward, PaddedLinear)
        if type(module) is nn.Linear and own:
            wrap_forward(module, PackedLinear)
        elif isinstance(module, DerivedLinear) and module.wrapper is None:
            module.compute_by(PackedLinear)
    share_inputs(model, PackedLinear)
