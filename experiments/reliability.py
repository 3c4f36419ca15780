"""Are the probabilities of a reader right? Questions in bins by probability, with what happened.

    python experiments/reliability.py default-reader data/v2-test.json

The two columns of each probability agree if it is well calibrated; the mean distance between them
is the calibration error that `syntagma evaluate` prints.
"""

from __future__ import annotations

import argparse

from syntagma.drawing.tables import aligned
from syntagma.errors import in_one_line
from syntagma.tasks.spans.metrics import exact_of
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.reliability import BINS, reliability
from syntagma.tasks.spans.squad import read_squad


def main() -> None:
    """Read the arguments, answer, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("reader")
    parser.add_argument("squad", help="a file in SQuAD's format")
    parser.add_argument("--bins", type=int, default=BINS)
    given = parser.parse_args()
    examples, _ = read_squad(given.squad)
    reader = Reader.from_pretrained(given.reader)
    answers = list(reader.stream((example.passage, example.question) for example in examples))
    right = [
        example.has_answers
        and bool(answer.candidates)
        and exact_of(answer.candidates[0].text, example.answers) == 1
        for example, answer in zip(examples, answers, strict=True)
    ]
    impossible = [example.is_impossible for example in examples]
    confidence = reliability([each.confidence for each in answers], right, bins=given.bins)
    no_answer = reliability([each.no_answer for each in answers], impossible, bins=given.bins)
    rows = [["", "confidence", "right", "no_answer", "had none"]]
    for number, (sure, none) in enumerate(zip(confidence, no_answer, strict=True), start=1):
        values = (sure.predicted, sure.observed, none.predicted, none.observed)
        rows.append([str(number), *(f"{value:.2f}" for value in values)])
    print(aligned(rows))


if __name__ == "__main__":
    with in_one_line():
        main()
