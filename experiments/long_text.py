"""A long text is read in part for each question: what that changes, and what it saves.

    python experiments/long_text.py data/squad/dev-v1.1.json.gz --reader default-reader

Whole articles of a SQuAD file are joined to one text of about `--words` words, each paragraph once.
Questions of these articles are answered from the whole of it (`exhaustive`), and from the windows
that are chosen for each question.  Answers agree if they are the same after SQuAD's normalisation,
or if both are none.  The text of the first question is cut, ranked and, for a reader with guides,
parsed; the others are timed.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from syntagma.errors import InputError, in_one_line
from syntagma.outputs import write_json
from syntagma.tasks.spans.answers import Answer
from syntagma.tasks.spans.metrics import exact_of, f1_of, normalise
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.squad import SpanExample, read_squad


def long_text(examples: Sequence[SpanExample], n_words: int) -> tuple[str, list[SpanExample]]:
    """Join paragraphs to a text of some length; return it with the questions about it."""
    paragraphs: dict[str, None] = {}
    length = 0
    kept = []
    for example in examples:
        if example.passage not in paragraphs:
            if length >= n_words:
                break
            paragraphs[example.passage] = None
            length += len(example.passage.split())
        kept.append(example)
    return "\n\n".join(paragraphs), kept


def agree(one: Answer, other: Answer) -> bool:
    """Whether two answers are the same to a user."""
    if (one.outcome == "none") != (other.outcome == "none"):
        return False
    return normalise(one.text) == normalise(other.text)


def times(seconds: Mapping[bool, Sequence[float]]) -> dict[str, float]:
    """Return the seconds of the first question and, if there are others, the medians of these.

    Args:
        seconds: of each question, by whether the whole text was read.
    """
    others = {"next_question_s": seconds[False][1:], "exhaustive_s": seconds[True][1:]}
    medians = {name: statistics.median(values) for name, values in others.items() if values}
    return {"first_question_s": seconds[False][0]} | medians


def main() -> None:
    """Read the arguments, answer, and print a table."""
    given = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    given.add_argument("squad")
    given.add_argument("--reader", default="default-reader")
    given.add_argument("--words", type=int, default=48_000)
    given.add_argument("--questions", type=int, default=100)
    given.add_argument("--out", type=Path, default=Path("runs/long_text.json"))
    options = given.parse_args()
    if options.questions < 1:
        raise InputError(f"--questions: expected at least 1, got {options.questions}")
    examples, _ = read_squad(options.squad)
    text, about = long_text(examples, options.words)
    step = max(len(about) // options.questions, 1)
    asked = about[::step][: options.questions]
    reader = Reader.from_pretrained(options.reader)
    seconds: dict[bool, list[float]] = {False: [], True: []}
    answers: dict[bool, list[Answer]] = {False: [], True: []}
    for example in asked:
        for exhaustive in (False, True):
            start = time.perf_counter()
            answers[exhaustive].append(reader.answer(text, example.question, exhaustive=exhaustive))
            seconds[exhaustive].append(time.perf_counter() - start)
    same = [agree(*pair) for pair in zip(answers[False], answers[True], strict=True)]
    found: dict[str, float] = {
        "words": len(text.split()),
        "questions": len(asked),
        "windows": answers[True][0].prediction.n_windows,
        "windows_read": answers[False][0].prediction.n_windows,
        **times(seconds),
        "agreement": 100 * statistics.fmean(same),
    }
    for exhaustive, name in ((False, "chosen"), (True, "exhaustive")):
        best = [answer.best for answer in answers[exhaustive]]
        texts = ["" if span is None else span.text for span in best]
        gold = [example.answers for example in asked]
        found[f"exact_{name}"] = 100 * statistics.fmean(map(exact_of, texts, gold))
        found[f"f1_{name}"] = 100 * statistics.fmean(map(f1_of, texts, gold))
    for name, value in found.items():
        print(f"{name:<18} {value:10.2f}")
    write_json(options.out, {"reader": options.reader} | found)


if __name__ == "__main__":
    with in_one_line():
        main()
