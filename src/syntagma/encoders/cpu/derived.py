"""Linear maps whose matrix is made from other weights, in the precision of the linear layers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn

from syntagma.encoders.cpu.forwards import ForwardWrapper


def version_of(parameter: Tensor) -> tuple[int, int]:
    """Return the address and version of a parameter, which change when most code changes it."""
    # Tensors made in inference mode have no version, and cannot be changed outside of it.
    return parameter.data_ptr(), -1 if parameter.is_inference() else parameter._version


class DerivedLinear(nn.Module):
    """A module that multiplies by a matrix made from its weights.

    For inference the matrix can be kept as a linear layer, which is then computed as all others
    are: in 8-bit integers, or with packed weights.

    Attributes:
        wrapper: how that layer is computed; ``None`` to multiply as torch does.
    """

    wrapper: type[ForwardWrapper] | None = None
    _layer: nn.Linear | None = None
    _made_from: tuple[int, int] | None = None

    @abstractmethod
    def matrix(self) -> Tensor:
        """Return the matrix, ``[out_features, in_features]``."""

    @abstractmethod
    def origin(self) -> nn.Parameter:
        """Return the parameter that the matrix is made from."""

    def multiplication(self, dtype: torch.dtype) -> Callable[[Tensor], Tensor]:
        """Return a function that multiplies inputs by the matrix.

        Making the matrix takes as long as a small product, so call this once for many inputs.

        Args:
            dtype: of the inputs.  Autocast may make them 16 bits, and a dtype that the user asks
                for may do so with the weights.

        Returns:
            A function from ``[…, in_features]`` to ``[…, out_features]``.
        """
        recorded = torch.compiler.is_compiling()
        if recorded or torch.is_grad_enabled() or self.wrapper is None:
            if not recorded:
                # This may be a training step, after which torch may not show that weights changed.
                self._made_from = None
            transposed = self.matrix().to(dtype).T
            return lambda states: states @ transposed
        version, layer = version_of(self.origin()), self._layer  # Another thread may replace it.
        if layer is None or self._made_from != version:
            matrix = self.matrix().detach().contiguous()
            out_features, in_features = matrix.shape
            layer = nn.Linear(in_features, out_features, bias=False, device="meta")
            layer.weight = nn.Parameter(matrix, requires_grad=False)
            layer.forward = self.wrapper(layer)  # type: ignore[method-assign]
            # Not as a submodule: its weights are no weights of the model.
            self.__dict__["_layer"], self._made_from = layer, version
        return layer

    def compute_by(self, wrapper: type[ForwardWrapper] | None) -> None:
        """Choose how the matrix is multiplied by, from the next call without gradients on.

        Args:
            wrapper: see :attr:`wrapper`.
        """
        self.wrapper, self._made_from = wrapper, None
