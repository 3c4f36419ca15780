"""An annotated corpus as an endless stream of training batches that can be taken up anywhere.

The order of the shards follows from seed and epoch, the order of the batches from the shards that
are in memory together, so that a place in the stream is two numbers.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from syntagma.batches import padded_length, token_budget_batches
from syntagma.errors import DamagedFileError, InputError
from syntagma.parse.columns import Labels, ParsedText
from syntagma.parse.corpora.corpus import AnnotatedCorpus
from syntagma.parse.corpora.shards import Shard
from syntagma.syntax.encode import EncodedText, concatenate, encode_texts
from syntagma.syntax.sequences import Part
from syntagma.tasks.stream import START, BatchStream, Place

__all__ = ["CorpusStream", "Packing", "TrainingCorpus", "pack", "read_corpus"]

log = logging.getLogger(__name__)

Packing = Literal["documents", "full", "sentences"]


@dataclass(frozen=True, slots=True)
class TrainingCorpus:
    """A corpus to train on.

    Args:
        corpus: with its text.
        skip_bad: leave out damaged shards, with a warning, instead of stopping.
    """

    corpus: AnnotatedCorpus
    skip_bad: bool = False

    def __len__(self) -> int:
        """Shards."""
        return len(self.corpus.manifest.shards)

    def shard(self, number: int) -> Shard | None:
        """A shard, or ``None`` for a damaged one that is left out.

        Raises:
            DamagedFileError: it is damaged or missing.
        """
        try:
            return self.corpus.shard(number, verify=True)
        except DamagedFileError as error:
            if not self.skip_bad:
                raise
            log.warning("left out a shard: %s", error)
            return None


@dataclass
class CorpusStream(BatchStream):
    """Batches of sequences, endless.

    Of several readers each takes every so manieth shard.

    Args:
        corpora: what is read.
        tokenizer: cuts sentences into pieces.
        max_pieces: of a sequence, without special ones.
        n_special: special pieces of a sequence.
        budget: the most pieces in a batch, padding included.
        packing: what a sequence holds.
        seed: of the order.
        shards_together: shards in memory at a time, whose sequences are mixed.
        world: number of readers.
        rank: of this reader.
    """

    corpora: Sequence[TrainingCorpus]
    tokenizer: Any
    max_pieces: int
    n_special: int
    budget: int
    packing: Packing = "documents"
    seed: int = 0
    shards_together: int = 4
    world: int = 1
    rank: int = 0
    _shards: list[tuple[int, int]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._shards = [
            (number, shard)
            for number, corpus in enumerate(self.corpora)
            for shard in range(len(corpus))
        ]

    def part(self, world: int, rank: int) -> CorpusStream:
        """The stream as one of several readers sees it."""
        return replace(self, world=world, rank=rank)

    def batches(self, place: Place = START) -> Iterator[tuple[list[tuple[Part]], Place]]:
        """Batches from a place on, each with the place after it.

        Raises:
            DamagedFileError: a shard is damaged, and damaged ones are not left out.
            InputError: none of the shards can be used.
        """
        turn, given = place
        empty = 0
        while True:
            sequences = self._read(turn)
            batches = self._mix(sequences, turn)
            after = self._after(turn)
            empty = 0 if batches else empty + (after - turn) * self.world
            if empty >= len(self._shards) + self.shards_together * self.world:
                raise InputError("data.train: none of the shards can be used")
            for number in range(given, len(batches)):
                last = number + 1 == len(batches)
                items = [(sequences[index],) for index in batches[number]]
                yield items, Place(after, 0) if last else Place(turn, number + 1)
            turn, given = after, 0

    def one_pass(self) -> Iterator[list[tuple[Part]]]:
        """Batches of all sequences once, in a fixed order, for evaluation."""
        for number, shard in self._shards:
            sequences = self._sequences(self.corpora[number].shard(shard))
            lengths = self._lengths(sequences)
            for batch in token_budget_batches(lengths, self.budget):
                yield [(sequences[index],) for index in batch]

    def _after(self, turn: int) -> int:
        """Where the next turn begins; none reaches into the next epoch, so that nothing is read
        again as long as there is something new.
        """
        n_shards = len(self._shards)
        epoch = (turn * self.world + self.rank) // n_shards
        last = ((epoch + 1) * n_shards - 1 - self.rank) // self.world
        return min(turn + self.shards_together, last + 1)

    def _read(self, turn: int) -> list[Part]:
        sequences: list[Part] = []
        for own in range(turn, self._after(turn)):
            epoch, place = divmod(own * self.world + self.rank, len(self._shards))
            order = np.random.default_rng((self.seed, epoch)).permutation(len(self._shards))
            number, shard = self._shards[order[place]]
            sequences += self._sequences(self.corpora[number].shard(shard))
        return sequences

    def _sequences(self, shard: Shard | None) -> list[Part]:
        if shard is None:
            return []
        return pack(
            encode_shard(shard, self.tokenizer, self.packing),
            _owners(shard, self.packing),
            self.max_pieces,
        )

    def _lengths(self, sequences: Sequence[Part]) -> NDArray[np.int64]:
        """Pieces of each sequence, padding included."""
        return np.array([padded_length(len(part) + self.n_special) for part in sequences], np.int64)

    def _mix(self, sequences: Sequence[Part], turn: int) -> list[NDArray[np.int64]]:
        random = np.random.default_rng((self.seed, self.rank, turn))
        lengths = self._lengths(sequences)
        mixed = random.permutation(len(lengths))
        batches = [mixed[batch] for batch in token_budget_batches(lengths[mixed], self.budget)]
        return [batches[index] for index in random.permutation(len(batches))]


def encode_shard(shard: Shard, tokenizer: Any, packing: Packing) -> list[EncodedText]:
    """The sentences of a shard as pieces with their syntax, ``[n_sentences]``.

    Those that do not begin their document are cut as after a space.
    """
    assert shard.texts is not None
    labels = {name: Labels(names) for name, names in shard.labels.items()}
    offsets = shard.starts[shard.bounds[:-1].clip(max=max(len(shard.starts) - 1, 0))]
    parsed = []
    for row, (begin, end) in enumerate(zip(shard.bounds[:-1], shard.bounds[1:], strict=True)):
        words = slice(begin, end)
        parsed.append(
            ParsedText(
                starts=(shard.starts[words] - offsets[row]).astype(np.int32),
                ends=(shard.ends[words] - offsets[row]).astype(np.int32),
                sentences=np.zeros(end - begin, np.int32),
                heads=shard.heads[words].astype(np.int32),
                relations=shard.relations[words].astype(np.int32),
                upos=shard.upos[words].astype(np.int32),
                xpos=shard.xpos[words].astype(np.int32),
                relation_labels=labels["relations"],
                upos_labels=labels["upos"],
                xpos_labels=labels["xpos"],
            )
        )
    begins = np.diff(_owners(shard, packing), prepend=-1) != 0
    found: dict[int, EncodedText] = {}
    for spaced in (False, True):
        rows = np.flatnonzero(begins != spaced).tolist()
        texts = [shard.texts[row] for row in rows]
        encoded = encode_texts(texts, tokenizer, [parsed[row] for row in rows], spaced=spaced)
        found |= zip(rows, encoded, strict=True)
    return [found[row] for row in range(len(parsed))]


def _owners(shard: Shard, packing: Packing) -> list[int]:
    """Number of the sequence's owner for each sentence: its document, itself, or one for all."""
    if packing == "sentences":
        return list(range(len(shard)))
    if packing == "full":
        return [0] * len(shard)
    new = (np.diff(shard.document, prepend=-1) != 0) | (np.diff(shard.file, prepend=-1) != 0)
    return np.cumsum(new).tolist()


def pack(sentences: Sequence[EncodedText], owners: Sequence[int], room: int) -> list[Part]:
    """Put the sentences of each owner one after another as far as they fit.

    A sentence that is longer than the room is cut into several sequences; nothing is left out.

    Args:
        sentences: encoded, ``[n_sentences]``.
        owners: equal for neighbours that may stand together, ``[n_sentences]``.
        room: pieces of a sequence.
    """
    sequences: list[Part] = []
    waiting: list[EncodedText] = []
    filled = 0
    owner = -1

    def finish() -> None:
        nonlocal waiting, filled
        if waiting:
            sequences.append(Part(concatenate(waiting), 0, filled))
        waiting, filled = [], 0

    for own, sentence in zip(owners, sentences, strict=True):
        if own != owner or filled + len(sentence) > room:
            finish()
        owner = own
        if len(sentence) > room:
            sequences += [
                Part(sentence, begin, min(begin + room, len(sentence)))
                for begin in range(0, len(sentence), room)
            ]
        elif len(sentence):
            waiting.append(sentence)
            filled += len(sentence)
    finish()
    return sequences


def read_corpus(path: str | Path, *, skip_bad: bool = False) -> TrainingCorpus:
    """The corpus in a folder.

    Raises:
        InputError: it holds no finished corpus, or one without sentences or text.
        DamagedFileError: a shard is missing or cut short, and damaged ones are not left out.
    """
    corpus = AnnotatedCorpus(path)
    if not len(corpus):
        raise InputError(f"{path}: holds no sentence; annotate a text that has some")
    if not corpus.manifest.settings["text"]:
        raise InputError(
            f"{path}: holds no text, so there is nothing to read; annotate without --no-text"
        )
    if not skip_bad:
        # Found out now, and not after hours, when it is the shard's turn.
        corpus.check_sizes()
    return TrainingCorpus(corpus, skip_bad)
