"""A training step of the plain encoder: Transformers' own, with our attention, with our dropout."""

from __future__ import annotations

import torch
from torch import nn
from transformers import AutoModel

from benchmarks.timing import rounds, show
from syntagma.encoders.attention import use_fast_gradients
from syntagma.encoders.default import resolve
from syntagma.encoders.dropout import use_fast_dropout
from syntagma.encoders.precision import autocast

PIECES = 6144
LENGTHS = (32, 64, 128, 192, 384)


def main() -> None:
    ways = {"Transformers": encoder(), "our attention": encoder(), "and dropout": encoder()}
    use_fast_gradients(ways["our attention"])
    use_fast_gradients(ways["and dropout"])
    use_fast_dropout(ways["and dropout"])
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
    seconds = rounds({str(call): lambda call=call: step(*call) for call in calls})
    rows: list[dict[str, object]] = []
    for length in LENGTHS:
        taken = {name: seconds[str((name, length))] for name in ways}
        row: dict[str, object] = {"pieces a row": length}
        row |= {f"{name}, pieces/s": PIECES / time for name, time in taken.items()}
        row["ratio"] = taken["Transformers"] / taken["and dropout"]
        rows.append(row)
    show(f"A training step on {PIECES} pieces, as Transformers has it and as here", rows)


def encoder() -> nn.Module:
    model: nn.Module = AutoModel.from_pretrained(
        resolve("default"), attention_probs_dropout_prob=0.0, add_pooling_layer=False
    )
    return model.train()


if __name__ == "__main__":
    main()
