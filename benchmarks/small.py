"""What to expect of small machines: one core, no AMX, no AVX-512, little memory.

Features of the processor are switched off by environment variables of torch, oneDNN and MKL, cores
by the affinity of the process.  Memory is the greatest resident size of the whole process.

    python -m benchmarks.small
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

from benchmarks.peak_memory import peak_memory
from benchmarks.quick import size
from benchmarks.text import example_questions, example_texts, treebank_sentences

ROUNDS = size(3, 1)
SENTENCES = size(400, 20)
N_QUESTIONS = size(32, 2)
WITHOUT_AMX = {
    "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI",
    "MKL_ENABLE_INSTRUCTIONS": "AVX512",
}
WITHOUT_AVX512 = {
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "ATEN_CPU_CAPABILITY": "avx2",
}
MACHINES: dict[str, tuple[int | None, dict[str, str]]] = {
    "all cores": (None, {}),
    "… without AMX": (None, WITHOUT_AMX),
    "… without AVX-512": (None, WITHOUT_AVX512),
    "1 core": (1, {}),
    "1 core without AVX-512": (1, WITHOUT_AVX512),
}
"""The number of cores (``None``: all) and environment variables of each machine."""


def parsing() -> Callable[[], int]:
    """Load the parser; the function that is returned parses, and returns the number of words."""
    from syntagma.parse.sources.load import load_parser

    parser = load_parser("default-parser")
    sentences = treebank_sentences(SENTENCES)
    return lambda: sum(len(parse.heads) for parse in parser.parse(sentences))


def answering() -> Callable[[], int]:
    """Load the reader; the function that is returned answers, and returns how many questions."""
    from syntagma import Reader

    reader = Reader.from_pretrained("default")
    pairs = [(text, question) for text in example_texts(8) for question in example_questions()]
    return lambda: len(reader(pairs[:N_QUESTIONS]))


def work(kind: str) -> None:
    """Print the items per second, and the peak memory in MB, of this process."""
    from syntagma.cpu_threads import choose_threads

    choose_threads()
    call = {"parse": parsing, "answer": answering}[kind]()
    call()
    start = time.perf_counter()
    n_items = call()
    speed = n_items / (time.perf_counter() - start)
    print(json.dumps([speed, peak_memory() / 2**20]))


def measure(kind: str, cores: int | None, variables: dict[str, str]) -> tuple[float, float]:
    """Return items per second and MB of a process on a small machine."""
    code = f"from benchmarks.small import work; work({kind!r})"
    allowed = os.sched_getaffinity(0)
    if cores:
        # A process inherits the affinity of the thread that starts it.
        os.sched_setaffinity(0, set(sorted(allowed)[:cores]))
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            check=True, stdout=subprocess.PIPE, text=True, env=os.environ | variables,
        )  # fmt: skip
    finally:
        os.sched_setaffinity(0, allowed)
    speed, memory = json.loads(done.stdout)
    return speed, memory


def main() -> None:
    # The processes that are measured must choose their threads before they import torch.
    import torch

    from benchmarks.tables import show

    os.environ.pop("GOMP_SPINCOUNT", None)
    if not torch.cpu._is_amx_tile_supported():
        del MACHINES["… without AMX"]
    rounds = [
        {
            (name, kind): measure(kind, cores, variables)
            for name, (cores, variables) in MACHINES.items()
            for kind in ("parse", "answer")
        }
        for _ in range(ROUNDS)
    ]
    first = next(iter(MACHINES))
    rows = []
    for name in MACHINES:
        row: dict[str, object] = {"": name}
        for kind, unit in (("parse", "words/s"), ("answer", "questions/s")):
            speeds = [found[name, kind][0] for found in rounds]
            fastest = median(found[first, kind][0] for found in rounds)
            row |= {
                f"{kind}, {unit}": median(speeds),
                f"{kind}, relative": median(speeds) / fastest,
            }
            row[f"{kind}, MB"] = median(found[name, kind][1] for found in rounds)
        rows.append(row)
    show("Small machines", rows)


if __name__ == "__main__":
    main()
