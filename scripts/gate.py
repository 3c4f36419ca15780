"""Score every named model on sentences and questions of our own, and fail if one got worse.

    python scripts/gate.py                          # compare with the records (make gate)
    python scripts/gate.py --record default-parser  # record a new version of a model

A model changes only with a new version, digest and record: tests/data/gate/NAME.json has the
version and digest that `src/syntagma/encoders/named_models.py` states, and the scores.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from syntagma.drawing.tables import aligned
from syntagma.encoders.default import find_download
from syntagma.encoders.named_models import DOWNLOADS, NAMED_MODELS
from syntagma.errors import InputError, in_one_line
from syntagma.files import read_json
from syntagma.outputs import write_json
from syntagma.text.documents import RawDocument, read_documents
from syntagma.text.segmentation.scores import score_segmentation
from syntagma.text.segmentation.segment import SEGMENTATION_VERSION, segment
from syntagma.text.segmentation.splitter import WEIGHTS as SPLITTER_WEIGHTS
from syntagma.text.sentence import Sentence

ROOT = Path(__file__).parents[1]
GATE = ROOT / "tests" / "data" / "gate"
TREES = {
    "sentences": GATE / "sentences.conllu",
    "questions": ROOT / "examples" / "trees" / "questions-test.conllu",
    "instructions": ROOT / "examples" / "trees" / "instructions-test.conllu",
}
"""Gate sets with trees, by name."""
QUESTIONS = {"everyday": ROOT / "examples" / "questions" / "everyday-dev.json"}
"""Gate sets with questions, by name.  The other half, everyday-test, is for the last score of a
reader, so the gate may not read it."""
TOLERANCE = 0.1
"""Points that a percentage may lose: processors round float32 sums differently, which can change a
word in a thousand.  Counts of errors may not grow at all."""
ONE_QUESTION = {"HasAns_shown_f1": 1.5, "HasAns_none": 1.5, "NoAns_answer": 3.1}
"""Points that a metric of a reader may lose instead: one of 67 questions with an answer, or of 33
without, since rounding can change the outcome of a question whose number is close to a limit."""
ERRORS = ("two_subjects", "two_objects")
"""Metrics that count errors; all others are percentages."""
LOWER_IS_BETTER = (*ERRORS, "HasAns_none", "NoAns_answer")
"""Metrics that should be low."""

Scores = Mapping[str, Mapping[str, float]]
"""Value of each metric on each gate set."""


def score_parser(name: str) -> Scores:
    """Return the scores of a parser on given words, and its verbs with two subjects or objects."""
    # torch is imported only if there is something to parse.
    from syntagma.parse.scores import double_arguments
    from syntagma.parse.sources.load import load_parser
    from syntagma.tasks.parsing.tree_scores import score_trees
    from syntagma.tasks.parsing.treebanks import read_treebank

    # bfloat16 differs more between processors.
    parser = load_parser(name, precision="float32")
    scores = {}
    for gate_set, path in TREES.items():
        examples = read_treebank(path)
        parses = parser.parse(example.gold.sentence for example in examples)
        found = score_trees(examples, parses)
        doubles = [double_arguments(parse) for parse in parses]
        scores[gate_set] = {metric: found[metric] for metric in ("uas", "las", "upos")} | {
            metric: sum(double[metric] for double in doubles) for metric in ERRORS
        }
    return scores


def score_splitter(name: str) -> Scores:
    """Return the F1 of words and sentences in the text that the trees are of."""

    def predict(document: RawDocument) -> list[Sentence]:
        return segment(document.text)

    scores = {}
    for gate_set, path in TREES.items():
        words, sentences = score_segmentation(read_documents(path), predict)
        scores[gate_set] = {"words_f1": words.f1, "sentences_f1": sentences.f1}
    return scores


def score_reader(name: str) -> Scores:
    """Return what users get from a reader by default, as ``syntagma evaluate`` reports it.

    ``HasAns_shown_f1`` is the F1 of what is shown for questions with an answer, sure or not,
    ``HasAns_none`` the share of them for which nothing is shown, and ``NoAns_answer`` the share of
    questions without an answer that get one.
    """
    from syntagma.evaluation import evaluate
    from syntagma.tasks.spans.outcomes import DEFAULT_MODE

    scores = {}
    for gate_set, path in QUESTIONS.items():
        found = evaluate(name, [path], precision="float32")
        scores[gate_set] = {metric: found[f"{DEFAULT_MODE}.{metric}"] for metric in ONE_QUESTION}
    return scores


KINDS: Mapping[str, Callable[[str], Scores]] = {
    "parser": score_parser,
    "reader": score_reader,
    "splitter": score_splitter,
}
"""How models of each kind are scored, by name.  For a new kind of model, add its function here."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A model that ships with the package, or is downloaded by its name.

    Args:
        name: its name.
        kind: a key of :data:`KINDS`.
        version: its version.
        digest: SHA-256 of its weights.
        encoder: named encoder that it needs; empty if it needs none.
    """

    name: str
    kind: str
    version: str
    digest: str
    encoder: str = ""

    @property
    def missing(self) -> str:
        """What must be downloaded before the model can be scored, the model itself or its encoder.

        It is empty if nothing is missing.
        """
        needed = (name for name in (self.name, self.encoder) if name in DOWNLOADS)
        return next((name for name in needed if find_download(name) is None), "")


def scored_models() -> Iterator[Scored]:
    """Yield the models that have names and whose kind has a gate set."""
    for row in NAMED_MODELS.values():
        if row.kind in KINDS:
            yield Scored(row.name, row.kind, row.version, row.digest, row.encoder)
    # The sentence splitter has no row, because users never name it.
    digest = hashlib.sha256(SPLITTER_WEIGHTS.read_bytes()).hexdigest()
    yield Scored("splitter", "splitter", str(SEGMENTATION_VERSION), digest)


def rounded(scores: Scores) -> dict[str, dict[str, float]]:
    """Return scores with two decimals, as they are recorded."""
    return {
        gate_set: {metric: round(value, 2) for metric, value in found.items()}
        for gate_set, found in scores.items()
    }


def stale(model: Scored, folder: Path) -> str:
    """Return what is wrong with the record of a model in one line; empty if nothing is."""
    path = folder / f"{model.name}.json"
    command = f"python scripts/gate.py --record {model.name}"
    if not path.is_file():
        return f"{model.name}: has no record {path.name}; write one: {command}"
    record = read_json(path)
    if (record["version"], record["digest"]) == (model.version, model.digest):
        return ""
    raised = "" if record["version"] != model.version else "raise the version, then "
    return (
        f"{model.name}: is version {model.version} with digest {model.digest[:12]}…, but the "
        f"record is of version {record['version']} with digest {record['digest'][:12]}…; "
        f"{raised}record it anew: {command}"
    )


def is_worse(metric: str, before: float, value: float) -> bool:
    """Return whether a metric is worse than recorded, by more than rounding can do."""
    if metric in ERRORS:
        return value > before
    loss = value - before if metric in LOWER_IS_BETTER else before - value
    return loss > ONE_QUESTION.get(metric, TOLERANCE)


def losses(model: Scored, recorded: Scores, found: Scores) -> Iterator[str]:
    """Yield a line for each metric that is worse than recorded, or that is not recorded."""
    for gate_set, values in found.items():
        for metric, value in values.items():
            before = recorded.get(gate_set, {}).get(metric)
            if before is None:
                yield (
                    f"{model.name}: {metric} on {gate_set} is not in the record; record it anew: "
                    f"python scripts/gate.py --record {model.name}"
                )
            elif is_worse(metric, before, value):
                yield (
                    f"{model.name}: {metric} on {gate_set} was recorded as {before:g} and is now "
                    f"{value:g}"
                )


def table(scores: Iterable[tuple[str, Scores]]) -> str:
    """Return a table with a row for each model and gate set."""
    rows = [
        (name, gate_set, values) for name, found in scores for gate_set, values in found.items()
    ]
    metrics = list(dict.fromkeys(metric for _, _, values in rows for metric in values))
    lines = [["model, set", *(metric.replace("_", " ") for metric in metrics)]]
    for name, gate_set, values in rows:
        shown = [
            f"{values[metric]:.{0 if metric in ERRORS else 2}f}" if metric in values else ""
            for metric in metrics
        ]
        lines.append([f"{name}, {gate_set}", *shown])
    return aligned(lines)


def check(
    models: Iterable[Scored],
    folder: Path = GATE,
    kinds: Mapping[str, Callable[[str], Scores]] = KINDS,
) -> list[str]:
    """Score models, print one table, and return a line for each fault.

    Args:
        models: the models.
        folder: where the records are.
        kinds: how models of each kind are scored.
    """
    faults, scores = [], []
    for model in models:
        if fault := stale(model, folder):
            faults.append(fault)
            continue
        if model.missing:
            scores.append((model.name, {f"not scored: `syntagma download {model.missing}`": {}}))
            continue
        found = rounded(kinds[model.kind](model.name))
        scores.append((model.name, found))
        faults += losses(model, read_json(folder / f"{model.name}.json")["scores"], found)
    if scores:
        print(table(scores))
    return faults


def record(
    model: Scored,
    folder: Path = GATE,
    kinds: Mapping[str, Callable[[str], Scores]] = KINDS,
) -> None:
    """Score a model and write its record.

    Raises:
        InputError: the weights changed and the version did not, or the encoder is not downloaded.
    """
    path = folder / f"{model.name}.json"
    old = read_json(path) if path.is_file() else {}
    if old and old["version"] == model.version and old["digest"] != model.digest:
        raise InputError(
            f"{model.name}: the digest changed from {old['digest'][:12]}… to {model.digest[:12]}…, "
            f"but the version is still {model.version}; raise it in named_models.py"
        )
    if model.missing:
        raise InputError(f"{model.name}: needs an encoder; run `syntagma download {model.missing}`")
    scores = rounded(kinds[model.kind](model.name))
    values = {"name": model.name, "version": model.version, "digest": model.digest}
    write_json(path, values | {"scores": scores})
    print(table([(model.name, scores)]))


def named(models: Sequence[Scored], names: Iterable[str]) -> list[Scored]:
    """Return the models with the given names.

    Raises:
        InputError: no model has the name.
    """
    known = {model.name: model for model in models}
    for name in names:
        if name not in known:
            raise InputError(f"--record {name}: expected one of {', '.join(known)}")
    return [known[name] for name in names]


def main() -> None:
    """Read the arguments; compare or record."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--record", nargs="+", metavar="NAME", help="models to record anew")
    options = arguments.parse_args()
    models = list(scored_models())
    if options.record:
        for model in named(models, options.record):
            record(model)
    elif faults := check(models):
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    with in_one_line():
        main()
