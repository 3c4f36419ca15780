"""A small probing set: whether a sentence is in the present or the past tense."""

from __future__ import annotations

from pathlib import Path

from syntagma.tasks.sample import Sample


def write_probe(folder: Path, copies: int) -> str:
    """Write sentences in SentEval's format, in three splits."""
    rows = []
    for number in range(copies):
        for split in ("tr", "va", "te"):
            for which, noun in enumerate(("gull", "ferry", "crew", "lamp")):
                tail = f"the quiet pier {'now ' * (which % 2)}{'so ' * number}."
                rows.append(f"{split}\tPRES\tThe {noun} waits on {tail}")
                rows.append(f"{split}\tPAST\tThe {noun} waited on {tail}")
    path = folder / "gulls.txt"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return f"{path}#tr"


SAMPLE = Sample(
    write_probe,
    head={"max_length": 96, "hidden": 8, "dropout": 0.0},
    training={"encoder": "frozen"},
    presets=("none", "sg-net", "seprem", "poi-net"),
)
