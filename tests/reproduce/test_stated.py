"""What differs from the papers is listed in full, at their own scale too."""

from __future__ import annotations

import pytest

from syntagma.reproduce.bases import read_bases
from syntagma.reproduce.differs import differences
from syntagma.reproduce.entries import find_entry, read_papers
from syntagma.reproduce.plan import in_order, make_plan
from syntagma.reproduce.runs import Setting
from syntagma.reproduce.shapes import PAPERS, shape_of
from syntagma.reproduce.stated import shown, values_of
from tests.conftest import tiny_config
from tests.messages import says

SILENT = ("data.", "encoder", "parser", "preset", "task", "training.seed", "training.save_steps")
"""Prefixes of settings that other lines name, or that do not change the result."""


def lines_of(name, setting):
    return [*differences(make_plan(find_entry(*name), setting))]


@pytest.mark.parametrize("paper", read_papers())
def test_every_setting_at_paper_scale_is_stated_or_listed(paper, empty_datasets):
    """Nothing is the paper's by silence alone."""
    setting = Setting(empty_datasets, empty_datasets / "out", "paper", seeds=1)
    for entry in read_papers()[paper].entries.values():
        plan = make_plan(entry, setting)
        lines = [*differences(plan)]
        assert any(line.startswith("parser: ") for line in lines)
        if not entry.trains:
            continue
        text = "\n".join(lines)
        assert all(reading in lines for reading in read_papers()[paper].readings)
        for run in in_order(runs[0] for runs in plan.cells.values()):
            stated = read_papers()[paper].stated | read_bases()[run.asked].stated
            values = values_of(run)
            for key in ("learning_rate", "batch_tokens", "lr_scheduler_type", "warmup_ratio"):
                name = f"training.{key}"
                same = name in stated and stated[name] == values[name]
                assert same or f"{name} {shown(name, values[name])}" in text
            for key in ("head.pooling", "head.layout", "head.question_first"):
                if key in values and stated.get(key) != values[key] and values[key] is not False:
                    assert f"{key} {values[key]}" in text
            for key in ("hidden_dropout", "attention_dropout"):
                if run.experiment.encoder != "scratch":
                    assert f"{key} the encoder's own" in text


def test_what_a_paper_states_are_settings(empty_datasets):
    setting = Setting(empty_datasets, empty_datasets / "out", "paper", seeds=1)
    guides, bases = {}, {}
    for name, paper in read_papers().items():
        guides[name] = set(paper.stated)
        for entry in paper.entries.values():
            for run in in_order(r[0] for r in make_plan(entry, setting).cells.values()):
                guides[name] -= values_of(run).keys()
                bases.setdefault(run.asked, set(read_bases()[run.asked].stated))
                assert not bases[run.asked] - values_of(run).keys()
    assert not any(guides.values())
    assert not any(base.stated for name, base in read_bases().items() if name not in bases)


def test_values_are_held_against_the_papers_words(empty_datasets):
    setting = Setting(empty_datasets, empty_datasets / "out", "paper")
    lines = lines_of(("sg-net", "table3"), setting)
    (chosen,) = (line for line in lines if line.startswith("at --scale paper (race_sg-net"))
    assert "training.learning_rate 1e-05 (8e-6, 1e-5, 2e-5 or 3e-5)" in chosen
    assert says(chosen, "head.pooling pooler first token")
    assert "weight_decay" not in chosen  # It is as stated.
    (unstated,) = (line for line in lines if line.startswith("not stated in the paper"))
    assert says(unstated, "race_sg-net head.dropout 0.1 training.lr_scheduler_type linear")
    assert "weight_decay" not in unstated


def test_settings_that_make_a_system_are_not_differences(empty_datasets):
    setting = Setting(empty_datasets, empty_datasets / "out", "paper")
    text = "\n".join(lines_of(("sg-net", "table6"), setting))
    for value in ("guided_only", "bi_attention", "mask all", "mask random"):
        assert value not in text


def test_encoders_are_listed_with_their_sizes(empty_datasets):
    setting = Setting(empty_datasets, empty_datasets / "out")
    (line,) = (each for each in lines_of(("sg-net", "table4"), setting) if "encoder: " in each)
    assert says(line, "default 6 layers width 384 bert-large 24 layers width 1,024 28,996 pieces")
    # Nothing is downloaded for a plan.
    setting = Setting(empty_datasets, empty_datasets / "out", encoder="some/other")
    (line,) = (each for each in lines_of(("sg-net", "table4"), setting) if "encoder: " in each)
    assert line.startswith("encoder: some/other; the paper's is google-bert/")


def test_the_sizes_of_a_papers_encoder_are_known():
    named = {name for paper in read_papers().values() for name in paper.encoders.values()}
    assert named == set(PAPERS)
    assert shape_of("albert/albert-xxlarge-v2").width == 4096


def test_sizes_are_read_from_a_configuration(tmp_path):
    config = tiny_config("albert")
    config.save_pretrained(tmp_path)
    shape = shape_of(str(tmp_path))
    assert (shape.layers, shape.width, shape.shared) == (
        config.num_hidden_layers, config.hidden_size, True,
    )  # fmt: skip
    assert f"{config.vocab_size:,} pieces" in str(shape)


def test_parsers_of_single_systems_are_named(empty_datasets):
    setting = Setting(empty_datasets, empty_datasets / "out", "paper")
    lines = lines_of(("sg-net", "section7.6"), setting)
    assert "parser of sg-net_noise_20: noisy:0.2:default-parser" in lines
