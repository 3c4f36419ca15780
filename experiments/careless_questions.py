"""How much of its F1 does a reader keep if questions are typed carelessly?

    python experiments/careless_questions.py data/squad/dev-v1.1.json.gz --reader default-reader

The same questions are asked twice: as they are, and as people type them, by each rule of
`make_data.py typed-questions`.  A question to which a rule does not apply is left out of its row.
F1 is that of the best span, with abstaining off; `none` is how often the reader says that there is
no answer, in its default mode.  Intervals are those of the cluster bootstrap over articles.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from syntagma.analysis.cluster_bootstrap import cluster_sums, resample_clusters
from syntagma.analysis.intervals import percentile_interval
from syntagma.datasets.typed_questions import KINDS, typed
from syntagma.drawing.tables import aligned
from syntagma.errors import InputError, in_one_line
from syntagma.outputs import write_json
from syntagma.tasks.comparison.metric_sums import Sums, share_of_sums
from syntagma.tasks.spans.metrics import f1_of
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.squad import SpanExample, read_squad

KEPT = Sums(("typed", "clean"), share_of_sums)
"""F1 of typed questions, in per cent of that of the same questions as they are."""


class Reading(NamedTuple):
    """What a reader makes of a question.

    Args:
        f1: F1 of its best span, from 0 to 1.
        is_none: whether it says that there is no answer.
    """

    f1: float
    is_none: bool


class Row(NamedTuple):
    """How a reader does on questions of one kind, in per cent.

    Args:
        questions: number of questions.
        clean: F1 on the questions as they are.
        typed: F1 on the questions as people type them.
        kept: the second in per cent of the first; ``None`` if that is 0.
        low: lower limit of the 95 % interval of what is kept; ``None`` with too few articles.
        high: its upper limit.
        none_clean: how often the reader says none to the questions as they are.
        none_typed: how often to those that people type.
    """

    questions: int
    clean: float
    typed: float
    kept: float | None
    low: float | None
    high: float | None
    none_clean: float
    none_typed: float

    def cells(self) -> list[str]:
        """Format the row for a table."""
        interval = "–" if self.low is None else f"{self.low:.1f} … {self.high:.1f}"
        kept = "–" if self.kept is None else f"{self.kept:.1f}"
        f1 = [f"{value:.1f}" for value in (self.clean, self.typed)]
        none = [f"{value:.1f}" for value in (self.none_clean, self.none_typed)]
        return [f"{self.questions:,}", *f1, kept, interval, *none]


HEADER = ["", "questions", "F1", "typed", "kept, %", "95 %", "none, %", "typed"]


def read(reader: Reader, examples: Sequence[SpanExample]) -> list[Reading]:
    """Answer some questions."""
    answers = reader.stream((example.passage, example.question) for example in examples)
    found = []
    for example, answer in zip(examples, answers, strict=True):
        best = answer.candidates[0].text if answer.candidates else ""
        f1 = f1_of(best, example.answers, rules="1.1")
        found.append(Reading(f1, answer.outcome == "none"))
    return found


def compare(articles: Sequence[str], clean: Sequence[Reading], other: Sequence[Reading]) -> Row:
    """Compare two readings of the same questions.

    Args:
        articles: the article of each question.
        clean: of the questions as they are.
        other: of the questions as people type them.
    """
    names = sorted(set(articles))
    owner = np.array([names.index(article) for article in articles])
    f1 = np.array([[theirs.f1, ours.f1] for ours, theirs in zip(clean, other, strict=True)])
    drawn = resample_clusters([cluster_sums(f1, owner, len(names))], KEPT)[0]
    interval = percentile_interval(drawn, len(names))
    typed_f1, clean_f1 = map(float, 100 * f1.mean(axis=0))
    return Row(
        questions=len(f1),
        clean=clean_f1,
        typed=typed_f1,
        kept=100 * typed_f1 / clean_f1 if clean_f1 else None,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        none_clean=100 * float(np.mean([each.is_none for each in clean])),
        none_typed=100 * float(np.mean([each.is_none for each in other])),
    )


def compare_kinds(reader: Reader, examples: Sequence[SpanExample], seed: int) -> dict[str, Row]:
    """Return the row of each kind.

    Args:
        reader: answers.
        examples: questions that have an answer.
        seed: of what is random in typing.
    """
    draw = random.Random(seed)
    clean = read(reader, examples)
    rows = {}
    for kind in KINDS:
        asked, before = [], []
        for example, reading in zip(examples, clean, strict=True):
            question = typed(example.question, kind, draw)
            if question is not None:
                asked.append(replace(example, question=question))
                before.append(reading)
        if asked:
            articles = [example.title for example in asked]
            rows[kind] = compare(articles, before, read(reader, asked))
    return rows


def main() -> None:
    """Read the arguments, answer, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("squad", help="a file in SQuAD's format")
    parser.add_argument("--reader", default="default-reader")
    parser.add_argument("--questions", type=int, default=1_000, help="drawn at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    given = parser.parse_args()
    answerable = [example for example in read_squad(given.squad)[0] if example.has_answers]
    if not answerable:
        raise InputError(f"{given.squad}: expected questions with an answer, got none")
    n_drawn = min(given.questions, len(answerable))
    examples = random.Random(given.seed).sample(answerable, n_drawn)
    rows = compare_kinds(Reader.from_pretrained(given.reader), examples, given.seed)
    print(aligned([HEADER, *([kind, *row.cells()] for kind, row in rows.items())]))
    if given.json:
        kinds = {kind: row._asdict() for kind, row in rows.items()}
        write_json(given.json, {"reader": given.reader, "kinds": kinds})


if __name__ == "__main__":
    with in_one_line():
        main()
