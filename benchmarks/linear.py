"""Linear layers on CPUs: as torch computes them, and in our ways.

In bfloat16 these are padded rows and packed weights, in float32 oneDNN in place of MKL.

The same sentences are given to each, but new ones in each round, as a corpus or users would: their
batches have numbers of rows that no batch before had.  Then one sentence at a time, new ones again.

    SYNTAGMA_BENCH_TREEBANK=EWT-TRAIN.conllu.gz python -m benchmarks.linear

Without a treebank the sentences are those of the example, whose lengths recur in each round.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from types import MappingProxyType

import torch

from benchmarks.quick import size
from benchmarks.tables import Measured, show
from benchmarks.text import treebank_sentences
from syntagma.encoders.cpu.derived import DerivedLinear
from syntagma.encoders.cpu.float32 import has_onednn, is_faster, use_onednn
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
NOTHING: Mapping[str, str] = MappingProxyType({})


def in_bfloat16() -> dict[str, JointParser]:
    """Return the default parser in bfloat16, with each way to compute linear layers."""
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


def in_float32() -> dict[str, JointParser]:
    """Return the default parser in float32, with the products of MKL and of oneDNN."""
    found = {
        name: load_parser("default-parser", precision="float32") for name in ("torch", "oneDNN")
    }
    for module in found["torch"].model.modules():
        unwrap_forward(module, PaddedLinear)
        if isinstance(module, DerivedLinear):
            module.compute_by(None)
    use_onednn(found["oneDNN"].model)  # Also where it is not the faster one.
    return found


def seconds(call: Callable[[], object]) -> float:
    """Return the time that a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    if has_packing():
        measure("Linear layers in bfloat16", in_bfloat16())
    if has_onednn():
        chosen = "oneDNN" if is_faster() else "torch"
        measure("Linear layers in float32", in_float32(), {"chosen here": chosen})


def measure(title: str, ways: dict[str, JointParser], facts: Mapping[str, str] = NOTHING) -> None:
    """Parse new sentences in each round, many at once and one at a time, and show a table.

    Args:
        title: of the table.
        ways: parsers by the name of how they compute; the first is what others are compared with.
        facts: more to say about the table.
    """
    source = iter([each for each in treebank_sentences(10**6) if len(each)])
    first = next(iter(ways))
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    waits: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(ROUNDS):
        many = list(islice(source, PER_ROUND))
        names = list(ways)
        # Each way comes first in turn: what one compiles, the others find compiled.
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
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
            f"÷ {first}": statistics.median(speeds[name]) / statistics.median(speeds[first]),
            "one sentence, ms": _range(waits[name]),
            f"time ÷ {first}": statistics.median(waits[name]) / statistics.median(waits[first]),
        }
        for name in ways
    ]
    show(title, rows, {"threads": torch.get_num_threads(), **facts})


def _spread(sentences: list[Sentence]) -> list[Sentence]:
    return sentences[:: max(1, len(sentences) // ALONE)]


def _range(values: list[float]) -> Measured:
    return Measured(statistics.median(values), lowest=min(values), highest=max(values))


if __name__ == "__main__":
    main()
