"""The README of an exported folder: inputs, outputs, and how to read them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from syntagma.encoders.named_models import NAMED_MODELS
from syntagma.export.parity import Parity

FILES = (
    ("model.onnx", "the graph with its weights"),
    ("tokenizer.json", "the tokenizer, in the format of Hugging Face's `tokenizers`"),
    ("config.json", "labels, thresholds, lengths, special tokens, and the tables below"),
    ("parity.json", "how far the graph is from the model that it was made from"),
)


def _decoding(task: str) -> str:
    """Return how the outputs of a task's models are read, from the file beside this module."""
    text = Path(__file__).with_name("decoding.md").read_text(encoding="utf-8")
    for section in re.split(r"^# ", text, flags=re.MULTILINE)[1:]:
        tasks, _, body = section.partition("\n")
        if task in tasks.split(", "):
            return body.strip()
    raise KeyError(task)


def readme(config: Mapping[str, Any], parity: Parity) -> str:
    """Write the README.

    Args:
        config: contents of ``config.json``.
        parity: the comparison with the model.
    """
    name = config["model"]["name"]
    parts = [
        f"# {name}, exported to ONNX",
        f"A model of Syntagma {config['syntagma_version']} for the task `{config['task']}`, in "
        f"float32{', weights stored in 8 bits' if config['precision'] == 'int8' else ''}. It needs "
        f"onnxruntime and a tokenizer, not Python or torch. Batches and sequences may have any "
        f"length, up to {config['max_pieces']} pieces.",
        _table(("file", "what it is"), FILES),
        "## Inputs",
        _ports(config["inputs"]),
        "## Outputs",
        _ports(config["outputs"]),
        "## How to read them",
        _decoding(config["task"]),
    ]
    if config.get("columns"):
        parts += ["## Syntax", _syntax(config)]
    parts += [
        "## Parity",
        "\n".join(f"- {line}" for line in parity.lines()) + "\n\n" + _bounds(parity),
    ]
    row = NAMED_MODELS.get(name)
    if row is not None:
        parts += ["## Licence", f"The weights are under {row.licence}, as those of {name}."]
    return "\n\n".join(parts) + "\n"


def _bounds(parity: Parity) -> str:
    most = parity.bounds.get("largest_difference")
    least = f"at least {100 * parity.bounds['equal_predictions']:g} % of predictions are equal"
    mean = parity.bounds.get("mean_difference")
    logits = f"logits differ by at most {most:g}, {mean:g} on average, and " if most else ""
    return f"An export is written only if {logits}{least}."


def _syntax(config: Mapping[str, Any]) -> str:
    rule = config["pieces"]
    if config["columns"] == ["domain"]:
        return "The model reads no trees: `domain` tells the two texts apart."
    rules = {
        "share": "All pieces of a word have the numbers of the word.",
        "first_piece": "Only the first piece of a word has the word's numbers; its later pieces "
        "are its children in the walk.",
        "projection": "Intervals are over pieces: the first piece of a word covers the pieces from "
        "the leftmost to the rightmost word of its subtree, other pieces themselves.",
    }
    source = f" Training used the parser `{config['parser']}`." if config["parser"] else ""
    return (
        f"The graph builds the masks and distances of its guides itself, from integers.{source} "
        f"{rules[rule]} A piece belongs to the word with which it shares the most characters. "
        f"`enter`, `exit` and numbers of words and sentences of the second text continue those of "
        f"the first: the walk of the second text begins after the number of words and pieces of "
        f"the first plus 1. Where the trees of a text are unknown, its pieces have no word."
    )


def _ports(ports: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (
            f"`{port['name']}`",
            port["dtype"],
            f"[{', '.join(map(str, port['shape']))}]",
            port["meaning"],
        )
        for port in ports
    ]
    return _table(("name", "type", "shape", "what it is"), rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
