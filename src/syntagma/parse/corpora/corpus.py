"""Read annotated corpora back, as columns, parses or a dataset to train on; and check them."""

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

__all__ = ["AnnotatedCorpus"]


@dataclass(frozen=True, slots=True)
class CorpusSentence:
    """A sentence of an annotated corpus.

    Args:
        file: number of the input file, see ``manifest.inputs``.
        document: number of the record in it, from 1.
        text: the sentence as it stood in the record.
        parse: offsets index into the record.
    """

    file: int
    document: int
    text: str
    parse: Parse


class AnnotatedCorpus:
    """A finished corpus.

    Args:
        folder: as :func:`syntagma.parse.corpora.runner.annotate` wrote it.

    Raises:
        InputError: it holds no finished corpus.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.manifest: Manifest = read_manifest(folder)

    def __len__(self) -> int:
        """Sentences."""
        return self.manifest.counts.sentences

    def shards(self) -> Iterator[Shard]:
        """The shards as columns, one in memory at a time.

        Raises:
            DamagedFileError: a shard is missing or damaged.
        """
        for number in range(len(self.manifest.shards)):
            yield self.shard(number)

    def shard(self, number: int, *, verify: bool = False) -> Shard:
        """One shard as columns.

        Args:
            number: in the order of the manifest.
            verify: whether to compare its checksum.

        Raises:
            DamagedFileError: it is missing or damaged.
        """
        entry = self.manifest.shards[number]
        path = self.folder / entry.name
        if not path.is_file():
            raise DamagedFileError(f"{path}: is missing; annotate again with --resume")
        if verify and checksum(path) != entry.checksum:
            raise DamagedFileError(
                f"{path}: its bytes are not those that were written; annotate again with --resume"
            )
        return Shard(path)

    def check_sizes(self) -> None:
        """Check that all shards are there and as long as they were; quick, unlike :meth:`check`.

        Raises:
            DamagedFileError: one is not.
        """
        for entry in self.manifest.shards:
            path = self.folder / entry.name
            if not path.is_file():
                raise DamagedFileError(f"{path}: is missing; annotate again with --resume")
            if path.stat().st_size != entry.bytes:
                raise DamagedFileError(
                    f"{path}: has {path.stat().st_size} bytes instead of the {entry.bytes} that "
                    f"were written; annotate again with --resume"
                )

    def sentences(self) -> Iterator[CorpusSentence]:
        """The sentences in their order.

        Raises:
            InputError: the corpus was made without text.
            DamagedFileError: a shard is missing or damaged.
        """
        for shard in self.shards():
            if shard.texts is None:
                raise InputError(
                    f"{self.folder}: holds no text, so there are no words to show; annotate "
                    f"without --no-text, or read its columns with AnnotatedCorpus.shards()"
                )
            yield from _sentences(shard, shard.texts)

    def dataset(self) -> Any:
        """The sentences as a ``datasets.IterableDataset``, a shard an item of its sharding.

        Rows have ``file``, ``document``, ``sentence``, ``text`` where it was kept, and lists a
        word: ``starts``, ``ends`` (offsets in the sentence's text), ``heads`` (1-based, 0 for the
        root), ``relations``, ``upos`` and ``xpos`` (codes of :meth:`labels`).

        Raises:
            MissingExtraError: ``datasets`` is not installed.
        """
        try:
            from datasets import IterableDataset
        except ImportError as error:
            raise MissingExtraError("a dataset view", "data") from error
        paths = [str(self.folder / entry.name) for entry in self.manifest.shards]
        return IterableDataset.from_generator(
            _rows, gen_kwargs={"paths": paths, "names": self.labels()}
        )

    def labels(self) -> dict[str, list[str]]:
        """All label names by column, in the order of the codes that :meth:`dataset` gives."""
        union = {name: Labels() for name in LABELS}
        for shard in self.shards():
            for name, known in union.items():
                known.encode(shard.labels[name])
        return {name: known.names for name, known in union.items()}

    def check(self) -> list[str]:
        """What is wrong with the corpus, a line each; nothing if it is whole.

        Compared are checksums, counts, trees (one root, every head inside its sentence, no cycle),
        offsets, and the sums of the manifest.
        """
        problems = []
        for entry in self.manifest.shards:
            path = self.folder / entry.name
            if not path.is_file():
                problems.append(f"{entry.name}: is missing")
            elif checksum(path) != entry.checksum:
                problems.append(f"{entry.name}: its bytes are not those that were written")
            else:
                problems += _problems(entry, Shard(path))
        records = self.manifest.counts
        if records.records != records.documents + records.blank + records.skipped:
            problems.append("manifest.json: its counts do not account for every record")
        known = {entry.name for entry in self.manifest.shards}
        for path in sorted(self.folder.glob("*.parquet")):
            if path.name not in known:
                problems.append(f"{path.name}: is not in manifest.json")
        return problems


def _problems(entry: ShardEntry, shard: Shard) -> list[str]:
    found = []
    if len(shard) != entry.counts.sentences or len(shard.heads) != entry.counts.words:
        found.append(
            f"{entry.name}: holds {len(shard)} sentences and {len(shard.heads)} words, not "
            f"{entry.counts.sentences} and {entry.counts.words}"
        )
    bad = np.flatnonzero(~are_trees(shard.heads, shard.bounds))
    if len(bad):
        found.append(f"{entry.name}: sentence {bad[0]} and {len(bad) - 1} others are no trees")
    if (shard.ends < shard.starts).any() or (shard.starts < 0).any():
        found.append(f"{entry.name}: has words that end before they begin")
    for name in LABELS:
        codes = getattr(shard, name)
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(shard.labels[name]):
            found.append(f"{entry.name}: has codes of {name} without a label")
    return found


def _sentences(shard: Shard, texts: Sequence[str]) -> Iterator[CorpusSentence]:
    names = {name: np.array(labels, object) for name, labels in shard.labels.items()}
    columns = {name: names[name][getattr(shard, name)].tolist() for name in LABELS}
    starts, ends, heads = shard.starts.tolist(), shard.ends.tolist(), shard.heads.tolist()
    sure = None if shard.confidence is None else shard.confidence.tolist()
    bounds = shard.bounds.tolist()
    given = shard.forms or [None] * len(shard)
    rows = zip(shard.file.tolist(), shard.document.tolist(), texts, given, strict=True)
    for (file, document, text, own), begin, end in zip(rows, bounds[:-1], bounds[1:], strict=True):
        words = slice(begin, end)
        offset = starts[begin] if end > begin else 0
        forms = own or tuple(
            text[start - offset : stop - offset]
            for start, stop in zip(starts[words], ends[words], strict=True)
        )
        parse = Parse(
            Sentence(forms, tuple(starts[words]), tuple(ends[words])),
            tuple(heads[words]),
            relations=tuple(columns["relations"][words]),
            upos=tuple(columns["upos"][words]),
            xpos=tuple(columns["xpos"][words]),
            probabilities=None if sure is None else tuple(sure[words]),
        )
        yield CorpusSentence(file, document, text, parse)


def _rows(paths: list[str], names: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
    """Rows of some shards, label codes changed to those of the whole corpus."""
    for path in paths:
        shard = Shard(path)
        codes = {}
        for name in LABELS:
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
