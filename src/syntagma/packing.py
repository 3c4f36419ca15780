"""Small copies of models."""

from __future__ import annotations

from pathlib import Path

from syntagma.encoders.reference import ModelName, find_model
from syntagma.encoders.saving import keep_stored
from syntagma.errors import InputError
from syntagma.evaluation import open_model
from syntagma.outputs import write_folder


def pack(
    name: ModelName,
    out: str | Path,
    *,
    bits: int | None = None,
    rank: int | None = None,
    like: ModelName = "",
) -> int:
    """Write a small copy of a model: only what differs from its published encoder.

    Args:
        name: of the model, see :func:`open_model`.
        out: the folder to write; it must not exist.
        bits: 4 or 8 for each weight that moved; 4 if not given.
        rank: store the differences of matrices as products of this rank, for models trained with
            LoRA; 0, or none, stores all their values.
        like: a small copy from which the model was trained: bits and rank are its own, and weights
            that are equal are stored exactly as they are there, not rounded again.

    Returns:
        Size of the weights in bytes.

    Raises:
        InputError: there is no such model, the folder exists, or ``like`` is no small copy.
    """
    if bits not in (None, 4, 8):
        raise InputError(f"--bits must be 4 or 8, got {bits}")
    if rank is not None and rank < 0:
        raise InputError(f"--rank must be at least 1, or 0 for no factors, got {rank}")
    source = find_model(like) if like else None
    if source is not None:
        if bits is not None or rank is not None:
            raise InputError(
                "--like: bits and rank are those of that model; omit --bits and --rank"
            )
        storage = source.settings.get("storage") if source.kind == "model" else None
        if not storage or storage["bits"] not in (4, 8):
            raise InputError(
                f"--like: expected a model that `syntagma pack` wrote, or one that ships; "
                f"{source.name} is none"
            )
        bits, rank = storage["bits"], storage.get("rank", 0)
    task = open_model(name)
    with write_folder(out) as draft:
        task.save(draft, bits=bits or 4, rank=rank or 0)
        if source is not None:
            keep_stored(draft, task.model, source)
        return sum(path.stat().st_size for path in draft.rglob("*.safetensors"))
