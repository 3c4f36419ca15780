"""The significance tests of a reproduced table."""

from __future__ import annotations

import pytest

from syntagma.analysis.comparison import ComparedSystem, Comparison
from syntagma.errors import MissingExtraError
from syntagma.reproduce import significance as module
from syntagma.reproduce.runs import Setting
from syntagma.reproduce.significance import significance
from syntagma.reproduce.work import plan_entry


def comparison(folders, tests, p_values):
    """Build the result of ``compare_runs`` for the first folder and the others."""
    base = ComparedSystem("base", (folders[0],), (1,), {}, {})
    others = [
        ComparedSystem(folder, (folder,), (1,), {}, {}, 1.0, 3, 2, p, p, p / 2)
        for folder, p in zip(folders[1:], p_values, strict=True)
    ]
    return Comparison("pairs", (), "accuracy", tests, 1200, (base, *others))


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """Plan an entry with systems on two bases, with p-values of 0.01 and 0.04 on the second."""
    group = module._ComparisonGroup
    groups = [
        group("tense", "test", {("a",): "Baseline", ("b",): "SG-Net"}),
        group("depth", "dev", {("c",): "Baseline", ("d",): "SG-Net", ("e",): "SEPREM"}),
    ]
    found = {
        "a": comparison("ab", "p: t-test", [0.03]),
        "c": comparison("cde", "p: sign test", [0.01, 0.04]),
    }
    monkeypatch.setattr(module, "_groups", lambda plan: iter(groups))
    monkeypatch.setattr(module, "compare_runs", lambda folders: found[folders[0]])
    (tmp_path / "snli").mkdir()
    for part in ("train", "dev"):
        (tmp_path / f"snli/snli_1.0_{part}.jsonl").write_text("{}\n")
    return plan_entry("sg-net", "table4", Setting(tmp_path, tmp_path / "out"))


def test_p_values_are_corrected_over_all_bases(plan):
    (table,), lines = significance(plan)
    assert [row[0] for row in table.rows[1:]] == [
        "tense: SG-Net against Baseline",
        "depth: SG-Net against Baseline",
        "depth: SEPREM against Baseline",
    ]
    head, *rows = table.rows
    holm = head.index("p (Holm)")
    # By hand: 3 × 0.01, then 2 × 0.03, then 0.04, which is raised to the previous value.
    assert [row[holm] for row in rows] == ["0.0600", "0.0300", "0.0600"]
    assert [row[-1] for row in rows] == ["1,200 of test", "1,200 of dev", "1,200 of dev"]
    assert lines[:3] == (
        "tense: p: t-test",
        "depth: p: sign test",
        "Holm: p corrected over the 3 comparisons; other p are uncorrected",
    )
    assert lines[3].startswith("The paper: ")


def test_without_scipy_there_is_no_test(plan, monkeypatch):
    def missing(folders):
        raise MissingExtraError("significance", "stats")

    monkeypatch.setattr(module, "compare_runs", missing)
    tables, lines = significance(plan)
    assert tables == ()
    assert "'.[stats]'" in lines[0]


def test_a_single_system_is_not_tested(plan, monkeypatch):
    monkeypatch.setattr(module, "_groups", lambda plan: iter(()))
    assert significance(plan) == ((), ())
