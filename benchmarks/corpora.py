"""Annotated corpora: size and reading speed compared with JSON, and annotation speed by workers.

The JSON is in the usual format of a parsed corpus: one object per sentence, with its words, heads,
relations and tags.

    SYNTAGMA_BENCH_TEXT=data/lm/wikipedia_paragraphs.txt.gz python -m benchmarks.corpora
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import pyarrow.parquet as parquet

from benchmarks.text import paragraphs
from benchmarks.timing import rounds, show
from syntagma.parse.corpora.annotator import AnnotationSettings
from syntagma.parse.corpora.corpus import AnnotatedCorpus
from syntagma.parse.corpora.runner import annotate

TREE = ("heads", "relations", "upos", "xpos")
ROUNDS = 5
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
        {"": name, "bytes per word": size / n_words, "bytes per sentence": size / n_sentences,
         "relative to JSON": size / plain}
        for name, size in {
            "JSON, one sentence per line": plain,
            "the same, gzip": packed,
            "Parquet: heads, relations, UPOS, XPOS": tree,
            "… with character offsets": offsets,
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
    seconds = rounds(readers, repeat=9)
    show(
        "Reading speed",
        [
            {"": name, "words/s": n_words / value, "relative to JSON": seconds["JSON"] / value}
            for name, value in seconds.items()
        ],
    )


def throughput(folder: Path) -> None:
    """Measure the speed of annotation for different numbers of workers.

    Each number of workers annotates a short and a long corpus.  The difference of the times does
    not include start-up.  Rounds are interleaved and summarised by their median, because the speed
    of a core depends on the load of the machine.
    """
    n_cores = len(os.sched_getaffinity(0))
    settings = AnnotationSettings(shard_characters=100_000, precision="auto")
    texts = list(itertools.islice(paragraphs(), 1500 * n_cores))

    def rates(workers: int) -> tuple[float, float]:
        runs = []
        for share in (1, 3):
            source = folder / f"{workers}-{share}.txt"
            source.write_text("".join(f"{line}\n" for line in texts[: 500 * workers * share]))
            out = source.with_suffix("")
            start = time.perf_counter()
            counts = annotate([str(source)], out, settings, workers=workers).counts
            runs.append((time.perf_counter() - start, counts.sentences, counts.words))
            shutil.rmtree(out)
        seconds, n_sentences, n_words = (more - less for less, more in zip(*runs, strict=True))
        return n_sentences / seconds, n_words / seconds

    worker_counts = sorted({1, 2, n_cores})
    measured = [{workers: rates(workers) for workers in worker_counts} for _ in range(ROUNDS)]
    rows: list[dict[str, object]] = []
    for workers in worker_counts:
        shares = [speeds[workers][0] / speeds[1][0] / workers for speeds in measured]
        rows.append(
            {
                "workers": workers,
                "sentences/s": median(speeds[workers][0] for speeds in measured),
                "words/s": median(speeds[workers][1] for speeds in measured),
                "efficiency": median(shares),
                "lowest": min(shares),
                "highest": max(shares),
            }
        )
    show("Annotation speed by workers, one core each, bfloat16", rows)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "paragraphs.txt"
        lines: Iterator[str] = itertools.islice(paragraphs(), 6000)
        source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        storage(folder, source)
        throughput(folder)


if __name__ == "__main__":
    main()
