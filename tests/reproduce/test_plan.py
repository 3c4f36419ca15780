"""Plans: the runs of an entry, their settings, and the runs that entries share."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from syntagma.errors import InputError
from syntagma.models.guides import resolve_guides
from syntagma.outputs import portable_name
from syntagma.reproduce.bases import SCALES, read_bases, read_shared
from syntagma.reproduce.datasets import read_datasets
from syntagma.reproduce.differs import differences
from syntagma.reproduce.entries import find_entry, read_papers
from syntagma.reproduce.plan import make_plan
from syntagma.reproduce.runs import Setting, make_run
from syntagma.reproduce.work import plan_entry
from syntagma.tasks.experiment import load_experiment
from tests.messages import naming

EXPERIMENTS = Path(__file__).parent.parent.parent / "experiments"
RESULTS = EXPERIMENTS / "results"
RANDOM = "squad1/guides.pos_embedding.initialise=random"
GIVEN = {
    "nli_sg-net": ("guides.ancestor_attention.initialise=last_layer",),
    "squad10k_poi-net": (RANDOM,),
    "dream_poi-net": (RANDOM,),
}
"""Settings in which such a file differs."""
SAME = {
    "squad10k_poi-net": ("squad1", "poi-net"),
    "dream_poi-net": ("dream", "poi-net"),
    "nli_plain": ("nli", "plain"),
    "openentity_seprem": ("typing", "seprem_fine_tuning"),
    "squad10k_seprem": ("squad1", "seprem_fine_tuning"),
    "nli_sg-net": ("nli", "sg-net"),
    "multi30k_sg-net": ("translation", "sg-net"),
    "mlm_pretrain_small": ("pretraining", "mlm"),
    "seprem_pretrain_small": ("pretraining", "layers_mlm_both"),
}
"""Files in experiments/ with the same settings as a run of `bases.yaml`."""


@pytest.mark.parametrize("name", SAME)
def test_settings_equal_those_of_the_experiments(name, empty_datasets):
    given = GIVEN.get(name, ())
    setting = Setting(empty_datasets, empty_datasets / "out", overrides=given)
    ours = make_run(*SAME[name], setting).experiment
    theirs = load_experiment(EXPERIMENTS / f"{name}.yaml")
    base, system = SAME[name]
    if start := read_bases()[base].start:
        assert Path(ours.encoder).parts[-2:] == (start, f"{system}-1")
        before = {"squad1": "squad10k"}.get(start, start)
        assert theirs.encoder == f"runs/{before}_{system}"
        theirs = replace(theirs, encoder=ours.encoder)
    assert ours.data.limit == theirs.data.limit
    assert replace(ours, data=theirs.data) == theirs


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("paper", read_papers())
def test_every_entry_has_a_plan_at_every_scale(paper, scale, empty_datasets):
    for entry in read_papers()[paper].entries.values():
        plan = make_plan(entry, Setting(empty_datasets, empty_datasets / "out", scale, seeds=2))
        runs = plan.runs()
        assert not plan.missing
        assert len({run.folder for run in runs}) == len(runs)
        places = {run.folder: place for place, run in enumerate(runs)}
        for run in runs:
            assert run.state == "to do"
            assert all(places[needed.folder] < places[run.folder] for needed in run.needs)
            preset = run.experiment.preset
            resolve_guides("none" if preset == "saved" else preset, run.experiment.guides)
        shown = {row.encoder for row, _ in plan.row_runs()}
        expected = {row.encoder for row in entry.rows if row.system}
        assert shown == expected if scale == "paper" else len(shown) == 1


def test_every_system_is_used():
    used = {
        row.system for p in read_papers().values() for e in p.entries.values() for row in e.rows
    }
    text = str(read_shared()["systems"])
    results = "".join(path.read_text(encoding="utf-8") for path in RESULTS.glob("*.yaml"))
    for name in read_shared()["systems"]:
        assert name in used or f"/{name}'" in text or re.search(rf"[ ,]{name}[ ,\n]", results)


def test_a_setting_of_a_guide_changes_the_systems_that_have_it(empty_datasets):
    given = ("guides.ancestor_attention.initialise=last_layer",)
    setting = Setting(empty_datasets, empty_datasets / "out", overrides=given)
    assert make_run("nli", "plain", setting).experiment.guides == {}
    guides = make_run("nli", "sg-net", setting).experiment.guides
    assert guides["ancestor_attention"].initialise == "last_layer"


def test_differences_include_settings_starting_runs_and_initialisation(empty_datasets):
    given = (
        "race_sg-net/guides.ancestor_attention.alpha=0.7",
        "race_sg-net/training.weight_decay=0.2",
    )
    setting = Setting(empty_datasets, empty_datasets / "out", overrides=given)
    lines = [*differences(make_plan(find_entry("sg-net", "table3"), setting))]
    (settings,) = (line for line in lines if line.startswith("settings (race_sg-net;"))
    for shown in (
        "hidden_dropout 0.1 (the encoder's own)",
        "head.pooling max (pooler)",
        "guides.ancestor_attention.aggregate_special False (released)",
        "training.weight_decay 0.2 (0.01)",
        "guides.ancestor_attention.alpha 0.7 (0.5)",
    ):
        assert shown in settings
    (chain,) = (
        line for line in lines if line.startswith("starts from (race_sg-net: plain, sg-net)")
    )
    assert "a model trained on squad1, then on dream" in chain
    assert "initialisation of ancestor_attention: random" in "\n".join(lines)


def test_entries_share_runs(empty_datasets):
    setting = Setting(empty_datasets, empty_datasets / "out")
    tables = [make_plan(find_entry("sg-net", name), setting) for name in ("table2", "table6")]
    shared = set.intersection(*({run.folder for run in plan.runs()} for plan in tables))
    assert {folder.name for folder in shared} == {"plain-1", "sg-net-1"}
    race = [
        make_plan(find_entry(*name), setting)
        for name in (("sg-net", "table3"), ("poi-net", "table4"))
    ]
    shared = set.intersection(*({run.folder for run in plan.runs()} for plan in race))
    # Each paper has a layout of its own for RACE, but not for what precedes it.
    assert {folder.parent.name for folder in shared} == {"dream", "squad1"}


def test_variants_without_additional_weights_start_from_the_same_run(empty_datasets):
    setting = Setting(empty_datasets, empty_datasets / "out")
    plan = make_plan(find_entry("poi-net", "figure4"), setting)
    starts = {run.folder.name for run in plan.runs() if run.base == "squad1"}
    assert starts == {"poi-net-1", "poi-net_without_coattention-1", "poi-net_multi_head-1"}
    last = make_run(
        "race", "poi-net_average", setting, suffix="turns2",
        changes={"guides": {"coattention": {"turns": 2}}},
    )  # fmt: skip
    assert Path(last.experiment.encoder) == setting.out / "cpu" / "dream" / "poi-net-1"
    assert last.experiment.preset == "saved"
    assert last.experiment.guides == {"coattention": {"integration": "average", "turns": 2}}
    paper = make_run("race", "poi-net_average", replace(setting, scale="paper"))
    assert paper.experiment.preset == "poi-net"
    assert paper.needs == ()


def test_identical_systems_are_trained_once(empty_datasets):
    setting = Setting(empty_datasets, empty_datasets / "out")
    plan = make_plan(find_entry("poi-net", "figure4"), setting)
    one, two, three = (
        [plan.cells[row, column][0].folder.name for row in range(5)] for column in (1, 2, 3)
    )
    assert one == ["poi-net_multi_head-turns1-1", *["poi-net-turns1-1"] * 4]
    assert two[1:] == ["poi-net_average-turns2-1", *["poi-net-turns2-1"] * 3]
    assert len({*three}) == 5


def test_an_encoder_set_for_a_base_replaces_its_starting_run(empty_datasets):
    given = ("race/encoder=default-reader",)
    setting = Setting(empty_datasets, empty_datasets / "out", overrides=given)
    plan = make_plan(find_entry("poi-net", "figure4"), setting)
    assert {run.base for run in plan.runs()} == {"race"}
    run = plan.cells[1, 2][0]
    assert (run.experiment.encoder, run.experiment.preset) == ("default-reader", "poi-net")
    coattention = run.experiment.guides["coattention"]
    assert (coattention.integration, coattention.turns) == ("average", 2)
    assert "encoder (race): default-reader" in [*differences(plan)]
    tables = make_plan(find_entry("poi-net", "table4"), setting)
    assert {run.base for run in tables.runs()} == {"race", "squad1"}


def test_settings_of_a_replaced_base_are_rejected(empty_datasets):
    given = ("race/encoder=default-reader", "squad2_poi/data.limit=3")
    setting = Setting(empty_datasets, empty_datasets / "out", overrides=given)
    with pytest.raises(InputError, match=naming("poi-net figure4 squad2_poi/data.limit=3 race")):
        plan_entry("poi-net", "figure4", setting)


def test_data_of_the_starting_runs_are_required_too(empty_datasets):
    data, entry = empty_datasets / "some", find_entry("poi-net", "figure4")
    data.mkdir()
    (data / "race").symlink_to(empty_datasets / "race")
    with pytest.raises(InputError, match=naming(f"poi-net figure4 {data}") + ".*(DREAM|SQuAD 1.1)"):
        make_plan(entry, Setting(data, data / "out"))
    given = ("race/encoder=default-reader",)
    assert make_plan(entry, Setting(data, data / "out", overrides=given)).cells


def test_a_verifier_is_trained_before_the_system_that_uses_it(empty_datasets):
    plan = make_plan(
        find_entry("sg-net", "table2"), Setting(empty_datasets, empty_datasets / "out")
    )
    names = [run.folder.name for run in plan.runs()]
    places = {(run.base, run.system): place for place, run in enumerate(plan.runs())}
    assert places["squad2_verifier", "sg-net"] < places["squad2", "sg-net_verifier"]
    assert names[places["squad2", "sg-net_verifier"]] == "sg-net_verifier-1"
    (run,) = (run for run in plan.runs() if run.system == "sg-net_verifier")
    assert run.experiment.head.verifier == str(run.needs[0].folder)


def test_an_encoder_of_the_paper_selects_its_rows(empty_datasets):
    entry = find_entry("sg-net", "table3")
    for name in ("albert", "albert/albert-xxlarge-v2"):
        plan = make_plan(entry, Setting(empty_datasets, empty_datasets / "out", encoder=name))
        assert [row.name for row, _ in plan.row_runs()] == ["ALBERT Baseline", "SG-Net on ALBERT"]
        assert plan.runs()[0].folder.name == "plain@albert-xxlarge-v2-1"
    plan = make_plan(entry, Setting(empty_datasets, empty_datasets / "out", encoder="some/other"))
    assert [row.encoder for row, _ in plan.row_runs()] == ["bert", "bert"]
    assert plan.runs()[0].experiment.encoder == "some/other"


@pytest.mark.parametrize(
    ("encoders", "begins"),
    [
        (("lab/BERT", "lab/bert"), "bert"),
        ((r"C:\models\bert", "D:/other/bert/"), "bert"),
        (("mine/a:b", "mine/a_b"), "a_b"),
    ],
)
def test_folders_of_runs_can_exist_on_any_file_system(empty_datasets, encoders, begins):
    names = []
    for encoder in encoders:
        setting = Setting(empty_datasets, empty_datasets / "out")
        names.append(make_run("nli", "plain", setting, encoder=encoder).folder.name)
    for name in names:
        assert re.fullmatch(rf"plain@{begins}(-[0-9a-f]{{6}})?-1", name)
    # Names may differ in more than case only if the encoders do.
    last = {re.split(r"[/\\]", encoder.rstrip("/"))[-1] for encoder in encoders}
    assert len({name.casefold() for name in names}) == len(last)


def test_all_folders_of_the_papers_can_exist_on_any_file_system(empty_datasets):
    folders = set()
    for paper in read_papers().values():
        for entry in paper.entries.values():
            plan = make_plan(entry, Setting(empty_datasets, empty_datasets / "out"))
            folders |= {run.folder for run in plan.runs()} | {plan.folder}
    for folder in folders:
        parts = folder.relative_to(empty_datasets / "out").parts
        assert all(portable_name(part) == part for part in parts)
    assert len({str(folder).casefold() for folder in folders}) == len(folders)


def test_missing_data_of_an_entry_are_reported(tmp_path):
    with pytest.raises(InputError, match=naming("sg-net table3 RACE race/RACE.tar.gz")):
        make_plan(find_entry("sg-net", "table3"), Setting(tmp_path, tmp_path / "out"))


def test_invalid_scales_and_seed_counts_are_rejected(tmp_path):
    with pytest.raises(InputError, match=naming("--scale tiny cpu paper huge")):
        Setting(tmp_path, tmp_path, "huge")
    with pytest.raises(InputError, match=naming("--seeds 1 -1")):
        Setting(tmp_path, tmp_path, seeds=-1)


def test_every_dataset_has_a_base():
    assert {base.data for base in read_bases().values()} == set(read_datasets())


def test_the_default_number_of_seeds_at_paper_scale_is_the_papers(empty_datasets):
    entry = find_entry("poi-net", "table8")
    for scale, seeds in (("cpu", 1), ("paper", 3)):
        plan = make_plan(entry, Setting(empty_datasets, empty_datasets / "out", scale))
        assert plan.setting.seeds == seeds
        assert all(len(runs) == seeds for runs in plan.cells.values())


@pytest.mark.parametrize(
    ("paper", "max_length", "rate"), [("poi-net", 512, 1e-5), ("sg-net", 384, 2e-5)]
)
def test_systems_on_squad2_have_the_settings_of_their_paper(
    empty_datasets, tmp_path, paper, max_length, rate
):
    table = {"poi-net": "table3", "sg-net": "table2"}[paper]
    plan = make_plan(
        find_entry(paper, table), Setting(empty_datasets, tmp_path / "out", scale="paper")
    )
    found = [run for run in plan.runs() if run.asked.startswith("squad2")]
    assert found
    for run in found:
        assert run.experiment.head.max_length == max_length
        assert run.experiment.training.learning_rate == rate
    # At other scales both papers share their runs.
    small = make_plan(find_entry(paper, table), Setting(empty_datasets, tmp_path / "out"))
    bases = {run.base for run in small.runs() if run.asked.startswith("squad2")}
    assert bases - {"squad2_verifier"} == {"squad2"}


# Examples per batch in the papers, and pieces per example including padding, measured on the data
# (SQuAD 1.1, DREAM, RACE, dev data of SNLI) with the tokenizer of the default encoder.
BATCHES = {
    ("sg-net", "squad2"): (20, 178),
    ("sg-net", "race_sg-net"): (20, 1331),
    ("sg-net", "nli"): (32, 31),
    ("poi-net", "squad1"): (24, 178),
    ("poi-net", "squad2_poi"): (24, 178),
    ("poi-net", "dream"): (24, 521),
    ("poi-net", "race"): (32, 1451),
}
"""Sources: SG-Net (journal version), section 5.2, which chooses from 16, 20 and 32, for SNLI from
16, 24 and 32; POI-Net, Table 2."""


@pytest.mark.parametrize(("paper", "base"), BATCHES)
def test_batches_have_the_papers_size(empty_datasets, paper, base):
    n_examples, n_pieces = BATCHES[paper, base]
    run = make_run(base, paper, Setting(empty_datasets, empty_datasets / "out", "paper"))
    training = run.experiment.training
    held = training.batch_tokens * training.gradient_accumulation_steps / n_pieces
    # A batch ends before the first example that does not fit, on average half an example early.
    assert held == pytest.approx(n_examples, rel=0.15)
