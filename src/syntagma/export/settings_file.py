"""What a program needs beside the graph: labels, thresholds, lengths, special tokens."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from syntagma.encoders.load import max_pieces
from syntagma.export.families import Family, ParserFamily, SpanFamily
from syntagma.formats import stamp
from syntagma.settings import to_dict
from syntagma.syntax.relations import OTHER, RELATIONS
from syntagma.syntax.tags import ERR, PAD, SPE, TAG_IDS, tag_set_of
from syntagma.tasks.spans.outcomes import MODES

FORMAT = "syntagma-onnx"
VERSION = 1
TRAINING = ("dropout", "word_dropout", "distillation_weight", "fit_threshold", "precision", "l2")
"""Settings of heads that matter in training only, or to our own code."""


def config_of(family: Family, *, task: str, model: dict[str, str], int8: bool) -> dict[str, Any]:
    """Return the contents of ``config.json``.

    Args:
        family: the model.
        task: its task.
        model: its name, version and digest.
        int8: whether its weights are 8-bit integers.
    """
    config = family.model.config
    head = {key: value for key, value in to_dict(family.model.head).items() if key not in TRAINING}
    found: dict[str, Any] = {
        "format": FORMAT,
        **stamp(VERSION),
        "task": task,
        "model": model,
        "encoder_type": config.encoder.model_type,
        "precision": "int8" if int8 else "float32",
        "inputs": [asdict(port) for port in family.graph.inputs],
        "outputs": [asdict(port) for port in family.graph.outputs],
        "head": head,
        "labels": to_dict(config.labels),
        "max_pieces": max_pieces(config.encoder),
    }
    if isinstance(family, ParserFamily):
        encoder = family.predictor.encoder
        sequence = [encoder.prefix.tolist(), encoder.suffix.tolist()]
        one = {"special": sequence}
        return found | {"pad_token_id": int(encoder.pad_id), "sequence": {"one": one}}
    texts = family.predictor.texts
    found["pad_token_id"] = int(texts.builder.pad_id)
    found["sequence"] = {
        name: texts.builder.template(n_texts) for name, n_texts in (("one", 1), ("two", 2))
    }
    found["guides"] = {name: to_dict(own) for name, own in config.guides.items()}
    found["parser"] = config.parser
    columns = family.model.syntax_columns
    if columns:
        found["columns"] = list(columns)
        found["pieces"] = texts.mode
    if "tag" in columns:
        tag_set = tag_set_of(config.guides)
        found["tags"] = {
            "set": tag_set,
            "ids": dict(TAG_IDS[tag_set]),
            "special": SPE,
            "padding": PAD,
            "other": ERR,
        }
    if "relation" in columns:
        ids = {name: number for number, name in enumerate(RELATIONS)}
        found["relations"] = {"ids": ids, "other": OTHER}
    if isinstance(family, SpanFamily):
        found["question_trees"] = family.model.reads_question_trees
        found["modes"] = {name: limits._asdict() for name, limits in MODES.items()}
    if signs := getattr(family.model, "signs", ()):
        found["markers"] = dict(zip(signs, family.predictor.signs, strict=True))
    return found
