"""Beam search with a guided encoder over that with the plain one, parsing left out and counted.

SYNTAGMA_BENCH_SOURCE=data/translation/multi30k/val.en.gz python -m benchmarks.translation
"""

from __future__ import annotations

import os
from itertools import islice

import torch

from benchmarks.text import example_texts
from benchmarks.timing import rounds, show
from syntagma.encoders.config import SyntagmaConfig
from syntagma.files import read_lines
from syntagma.models.config import resolve_guides
from syntagma.models.translation_model import (
    SCRATCH,
    TranslationHead,
    TranslationModel,
    fresh_config,
)
from syntagma.parse.load import load_source
from syntagma.parse.store import ParseStore
from syntagma.settings import to_dict
from syntagma.tasks.translation.task import Translator
from syntagma.tasks.translation.vocabulary import learn_vocabulary

SENTENCES = 256
PIECES = 24
"""Of every translation, so that all searches take as many steps."""


def sources() -> list[str]:
    if path := os.environ.get("SYNTAGMA_BENCH_SOURCE"):
        return list(islice(read_lines(path), SENTENCES))
    return [text.split(". ")[0] for text in example_texts(SENTENCES)]


def main() -> None:
    texts = sources()
    head = TranslationHead(
        width=256, n_layers=4, n_heads=4, inner_width=1024, vocabulary_size=5000, max_length=100
    )
    tokenizer = learn_vocabulary(texts, kind="bpe", size=head.vocabulary_size)
    parser = load_source("default-parser")
    callables = {}
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
            model, tokenizer, store=ParseStore(parser) if model.reads_syntax else None
        )
        items = translator.items(texts)
        name = "plain" if preset == "none" else preset
        callables[name] = lambda translator=translator, items=items: translator._search(items)
    callables["parsing alone"] = lambda: list(parser.parse_texts(texts))
    seconds = rounds(callables, repeat=3)
    rows: list[dict[str, object]] = [
        {
            "": name,
            "sentences/s": len(texts) / value,
            "over plain": value / seconds["plain"],
        }
        for name, value in seconds.items()
    ]
    show(f"{len(texts)} sentences, beams of {head.n_beams}, {PIECES} pieces each", rows)


if __name__ == "__main__":
    main()
