"""Write generated examples in SQuAD 2.0's format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from syntagma.tasks.spans.squad import SpanExample


def squad_data(examples: Iterable[SpanExample]) -> dict[str, Any]:
    """Return examples as the content of a SQuAD 2.0 file.

    Examples about the same passage of an article are put together, at the place of the first.
    Unlabelled questions stay unlabelled: they have no ``answers``. What a teacher thinks of a
    question is kept.
    """
    records: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for example in examples:
        record: dict[str, Any] = {"id": example.id, "question": example.question}
        if example.is_labelled:
            record["is_impossible"] = example.is_impossible
            record["answers"] = [
                {"text": text, "answer_start": start}
                for text, start in zip(example.answers, example.answer_starts, strict=True)
            ]
        if example.teacher is not None:
            record["teacher"] = asdict(example.teacher)
        records.setdefault((example.title, example.passage), []).append(record)
    articles: dict[str, list[dict[str, Any]]] = {}
    for (title, passage), questions in records.items():
        articles.setdefault(title, []).append({"context": passage, "qas": questions})
    data = [{"title": title, "paragraphs": paragraphs} for title, paragraphs in articles.items()]
    return {"version": "v2.0", "data": data}
