"""SG-Net over the plain encoder: a training step and inference at 16 × 384 pieces."""

from __future__ import annotations

import resource

import torch

from benchmarks.timing import rounds, show
from syntagma.encoders.precision import autocast
from syntagma.models.config import resolve_guides
from syntagma.models.guided_encoder import GuidedEncoder

ROWS, PIECES = 16, 384


def batch() -> dict[str, torch.Tensor]:
    """Random pieces; trees of 24 words, each word hanging on one before it."""
    torch.manual_seed(0)
    enter = torch.arange(PIECES).repeat(ROWS, 1)
    depth = torch.arange(PIECES) % 24
    exit_ = (enter - depth) + 24
    exit_ = torch.where(depth % 3 == 2, enter + 1, exit_)
    return {
        "input_ids": torch.randint(1000, 20000, (ROWS, PIECES)),
        "attention_mask": torch.ones(ROWS, PIECES, dtype=torch.long),
        "enter": enter.int(),
        "exit": exit_.int(),
        "word": enter.int(),
    }


def main() -> None:
    inputs = batch()
    callables, parameters = {}, {}
    presets = {
        "plain": ("none", {}),
        "sg-net": ("sg-net", {}),
        "sg-net, bi_attention": ("sg-net", {"ancestor_attention": {"aggregation": "bi_attention"}}),
    }
    for name, (preset, guides) in presets.items():
        model = GuidedEncoder.from_encoder(
            "default", guides=resolve_guides(preset, guides), attention_dropout=0.0
        )
        parameters[name] = sum(p.numel() for p in model.parameters())
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)

        def step(model=model, optimizer=optimizer) -> None:
            model.train()
            with autocast(model.device):
                states = model(**inputs).last_hidden_state
            states.float().pow(2).mean().backward()
            optimizer.step()
            optimizer.zero_grad()

        @torch.inference_mode()
        def read(model=model) -> None:
            model.eval()
            with autocast(model.device):
                model(**inputs)

        callables[f"{name} | training step"] = step
        callables[f"{name} | inference"] = read
    seconds = rounds(callables)
    n_layers = 6
    rows = []
    for name in presets:
        row: dict[str, object] = {"": name, "parameters": f"{parameters[name] / 1e6:.1f}M"}
        for kind in ("training step", "inference"):
            value = seconds[f"{name} | {kind}"]
            row[f"{kind}, examples/s"] = ROWS / value
            row[f"{kind}, over plain"] = value / seconds[f"plain | {kind}"]
        rows.append(row)
    show(f"Guides at {ROWS} x {PIECES}, one layer of {n_layers} more is {7 / 6:.3f}", rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of the process: {peak:,.0f} MiB")


if __name__ == "__main__":
    main()
