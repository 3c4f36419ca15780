"""Parts of speech at the boundaries of answers, gold and predicted (POI-Net Table 5, Fig. 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any, TypeVar

import numpy as np

from syntagma.analysis.cases import read_answers
from syntagma.analysis.systems import RunScores, System, read_systems
from syntagma.drawing.tables import aligned, signed
from syntagma.encoders.default import DEFAULT_PARSER
from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.parse.columns import ParsedText
from syntagma.parse.sources.cache import ParseCache, cache_folder
from syntagma.parse.sources.load import load_source

__all__ = ["BoundaryTags", "boundary_tags", "tags_of_systems"]

T = TypeVar("T")

CANDIDATES = "predictions.nbest.json"

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
        errors: by system and tag of the gold word, the cases where the system answers wrongly and
            the tag of its own boundary word is another than that of the nearest gold answer,
            ``[n_tags]``.
        wrong_answers: by system how many answers are no exact match, a mean over seeds.
        n_questions: with a gold answer.
    """

    tags: tuple[str, ...]
    gold: tuple[int, ...]
    predicted: dict[str, tuple[float, ...]]
    errors: dict[str, tuple[float, ...]]
    wrong_answers: dict[str, float]
    n_questions: int

    def renamed(self, names: Sequence[str]) -> BoundaryTags:
        """The same with other names of the systems, in their order."""

        def named(values: dict[str, T]) -> dict[str, T]:
            return dict(zip(names, values.values(), strict=True))

        return replace(
            self,
            predicted=named(self.predicted),
            errors=named(self.errors),
            wrong_answers=named(self.wrong_answers),
        )

    def frequent(self, *, least: float = 0.014) -> list[str]:
        """Tags that often stand at the boundaries of gold answers.

        Args:
            least: share of all boundary words from which on a tag is; the paper's is 300 of 21,140.
        """
        counts = zip(self.tags, self.gold, strict=True)
        return [tag for tag, count in counts if count >= least * 2 * self.n_questions]

    def rows(self, *, least: float = 0.014) -> list[list[str]]:
        """The cells of a table, its head first.

        Args:
            least: share from which on a tag is shown, see :meth:`frequent`.
        """
        names = list(self.predicted)
        errors = [f"{name}, wrong tag" for name in names]
        rows = [["tag", "gold", *names, *errors]]
        for tag in self.frequent(least=least):
            number = self.tags.index(tag)
            counts = [self.predicted[name][number] for name in names]
            counts += [self.errors[name][number] for name in names]
            rows.append([tag, str(self.gold[number]), *map(_short, counts)])
        totals = [sum(self.predicted[name]) for name in names]
        totals += [sum(self.errors[name]) for name in names]
        return [*rows, ["all", str(sum(self.gold)), *map(_short, totals)]]

    def corrected(self) -> dict[str, tuple[float, float]]:
        """What share of the first system's wrong tags, and of its wrong answers, another is rid of.

        In per cent; the paper's 8.09 and 1.82.
        """
        first, *others = self.errors
        wrong = {name: sum(counts) for name, counts in self.errors.items()}

        def share(counts: dict[str, float], name: str) -> float:
            return 100 * (1 - counts[name] / counts[first]) if counts[first] else 0.0

        return {name: (share(wrong, name), share(self.wrong_answers, name)) for name in others}

    def lines(self) -> list[str]:
        """Sentences that say so."""
        first = next(iter(self.errors))
        return [
            f"{name} against {first}: wrong tags {signed(-tags)} %, "
            f"wrong answers {signed(-answers)} %."
            for name, (tags, answers) in self.corrected().items()
        ]

    def table(self) -> str:
        """A table for a terminal."""
        return "\n".join([aligned(self.rows()), *self.lines()])


def _short(count: float) -> str:
    return f"{count:.0f}" if count == int(count) else f"{count:.1f}"


def boundary_tags(folders: Sequence[str | Path], *, parser: str = DEFAULT_PARSER) -> BoundaryTags:
    """Count the tags at the boundaries of gold and predicted answers.

    Args:
        folders: finished runs of readers over the same data; those that differ in the seed alone
            are one system.
        parser: gives the tags, see :func:`syntagma.parse.sources.load.load_source`.

    Raises:
        InputError: a run is of another task or its data or predictions are gone.
    """
    return tags_of_systems(read_systems(folders), parser=parser)


def tags_of_systems(systems: Sequence[System], *, parser: str = DEFAULT_PARSER) -> BoundaryTags:
    """The same of systems whose runs have been read.

    Args:
        systems: over the same data.
        parser: see :func:`boundary_tags`.

    Raises:
        InputError: see there.
    """
    first = systems[0].runs[0].path
    if systems[0].runs[0].task != "spans":
        raise InputError(
            f"{first}: tags of answer boundaries are counted for readers (task spans), this "
            f"run is of the task {systems[0].runs[0].task}"
        )
    if "exact" not in next(iter(systems[0].runs[0].rows.values())):
        raise InputError(
            f"{first}: a verifier tells whether there is an answer and finds none, so that it "
            f"has no boundaries; give runs with the objective of spans"
        )
    examples = [example for example in systems[0].runs[0].examples() if example.answers]
    cache = ParseCache(load_source(parser), cache_folder())
    texts = list(dict.fromkeys(example.passage for example in examples))
    parsed = dict(zip(texts, cache.parsed(texts), strict=True))
    counts = Counter(
        tag
        for example in examples
        for tag in _tags(parsed[example.passage], example.answer_starts[0], example.answers[0])
    )
    predicted: dict[str, list[Counter[str]]] = {}
    errors: dict[str, list[Counter[str]]] = {}
    wrong_answers: dict[str, float] = {}
    for system in systems:
        for run in system.runs:
            own, wrong = _count(run, examples, parsed)
            predicted.setdefault(system.name, []).append(own)
            errors.setdefault(system.name, []).append(wrong)
        wrong_answers[system.name] = mean(
            sum(not run.rows[example.id]["exact"] for example in examples) for run in system.runs
        )
    tags = [tag for tag, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    others = {tag for part in predicted.values() for own in part for tag in own}
    tags += sorted(others - set(tags))
    return BoundaryTags(
        tuple(tags),
        tuple(counts[tag] for tag in tags),
        {name: _means(part, tags) for name, part in predicted.items()},
        {name: _means(part, tags) for name, part in errors.items()},
        wrong_answers,
        len(examples),
    )


def _means(counters: Sequence[Counter[str]], tags: Sequence[str]) -> tuple[float, ...]:
    return tuple(mean(counter[tag] for counter in counters) for tag in tags)


def _count(
    run: RunScores,
    examples: Sequence[Any],
    parsed: dict[str, ParsedText],
) -> tuple[Counter[str], Counter[str]]:
    """Tags at the boundaries of a run's answers, and tags of gold words that it misses."""
    for name in ("predictions.json", CANDIDATES):
        if not (run.scored / name).is_file():
            raise InputError(f"{run.scored}: has no {name}; train it to its end again")
    answers, candidates = read_answers(run), _candidates(run, examples)
    own: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for example in examples:
        text = answers[example.id]
        if not text:
            continue
        places = (c.get("start") for c in candidates[example.id] if c.get("text") == text)
        start = next((place for place in places if place is not None), None)
        start = example.passage.find(text) if start is None else start
        tags = _tags(parsed[example.passage], start, text)
        own.update(tags)
        if run.rows[example.id]["exact"]:
            continue
        golden = _tags(parsed[example.passage], *nearest_tag(example, start, start + len(text)))
        pairs = zip(golden, tags, strict=True)
        wrong.update(right for right, found in pairs if right != found)
    return own, wrong


def _candidates(run: RunScores, examples: Sequence[Any]) -> dict[str, list[dict[str, Any]]]:
    """The answers that a run considered, by the id of the question."""
    path = run.scored / CANDIDATES
    found = read_json(path)
    if not isinstance(found, dict):
        raise InputError(f"{path}: expected an object, got {found!r:.40}; train it again")
    for example in examples:
        own = found.get(example.id)
        if not isinstance(own, list) or not all(_is_candidate(each, example) for each in own):
            raise InputError(
                f"{path}: {example.id}: expected a list of answers with their places in the "
                f"passage, got {own!r:.80}; train it again"
            )
    return found


def _is_candidate(value: Any, example: Any) -> bool:
    """Whether it is an answer to a question; that there is none has no place."""
    start = value.get("start") if isinstance(value, dict) else -1
    return start is None or (isinstance(start, int) and 0 <= start < len(example.passage))


def nearest_tag(example: Any, start: int, end: int) -> tuple[int, str]:
    """Start and text of the gold answer whose boundaries are nearest to those of a span."""
    answers = zip(example.answer_starts, example.answers, strict=True)
    return min(answers, key=lambda gold: abs(gold[0] - start) + abs(gold[0] + len(gold[1]) - end))


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
