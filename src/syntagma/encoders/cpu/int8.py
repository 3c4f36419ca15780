"""Compute the linear layers of a model in 8-bit integers, on CPUs that have instructions for it.

Weights are rounded once, each row by a scale of its own; inputs are rounded at each call, each
piece by a scale of its own, so that what is computed for a text does not depend on what else is in
its batch.  (One scale for the whole batch would be a tenth faster, and give one word in ninety
another head in another batch.)  The weights themselves stay as they are: the model can still be
saved.

oneDNN computes such products three times as fast as those in float32 where the CPU has VNNI or AMX
(``python -m benchmarks.precision``).  Without these instructions sums of products would overflow.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from syntagma.encoders.cpu.derived import DerivedLinear
from syntagma.encoders.cpu.forwards import ForwardWrapper, wrap_forward
from syntagma.encoders.cpu.shared_inputs import SharedInputs, share_inputs
from syntagma.errors import InputError

SMALLEST = 32
"""Inputs and outputs of the smallest layer that is worth rounding."""
TINY = 1e-30
STEPS = 127
"""Steps on each side of zero into which the inputs of a piece are divided."""
ZERO = STEPS + 1
"""The unsigned integer that stands for zero: products are fastest with unsigned inputs."""


class RoundedLayer(NamedTuple):
    """A linear layer in 8-bit integers.

    Args:
        weight: as oneDNN stores it.
        scales: of the rows, ``[out_features]``.
        zeros: of the rows: none is shifted, ``[out_features]``.
        bias: ``[out_features]``, or ``None``.
    """

    weight: Tensor
    scales: Tensor
    zeros: Tensor
    bias: Tensor | None


class Int8Linear(ForwardWrapper):
    """Computes a linear layer in 8-bit integers; for inference only."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__(module)
        self._rounded: RoundedLayer | None = None
        self.shared: SharedInputs[RoundedInputs] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Tensors of oneDNN cannot be copied; they are made again.
        return {"module": self.module, "_rounded": None, "shared": None}

    def __call__(self, states: Tensor) -> Tensor:
        """Compute the layer.

        Args:
            states: ``[…, in_features]``.

        Returns:
            ``[…, out_features]``.
        """
        if torch.is_grad_enabled() and states.requires_grad:
            product: Tensor = self.original(states)
            return product
        if self._rounded is None:
            assert isinstance(self.module, nn.Linear)
            self._rounded = round_layer(self.module)
        if self.shared is None:
            inputs = round_inputs(states)
        else:
            inputs = self.shared.prepared(states, round_inputs)
        found = product_of(inputs, self._rounded)
        return found.view(*states.shape[:-1], found.shape[-1])


def round_layer(layer: nn.Linear) -> RoundedLayer:
    """Round the weights of a linear layer, each row by a scale of its own.

    Args:
        layer: the layer.
    """
    weight = layer.weight.detach().float()
    scales = (weight.abs().amax(1) / 127).clamp(min=TINY)
    rounded = (weight / scales.unsqueeze(1)).round().to(torch.int8)
    return RoundedLayer(
        torch.ops.onednn.qlinear_prepack(rounded, None),
        scales,
        torch.zeros(len(scales), dtype=torch.long),
        None if layer.bias is None else layer.bias.detach().float(),
    )


class RoundedInputs(NamedTuple):
    """Inputs of a layer in 8-bit integers.

    Args:
        values: ``[n, in_features]``; :data:`ZERO` stands for zero.
        scales: what one step stands for, in each row, ``[n, 1]``.
    """

    values: Tensor
    scales: Tensor


def round_inputs(states: Tensor) -> RoundedInputs:
    """Round inputs, each row by a scale of its own.

    Args:
        states: in float32, ``[…, in_features]``.
    """
    rows = states.reshape(-1, states.shape[-1])
    # Faster than the largest of the absolute values, which would have to be written first.
    largest = torch.maximum(rows.amax(1, keepdim=True), -rows.amin(1, keepdim=True))
    scales = largest.div_(STEPS).clamp_(min=TINY)
    # Conversion to integers cuts off what is after the point, so a half is added.
    shifted = torch.mul(rows, scales.reciprocal()).add_(ZERO + 0.5)
    return RoundedInputs(shifted.to(torch.uint8), scales)


def product_of(inputs: RoundedInputs, layer: RoundedLayer) -> Tensor:
    """Multiply rounded inputs by a rounded layer.

    Args:
        inputs: the inputs.
        layer: the layer.

    Returns:
        In float32, ``[n, out_features]``.
    """
    product: Tensor = torch.ops.onednn.qlinear_pointwise(
        inputs.values,
        1.0,
        ZERO,
        layer.weight,
        layer.scales,
        layer.zeros,
        None,
        1.0,
        0,
        torch.float32,
        "none",
        [],
        "",
    )
    if layer.bias is None:
        return product.mul_(inputs.scales)
    # In place: writing to new memory takes twice as long.
    return torch.addcmul(layer.bias, product, inputs.scales, out=product)


@functools.cache
def has_int8() -> bool:
    """Whether this CPU and this build of torch multiply matrices of 8-bit integers."""
    try:
        # Private: torch has no public function for these instructions.
        if not torch.cpu._is_vnni_supported():
            return False
        layer = round_layer(nn.Linear(SMALLEST, SMALLEST))
        product_of(round_inputs(torch.ones(1, SMALLEST)), layer)
    except (AttributeError, RuntimeError, NotImplementedError):
        return False
    return True


def use_int8(model: nn.Module) -> None:
    """Compute the linear layers of a model in 8-bit integers from now on.

    Args:
        model: on the CPU, for inference.

    Raises:
        InputError: the model is on another device, or this CPU cannot do that.
    """
    device = next(model.parameters()).device
    if device.type != "cpu":
        raise InputError(
            f"precision int8 is for CPUs, and the model is on {device}; use bfloat16 there"
        )
    if not has_int8():
        raise InputError(
            "precision int8 needs a CPU with VNNI or AMX, and a build of torch with oneDNN, which "
            "this machine does not have; use float32"
        )
    for module in model.modules():
        if type(module) is nn.Linear and min(module.weight.shape) >= SMALLEST:
            wrap_forward(module, Int8Linear)
        elif isinstance(module, DerivedLinear) and min(module.matrix().shape) >= SMALLEST:
            module.compute_by(Int8Linear)
    share_inputs(model, Int8Linear)
