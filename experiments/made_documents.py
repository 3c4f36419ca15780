"""Make everyday documents with questions, as training data for a reader that answers with spans.

    python experiments/made_documents.py --count 6000 --seed 1 --out data/made-documents.json
    python experiments/made_documents.py --kinds 'grid-*' --count 6000 --out data/made-grids.json

SQuAD has paragraphs of an encyclopedia. People also ask timetables, leases, recipes and minutes,
where the answer is a cell, a line or a clause among many of the same type. All is drawn from the
word lists and wordings in ``document_kinds``; the same seed gives the same file, in SQuAD 2.0's
format. About a third of the questions have no answer in the text, though it looks as if.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from document_kinds.catalogue import ALL_KINDS, KINDS
from document_kinds.document import Passage, worded
from document_kinds.draw import Draw

from syntagma.errors import InputError, in_one_line
from syntagma.outputs import write_text

SHORTEST, LONGEST = 40, 350
FEWEST, MOST = 3, 8


def draw_passage(kind: str, source: random.Random) -> Passage:
    """Return a document of 40 to 350 words with at least three questions."""
    while True:
        passage = ALL_KINDS[kind](Draw(source))
        n_words = len(passage.text.split())
        if SHORTEST <= n_words <= LONGEST and len(passage.answerable) >= FEWEST:
            return passage


class Maker:
    """Draws documents, and of each some questions; keeps the share without an answer."""

    def __init__(
        self, seed: int, kinds: Sequence[str] = tuple(KINDS), unanswerable: float = 0.35
    ) -> None:
        self.all_kinds = sorted(kinds)
        self.random = random.Random(seed)
        self.unanswerable = unanswerable
        self.owed = 0.0
        self.kinds: list[str] = []

    def document(self, number: int, most: int) -> dict[str, Any]:
        """Return a document with up to ``most`` questions."""
        if not self.kinds:
            self.kinds = self.random.sample(self.all_kinds, len(self.all_kinds))
        kind = self.kinds.pop()
        passage = draw_passage(kind, self.random)
        n_questions = min(self.random.randint(FEWEST, MOST), most)
        # Some documents have more of them and some fewer; what is lacking is made up for later.
        wanted = n_questions * self.unanswerable + self.owed
        n_without = round(wanted + self.random.uniform(-1, 1))
        n_without = max(0, min(n_without, n_questions, len(passage.unanswerable)))
        n_with = min(n_questions - n_without, len(passage.answerable))
        self.owed = (n_with + n_without) * self.unanswerable + self.owed - n_without
        chosen = [
            *self.random.sample(passage.answerable, n_with),
            *self.random.sample(passage.unanswerable, n_without),
        ]
        self.random.shuffle(chosen)
        records: list[dict[str, Any]] = []
        for question in chosen:
            text = worded(question, passage, self.random)
            if text in (record["question"] for record in records):
                continue
            answers = []
            if question.key is not None:
                start, answer = passage.places[question.key]
                answers = [{"text": answer, "answer_start": start}]
            records.append(
                {
                    "id": f"{kind}-{number}-{len(records) + 1}",
                    "question": text,
                    "answers": answers,
                    "is_impossible": not answers,
                }
            )
        title = f"{kind.capitalize()} {number}"
        return {"title": title, "paragraphs": [{"context": passage.text, "qas": records}]}


def make_documents(count: int, seed: int, kinds: Sequence[str] = tuple(KINDS)) -> dict[str, Any]:
    """Return a dataset of ``count`` questions about documents of some kinds."""
    maker = Maker(seed, kinds)
    documents: list[dict[str, Any]] = []
    while count > 0:
        document = maker.document(len(documents) + 1, count)
        count -= len(document["paragraphs"][0]["qas"])
        documents.append(document)
    return {"version": "made-documents-1", "data": documents}


def main() -> None:
    """Write the documents."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--out", type=Path, required=True, help="a JSON file in SQuAD's format")
    arguments.add_argument("--count", type=int, default=6000, help="questions")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--kinds", help="a pattern, such as 'grid-*'; all but these by default")
    given = arguments.parse_args()
    kinds = fnmatch.filter(ALL_KINDS, given.kinds) if given.kinds else list(KINDS)
    if not kinds:
        raise InputError(f"--kinds: {given.kinds} is none of {', '.join(ALL_KINDS)}")
    made = make_documents(given.count, given.seed, kinds)
    write_text(given.out, json.dumps(made, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    with in_one_line():
        main()
