"""The stream of pre-training batches: packing, shuffling, damaged shards, resuming."""

from __future__ import annotations

import logging
from collections import Counter
from itertools import chain

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from syntagma.encoders.load import load_tokenizer
from syntagma.errors import DamagedFileError, InputError
from syntagma.tasks.pretraining.corpus_stream import (
    CorpusStream,
    encode_shard,
    pack_sentences,
    read_corpus,
)
from syntagma.tasks.stream import Place
from tests.builders import new_task
from tests.corpora import make_corpus
from tests.corpora import pretraining as experiment
from tests.messages import naming, says


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return make_corpus(tmp_path_factory.mktemp("pretraining"))


class TestStream:
    def stream(self, corpus, encoder, *, skip_bad=False, **changes):
        options = {"max_pieces": 38, "n_special": 2, "budget": 200, "seed": 5}
        corpora = [read_corpus(corpus, skip_bad=skip_bad)]
        return CorpusStream(corpora, load_tokenizer(str(encoder)), **(options | changes))

    @staticmethod
    def take(stream, n, place=None):
        found = []
        source = stream.batches() if place is None else stream.batches(place)
        for items, after in source:
            ids = [tuple(part.text.pieces[part.begin : part.end].tolist()) for (part,) in items]
            found.append((ids, after))
            if len(found) == n:
                return found
        raise AssertionError

    def test_the_stream_resumes_at_every_position(self, corpus, tiny_encoder):
        stream = self.stream(corpus, tiny_encoder, shards_together=2)
        whole = self.take(stream, 30)
        for after in range(0, 29, 3):
            resumed = self.take(stream, 29 - after, whole[after][1])
            assert resumed == whole[after + 1 :]

    @pytest.mark.parametrize("packing", ["documents", "full", "sentences"])
    @pytest.mark.parametrize("world", [1, 2, 3])
    def test_readers_together_read_every_piece_equally_often(
        self, corpus, tiny_encoder, packing, world
    ):
        stream = self.stream(corpus, tiny_encoder, packing=packing, shards_together=1)
        n_shards = len(stream.corpora[0])
        seen = Counter()
        for rank in range(world):
            part = stream.part(world, rank)
            # Read until the reader has passed over all shards a whole number of times.
            for items, place in part.batches():
                seen.update(
                    piece
                    for (part_,) in items
                    for piece in part_.text.pieces[part_.begin : part_.end].tolist()
                )
                if place == Place(n_shards, 0):
                    break
        once = Counter()
        for shard in stream.corpora[0].corpus.shards():
            for sentence in encode_shard(shard, stream.tokenizer, packing):
                once.update(sentence.pieces.tolist())
        assert seen == Counter({piece: world * n for piece, n in once.items()})

    def test_sequences_are_shuffled_differently_in_each_epoch(self, corpus, tiny_encoder):
        stream = self.stream(corpus, tiny_encoder, shards_together=1)
        n_shards = len(stream.corpora[0])
        epochs = [[], []]
        for items, place in stream.batches():
            epoch = min((place.turn - (place.batch == 0)) // n_shards, 2)
            if epoch == 2:
                break
            epochs[epoch].append([part.text.pieces.tolist() for (part,) in items])
        assert epochs[0] != epochs[1]

    @pytest.mark.parametrize("world", [1, 3])
    def test_no_shard_repeats_within_an_epoch(self, tmp_path, tiny_encoder, world):
        folder = make_corpus(tmp_path, copies=3, shard_characters=1000)
        stream = self.stream(folder, tiny_encoder, shards_together=4).part(world, world - 1)
        n_shards = len(stream.corpora[0])
        assert n_shards < 4 * world
        turn = 0
        for _ in range(9):
            after = stream._after(turn)
            epochs = {(own * world + stream.rank) // n_shards for own in range(turn, after)}
            assert turn < after <= turn + 4
            assert len(epochs) == 1
            turn = after

    def test_a_sequence_has_adjacent_sentences_of_one_document(self, corpus, tiny_encoder):
        shard = next(iter(read_corpus(corpus).corpus.shards()))
        sentences = encode_shard(shard, load_tokenizer(str(tiny_encoder)), "documents")
        owners = shard.document.tolist()
        # The number of pieces in a sentence depends on the tokenizer.
        room = 2 * max(map(len, sentences))
        found = pack_sentences(sentences, owners, room)
        assert sum(map(len, found)) == sum(map(len, sentences))
        assert max(map(len, found)) <= room
        assert min(len(part) for part in found) > 0
        # Sentences in a sequence stay separate: the intervals of their words are disjoint.
        joined = next(part.text for part in found if part.text.n_sentences > 1)
        sentence, enter = joined.syntax["sentence"], joined.syntax["enter"]
        assert (sentence[1:] >= sentence[:-1]).all()
        assert enter[sentence == 0].max() < enter[sentence == 1].min()

    def test_a_long_sentence_is_split_without_loss(self, corpus, tiny_encoder):
        shard = next(iter(read_corpus(corpus).corpus.shards()))
        sentences = encode_shard(shard, load_tokenizer(str(tiny_encoder)), "documents")
        found = pack_sentences(sentences, list(range(len(sentences))), 5)
        assert max(map(len, found)) == 5
        assert sum(map(len, found)) == sum(map(len, sentences))

    def test_a_damaged_shard_is_named_or_skipped(self, tmp_path, tiny_encoder, caplog):
        folder = make_corpus(tmp_path)
        path = sorted(folder.glob("*.parquet"))[1]
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        with pytest.raises(DamagedFileError, match=naming(f"{path.name} --resume")):
            self.take(self.stream(folder, tiny_encoder), 40)
        with caplog.at_level(logging.WARNING):
            self.take(self.stream(folder, tiny_encoder, skip_bad=True), 40)
        assert says(caplog.text, f"{path}")

    def test_missing_and_short_shards_are_found_at_once(self, tmp_path):
        folder = make_corpus(tmp_path)
        path = sorted(folder.glob("*.parquet"))[-1]
        whole = path.read_bytes()
        path.write_bytes(whole[:-7])
        with pytest.raises(
            DamagedFileError, match=naming(f"{path.name} {len(whole) - 7} {len(whole)}")
        ):
            read_corpus(folder)
        path.unlink()
        with pytest.raises(DamagedFileError, match=naming("00000-000005.parquet missing --resume")):
            read_corpus(folder)
        assert len(read_corpus(folder, skip_bad=True))

    def test_a_stream_of_only_damaged_shards_is_an_error(self, tmp_path, tiny_encoder):
        folder = make_corpus(tmp_path, copies=1)
        for path in folder.glob("*.parquet"):
            path.write_bytes(b"")
        stream = self.stream(folder, tiny_encoder, skip_bad=True)
        with pytest.raises(InputError, match=naming("data.train shards")):
            next(stream.batches())

    @pytest.mark.parametrize(
        ("copies", "text", "message"),
        [(1, False, "corpus --no-text"), (0, True, "corpus sentences")],
    )
    def test_an_empty_corpus_is_rejected_at_once(self, tmp_path, copies, text, message):
        with pytest.raises(InputError, match=naming(message)):
            read_corpus(make_corpus(tmp_path, copies=copies, text=text))

    def test_evaluation_on_only_damaged_shards_is_an_error(self, tmp_path, corpus, tiny_encoder):
        task, _ = new_task(experiment(corpus, tiny_encoder))
        folder = make_corpus(tmp_path, copies=1)
        for path in folder.glob("*.parquet"):
            path.write_bytes(b"")
        with pytest.raises(InputError, match=naming(f"{folder} shards")):
            task.predict([read_corpus(folder, skip_bad=True)])


def test_sentences_are_tokenised_as_in_running_text(corpus, encoder_folders):
    """A byte-level vocabulary has different pieces for words after a space."""
    name = encoder_folders["roberta"]
    task, examples = new_task(experiment(corpus, name))
    shard = next(iter(examples[0].corpus.shards()))
    documents = encode_shard(shard, task.tokenizer, "documents")
    alone = encode_shard(shard, task.tokenizer, "sentences")
    first = np.diff(shard.document, prepend=-1) != 0
    assert 0 < first.sum() < len(first)
    for is_first, in_document, by_itself in zip(first, documents, alone, strict=True):
        text = task.tokenizer.decode(in_document.pieces)
        assert text.startswith(" ") != is_first
        assert in_document.n_words == by_itself.n_words
        if is_first:
            assert in_document.pieces.tolist() == by_itself.pieces.tolist()


def test_full_sequences_cross_document_boundaries(corpus, encoder_folders):
    task, examples = new_task(experiment(corpus, encoder_folders["roberta"]))
    shard = next(iter(examples[0].corpus.shards()))
    sentences = encode_shard(shard, task.tokenizer, "full")
    texts = [task.tokenizer.decode(sentence.pieces) for sentence in sentences]
    assert [text.startswith(" ") for text in texts] == [False] + [True] * (len(texts) - 1)
    stream = {"max_pieces": 120, "n_special": 2, "budget": 500}
    lengths = {}
    for packing in "documents", "full":
        reader = CorpusStream(examples, task.tokenizer, packing=packing, **stream)
        lengths[packing] = [len(part) for (part,) in chain.from_iterable(reader.one_pass())]
    longest = max(len(sentence) for sentence in sentences)
    # Except at the end of a shard, the room left in a sequence is too small for a sentence.
    too_short = [length for length in lengths["full"] if length + longest < 120]
    assert len(too_short) <= len(examples[0])
    assert len(lengths["full"]) < len(lengths["documents"])
