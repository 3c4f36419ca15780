"""Parameters of saved models and speeds of finished trainings, as a report shows them."""

from __future__ import annotations

import json

import pytest
import torch

from syntagma.analysis.parameters import read_numbers
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.runs.log import read_speed


class TestNumbers:
    @pytest.mark.parametrize("bits", [None, 8])
    def test_parameters_match_the_model(self, tiny_encoder, tmp_path, bits):
        guides = {"tree_distance": {}, "ancestor_attention": {"aggregation": "learned"}}
        model = GuidedEncoder.from_encoder(tiny_encoder, guides=guides)
        with torch.no_grad():
            model.tree_distance.alpha.fill_(0.125)
            model.ancestor_attention.aggregator.scalars.copy_(torch.tensor([0.0, 1.0]))
        model.save_pretrained(tmp_path, bits=bits)
        found = read_numbers(tmp_path)
        assert found is not None
        assert found.total == sum(weight.numel() for weight in model.parameters())
        for name in ("tree_distance", "ancestor_attention"):
            part = getattr(model, name)
            assert found.parameters[name] == sum(weight.numel() for weight in part.parameters())
        learned = {name.partition(",")[0]: value for name, value in found.learned.items()}
        share = float(torch.tensor([0.0, 1.0]).softmax(0)[0])
        assert learned["α"] == 0.125
        assert learned["share of H"] == pytest.approx(share, abs=1e-3)
        assert learned["share of H′"] == pytest.approx(1 - share, abs=1e-3)

    def test_missing_models_have_no_numbers(self, tmp_path):
        assert read_numbers(tmp_path) is None

    def test_hours_cover_the_whole_training(self, tmp_path):
        rows = [
            {"step": 50, "loss": 1.0},
            {"step": 100, "eval_f1": 2.0, "eval_evaluation_seconds": 3.0},
            {"step": 200, "eval_f1": 2.0, "eval_evaluation_seconds": 5.0},
            # A resumed run: the runtime is that of the last part, but the speed is right.
            {"step": 7200, "train_runtime": 100.0, "train_steps_per_second": 2.0},
        ]
        (tmp_path / "experiment.yaml").write_text("task: pairs\n")
        (tmp_path / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
        found = read_speed(tmp_path)
        assert (found.steps, found.hours, found.evaluation_seconds) == (7200, 1.0, 4.0)
        assert found.examples_per_second is None

    def test_training_in_steps_has_no_examples_per_second(self, tmp_path):
        row = {"step": 7, "train_samples_per_second": 16.0, "train_steps_per_second": 2.0}
        (tmp_path / "metrics.jsonl").write_text(json.dumps(row) + "\n")
        for settings, expected in (("num_train_epochs: 2", 16.0), ("max_steps: 7", None)):
            text = f"task: pairs\ntraining: {{{settings}}}\n"
            (tmp_path / "experiment.yaml").write_text(text)
            assert read_speed(tmp_path).examples_per_second == expected
