"""Linear layers in bfloat16 on CPUs: as torch computes them, on padded rows, with packed weights.

The same sentences are given to each, but new ones in each round, as a corpus or users would: their
batches have numbers of rows that no batch before had.  Then one sentence at a time, new ones again.

    SYNTAGMA_BENCH_TREEBANK=EWT-TRAIN.conllu.gz python -m benchmarks.linear

Without a treebank the sentences are those of the example, whose lengths recur in each round.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from itertools import islice

import torch

from benchmarks.quick import size
from benchmarks.tables import Measured, show
from benchmarks.text import treebank_sentences
from syntagma.encoders.cpu.forwards import unwrap_forward
from syntagma.encoders.cpu.linear import PaddedLinear
from syntagma.encoders.cpu.packed import PackedLinear, has_packing
from syntagma.parse.parser import JointParser
from syntagma.parse.sources.load import load_parser
from syntagma.text.sentence import Sentence

ROUNDS = size(6, 1)
"""The first warms up and does not count."""
PER_ROUND = size(400, 20)
ALONE = size(40, 3)
"""Sentences of a round that are parsed one at a time."""


def parsers() -> dict[str, JointParser]:
    """Return the default parser, with each way to compute linear layers."""
    found = {
        name: load_parser("default-parser", precision="bfloat16")
        for name in ("torch", "padded rows", "packed weights")
    }
    for module in found["torch"].model.modules():
        unwrap_forward(module, PaddedLinear)
    for module in found["padded rows"].model.modules():
        if isinstance(module.forward, PackedLinear):
            # What it inherits pads rows and packs nothing.
            module.forward = PaddedLinear(module)
    return found


def seconds(call: Callable[[], object]) -> float:
    """Return the time that a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    if not has_packing():
        raise SystemExit("linear: this CPU or this build of torch lacks bfloat16 in oneDNN")
    ways = parsers()
    source = iter([each for each in treebank_sentences(10**6) if len(each)])
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    waits: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(ROUNDS):
        many = list(islice(source, PER_ROUND))
        names = list(ways)
        # Each way comes first in turn: what one compiles, the others find compiled.
        for name in names[number % len(names) :] + names[: number % len(names)]:
            parser = ways[name]
            took = seconds(partial(parser.parse, many))
            alone = [seconds(partial(parser.parse, [s])) for s in _spread(many)]
            if number or ROUNDS == 1:
                speeds[name].append(sum(map(len, many)) / took)
                waits[name].append(1000 * statistics.median(alone))
    rows = [
        {
            "linear layers": name,
            "words/s": _range(speeds[name]),
            "÷ torch": statistics.median(speeds[name]) / statistics.median(speeds["torch"]),
            "one sentence, ms": _range(waits[name]),
            "time ÷ torch": statistics.median(waits[name]) / statistics.median(waits["torch"]),
        }
        for name in ways
    ]
    show("Linear layers in bfloat16", rows, {"threads": torch.get_num_threads()})


def _spread(sentences: list[Sentence]) -> list[Sentence]:
    return sentences[:: max(1, len(sentences) // ALONE)]


def _range(values: list[float]) -> Measured:
    return Measured(statistics.median(values), lowest=min(values), highest=max(values))


if __name__ == "__main__":
    main()
