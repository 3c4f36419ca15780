"""How often the cell that a question names replaces a reader's best span, and which one is right.

    python experiments/made_documents.py --kinds 'grid-*' --count 600 --seed 77 --out data/g.json
    python experiments/named_cells.py data/g.json data/everyday-more.json

A span is right if it overlaps a gold answer.  `empty` counts the questions that name an empty cell
where the reader's best span is another one, and how many of these have no answer.
"""

from __future__ import annotations

import argparse
import math

from syntagma.drawing.tables import aligned
from syntagma.errors import in_one_line
from syntagma.tasks.spans.answers import Span
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.squad import SpanExample, read_squad
from syntagma.tasks.spans.tables import in_named_cell, names_empty_cell
from syntagma.tasks.spans.tidy import distinct_spans


def is_right(example: SpanExample, span: Span) -> bool:
    """Whether a span overlaps a gold answer."""
    return any(
        start < span.end and span.start < start + len(text)
        for text, start in zip(example.answers, example.answer_starts, strict=True)
    )


def main() -> None:
    """Read the arguments, ask the reader, and print a row for each file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", nargs="+", help="files in SQuAD's format")
    parser.add_argument("--reader", default="default-reader")
    given = parser.parse_args()
    reader = Reader.from_pretrained(given.reader)
    columns = ("questions", "replaced", "without an answer", "right before", "right after")
    rows = [["", *columns, "empty", "without an answer"]]
    for path in given.data:
        examples = read_squad(path)[0]
        asked = [(example.passage, example.question) for example in examples]
        counts = [len(examples), 0, 0, 0, 0, 0, 0]
        for example, found in zip(
            examples, reader.predictions(asked, threshold=math.inf), strict=True
        ):
            before = distinct_spans(example.passage, found.spans)
            after = in_named_cell(example.question, example.passage, before)
            if not before:
                continue
            best = (after[0].start, after[0].end)
            if names_empty_cell(example.question, example.passage, best):
                counts[5] += 1
                counts[6] += not example.has_answers
            if before[0] == after[0]:
                continue
            counts[1] += 1
            counts[2] += not example.has_answers
            counts[3] += is_right(example, before[0])
            counts[4] += is_right(example, after[0])
        rows.append([path, *map(str, counts)])
    print(aligned(rows))


if __name__ == "__main__":
    with in_one_line():
        main()
