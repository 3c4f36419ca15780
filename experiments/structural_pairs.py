"""Does a sentence follow from another? Pairs that only their structure decides, and their score.

    python experiments/structural_pairs.py make --out runs/structure
    python experiments/structural_pairs.py score runs/structure_*-* --data runs/structure \
        --control plain

Pairs come in groups of four: two premises and two conclusions with the same words. Each conclusion
follows from one of the premises, so that no word, length or overlap of words tells the label.
Constructions that are kept out occur in no training pair. All trees are written too, as
``trees.conllu``: with `parser: conllu:FILE` a model reads trees without errors.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from made_trees import Node, format_tree, rows_of, spell
from structure_templates import words
from structure_templates.constructions import CONSTRUCTIONS, KEPT_OUT, Constructions

from syntagma.analysis.cluster_bootstrap import MEAN, resample_clusters
from syntagma.analysis.intervals import paired_seeds, percentile_interval
from syntagma.errors import InputError, in_one_line
from syntagma.evaluation import open_model
from syntagma.outputs import write_json, write_text
from syntagma.tasks.pairs.data import read_pairs
from syntagma.tasks.predictor import PredictorTask

LABELS = ("not_entailment", "entailment")
PARTS = ("train", "dev", "kept_out")
TIMED = 0.3
"""Share of the groups whose premises begin with a time, so that places in the sentence vary."""


class Group(NamedTuple):
    """Two premises and two conclusions; a conclusion follows from the premise at its index.

    Args:
        construction: what the premises are made of.
        premises: their trees.
        conclusions: their trees.
    """

    construction: str
    premises: tuple[Node, Node]
    conclusions: tuple[Node, Node]


def draw_group(construction: str, source: random.Random) -> Group:
    """Draw words for a construction, and exchange two people in it."""
    people = source.sample(words.PEOPLE, 5)
    one, other = people[:2]
    template = getattr(Constructions(source, tuple(people[2:])), construction)()
    time = source.choice(words.TIMES) if source.random() < TIMED else ""
    premises = [template.premise(one, other), template.premise(other, one)]
    if time:
        premises = [root.on_left("advmod", Node(time, "ADV", "RB")) for root in premises]
    conclusions = template.conclusion(one, other), template.conclusion(other, one)
    return Group(construction, (premises[0], premises[1]), conclusions)


def sentence_of(root: Node) -> str:
    """Return the text of a tree, with a capital and a full stop."""
    text, _ = spell([*(row[0] for row in rows_of(root)), "."])
    return text[0].upper() + text[1:]


def make_groups(
    constructions: Sequence[str], count: int, source: random.Random, seen: set[str]
) -> Iterator[Group]:
    """Yield groups with premises that are not in ``seen``, the same number of each construction."""
    for number in range(count):
        while True:
            group = draw_group(constructions[number % len(constructions)], source)
            texts = {sentence_of(root) for root in group.premises}
            if not texts & seen:
                break
        seen |= texts
        yield group


def pairs_of(group: Group, number: int) -> Iterator[dict[str, str]]:
    """Yield the four pairs of a group as rows of an SNLI file."""
    for premise, conclusion in product(range(2), range(2)):
        yield {
            "sentence1": sentence_of(group.premises[premise]),
            "sentence2": sentence_of(group.conclusions[conclusion]),
            "gold_label": LABELS[premise == conclusion],
            "pairID": f"{group.construction}-{number}-{premise}{conclusion}",
        }


def make(given: argparse.Namespace) -> None:
    """Write ``train.jsonl``, ``dev.jsonl``, ``kept_out.jsonl`` and ``trees.conllu``."""
    kept_out = given.keep_out
    if unknown := sorted({*kept_out} - {*CONSTRUCTIONS}):
        known = ", ".join(CONSTRUCTIONS)
        raise InputError(f"--keep-out {unknown[0]}: no such construction; choose from {known}")
    trained = [name for name in CONSTRUCTIONS if name not in kept_out]
    if not trained or not kept_out:
        raise InputError(
            f"--keep-out: expected some of the {len(CONSTRUCTIONS)} constructions, got "
            f"{len(kept_out)}; keep out fewer than all and at least one"
        )
    source = random.Random(given.seed)
    seen: set[str] = set()
    trees: dict[str, Node] = {}
    for part in PARTS:
        chosen = list(kept_out) if part == "kept_out" else trained
        rows: list[dict[str, str]] = []
        for number, group in enumerate(make_groups(chosen, getattr(given, part), source, seen)):
            rows += pairs_of(group, number)
            trees |= {sentence_of(root): root for root in (*group.premises, *group.conclusions)}
        write_text(given.out / f"{part}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        print(f"{part}: {len(rows):,} pairs, {len(chosen)} constructions: {', '.join(chosen)}")
    blocks = [
        format_tree(number, rows_of(root), end=".")
        for number, root in enumerate(trees.values(), start=1)
    ]
    write_text(given.out / "trees.conllu", "".join(blocks))


class Found(NamedTuple):
    """Scores of one run on the groups of one construction.

    Args:
        accuracy: share of right labels in each group, ``[n_groups]``.
        area: area under the ROC curve within each group, ``[n_groups]``: how often a pair that
            follows scores higher than one that does not.
    """

    accuracy: np.ndarray
    area: np.ndarray


def score_run(run: str, path: Path, parser: str) -> dict[str, Found]:
    """Score a run on a file by construction; the key ``all`` has all of them."""
    examples = read_pairs(path).examples
    task = open_model(run, task="pairs", parser=parser)
    assert isinstance(task, PredictorTask)
    if {*task.predictor.labels} != {*LABELS}:
        raise InputError(
            f"{run}: expected a model with the labels {' and '.join(LABELS)}, got "
            f"{', '.join(task.predictor.labels)}; train it on the pairs that `make` writes"
        )
    yes = task.predictor.labels.index(LABELS[1])
    groups: dict[str, dict[bool, list[float]]] = defaultdict(lambda: {True: [], False: []})
    for example, found in zip(examples, task.predict(examples), strict=True):
        key = example.id.rpartition("-")[0]
        groups[key][example.label == LABELS[1]].append(found.probabilities[yes])
    by_construction: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for key, scores in groups.items():
        right = [score > 0.5 for score in scores[True]] + [s <= 0.5 for s in scores[False]]
        values = float(np.mean(right)), area_under_curve(scores[True], scores[False])
        for name in (key.rpartition("-")[0], "all"):
            by_construction[name].append(values)
    return {name: Found(*np.array(rows).T) for name, rows in by_construction.items()}


def area_under_curve(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the share of (positive, negative) pairs in the right order; ties count half.

    >>> area_under_curve([0.9, 0.4], [0.1, 0.4])
    0.875
    """
    differences = np.subtract.outer(positive, negative)
    return float(np.mean((differences > 0) + 0.5 * (differences == 0)))


def mean_interval(values: np.ndarray) -> tuple[float, float] | None:
    """Return the 95 % interval over groups of a mean, in per cent; ``None`` if nothing varies."""
    counts = np.stack([values, np.ones_like(values)], axis=1)
    interval = percentile_interval(resample_clusters([counts], MEAN)[0], len(values))
    return None if interval is None else (interval.low, interval.high)


def system_and_seed(run: str) -> tuple[str, int]:
    """Split the name of a run, ``structure_plain-3``, into its system and seed."""
    found = re.fullmatch(r"(?:structure_)?(.+)-(\d+)", Path(run).name)
    if found is None:
        raise InputError(f"{run}: expected a run named SYSTEM-SEED, such as plain-1; rename it")
    return found[1], int(found[2])


def score(given: argparse.Namespace) -> None:
    """Print and write accuracy and area by construction, and differences from the control."""
    found: dict[str, dict[int, dict[str, Found]]] = defaultdict(dict)
    for run in given.runs:
        system, seed = system_and_seed(run)
        found[system][seed] = {
            f"{part} {name}": values
            for part in PARTS[1:]
            for name, values in score_run(run, given.data / f"{part}.jsonl", given.parser).items()
        }
    if given.control and given.control not in found:
        raise InputError(
            f"--control {given.control}: no such system; name one of {', '.join(found)}"
        )
    rows = list(table_rows(found, given.control))
    print("| system | constructions | seeds | accuracy | area | area − control |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row['system']} | {row['constructions']} | {row['seeds']} | {row['accuracy']:.1f} "
            f"| {row['area']:.1f}{_ends(row['area_interval'])} | {_against(row)} |"
        )
    if given.json:
        write_json(given.json, rows)


def _ends(interval: Sequence[float] | None) -> str:
    return "" if interval is None else f" [{interval[0]:.1f}, {interval[1]:.1f}]"


def _against(row: dict[str, Any]) -> str:
    difference = row.get("area_difference")
    interval = row.get("area_difference_interval")
    if not isinstance(difference, float):
        return "–"
    return f"{difference:+.1f}{_ends(interval if isinstance(interval, list) else None)}"


def table_rows(
    found: dict[str, dict[int, dict[str, Found]]], control: str
) -> Iterator[dict[str, Any]]:
    """Yield the means over seeds of each system and construction, in per cent.

    The interval of a mean is over groups of pairs, with the models as they are.  That of a
    difference is over the seeds that both systems have.
    """
    for system, seeds in found.items():
        for name in next(iter(seeds.values())):
            scores = [each[name] for each in seeds.values()]
            areas = np.mean([each.area for each in scores], axis=0)
            row: dict[str, Any] = {
                "system": system,
                "constructions": name,
                "seeds": len(seeds),
                "groups": len(areas),
                "accuracy": 100 * float(np.mean([each.accuracy for each in scores])),
                "area": 100 * float(areas.mean()),
                "area_interval": mean_interval(areas),
            }
            if control and system != control:
                shared = sorted(seeds.keys() & found[control].keys())
                differences = [
                    100 * float((seeds[seed][name].area - found[control][seed][name].area).mean())
                    for seed in shared
                ]
                interval = paired_seeds(differences)
                row["area_difference"] = float(np.mean(differences)) if shared else None
                row["area_difference_interval"] = interval and [interval.low, interval.high]
            yield row


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    top = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    made = commands.add_parser("make", help="write pairs and trees")
    made.set_defaults(run=make)
    made.add_argument("--out", type=Path, required=True, help="a folder")
    made.add_argument("--train", type=int, default=2000, help="groups of four pairs to learn from")
    made.add_argument("--dev", type=int, default=320, help="groups of the same constructions")
    made.add_argument("--kept-out", type=int, default=900, help="groups of the others")
    made.add_argument(
        "--keep-out", nargs="+", default=list(KEPT_OUT), metavar="NAME", help="constructions"
    )
    made.add_argument("--seed", type=int, default=1)
    scored = commands.add_parser("score", help="score trained models")
    scored.set_defaults(run=score)
    scored.add_argument("runs", nargs="+", help="runs named SYSTEM-SEED")
    scored.add_argument("--data", type=Path, required=True, help="the folder that `make` wrote")
    scored.add_argument("--control", default="", help="the system to compare with")
    scored.add_argument("--parser", default="", help="other trees than in training")
    scored.add_argument("--json", type=Path, help="also write the table")
    return top


def main() -> None:
    given = parser().parse_args()
    given.run(given)


if __name__ == "__main__":
    with in_one_line():
        main()
