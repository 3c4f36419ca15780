"""Convert what versions before 0.1.0 wrote: python scripts/convert_to_0_1.py FOLDER…

A FOLDER is a run, a saved model, an annotated corpus or a sweep, or holds some of these.  Settings
get their names of 0.1.0 (docs/renamed-settings.md), and each folder gets its ``format_version``.  A
run that was interrupted can then be resumed.  Converting twice changes nothing.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

TRAINING = {
    "epochs": "num_train_epochs",
    "steps": "max_steps",
    "batch_pieces": "batch_tokens",
    "accumulate": "gradient_accumulation_steps",
    "warmup": "warmup_ratio",
    "schedule": "lr_scheduler_type",
    "second_moment": "adam_beta2",
    "max_gradient_norm": "max_grad_norm",
    "patience": "early_stopping_patience",
    "checkpoint_steps": "save_steps",
    "data_workers": "dataloader_num_workers",
    "recompute": "gradient_checkpointing",
}
SPANS = {
    "stride": "doc_stride",
    "max_question": "max_question_length",
    "max_answer": "max_answer_length",
    "n_best": "n_best_size",
    "null_threshold": "null_score_diff_threshold",
}
HEADS = {
    "spans": SPANS,
    "open_qa": SPANS,
    "parsing": {"mask_piece": "mask_token_id"},
    "pretraining": {
        "pieces": "mlm",
        "hidden_pieces": "mlm_probability",
        "mask_id": "mask_token_id",
    },
    "translation": {
        "width": "hidden_size",
        "n_layers": "num_hidden_layers",
        "n_heads": "num_attention_heads",
        "inner_width": "intermediate_size",
        "vocabulary_size": "vocab_size",
        "n_beams": "num_beams",
    },
}
GUIDES = {"ancestor_attention": {"n_layers": "num_layers"}}
FORMAT = 1


def renamed(values: Any, names: dict[str, str]) -> Any:
    """A mapping with keys renamed, in its order."""
    if not isinstance(values, dict):
        return values
    return {names.get(key, key): value for key, value in values.items()}


def convert_settings(settings: dict[str, Any], eval_steps: float | None) -> dict[str, Any]:
    """The settings of an experiment, or of a saved model, under their names of 0.1.0."""
    settings = dict(settings)
    settings["head"] = renamed(settings.get("head", {}), HEADS.get(settings.get("task", ""), {}))
    settings["guides"] = {
        name: renamed(own, GUIDES.get(name, {}))
        for name, own in (settings.get("guides") or {}).items()
    }
    if isinstance(training := settings.get("training"), dict):
        training = renamed(training, TRAINING)
        if "evaluations" in training:
            del training["evaluations"]
            training["eval_steps"] = eval_steps
        settings["training"] = training
    return settings


def find_eval_steps(training: dict[str, Any], folder: Path, *, streams: bool) -> float | None:
    """What ``evaluations`` (times an epoch, of a stream times in all) is as ``eval_steps``."""
    times = training.get("evaluations", 1.0)
    if times == 1 or not times:
        return None
    epochs = 1.0 if streams else training.get("epochs", 3.0)
    share = 1 / (times * epochs)
    # Old runs rounded in each epoch: what is left to be trained is evaluated at the same steps.
    for path in sorted(folder.glob("checkpoints/checkpoint-*/trainer_state.json")):
        state = json.loads(path.read_text("utf-8"))
        if state["eval_steps"] != math.ceil(share * state["max_steps"]):
            return float(state["eval_steps"])
    return share


def convert_run(folder: Path) -> None:
    """A run folder, the files of what it was scored on among them."""
    path = folder / "experiment.yaml"
    settings = yaml.safe_load(path.read_text("utf-8"))
    streams = settings.get("task") == "pretraining"
    steps = find_eval_steps(settings.get("training", {}), folder, streams=streams)
    for file in (path, *folder.glob("scored/*/experiment.yaml")):
        values = convert_settings(yaml.safe_load(file.read_text("utf-8")), steps)
        write(file, yaml.safe_dump(values, sort_keys=False, allow_unicode=True))
    about = {"format_version": FORMAT, "syntagma_version": "0.1.0"}
    write(folder / "run.json", json.dumps(about, indent=2) + "\n")


def convert_model(path: Path) -> None:
    """The ``config.json`` of a saved model or of a checkpoint."""
    values = json.loads(path.read_text("utf-8"))
    if "syntagma_version" not in values or "format_version" in values:
        return
    values = convert_settings(values, None) | {"format_version": FORMAT}
    if names := values.get("labels", {}).get("labels"):
        values["id2label"] = dict(enumerate(names))
        values["label2id"] = {name: code for code, name in enumerate(names)}
    write(path, json.dumps(values, indent=2) + "\n")


def convert_sweep(folder: Path) -> None:
    """The settings of a sweep and the journal of its trials."""
    path = folder / "sweep.yaml"
    values = yaml.safe_load(path.read_text("utf-8"))
    task = values["experiment"]["task"]
    names = {f"training.{old}": f"training.{new}" for old, new in TRAINING.items()}
    names |= {f"head.{old}": f"head.{new}" for old, new in HEADS.get(task, {}).items()}
    training = values["experiment"]["training"]
    steps = find_eval_steps(training, folder, streams=task == "pretraining")
    values["experiment"] = convert_settings(values["experiment"], steps)
    spaces = [text.partition("=") for text in values["space"]]
    values["space"] = [f"{names.get(key, key)}={space}" for key, _, space in spaces]
    write(path, yaml.safe_dump(values, sort_keys=False, allow_unicode=True))
    journal = folder / "trials.journal"
    if journal.is_file():
        text = journal.read_text("utf-8")
        for old, new in names.items():
            text = text.replace(json.dumps(old), json.dumps(new))
        write(journal, text)


def convert_corpus(path: Path) -> None:
    """The manifest of an annotated corpus."""
    values = json.loads(path.read_text("utf-8"))
    if "format" in values and "shards" in values:
        del values["format"]
        values = {"format_version": FORMAT, "syntagma_version": "0.1.0", **values}
        write(path, json.dumps(values, indent=2, ensure_ascii=False) + "\n")


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(text, "utf-8")
    os.replace(draft, path)
    print(path)


def convert(folder: Path) -> Iterator[Path]:
    """Convert everything in a folder that was written before 0.1.0."""
    for path in sorted(folder.rglob("experiment.yaml")):
        is_scored = path.parent.parent.name == "scored"
        if not is_scored and not (path.parent / "run.json").is_file():
            convert_run(path.parent)
            yield path
    for path in sorted(folder.rglob("sweep.yaml")):
        if "evaluations" in yaml.safe_load(path.read_text("utf-8"))["experiment"]["training"]:
            convert_sweep(path.parent)
            yield path
    for path in sorted(folder.rglob("config.json")):
        convert_model(path)
        yield path
    for path in sorted(folder.rglob("manifest.json")):
        convert_corpus(path)
        yield path


def main() -> None:
    """Convert the folders that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    for folder in parser.parse_args().folders:
        if not folder.is_dir():
            sys.exit(f"{folder}: expected a folder; name a run, a model, a corpus, or one of runs")
        if not list(convert(folder)):
            print(f"{folder}: nothing to convert")


if __name__ == "__main__":
    main()
