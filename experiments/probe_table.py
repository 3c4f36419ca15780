"""Probe models with their own guides, and print one table.

    python experiments/probe_table.py sentences plain=runs/PLAIN sg=runs/GUIDED --out runs/probes
    python experiments/probe_table.py trees plain=default --out runs/structural \
        --train data/treebanks/ewt/en_ewt-ud-train.conllu.gz \
        --dev data/treebanks/ewt/en_ewt-ud-dev.conllu.gz

`sentences` probes sentence vectors for all properties of SentEval: accuracy on the test part, `++`
and `+` where it is above the first model by the paired t-test with p < 0.01 and p < 0.05, `--` and
`-` where it is below.  The first two rows are the accuracy of the most frequent label, and of the
most frequent label of sentences of that length.  `syntagma reproduce sg-net table8` does this for
the systems of the paper; this script takes any models.

`trees` probes every layer for trees (Hewitt & Manning 2019), with scores on the dev file, which
also stops training.  The control reads the vectors of the pieces, which know nothing of the
sentence; neighbours are words next to each other; the last column is what a task reads, after all
guides.

An interrupted table is resumed.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from syntagma.analysis.significance import paired_t_test
from syntagma.datasets.probing import PROPERTIES
from syntagma.encoders.load import load_encoder_config
from syntagma.encoders.reference import find_model
from syntagma.errors import InputError, in_one_line
from syntagma.evaluation import open_model
from syntagma.tasks.experiment import Experiment, load_experiment
from syntagma.tasks.probing.data import ProbeExample, read_probe
from syntagma.training.run import train

HERE = Path(__file__).parent
SENTENCES, TREES = HERE / "probe_tree_depth.yaml", HERE / "structural_distance.yaml"
SHOWN = {"distance": ("uuas", "spearman"), "depth": ("root_accuracy", "spearman")}


def experiment(path: Path, encoder: str, changes: Sequence[str]) -> Experiment:
    """A probe of a model; a model of ours keeps its guides."""
    preset = "saved" if find_model(encoder).kind == "model" else "none"
    return load_experiment(path, [f"encoder={encoder}", f"preset={preset}", *changes])


def head(first: str, columns: Sequence[str]) -> str:
    return f"| {first} | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}"


def sentence_probe(name: str, encoder: str, overrides: Sequence[str]) -> Experiment:
    """The probe of a model for a property."""
    # The settings of all properties are the same, and their files are in one folder.
    data = load_experiment(SENTENCES).data
    files = {"train": data.train[0], "dev": data.dev[0]}
    changes = [f"data.{key}={path.replace('tree_depth', name)}" for key, path in files.items()]
    return experiment(SENTENCES, encoder, [*changes, *overrides])


def part(settings: Experiment, name: str) -> list[ProbeExample]:
    """The examples of another part of the file that is trained on."""
    return read_probe(f"{settings.data.train[0].rpartition('#')[0]}#{name}")


def score(settings: Experiment, folder: Path) -> list[float]:
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


def sentences(models: Sequence[tuple[str, str]], options: argparse.Namespace) -> None:
    """Probe the models for each property; the first is the baseline."""
    plain = [sentence_probe(name, models[0][1], options.overrides) for name in PROPERTIES]
    print(head("", list(PROPERTIES)), flush=True)
    for label, baseline in (("most frequent label", majority), ("by length", by_length)):
        cells = [f"{baseline(settings):.1f}" for settings in plain]
        print(f"| {label} | {' | '.join(cells)} |", flush=True)
    first: dict[str, list[float]] = {}
    for label, encoder in models:
        cells = []
        for name in PROPERTIES:
            settings = sentence_probe(name, encoder, options.overrides)
            rows = score(settings, options.out / f"{name}-{label}")
            baseline_rows = first.setdefault(name, rows)
            cells.append(f"{100 * sum(rows) / len(rows):.1f}{mark(rows, baseline_rows)}")
        print(f"| {label} | {' | '.join(cells)} |", flush=True)


def columns(encoder: str) -> dict[str, list[str]]:
    """The settings of each column of a table of layers."""
    n_layers = load_encoder_config(encoder).num_hidden_layers
    layers = {str(layer): [f"head.layer={layer}"] for layer in range(1, n_layers + 1)}
    last = ["head.layer=null"]
    return {"control": [*last, "head.states=embeddings"], **layers, "behind guides": last}


def trees(models: Sequence[tuple[str, str]], options: argparse.Namespace) -> None:
    """Probe each layer of the models."""
    shown: list[str] = []
    data = [f"data.train={options.train}", f"data.dev={options.dev}", f"head.kind={options.kind}"]
    for label, encoder in models:
        read = columns(encoder)
        if shown != list(read):
            shown = list(read)
            print(f"\n{head('', shown)}", flush=True)
        scores = []
        for column, changes in read.items():
            folder = options.out / f"{options.kind}-{label}-{column.replace(' ', '_')}"
            settings = experiment(TREES, encoder, [*data, *changes, *options.overrides])
            scores.append(train(settings, folder, resume=folder.exists()))
        for name in SHOWN[options.kind]:
            cells = " | ".join(f"{values[name]:.1f}" for values in scores)
            print(f"| {label}, {name} | {cells} |", flush=True)
        if options.kind == "distance":
            print(f"\nNeighbours: {scores[0]['chain_uuas']:.1f} uuas", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = parser.add_subparsers(required=True, metavar="sentences|trees")
    for probe in (sentences, trees):
        command = kinds.add_parser(probe.__name__, help=probe.__doc__, description=probe.__doc__)
        command.set_defaults(probe=probe)
        command.add_argument("models", nargs="+", help="NAME=ENCODER")
        command.add_argument("--out", type=Path, required=True, help="folder of the runs")
        command.add_argument("--set", action="append", default=[], dest="overrides")
        if probe is trees:
            command.add_argument("--train", required=True, help="a treebank")
            command.add_argument("--dev", required=True, help="a treebank")
            command.add_argument("--kind", choices=sorted(SHOWN), default="distance")
    options = parser.parse_args()
    if wrong := [model for model in options.models if "=" not in model]:
        raise InputError(f"{wrong[0]}: expected NAME=ENCODER, as in plain=runs/nli_plain")
    options.probe([tuple(model.split("=", 1)) for model in options.models], options)


if __name__ == "__main__":
    with in_one_line():
        main()
