"""Parts of speech at the boundaries of answers, gold and predicted (POI-Net Table 5, Fig. 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from syntagma.encoders.shipped import DEFAULT_PARSER
from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.parse.columns import ParsedText
from syntagma.parse.source import load_source
from syntagma.parse.store import ParseStore, cache_folder
from syntagma.report.runs import RunScores, read_systems
from syntagma.report.tables import aligned, markdown

__all__ = ["BoundaryTags", "boundary_tags"]

Boundaries = tuple[str, str]
"""The tags of the first and the last word of an answer."""


@dataclass(frozen=True, slots=True)
class BoundaryTags:
    """How often each tag stands at the boundaries of answers.

    Each answer counts twice: for its first and for its last word.

    Args:
        tags: Penn tags, the most frequent in gold answers first.
        gold: of the first gold answers that a system could have found, ``[n_tags]``.
        predicted: by system the counts in its answers, means over seeds, ``[n_tags]``.
        errors: by system and tag of the gold word, the cases where the system answers and the tag
            of its own boundary word is another, ``[n_tags]``.
        n_questions: with a gold answer.
    """

    tags: tuple[str, ...]
    gold: tuple[int, ...]
    predicted: dict[str, tuple[float, ...]]
    errors: dict[str, tuple[float, ...]]
    n_questions: int

    def rows(self, *, least: float = 0.014) -> list[list[str]]:
        """The cells of a table, its head first.

        Args:
            least: share of all boundary words from which on a tag is shown; the paper's is 300
                of 21,140.
        """
        names = list(self.predicted)
        errors = [f"{name}, wrong tag" for name in names]
        shown = [n for n, count in enumerate(self.gold) if count >= least * 2 * self.n_questions]
        rows = [["tag", "gold", *names, *errors]]
        for number in shown:
            counts = [self.predicted[name][number] for name in names]
            counts += [self.errors[name][number] for name in names]
            rows.append([self.tags[number], str(self.gold[number]), *map(_short, counts)])
        totals = [sum(self.predicted[name]) for name in names]
        totals += [sum(self.errors[name]) for name in names]
        return [*rows, ["all", str(sum(self.gold)), *map(_short, totals)]]

    def table(self) -> str:
        """A table for a terminal."""
        return aligned(self.rows())

    def markdown(self) -> str:
        """The table in Markdown."""
        return markdown(self.rows())


def _short(count: float) -> str:
    return f"{count:.0f}" if count == int(count) else f"{count:.1f}"


def boundary_tags(folders: Sequence[str | Path], *, parser: str = DEFAULT_PARSER) -> BoundaryTags:
    """Count the tags at the boundaries of gold and predicted answers.

    Args:
        folders: finished runs of readers over the same data; those that differ in the seed alone
            are one system.
        parser: gives the tags, see :func:`syntagma.parse.source.load_source`.

    Raises:
        InputError: a run is of another task or its data or predictions are gone.
    """
    systems = read_systems(folders)
    if systems[0].runs[0].task != "spans":
        raise InputError(
            f"{folders[0]}: tags of answer boundaries are counted for readers (task spans), this "
            f"run is of the task {systems[0].runs[0].task}"
        )
    examples = [example for example in systems[0].runs[0].examples() if example.answers]
    store = ParseStore(load_source(parser), cache_folder())
    texts = list(dict.fromkeys(example.passage for example in examples))
    parsed = dict(zip(texts, store.parsed(texts), strict=True))
    gold = {
        example.id: _tags(parsed[example.passage], example.answer_starts[0], example.answers[0])
        for example in examples
    }
    counts = Counter(tag for pair in gold.values() for tag in pair)
    predicted: dict[str, list[Counter[str]]] = {}
    errors: dict[str, list[Counter[str]]] = {}
    for system in systems:
        for run in system.runs:
            own, wrong = _count(run, examples, parsed, gold)
            predicted.setdefault(system.name, []).append(own)
            errors.setdefault(system.name, []).append(wrong)
    tags = [tag for tag, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    others = {tag for part in predicted.values() for own in part for tag in own}
    tags += sorted(others - set(tags))
    return BoundaryTags(
        tuple(tags),
        tuple(counts[tag] for tag in tags),
        {name: _means(part, tags) for name, part in predicted.items()},
        {name: _means(part, tags) for name, part in errors.items()},
        len(examples),
    )


def _means(counters: Sequence[Counter[str]], tags: Sequence[str]) -> tuple[float, ...]:
    return tuple(mean(counter[tag] for counter in counters) for tag in tags)


def _count(
    run: RunScores,
    examples: Sequence[Any],
    parsed: dict[str, ParsedText],
    gold: dict[str, Boundaries],
) -> tuple[Counter[str], Counter[str]]:
    """Tags at the boundaries of a run's answers, and tags of gold words that it misses."""
    for name in ("predictions.json", "predictions.nbest.json"):
        if not (run.path / name).is_file():
            raise InputError(f"{run.path}: has no {name}; train it to its end again")
    answers = read_json(run.path / "predictions.json")
    candidates = read_json(run.path / "predictions.nbest.json")
    own: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for example in examples:
        text = answers[example.id]
        if not text:
            continue
        places = (c.get("start") for c in candidates[example.id] if c["text"] == text)
        start = next((place for place in places if place is not None), None)
        start = example.passage.find(text) if start is None else start
        tags = _tags(parsed[example.passage], start, text)
        own.update(tags)
        pairs = zip(gold[example.id], tags, strict=True)
        wrong.update(right for right, found in pairs if right != found)
    return own, wrong


def _tags(passage: ParsedText, start: int, text: str) -> Boundaries:
    """The tags of the words in which an answer begins and ends."""
    begin = start + len(text) - len(text.lstrip())
    end = start + len(text.rstrip())
    first = int(np.searchsorted(passage.ends, begin, side="right"))
    last = int(np.searchsorted(passage.starts, end, side="left")) - 1
    # An answer that is white space alone lies between two words.
    codes = [int(passage.xpos[min(place, len(passage) - 1)]) for place in (first, max(last, first))]
    names = passage.xpos_labels.names
    return names[codes[0]], names[codes[1]]
