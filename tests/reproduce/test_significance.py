"""The significance tests of a reproduced table."""

from __future__ import annotations

import pytest

from syntagma.analysis.comparison import ComparedSystem, Comparison
from syntagma.analysis.intervals import Interval
from syntagma.errors import MissingExtraError
from syntagma.reproduce import significance as module
from syntagma.reproduce.runs import Setting
from syntagma.reproduce.significance import significance
from syntagma.reproduce.work import plan_entry


def comparison(folders, p_values, *, paired=True):
    """Build the result of ``compare_named`` for the first folder and the others."""
    base = ComparedSystem("base", (folders[0],), (1,), {}, {})
    others = [
        ComparedSystem(
            folder, (folder,), (1,), {}, {}, difference=1.0, gained=3, lost=2, p_value=p / 2,
            paired=paired, pairing="" if paired else "the seeds differ",
            intervals={over: Interval(0.1, 1.9, p, 1.5, 0.5, 9) for over in ("seeds", "examples")},
        )
        for folder, p in zip(folders[1:], p_values, strict=True)
    ]  # fmt: skip
    return Comparison(
        "pairs", (), "accuracy", "p: sign test", 1200, (base, *others), n_resamples=9999,
        clusters="1,200 pairs",
    )  # fmt: skip


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """Plan an entry with systems on two bases, with p-values of 0.01 and 0.04 on the second."""
    group = module._ComparisonGroup
    groups = [
        group("tense", "test", {("a",): "Baseline", ("b",): "SG-Net"}),
        group("depth", "dev", {("c",): "Baseline", ("d",): "SG-Net", ("e",): "SEPREM"}),
    ]
    found = {
        "a": comparison("ab", [0.03]),
        "c": comparison("cde", [0.01, 0.04], paired=False),
    }
    monkeypatch.setattr(module, "_groups", lambda plan: iter(groups))
    monkeypatch.setattr(module, "compare_named", lambda groups: found[groups[0][1][0]])
    (tmp_path / "snli").mkdir()
    for part in ("train", "dev"):
        (tmp_path / f"snli/snli_1.0_{part}.jsonl").write_text("{}\n")
    return plan_entry("sg-net", "table4", Setting(tmp_path, tmp_path / "out"))


def test_p_values_are_corrected_over_all_bases(plan):
    (table,), lines = significance(plan)
    head, *rows = table.rows
    found, name = {}, ""
    for row in rows:
        name = row[0] or name
        found[name, row[head.index("over")]] = row[head.index("p (Holm)")]
    tense, depth, seprem = (
        "tense: SG-Net against Baseline",
        "depth: SG-Net against Baseline",
        "depth: SEPREM against Baseline",
    )
    # By hand: 3 × 0.01, then 2 × 0.03, then 0.04, which is raised to the previous value.
    for over in ("seeds", "examples"):
        values = [found[name, over] for name in (tense, depth, seprem)]
        assert values == ["0.0600", "0.0300", "0.0600"]
    # Half of them, for runs that are not paired.
    papers = {name: p for (name, over), p in found.items() if over == "the papers' test"}
    assert papers == {depth: "0.0150", seprem: "0.0300"}
    named = [row[-1] for row in rows if row[0]]
    assert named == ["1,200 of test", "1,200 of dev", "1,200 of dev"]
    assert lines[:4] == (
        "tense: seeds: paired t-test, for these examples",
        "examples: bootstrap over 1,200 pairs, 9,999 resamples, for these runs",
        "depth: seeds: Welch's t-test, for these examples",
        "depth: not paired, since the seeds differ; the papers' test: p: sign test",
    )
    assert lines[4] == "Holm: p corrected over the 3 comparisons"
    assert lines[5].startswith("The paper: ")


def test_without_scipy_there_is_no_test(plan, monkeypatch):
    def missing(groups):
        raise MissingExtraError("significance", "stats")

    monkeypatch.setattr(module, "compare_named", missing)
    tables, lines = significance(plan)
    assert tables == ()
    assert "'.[stats]'" in lines[0]


def test_a_single_system_is_not_tested(plan, monkeypatch):
    monkeypatch.setattr(module, "_groups", lambda plan: iter(()))
    assert significance(plan) == ((), ())
