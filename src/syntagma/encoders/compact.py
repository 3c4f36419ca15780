"""Keep a fine-tuned model small: store how far its weights moved, in a few bits each.

Fine-tuning moves the weights of an encoder a little.  The differences to the published weights
are cut into groups along the rows, and each is stored as a small integer with one scale a group:
``w ≈ w_base + scale · code``.  With 4 bits a whole fine-tuned MiniLM-L6 takes 6 MB instead of 43.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from syntagma.errors import DamagedFileError

GROUP = 64
"""Weights that share one scale."""

EXACT = 32
"""Bits with which nothing is rounded: what did not move is left out, the rest is whole."""

CODES, SCALES = "::codes", "::scales"
SAMPLE = "::sample"
"""Some values of the base, which distinguish it from other encoders."""


def quantize(difference: Tensor, *, bits: int) -> tuple[Tensor, Tensor]:
    """Round a tensor to signed integers of ``bits`` bits with a scale a group.

    Args:
        difference: any shape.
        bits: 4 or 8.

    Returns:
        Codes (uint8, two to a byte for 4 bits) and scales (float16, ``[n_groups]``).
    """
    largest_code = 2 ** (bits - 1) - 1
    flat = difference.detach().float().flatten()
    flat = torch.nn.functional.pad(flat, (0, -flat.numel() % GROUP)).view(-1, GROUP)
    scales = (flat.abs().amax(1, keepdim=True) / largest_code).half()
    steps = torch.where(scales > 0, scales, 1).float()
    codes = (flat / steps).round().clamp(-largest_code, largest_code) + largest_code
    codes = codes.to(torch.uint8).flatten()
    if bits == 4:
        codes = codes[0::2] | (codes[1::2] << 4)
    return codes, scales.flatten()


def restore(codes: Tensor, scales: Tensor, shape: torch.Size, *, bits: int) -> Tensor:
    """The tensor that :func:`quantize` stored, as float32 of the given shape."""
    if bits == 4:
        codes = torch.stack((codes & 15, codes >> 4), 1).flatten()
    values = (codes.view(-1, GROUP).float() - (2 ** (bits - 1) - 1)) * scales.float().unsqueeze(1)
    return values.flatten()[: shape.numel()].view(shape)


def compact(
    weights: Mapping[str, Tensor], base: Mapping[str, Tensor], *, bits: int
) -> dict[str, Tensor]:
    """A small equivalent of ``weights``, to be read beside ``base``.

    Weights that did not move are left out; those that the base does not have are kept in float16,
    or as they are where nothing is to be rounded.
    Which is which is found by comparing, not by name.

    Args:
        weights: a model's weights.
        base: the published weights under the same names.
        bits: 4, 8 or :data:`EXACT`.
    """
    small = {SAMPLE: _sample(base)}
    if bits == EXACT:
        return small | {
            name: weight.contiguous()
            for name, weight in weights.items()
            if name not in base or not torch.equal(weight, base[name])
        }
    for name, weight in weights.items():
        origin = base.get(name)
        if origin is None or origin.shape != weight.shape:
            small[name] = weight.half() if weight.is_floating_point() else weight
        elif not torch.equal(weight, origin):
            small[name + CODES], small[name + SCALES] = quantize(weight - origin, bits=bits)
    return {name: weight.contiguous() for name, weight in small.items()}


def belongs(small: Mapping[str, Tensor], base: Mapping[str, Tensor]) -> bool:
    """Whether a base is the one that differences were taken to, up to the rounding of bfloat16.

    Args:
        small: of :func:`compact`.
        base: weights under the same names.
    """
    if SAMPLE not in small:  # Stored before samples were.
        return True
    ours, theirs = _sample(base), small[SAMPLE]
    return ours.shape == theirs.shape and torch.allclose(ours, theirs, rtol=0.004, atol=1e-4)


def _sample(base: Mapping[str, Tensor]) -> Tensor:
    """Two values of every weight, in the order of the names."""
    flat = [base[name].flatten() for name in sorted(base) if base[name].is_floating_point()]
    values = [part[place * len(part) // 3] for part in flat if len(part) for place in (1, 2)]
    return torch.stack(values).float() if values else torch.empty(0)


def expand(
    small: Mapping[str, Tensor], base: Mapping[str, Tensor], *, bits: int
) -> dict[str, Tensor]:
    """The weights that :func:`compact` stored.

    Raises:
        DamagedFileError: a difference belongs to a weight that the base does not have.
    """
    weights = dict(base)
    for name, value in small.items():
        if name.endswith((SCALES, SAMPLE)):
            continue
        if not name.endswith(CODES):
            weights[name] = value.float() if value.is_floating_point() else value
            continue
        name = name.removesuffix(CODES)
        if name not in base or name + SCALES not in small:
            raise DamagedFileError(f"the stored differences name {name!r}, which the base lacks")
        difference = restore(value, small[name + SCALES], base[name].shape, bits=bits)
        weights[name] = base[name] + difference
    return weights
