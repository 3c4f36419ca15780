"""Annotated corpora of our sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from syntagma.parse.corpora import runner
from syntagma.parse.corpora.annotator import AnnotationSettings
from syntagma.parse.corpora.manifest import Manifest
from syntagma.settings import build
from syntagma.tasks.experiment import Experiment
from tests.conftest import SENTENCES


def settings(**changes) -> AnnotationSettings:
    """Settings for random trees in small shards."""
    return AnnotationSettings(**({"parser": "random:3", "shard_characters": 200} | changes))


def annotate(inputs: Sequence[str], out: Path, chosen: AnnotationSettings, **options) -> Manifest:
    """Annotate in this process, which is faster than starting workers."""
    return runner.annotate(inputs, out, chosen, **({"workers": 1} | options))


def text_file(path: Path, copies: int = 3) -> str:
    """A text file of records of two sentences; every fifth record is empty."""
    lines = []
    for copy in range(copies):
        for number in range(0, len(SENTENCES), 2):
            lines.append(f"{copy}: {SENTENCES[number]} {SENTENCES[number + 1]}\n")
        lines.append(" \n")
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


def make_corpus(folder: Path, copies: int = 6, parser: str = "random:3", **changes) -> Path:
    """An annotated corpus of records of one to four sentences, in several shards."""
    source = folder / "harbour.txt"
    lines = []
    for copy in range(copies):
        for number in range(0, 8, 2):
            some = [SENTENCES[(number + k) % 8] for k in range(1 + (copy + number) % 4)]
            lines.append(f"{copy}: {' '.join(some)}\n")
    source.write_text("".join(lines), encoding="utf-8")
    chosen = AnnotationSettings(**({"parser": parser, "shard_characters": 500} | changes))
    annotate([str(source)], folder / "corpus", chosen)
    return folder / "corpus"


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder, by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def pretraining(
    corpus: Path | str, encoder: Path | str, *, head=None, training=None, **changes
) -> Experiment:
    """Settings of a short pre-training run with SEPREM's guide."""
    values = {
        "task": "pretraining",
        "data": {"train": [str(corpus)], "dev": [str(corpus)]},
        "encoder": str(encoder),
        "preset": "seprem",
        "head": {"max_length": 40, "head_width": 16, "longest": 6} | (head or {}),
        "training": {
            "max_steps": 12,
            "learning_rate": 1e-3,
            "batch_tokens": 256,
            "save_steps": 1000,
            "precision": "float32",
        }
        | (training or {}),
    }
    return build(Experiment, values | changes)
