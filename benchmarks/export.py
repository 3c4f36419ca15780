"""Exported readers in onnxruntime, relative to our own reader in torch.

    python -m benchmarks.export
    python -m benchmarks.export --reader accurate-reader

Both get the same windows of the passages of `examples/questions`, already cut into pieces and
parsed, one window at a time: what is compared is the model alone.  Our reader computes in the
precision that it chooses by itself.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from operator import truediv
from pathlib import Path
from statistics import median

import torch

from benchmarks.quick import size
from benchmarks.tables import show
from benchmarks.timing import timings
from syntagma.encoders.default import find_download
from syntagma.encoders.named_models import NAMED_MODELS, names_of
from syntagma.encoders.precision import autocast
from syntagma.export.families import SpanFamily
from syntagma.export.folder import export
from syntagma.export.onnx_file import MODEL, Session
from syntagma.export.texts import passages
from syntagma.tasks.spans.reader import Reader

N_PASSAGES = size(20, 2)
PAUSE = size(1.0, 0.0)
"""Seconds before each way, in which threads of the one before it fall asleep."""


def row_of(name: str, folder: Path, repeat: int) -> dict[str, object]:
    """Measure one reader: milliseconds for a window, and ratios to our own reader's."""
    exports = {
        precision: export(name, folder / f"{name}-{precision}", int8=precision == "int8")
        for precision in ("float32", "int8")
    }
    reader = Reader.from_pretrained(name)
    family = SpanFamily(reader)
    rows = [(text, questions[0]) for text, questions in passages()[:N_PASSAGES]]
    batches = [family.batch([item]) for item in family.items(rows)]

    @torch.inference_mode()
    def run(batch: dict[str, torch.Tensor]) -> None:
        with autocast(reader.model.device, reader.precision):
            reader.model(**batch)

    ways: dict[str, Callable[[dict[str, torch.Tensor]], object]] = {"own": run} | {
        precision: Session(found.folder / MODEL, n_threads=torch.get_num_threads())
        for precision, found in exports.items()
    }
    # One way after another, with a pause: threads of onnxruntime and of torch spin for a while
    # after each call, and taking turns would slow down whichever comes next.
    times: dict[str, list[float]] = {}
    for way, call in ways.items():
        time.sleep(PAUSE)
        times[way] = [
            min(timings({way: partial(call, batch)}, repeat=repeat)[way]) for batch in batches
        ]

    def ratio(way: str) -> str:
        return f"{median(map(truediv, times[way], times['own'])):.2f}"

    return {
        "": name,
        "own, ms": 1000 * median(times["own"]),
        **{f"{way} ÷ own": ratio(way) for way in exports},
        **{f"{way}, MB": found.size / 1e6 for way, found in exports.items()},
        "int8, equal spans": exports["int8"].parity.equal_predictions,
    }


def main(arguments: Sequence[str] | None = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reader", action="append", default=[], help="by default all that ship")
    parser.add_argument("--repeat", type=int, default=size(5, 1))
    given = parser.parse_args(arguments)
    ready = [name for name in names_of("reader") if find_download(NAMED_MODELS[name].encoder)]
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            row_of(name, Path(folder), given.repeat)
            for name in given.reader or size(ready, ready[:1])
        ]
    show("export", rows)


if __name__ == "__main__":
    main(None)
