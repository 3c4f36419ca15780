"""A small open-domain data set: two of four retrieved paragraphs contain the answer."""

from __future__ import annotations

import json
from pathlib import Path

from syntagma.tasks.sample import SENTENCES, Sample
from syntagma.tasks.spans.sample import HEAD


def write_open_qa(folder: Path, copies: int) -> str:
    """Write questions, with ids of paragraphs that are in a second file."""
    paragraphs, questions = [], []
    n = len(SENTENCES)
    for number in range(n):
        text = f"{SENTENCES[number]} {SENTENCES[(number + 1) % n]}"
        paragraphs.append(json.dumps({"pid": number, "title": "harbour", "text": text}))
    for number in range(copies):
        for which, text in enumerate(SENTENCES[:6]):
            question = {
                "id": f"{number}-{which}",
                "question": f"What ends{' so' * number}: " + " ".join(text.split()[:3]) + "?",
                "answers": [text.split()[-1].rstrip(".?!")],
                "retrieved": [(which + step) % n for step in (4, 0, 7, 2)],
                "gold_pid": which,
            }
            questions.append(json.dumps(question))
    (folder / "paragraphs.jsonl").write_text("\n".join(paragraphs), encoding="utf-8")
    path = folder / "questions.jsonl"
    path.write_text("\n".join(questions), encoding="utf-8")
    return str(path)


SAMPLE = Sample(write_open_qa, head=HEAD, presets=("none", "seprem", "all"))
