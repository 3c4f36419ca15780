"""A small multiple-choice data set: the right option is the last word of a dialogue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from syntagma.tasks.sample import SENTENCES, Sample


def write_choices(folder: Path, copies: int) -> str:
    """Write questions in the format of DREAM."""
    dialogues: list[Any] = []
    for number in range(copies):
        for which in range(6):
            other = SENTENCES[(which + number + 1) % len(SENTENCES)]
            turns = [f"M: {SENTENCES[which]}", f"W: {other}"]
            options = [turn.split()[-1].rstrip(".?!") for turn in turns]
            question = {"question": "What ends it?", "choice": options, "answer": options[1]}
            dialogues.append([turns, [question], f"{number}-{which}"])
    path = folder / "dialogues.json"
    path.write_text(json.dumps(dialogues), encoding="utf-8")
    return str(path)


# With max pooling, an untrained model may give all options the same values.
SAMPLE = Sample(write_choices, head={"max_length": 96, "pooling": "mean"})
