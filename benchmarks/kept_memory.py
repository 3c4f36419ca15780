"""A training step with the memory that the step before freed, kept or given back to the kernel.

    python -m benchmarks.kept_memory

With the encoder ``accurate`` too, where it has been downloaded.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from statistics import median

import torch

from benchmarks.peak_memory import memory
from benchmarks.quick import size
from benchmarks.tables import Measured, show
from syntagma.encoders.default import find_download
from syntagma.encoders.precision import autocast
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.training.kept_memory import kept_memory

PIECES = size(6144, 256)
LENGTHS = size((64, 96, 128, 176, 256, 384), (64,))
"""Pieces per row of the batches of a turn."""
TURNS = size(3, 1)
ENCODERS = size(("default", "accurate"), ("default",))
WAYS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "given back": nullcontext,
    "kept": kept_memory,
}


def stepper(name: str) -> Callable[[], None]:
    """Return a function that trains an encoder on a batch of each length."""
    model = GuidedEncoder.from_encoder(name, attention_dropout=0.0).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)

    def steps() -> None:
        for length in LENGTHS:
            pieces = torch.full((PIECES // length, length), 1000)
            with autocast(pieces.device):
                states = model(input_ids=pieces, attention_mask=pieces.bool()).last_hidden_state
            states.float().pow(2).mean().backward()
            optimizer.step()
            optimizer.zero_grad()

    return steps


def measure(name: str) -> dict[str, object]:
    """Train an encoder in both ways in turn."""
    steps = stepper(name)
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    faults: dict[str, list[int]] = {way: [] for way in WAYS}
    megabytes: dict[str, float] = {}
    for _ in range(TURNS):
        for way, context in WAYS.items():
            with context():
                steps()
                before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
                start = time.perf_counter()
                steps()
                seconds[way].append((time.perf_counter() - start) / len(LENGTHS))
                after = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
                faults[way].append((after - before) // len(LENGTHS))
                megabytes[way] = (memory() or 0) / 1e6
    ratios = [slow / fast for slow, fast in zip(*seconds.values(), strict=True)]
    row: dict[str, object] = {"encoder": name}
    row |= {f"{way}, s": median(values) for way, values in seconds.items()}
    row["speed-up"] = Measured(median(ratios), lowest=min(ratios), highest=max(ratios))
    row |= {f"page faults, {way}": median(values) for way, values in faults.items()}
    row |= {f"memory after a step, {way}, MB": value for way, value in megabytes.items()}
    return row


def main() -> None:
    show(
        f"A training step on {PIECES} pieces, freed memory given back or kept",
        [measure(name) for name in ENCODERS if find_download(name)],
    )


if __name__ == "__main__":
    main()
