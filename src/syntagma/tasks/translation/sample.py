"""A small data set of translation: sentences, and the same sentences in capital letters."""

from __future__ import annotations

import gzip
from pathlib import Path

from syntagma.tasks.sample import SENTENCES, Sample


def upper(text: str) -> str:
    """The translation of a sentence: a language that is easy to learn."""
    return " ".join(word.upper() for word in text.split())


def write_parallel(folder: Path, copies: int) -> str:
    """Two files with a sentence a line, the second one compressed."""
    sources = [text for text in SENTENCES for _ in range(copies)]
    (folder / "a.en").write_text("".join(f"{text}\n" for text in sources), encoding="utf-8")
    text = "".join(f"{upper(text)}\n" for text in sources)
    (folder / "a.up.gz").write_bytes(gzip.compress(text.encode()))
    return f"{folder / 'a.en'}+{folder / 'a.up.gz'}"


SAMPLE = Sample(
    write_parallel,
    head={
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "vocab_size": 400,
        "max_length": 90,
        "num_beams": 2,
        "label_smoothing": 0.0,
    },
    presets=("none", "sg-net"),
    encoder="scratch",
)
