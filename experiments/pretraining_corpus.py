"""Annotate text files for pre-training, a paragraph a line, and keep some of it apart.

    python experiments/pretraining_corpus.py --out runs/corpora FILE.txt.gz FILE.txt.gz

Every fiftieth paragraph goes to `dev`, all others to `train`; both are folders of Parquet shards.
Goes on where it was stopped.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from syntagma.annotation import annotate_files
from syntagma.files import read_lines, write_text
from syntagma.parse.corpora.annotator import AnnotationSettings

EVERY = 50


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="+")
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--workers", type=int)
    options = arguments.parse_args()
    parts: dict[str, list[str]] = {"train": [], "dev": []}
    for path in options.files:
        for number, line in enumerate(read_lines(path)):
            if line.strip():
                parts["dev" if number % EVERY == 0 else "train"].append(line.strip())
    options.out.mkdir(parents=True, exist_ok=True)
    for name, lines in parts.items():
        source, folder = options.out / f"{name}.txt", options.out / name
        write_text(source, "\n".join(lines) + "\n")
        # Sequences are mixed among a few shards at a time: smaller ones come from more places.
        settings = AnnotationSettings(shard_characters=500_000)
        manifest = annotate_files(
            [str(source)], folder, settings, workers=options.workers, resume=folder.exists()
        )
        print(f"{folder}: {manifest.counts.sentences:,} sentences, {manifest.counts.words:,} words")


if __name__ == "__main__":
    main()
