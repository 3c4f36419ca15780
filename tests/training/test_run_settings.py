"""The settings of a run: checked before training, and compared when it is resumed."""

from __future__ import annotations

import pytest

from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.pair_model import PairModel
from syntagma.runs.folder import RunFolder
from syntagma.settings import build
from syntagma.tasks.experiment import TrainingSettings, comparable, load_experiment
from syntagma.tasks.new_model import new_model
from syntagma.training.run import train
from syntagma.training.trainable import warn_of_unused
from tests.builders import experiment, pairs, treebank
from tests.messages import naming, says


def test_token_ids_of_the_tokenizer_cannot_be_set(tmp_path, tiny_encoder):
    data = treebank(tmp_path / "tides.conllu", copies=1)
    with pytest.raises(InputError, match=naming("head.mask_token_id")):
        train(
            experiment("parsing", data, tiny_encoder, head={"mask_token_id": 7}), tmp_path / "run"
        )


def test_train_takes_a_loaded_experiment_not_a_path(tmp_path):
    with pytest.raises(InputError, match=naming("a.yaml load_experiment()")):
        train("a.yaml", tmp_path / "run")
    with pytest.raises(InputError, match=naming("path file None")):
        load_experiment(None)
    assert not any(tmp_path.iterdir())


def test_an_existing_folder_is_rejected_before_data_is_read(tmp_path):
    (tmp_path / "a").write_text("")
    with pytest.raises(InputError, match=naming(f"{tmp_path / 'a'} file new folder")):
        train(experiment("pairs", "nowhere.jsonl", "no/encoder"), tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_run_from_before_a_setting_existed_can_be_resumed(tmp_path, tiny_encoder):
    data = treebank(tmp_path / "tides.conllu", copies=1)
    settings = experiment("parsing", data, tiny_encoder, training={"num_train_epochs": 1})
    run = RunFolder(tmp_path / "run")
    run.begin(settings, resume=False)
    lines = run.experiment.read_text().splitlines(keepends=True)
    kept = [line for line in lines if "adam_beta2" not in line]
    assert len(kept) == len(lines) - 1
    run.experiment.write_text("".join(kept))
    run.begin(settings, resume=True)


def test_an_explicit_default_is_the_same_setting(tmp_path, tiny_encoder):
    data = treebank(tmp_path / "tides.conllu", copies=1)
    run = RunFolder(tmp_path / "run")
    run.begin(experiment("parsing", data, tiny_encoder), resume=False)
    defaults = {"pooling": "first", "word_dropout": 0}
    run.begin(experiment("parsing", data, tiny_encoder, head=defaults), resume=True)
    with pytest.raises(InputError, match=naming("head.pooling='mean' 'first' --out")):
        run.begin(experiment("parsing", data, tiny_encoder, head={"pooling": "mean"}), resume=True)


def test_an_explicit_default_of_a_guide_is_the_same_setting(tmp_path, tiny_encoder):
    data = pairs(tmp_path / "pairs.jsonl", copies=1)

    def settings(preset, guides):
        return experiment("pairs", data, tiny_encoder, preset=preset, guides=guides)

    for preset in ("sg-net", "saved"):
        run = RunFolder(tmp_path / preset)
        run.begin(settings(preset, {}), resume=False)
        other = {"ancestor_attention": {"alpha": 0.25}}
        with pytest.raises(InputError, match=naming("guides.ancestor_attention.alpha=0.25 --out")):
            run.begin(settings(preset, other), resume=True)
    RunFolder(tmp_path / "sg-net").begin(
        settings("sg-net", {"ancestor_attention": {"alpha": 0.5}}), resume=True
    )


def test_guides_of_a_saved_model_keep_settings_that_are_not_changed(tmp_path, tiny_encoder):
    guides = {
        "coattention": {"turns": 5, "integration": "average"},
        "ancestor_attention": {"aggregation": "guided_only", "alpha": 0.25},
    }
    GuidedEncoder.from_encoder(tiny_encoder, guides=guides).save_pretrained(tmp_path / "saved")
    changes = {"coattention": {"turns": 2}, "ancestor_attention": {"num_layers": 1}}
    settings = experiment("pairs", "none", tmp_path / "saved", preset="saved", guides=changes)
    labels = {"labels": ["yes", "no"]}
    found = new_model(PairModel, settings, labels=labels).config.guides
    assert (found["coattention"].turns, found["coattention"].integration) == (2, "average")
    kept = found["ancestor_attention"]
    assert (kept.aggregation, kept.alpha, kept.num_layers) == ("guided_only", 0.25, 1)


def test_integers_and_equal_floats_are_the_same_setting(tmp_path):
    path = tmp_path / "pairs.yaml"
    found = []
    for value in ("2", "2.0"):
        path.write_text(
            f"task: pairs\ndata: {{train: [a]}}\ntraining: {{num_train_epochs: {value}}}\n"
        )
        found.append(comparable(load_experiment(path)))
    assert found[0] == found[1]
    assert found[0]["training.seed"] == 1


@pytest.mark.parametrize(
    ("guides", "words"),
    [
        ({"tree_bais": False}, "guides tree_bais tree_bias"),
        ({"tree_bias": 5}, "guides.tree_bias false 5"),
    ],
)
def test_changes_to_the_guides_of_a_saved_model_are_checked_at_once(guides, words):
    with pytest.raises(InputError, match=naming(words)):
        experiment("pairs", "nowhere.jsonl", "no/encoder", preset="saved", guides=guides)
    kept = {"tree_bias": False, "coattention": None, "tree_distance": {"alpha": 0.2}}
    found = experiment("pairs", "nowhere.jsonl", "no/encoder", preset="saved", guides=kept)
    assert found.guides == kept


def test_less_than_an_epoch_is_at_least_a_step(tmp_path, tiny_encoder):
    data = pairs(tmp_path / "pairs.jsonl", copies=1)
    training = {"num_train_epochs": 0.05, "eval_steps": 0.5}
    train(experiment("pairs", data, tiny_encoder, training=training), tmp_path / "run")
    assert {record["step"] for record in RunFolder(tmp_path / "run").records()} == {1}


@pytest.mark.parametrize(
    ("training", "guides", "evaluates", "words"),
    [
        ({"guide_learning_rate": 1e-3}, {}, True, "training.guide_learning_rate 0.001 guide"),
        ({"guide_learning_rate": 1e-3}, {"tree_distance": {}}, True, ""),
        ({"lora_rank": 3}, {}, True, "training.lora_rank 3 full"),
        ({"early_stopping_patience": 2}, {}, False, "training.early_stopping_patience 2 data.dev"),
        ({"eval_steps": 5}, {}, False, "training.eval_steps 5 data.dev"),
        ({"early_stopping_patience": 2, "eval_steps": 5}, {}, True, ""),
        ({}, {}, False, ""),
    ],
)
def test_settings_without_an_effect_are_named(
    training, guides, evaluates, words, tiny_encoder, caplog
):
    settings = build(TrainingSettings, training)
    model = PairModel.from_encoder(tiny_encoder, guides=guides, labels={"labels": ["no", "yes"]})
    warn_of_unused(model, settings, evaluates=evaluates)
    assert len(caplog.records) == bool(words)
    assert says(caplog.text, words)


def test_a_copy_that_was_asked_for_is_not_given_up(tmp_path, encoder_folders, caplog):
    """The file of a run lists it even where it is only the preset's, and starts at random."""
    data, encoder = pairs(tmp_path / "pairs.jsonl", copies=1), str(encoder_folders["modernbert"])
    asked = {"ancestor_attention": {"initialise": "last_layer"}}
    settings = experiment("pairs", data, encoder, preset="sg-net", guides=asked)
    for one in (settings, settings.changed(parser="random")):
        with pytest.raises(InputError, match=naming("guides.ancestor_attention.initialise=random")):
            new_model(PairModel, one, labels={"labels": ["no", "yes"]})
    assert not says(caplog.text, "guides.ancestor_attention.initialise")

    run = RunFolder(tmp_path / "run")
    run.begin(experiment("pairs", data, encoder, preset="sg-net"), resume=False)
    recorded = load_experiment(run.experiment)
    run.begin(recorded, resume=True)
    assert recorded.guides["ancestor_attention"].initialise == "last_layer"
    model = new_model(PairModel, recorded, labels={"labels": ["no", "yes"]})
    assert model.config.guides["ancestor_attention"].initialise == "random"
    assert says(caplog.text, "modernbert guides.ancestor_attention.initialise random")
