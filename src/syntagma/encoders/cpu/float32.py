"""Linear layers in float32 on AMD's processors, where oneDNN is faster than MKL.

torch gives products in float32 to MKL, which is slow there.  With oneDNN, which comes with torch as
well, ``default-parser`` is 1.42 times as fast on two cores of an AMD EPYC of the fifth generation
(``python -m benchmarks.linear``).  Sums are taken in another order, so the last digits differ, as
they do between processors.  Parsers use it; other models keep torch's products, since their scores
in float32 are those of Transformers bit for bit, and by themselves they compute in bfloat16 there.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from syntagma.encoders.cpu.derived import DerivedLinear
from syntagma.encoders.cpu.forwards import wrap_forward
from syntagma.encoders.cpu.linear import PaddedLinear, padded_rows
from syntagma.encoders.cpu.processor import is_amd


class OneDnnLinear(PaddedLinear):
    """Computes a linear layer in float32 by oneDNN; for inference only."""

    def __call__(self, states: Tensor) -> Tensor:
        """Compute the layer.

        Args:
            states: ``[…, in_features]``.

        Returns:
            ``[…, out_features]``.
        """
        layer = self.module
        assert isinstance(layer, nn.Linear)
        if not is_plain_float32(states, layer):
            return super().__call__(states)
        rows = states.reshape(-1, states.shape[-1])
        n = len(rows)
        extra = padded_rows(n) - n  # oneDNN compiles code for each number of rows.
        if extra:
            rows = F.pad(rows, (0, 0, 0, extra))
        product: Tensor = torch.ops.mkldnn._linear_pointwise(
            rows, layer.weight, layer.bias, "none", [], ""
        )
        return product[:n].view(*states.shape[:-1], product.shape[-1])


def is_plain_float32(states: Tensor, layer: nn.Linear) -> bool:
    """Whether a product is one in float32 on the CPU, of which no gradient is taken."""
    return (
        states.device.type == "cpu"
        and states.dtype == layer.weight.dtype == torch.float32
        and not torch.is_autocast_enabled("cpu")
        and not torch.is_grad_enabled()
        and not torch.compiler.is_compiling()
        and states.numel() > 0
    )


@functools.cache
def is_faster() -> bool:
    """Whether oneDNN is faster than MKL here: on AMD's processors with AVX-512."""
    if not is_amd() or not torch.backends.mkl.is_available():
        return False
    return "AVX512" in torch.backends.cpu.get_cpu_capability() and has_onednn()


@functools.cache
def has_onednn() -> bool:
    """Whether this build of torch computes linear layers in float32 by oneDNN."""
    layer, states = nn.Linear(32, 32), torch.ones(16, 32)
    try:
        # Private: torch has no public function for this; its own compiler uses this one.
        with torch.no_grad():
            torch.ops.mkldnn._linear_pointwise(states, layer.weight, layer.bias, "none", [], "")
    except (AttributeError, RuntimeError, NotImplementedError):
        return False
    return True


def use_onednn(model: nn.Module) -> None:
    """Compute linear layers in float32 by oneDNN from now on.

    Args:
        model: for inference; the names of its weights do not change.
    """
    for module in model.modules():
        # Layers that compute in another way, such as in 8-bit integers, go on doing so.
        own = "forward" not in vars(module) or type(module.forward) is PaddedLinear
        if type(module) is nn.Linear and own:
            wrap_forward(module, OneDnnLinear)
        elif isinstance(module, DerivedLinear) and module.wrapper is None:
            module.compute_by(OneDnnLinear)
