"""A small annotated corpus for pre-training, its trees drawn at random."""

from __future__ import annotations

from pathlib import Path

from syntagma.parse.corpora.annotator import AnnotationSettings
from syntagma.parse.corpora.runner import annotate
from syntagma.tasks.sample import SENTENCES, Sample


def write_corpus(folder: Path, copies: int) -> str:
    """Records of one to four sentences, in several shards."""
    lines = []
    for copy in range(copies):
        for number in range(0, len(SENTENCES), 2):
            chosen = range(number, number + 1 + (copy + number) % 4)
            some = [SENTENCES[which % len(SENTENCES)] for which in chosen]
            lines.append(f"{copy}: {' '.join(some)}\n")
    source = folder / "harbour.txt"
    source.write_text("".join(lines), encoding="utf-8")
    settings = AnnotationSettings(parser="random:3", shard_characters=500)
    annotate([str(source)], folder / "corpus", settings, workers=1)
    return str(folder / "corpus")


SAMPLE = Sample(
    write_corpus,
    head={"max_length": 40, "head_width": 16, "longest": 6},
    training={"max_steps": 12, "batch_tokens": 256},
    presets=("seprem",),
)
