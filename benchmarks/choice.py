"""Multiple choice: speed compared with a baseline that pads every option to 512 pieces.

SYNTAGMA_BENCH_CHOICE=data/dream/dev.json.gz python -m benchmarks.choice
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import torch

from benchmarks.quick import size
from benchmarks.tables import show
from benchmarks.text import example_questions, example_texts
from benchmarks.timing import rounds
from syntagma.encoders.load import load_tokenizer
from syntagma.encoders.precision import autocast
from syntagma.models.choice_model import ChoiceModel
from syntagma.models.guides import resolve_guides
from syntagma.parse.sources.cache import ParseCache
from syntagma.parse.sources.load import load_source
from syntagma.tasks.choice.chooser import ChoiceItem, Chooser
from syntagma.tasks.choice.data import read_choices

QUESTIONS = size(128, 8)
NAIVE_BATCH = 4
"""Number of questions in a batch of the baseline."""
NAMES = {"none": "plain", "poi-net": "POI-Net"}
WAYS = {"naive": "every option padded to 512 pieces", "ours": "ours"}


def questions() -> tuple[str, list[tuple[str, str, tuple[str, ...]]]]:
    """Return passages, questions and options, from the file in the environment or the example.

    Returns:
        The name of the file's folder, and the questions.
    """
    if path := os.environ.get("SYNTAGMA_BENCH_CHOICE"):
        examples, _ = read_choices(path)
        asked = [(e.passage, e.question, e.options) for e in examples[:QUESTIONS]]
        return Path(path).parent.name, asked
    options = ("Ada Mensah", "the town council", "her brother Kofi", "a gull")
    passages, texts = example_texts(QUESTIONS // 4), example_questions()
    return "example", [(passage, text, options) for passage in passages for text in texts[:4]]


@torch.inference_mode()
def naive(chooser: Chooser, items: list[ChoiceItem]) -> None:
    """Run the model on all options, padded to the maximum length."""
    for begin in range(0, len(items), NAIVE_BATCH):
        batch = chooser.collate(items[begin : begin + NAIVE_BATCH])
        longest = chooser.model.head.max_length
        with autocast(chooser.model.device):
            chooser.model(**{name: pad(t, name, longest) for name, t in batch.items()})


def main() -> None:
    source, asked = questions()
    rows = []
    for preset in ("none", "poi-net"):
        model = ChoiceModel.from_encoder(
            "default", task="choice", guides=resolve_guides(preset, {}), parser="default-parser"
        )
        cache = ParseCache(load_source("default-parser")) if model.reads_syntax else None
        chooser = Chooser(model, load_tokenizer("default"), cache=cache)
        items = chooser.items(asked)
        seconds = rounds(
            {"naive": partial(naive, chooser, items), "ours": partial(chooser._score, items)},
            repeat=3,
        )
        for name, value in seconds.items():
            rows.append(
                {
                    "": f"{NAMES[preset]}, {WAYS[name]}",
                    "questions/s": len(asked) / value,
                    "speed-up": seconds["naive"] / value,
                }
            )
    show(
        f"{source}: {len(asked)} questions, with and without padding of options to 512 pieces", rows
    )


def pad(tensor: torch.Tensor, name: str, longest: int) -> torch.Tensor:
    """Pad sequences to a fixed length, as tokenizing with padding to the maximum length does."""
    if tensor.ndim < 2:
        return tensor
    fill = {"word": -1, "sentence": -1, "domain": -1}.get(name, 0)
    missing = longest - tensor.shape[1]
    return torch.nn.functional.pad(tensor, (0, missing), value=fill)


if __name__ == "__main__":
    main()
