"""A small entity typing data set, with a type for names and one for long words."""

from __future__ import annotations

import json
import re
from pathlib import Path

from syntagma.tasks.sample import SENTENCES, Sample


def write_typing(folder: Path, copies: int) -> str:
    """Write about every third word of the sentences as a mention, in Open Entity's format."""
    rows = []
    for _ in range(copies):
        for text in SENTENCES:
            for word in re.finditer(r"\w+", text):
                form = word.group()
                if (word.start() + len(form)) % 3 == 0:
                    labels = ["name"] * form[0].isupper() + ["long"] * (len(form) > 4)
                    row = {"sent": text, "start": word.start(), "end": word.end()}
                    rows.append(row | {"labels": labels, "ents": []})
    path = folder / "words.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return str(path)


SAMPLE = Sample(write_typing, head={"max_length": 64})
