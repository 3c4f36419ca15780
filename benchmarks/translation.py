"""Beam search with a guided encoder relative to the plain one, with parsing timed separately.

Then a training step of the plain model, with Transformers' implementation and with ours.

SYNTAGMA_BENCH_SOURCE=data/translation/multi30k/val.en.gz python -m benchmarks.translation
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from itertools import islice

import torch
from torch.nn import functional
from transformers import MarianMTModel

from benchmarks.quick import size
from benchmarks.tables import show
from benchmarks.text import example_texts
from benchmarks.timing import rounds
from syntagma.encoders.config import SyntagmaConfig
from syntagma.encoders.default import SCRATCH
from syntagma.encoders.precision import autocast
from syntagma.files import read_lines
from syntagma.models.guides import resolve_guides
from syntagma.models.translation_model import (
    TranslationHead,
    TranslationModel,
    fresh_config,
)
from syntagma.parse.sources.cache import ParseCache
from syntagma.parse.sources.load import load_source
from syntagma.settings import to_dict
from syntagma.tasks.translation.task import Translator
from syntagma.tasks.translation.vocabulary import learn_vocabulary

SENTENCES = size(256, 4)
PIECES = size(24, 4)
"""Length of every translation, so that all searches take the same number of steps."""


def sources() -> list[str]:
    """Return source sentences, from the file in the environment or the example."""
    if path := os.environ.get("SYNTAGMA_BENCH_SOURCE"):
        return list(islice(read_lines(path), SENTENCES))
    return [text.split(". ")[0] for text in example_texts(SENTENCES)]


def main() -> None:
    texts = sources()
    head = TranslationHead(
        hidden_size=256,
        num_hidden_layers=4,
        num_attention_heads=4,
        intermediate_size=1024,
        vocab_size=5000,
        max_length=100,
    )
    tokenizer = learn_vocabulary(texts, kind="bpe", size=head.vocab_size)
    parser = load_source("default-parser")
    callables: dict[str, Callable[[], object]] = {}
    for preset in ("none", "sg-net"):
        torch.manual_seed(0)
        config = SyntagmaConfig(
            encoder=fresh_config(head, tokenizer),
            base=SCRATCH,
            task=Translator.task,
            guides=resolve_guides(preset, {}),
            head=to_dict(head),
        )
        model = TranslationModel(config).eval()
        model.both_sides.generation_config.min_new_tokens = PIECES
        model.set_head(max_length=PIECES)
        translator = Translator(
            model, tokenizer, cache=ParseCache(parser) if model.reads_syntax else None
        )
        items = translator.items(texts)
        name = "plain" if preset == "none" else preset
        callables[name] = partial(translator._search, items)
    callables["parsing alone"] = lambda: list(parser.parse_texts(texts))
    seconds = rounds(callables, repeat=3)
    rows: list[dict[str, object]] = [
        {
            "": name,
            "sentences/s": len(texts) / value,
            "time relative to plain": value / seconds["plain"],
        }
        for name, value in seconds.items()
    ]
    show(f"{len(texts)} sentences, beams of {head.num_beams}, {PIECES} pieces each", rows)
    bench_training(texts)


def bench_training(texts: list[str]) -> None:
    """Time a training step on all texts, each with itself as the translation."""
    head = TranslationHead(
        hidden_size=128, num_hidden_layers=4, num_attention_heads=4, intermediate_size=256,
        vocab_size=5000, max_length=100,
        dropout=0.3, attention_dropout=0.0,
    )  # fmt: skip
    tokenizer = learn_vocabulary(texts, kind="bpe", size=head.vocab_size)
    encoded = tokenizer(texts, padding=True, return_tensors="pt")
    ids, mask = encoded["input_ids"], encoded["attention_mask"]
    labels = ids.masked_fill(mask == 0, -100)
    config = fresh_config(head, tokenizer)
    theirs = MarianMTModel(config).train()
    ours = TranslationModel(
        SyntagmaConfig(encoder=config, base=SCRATCH, task=Translator.task, head=to_dict(head))
    ).train()

    def their_step() -> None:
        with autocast(ids.device):
            logits = theirs(
                input_ids=ids,
                attention_mask=mask,
                decoder_input_ids=theirs.prepare_decoder_input_ids_from_labels(labels),
            ).logits
            loss = functional.cross_entropy(
                logits.flatten(0, 1), labels.flatten(), label_smoothing=head.label_smoothing
            )
        loss.backward()

    def our_step() -> None:
        with autocast(ids.device):
            loss = ours(input_ids=ids, attention_mask=mask, labels=labels).loss
        loss.backward()

    seconds = rounds({"Transformers": their_step, "ours": our_step})
    show(
        f"A training step of translation on {ids.numel()} pieces",
        [
            {
                "": name,
                "pieces/s": ids.numel() / value,
                "speed-up": seconds["Transformers"] / value,
            }
            for name, value in seconds.items()
        ],
    )


if __name__ == "__main__":
    main()
