"""A small inference data set: a sentence entails its first half, and contradicts another one's."""

from __future__ import annotations

import json
from pathlib import Path

from syntagma.tasks.sample import SENTENCES, Sample


def write_pairs(folder: Path, copies: int) -> str:
    """Write pairs in SNLI's format."""
    rows = []
    for number in range(copies):
        for which, text in enumerate(SENTENCES):
            for label, source in (("entailment", which), ("contradiction", which + number + 1)):
                words = SENTENCES[source % len(SENTENCES)].split()
                row = {"sentence1": text, "sentence2": " ".join(words[: len(words) // 2])}
                key = f"{number}-{which}-{label}"
                rows.append(json.dumps(row | {"gold_label": label, "pairID": key}))
    path = folder / "pairs.jsonl"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


SAMPLE = Sample(write_pairs, head={"max_length": 64})
