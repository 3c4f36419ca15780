"""A training step of the plain encoder: torch's attention, and ours with float32 gradients."""

from __future__ import annotations

import torch

from benchmarks.timing import rounds, show
from syntagma.encoders.attention import NAME
from syntagma.encoders.precision import autocast
from syntagma.models.guided_encoder import GuidedEncoder

PIECES = 6144
LENGTHS = (32, 64, 128, 192, 384)


def main() -> None:
    model = GuidedEncoder.from_encoder("default", attention_dropout=0.0).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)

    def step(attention: str, length: int) -> None:
        model.encoder.set_attn_implementation(attention)
        pieces = torch.full((PIECES // length, length), 1000)
        with autocast(model.device):
            states = model(input_ids=pieces, attention_mask=pieces.bool()).last_hidden_state
        states.float().pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    ways = [(attention, length) for length in LENGTHS for attention in ("sdpa", NAME)]
    seconds = rounds({str(way): lambda way=way: step(*way) for way in ways})
    rows = []
    for length in LENGTHS:
        torchs, ours = (seconds[str((attention, length))] for attention in ("sdpa", NAME))
        rows.append(
            {
                "pieces a row": length,
                "torch, pieces/s": PIECES / torchs,
                "ours, pieces/s": PIECES / ours,
                "ratio": torchs / ours,
            }
        )
    show(f"A training step on {PIECES} pieces, attention of torch and ours", rows)


if __name__ == "__main__":
    main()
