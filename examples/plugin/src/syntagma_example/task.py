"""A task: do two sentences say the same?  It is the task ``pairs`` with its own file format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from syntagma.files import read_lines
from syntagma.tasks.collect import gather, warn_of_skipped
from syntagma.tasks.pairs.data import PairExample
from syntagma.tasks.pairs.task import PairClassifier, PairTask
from syntagma.tasks.sample import SENTENCES, Sample

LABELS = {"1": "same", "0": "different"}


def read_rows(path: str | Path) -> Iterator[tuple[str, PairExample | str]]:
    """Yield each line as an example, or as a message that says what is wrong with it."""
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{path}, line {number}"
        columns = line.rstrip("\n").split("\t")
        if len(columns) == 3 and columns[0] in LABELS and all(map(str.strip, columns)):
            yield where, PairExample(str(number), columns[1], columns[2], LABELS[columns[0]])
        else:
            expected = "expected 1 or 0, a tab, a sentence, a tab and a sentence"
            yield where, f"{where}: {expected}, got {line!r:.60}"


def write_sample(folder: Path, copies: int) -> str:
    """Write a small data set, to try the task on."""
    rows = []
    for number in range(copies):
        for place, text in enumerate(SENTENCES):
            words = text.split()
            other = SENTENCES[(place + number + 1) % len(SENTENCES)]
            rows.append(f"1\t{text}\t{' '.join(words[1:] + words[:1])}")
            rows.append(f"0\t{text}\t{other}")
    path = folder / "paraphrases.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


class ParaphraseClassifier(PairClassifier):
    """Classifies pairs of sentences."""

    task = "paraphrases"


class ParaphraseTask(PairTask):
    """Files with a line for each pair: 1 or 0, a sentence and another, with tabs between them."""

    name = "paraphrases"
    predictor_class = ParaphraseClassifier
    sample = Sample(write_sample, head={"max_length": 64, "pooling": "max"})

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[PairExample]:
        """Read the pairs of a file."""
        found = gather(read_rows(path), skip_bad=skip_bad).require_some(f"{path}: no pairs")
        warn_of_skipped(path, found.skipped, "pairs")
        return found.examples
