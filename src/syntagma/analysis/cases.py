"""Sample examples on which systems differ, with the gold answer and all predictions.

SG-Net's Table 9 (journal version) and SEPREM's Fig. 3 show selected cases.  Here cases are sampled
at random from all that differ, with as many gained as lost ones, to avoid a biased selection.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagma.analysis.run_scores import RunScores
from syntagma.analysis.systems import System
from syntagma.errors import InputError
from syntagma.files import read_json, read_lines
from syntagma.tasks import find_task
from syntagma.tasks.task import ErrorExample

GAINED, LOST, WRONG = "gained", "lost", "wrong"
FULL = {"bleu": 100.0}
"""Maximum score of an example, for scores where it is not 1."""


@dataclass(frozen=True, slots=True)
class Case:
    """An example with the answers of all systems.

    Args:
        key: id of the example.
        example: the question and the gold answer.
        answers: answers of each system, one per seed.
        scores: score of each system, mean over seeds.
        kind: ``gained`` or ``lost`` compared with the baseline, or ``wrong`` for a single system.
        system: the system that gained, lost or is wrong.
    """

    key: str
    example: ErrorExample
    answers: dict[str, tuple[str, ...]]
    scores: dict[str, float]
    kind: str
    system: str


@dataclass(frozen=True, slots=True)
class Cases:
    """Sampled cases, and the numbers of all cases.

    Args:
        cases: the sampled cases.
        counts: number of all cases, by kind and system.
    """

    cases: tuple[Case, ...]
    counts: dict[tuple[str, str], int]


def find_cases(systems: Sequence[System], *, most: int, seed: int = 0) -> Cases:
    """Sample cases on which systems differ from the baseline, or the errors of a single system.

    Args:
        systems: systems evaluated on the same examples, the baseline first.
        most: maximum number of cases.
        seed: random seed of the sample.

    Raises:
        InputError: examples of the task cannot be shown, or examples or predictions are missing.
    """
    task = find_task(systems[0].runs[0].task)
    examples = {example.id: example for example in systems[0].runs[0].examples()}
    if any(task.describe(example) is None for example in list(examples.values())[:1]):
        raise InputError(
            f"examples of the task {task.name} cannot be shown as cases; omit --cases or give 0"
        )
    answers = {system.name: [read_answers(run) for run in system.runs] for system in systems}
    keys = list(examples)
    scores = {
        system.name: dict(zip(keys, system.example_scores(keys).tolist(), strict=True))
        for system in systems
    }
    by_kind = _by_kind(systems, keys, scores)
    sampled = _sample(by_kind, most, seed)
    cases = [
        Case(
            key,
            shown,
            {name: tuple(f.get(key, "") for f in found) for name, found in answers.items()},
            {name: found[key] for name, found in scores.items()},
            kind,
            system,
        )
        for (kind, system), chosen in sampled.items()
        for key in chosen
        if (shown := task.describe(examples[key])) is not None
    ]
    return Cases(tuple(cases), {kind: len(found) for kind, found in by_kind.items()})


def _by_kind(
    systems: Sequence[System], keys: Sequence[str], scores: dict[str, dict[str, float]]
) -> dict[tuple[str, str], list[str]]:
    """Collect the ids of the examples of each kind of case."""
    baseline, *others = (system.name for system in systems)
    before = scores[baseline]
    if not others:
        right = FULL.get(systems[0].compared.score, 1.0)
        return {(WRONG, baseline): [key for key in keys if before[key] < right]}
    found = {}
    for name in others:
        found[GAINED, name] = [key for key in keys if scores[name][key] > before[key]]
        found[LOST, name] = [key for key in keys if scores[name][key] < before[key]]
    return found


def _sample(
    by_kind: dict[tuple[str, str], list[str]], most: int, seed: int
) -> dict[tuple[str, str], list[str]]:
    """Sample equally many cases of each kind, or more of the others if a kind has too few."""
    rng = random.Random(seed)
    shuffled = {kind: rng.sample(keys, len(keys)) for kind, keys in by_kind.items()}
    n_taken = dict.fromkeys(by_kind, 0)
    left = most
    while left > 0 and any(n_taken[kind] < len(keys) for kind, keys in by_kind.items()):
        for kind, keys in by_kind.items():
            if left > 0 and n_taken[kind] < len(keys):
                n_taken[kind] += 1
                left -= 1
    return {kind: keys[: n_taken[kind]] for kind, keys in shuffled.items()}


def read_answers(run: RunScores) -> dict[str, str]:
    """Read the answers of a run, by id of the example.

    Args:
        run: a run of a task whose examples can be shown.

    Raises:
        InputError: the predictions are missing, or do not match the examples.
    """
    path = run.scored / find_task(run.task).predictions_file
    if path.suffix == ".json":
        rows = read_json(path)
        if not isinstance(rows, dict):
            raise InputError(f"{path}: expected an object, got {rows!r:.40}; train the run again")
        return _checked({key: _answer(value) for key, value in rows.items()}, run, path)
    lines = list(read_lines(path))
    if path.suffix == ".tsv":
        pairs = (line.partition("\t") for line in lines)
        return _checked({key: answer for key, _, answer in pairs}, run, path)
    # Lines are in the order of the scored examples, or, if some examples have no gold label and so
    # no score, in the order of all examples.
    keys = list(run.rows)
    if len(keys) != len(lines):
        keys = [example.id for example in run.read_examples()]
    if len(keys) != len(lines):
        raise InputError(
            f"{path}: expected a line for each of {len(keys)} examples of the dev files, got "
            f"{len(lines)}; put the dev files back, or train the run again"
        )
    # SemEval's format has the id and the answer on a line, other formats only the answer.
    return {key: line.rpartition("\t")[2] for key, line in zip(keys, lines, strict=True)}


def _checked(answers: dict[str, str], run: RunScores, path: Path) -> dict[str, str]:
    """Check that there is an answer for each scored example."""
    if missing := next((key for key in run.rows if key not in answers), ""):
        raise InputError(
            f"{path}: has no answer for {missing}, which was scored; train the run again"
        )
    return answers


def _answer(value: Any) -> str:
    """Format an answer: a text, an option, or labels."""
    if isinstance(value, dict):
        return str(value.get("option", ", ".join(sorted(map(str, value.get("labels", ()))))))
    return str(value)
