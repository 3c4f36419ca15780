"""What training on some hundred questions of a new kind changes, and what it forgets of SQuAD.

    python experiments/own_questions.py REVIEWS-train.json REVIEWS-dev.json \
        data/squad/dev-v1.1.json.gz --out runs/own_questions

Of the questions in the first file some are drawn, passage by passage: 50, 200 and 500, the larger
numbers including the smaller.  A fifth of them chooses the threshold and fits the two
probabilities; a reader that ships is trained on the rest by `reader_yours.yaml`.  A reader that is
only calibrated on all of the 50 stands beside it.  All are scored on the second file and on some
questions of SQuAD.  F1 is that of the best span with abstaining off; `best F1` that of SQuAD 2.0 at
the threshold that is best on these questions.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from syntagma.datasets.squad_format import squad_data
from syntagma.drawing.tables import aligned
from syntagma.errors import InputError, in_one_line
from syntagma.evaluation import evaluate
from syntagma.files import read_json
from syntagma.outputs import write_json
from syntagma.tasks.experiment import load_experiment
from syntagma.tasks.spans.calibrate_reader import calibrate_reader
from syntagma.tasks.spans.squad import SpanExample, read_squad
from syntagma.training.run import train

SETTINGS = Path(__file__).parent / "reader_yours.yaml"
HELD = 5
"""One passage of so many chooses the threshold."""
COLUMNS = {
    "F1": "own.HasAns_f1",
    "best F1": "own.best_f1",
    "right": "own.balanced.HasAns_right",
    "wrong": "own.balanced.HasAns_wrong",
    "none of none": "own.balanced.NoAns_none",
    "answer of none": "own.balanced.NoAns_answer",
    "error": "own.ece_confidence",
    "of no answer": "own.ece_no_answer",
    "SQuAD EM": "squad.exact",
    "SQuAD F1": "squad.f1",
}


def draw(examples: Sequence[SpanExample], count: int, seed: int) -> list[list[SpanExample]]:
    """Draw whole passages until there are enough questions; return those of each passage."""
    passages: dict[str, list[SpanExample]] = {}
    for example in examples:
        passages.setdefault(example.passage, []).append(example)
    order = random.Random(seed).sample(list(passages.values()), len(passages))
    drawn: list[list[SpanExample]] = []
    for questions in order:
        drawn.append(questions)
        if sum(map(len, drawn)) >= count:
            return drawn
    raise InputError(f"expected at least {count} questions, got {len(examples)}; ask for fewer")


def write(path: Path, groups: Sequence[Sequence[SpanExample]]) -> str:
    """Write questions in SQuAD's format; return the name of the file."""
    write_json(path, squad_data(example for group in groups for example in group))
    return str(path)


def score(reader: str, own: str, squad: str) -> dict[str, float]:
    """Score a reader on its new questions and on those of SQuAD."""
    found: dict[str, Any] = {}
    for name, data in (("own", own), ("squad", squad)):
        metrics = evaluate(reader, [data], threshold=float("inf"))
        found |= {f"{name}.{metric}": value for metric, value in metrics.items()}
    return {metric: found[metric] for metric in COLUMNS.values()}


def adapted(reader: str, groups: Sequence[Sequence[SpanExample]], folder: Path) -> str:
    """Train a reader on some questions, calibrate it, and return its folder."""
    learned = write(folder / "mine.json", [g for n, g in enumerate(groups) if n % HELD])
    held = write(folder / "my-dev.json", groups[::HELD])
    wanted = [f"encoder={reader}", f"data.train=[{learned}]", f"data.dev={held}"]
    train(load_experiment(SETTINGS, wanted), folder / "reader")
    try:
        calibrate_reader(str(folder / "reader"), [held])
    except InputError as error:  # Too few with or without an answer.
        print(f"{folder}: not calibrated: {error}")
    return str(folder / "reader")


def compare(given: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Return the scores of each reader; those that are in the folder already are not made again."""
    out: Path = given.out
    out.mkdir(parents=True, exist_ok=True)
    saved = out / "scores.json"
    scores: dict[str, dict[str, float]] = read_json(saved) if saved.exists() else {}
    examples = read_squad(given.train)[0]
    squad = random.Random(given.seed).sample(read_squad(given.squad)[0], given.questions)
    squad_file = write(out / "squad.json", [squad])

    def add(name: str, reader: str) -> None:
        scores[name] = score(reader, given.dev, squad_file)
        write_json(saved, scores)

    if "as it ships" not in scores:
        add("as it ships", given.reader)
    for count in given.counts:
        groups = draw(examples, count, given.seed)
        folder = out / str(count)
        folder.mkdir(exist_ok=True)
        if (name := f"calibrated on {count}") not in scores and count == min(given.counts):
            asked = write(folder / "all.json", groups)
            calibrate_reader(given.reader, [asked], out=folder / "calibrated")
            add(name, str(folder / "calibrated"))
        if (name := f"trained on {count}") not in scores:
            add(name, adapted(given.reader, groups, folder))
    return scores


def main() -> None:
    """Read the arguments, train, score, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("train", help="a file in SQuAD's format, from which questions are drawn")
    parser.add_argument("dev", help="another one, on which all readers are scored")
    parser.add_argument("squad", help="SQuAD 1.1 dev")
    parser.add_argument("--reader", default="default-reader")
    parser.add_argument("--counts", type=int, nargs="+", default=[50, 200, 500])
    parser.add_argument("--questions", type=int, default=2_000, help="of SQuAD, drawn at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/own_questions"))
    scores = compare(parser.parse_args())
    rows = [[name, *(f"{row[of]:.2f}" for of in COLUMNS.values())] for name, row in scores.items()]
    print(aligned([["", *COLUMNS], *rows]))


if __name__ == "__main__":
    with in_one_line():
        main()
