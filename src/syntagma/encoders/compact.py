"""Store a fine-tuned model compactly: the differences from its base weights, in a few bits each.

Fine-tuning changes the weights of an encoder little.  The differences from the published weights
are split into groups along the rows, and each is stored as a small integer with one scale a group:
``w ≈ w_base + scale · code``.  With 4 bits a whole fine-tuned MiniLM-L6 takes 6 MB instead of 43.

LoRA changes each matrix by a product of two narrow ones.  With a rank, the difference of a matrix
is stored as such a product, ``w ≈ w_base + left · right``, found by singular value decomposition.
It is exact, but for rounding, where the rank is at least that of the training; elsewhere it is the
nearest matrix of this rank.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from syntagma.errors import DamagedFileError

GROUP = 64
"""Number of weights that share one scale."""

EXACT = 32
"""Number of bits that stands for no rounding: changed weights are stored exactly."""

CODES, SCALES = "::codes", "::scales"
LEFT, RIGHT = "::left", "::right"
"""Names of the two factors of a difference of low rank, both stored with a component per row."""
SAMPLE = "::sample"
"""Name of a few values of the base weights, by which a wrong base is recognised."""


def quantize(difference: Tensor, *, bits: int) -> tuple[Tensor, Tensor]:
    """Round a tensor to signed integers with one scale per group.

    Args:
        difference: weights minus base weights, of any shape.
        bits: bits per weight, 4 or 8.

    Returns:
        Codes (uint8, ``[n_bytes]``; with 4 bits, two codes per byte) and scales (float16,
        ``[n_groups]``).
    """
    largest_code = 2 ** (bits - 1) - 1
    flat = difference.detach().float().flatten()
    flat = torch.nn.functional.pad(flat, (0, -flat.numel() % GROUP)).view(-1, GROUP)
    scales = (flat.abs().amax(1, keepdim=True) / largest_code).half()
    # A group without differences has the scale 0; any divisor serves.
    steps = torch.where(scales > 0, scales, 1).float()
    codes = (flat / steps).round().clamp(-largest_code, largest_code) + largest_code
    codes = codes.to(torch.uint8).flatten()
    if bits == 4:
        codes = codes[0::2] | (codes[1::2] << 4)
    return codes, scales.flatten()


def restore(codes: Tensor, scales: Tensor, shape: torch.Size, *, bits: int) -> Tensor:
    """Return the tensor that :func:`quantize` stored.

    Args:
        codes: as :func:`quantize` returns them, ``[n_bytes]``.
        scales: as :func:`quantize` returns them, ``[n_groups]``.
        shape: shape of the tensor.
        bits: bits per weight, 4 or 8.

    Returns:
        A float32 tensor of the given shape.
    """
    if bits == 4:
        codes = torch.stack((codes & 15, codes >> 4), 1).flatten()
    values = (codes.view(-1, GROUP).float() - (2 ** (bits - 1) - 1)) * scales.float().unsqueeze(1)
    return values.flatten()[: shape.numel()].view(shape)


def _takes_factors(shape: torch.Size, rank: int) -> bool:
    """Whether a difference of this shape is stored as two factors: if they are smaller."""
    return len(shape) == 2 and 0 < rank * sum(shape) < shape.numel()


def factors(difference: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """Return the factors of the nearest matrix of a given rank.

    Args:
        difference: a matrix, ``[n_rows, n_columns]``.
        rank: number of components.

    Returns:
        Left ``[rank, n_rows]`` and right ``[rank, n_columns]``; the matrix is ``left.T @ right``.
        Each row belongs to one component, and components differ in size: so groups, which share a
        scale, do not mix them.
    """
    rows, sizes, columns = torch.linalg.svd(difference.detach().float(), full_matrices=False)
    roots = sizes[:rank].sqrt().unsqueeze(1)
    return roots * rows[:, :rank].T, roots * columns[:rank]


def compact(
    weights: Mapping[str, Tensor], base: Mapping[str, Tensor], *, bits: int, rank: int = 0
) -> dict[str, Tensor]:
    """Reduce weights to their differences from base weights.

    Unchanged weights are omitted; weights that the base lacks are stored in float16, or unrounded
    with :data:`EXACT`.  Values are compared, so that no list of frozen weights is needed.

    Args:
        weights: the model's weights by name.
        base: the published weights by the same names.
        bits: bits per weight: 4, 8 or :data:`EXACT`.
        rank: store differences of matrices as products of this rank where that is smaller; 0 stores
            all their values.
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
            parts = {name: weight - origin}
            if _takes_factors(weight.shape, rank):
                left, right = factors(weight - origin, rank)
                parts = {name + LEFT: left, name + RIGHT: right}
            for part, values in parts.items():
                small[part + CODES], small[part + SCALES] = quantize(values, bits=bits)
    return {name: weight.contiguous() for name, weight in small.items()}


def belongs(small: Mapping[str, Tensor], base: Mapping[str, Tensor]) -> bool:
    """Whether differences were taken to these base weights, up to rounding to bfloat16.

    Args:
        small: the differences, from :func:`compact`.
        base: base weights by the same names.
    """
    if SAMPLE not in small:  # Written by a version that stored no sample.
        return True
    ours, theirs = _sample(base), small[SAMPLE].float()
    return ours.shape == theirs.shape and torch.allclose(ours, theirs, rtol=0.004, atol=1e-4)


def _sample(base: Mapping[str, Tensor]) -> Tensor:
    """Return two values of every weight, in the order of the names."""
    flat = [base[name].flatten() for name in sorted(base) if base[name].is_floating_point()]
    values = [part[place * len(part) // 3] for part in flat if len(part) for place in (1, 2)]
    return torch.stack(values).float() if values else torch.empty(0)


def expand(
    small: Mapping[str, Tensor], base: Mapping[str, Tensor], *, bits: int, rank: int = 0
) -> dict[str, Tensor]:
    """Return the weights that :func:`compact` reduced.

    Args:
        small: the differences, from :func:`compact`.
        base: base weights by the same names.
        bits: bits per weight that the differences were stored with.
        rank: rank that they were stored with.

    Raises:
        DamagedFileError: a difference belongs to a weight that the base lacks, or has another size.
    """
    weights = dict(base)
    for name, value in small.items():
        if name.endswith((SCALES, SAMPLE, RIGHT + CODES)):
            continue
        if not name.endswith(CODES):
            weights[name] = value.float() if value.is_floating_point() else value
            continue
        stored = name.removesuffix(CODES)
        origin = base.get(stored.removesuffix(LEFT))
        if origin is None:
            raise DamagedFileError(
                f"the stored differences contain {stored!r}, which the base lacks"
            )
        if not stored.endswith(LEFT):
            weights[stored] = origin + _restored(small, stored, origin.shape, bits=bits)
            continue
        name = stored.removesuffix(LEFT)
        if origin.ndim != 2 or rank < 1:
            raise DamagedFileError(
                f"the stored differences of {name!r} are factors of a matrix, but it is none, or "
                f"no rank is given"
            )
        left, right = (
            _restored(small, name + side, torch.Size((rank, size)), bits=bits)
            for side, size in zip((LEFT, RIGHT), origin.shape, strict=True)
        )
        weights[name] = origin + left.T @ right
    return weights


def keep_stored(
    small: Mapping[str, Tensor],
    weights: Mapping[str, Tensor],
    stored: Mapping[str, Tensor],
    stored_weights: Mapping[str, Tensor],
) -> dict[str, Tensor]:
    """Store weights that another model shares exactly as that model stores them.

    Rounding a second time would change them: a product of rounded factors has other factors.

    Args:
        small: the reduced weights, from :func:`compact`.
        weights: the weights in full.
        stored: the reduced weights of the other model, with the same bits and rank.
        stored_weights: its weights in full.
    """
    kept = {
        name
        for name, weight in weights.items()
        if name in stored_weights and torch.equal(weight, stored_weights[name])
    }
    parts = {name for name in small if _weight_of(name) not in kept}
    same = {name for name in stored if _weight_of(name) in kept}
    found = {name: small[name] for name in parts} | {name: stored[name] for name in same}
    return {name: found[name] for name in sorted(found)}


def _weight_of(part: str) -> str:
    """Return the name of the weight that a stored tensor belongs to."""
    return part.partition("::")[0]


def _restored(small: Mapping[str, Tensor], name: str, shape: torch.Size, *, bits: int) -> Tensor:
    """Return a stored tensor.

    Raises:
        DamagedFileError: a part of it is missing, or it does not have this shape.
    """
    if name + CODES not in small or name + SCALES not in small:
        raise DamagedFileError(f"the stored differences lack a part of {name!r}")
    codes, scales = small[name + CODES], small[name + SCALES]
    n_groups = -(-shape.numel() // GROUP)
    n_bytes = n_groups * GROUP * bits // 8
    if codes.dtype != torch.uint8 or codes.shape != (n_bytes,) or scales.shape != (n_groups,):
        raise DamagedFileError(
            f"the stored differences of {name!r} do not fit the base: expected {n_bytes} bytes "
            f"in {n_groups} groups of {bits} bits, got {tuple(codes.shape)} and "
            f"{tuple(scales.shape)}"
        )
    return restore(codes, scales, shape, bits=bits)
