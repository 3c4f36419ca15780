"""A small SQuAD data set: each question quotes a sentence, whose last word is the answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from syntagma.tasks.sample import SENTENCES, Sample


def write_squad(folder: Path, copies: int) -> str:
    """Write questions in the format of SQuAD 2.0, one in seven without an answer."""
    paragraphs = []
    for number in range(copies):
        passage = " ".join(SENTENCES[:6])
        questions: list[dict[str, Any]] = []
        for which, text in enumerate(SENTENCES[:6]):
            answer = text.split()[-1].rstrip(".?!")
            start = passage.index(text) + text.rindex(answer)
            questions.append(
                {
                    "id": f"{number}-{which}",
                    "question": "What ends: " + " ".join(text.split()[:3]) + "?",
                    "answers": [{"text": answer, "answer_start": start}],
                    "is_impossible": False,
                }
            )
        questions.append(
            {"id": f"{number}-no", "question": "Who sang?", "answers": [], "is_impossible": True}
        )
        paragraphs.append({"context": f"{passage}{' ' * number}", "qas": questions})
    data = {"version": "v2.0", "data": [{"title": "harbour", "paragraphs": paragraphs}]}
    path = folder / "harbour.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return str(path)


HEAD = {"max_length": 96, "doc_stride": 32, "max_question_length": 24}
SAMPLE = Sample(write_squad, head=HEAD)
