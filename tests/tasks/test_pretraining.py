"""Continued pre-training: masking, objectives, and invalid settings."""

from __future__ import annotations

from typing import get_args

import pytest
import torch

pytest.importorskip("pyarrow")

from syntagma.encoders.lm_heads import LM_HEADS
from syntagma.errors import InputError
from syntagma.models import pretraining_model
from syntagma.syntax.distances import Direction
from syntagma.syntax.sequences import SequenceBuilder
from syntagma.tasks.pretraining.task import ObjectiveSums, PretrainingTask
from syntagma.training.run import train
from tests.builders import new_task
from tests.conftest import SUPPORTED, crossed, tiny_config
from tests.corpora import make_corpus
from tests.corpora import pretraining as experiment
from tests.messages import naming


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return make_corpus(tmp_path_factory.mktemp("pretraining"))


PRESETS = {"none": {}, "seprem": {}, "poi-net": {"coattention": False}}


@pytest.mark.parametrize(("preset", "model_type"), [*crossed(PRESETS)])
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
def test_any_subset_of_objectives_can_be_used(chosen, corpus, tiny_encoder):
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


def test_heads_may_be_predicted_only_for_hidden_arcs(corpus, tiny_encoder):
    head = {"asked_heads": "hidden", "hidden_distances": 0.5}
    task, examples = new_task(experiment(corpus, tiny_encoder, head=head))
    items, _ = next(task.stream(examples, budget=600, seed=1).batches())
    found = task.model(**task.collate(items)).objectives["heads"]
    assert 0 < found.hidden.sum() < len(found.targets)
    found.scores.retain_grad()
    found.loss.backward()
    assert not found.scores.grad[~found.hidden].any()
    assert found.scores.grad[found.hidden].any(1).all()
    # The reported loss is over all words, so that models are comparable.
    found = found._replace(scores=found.scores.detach())
    everywhere = found._replace(only_hidden=False).loss.item()
    assert ObjectiveSums.of(found).scores["loss"] == pytest.approx(everywhere)
    assert found.loss.item() != everywhere


@pytest.mark.parametrize("direction", get_args(Direction))
def test_hidden_arcs_do_not_leak(direction, corpus, tiny_encoder, tmp_path, monkeypatch):
    """With every distance hidden, scores do not depend on the tree."""
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


def test_visible_arcs_are_used(corpus, tiny_encoder, tmp_path):
    task, examples = new_task(experiment(corpus, tiny_encoder, hidden_dropout=0.0))
    other = make_corpus(tmp_path, parser="linear")
    scores = []
    for source in (examples, PretrainingTask.read(other)):
        batch = task.collate(next(task.stream(source, budget=10_000, seed=1).one_pass()))
        torch.manual_seed(2)
        with torch.no_grad():
            scores.append(task.model.eval()(**batch).objectives["mlm"].scores)
    assert not torch.allclose(*scores)


def test_the_scores_of_a_corpus_are_found_by_its_id(corpus, tiny_encoder):
    task, examples = new_task(experiment(corpus, tiny_encoder))
    rows = task.score_examples(examples, [{"mlm": ObjectiveSums(n=4, loss=8.0, right=1)}])
    assert rows == {task.row_id(examples[0], 0): {"mlm": 25.0}}


def test_sums_add_up():
    one = ObjectiveSums(n=4, loss=8.0, right=1, by_class=torch.tensor([3, 1]).numpy())
    two = ObjectiveSums(n=4, loss=4.0, right=3, by_class=torch.tensor([0, 1, 3]).numpy())
    assert (one + two).scores == {"loss": 1.5, "accuracy": 50.0, "chance": 37.5}


def test_all_models_mask_the_same_pieces(corpus, tiny_encoder, monkeypatch):
    masked = []
    hide = pretraining_model.hide_pieces

    def spied(*args, **options):
        found = hide(*args, **options)
        masked.append(found.targets)
        return found

    monkeypatch.setattr(pretraining_model, "hide_pieces", spied)
    for head in ({"distances": 0.0, "heads": 0.0}, {}):
        task, examples = new_task(experiment(corpus, tiny_encoder, head=head))
        task.evaluate(examples)
    half = len(masked) // 2
    assert half > 2
    for one, other in zip(masked[:half], masked[half:], strict=True):
        assert torch.equal(one, other)


def test_the_model_stores_the_parser_of_its_corpus(corpus, tmp_path, tiny_encoder):
    task, examples = new_task(experiment(corpus, tiny_encoder))
    assert task.model.config.parser == "random:3"
    other = make_corpus(tmp_path, parser="linear")
    with pytest.raises(InputError, match=naming("data.train linear random:3")):
        PretrainingTask.new(
            experiment(corpus, tiny_encoder), [*examples, *PretrainingTask.read(other)]
        )


def test_evaluation_masking_is_deterministic(corpus, tiny_encoder):
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
        (
            {"preset": "none", "guides": {"tree_bias": {}}},
            "guides.tree_bias head.distances head.heads 0",
        ),
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
            "nan steps training.learning_rate training.warmup_ratio",
        ),
    ],
)
def test_invalid_settings_are_reported(changes, message, corpus, tiny_encoder, tmp_path):
    with pytest.raises(InputError, match=naming(message)):
        train(experiment(corpus, tiny_encoder, **changes), tmp_path / "run")


def test_heads_need_a_special_piece_as_root(corpus, tiny_encoder, monkeypatch):
    monkeypatch.setattr(SequenceBuilder, "prefix", lambda self, n_texts: [])
    with pytest.raises(InputError, match=naming("head.heads special bert 0")):
        new_task(experiment(corpus, tiny_encoder))
    new_task(experiment(corpus, tiny_encoder, head={"heads": 0}))


@pytest.mark.parametrize("model_type", [name for name in SUPPORTED if name in LM_HEADS])
def test_the_pretrained_head_is_reused(model_type, tmp_path):
    """Scores equal those of the model in Transformers."""
    from transformers import AutoModelForMaskedLM

    from syntagma.encoders.lm_heads import lm_head_weights
    from syntagma.models.piece_head import PieceHead

    torch.manual_seed(0)
    config = tiny_config(model_type)
    model = AutoModelForMaskedLM.from_config(config).eval()
    # Norms and biases as after training. The other weights stay small, so that the epsilon of a
    # norm matters.
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


def test_an_encoder_without_a_head_gets_a_new_one(tiny_encoder):
    from syntagma.encoders.lm_heads import lm_head_weights
    from syntagma.encoders.load import load_encoder_config

    assert lm_head_weights(tiny_encoder, load_encoder_config(tiny_encoder)) == {}
