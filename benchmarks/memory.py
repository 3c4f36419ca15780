"""What a forward pass keeps in memory for the backward pass."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

from syntagma.encoders.precision import autocast


def saved_for_backward(model: nn.Module, inputs: Mapping[str, Tensor]) -> int:
    """Return the bytes that a forward pass saves for the backward pass, without weights.

    Args:
        model: called as in training; has an output ``last_hidden_state``.
        inputs: tensors of the batch.
    """
    weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes()
        # An output that is returned itself refers to the graph that keeps it, and is never freed.
        return tensor.detach()

    device = next(iter(inputs.values())).device
    with saved_tensors_hooks(keep, lambda tensor: tensor), autocast(device):
        states = model.train()(**inputs).last_hidden_state
    assert states.requires_grad
    return sum(kept.values())
