"""Runs of two systems are paired by seed where they were trained on the same data."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import stats

from syntagma.analysis.compare import compare_runs
from syntagma.analysis.significance import holm
from syntagma.errors import InputError, MissingExtraError
from tests.messages import naming, says
from tests.written_runs import change_settings, written_run

N = 120
PARAGRAPHS = [str(number // 4) for number in range(N)]


def right(seed, share):
    """Draw which examples are right; four of a paragraph are similarly hard."""
    random = np.random.default_rng(seed)
    hard = np.repeat(random.normal(0, 0.15, N // 4), 4)
    return (random.random(N) < share + hard).astype(float).tolist()


def systems(root, presets=("none", "sg-net"), seeds=(1, 2, 3, 4), train="same-{seed}", **settings):
    """Write the runs of systems whose names are their presets; later ones are better."""
    folders = []
    for place, preset in enumerate(presets):
        for seed in seeds:
            scores = right(10 * seed + place, 0.5 + 0.05 * place)
            folders.append(
                written_run(
                    root / f"{preset}-{seed}", scores, preset=preset, seed=seed,
                    train=train.format(seed=seed, preset=preset),
                    clusters={"paragraph": PARAGRAPHS}, **settings,
                )
            )  # fmt: skip
    return folders


def exact(folder):
    return json.loads((folder / "metrics.json").read_text())["exact"]


def test_runs_with_the_same_seeds_and_data_are_paired(tmp_path):
    folders = systems(tmp_path)
    found = compare_runs(folders)
    ours, theirs = ([exact(folder) for folder in part] for part in (folders[4:], folders[:4]))
    expected = stats.ttest_rel(ours, theirs)
    system = found.systems[1]
    assert (system.paired, system.shared_seeds, system.seeds_test) == (
        True, (1, 2, 3, 4), "paired t",
    )  # fmt: skip
    assert system.p_seeds == pytest.approx(expected.pvalue)
    assert system.difference == pytest.approx(np.mean(ours) - np.mean(theirs))
    values = found.to_dict()["systems"][1]
    low, high = expected.confidence_interval()
    assert (values["seeds_low"], values["seeds_high"]) == pytest.approx((low, high))
    assert values["p_seeds"] == values["p_seeds_holm"] == pytest.approx(expected.pvalue)
    assert {"examples_low", "p_examples", "both_high", "both_detectable"} <= values.keys()
    assert found.to_dict()["n_clusters"] == 30
    # The papers' test is only shown where runs are not paired; its value is kept.
    assert 0 < system.p_value < 1
    assert "p" not in found.rows()[0]
    assert "McNemar" not in found.table()
    assert "sign test" in found.test
    table = found.table()
    assert says(table, "sg-net paired 4 shared seeds 1, 2, 3, 4")
    assert says(table, "bootstrap 30 paragraphs 120 9,999")
    assert [row[1] for row in found.interval_rows()] == ["over", "seeds", "examples", "both"]
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_order_of_runs_and_the_names_of_folders_change_nothing(tmp_path):
    folders = systems(tmp_path)
    first = compare_runs(folders).systems[1]
    other = compare_runs([*folders[3::-1], *folders[:3:-1]]).systems[1]
    renamed = [
        folder.rename(tmp_path / f"z{9 - n}-{seed}")
        for n, (folder, seed) in enumerate(zip(folders, [1, 2, 3, 4] * 2, strict=True))
    ]
    rows = json.loads((renamed[0] / "examples.json").read_text())
    (renamed[0] / "examples.json").write_text(json.dumps(dict(reversed(rows.items()))))
    for system in (other, compare_runs(renamed).systems[1]):
        for over in ("seeds", "examples", "both"):
            ours, theirs = first.intervals[over], system.intervals[over]
            assert (ours.low, ours.high, ours.p_value, ours.detectable) == pytest.approx(
                (theirs.low, theirs.high, theirs.p_value, theirs.detectable)
            )


def test_only_shared_seeds_are_used_and_the_others_are_named(tmp_path):
    folders = systems(tmp_path, seeds=(1, 2, 3)) + systems(tmp_path, ("none",), seeds=(7, 8))
    system = (found := compare_runs(folders)).systems[1]
    assert found.systems[0].seeds == (1, 2, 3, 7, 8)
    assert system.shared_seeds == (1, 2, 3)
    assert says(found.table(), "sg-net 3 shared seeds (1, 2, 3) not used 7, 8 of none not shared")
    alone = compare_runs(folders[:6]).systems[1]
    assert system.intervals == alone.intervals
    assert system.difference == pytest.approx(alone.difference)
    assert (system.gained, system.lost) == (alone.gained, alone.lost)


def test_a_pair_trained_on_other_data_is_not_used(tmp_path):
    folders = systems(tmp_path)
    about = json.loads((folders[5] / "run.json").read_text())
    about["data"]["data.train"] = "other"
    (folders[5] / "run.json").write_text(json.dumps(about))
    found = compare_runs(folders)
    assert found.systems[1].shared_seeds == (1, 3, 4)
    assert says(found.table(), "not used seed 2 of sg-net examples data.train differ")


@pytest.mark.parametrize(
    ("train", "changed", "reason"),
    [
        ("", {}, "sg-net-1/run.json data.train"),
        ("{preset}-{seed}", {}, "examples data.train differ"),
        ("same", {"training": {"batch_tokens": 512, "num_train_epochs": 3}}, "batch_tokens 512"),
        (
            "same",
            {"data": {"train": ["a"], "dev": ["dev.json"], "limit": 9}},
            "data.limit differs 9 None",
        ),
    ],
)
def test_other_runs_are_not_paired_and_the_reason_is_said(tmp_path, train, changed, reason):
    folders = systems(tmp_path, train=train)
    for folder, seed in zip(folders[4:], (1, 2, 3, 4), strict=True):
        settings = {key: dict(value) for key, value in changed.items()}
        if "training" in settings:
            settings["training"]["seed"] = seed
        change_settings(folder, **settings)
    system = (found := compare_runs(folders)).systems[1]
    assert (system.paired, system.shared_seeds, system.seeds_test) == (False, (), "welch")
    ours, theirs = ([exact(run) for run in some] for some in (folders[4:], folders[:4]))
    expected = stats.ttest_ind(ours, theirs, equal_var=False)
    assert system.p_seeds == pytest.approx(expected.pvalue)
    assert says(found.table(), f"sg-net not paired {reason} Welch's")
    assert says(found.table(), "p sign test over examples resampled")
    assert found.rows()[0][-2:] == ["p", "p (resampled)"]
    # Examples are the same, paired or not.
    assert "examples" in system.intervals


def test_runs_with_other_seeds_are_not_paired(tmp_path):
    folders = systems(tmp_path, ("none",), (1, 2, 3)) + systems(tmp_path, ("sg-net",), (4, 5, 6))
    assert says(compare_runs(folders).table(), "sg-net not paired no seed is shared Welch's")
    with pytest.raises(InputError, match=naming("sg-net 2 none 3 no seed is shared")):
        compare_runs(folders[:5])


def test_a_single_seed_has_no_interval_over_seeds(tmp_path):
    folders = systems(tmp_path, seeds=(1,))
    system = (found := compare_runs(folders)).systems[1]
    assert system.intervals.keys() == {"examples"}
    assert (system.p_seeds, system.seeds_test) == (None, "")
    assert found.to_dict()["systems"][1]["seeds_low"] is None
    assert says(found.table(), "one run of each nothing other seeds McNemar's exact")
    assert [row[1] for row in found.interval_rows()] == ["over", "examples"]
    # The only shared seed of a system with more runs.
    more = systems(tmp_path, ("none",), seeds=(2, 3))
    found = compare_runs([folders[0], *more, folders[1]])
    assert found.systems[1].intervals["examples"] == system.intervals["examples"]
    assert says(found.table(), "only seed 1 is shared not used 2, 3 of none")
    assert found.interval_rows()[1][3:] == ["–", "–", "–"]


def test_without_scipy_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingExtraError, match=naming("stats pip")):
        compare_runs(systems(tmp_path, seeds=(1,)))


def test_two_seeds_have_no_joint_interval(tmp_path):
    found = compare_runs(systems(tmp_path, seeds=(1, 2)))
    assert found.systems[1].intervals.keys() == {"seeds", "examples"}
    assert says(found.table(), "both three shared seeds")


def test_all_comparisons_with_the_control_are_one_family(tmp_path):
    folders = systems(tmp_path, ("none", "sg-net", "poi-net", "seprem"))
    found = compare_runs(folders)
    for over in ("seeds", "examples", "both"):
        values = found.to_dict()["systems"][1:]
        expected = holm([value[f"p_{over}"] for value in values])
        assert [value[f"p_{over}_holm"] for value in values] == pytest.approx(expected)
    assert found.interval_rows()[0][5] == "p (Holm)"
    assert says(found.table(), "Holm 3 comparisons none")
    other = compare_runs(folders, control="sg-net")
    assert [system.name for system in other.systems] == ["sg-net", "none", "poi-net", "seprem"]
    assert other.systems[1].difference == pytest.approx(-found.systems[1].difference)
    assert compare_runs(folders, control=str(folders[5])).systems[0].name == "sg-net"
    # A comparison without an interval counts as well.
    some = compare_runs(folders[:10])
    assert some.systems[2].shared_seeds == (1, 2)
    assert "both" not in some.systems[2].intervals
    values = some.to_dict()["systems"]
    assert values[1]["p_both_holm"] == pytest.approx(min(1, 2 * values[1]["p_both"]))
    with pytest.raises(InputError, match=naming("--control sgnet 'sg-net' poi-net")):
        compare_runs(folders, control="sgnet")


def test_what_could_have_been_found_is_printed_for_differences_without_a_finding(tmp_path):
    found = compare_runs(systems(tmp_path, seeds=(1, 2, 3)))
    system = found.systems[1]
    assert system.p_seeds > 0.05
    limit = f"{system.intervals['seeds'].detectable:.2f}"
    assert says(found.table(), f"sg-net no finding over seeds {limit}")
    assert found.interval_rows()[1][-1] == limit
