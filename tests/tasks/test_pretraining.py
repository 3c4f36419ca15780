"""Continued pre-training: the stream, what is hidden, resuming, and going on from the result."""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import get_args

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

pytest.importorskip("pyarrow")

from syntagma.encoders.lm_heads import LM_HEADS
from syntagma.encoders.load import load_tokenizer
from syntagma.errors import DamagedFileError, InputError
from syntagma.evaluation import open_model
from syntagma.models import pretraining_model
from syntagma.models.pair_model import PairModel
from syntagma.runs.folder import RunFolder
from syntagma.syntax.distances import Direction
from syntagma.syntax.sequences import SequenceBuilder
from syntagma.tasks.experiment import TrainingSettings
from syntagma.tasks.pretraining.corpus_stream import CorpusStream, encode_shard, pack, read_corpus
from syntagma.tasks.pretraining.task import ObjectiveSums, PretrainingTask
from syntagma.tasks.stream import Place
from syntagma.training.run import train
from syntagma.training.trainer import parameter_groups
from tests.builders import new_task
from tests.conftest import ENCODERS, SITED, tiny_config
from tests.corpora import make_corpus
from tests.corpora import pretraining as experiment
from tests.messages import naming, says
from tests.processes import Child, ranks


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

    def test_every_place_is_a_place_to_go_on_from(self, corpus, tiny_encoder):
        stream = self.stream(corpus, tiny_encoder, shards_together=2)
        whole = self.take(stream, 30)
        for after in range(0, 29, 3):
            again = self.take(stream, 29 - after, whole[after][1])
            assert again == whole[after + 1 :]

    @pytest.mark.parametrize("packing", ["documents", "full", "sentences"])
    @pytest.mark.parametrize("world", [1, 2, 3])
    def test_readers_together_see_every_piece_equally_often(
        self, corpus, tiny_encoder, packing, world
    ):
        stream = self.stream(corpus, tiny_encoder, packing=packing, shards_together=1)
        n_shards = len(stream.corpora[0])
        seen = Counter()
        for rank in range(world):
            part = stream.part(world, rank)
            # As many turns as make a whole number of passes over all shards.
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

    def test_sequences_are_mixed_and_epochs_differ(self, corpus, tiny_encoder):
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
    def test_nothing_is_read_again_before_everything_was(self, tmp_path, tiny_encoder, world):
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

    def test_a_sequence_holds_neighbours_of_one_document(self, corpus, tiny_encoder):
        shard = next(iter(read_corpus(corpus).corpus.shards()))
        sentences = encode_shard(shard, load_tokenizer(str(tiny_encoder)), "documents")
        owners = shard.document.tolist()
        # How many pieces a sentence has is the tokenizer's affair.
        room = 2 * max(map(len, sentences))
        found = pack(sentences, owners, room)
        assert sum(map(len, found)) == sum(map(len, sentences))
        assert max(map(len, found)) <= room
        assert min(len(part) for part in found) > 0
        # Sentences of a sequence keep apart: their numbers rise, their intervals do not touch.
        joined = next(part.text for part in found if part.text.n_sentences > 1)
        sentence, enter = joined.syntax["sentence"], joined.syntax["enter"]
        assert (sentence[1:] >= sentence[:-1]).all()
        assert enter[sentence == 0].max() < enter[sentence == 1].min()

    def test_a_long_sentence_is_cut_and_nothing_lost(self, corpus, tiny_encoder):
        shard = next(iter(read_corpus(corpus).corpus.shards()))
        sentences = encode_shard(shard, load_tokenizer(str(tiny_encoder)), "documents")
        found = pack(sentences, list(range(len(sentences))), 5)
        assert max(map(len, found)) == 5
        assert sum(map(len, found)) == sum(map(len, sentences))

    def test_a_damaged_shard_is_named_or_left_out(self, tmp_path, tiny_encoder, caplog):
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

    def test_nothing_but_damaged_shards_is_an_error(self, tmp_path, tiny_encoder):
        folder = make_corpus(tmp_path, copies=1)
        for path in folder.glob("*.parquet"):
            path.write_bytes(b"")
        stream = self.stream(folder, tiny_encoder, skip_bad=True)
        with pytest.raises(InputError, match=naming("data.train shards")):
            next(stream.batches())

    @pytest.mark.parametrize(
        ("copies", "text", "message"),
        [(1, False, "corpus --no-text"), (0, True, "corpus sentence")],
    )
    def test_a_corpus_with_nothing_to_read_is_refused_at_once(
        self, tmp_path, copies, text, message
    ):
        with pytest.raises(InputError, match=naming(message)):
            read_corpus(make_corpus(tmp_path, copies=copies, text=text))

    def test_nothing_is_scored_where_every_shard_is_damaged(self, tmp_path, corpus, tiny_encoder):
        task, _ = new_task(experiment(corpus, tiny_encoder))
        folder = make_corpus(tmp_path, copies=1)
        for path in folder.glob("*.parquet"):
            path.write_bytes(b"")
        with pytest.raises(InputError, match=naming(f"{folder} shards")):
            task.predict([read_corpus(folder, skip_bad=True)])


PRESETS = {"none": {}, "seprem": {}, "poi-net": {"coattention": False}}


@pytest.mark.parametrize("model_type", ENCODERS)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_step_lowers_the_loss_and_reaches_every_parameter(
    preset, model_type, encoder_folders, corpus
):
    task, examples = new_task(
        experiment(
            corpus,
            encoder_folders[model_type],
            preset=preset,
            guides=PRESETS[preset],
            hidden_dropout=0.0,
            attention_dropout=0.0,
        )
    )
    items, _ = next(task.stream(examples, budget=600, seed=1).batches())
    batch = task.collate(items)
    model = task.model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    losses = []
    for _ in range(4):
        torch.manual_seed(3)
        found = model(**batch)
        losses.append(found.loss.item())
        assert set(found.objectives) == {"mlm", "distances", "heads"}
        optimizer.zero_grad()
        found.loss.backward()
        optimizer.step()
    assert losses[-1] < losses[0]
    unreached = [
        key for key, parameter in model.named_parameters()
        if not key.startswith("encoder.") and parameter.grad is None
    ]  # fmt: skip
    assert not unreached


@pytest.mark.parametrize("chosen", [("mlm",), ("distances",), ("heads", "mlm")])
def test_any_subset_of_objectives(chosen, corpus, tiny_encoder):
    weights = dict.fromkeys(("mlm", "distances", "heads"), 0.0) | dict.fromkeys(chosen, 0.5)
    task, examples = new_task(experiment(corpus, tiny_encoder, head=weights))
    items, _ = next(task.stream(examples, budget=600, seed=1).batches())
    found = task.model(**task.collate(items))
    assert set(found.objectives) == set(chosen)
    expected = sum(0.5 * part.loss for part in found.objectives.values())
    assert found.loss.item() == pytest.approx(expected.item(), rel=1e-5)
    names = {name.partition(".")[0] for name, _ in task.model.named_parameters()}
    assert ("piece_head" in names) == ("mlm" in chosen)
    assert ("upper" in names) == ("distances" in chosen)
    assert ("as_head" in names) == ("heads" in chosen)


def test_heads_may_be_asked_where_arcs_are_hidden_alone(corpus, tiny_encoder):
    head = {"asked_heads": "hidden", "hidden_distances": 0.5}
    task, examples = new_task(experiment(corpus, tiny_encoder, head=head))
    items, _ = next(task.stream(examples, budget=600, seed=1).batches())
    found = task.model(**task.collate(items)).objectives["heads"]
    assert 0 < found.hidden.sum() < len(found.targets)
    found.scores.retain_grad()
    found.loss.backward()
    assert not found.scores.grad[~found.hidden].any()
    assert found.scores.grad[found.hidden].any(1).all()
    # What is reported is of all words, as of other models.
    found = found._replace(scores=found.scores.detach())
    everywhere = found._replace(only_hidden=False).loss.item()
    assert ObjectiveSums.of(found).scores["loss"] == pytest.approx(everywhere)
    assert found.loss.item() != everywhere


@pytest.mark.parametrize("direction", get_args(Direction))
def test_what_is_hidden_does_not_leak(direction, corpus, tiny_encoder, tmp_path, monkeypatch):
    """With every distance hidden the scores know nothing of the tree."""
    task, examples = new_task(
        experiment(
            corpus,
            tiny_encoder,
            head={"hidden_distances": 1.0},
            guides={"tree_distance": {"direction": direction}},
            hidden_dropout=0.0,
        )
    )
    other = make_corpus(tmp_path, parser="linear")
    monkeypatch.setattr("syntagma.models.objectives.HIDDEN", 1.0)
    scores = []
    for source in (examples, PretrainingTask.read(other)):
        batch = task.collate(next(task.stream(source, budget=10_000, seed=1).one_pass()))
        torch.manual_seed(2)
        with torch.no_grad():
            found = task.model.eval()(**batch)
        assert found.objectives["distances"].targets.numel()
        scores.append(found.objectives)
    one, two = (found["distances"].targets.tolist() for found in scores)
    assert one != two, "the trees differ"
    for name in ("mlm", "heads"):
        assert torch.equal(scores[0][name].scores, scores[1][name].scores)
    hidden, targets = scores[0]["heads"].hidden, scores[0]["heads"].targets
    assert torch.equal(hidden, targets > 0), "every arc is hidden"


def test_what_is_not_hidden_is_read(corpus, tiny_encoder, tmp_path):
    task, examples = new_task(experiment(corpus, tiny_encoder, hidden_dropout=0.0))
    other = make_corpus(tmp_path, parser="linear")
    scores = []
    for source in (examples, PretrainingTask.read(other)):
        batch = task.collate(next(task.stream(source, budget=10_000, seed=1).one_pass()))
        torch.manual_seed(2)
        with torch.no_grad():
            scores.append(task.model.eval()(**batch).objectives["mlm"].scores)
    assert not torch.allclose(*scores)


def test_sums_add_up():
    one = ObjectiveSums(n=4, loss=8.0, right=1, by_class=torch.tensor([3, 1]).numpy())
    two = ObjectiveSums(n=4, loss=4.0, right=3, by_class=torch.tensor([0, 1, 3]).numpy())
    assert (one + two).scores == {"loss": 1.5, "accuracy": 50.0, "chance": 37.5}


def test_all_models_are_asked_the_same_pieces(corpus, tiny_encoder, monkeypatch):
    asked = []
    hide = pretraining_model.hide_pieces

    def spied(*args, **options):
        found = hide(*args, **options)
        asked.append(found.targets)
        return found

    monkeypatch.setattr(pretraining_model, "hide_pieces", spied)
    for head in ({"distances": 0.0, "heads": 0.0}, {}):
        task, examples = new_task(experiment(corpus, tiny_encoder, head=head))
        task.evaluate(examples)
    half = len(asked) // 2
    assert half > 2
    for one, other in zip(asked[:half], asked[half:], strict=True):
        assert torch.equal(one, other)


def test_the_model_names_the_parser_of_its_corpus(corpus, tmp_path, tiny_encoder):
    task, examples = new_task(experiment(corpus, tiny_encoder))
    assert task.model.config.parser == "random:3"
    other = make_corpus(tmp_path, parser="linear")
    with pytest.raises(InputError, match=naming("data.train linear random:3")):
        PretrainingTask.new(
            experiment(corpus, tiny_encoder), [*examples, *PretrainingTask.read(other)]
        )


def test_sentences_go_on_as_in_running_text(corpus, encoder_folders):
    """A byte-level vocabulary has other pieces for words after a space."""
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


def test_full_sequences_go_on_with_the_next_document(corpus, encoder_folders):
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
    # What is left of a sequence is too little for a sentence, but at the end of a shard.
    too_short = [length for length in lengths["full"] if length + longest < 120]
    assert len(too_short) <= len(examples[0])
    assert len(lengths["full"]) < len(lengths["documents"])


def test_evaluation_always_hides_the_same(corpus, tiny_encoder):
    task, examples = new_task(experiment(corpus, tiny_encoder))
    torch.manual_seed(1)
    one = task.evaluate(examples)
    torch.manual_seed(2)
    assert task.evaluate(examples) == one
    assert one["log_likelihood"] == -one["loss"]
    assert 0 < one["heads_chance"] < 50


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"preset": "sg-net"}, "guides.ancestor_attention head.distances head.heads 0"),
        ({"preset": "poi-net"}, "guides.coattention two texts pre-training"),
        (
            {"preset": "none", "guides": {"ancestor_attention": {"pieces": "projection"}}},
            "distances heads ancestor_attention.pieces projection share",
        ),
        ({"head": {"mlm": 0, "heads": 0, "distances": 0}}, "head distances heads 0 1"),
        ({"head": {"max_length": 4000}}, "head.max_length 4000 160"),
        ({"head": {"mlm_probability": 0}}, "mlm_probability 0 0.0"),
        ({"training": {"max_steps": None}}, "training.max_steps"),
        ({"head": {"mlm": float("nan")}}, "head.mlm number nan"),
        ({"head": {"mlm": -1.0}}, "mlm 0 -1.0"),
        ({"head": {"asked_heads": "hidden", "distances": 0}}, "asked_heads hidden distances 0 all"),
        ({"head": {"mask_token_id": 7}}, "head.mask_token_id"),
        ({"parser": "random"}, "parser random random:3"),
        (
            {"training": {"learning_rate": 1e30, "max_grad_norm": 1e30, "warmup_ratio": 0.0}},
            "nan steps training.learning_rate warmup",
        ),
    ],
)
def test_impossible_settings_are_named(changes, message, corpus, tiny_encoder, tmp_path):
    with pytest.raises(InputError, match=naming(message)):
        train(experiment(corpus, tiny_encoder, **changes), tmp_path / "run")


def test_roots_need_a_special_piece_to_point_to(corpus, tiny_encoder, monkeypatch):
    monkeypatch.setattr(SequenceBuilder, "prefix", lambda self, n_texts: [])
    with pytest.raises(InputError, match=naming("head.heads special bert 0")):
        new_task(experiment(corpus, tiny_encoder))
    new_task(experiment(corpus, tiny_encoder, head={"heads": 0}))


def test_no_corpus_is_left_out_for_a_limit(corpus, tiny_encoder, tmp_path, caplog):
    data = {"train": [str(corpus), str(corpus)], "dev": [str(corpus)], "limit": 1}
    settings = experiment(corpus, tiny_encoder, data=data, training={"max_steps": 1})
    with caplog.at_level(logging.WARNING):
        train(settings, tmp_path / "run")
    assert says(caplog.text, "data.limit data.dev_limit corpora")


def test_a_start_that_failed_leaves_nothing_behind(corpus, tiny_encoder, tmp_path):
    with pytest.raises(InputError, match=naming("training.max_steps")):
        train(experiment(corpus, tiny_encoder, training={"max_steps": None}), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    short = {"max_steps": 2, "save_steps": 1}
    train(experiment(corpus, tiny_encoder, training=short), tmp_path / "run")
    rows = [json.loads(row) for row in (tmp_path / "run" / "metrics.jsonl").open()]
    speeds = [row["pieces_per_second"] for row in rows if "pieces_per_second" in row]
    assert len(speeds) == 2
    assert min(speeds) > 0


@pytest.mark.parametrize("workers", [0, 1])
def test_after_a_damaged_shard_one_may_go_on_without_it(tmp_path, tiny_encoder, workers):
    folder = make_corpus(tmp_path)
    path = sorted(folder.glob("*.parquet"))[1]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    long = {"max_steps": 24, "dataloader_num_workers": workers}
    with pytest.raises(DamagedFileError, match=naming(f"{path} --resume")):
        train(experiment(folder, tiny_encoder, training=long), tmp_path / "run")
    skip = {"train": [str(folder)], "dev": [str(folder)], "skip_bad": True}
    settings = experiment(folder, tiny_encoder, training=long, data=skip)
    assert train(settings, tmp_path / "run", resume=True)["log_likelihood"] < 0


def pretrain(corpus, encoder, folder, workers):
    settings = experiment(
        corpus, encoder, training={"max_steps": 40, "dataloader_num_workers": workers}
    )
    train(settings, folder, resume=True)


def wait_for_checkpoint(processes, folder, step=9):
    deadline = time.monotonic() + 120
    while all(each.is_running for each in processes) and time.monotonic() < deadline:
        marks = (folder / "checkpoints").glob("checkpoint-*/complete")
        if any(int(mark.parent.name.rpartition("-")[2]) >= step for mark in marks):
            break
        time.sleep(0.01)
    for each in processes:
        assert each.is_running, each.err.read_text()[-2000:]


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_killed_and_resumed_gives_the_same_weights(corpus, tmp_path, tiny_encoder, workers):
    def start(name):
        arguments = (corpus, tiny_encoder, tmp_path / name, workers)
        return Child(pretrain, *arguments, folder=tmp_path, has_children=workers > 0)

    whole, broken = start("whole"), start("broken")
    wait_for_checkpoint([broken], tmp_path / "broken")
    broken.kill()
    broken = start("broken")
    broken.require_success()
    whole.require_success()
    expected = load_file(tmp_path / "whole" / "model.safetensors")
    found = load_file(tmp_path / "broken" / "model.safetensors")
    assert all(torch.equal(expected[name], found[name]) for name in expected)

    def losses(name):
        rows = [json.loads(row) for row in (tmp_path / name / "metrics.jsonl").open()]
        return [(row["step"], row["epoch"], row["loss"]) for row in rows if "loss" in row]

    assert losses("whole") == losses("broken")


def test_two_processes_train_and_resume_with_as_many(corpus, tmp_path, tiny_encoder):
    folder = tmp_path / "run"
    arguments = (corpus, tiny_encoder, folder, 0)
    run = ranks(pretrain, *arguments, folder=tmp_path)
    wait_for_checkpoint(run, folder)
    for each in run:
        each.kill()
    last = RunFolder(folder).last_checkpoint(n_processes=2)
    states = [json.loads((last / f"stream-{rank}.json").read_text()) for rank in (0, 1)]
    step = int(last.name.rpartition("-")[2])
    assert [state["given"] for state in states] == [step, step]
    settings = experiment(corpus, tiny_encoder, training={"max_steps": 40})
    with pytest.raises(InputError, match=naming("2 1 processes --out")):
        train(settings, folder, resume=True)
    for each in ranks(pretrain, *arguments, folder=tmp_path):
        each.require_success()
    rows = [json.loads(row) for row in (folder / "metrics.jsonl").open()]
    assert sum("eval_loss" in row for row in rows) == 1


@pytest.fixture(scope="module")
def chains(tmp_path_factory):
    """A corpus in which each word hangs on the one before it: there is something to learn."""
    return make_corpus(tmp_path_factory.mktemp("chains"), parser="linear")


@pytest.fixture(scope="module")
def pretrained(chains, encoder_folders, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pretrained") / "run"
    changes = {"max_steps": 90, "learning_rate": 5e-3, "eval_steps": 30}
    train(experiment(chains, encoder_folders["bert"], training=changes), folder)
    return folder


def test_pretraining_learns_and_reports(pretrained, chains):
    rows = [json.loads(row) for row in (pretrained / "metrics.jsonl").open()]
    scores = [row["eval_loss"] for row in rows if "eval_loss" in row]
    assert len(scores) == 3
    assert scores[-1] < scores[0]
    rates = [row for row in rows if "pieces_per_second" in row]
    assert rates
    assert all(0 <= row["data_wait"] < 1 and row["pieces_per_second"] > 0 for row in rates)
    metrics = json.loads((pretrained / "metrics.json").read_text())
    task = open_model(pretrained, precision="float32")
    assert task.evaluate(PretrainingTask.read(chains)) == pytest.approx(metrics, rel=1e-4)
    assert metrics["distances_accuracy"] > metrics["distances_chance"]
    assert metrics["heads_accuracy"] > metrics["heads_chance"] + 10


def test_other_experiments_go_on_from_it(pretrained, tmp_path):
    weights = load_file(pretrained / "model.safetensors")
    labels = {"labels": ["no", "yes"]}
    both = PairModel.from_encoder(
        str(pretrained), task="pairs", guides={"tree_distance": {}}, labels=labels
    )
    alpha = both.tree_distance.alpha.item()
    assert alpha == weights["tree_distance.alpha"].item() != pytest.approx(0.1)
    for name, weight in both.named_parameters():
        if name.startswith(("encoder.", "tree_distance.")):
            assert torch.equal(weight, weights[name])
    alone = PairModel.from_encoder(str(pretrained), task="pairs", labels=labels)
    assert torch.equal(alone.get_input_embeddings().weight, both.get_input_embeddings().weight)
    assert not hasattr(alone, "tree_distance")
    # What is asked for otherwise than it was trained is not passed over.
    fixed = {"tree_distance": {"alpha": 0.5, "learn_alpha": False}}
    other = PairModel.from_encoder(str(pretrained), task="pairs", guides=fixed, labels=labels)
    assert other.tree_distance.alpha.item() == 0.5
    assert torch.equal(
        other.tree_distance.layers[0].own.weight, weights["tree_distance.layers.0.own.weight"]
    )
    with pytest.raises(InputError, match=naming("guides.tree_distance.direction layers down up")):
        PairModel.from_encoder(
            str(pretrained), task="pairs", guides={"tree_distance": {"direction": "up"}},
            labels=labels,
        )  # fmt: skip
    # What was trained before learns on at the rate of the encoder, what is new at its own.
    settings = TrainingSettings(learning_rate=1e-4, head_learning_rate=1e-3)
    rates = {
        id(weights): group["lr"]
        for group in parameter_groups(both, settings)
        for weights in group["params"]
    }
    for name, weight in both.named_parameters():
        is_known = name.startswith(("encoder.", "tree_distance."))
        assert rates[id(weight)] == (1e-4 if is_known else 1e-3), name
    # A further pre-training also takes over the piece head.
    again = PretrainingTask.new(experiment("", pretrained, preset="none"), []).model
    assert torch.equal(again.piece_head.dense.weight, weights["piece_head.dense.weight"])


def test_new_guides_may_learn_at_a_rate_of_their_own(tiny_encoder):
    model = PairModel.from_encoder(
        str(tiny_encoder),
        task="pairs",
        guides={"tree_distance": {}},
        labels={"labels": ["no", "yes"]},
    )
    settings = TrainingSettings(learning_rate=1e-4, head_learning_rate=1e-3)
    for own, expected in (None, 1e-3), (3e-4, 3e-4):
        rates = {
            id(weights): group["lr"]
            for group in parameter_groups(model, replace(settings, guide_learning_rate=own))
            for weights in group["params"]
        }
        for name, weight in model.named_parameters():
            part = name.partition(".")[0]
            known = {"encoder": 1e-4, "tree_distance": expected}
            assert rates[id(weight)] == known.get(part, 1e-3), name


@pytest.mark.parametrize("model_type", [name for name in SITED if name in LM_HEADS])
def test_a_pretrained_head_is_taken_over(model_type, tmp_path):
    """Our scores of pieces are those of Transformers' own model."""
    from transformers import AutoModelForMaskedLM

    from syntagma.encoders.lm_heads import lm_head_weights
    from syntagma.models.piece_head import PieceHead

    torch.manual_seed(0)
    config = tiny_config(model_type)
    model = AutoModelForMaskedLM.from_config(config).eval()
    # Norms and biases as they are after training; weights stay small, as where smallness of the
    # variance under a norm matters.
    for parameter in model.parameters():
        if parameter.ndim == 1:
            parameter.data += 0.1 * torch.randn_like(parameter)
    model.tie_weights()
    model.save_pretrained(tmp_path)
    head = PieceHead.build(config)
    head.start_from(lm_head_weights(str(tmp_path), config))
    ids = torch.arange(5, 25).view(2, 10)
    with torch.no_grad():
        expected = model(input_ids=ids).logits
        states = model.base_model(input_ids=ids).last_hidden_state
        found = head(states, model.get_input_embeddings().weight)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_an_encoder_without_a_head_begins_afresh(tiny_encoder):
    from syntagma.encoders.lm_heads import lm_head_weights
    from syntagma.encoders.load import load_encoder_config

    assert lm_head_weights(tiny_encoder, load_encoder_config(tiny_encoder)) == {}
