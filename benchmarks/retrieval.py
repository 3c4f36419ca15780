"""Indexes of documents: how fast they are built, how large they are, how long a search takes.

    python -m benchmarks.retrieval                             # made-up documents, keywords alone
    python -m benchmarks.retrieval --encoder default --passages 1000 10000 100000
    python -m benchmarks.retrieval --text FILE.txt.gz --encoder default

Documents are made up of words whose frequencies follow Zipf's law, or are lines of a text.  Every
size is built in a process of its own, whose greatest memory is measured, then brought up to date
after one document has changed.  Searches are timed with all pages of the index in memory.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peak_memory import peak_memory
from benchmarks.quick import size
from benchmarks.tables import show
from syntagma.files import read_lines

WORDS, SENTENCE, PER_DOCUMENT = 120, 15, 20
"""Words of a passage and of a sentence, and passages of a document."""
VOCABULARY = 200_000
N_QUESTIONS = 50


def made_passages(seed: int = 0) -> Iterator[str]:
    """Yield passages of made-up words without end."""
    draw = np.random.default_rng(seed)
    while True:
        words = [f"w{number % VOCABULARY}" for number in draw.zipf(1.2, WORDS)]
        parts = (words[first : first + SENTENCE] for first in range(0, WORDS, SENTENCE))
        yield " ".join(f"{' '.join(part).capitalize()}." for part in parts)


def write_documents(folder: Path, passages: Iterator[str], n_passages: int) -> int:
    """Write documents of several passages each; return the number of passages."""
    folder.mkdir()
    written = 0
    while texts := list(islice(passages, min(PER_DOCUMENT, n_passages - written))):
        (folder / f"{written:08d}.txt").write_text("\n\n".join(texts), encoding="utf-8")
        written += len(texts)
    return written


def measure(root: Path, n_passages: int, encoder: str, text: str, results: Any) -> None:
    """Build, update and search an index of one size."""
    from syntagma.retrieval.passage_index import PassageIndex

    source = read_lines(text) if text else made_passages()
    write_documents(root / "documents", (line for line in source if line.strip()), n_passages)
    folder = root / "index"

    def build() -> tuple[PassageIndex, float]:
        start = time.perf_counter()
        index = PassageIndex.build([root / "documents"], folder, encoder=encoder)
        return index, time.perf_counter() - start

    index, built = build()
    changed = next((root / "documents").glob("*.txt"))
    changed.write_text("Something else. " + changed.read_text(encoding="utf-8"), encoding="utf-8")
    index, updated = build()
    start = time.perf_counter()
    index = PassageIndex.open(folder)
    opened = time.perf_counter() - start
    questions = [
        " ".join(index.passages([str(number)])[0].text.split()[5:13])
        for number in np.linspace(0, len(index) - 1, N_QUESTIONS).astype(int)
    ]
    index.search(questions[:2])
    seconds = []
    for question in questions:
        start = time.perf_counter()
        index.search([question], top=10)
        seconds.append(time.perf_counter() - start)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    results.put(
        {
            "passages": len(index),
            "passages/s": len(index) / built,
            "update s": updated,
            "MB": size / 1e6,
            "bytes a passage": size / len(index),
            "open ms": 1e3 * opened,
            "search ms": 1e3 * statistics.median(seconds),
            "peak MB": peak_memory() / 1e6,
        }
    )


def main(arguments: list[str] | None = None) -> None:
    """Measure every size, and print a table."""
    given = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    given.add_argument("--passages", type=int, nargs="+", default=size([1_000, 10_000], [100]))
    given.add_argument("--encoder", default="", help="of the vectors; none by default")
    given.add_argument("--text", default="", help="file whose lines are the passages")
    options = given.parse_args(arguments)
    context = multiprocessing.get_context("spawn")
    rows = []
    for n_passages in options.passages:
        root = Path(tempfile.mkdtemp(prefix="retrieval-"))
        try:
            results = context.SimpleQueue()
            process = context.Process(
                target=measure, args=(root, n_passages, options.encoder, options.text, results)
            )
            process.start()
            process.join()
            if process.exitcode:
                raise SystemExit(f"measuring {n_passages} passages failed")
            rows.append(results.get())
        finally:
            shutil.rmtree(root)
    show(f"index of documents, {options.encoder or 'keywords alone'}", rows)


if __name__ == "__main__":
    main()
