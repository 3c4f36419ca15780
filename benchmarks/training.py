"""A training step of the plain encoder: Transformers' own, with our attention, with our dropout.

Then what gradient checkpointing (``training.gradient_checkpointing``) costs and saves.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from transformers import AutoModel

from benchmarks.timing import rounds, show
from syntagma.encoders.attention import use_fast_gradients
from syntagma.encoders.cpu.dropout import use_fast_dropout
from syntagma.encoders.cpu.recompute import recompute_states
from syntagma.encoders.default import resolve
from syntagma.encoders.precision import autocast

PIECES = 6144
LENGTHS = (32, 64, 128, 192, 384)


AGAIN = "computed again"


def main() -> None:
    ways = {name: encoder() for name in ("Transformers", "our attention", "and dropout", AGAIN)}
    for name in ("our attention", "and dropout", AGAIN):
        use_fast_gradients(ways[name])
    for name in ("and dropout", AGAIN):
        use_fast_dropout(ways[name])
    recompute_states(ways[AGAIN].encoder.layer)
    optimizers = {
        name: torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)
        for name, model in ways.items()
    }

    def step(name: str, length: int) -> None:
        pieces = torch.full((PIECES // length, length), 1000)
        with autocast(pieces.device):
            states = ways[name](input_ids=pieces, attention_mask=pieces.bool()).last_hidden_state
        states.float().pow(2).mean().backward()
        optimizers[name].step()
        optimizers[name].zero_grad()

    calls = [(name, length) for length in LENGTHS for name in ways]
    seconds = rounds({str(call): partial(step, *call) for call in calls})
    rows: list[dict[str, object]] = []
    for length in LENGTHS:
        taken = {name: seconds[str((name, length))] for name in ways}
        row: dict[str, object] = {"pieces a row": length}
        row |= {f"{name}, pieces/s": PIECES / taken[name] for name in ways if name != AGAIN}
        row["ratio"] = taken["Transformers"] / taken["and dropout"]
        rows.append(row)
    show(f"A training step on {PIECES} pieces, as Transformers has it and as here", rows)
    rows = []
    for length in LENGTHS:
        kept, again = (seconds[str((name, length))] for name in ("and dropout", AGAIN))
        sizes = [megabytes(ways[name], length) for name in ("and dropout", AGAIN)]
        rows.append(
            {
                "pieces a row": length,
                "states kept, MB": sizes[0],
                "computed again, MB": sizes[1],
                "memory": sizes[1] / sizes[0],
                "time": again / kept,
            }
        )
    show("Layers that are computed again for the gradients, over those whose states are kept", rows)


def megabytes(model: nn.Module, length: int) -> float:
    """What a step keeps for the gradients, weights left out."""
    weights = {weight.data_ptr() for weight in model.parameters()}
    kept: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    pieces = torch.full((PIECES // length, length), 1000)
    with saved_tensors_hooks(keep, lambda tensor: tensor), autocast(pieces.device):
        states = model(input_ids=pieces, attention_mask=pieces.bool()).last_hidden_state
    del states
    return sum(kept.values()) / 2**20


def encoder() -> Any:
    model: nn.Module = AutoModel.from_pretrained(
        resolve("default"), attention_probs_dropout_prob=0.0, add_pooling_layer=False
    )
    return model.train()


if __name__ == "__main__":
    main()
