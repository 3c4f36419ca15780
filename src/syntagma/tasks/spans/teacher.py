"""Add a teacher's probabilities to the questions of a SQuAD file, for distillation.

A smaller reader that learns from them learns more than from the gold answers alone (Hinton et al.
2015, https://arxiv.org/abs/1503.02531): which other spans are nearly right, and how sure one can be
that there is no answer.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.tasks.spans.squad import read_squad

LEAST = 1e-3
"""Spans with smaller probabilities are left out; the rest is scaled to sum to 1."""
DIGITS = 5


def add_teacher(squad: str | Path, nbest: str | Path) -> dict[str, Any]:
    """Return the content of a SQuAD file with a ``teacher`` in each question.

    Args:
        squad: the file.
        nbest: the file ``*.nbest.json`` that ``syntagma predict`` writes for it.

    Raises:
        InputError: a file cannot be read, or the second does not belong to the first.
    """
    read_squad(squad)  # Raises if the file is not in this format.
    content: dict[str, Any] = read_json(squad)
    candidates = read_json(nbest)
    for article in content["data"]:
        for paragraph in article["paragraphs"]:
            for record in paragraph["qas"]:
                where = f"{nbest}: question {record['id']!r}"
                if not isinstance(candidates, dict) or record["id"] not in candidates:
                    raise InputError(
                        f"{where}: is missing; expected the candidates for {squad}, which "
                        f"`syntagma predict READER {squad} --out FILE.json` writes to "
                        f"FILE.nbest.json"
                    )
                rows = candidates[record["id"]]
                record["teacher"] = _teacher(rows, paragraph["context"], where)
    return content


def _teacher(rows: Any, passage: str, where: str) -> dict[str, Any]:
    """Turn the candidates of one question into spans with probabilities."""
    try:
        spans = [row for row in rows if "start" in row and row["probability"] >= LEAST]
        no_answer = next(row["probability"] for row in rows if "start" not in row)
        fits = all(passage.startswith(row["text"], row["start"]) for row in spans)
    except (TypeError, KeyError, StopIteration):
        fits = False
    if not fits:
        raise InputError(
            f"{where}: expected candidates with text, start and probability, and one without a "
            f"start for no answer, of this passage; write them again with `syntagma predict`"
        )
    total = math.fsum((no_answer, *(row["probability"] for row in spans)))
    return {
        "starts": [row["start"] for row in spans],
        "ends": [row["start"] + len(row["text"]) for row in spans],
        "probabilities": [round(row["probability"] / total, DIGITS) for row in spans],
        "no_answer": round(no_answer / total, DIGITS),
    }
