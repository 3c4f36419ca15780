"""Read annotated corpora as columns, parses or a training dataset, and verify them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from syntagma.errors import DamagedFileError, InputError, MissingExtraError
from syntagma.parse.columns import Labels
from syntagma.parse.corpora.manifest import Manifest, ShardEntry, checksum, read_manifest
from syntagma.parse.corpora.shards import LABELS, Shard
from syntagma.parse.trees import are_trees
from syntagma.text.sentence import Parse, Sentence


@dataclass(frozen=True, slots=True)
class CorpusSentence:
    """A sentence of an annotated corpus.

    Args:
        file: index of the input file in ``manifest.inputs``.
        document: number of the record in the file, from 1.
        text: the sentence as written in the record.
        parse: the parse; its offsets refer to the record.
    """

    file: int
    document: int
    text: str
    parse: Parse


class AnnotatedCorpus:
    """A finished annotated corpus.

    Args:
        folder: a folder written by :func:`syntagma.parse.corpora.runner.annotate`.

    Raises:
        InputError: the folder does not contain a finished corpus.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.manifest: Manifest = read_manifest(folder)

    def __len__(self) -> int:
        """Number of sentences."""
        return self.manifest.counts.sentences

    def shards(self) -> Iterator[Shard]:
        """Yield the shards; their columns are read from disk on first access.

        Raises:
            DamagedFileError: a shard is missing or damaged.
        """
        for number in range(len(self.manifest.shards)):
            yield self.shard(number)

    def shard(self, number: int, *, verify: bool = False) -> Shard:
        """Open one shard.

        Args:
            number: index of the shard in the manifest.
            verify: whether to verify the checksum first.

        Raises:
            DamagedFileError: the shard is missing or damaged.
        """
        entry = self.manifest.shards[number]
        path = self.folder / entry.name
        if not path.is_file():
            raise DamagedFileError(f"{path}: is missing; annotate again with --resume")
        if verify and checksum(path) != entry.checksum:
            raise DamagedFileError(
                f"{path}: damaged, its bytes do not match the checksum; annotate again with "
                f"--resume"
            )
        return Shard(path)

    def check_sizes(self) -> None:
        """Check that all shards exist and have the recorded size; much faster than :meth:`check`.

        Raises:
            DamagedFileError: a shard is missing or has another size.
        """
        for entry in self.manifest.shards:
            path = self.folder / entry.name
            if not path.is_file():
                raise DamagedFileError(f"{path}: is missing; annotate again with --resume")
            if path.stat().st_size != entry.bytes:
                raise DamagedFileError(
                    f"{path}: expected {entry.bytes} bytes, got {path.stat().st_size}; annotate "
                    f"again with --resume"
                )

    def sentences(self) -> Iterator[CorpusSentence]:
        """Yield the sentences in order.

        Raises:
            InputError: the corpus was written without text.
            DamagedFileError: a shard is missing or damaged.
        """
        for shard in self.shards():
            if shard.texts is None:
                raise InputError(
                    f"{self.folder}: was annotated without text, so its words are unknown; "
                    f"annotate without --no-text, or read columns with AnnotatedCorpus.shards()"
                )
            yield from _sentences(shard, shard.texts)

    def dataset(self) -> Any:
        """Return the sentences as a ``datasets.IterableDataset``, sharded by Parquet file.

        Rows have the fields ``file``, ``document``, ``sentence``, ``text`` if it was stored, and
        lists with one element per word: ``starts`` and ``ends`` (offsets in the sentence),
        ``heads`` (1-based, 0 for the root), ``relations``, ``upos`` and ``xpos`` (codes of
        :meth:`labels`).

        Raises:
            MissingExtraError: ``datasets`` is not installed.
        """
        try:
            from datasets import IterableDataset
        except ImportError as error:
            raise MissingExtraError("a dataset view", "data") from error
        # `datasets` shards a generator over the lists in its keyword arguments.
        paths = [str(self.folder / entry.name) for entry in self.manifest.shards]
        return IterableDataset.from_generator(
            _rows, gen_kwargs={"paths": paths, "names": self.labels()}
        )

    def labels(self) -> dict[str, list[str]]:
        """Return the labels of each column, in the order of the codes in :meth:`dataset`."""
        union = {name: Labels() for name in LABELS}
        for shard in self.shards():
            for name, known in union.items():
                known.encode(shard.labels[name])
        return {name: known.names for name, known in union.items()}

    def check(self) -> list[str]:
        """Verify the corpus and return one line for each problem.

        Verifies checksums, counts, trees (one root, every head inside its sentence, no cycle),
        offsets, label codes, and the totals in the manifest.
        """
        problems = []
        for entry in self.manifest.shards:
            path = self.folder / entry.name
            if not path.is_file():
                problems.append(f"{entry.name}: is missing")
            elif checksum(path) != entry.checksum:
                problems.append(f"{entry.name}: damaged, its bytes do not match the checksum")
            else:
                problems += _problems(entry, Shard(path))
        counts = self.manifest.counts
        if counts.records != counts.documents + counts.blank + counts.skipped:
            problems.append("manifest.json: the counts do not add up to the number of records")
        known = {entry.name for entry in self.manifest.shards}
        for path in sorted(self.folder.glob("*.parquet")):
            if path.name not in known:
                problems.append(f"{path.name}: is not in manifest.json")
        return problems


def _problems(entry: ShardEntry, shard: Shard) -> list[str]:
    """Verify the content of a shard whose checksum is correct."""
    found = []
    if len(shard) != entry.counts.sentences or len(shard.heads) != entry.counts.words:
        found.append(
            f"{entry.name}: expected {entry.counts.sentences} sentences and {entry.counts.words} "
            f"words, got {len(shard)} and {len(shard.heads)}"
        )
    bad = np.flatnonzero(~are_trees(shard.heads, shard.bounds))
    if len(bad):
        found.append(f"{entry.name}: {len(bad)} sentences are not trees, first {bad[0]}")
    if (shard.ends < shard.starts).any() or (shard.starts < 0).any():
        found.append(f"{entry.name}: has words that end before they start")
    for name in LABELS:
        codes = getattr(shard, name)
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(shard.labels[name]):
            found.append(f"{entry.name}: has codes without a label in column {name}")
    return found


def _sentences(shard: Shard, texts: Sequence[str]) -> Iterator[CorpusSentence]:
    """Yield the sentences of a shard."""
    # Whole columns become Python lists at once: indexing NumPy arrays word by word is slow.
    names = {name: np.array(labels, object) for name, labels in shard.labels.items()}
    columns = {name: names[name][getattr(shard, name)].tolist() for name in LABELS}
    starts, ends, heads = shard.starts.tolist(), shard.ends.tolist(), shard.heads.tolist()
    probabilities = None if shard.confidence is None else shard.confidence.tolist()
    bounds = shard.bounds.tolist()
    stored_forms = shard.forms or [None] * len(shard)
    parts = shard.parts or [()] * len(shard)
    continues = shard.continues or [False] * len(shard)
    multiword = shard.multiword or [None] * len(shard)
    places = shard.file.tolist(), shard.document.tolist()
    rows = zip(*places, texts, stored_forms, parts, continues, multiword, strict=True)
    for (file, document, text, stored, own_parts, continued, tokens), begin, end in zip(
        rows, bounds[:-1], bounds[1:], strict=True
    ):
        words = slice(begin, end)
        offset = starts[begin] if end > begin else 0
        forms = stored or tuple(
            text[start - offset : stop - offset]
            for start, stop in zip(starts[words], ends[words], strict=True)
        )
        parse = Parse(
            Sentence(forms, tuple(starts[words]), tuple(ends[words]), continued, tokens),
            tuple(heads[words]),
            relations=tuple(columns["relations"][words]),
            upos=tuple(columns["upos"][words]),
            xpos=tuple(columns["xpos"][words]),
            probabilities=None if probabilities is None else tuple(probabilities[words]),
            parts=own_parts,
        )
        yield CorpusSentence(file, document, text, parse)


def _rows(paths: list[str], names: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of some shards, with label codes of the whole corpus."""
    for path in paths:
        shard = Shard(path)
        codes = {}
        for name in LABELS:
            # Shards number their labels independently of one another.
            new = Labels(names[name])
            translate = np.array(new.encode(shard.labels[name]), np.int64)
            codes[name] = translate[getattr(shard, name)] if len(translate) else shard.heads
        for row, (begin, end) in enumerate(zip(shard.bounds[:-1], shard.bounds[1:], strict=True)):
            words = slice(begin, end)
            offset = shard.starts[begin] if end > begin else 0
            yield {
                "file": int(shard.file[row]),
                "document": int(shard.document[row]),
                "sentence": int(shard.sentence[row]),
                **({} if shard.texts is None else {"text": shard.texts[row]}),
                "starts": (shard.starts[words] - offset).tolist(),
                "ends": (shard.ends[words] - offset).tolist(),
                "heads": shard.heads[words].tolist(),
                **{name: codes[name][words].tolist() for name in LABELS},
            }
