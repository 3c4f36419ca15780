"""bfloat16 relative to float32: does ``precision: auto`` choose the faster one on this machine?"""

from __future__ import annotations

from functools import partial

import torch

from benchmarks.quick import size
from benchmarks.tables import show
from benchmarks.timing import rounds
from syntagma.encoders.precision import Precision, autocast, best_device, fast_bfloat16
from syntagma.models.guided_encoder import GuidedEncoder

PIECES = size(6144, 384)
LENGTHS = (32, 128, 384)
PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16")


def main() -> None:
    device = torch.device(best_device())
    model = GuidedEncoder.from_encoder("default", attention_dropout=0.0).train().to(device)

    def run(precision: Precision, length: int, learns: bool) -> None:
        pieces = torch.full((PIECES // length, length), 1000, device=device)
        with autocast(device, precision), torch.set_grad_enabled(learns):
            states = model(input_ids=pieces, attention_mask=torch.ones_like(pieces))
        loss = states.last_hidden_state.float().pow(2).mean()
        if learns:
            loss.backward()
            model.zero_grad()
        loss.item()

    chosen = "bfloat16" if fast_bfloat16(device.type) else "float32"
    rows: list[dict[str, object]] = []
    for length in LENGTHS:
        calls = {
            f"{precision} {learns}": partial(run, precision, length, learns)
            for precision in PRECISIONS
            for learns in (False, True)
        }
        seconds = rounds(calls, repeat=3)
        row: dict[str, object] = {"pieces per row": length}
        for learns, what in ((False, "inference"), (True, "training step")):
            row[f"{what}, pieces/s"] = PIECES / seconds[f"float32 {learns}"]
            row[f"{what}, bfloat16"] = seconds[f"float32 {learns}"] / seconds[f"bfloat16 {learns}"]
        rows.append(row | {"auto is": chosen})
    show(f"Speed of bfloat16 relative to float32 on {device.type}", rows)


if __name__ == "__main__":
    main()
