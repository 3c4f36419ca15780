"""How well keywords, meaning, and both find the paragraph that a question is about.

    python experiments/retrieval.py recall data/openqa --out runs/recall.json
    python experiments/retrieval.py questions data/openqa --articles 0 7 --out runs/fit.jsonl
    python experiments/retrieval.py questions data/openqa --articles 7 48 --out runs/test.jsonl
    syntagma calibrate accurate-reader runs/fit.jsonl --out runs/reader
    syntagma evaluate runs/reader runs/test.jsonl --task open_qa
    python experiments/retrieval.py answers data/openqa --every 8 --out runs/answers.json

``data/openqa`` has ``paragraphs.jsonl.gz`` and ``dev.jsonl.gz``.  ``recall`` prints in how many
questions the paragraph that it was written about is among the first k of all paragraphs.
``questions`` writes questions with the paragraphs that were found for them, and their scores.  For
half of them, all paragraphs of their article are left out, so that the rest has no answer; those
that happen to contain one all the same are dropped.  ``answers`` reads the paragraphs that were
found in each way, and prints how many of all questions are answered rightly.

The vectors of the paragraphs are kept in a file beside the output: computing them takes minutes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np

from syntagma.drawing.tables import aligned
from syntagma.encoders.reference import find_model
from syntagma.errors import InputError, in_one_line
from syntagma.files import read_lines
from syntagma.json_values import parse_json
from syntagma.outputs import write_file, write_json, write_text
from syntagma.retrieval.bm25 import KeywordScorer
from syntagma.retrieval.ranking import METHODS, Method, Ranker
from syntagma.retrieval.store import searched
from syntagma.retrieval.terms import TermFinder
from syntagma.retrieval.vectors import SentenceEncoder
from syntagma.tasks.examples import fingerprint
from syntagma.tasks.open_qa.reader import OpenReader
from syntagma.tasks.spans.metrics import exact_of, f1_of, normalise

CUTOFFS = (1, 5, 10, 20)
CHUNK = 64


class Collection(NamedTuple):
    """Paragraphs with the articles that they are from.

    Args:
        ids: of the paragraphs.
        texts: of the paragraphs.
        titles: of their articles.
    """

    ids: list[str]
    texts: list[str]
    titles: list[str]


class Question(NamedTuple):
    """A question with the paragraph that it was written about.

    Args:
        id: of the question.
        text: of the question.
        answers: the gold answers.
        gold: number of the paragraph in the collection.
    """

    id: str
    text: str
    answers: list[str]
    gold: int


def read_collection(folder: Path) -> Collection:
    """Read the paragraphs."""
    rows = [parse_json(line) for line in read_lines(folder / "paragraphs.jsonl.gz")]
    return Collection(
        [str(row["pid"]) for row in rows],
        [row["text"] for row in rows],
        [row["title"].replace("_", " ") for row in rows],
    )


def read_questions(path: Path, collection: Collection) -> list[Question]:
    """Read the questions, in the order of the titles of their articles."""
    numbers = {id_: number for number, id_ in enumerate(collection.ids)}
    found = [
        Question(row["id"], row["question"], row["answers"], numbers[str(row["gold_pid"])])
        for row in map(parse_json, read_lines(path))
    ]
    return sorted(found, key=lambda question: collection.titles[question.gold])


def build_ranker(collection: Collection, encoder: str, kept: Path) -> Ranker:
    """Index the paragraphs, as `syntagma index` does."""
    texts = [
        searched(title, "", text)
        for title, text in zip(collection.titles, collection.texts, strict=True)
    ]
    keywords = KeywordScorer.build(texts, TermFinder())
    by = SentenceEncoder(encoder)
    path = kept / f"vectors-{find_model(encoder).digest[:12]}-{fingerprint(texts)[:12]}.npy"
    if not path.is_file():
        vectors = by.encode(texts).astype(np.float16)
        with write_file(path) as draft, open(draft, "wb") as file:
            np.save(file, vectors)
    return Ranker(keywords, np.load(path), by)


def ranks(
    ranker: Ranker, questions: Sequence[Question], by: Method, *, most: int = max(CUTOFFS)
) -> Iterator[int]:
    """Yield the rank of each question's gold paragraph, from 0; ``most`` if it is not found."""
    for first in range(0, len(questions), CHUNK):
        part = questions[first : first + CHUNK]
        for question, found in zip(
            part, ranker.rank([each.text for each in part], top=most, by=by), strict=True
        ):
            place = np.flatnonzero(found.numbers == question.gold)
            yield int(place[0]) if len(place) else most


def recall(given: argparse.Namespace) -> None:
    """Print how often the gold paragraph is among the first."""
    collection = read_collection(given.data)
    questions = read_questions(given.data / "dev.jsonl.gz", collection)[:: given.every]
    ranker = build_ranker(collection, given.encoder, given.out.parent)
    rows = [["", *(f"recall@{k}" for k in CUTOFFS)]]
    scores: dict[str, dict[str, float]] = {}
    for by in METHODS:
        found = np.array(list(ranks(ranker, questions, by)))
        shares = {f"recall@{k}": 100 * float((found < k).mean()) for k in CUTOFFS}
        scores[by] = shares
        rows.append([by, *(f"{share:.1f}" for share in shares.values())])
    print(f"{len(questions)} questions, {len(collection.ids)} paragraphs")
    print(aligned(rows))
    about = {"questions": len(questions), "paragraphs": len(collection.ids)}
    write_json(given.out, about | {"encoder": given.encoder, "recall": scores})


def without_article(
    numbers: Sequence[int], collection: Collection, question: Question
) -> list[int]:
    """Return paragraphs that are not from the question's article."""
    title = collection.titles[question.gold]
    return [number for number in numbers if collection.titles[number] != title]


def chosen_questions(
    given: argparse.Namespace, collection: Collection
) -> tuple[list[Question], set[str]]:
    """Return every n-th question about the chosen articles, and the titles of these articles."""
    questions = read_questions(given.data / "dev.jsonl.gz", collection)
    titles = sorted({collection.titles[question.gold] for question in questions})
    first, last = given.articles
    chosen = set(titles[first:last])
    if not chosen:
        raise InputError(f"--articles {first} {last}: there are {len(titles)} articles")
    about = [each for each in questions if collection.titles[each.gold] in chosen]
    return about[:: given.every], chosen


def answers(given: argparse.Namespace) -> None:
    """Print exact match and F1 if a reader must answer from the paragraphs found in each way."""
    collection = read_collection(given.data)
    questions, _ = chosen_questions(given, collection)
    ranker = build_ranker(collection, given.encoder, given.out.parent)
    reader = OpenReader.from_pretrained(given.reader)
    rows = [["found by", f"recall@{given.top}", "EM", "F1"]]
    scores: dict[str, dict[str, float]] = {}
    for by in METHODS:
        found = [
            ranked.numbers.tolist()
            for first in range(0, len(questions), CHUNK)
            for ranked in ranker.rank(
                [each.text for each in questions[first : first + CHUNK]], top=given.top, by=by
            )
        ]
        texts = ([collection.texts[number] for number in numbers] for numbers in found)
        asked = ((each.text, read) for each, read in zip(questions, texts, strict=True))
        given_answers = [prediction.text for prediction in reader.predictions(asked)]
        pairs = list(zip(questions, given_answers, strict=True))
        scores[by] = {
            f"recall@{given.top}": 100 * fmean(
                each.gold in numbers for each, numbers in zip(questions, found, strict=True)
            ),
            "exact": 100 * fmean(exact_of(text, each.answers, rules="1.1") for each, text in pairs),
            "f1": 100 * fmean(f1_of(text, each.answers, rules="1.1") for each, text in pairs),
        }  # fmt: skip
        rows.append([by, *(f"{value:.1f}" for value in scores[by].values())])
    print(f"{len(questions)} questions, {given.reader}")
    print(aligned(rows))
    write_json(given.out, {"questions": len(questions), "reader": given.reader, "scores": scores})


def write_questions(given: argparse.Namespace) -> None:
    """Write questions with the paragraphs that were found for them."""
    collection = read_collection(given.data)
    questions, chosen = chosen_questions(given, collection)
    ranker = build_ranker(collection, given.encoder, given.out.parent)
    largest = max(collection.titles.count(title) for title in chosen)
    lines, counts = [], {"with an answer": 0, "foreign": 0, "dropped": 0}
    for begin in range(0, len(questions), CHUNK):
        part = questions[begin : begin + CHUNK]
        ranked = ranker.rank([each.text for each in part], top=given.top + largest, by=given.by)
        for place, (question, found) in enumerate(zip(part, ranked, strict=True)):
            foreign = bool((begin + place) % 2)
            numbers = found.numbers.tolist()
            kept = without_article(numbers, collection, question) if foreign else numbers
            kept = kept[: given.top]
            wanted = [normalise(answer) for answer in question.answers]
            holds = any(
                answer and answer in normalise(collection.texts[number])
                for number in kept
                for answer in wanted
            )
            if foreign and holds:
                counts["dropped"] += 1
                continue
            counts["foreign" if foreign else "with an answer"] += 1
            scores = dict(zip(numbers, found.scores.tolist(), strict=True))
            lines.append(
                {
                    "id": question.id,
                    "question": question.text,
                    # A question whose paragraph was not found cannot be answered either.
                    "answers": question.answers if holds else [],
                    "retrieved": [collection.ids[number] for number in kept],
                    "scores": [scores[number] for number in kept],
                }
            )
    print(counts)
    write_text(given.out, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def main() -> None:
    """Read the arguments, and run one of the three."""
    top = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = top.add_subparsers(required=True)
    for name, run in (
        ("recall", recall), ("questions", write_questions), ("answers", answers)
    ):  # fmt: skip
        command = commands.add_parser(name, help=run.__doc__)
        command.add_argument("data", type=Path)
        command.add_argument("--out", type=Path, required=True)
        command.add_argument("--encoder", default="default")
        command.add_argument("--every", type=int, default=1, help="take every n-th question")
        command.set_defaults(run=run)
        if name != "recall":
            command.add_argument("--articles", type=int, nargs=2, default=(0, 10**6))
            command.add_argument("--top", type=int, default=10)
        if name == "answers":
            command.add_argument("--reader", default="default-reader")
        if name == "questions":
            command.add_argument("--by", choices=METHODS, default="fused")
    given = top.parse_args()
    given.run(given)


if __name__ == "__main__":
    with in_one_line():
        main()
