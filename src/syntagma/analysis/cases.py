"""Examples on which systems differ, with question, gold and every answer.

SG-Net's Table 9 (journal version) and SEPREM's Fig. 3 show chosen cases; here they are drawn at
random among all that differ, as many that were gained as were lost, so that nobody chooses.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagma.analysis.systems import RunScores, System
from syntagma.errors import InputError
from syntagma.files import read_json, read_lines
from syntagma.tasks import find_task
from syntagma.tasks.task import ErrorExample

GAINED, LOST, WRONG = "gained", "lost", "wrong"
FULL = {"bleu": 100.0}
"""The score of an example that is fully right, where that is not 1."""


@dataclass(frozen=True, slots=True)
class Case:
    """An example with the answers of all systems.

    Args:
        key: its id.
        example: what was asked, and what is right.
        answers: by system, one a seed.
        scores: by system, a mean over seeds.
        kind: ``gained`` or ``lost`` against the baseline, or ``wrong`` of a single system.
        system: the one that it is a case of.
    """

    key: str
    example: ErrorExample
    answers: dict[str, tuple[str, ...]]
    scores: dict[str, float]
    kind: str
    system: str


@dataclass(frozen=True, slots=True)
class Cases:
    """Cases, and among how many they were drawn.

    Args:
        cases: those to show.
        counts: by kind and system how many there are.
    """

    cases: tuple[Case, ...]
    counts: dict[tuple[str, str], int]


def find_cases(systems: Sequence[System], *, most: int, seed: int = 0) -> Cases:
    """Draw cases on which systems differ from the first; of a single system its errors.

    Args:
        systems: over the same examples, the baseline first.
        most: how many to draw.
        seed: of the drawing.

    Raises:
        InputError: the task does not describe cases, or examples or predictions are gone.
    """
    task = find_task(systems[0].runs[0].task)
    examples = {example.id: example for example in systems[0].runs[0].examples()}
    if any(task.describe(example) is None for example in list(examples.values())[:1]):
        raise InputError(f"examples of the task {task.name} cannot be shown")
    answers = {system.name: [read_answers(run) for run in system.runs] for system in systems}
    keys = list(examples)
    scores = {
        system.name: dict(zip(keys, system.example_scores(keys).tolist(), strict=True))
        for system in systems
    }
    groups = _groups(systems, keys, scores)
    drawn = _draw(groups, most, seed)
    cases = [
        Case(
            key,
            shown,
            {name: tuple(f.get(key, "") for f in found) for name, found in answers.items()},
            {name: found[key] for name, found in scores.items()},
            kind,
            system,
        )
        for (kind, system), chosen in drawn.items()
        for key in chosen
        if (shown := task.describe(examples[key])) is not None
    ]
    return Cases(tuple(cases), {kind: len(found) for kind, found in groups.items()})


def _groups(
    systems: Sequence[System], keys: Sequence[str], scores: dict[str, dict[str, float]]
) -> dict[tuple[str, str], list[str]]:
    """The examples of each kind of case."""
    baseline, *others = (system.name for system in systems)
    before = scores[baseline]
    if not others:
        right = FULL.get(systems[0].compared.score, 1.0)
        return {(WRONG, baseline): [key for key in keys if before[key] < right]}
    groups = {}
    for name in others:
        groups[GAINED, name] = [key for key in keys if scores[name][key] > before[key]]
        groups[LOST, name] = [key for key in keys if scores[name][key] < before[key]]
    return groups


def _draw(
    groups: dict[tuple[str, str], list[str]], most: int, seed: int
) -> dict[tuple[str, str], list[str]]:
    """As many of each group as of the others, as far as they go."""
    chance = random.Random(seed)
    shuffled = {kind: chance.sample(keys, len(keys)) for kind, keys in groups.items()}
    share = dict.fromkeys(groups, 0)
    left = most
    while left > 0 and any(share[kind] < len(keys) for kind, keys in groups.items()):
        for kind, keys in groups.items():
            if left > 0 and share[kind] < len(keys):
                share[kind] += 1
                left -= 1
    return {kind: keys[: share[kind]] for kind, keys in shuffled.items()}


def read_answers(run: RunScores) -> dict[str, str]:
    """What a run answered, by the id of the example.

    Args:
        run: of a task whose examples can be shown.

    Raises:
        InputError: its predictions are gone, or are not those of its examples.
    """
    path = run.scored / find_task(run.task).predictions_file
    if path.suffix == ".json":
        rows = read_json(path)
        if not isinstance(rows, dict):
            raise InputError(f"{path}: expected an object, got {rows!r:.40}; train it again")
        return _of_examples({key: _answer(value) for key, value in rows.items()}, run, path)
    lines = list(read_lines(path))
    if path.suffix == ".tsv":
        pairs = (line.partition("\t") for line in lines)
        return _of_examples({key: answer for key, _, answer in pairs}, run, path)
    # Those that were scored are in the order of the lines; what has no gold was predicted too.
    keys = list(run.rows)
    if len(keys) != len(lines):
        keys = [example.id for example in run.read_examples()]
    if len(keys) != len(lines):
        raise InputError(f"{path}: has {len(lines)} lines, the dev files {len(keys)} examples")
    # SemEval's lines name the id, those of others the answer alone.
    return {key: line.rpartition("\t")[2] for key, line in zip(keys, lines, strict=True)}


def _of_examples(answers: dict[str, str], run: RunScores, path: Path) -> dict[str, str]:
    if missing := next((key for key in run.rows if key not in answers), ""):
        raise InputError(f"{path}: has no answer to {missing}, which was scored; train it again")
    return answers


def _answer(value: Any) -> str:
    """An answer as its task writes it: a text, an option, or labels."""
    if isinstance(value, dict):
        return str(value.get("option", ", ".join(sorted(map(str, value.get("labels", ()))))))
    return str(value)
