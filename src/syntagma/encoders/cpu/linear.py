"""Linear layers in bfloat16 on CPUs, which compute batches of any size with code made for a few.

oneDNN compiles machine code for each number of rows that it meets, which takes milliseconds: often
longer than the product.  Batches of texts have ever new numbers of pieces and words.  So rows of
zeros are added, up to one of eight numbers between each power of two and the next.  On new text,
``default-parser`` is 1.14 times as fast by that (``python -m benchmarks.linear``, two cores with
AMX); training steps, whose batches are larger, gain little.

In float32 MKL multiplies, which compiles nothing; where it is slow, see :mod:`.float32`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from syntagma.encoders.cpu.forwards import ForwardWrapper, wrap_forward

SIZES = 8
"""Numbers of rows, between a power of two and the next, for which code is compiled."""
SMALLEST = 16
"""The smallest number of rows."""


def padded_rows(n: int) -> int:
    """Return the number of rows that ``n`` rows are extended to.

    >>> [padded_rows(n) for n in (0, 5, 16, 17, 1000, 1024, 1025)]
    [0, 16, 16, 18, 1024, 1024, 1152]
    """
    if n <= SMALLEST:
        return SMALLEST if n else 0
    step = 1 << max((n - 1).bit_length() - SIZES.bit_length(), 0)
    return -(-n // step) * step


class PaddedLinear(ForwardWrapper):
    """Computes a linear layer on a padded number of rows where oneDNN would compile new code."""

    def __call__(self, states: Tensor) -> Tensor:
        """Compute the layer.

        Args:
            states: ``[…, in_features]``.

        Returns:
            ``[…, out_features]``.
        """
        product: Tensor
        extra = missing_rows(states)
        if not extra:
            product = self.original(states)
            return product
        rows = states.reshape(-1, states.shape[-1]).to(torch.bfloat16)
        rows = F.pad(rows, (0, 0, 0, extra))
        product = self.original(rows)
        return product[:-extra].view(*states.shape[:-1], product.shape[-1])


def missing_rows(states: Tensor) -> int:
    """Return how many rows to add so that oneDNN need not compile code for their number.

    Args:
        states: factor of a product, ``[…, width]``; all dimensions but the last are rows.

    Returns:
        0 where oneDNN does not multiply, and while a graph is recorded.
    """
    if states.device.type != "cpu" or torch.compiler.is_compiling():
        return 0
    if states.dtype != torch.bfloat16 and not torch.is_autocast_enabled("cpu"):
        return 0
    n = states.shape[:-1].numel()
    return padded_rows(n) - n


def pad_linear_layers(model: nn.Module) -> None:
    """Compute the linear layers of a model on padded numbers of rows in bfloat16 on CPUs.

    Args:
        model: any module; the names of its weights do not change.
    """
    for module in model.modules():
        if type(module) is nn.Linear and "forward" not in vars(module):
            wrap_forward(module, PaddedLinear)
