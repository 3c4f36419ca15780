"""Probe models for all properties and print one table, the first model as the baseline.

    python experiments/probing_table.py --out runs/probes plain=runs/nli_plain sg=runs/nli_sg-net

Each model is probed with its own guides; accuracy on the test part, `++` and `+` where it is above
the first model by the paired t-test with p < 0.01 and p < 0.05, `--` and `-` where it is below.
The first two rows are the accuracy of the most frequent label, and of the most frequent label of
sentences of that length.  An interrupted table is resumed.  `syntagma reproduce sg-net table8` does
this for the systems of the paper; this script takes any models.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from syntagma.analysis.significance import paired_t_test
from syntagma.datasets.probing import PROPERTIES
from syntagma.encoders.reference import find_model
from syntagma.errors import InputError, in_one_line
from syntagma.evaluation import open_model
from syntagma.tasks.experiment import Experiment, load_experiment
from syntagma.tasks.probing.data import ProbeExample, read_probe
from syntagma.training.run import train

EXPERIMENT = Path(__file__).parent / "probe_tree_depth.yaml"


def experiment(name: str, encoder: str, overrides: Sequence[str]) -> Experiment:
    """The probe of a model for a property."""
    preset = "saved" if find_model(encoder).kind == "model" else "none"
    # The settings of all properties are the same, and their files are in one folder.
    data = load_experiment(EXPERIMENT).data
    files = {"train": data.train[0], "dev": data.dev[0]}
    changes = [f"data.{key}={path.replace('tree_depth', name)}" for key, path in files.items()]
    changes += [f"encoder={encoder}", f"preset={preset}", *overrides]
    return load_experiment(EXPERIMENT, changes)


def part(settings: Experiment, name: str) -> list[ProbeExample]:
    """The examples of another part of the file that is trained on."""
    return read_probe(f"{settings.data.train[0].rpartition('#')[0]}#{name}")


def probe(settings: Experiment, folder: Path) -> list[float]:
    """Whether each example of the test part is right."""
    train(settings, folder, resume=folder.exists())
    task = open_model(folder)
    examples = part(settings, "te")
    rows = task.score_examples(examples, task.predict(examples))
    return [row["accuracy"] for row in rows.values()]


def by_length(settings: Experiment) -> float:
    """The accuracy of the most frequent label among training sentences of the same length."""
    lengths: dict[int, Counter[str]] = defaultdict(Counter)
    for example in part(settings, "tr"):
        lengths[len(example.text.split())][example.label] += 1
    tests = part(settings, "te")
    guesses = [lengths[len(example.text.split())].most_common(1) for example in tests]
    right = [
        bool(guess) and guess[0][0] == example.label
        for guess, example in zip(guesses, tests, strict=True)
    ]
    return 100 * sum(right) / len(right)


def majority(settings: Experiment) -> float:
    """The share of the most frequent label."""
    counts = Counter(example.label for example in part(settings, "te"))
    return 100 * max(counts.values()) / sum(counts.values())


def mark(rows: Sequence[float], first: Sequence[float]) -> str:
    """How sure it is that a model is above or below the first one."""
    p = paired_t_test(rows, first)
    sign = "+" if sum(rows) > sum(first) else "-"
    return 2 * sign if p < 0.01 else sign if p < 0.05 else ""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("models", nargs="+", help="NAME=ENCODER, the baseline first")
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--set", action="append", default=[], dest="overrides")
    options = arguments.parse_args()
    if wrong := [model for model in options.models if "=" not in model]:
        raise InputError(f"{wrong[0]}: expected NAME=ENCODER, as in plain=runs/nli_plain")
    models = [tuple(model.split("=", 1)) for model in options.models]
    plain = [experiment(name, models[0][1], options.overrides) for name in PROPERTIES]
    print(f"| | {' | '.join(PROPERTIES)} |\n|{'---|' * (len(PROPERTIES) + 1)}", flush=True)
    for label, baseline in (("most frequent label", majority), ("by length", by_length)):
        cells = [f"{baseline(settings):.1f}" for settings in plain]
        print(f"| {label} | {' | '.join(cells)} |", flush=True)
    first: dict[str, list[float]] = {}
    for label, encoder in models:
        cells = []
        for name in PROPERTIES:
            settings = experiment(name, encoder, options.overrides)
            rows = probe(settings, options.out / f"{name}-{label}")
            baseline_rows = first.setdefault(name, rows)
            cells.append(f"{100 * sum(rows) / len(rows):.1f}{mark(rows, baseline_rows)}")
        print(f"| {label} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    with in_one_line():
        main()
