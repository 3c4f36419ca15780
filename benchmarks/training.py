"""A training step of the plain encoder: Transformers, with our attention, and with our dropout.

Then the time and memory of recomputing layers in the backward pass
(``training.gradient_checkpointing``).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import nn
from transformers import AutoModel

from benchmarks.memory import saved_for_backward
from benchmarks.quick import size
from benchmarks.tables import show
from benchmarks.timing import rounds
from syntagma.encoders.attention import use_attention
from syntagma.encoders.cpu.dropout import replace_dropout
from syntagma.encoders.cpu.recompute import recompute_layers
from syntagma.encoders.default import resolve
from syntagma.encoders.precision import autocast

PIECES = size(6144, 384)
LENGTHS = (32, 64, 128, 192, 384)

RECOMPUTED = "recomputed"


def main() -> None:
    names = ("Transformers", "our attention", "and dropout", RECOMPUTED)
    models = {name: encoder() for name in names}
    for name in names[1:]:
        use_attention(models[name])
    for name in names[2:]:
        replace_dropout(models[name])
    recompute_layers(models[RECOMPUTED].encoder.layer)
    optimizers = {
        name: torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)
        for name, model in models.items()
    }

    def step(name: str, length: int) -> None:
        pieces = torch.full((PIECES // length, length), 1000)
        with autocast(pieces.device):
            states = models[name](input_ids=pieces, attention_mask=pieces.bool()).last_hidden_state
        states.float().pow(2).mean().backward()
        optimizers[name].step()
        optimizers[name].zero_grad()

    calls = [(name, length) for length in LENGTHS for name in models]
    seconds = rounds({str(call): partial(step, *call) for call in calls})
    rows: list[dict[str, object]] = []
    for length in LENGTHS:
        taken = {name: seconds[str((name, length))] for name in models}
        row: dict[str, object] = {"pieces per row": length}
        row |= {f"{name}, pieces/s": PIECES / taken[name] for name in models if name != RECOMPUTED}
        row["speed-up"] = taken["Transformers"] / taken["and dropout"]
        rows.append(row)
    show(f"A training step on {PIECES} pieces, Transformers and ours", rows)
    rows = []
    for length in LENGTHS:
        saved, recomputed = (seconds[str((name, length))] for name in names[2:])
        sizes = [saved_mebibytes(models[name], length) for name in names[2:]]
        rows.append(
            {
                "pieces per row": length,
                "states saved, MiB": sizes[0],
                "recomputed, MiB": sizes[1],
                "memory ratio": sizes[1] / sizes[0],
                "time ratio": recomputed / saved,
            }
        )
    show("Layers recomputed in the backward pass, relative to saved states", rows)


def saved_mebibytes(model: nn.Module, length: int) -> float:
    """Return the MiB that a forward pass saves for the backward pass, without weights."""
    pieces = torch.full((PIECES // length, length), 1000)
    inputs = {"input_ids": pieces, "attention_mask": pieces.bool()}
    return saved_for_backward(model, inputs) / 2**20


def encoder() -> Any:
    """Load the default encoder for training."""
    model: nn.Module = AutoModel.from_pretrained(
        resolve("default"), attention_probs_dropout_prob=0.0, add_pooling_layer=False
    )
    return model.train()


if __name__ == "__main__":
    main()
