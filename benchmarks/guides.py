"""Cost of guides relative to the plain encoder, in training and inference at 16 × 384 pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import torch

from benchmarks.memory import saved_for_backward
from benchmarks.peak_memory import peak_memory
from benchmarks.quick import size
from benchmarks.tables import Measured, show
from benchmarks.timing import rounds
from syntagma.encoders.precision import autocast
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.guides import resolve_guides
from syntagma.syntax.relations import N_RELATIONS
from syntagma.syntax.tags import N_TAGS

ROWS, PIECES = size((16, 384), (2, 48))
Presets: TypeAlias = Mapping[str, tuple[str, Mapping[str, Any]]]
PRESETS: Presets = {
    "plain": ("none", {}),
    "sg-net": ("sg-net", {}),
    "sg-net, bi_attention": ("sg-net", {"ancestor_attention": {"aggregation": "bi_attention"}}),
    "tree_bias": ("none", {"tree_bias": {}}),
    "tree_bias, labels": ("none", {"tree_bias": {"labels": True}}),
    "ancestor_heads": ("none", {"ancestor_heads": {}}),
    "ancestor_heads, ancestors": ("none", {"ancestor_heads": {"attend_to": "ancestors"}}),
    "sg-net and poi-net": ("poi-net", {"ancestor_attention": {}}),
}
# POI-Net, section 4.4: with ALBERT, an epoch takes 54, 62, 72, 83 and 96 minutes with 0 to 4 turns
# of iterative co-attention, and 54, 65, 76, 89 and 109 minutes with multi-head co-attention.
TURNS: Presets = {
    f"{kind}, {turns} turns": ("poi-net", {"coattention": {"kind": kind, "turns": turns}})
    for kind in ("iterative", "multi_head")
    for turns in range(5)
    if turns or kind == "iterative"
}


STEP_BARS = {
    "sg-net": 1.20,
    "sg-net and poi-net": 1.30,
    "iterative, 3 turns": 1.05,
}
"""The longest training step of a model, relative to the first of its table."""


def batch() -> dict[str, torch.Tensor]:
    """Build a batch of random pieces, with trees of 24 words whose heads precede them."""
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
        "depth": depth.repeat(ROWS, 1).int(),
        "word": enter.int(),
        "sentence": (enter // 24).int(),
        "parent": (enter - 1 - (depth % 3 == 0).int()).int(),
        "relation": torch.randint(0, N_RELATIONS, (ROWS, PIECES), dtype=torch.int),
        "tag": torch.randint(0, N_TAGS, (ROWS, PIECES), dtype=torch.int),
        "domain": (enter >= PIECES - 40).long(),
    }


def step(
    model: GuidedEncoder, optimizer: torch.optim.Optimizer, inputs: dict[str, torch.Tensor]
) -> None:
    """Take a training step."""
    model.train()
    with autocast(model.device):
        found = model(**inputs)
    loss = found.with_guide_loss(found.last_hidden_state.float().pow(2).mean())
    assert loss is not None
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


@torch.inference_mode()
def infer(model: GuidedEncoder, inputs: dict[str, torch.Tensor]) -> None:
    """Run inference."""
    model.eval()
    with autocast(model.device):
        model(**inputs)


def measure(
    title: str,
    presets: Presets,
    changes: Mapping[str, Callable[[GuidedEncoder], None]] = MappingProxyType({}),
    bars: Mapping[str, float] = MappingProxyType(STEP_BARS),
) -> None:
    """Time models relative to the first one.

    Args:
        title: title of the table.
        presets: preset and guides of each model.
        changes: functions that modify a model before it is timed.
        bars: the longest training step of a model, relative to the first one.
    """
    inputs = batch()
    callables: dict[str, Callable[[], None]] = {}
    parameters, kept = {}, {}
    for name, (preset, guides) in presets.items():
        model = GuidedEncoder.from_encoder(
            "default", guides=resolve_guides(preset, guides), attention_dropout=0.0
        )
        if name in changes:
            changes[name](model)
        parameters[name] = sum(p.numel() for p in model.parameters())
        kept[name] = saved_for_backward(model, inputs)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)
        callables[f"{name} | training step"] = partial(step, model, optimizer, inputs)
        callables[f"{name} | inference"] = partial(infer, model, inputs)
    seconds = rounds(callables)
    base = next(iter(presets))
    rows = []
    for name in presets:
        row: dict[str, object] = {"": name, "parameters": f"{parameters[name] / 1e6:.2f}M"}
        for kind in ("training step", "inference"):
            value = seconds[f"{name} | {kind}"]
            row[f"{kind}, examples/s"] = ROWS / value
            bar = bars.get(name) if kind == "training step" else None
            row[f"{kind}, ratio"] = Measured(value / seconds[f"{base} | {kind}"], at_most=bar)
        row["saved for backward, MiB"] = kept[name] / 2**20
        rows.append(row)
    show(f"{title} at {ROWS} x {PIECES}", rows)


def main() -> None:
    measure(f"Guides (a seventh encoder layer would be {7 / 6:.3f})", PRESETS)
    measure("Turns of co-attention", TURNS)
    print(f"peak memory of the process: {peak_memory() / 2**20:,.0f} MiB")


if __name__ == "__main__":
    main()
