"""Systems on bases: how they start, what they read, and their matched controls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from syntagma.models.pooling import find_pooling
from syntagma.parse.sources.load import load_source
from syntagma.reproduce.bases import SCALES, WEAKER_PARSER, read_shared
from syntagma.reproduce.entries import find_entry
from syntagma.reproduce.runs import Setting, make_run


def test_how_guides_start(empty_datasets):
    """The papers do not say; the tag vectors of POI-Net are harmful at first if they are random."""
    setting = Setting(empty_datasets, empty_datasets / "out", "paper")
    for base, system, guide, start in (
        ("squad2", "sg-net", "ancestor_attention", "random"),
        ("squad1", "poi-net", "pos_embedding", "zero"),
        ("squad1", "poi-net_random", "pos_embedding", "random"),
        ("squad1", "sg-net_poi-net", "pos_embedding", "zero"),
    ):
        assert make_run(base, system, setting).experiment.guides[guide].initialise == start


@pytest.mark.parametrize(
    ("system", "changed"),
    [
        ("sg-net_mask_all", {"mask": "all"}),
        ("sg-net_mask_self", {"mask": "self"}),
        ("sg-net_mask_random", {"mask": "random"}),
    ],
)
def test_a_matched_control_differs_in_its_mask_only(empty_datasets, system, changed):
    for base, scale in (("squad2", "cpu"), ("nli", "paper"), ("race_sg-net", "paper")):
        setting = Setting(empty_datasets, empty_datasets / "out", scale)
        ours = make_run(base, system, setting).experiment
        theirs = make_run(base, "sg-net", setting).experiment
        guide = replace(theirs.guides["ancestor_attention"], **changed)
        assert ours == replace(theirs, guides={"ancestor_attention": guide})


def test_the_parser_of_a_system_builds_on_the_requested_one(empty_datasets):
    setting = Setting(empty_datasets, empty_datasets / "out", parser="random")
    for system, parser in (
        ("sg-net", "random"),
        ("sg-net_noise_20", "noisy:0.2:random"),
        ("sg-net_noise_100", "noisy:1.0:random"),
        ("sg-net_weaker_parser", WEAKER_PARSER),
    ):
        run = make_run("nli", system, setting)
        assert run.experiment.parser == parser
        load_source(parser)
        assert run.experiment.guides == make_run("nli", "sg-net", setting).experiment.guides


LAYOUTS = {
    ("race", "poi-net"): ("passage|question+option", "max", "max"),
    ("race_sg-net", "sg-net"): ("passage+question|option", "max", "pooler"),
    ("cosmosqa", "seprem"): ("question+option|passage", "first", "first"),
}
"""Of each paper's multiple choice: the layout, and the pooling at the scales `cpu` and `paper`."""


@pytest.mark.parametrize(("base", "system"), LAYOUTS)
def test_multiple_choice_is_read_as_in_each_paper(empty_datasets, base, system):
    layout, *poolings = LAYOUTS[base, system]
    for scale, pooling in zip(("cpu", "paper"), poolings, strict=True):
        for each in ("plain", system):
            setting = Setting(empty_datasets, empty_datasets / "out", scale)
            head = make_run(base, each, setting).experiment.head
            assert (head.layout, head.pooling) == (layout, pooling)


def test_seprem_reads_the_question_first(empty_datasets):
    for scale in SCALES:
        setting = Setting(empty_datasets, empty_datasets / "out", scale)
        run = make_run("searchqa", "seprem", setting)
        assert run.experiment.head.question_first
        if scale != "paper":
            assert run.start.base == "squad1_question_first"
            assert run.start.experiment.head.question_first


@pytest.mark.parametrize("scale", SCALES)
def test_every_system_can_pool_on_every_base(empty_datasets, scale):
    """A guide may leave the first piece as it is, which the paper of the base pools."""
    setting = Setting(empty_datasets, empty_datasets / "out", scale)
    systems = [
        name
        for name, own in read_shared()["systems"].items()
        if "guides" in own and "head" not in own
    ]
    for base in ("race_sg-net", "cosmosqa", "nli", "squad2_verifier"):
        for system in (name for name in systems if not name.startswith("layers")):
            experiment = make_run(base, system, setting).experiment
            head = experiment.head
            pooling = getattr(head, "pooling", "") or head.answerability_pooling
            guides = {name: own for name, own in experiment.guides.items() if own}
            if experiment.preset != "saved":
                find_pooling(pooling, guides)


def test_the_verifier_pools_what_the_guided_layer_computes(empty_datasets):
    setting = Setting(empty_datasets, empty_datasets / "out", "paper")
    run = make_run("squad2", "sg-net_verifier", setting)
    assert run.experiment.guides["ancestor_attention"].aggregate_special is False
    (verifier,) = run.needs
    assert (verifier.base, verifier.system) == ("squad2_verifier", "sg-net")
    head = verifier.experiment.head
    assert (head.objective, head.answerability_pooling) == ("answerability", "pooler")
    assert verifier.experiment.guides["ancestor_attention"].aggregate_special == "released"
    (plain,) = make_run("squad2", "plain_verifier", setting).needs
    assert plain.experiment.guides == {}
    assert plain.experiment.head == head


def test_seprem_without_alpha_is_a_sum(empty_datasets):
    setting = Setting(empty_datasets, empty_datasets / "out")
    entry = find_entry("seprem", "table6")
    assert {row.system for row in entry.rows if "w/o" in row.name} == {"seprem_sum"}
    for system, combination, alpha in (("sum", "sum", 0.1), ("halves", "share", 0.5)):
        (before,) = make_run("typing", f"seprem_{system}", setting).needs
        guide = before.experiment.guides["tree_distance"]
        assert (guide.combination, guide.alpha) == (combination, alpha)
