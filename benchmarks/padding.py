"""Padding to round lengths: training speed with rounded and unrounded batch lengths."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch

from benchmarks.quick import size
from benchmarks.tables import show
from benchmarks.timing import rounds
from syntagma.batches import TokenBudgetSampler, padded_length
from syntagma.encoders.precision import autocast
from syntagma.models.guided_encoder import GuidedEncoder

BUDGET = size(6144, 1024)
N_BATCHES = size(8, 1)
# Mean, deviation, minimum and maximum of lengths: sentence pairs, passages with a question, long
# passages.
LENGTHS = {
    "40 ± 15": (40, 15, 12, 96),
    "170 ± 60": (170, 60, 60, 384),
    "330 ± 60": (330, 60, 200, 512),
}
STEPS = (1, 8, 16, 32)


def round_to(step: int, length: int) -> int:
    """Round a length up to a multiple of a step."""
    return -(-length // step) * step


def measure(name: str, mean: int, deviation: int, low: int, high: int) -> dict[str, object]:
    """Time training with different ways of rounding lengths."""
    lengths = np.random.default_rng(0).normal(mean, deviation, 20_000).clip(low, high).astype(int)
    model = GuidedEncoder.from_encoder("default", attention_dropout=0.0).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)
    ways: dict[str, Callable[[int], int]] = {
        f"multiples of {step}": partial(round_to, step) for step in STEPS
    }
    ways["ours"] = padded_length
    n_pieces: dict[str, int] = {}

    def train(way: str) -> None:
        padded = np.array([ways[way](int(length)) for length in lengths])
        sampler = TokenBudgetSampler(padded, budget=BUDGET, seed=1)
        n_pieces[way] = 0
        for _, batch in zip(range(N_BATCHES), sampler, strict=False):
            own = torch.from_numpy(lengths[batch])
            mask = (torch.arange(int(padded[batch].max())) < own.unsqueeze(1)).long()
            with autocast(model.device):
                states = model(input_ids=1000 + mask, attention_mask=mask).last_hidden_state
            states.float().pow(2).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            n_pieces[way] += int(own.sum())

    seconds = rounds({way: partial(train, way) for way in ways}, repeat=2)
    rates = {way: n_pieces[way] / seconds[way] for way in ways}
    base = rates["multiples of 1"]
    return {"lengths": name, "pieces/s": base, **{way: rates[way] / base for way in ways}}


def main() -> None:
    rows = [measure(name, *shape) for name, shape in LENGTHS.items()]
    show("Pieces per second in training without padding, relative to no rounding", rows)


if __name__ == "__main__":
    main()
