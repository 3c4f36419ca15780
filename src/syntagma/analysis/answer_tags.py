"""Part-of-speech tags at the boundaries of answers, gold and predicted (POI-Net Table 5, Fig. 3).

A boundary word is the first or the last word of an answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any, TypeVar

import numpy as np

from syntagma.analysis.cases import read_answers
from syntagma.analysis.run_scores import RunScores
from syntagma.analysis.systems import System, read_systems
from syntagma.drawing.tables import aligned, signed
from syntagma.encoders.default import DEFAULT_PARSER
from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.parse.columns import ParsedText
from syntagma.parse.sources.cache import ParseCache, cache_folder
from syntagma.parse.sources.load import load_source

T = TypeVar("T")

NBEST = "predictions.nbest.json"

TagPair = tuple[str, str]
"""Tags of the first and the last word of an answer."""


@dataclass(frozen=True, slots=True)
class BoundaryTags:
    """Counts of the tags of boundary words.

    Each answer counts twice: for its first and for its last word.

    Args:
        tags: Penn tags, the most frequent in gold answers first, ``[n_tags]``.
        gold: counts in the first gold answer of each question, ``[n_tags]``.
        predicted: counts in the answers of each system, means over seeds, ``[n_tags]``.
        errors: for each system and tag of the gold word, the number of boundaries of wrong answers
            with a different tag than the nearest gold answer, means over seeds, ``[n_tags]``.
        wrong_answers: number of answers of each system that are not an exact match, mean over
            seeds.
        n_questions: number of questions with a gold answer.
    """

    tags: tuple[str, ...]
    gold: tuple[int, ...]
    predicted: dict[str, tuple[float, ...]]
    errors: dict[str, tuple[float, ...]]
    wrong_answers: dict[str, float]
    n_questions: int

    def renamed(self, names: Sequence[str]) -> BoundaryTags:
        """Return a copy with new names for the systems, in their order."""

        def named(values: dict[str, T]) -> dict[str, T]:
            return dict(zip(names, values.values(), strict=True))

        return replace(
            self,
            predicted=named(self.predicted),
            errors=named(self.errors),
            wrong_answers=named(self.wrong_answers),
        )

    def frequent(self, *, least: float = 0.014) -> list[str]:
        """Return the tags that are frequent at the boundaries of gold answers.

        Args:
            least: minimum fraction of all boundary words; the paper's is 300 of 21,140.
        """
        counts = zip(self.tags, self.gold, strict=True)
        return [tag for tag, count in counts if count >= least * 2 * self.n_questions]

    def rows(self, *, least: float = 0.014) -> list[list[str]]:
        """Return the cells of a table, header first.

        Args:
            least: minimum fraction for a tag to be shown, see :meth:`frequent`.
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
        """Compute the reduction of wrong tags and of wrong answers compared with the first system.

        Returns:
            Both reductions in per cent for each other system; the paper reports 8.09 and 1.82.
        """
        first, *others = self.errors
        wrong = {name: sum(counts) for name, counts in self.errors.items()}

        def reduction(counts: dict[str, float], name: str) -> float:
            return 100 * (1 - counts[name] / counts[first]) if counts[first] else 0.0

        return {
            name: (reduction(wrong, name), reduction(self.wrong_answers, name)) for name in others
        }

    def lines(self) -> list[str]:
        """Describe the reductions in sentences."""
        first = next(iter(self.errors))
        return [
            f"{name} compared with {first}: wrong tags {signed(-tags)} %, "
            f"wrong answers {signed(-answers)} %."
            for name, (tags, answers) in self.corrected().items()
        ]

    def table(self) -> str:
        """Format as a table for a terminal."""
        return "\n".join([aligned(self.rows()), *self.lines()])


def _short(count: float) -> str:
    return f"{count:.0f}" if count == int(count) else f"{count:.1f}"


def boundary_tags(folders: Sequence[str | Path], *, parser: str = DEFAULT_PARSER) -> BoundaryTags:
    """Count the tags at the boundaries of gold and predicted answers.

    Args:
        folders: finished runs of readers on the same data; runs that differ only in their seed form
            one system.
        parser: parse source of the tags, see :func:`syntagma.parse.sources.load.load_source`.

    Raises:
        InputError: a run is of another task, or its data or predictions are missing.
    """
    return tags_of_systems(read_systems(folders), parser=parser)


def tags_of_systems(systems: Sequence[System], *, parser: str = DEFAULT_PARSER) -> BoundaryTags:
    """Count the tags as :func:`boundary_tags`, for systems whose runs are already read.

    Args:
        systems: systems evaluated on the same data.
        parser: see :func:`boundary_tags`.

    Raises:
        InputError: see :func:`boundary_tags`.
    """
    first = systems[0].runs[0].path
    if systems[0].runs[0].task != "spans":
        raise InputError(
            f"{first}: expected a run of the task spans, whose answers have boundaries, got the "
            f"task {systems[0].runs[0].task}; give runs of readers"
        )
    if "exact" not in next(iter(systems[0].runs[0].rows.values())):
        raise InputError(
            f"{first}: expected a reader, got a verifier, which predicts only whether there is an "
            f"answer; give runs with head.objective=spans"
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
            found, wrong = _count(run, examples, parsed)
            predicted.setdefault(system.name, []).append(found)
            errors.setdefault(system.name, []).append(wrong)
        wrong_answers[system.name] = mean(
            sum(not run.rows[example.id]["exact"] for example in examples) for run in system.runs
        )
    tags = [tag for tag, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    others = {tag for counters in predicted.values() for found in counters for tag in found}
    tags += sorted(others - set(tags))
    return BoundaryTags(
        tuple(tags),
        tuple(counts[tag] for tag in tags),
        {name: _means(counters, tags) for name, counters in predicted.items()},
        {name: _means(counters, tags) for name, counters in errors.items()},
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
    """Count the tags at the boundaries of a run's answers, and the gold tags that it misses."""
    for name in ("predictions.json", NBEST):
        if not (run.scored / name).is_file():
            raise InputError(f"{run.scored}: has no {name}; train the run again")
    answers, nbest = read_answers(run), _read_nbest(run, examples)
    counts: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for example in examples:
        text = answers[example.id]
        if not text:
            continue
        # Predictions have no offsets: take those of the same text in the n-best list.
        starts = (each.get("start") for each in nbest[example.id] if each.get("text") == text)
        start = next((start for start in starts if start is not None), None)
        start = example.passage.find(text) if start is None else start
        tags = _tags(parsed[example.passage], start, text)
        counts.update(tags)
        if run.rows[example.id]["exact"]:
            continue
        golden = _tags(parsed[example.passage], *nearest_tag(example, start, start + len(text)))
        pairs = zip(golden, tags, strict=True)
        wrong.update(right for right, found in pairs if right != found)
    return counts, wrong


def _read_nbest(run: RunScores, examples: Sequence[Any]) -> dict[str, list[dict[str, Any]]]:
    """Read the n-best lists of a run, by the id of the question."""
    path = run.scored / NBEST
    found = read_json(path)
    if not isinstance(found, dict):
        raise InputError(f"{path}: expected an object, got {found!r:.40}; train the run again")
    for example in examples:
        spans = found.get(example.id)
        if not isinstance(spans, list) or not all(_is_span(each, example) for each in spans):
            raise InputError(
                f"{path}: {example.id}: expected a list of answers with offsets in the passage, "
                f"got {spans!r:.80}; train the run again"
            )
    return found


def _is_span(value: Any, example: Any) -> bool:
    """Whether an entry of an n-best list fits the passage; "no answer" has no offset."""
    start = value.get("start") if isinstance(value, dict) else -1
    return start is None or (isinstance(start, int) and 0 <= start < len(example.passage))


def nearest_tag(example: Any, start: int, end: int) -> tuple[int, str]:
    """Return offset and text of the gold answer whose boundaries are nearest to those of a span.

    Args:
        example: a question with gold answers.
        start: offset of the first character of the span.
        end: offset after its last character.
    """
    answers = zip(example.answer_starts, example.answers, strict=True)
    return min(answers, key=lambda gold: abs(gold[0] - start) + abs(gold[0] + len(gold[1]) - end))


def _tags(passage: ParsedText, start: int, text: str) -> TagPair:
    """Return the tags of the words in which an answer starts and ends."""
    begin = start + len(text) - len(text.lstrip())
    end = start + len(text.rstrip())
    first = int(np.searchsorted(passage.ends, begin, side="right"))
    last = int(np.searchsorted(passage.starts, end, side="left")) - 1
    # An answer of white space only lies between two words, or after the last one.
    codes = [int(passage.xpos[min(word, len(passage) - 1)]) for word in (first, max(last, first))]
    names = passage.xpos_labels.names
    return names[codes[0]], names[codes[1]]
