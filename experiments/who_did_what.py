"""Do readers know who did what to whom? Questions with a sentence that exchanges the roles.

    python experiments/who_did_what.py make data/squad/dev-v1.1.json.gz --out runs/roles.json
    python experiments/who_did_what.py score default-reader runs/roles.json --json runs/roles-d.json
    python experiments/who_did_what.py plot runs/roles-*.json --out roles.svg

`make` takes questions of a SQuAD file that ask who did something to somebody that they name, or to
whom somebody did it, and appends to the passage one sentence about the same event with a
participant from another article (`role_distractors/sentences.py` has the kinds and controls).
`score` says how many points of exact match and F1 a reader loses by each kind, and `plot` draws it.
"""

from __future__ import annotations

import argparse
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from role_distractors.roles import Item, asked, find_item
from role_distractors.sentences import (
    CONTROL,
    KINDS,
    choose,
    distractors,
    holds_answer,
    other_sentence,
)

from syntagma import segment
from syntagma.analysis.cluster_bootstrap import MEAN, cluster_sums, resample_clusters
from syntagma.analysis.intervals import percentile_interval
from syntagma.datasets.squad_format import squad_data
from syntagma.drawing.intervals import DrawnInterval, draw_intervals
from syntagma.drawing.plotting import draw_panels
from syntagma.encoders.reference import find_model
from syntagma.errors import InputError, in_one_line
from syntagma.files import read_json
from syntagma.outputs import write_json
from syntagma.parse.sources.cache import ParseCache, cache_folder
from syntagma.parse.sources.load import identify, load_source
from syntagma.tasks.spans.metrics import judge
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.squad import SpanExample, best_text, read_squad

EXCHANGED = tuple(kind for kind in KINDS if not kind.startswith("other_"))
PLAIN = "none"
"""The kind of a question without a distractor."""
VERB = re.compile(r"\b(is|are|was|were|has|have|had|can|could|did|does|will|would|\w+ed)\b")
"""A text that was cut at an abbreviation often has none of these."""
SHORTEST = 4
"""Fewest words of a sentence of the article that serves as a control."""


def find_items(
    examples: Sequence[SpanExample], parser: str, limit: int | None, seed: int
) -> list[Item]:
    """Find the questions that ask for one role of an event and name the other.

    Args:
        examples: questions with answers.
        parser: a parse source.
        limit: look at only this many of them, chosen at random.
        seed: of this choice.
    """
    cache = ParseCache(load_source(parser), cache_folder())
    wanted = []
    questions = [example.question for example in examples]
    for example, columns in zip(examples, cache.parsed(questions), strict=True):
        parses = columns.parses(example.question)
        found = asked(example.question, parses[0]) if len(parses) == 1 else None
        if found is not None:
            wanted.append((example, found))
    if limit is not None and limit < len(wanted):
        wanted = random.Random(seed).sample(wanted, limit)
    passages = list(dict.fromkeys(example.passage for example, _ in wanted))
    parsed = dict(zip(passages, cache.parsed(passages), strict=True))
    items = []
    for example, found in wanted:
        item = find_item(example, found, parsed[example.passage].parses(example.passage))
        if item is not None:
            items.append(item)
    return items


class Maker:
    """Appends distractors to the passages of questions."""

    def __init__(self, items: Sequence[Item], examples: Sequence[SpanExample], seed: int) -> None:
        self.items = items
        self.random = random.Random(seed)
        self.passages: dict[str, dict[str, None]] = defaultdict(dict)
        for example in examples:
            self.passages[example.title][example.passage] = None
        self.sentences: dict[str, list[str]] = {}

    def variants(self, item: Item) -> dict[str, str]:
        """Return a distractor of each kind; none if one of them cannot be made."""
        chosen = choose(item, self.items, self.random)
        if chosen is None:
            return {}
        made = distractors(item, *chosen)
        length = len(made["exchanged"].split())
        other = other_sentence(item, list(self.elsewhere(item.example)), length, self.random)
        if other is None or any(holds_answer(item, text) for text in made.values()):
            return {}
        return made | {"other_sentence": other}

    def elsewhere(self, example: SpanExample) -> Iterator[str]:
        """Yield the whole sentences of the other passages of an article."""
        for passage in self.passages[example.title]:
            if passage == example.passage:
                continue
            if passage not in self.sentences:
                self.sentences[passage] = whole_sentences(passage)
            yield from self.sentences[passage]

    def examples(self) -> Iterator[SpanExample]:
        """Yield each question without and with its distractors; ids end in the kind."""
        for item in self.items:
            variants = self.variants(item)
            if not variants:
                continue
            example = item.example
            yield replace(example, id=f"{example.id}-{PLAIN}")
            for kind in KINDS:
                passage = f"{example.passage.rstrip()} {variants[kind]}"
                yield replace(example, id=f"{example.id}-{kind}", passage=passage)


def whole_sentences(passage: str) -> list[str]:
    """Return the sentences with a verb that begin with a capital and end with a full stop."""
    texts = [passage[sentence.starts[0] : sentence.ends[-1]] for sentence in segment(passage)]
    return [
        text
        for text in texts
        if text[0].isupper()
        and text.endswith(".")
        and len(text.split()) >= SHORTEST
        and VERB.search(text)
    ]


def make(given: argparse.Namespace) -> None:
    """Write the questions, without and with distractors, and print how many there are."""
    examples, _ = read_squad(given.squad)
    answerable = [example for example in examples if example.has_answers]
    items = find_items(answerable, given.parser, given.limit, given.seed)
    if given.names:
        items = [item for item in items if item.named.is_name and item.answer.is_name]
    made = list(Maker(items, answerable, given.seed).examples())
    if not made:
        raise InputError(
            f"{given.squad}: none of the {len(answerable)} questions names one participant of an "
            f"event and asks for the other; give a file with more questions"
        )
    write_json(given.out, squad_data(made), indent=None)
    asks = Counter(item.asked for item in items)
    kept = len(made) // (1 + len(KINDS))
    print(f"{len(answerable):,} questions, {len(items):,} about one role of an event: {dict(asks)}")
    print(f"{kept:,} with every kind: {', '.join(KINDS)}")


def split_id(example: SpanExample) -> tuple[str, str]:
    """Return the question's own id and the kind of its distractor."""
    key, _, kind = example.id.rpartition("-")
    if kind not in (PLAIN, *KINDS):
        raise InputError(
            f"question {example.id!r}: expected an id that ends in one of "
            f"{', '.join((PLAIN, *KINDS))}; score a file that `make` wrote"
        )
    return key, kind


def by_kind(examples: Sequence[SpanExample], values: Sequence[float]) -> dict[str, np.ndarray]:
    """Return the values of each kind in the order of the questions, ``[n_questions]`` each."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for example, value in zip(examples, values, strict=True):
        key, kind = split_id(example)
        found[kind][key] = value
    questions = list(found[PLAIN])
    lacking = [kind for kind in KINDS if found[kind].keys() != found[PLAIN].keys()]
    if lacking or not questions:
        raise InputError(
            f"expected every question without and with all kinds of distractors, got other "
            f"questions for {lacking[0] if lacking else PLAIN}; score a file that `make` wrote"
        )
    return {
        kind: np.array([rows[question] for question in questions]) for kind, rows in found.items()
    }


def losses(
    scores: dict[str, np.ndarray], articles: Sequence[str], resamples: int
) -> Iterator[dict[str, object]]:
    """Yield what is lost by each kind, in points, with intervals over articles.

    Args:
        scores: scores of the questions by kind, from 0 to 1, ``[n_questions]`` each.
        articles: the article of each question.
        resamples: of the bootstrap.
    """
    names = list(dict.fromkeys(articles))
    owner = np.array([names.index(article) for article in articles])
    kinds = list(scores)
    runs = [
        cluster_sums(np.stack([values, np.ones_like(values)], axis=1), owner, len(names))
        for values in scores.values()
    ]
    drawn = dict(zip(kinds, resample_clusters(runs, MEAN, n_resamples=resamples), strict=True))
    for kind in kinds:
        row: dict[str, object] = {"kind": kind, "score": 100 * float(scores[kind].mean())}
        for name, base in (("lost", PLAIN), ("more_than_control", CONTROL)):
            # What is lost is positive where the kind scores lower than its base.
            difference = 100 * float((scores[base] - scores[kind]).mean())
            interval = percentile_interval(drawn[base] - drawn[kind], len(names))
            row[name] = difference
            row[f"{name}_interval"] = interval and [interval.low, interval.high]
        yield row


def score(given: argparse.Namespace) -> None:
    """Print and write the scores of a reader by kind, and what it loses."""
    examples, _ = read_squad(given.data)
    options = {"parser": given.parser} if given.parser else {}
    reader = Reader.from_pretrained(given.reader, **options)
    pairs = [(example.passage, example.question) for example in examples]
    # Every question has an answer, so that the reader must not abstain.
    texts = [best_text(found) for found in reader.predictions(pairs, threshold=math.inf)]
    judged = judge(examples, texts, rules="1.1")
    titles = [each.title for each in examples if split_id(each)[1] == PLAIN]
    cache, parser_name = reader.texts.cache, given.parser or reader.model.config.parser
    result: dict[str, object] = {
        "reader": find_model(given.reader).identity(),
        "parser": identify(parser_name, cache.source) if cache else None,
        "data": str(given.data), "questions": len(titles), "articles": len(set(titles)),
    }  # fmt: skip
    print(f"{given.reader}: {len(titles)} questions of {len(set(titles))} articles")
    for metric in ("exact", "f1"):
        values = [float(getattr(row, metric)) for row in judged]
        rows = list(losses(by_kind(examples, values), titles, given.resamples))
        result[metric] = rows
        print(f"\n| {metric} | score | lost | more than by {CONTROL} |\n|---|---|---|---|")
        for row in rows:
            cells = [_points(row, name) for name in ("lost", "more_than_control")]
            print(f"| {row['kind']} | {row['score']:.1f} | {' | '.join(cells)} |")
    if given.json:
        write_json(given.json, result)


def plot(given: argparse.Namespace) -> None:
    """Draw what each reader loses by each kind, more than by the control."""
    found: dict[str, dict[str, Any]] = {}
    for path in given.results:
        values = read_json(path)
        # The result of one reader, or several by their names.
        found |= {values["reader"]["name"]: values} if "reader" in values else values

    def draw(axis: Any, kind: str) -> tuple[str, str]:
        axis.set_title(kind)
        rows = []
        for name, values in found.items():
            (row,) = (each for each in values["exact"] if each["kind"] == kind)
            point, interval = row["more_than_control"], row["more_than_control_interval"]
            # Of a single article there is none.
            drawn = {"articles": DrawnInterval(point, *interval)} if interval else {}
            rows.append((name, drawn))
        draw_intervals(axis, rows)
        return f"exact match lost, more than by {CONTROL}", ""

    draw_panels(EXCHANGED, draw, given.out, height=2.2)


def _points(row: dict[str, object], name: str) -> str:
    interval = row[f"{name}_interval"]
    ends = f" [{interval[0]:.1f}, {interval[1]:.1f}]" if isinstance(interval, list) else ""
    return f"{row[name]:+.1f}{ends}"


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    top = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    made = commands.add_parser("make", help="append distractors to passages")
    made.set_defaults(run=make)
    made.add_argument("squad", help="a SQuAD file")
    made.add_argument("--out", type=Path, required=True, help="a file in SQuAD's format")
    made.add_argument("--parser", default="default-parser", help="finds the roles")
    made.add_argument("--limit", type=int, help="look at only this many questions that fit")
    made.add_argument(
        "--names", action="store_true", help="both participants are names, which may act alike"
    )
    made.add_argument("--seed", type=int, default=1)
    scored = commands.add_parser("score", help="score a reader")
    scored.set_defaults(run=score)
    scored.add_argument("reader", help="a reader that ships, a run, or a folder")
    scored.add_argument("data", type=Path, help="the file that `make` wrote")
    scored.add_argument("--parser", default="", help="other trees than the reader's own")
    scored.add_argument("--resamples", type=int, default=9999)
    scored.add_argument("--json", type=Path, help="also write the scores")
    drawn = commands.add_parser("plot", help="draw the results of several readers")
    drawn.set_defaults(run=plot)
    drawn.add_argument("results", nargs="+", type=Path, help="JSON files of `score`")
    drawn.add_argument("--out", type=Path, required=True, help="a .svg, .pdf or .png file")
    return top


def main() -> None:
    given = parser().parse_args()
    given.run(given)


if __name__ == "__main__":
    with in_one_line():
        main()
