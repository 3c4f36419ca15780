"""An annotated corpus as an endless stream of training batches, which can resume anywhere.

The order of shards depends only on seed and epoch, and the order of batches only on seed and the
shards in memory.  So two numbers are enough to store a position in the stream.
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

log = logging.getLogger(__name__)

Packing = Literal["documents", "full", "sentences"]


@dataclass(frozen=True, slots=True)
class TrainingCorpus:
    """A corpus to train on.

    Args:
        corpus: an annotated corpus that includes its text.
        skip_bad: skip damaged shards, with a warning, instead of stopping.
    """

    corpus: AnnotatedCorpus
    skip_bad: bool = False

    def __len__(self) -> int:
        """Return the number of shards."""
        return len(self.corpus.manifest.shards)

    def shard(self, number: int) -> Shard | None:
        """Read a shard; ``None`` if it is damaged and ``skip_bad`` is true.

        Raises:
            DamagedFileError: the shard is damaged or missing, and ``skip_bad`` is false.
        """
        try:
            return self.corpus.shard(number, verify=True)
        except DamagedFileError as error:
            if not self.skip_bad:
                raise
            log.warning("skipped a shard: %s", error)
            return None


@dataclass
class CorpusStream(BatchStream):
    """An endless stream of batches of sequences.

    Each of ``world`` readers reads every world-size-th shard.

    Args:
        corpora: the corpora to read.
        tokenizer: the encoder's fast tokenizer.
        max_pieces: maximum number of pieces in a sequence, without special pieces.
        n_special: number of special pieces in a sequence.
        budget: maximum number of pieces in a batch, padding included.
        packing: how sentences are packed into sequences: those of a document (``documents``),
            all (``full``), or each alone (``sentences``).
        seed: seed of the order.
        shards_together: number of shards in memory, whose sequences are shuffled together.
        world: number of readers.
        rank: index of this reader.
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
        """Return the share of one of several readers."""
        return replace(self, world=world, rank=rank)

    def batches(self, place: Place = START) -> Iterator[tuple[list[tuple[Part]], Place]]:
        """Yield batches from a position on, each with the position after it.

        Raises:
            DamagedFileError: a shard is damaged, and damaged shards are not skipped.
            InputError: none of the shards can be used.
        """
        turn, n_yielded = place
        empty = 0
        while True:
            sequences = self._read(turn)
            batches = self._mix(sequences, turn)
            after = self._after(turn)
            # Without this count, the loop would never end if no shard has a usable sentence.
            empty = 0 if batches else empty + (after - turn) * self.world
            if empty >= len(self._shards) + self.shards_together * self.world:
                raise InputError("data.train: none of the shards can be used")
            for number in range(n_yielded, len(batches)):
                last = number + 1 == len(batches)
                items = [(sequences[index],) for index in batches[number]]
                yield items, Place(after, 0) if last else Place(turn, number + 1)
            turn, n_yielded = after, 0

    def one_pass(self) -> Iterator[list[tuple[Part]]]:
        """Yield batches of all sequences once, in a fixed order, for evaluation."""
        for number, shard in self._shards:
            sequences = self._sequences(self.corpora[number].shard(shard))
            lengths = self._lengths(sequences)
            for batch in token_budget_batches(lengths, self.budget):
                yield [(sequences[index],) for index in batch]

    def _after(self, turn: int) -> int:
        """Return where the next turn starts; turns end with the epoch, so none repeats a shard."""
        n_shards = len(self._shards)
        epoch = (turn * self.world + self.rank) // n_shards
        last = ((epoch + 1) * n_shards - 1 - self.rank) // self.world
        return min(turn + self.shards_together, last + 1)

    def _read(self, turn: int) -> list[Part]:
        sequences: list[Part] = []
        for step in range(turn, self._after(turn)):
            epoch, index = divmod(step * self.world + self.rank, len(self._shards))
            order = np.random.default_rng((self.seed, epoch)).permutation(len(self._shards))
            number, shard = self._shards[order[index]]
            sequences += self._sequences(self.corpora[number].shard(shard))
        return sequences

    def _sequences(self, shard: Shard | None) -> list[Part]:
        if shard is None:
            return []
        return pack_sentences(
            encode_shard(shard, self.tokenizer, self.packing),
            _owners(shard, self.packing),
            self.max_pieces,
        )

    def _lengths(self, sequences: Sequence[Part]) -> NDArray[np.int64]:
        """Return the length of each sequence in pieces, padding included."""
        return np.array([padded_length(len(part) + self.n_special) for part in sequences], np.int64)

    def _mix(self, sequences: Sequence[Part], turn: int) -> list[NDArray[np.int64]]:
        random = np.random.default_rng((self.seed, self.rank, turn))
        lengths = self._lengths(sequences)
        mixed = random.permutation(len(lengths))
        batches = [mixed[batch] for batch in token_budget_batches(lengths[mixed], self.budget)]
        return [batches[index] for index in random.permutation(len(batches))]


def encode_shard(shard: Shard, tokenizer: Any, packing: Packing) -> list[EncodedText]:
    """Encode the sentences of a shard as pieces with syntax, ``[n_sentences]``.

    Sentences inside of a sequence are tokenised as after a space, as in running text.
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
                parts=np.zeros(end - begin, np.int32),
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
    """Number the unit that each sentence may be packed with: its document, itself, or the shard."""
    if packing == "sentences":
        return list(range(len(shard)))
    if packing == "full":
        return [0] * len(shard)
    new = (np.diff(shard.document, prepend=-1) != 0) | (np.diff(shard.file, prepend=-1) != 0)
    return np.cumsum(new).tolist()


def pack_sentences(
    sentences: Sequence[EncodedText], owners: Sequence[int], room: int
) -> list[Part]:
    """Greedily pack consecutive sentences with the same owner into sequences.

    A sentence longer than a sequence is split; no piece is dropped.

    Args:
        sentences: encoded sentences, ``[n_sentences]``.
        owners: equal for adjacent sentences that may share a sequence, ``[n_sentences]``.
        room: maximum number of pieces in a sequence.
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

    for new_owner, sentence in zip(owners, sentences, strict=True):
        if new_owner != owner or filled + len(sentence) > room:
            finish()
        owner = new_owner
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
    """Open the corpus in a folder.

    Raises:
        InputError: there is no finished corpus in it, or one without sentences or text.
        DamagedFileError: a shard is missing or truncated, and ``skip_bad`` is false.
    """
    corpus = AnnotatedCorpus(path)
    if not len(corpus):
        raise InputError(f"{path}: has no sentences; annotate a text that is not empty")
    if not corpus.manifest.settings["text"]:
        raise InputError(f"{path}: has parses but no text to train on; annotate without --no-text")
    if not skip_bad:
        # Fail now, not hours later when the shard is read.
        corpus.check_sizes()
    return TrainingCorpus(corpus, skip_bad)
