"""Annotated corpora: size and reading speed compared with JSON, annotation speed and memory.

The JSON is in the usual format of a parsed corpus: one object per sentence, with its words, heads,
relations and tags.  Speed is by workers, and with Ray on this machine where it is installed.

    SYNTAGMA_BENCH_TEXT=data/lm/wikipedia_paragraphs.txt.gz python -m benchmarks.corpora
    python -m benchmarks.corpora --sentences 1000000    # memory alone, with fast-parser
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import get_args

import pyarrow.parquet as parquet

from benchmarks.quick import size
from benchmarks.tables import Measured, show
from benchmarks.text import paragraphs
from benchmarks.timing import rounds
from syntagma.parse.corpora.annotator import AnnotationSettings
from syntagma.parse.corpora.corpus import AnnotatedCorpus
from syntagma.parse.corpora.runner import Engine, annotate

TREE = ("heads", "relations", "upos", "xpos")
ROUNDS = size(5, 1)
PARAGRAPHS = size(500, 10)
"""Paragraphs that a worker annotates in the shorter of two runs."""
TREES_ALONE = "Parquet: heads, relations, UPOS, XPOS"
WITH_OFFSETS = "… with character offsets"
BYTES_BARS = {TREES_ALONE: 1.96, WITH_OFFSETS: 2.73}
"""The most bytes of a word, over paragraphs of Wikipedia."""
SHORT = (
    "The ferry left at noon.",
    "Nobody waited on the pier.",
    "Ada sold three old boats.",
    "It rained, so we stayed.",
)
OFFSETS = ("file", "document", "sentence", "start", "gaps", "lengths")


def column_bytes(folder: Path) -> dict[str, int]:
    """Return the size of each column on disk, in bytes, over all shards."""
    sizes: dict[str, int] = {}
    for path in folder.glob("*.parquet"):
        metadata = parquet.read_metadata(path)
        for group in range(metadata.num_row_groups):
            for index in range(metadata.num_columns):
                column = metadata.row_group(group).column(index)
                name = column.path_in_schema.split(".")[0]
                sizes[name] = sizes.get(name, 0) + column.total_compressed_size
    return sizes


def write_json(corpus: AnnotatedCorpus, path: Path) -> None:
    """Write a corpus as JSON lines."""
    with open(path, "w", encoding="utf-8") as file:
        for sentence in corpus.sentences():
            parse = sentence.parse
            row = {
                "words": parse.sentence.forms,
                "heads": parse.heads,
                "relations": parse.relations,
                "upos": parse.upos,
                "xpos": parse.xpos,
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def storage(folder: Path, source: Path) -> None:
    """Compare the size and the reading speed of Parquet and JSON."""
    settings = AnnotationSettings(precision="auto")
    manifest = annotate([str(source)], folder / "parquet", settings)
    corpus = AnnotatedCorpus(folder / "parquet")
    n_words, n_sentences = manifest.counts.words, manifest.counts.sentences
    write_json(corpus, folder / "parses.jsonl")
    plain = (folder / "parses.jsonl").stat().st_size
    packed = len(gzip.compress((folder / "parses.jsonl").read_bytes()))
    sizes = column_bytes(folder / "parquet")
    whole = sum(path.stat().st_size for path in (folder / "parquet").glob("*.parquet"))
    tree = sum(sizes[name] for name in TREE)
    offsets = tree + sum(sizes.get(name, 0) for name in OFFSETS)
    rows = [
        {"": name, "bytes per word": Measured(size / n_words, at_most=BYTES_BARS.get(name)),
         "bytes per sentence": size / n_sentences, "relative to JSON": size / plain}
        for name, size in {
            "JSON, one sentence per line": plain,
            "the same, gzip": packed,
            TREES_ALONE: tree,
            WITH_OFFSETS: offsets,
            "… with the text: the complete files": whole,
        }.items()
    ]  # fmt: skip
    show(f"Size of {n_sentences:,} sentences, {n_words:,} words", rows)

    def from_json() -> list[list[int]]:
        with open(folder / "parses.jsonl", encoding="utf-8") as file:
            return [json.loads(line)["heads"] for line in file]

    def columns(*names: str) -> Callable[[], object]:
        return lambda: [getattr(shard, name) for shard in corpus.shards() for name in names]

    readers = {
        "JSON": from_json,
        "Parquet: heads": columns("heads"),
        "Parquet: heads, relations, UPOS, XPOS": columns(*TREE),
        "… with character offsets": columns(*TREE, "starts", "ends"),
        "… with the text": columns(*TREE, "starts", "ends", "texts"),
    }
    seconds = rounds(readers, repeat=size(9, 1))
    show(
        "Reading speed",
        [
            {"": name, "words/s": n_words / value, "relative to JSON": seconds["JSON"] / value}
            for name, value in seconds.items()
        ],
    )


def throughput(folder: Path) -> None:
    """Measure the speed of annotation for different numbers of workers, and with Ray.

    Each setting annotates a short and a long corpus.  The difference of the times does not include
    start-up.  Rounds are interleaved and summarised by their median, because the speed of a core
    depends on the load of the machine.
    """
    n_cores = len(os.sched_getaffinity(0))
    settings = AnnotationSettings(shard_characters=100_000, precision="auto")
    texts = list(itertools.islice(paragraphs(), 3 * PARAGRAPHS * n_cores))
    engines = [each for each in get_args(Engine) if each == "local" or find_spec(each)]
    worker_counts = sorted({1, 2, n_cores})
    kinds = [(engine, workers) for engine in engines for workers in worker_counts]

    def rates(engine: Engine, workers: int) -> tuple[float, float]:
        runs = []
        for share in (1, 3):
            source = folder / f"{workers}-{share}.txt"
            source.write_text(
                "".join(f"{line}\n" for line in texts[: PARAGRAPHS * workers * share])
            )
            out = source.with_suffix("")
            start = time.perf_counter()
            counts = annotate([str(source)], out, settings, workers=workers, engine=engine).counts
            runs.append((time.perf_counter() - start, counts.sentences, counts.words))
            shutil.rmtree(out)
        seconds, n_sentences, n_words = (more - less for less, more in zip(*runs, strict=True))
        return n_sentences / seconds, n_words / seconds

    measured = [{kind: rates(*kind) for kind in kinds} for _ in range(ROUNDS)]
    rows: list[dict[str, object]] = []
    for engine, workers in kinds:
        found = [speeds[engine, workers] for speeds in measured]
        shares = [
            speeds[engine, workers][0] / speeds["local", 1][0] / workers for speeds in measured
        ]
        rows.append(
            {
                "engine": engine,
                "workers": workers,
                "sentences/s": median(speed for speed, _ in found),
                "words/s": median(speed for _, speed in found),
                "efficiency": Measured(median(shares), lowest=min(shares), highest=max(shares)),
            }
        )
    show("Annotation speed by workers, one core each", rows)


def memory(folder: Path, n_sentences: int) -> None:
    """Measure the resident memory of `syntagma annotate` while it parses many short sentences."""
    source, out = folder / "many.txt", folder / "many"
    texts = itertools.cycle(SHORT)
    with open(source, "w", encoding="utf-8") as file:
        file.writelines(f"{next(texts)}\n" for _ in range(n_sentences))
    command = [sys.executable, "-m", "syntagma", "annotate", str(source), "--out", str(out),
               "--parser", "fast-parser", "--shard-characters", "500000"]  # fmt: skip
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as process:
        samples: list[tuple[float, float]] = []
        while process.poll() is None:
            samples.append((time.monotonic() - start, session_megabytes(process.pid)))
            time.sleep(1)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    end = samples[-1][0]
    rows = [
        {
            "time": f"{100 * low // 4} to {100 * (low + 1) // 4} %",
            "greatest memory of all processes, MB": max(
                size for second, size in samples if low * end / 4 <= second <= (low + 1) * end / 4
            ),
        }
        for low in range(4)
    ]
    print(f"{n_sentences / end:,.0f} sentences a second")
    show(f"Memory of annotate over {n_sentences:,} sentences", rows)


def session_megabytes(session: int) -> float:
    """Return the resident memory of all processes of a session, in MB; shared pages count once."""
    total = 0.0
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(path.name)) != session:
                continue
            lines = (path / "smaps_rollup").read_text().splitlines()
        except (OSError, ProcessLookupError):  # It has just ended.
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
    return total


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sentences", type=int, default=0, help="measure memory alone, over these")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.sentences:
            memory(folder, given.sentences)
            return
        source = folder / "paragraphs.txt"
        lines: Iterator[str] = itertools.islice(paragraphs(), size(6000, 40))
        source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        storage(folder, source)
        throughput(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
