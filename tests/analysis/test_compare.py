"""Comparing runs: seeds are grouped, tests suit the metrics, and data must be the same."""

from __future__ import annotations

import json
from math import comb

import pytest
import yaml

pytest.importorskip("scipy")

from syntagma.analysis.compare import compare_runs
from syntagma.analysis.comparison import show_p
from syntagma.analysis.significance import paired_t_test, sign_test
from syntagma.analysis.systems import read_systems
from syntagma.errors import InputError
from syntagma.tasks.examples import fingerprint
from syntagma.tasks.pairs.data import PairExample
from syntagma.tasks.relations.metrics import count_classes, count_relations, macro_f1
from tests.messages import naming, says
from tests.written_runs import written_run

BASE = [1.0, 0, 0, 1, 0, 0, 1, 0, 1, 0]
PRESETS = {"plain": "none", "other": "sg-net", "seprem": "seprem", "sg-net": "sg-net"}
BETTER = [1.0, 1, 1, 1, 0, 1, 1, 1, 0, 0]


def test_two_span_runs_are_compared_by_mcnemars_test(tmp_path):
    plain = written_run(tmp_path / "plain", BASE)
    other = written_run(tmp_path / "sg-net", BETTER, preset="sg-net")
    found = compare_runs([plain, other])
    assert show_p(0.0) == "<0.0001"
    baseline, system = found.systems
    assert baseline.p_value is None
    assert (system.gained, system.lost) == (4, 1)
    assert system.p_value == pytest.approx(sign_test(4, 1))
    assert system.difference == pytest.approx(30)
    assert says(found.table(), "p McNemar's exact test `exact`")
    assert says(found.table(), "resampled permutation test n = 10")
    assert json.loads(json.dumps(found.to_dict()))["systems"][1]["name"] == "sg-net"


def test_seeds_of_one_experiment_are_one_system(tmp_path):
    folders = []
    for seed, right in ((1, BASE), (2, BETTER)):
        folders.append(written_run(tmp_path / f"plain-{seed}", right, task="pairs", seed=seed))
    for seed in (1, 2):
        folders.append(
            written_run(
                tmp_path / f"sg-net-{seed}", BETTER, task="pairs", preset="sg-net", seed=seed
            )
        )
    found = compare_runs(folders)
    assert [system.name for system in found.systems] == ["plain", "sg-net"]
    assert found.systems[0].seeds == (1, 2)
    assert found.systems[0].metrics["accuracy"] == pytest.approx(55)
    assert found.systems[0].deviations["accuracy"] == pytest.approx(21.2132, abs=1e-3)
    means = [(a + b) / 2 for a, b in zip(BASE, BETTER, strict=True)]
    assert found.systems[1].p_value == pytest.approx(paired_t_test(BETTER, means))
    assert found.systems[1].p_seeds == pytest.approx(0.5)
    assert found.systems[1].seeds_test == "welch"
    assert found.interval_rows()[1][:2] == ["sg-net", "seeds"]
    assert found.interval_rows()[1][4] == "0.5000"
    assert "55.00 ± 21.21" in found.table()
    assert says(found.table(), "paired t-test means `accuracy` 2 seeds")
    assert says(found.table(), "sg-net not paired sg-net-1/run.json data.train Welch's")
    scores, intervals = found.markdown().split("\n\n")
    assert (scores.count("\n"), intervals.count("\n")) == (3, 4)


def test_means_do_not_depend_on_the_order_of_seeds(tmp_path):
    """Floating-point sums depend on the order of summation."""
    scores = [[0.1, 0.2, 0.3], [0.7, 0.1, 0.3]] * 3
    folders = []
    for preset, order in (("none", (0, 1, 2)), ("sg-net", (1, 2, 0))):
        for seed in (1, 2, 3):
            right = [row[order[seed - 1]] for row in scores]
            path = tmp_path / f"{preset}-{seed}"
            folders.append(written_run(path, right, task="pairs", preset=preset, seed=seed))
    assert (0.1 + 0.2 + 0.3) / 3 != (0.2 + 0.3 + 0.1) / 3
    system = compare_runs(folders).systems[1]
    assert (system.gained, system.lost, system.p_value, system.p_resampled) == (0, 0, 1.0, 1.0)


def test_micro_f1_is_tested_by_randomisation(tmp_path):
    """Two systems with equal accuracy but different micro F1."""
    gold = [1, 1, 1, 1, 0, 0, 0, 0]
    found = {"plain": [1, 0, 0, 0, 0, 0, 0, 0], "seprem": [1, 1, 1, 1, 1, 1, 1, 0]}
    folders = []
    for name, predicted in found.items():
        right = [float(a == b) for a, b in zip(gold, predicted, strict=True)]
        folders.append(written_run(tmp_path / name, right, task="relations", preset=PRESETS[name]))
        rows = {
            str(number): {"accuracy": right[number], "right": a * b, "predicted": b, "gold": a}
            for number, (a, b) in enumerate(zip(gold, predicted, strict=True))
        }
        (folders[-1] / "examples.json").write_text(json.dumps(rows))
        f1 = 200 * sum(row["right"] for row in rows.values()) / (sum(gold) + sum(predicted))
        (folders[-1] / "metrics.json").write_text(json.dumps({"accuracy": 62.5, "f1": f1}))
    table = compare_runs(folders)
    _, system = table.systems
    assert (system.gained, system.lost) == (3, 3)
    assert system.difference == pytest.approx(800 / 11 - 40)
    # Of the six differing examples, exchange a correct predictions and b false positives.
    exact = sum(
        comb(3, a) * comb(3, b) / 64
        for a in range(4)
        for b in range(4)
        if abs(2 * (4 - a) / (11 - a - b) - 2 * (1 + a) / (5 + a + b)) >= 8 / 11 - 0.4 - 1e-9
    )
    assert system.p_value == pytest.approx(exact, abs=0.015)
    assert "Δ f1" in table.table()
    assert says(table.table(), "p approximate randomisation `f1`")
    assert "resampled: paired bootstrap, n = 8" in table.table()
    (folders[0] / "examples.json").write_text(
        json.dumps({str(n): {"accuracy": 1} for n in range(8)})
    )
    with pytest.raises(InputError, match=naming("examples.json gold predicted right")):
        compare_runs(folders)


def relation_run(folder, gold, found):
    """Write a run on two relations, with both directions, and the negative class."""
    written_run(folder, [1.0], task="relations", preset=PRESETS[folder.name])
    rows = {}
    for number, (a, b) in enumerate(zip(gold, found, strict=True)):
        row = {"accuracy": float(a == b), **count_relations([a], [b], "Other").sums()}
        for name, own in count_classes([a], [b], "Other").items():
            row |= {f"{count}:{name}": value for count, value in own.sums().items() if value}
        rows[str(number)] = row
    (folder / "examples.json").write_text(json.dumps(rows))
    counts = count_relations(gold, found, "Other")
    metrics = {"f1": counts.f1, "macro_f1": macro_f1(gold, found, "Other"), "accuracy": 0.0}
    (folder / "metrics.json").write_text(json.dumps(metrics))
    return folder


def test_macro_f1_is_tested_by_randomisation(tmp_path):
    """An error in a rare class changes macro F1 much more than micro F1."""
    gold = ["A(e1,e2)"] * 9 + ["B(e2,e1)"] + ["Other"] * 4
    plain = ["A(e1,e2)"] * 10 + ["Other"] * 4
    better = ["A(e1,e2)"] * 9 + ["B(e2,e1)"] + ["Other"] * 3 + ["B(e1,e2)"]
    folders = [
        relation_run(tmp_path / "plain", gold, plain),
        relation_run(tmp_path / "other", gold, better),
    ]
    found = compare_runs(folders, metric="macro_f1")
    system = found.systems[1]
    assert system.difference == pytest.approx(
        macro_f1(gold, better, "Other") - macro_f1(gold, plain, "Other")
    )
    # Each of the two differing examples is exchanged or not.
    exchanged = []
    for first in (False, True):
        for second in (False, True):
            ours, theirs = list(better), list(plain)
            for place, swapped in ((9, first), (13, second)):
                if swapped:
                    ours[place], theirs[place] = theirs[place], ours[place]
            exchanged.append(macro_f1(gold, ours, "Other") - macro_f1(gold, theirs, "Other"))
    exact = sum(abs(value) >= abs(exchanged[0]) - 1e-9 for value in exchanged) / 4
    assert system.p_value == pytest.approx(exact, abs=0.015)
    assert "approximate randomisation on `macro_f1`" in found.table()
    rows = json.loads((folders[0] / "examples.json").read_text())
    short = {key: {"accuracy": row["accuracy"]} for key, row in rows.items()}
    (folders[0] / "examples.json").write_text(json.dumps(short))
    with pytest.raises(InputError, match=naming("examples.json counts classes")):
        compare_runs(folders, metric="macro_f1")


def test_another_metric_has_another_test(tmp_path):
    folders = []
    for name, f1 in (("plain", [0.5, 0, 1, 0.2]), ("sg-net", [1, 0.5, 1, 0])):
        folders.append(written_run(tmp_path / name, [0, 0, 1, 0], preset=PRESETS[name]))
        rows = {str(n): {"exact": float(v == 1), "f1": v} for n, v in enumerate(f1)}
        (folders[-1] / "examples.json").write_text(json.dumps(rows))
        metrics = {"exact": 25.0, "f1": 25 * sum(f1)}
        (folders[-1] / "metrics.json").write_text(json.dumps(metrics))
    found = compare_runs(folders, metric="f1")
    assert found.systems[1].difference == pytest.approx(20)
    assert (found.systems[1].gained, found.systems[1].lost) == (2, 1)
    assert found.systems[1].p_value == pytest.approx(
        paired_t_test([1, 0.5, 1, 0], [0.5, 0, 1, 0.2])
    )
    assert "paired t-test on `f1`" in found.table()
    with pytest.raises(InputError, match=naming("exact f1 bleu")):
        compare_runs(folders, metric="bleu")


def test_p_values_of_several_comparisons_are_corrected(tmp_path):
    folders = [written_run(tmp_path / "plain", BASE)]
    for preset in ("sg-net", "poi-net"):
        folders.append(written_run(tmp_path / preset, BETTER, preset=preset))
    found = compare_runs(folders)
    assert found.systems[1].p_holm == pytest.approx(min(1, 2 * found.systems[1].p_value))
    assert "p (Holm)" in found.table()
    assert says(found.table(), "n = 10 Holm p 2 comparisons")
    assert "p (Holm)" not in compare_runs(folders[:2]).table()


def test_a_run_does_not_differ_from_itself(tmp_path):
    plain = written_run(tmp_path / "plain", BASE)
    found = compare_runs([plain, plain])
    assert found.systems[1].p_value == found.systems[1].p_resampled == 1
    assert found.systems[1].difference == 0


def test_seeds_of_one_system_have_means_but_no_test(tmp_path):
    folders = [written_run(tmp_path / f"plain-{seed}", BASE, seed=seed) for seed in (1, 2, 3)]
    for folder, exact in zip(folders, (50, 60, 55), strict=True):
        (folder / "metrics.json").write_text(json.dumps({"exact": exact, "f1": exact}))
    found = compare_runs(folders)
    assert found.rows() == [["", "seeds", "exact", "f1"], ["plain", "3", *["55.00 ± 5.00"] * 2]]
    assert found.systems[0].p_value is None
    assert says(found.table(), "no test one system n = 10")


def test_incomparable_runs_are_rejected(tmp_path):
    plain = written_run(tmp_path / "plain-1", BASE)
    cases = {
        "compare two": [plain],
        "pairs spans": [plain, written_run(tmp_path / "b", BASE, task="pairs")],
        "c 9 plain-1 10 data.dev": [plain, written_run(tmp_path / "c", BASE[:9], preset="sg-net")],
        "d test.json plain-1 dev.json data.dev": [
            plain,
            written_run(tmp_path / "d", BASE, preset="sg-net", dev="test.json"),
        ],
        "sg-net 1 plain 2": [
            plain,
            written_run(tmp_path / "plain-2", BASE, seed=2),
            written_run(tmp_path / "sg-net", BASE, preset="sg-net"),
        ],
        "experiment.yaml": [plain, tmp_path],
        "pretraining syntagma report": [
            written_run(tmp_path / "e", BASE, task="pretraining"),
            written_run(tmp_path / "f", BASE, task="pretraining", preset="seprem"),
        ],
    }
    other = written_run(tmp_path / "other", BASE, preset="sg-net")
    cases["plain-1 seed"] = [
        plain, plain, other, other,
    ]  # fmt: skip
    one = [
        written_run(tmp_path / f"one-{preset}", [1.0], preset=preset)
        for preset in ("none", "sg-net")
    ]
    cases["one-none 1 two"] = one
    listed = written_run(tmp_path / "listed", BASE, preset="sg-net")
    (listed / "examples.json").write_text("[]")
    cases["examples.json []"] = [plain, listed]
    for message, folders in cases.items():
        with pytest.raises(InputError, match=naming(message)):
            compare_runs(folders)


def test_changed_examples_with_equal_ids_are_detected(tmp_path):
    plain = written_run(tmp_path / "plain", BASE)
    other = written_run(tmp_path / "other", BETTER, preset="sg-net")
    for folder, text in ((plain, "a"), (other, "b")):
        examples = [PairExample(str(n), text, text, "yes") for n in range(10)]
        (folder / "data.json").write_text(json.dumps({"dev.json": fingerprint(examples)}))
    with pytest.raises(InputError, match=naming("other plain dev.json")):
        compare_runs([plain, other])
    (other / "data.json").unlink()
    assert compare_runs([plain, other]).n_examples == 10


def test_pretraining_runs_are_read_but_not_compared(tmp_path):
    """Pre-training is scored on whole corpora, without metrics that can be compared."""
    folders = []
    for preset in ("none", "seprem"):
        folders.append(written_run(tmp_path / preset, BASE, task="pretraining", preset=preset))
        (folders[-1] / "examples.json").write_text(json.dumps({"a": {"pieces": 38.1}}))
    assert [system.name for system in read_systems(folders)] == ["none", "seprem"]
    with pytest.raises(InputError, match=naming("pretraining syntagma report --out")):
        compare_runs(folders)


def test_a_gzipped_file_counts_as_the_same_data(tmp_path):
    plain = written_run(tmp_path / "plain", BASE)
    other = written_run(tmp_path / "other", BETTER, preset="sg-net", dev="dev.json.gz")
    assert compare_runs([plain, other]).n_examples == 10


def test_a_run_without_dev_files_is_rejected(tmp_path):
    plain, other = written_run(tmp_path / "plain", BASE), written_run(tmp_path / "other", BASE)
    (other / "examples.json").unlink()
    with pytest.raises(InputError, match=naming("other examples.json")):
        compare_runs([plain, other])
    settings = yaml.safe_load((other / "experiment.yaml").read_text())
    settings["data"]["dev"] = []
    (other / "experiment.yaml").write_text(yaml.safe_dump(settings))
    with pytest.raises(InputError, match=naming("other data.dev")):
        compare_runs([plain, other])


def test_settings_of_later_versions_do_not_separate_runs(tmp_path):
    folders = [
        written_run(tmp_path / f"{preset}-{seed}", right, preset=preset, seed=seed)
        for preset, right in (("none", BASE), ("sg-net", BETTER))
        for seed in (1, 2)
    ]
    settings = yaml.safe_load((folders[1] / "experiment.yaml").read_text())
    settings["data"]["dev_limit"] = None
    settings["training"]["save_steps"] = 100
    (folders[1] / "experiment.yaml").write_text(yaml.safe_dump(settings))
    assert [system.seeds for system in compare_runs(folders).systems] == [(1, 2), (1, 2)]
    settings["training"]["warmup_ratio"] = 0.2
    (folders[1] / "experiment.yaml").write_text(yaml.safe_dump(settings))
    with pytest.raises(InputError, match=naming("sg-net 2 none-1 1")):
        compare_runs(folders)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("metrics.json", '{"exact": "a"}', "metrics.json exact a"),
        ("metrics.json", '{"exact": null, "f1": 7}', "metrics.json exact None"),
        (
            "examples.json",
            '{"0": 1}',
            "examples.json 0 1",
        ),
        ("examples.json", '{"0": {"exact": "x"}}', "examples.json 0 exact x"),
        ("examples.json", '{"0": {"exact": NaN}}', "examples.json NaN number"),
        ("examples.json", '{"0": {"exact": 1}, "1": {}}', "examples.json 1 exact"),
        ("data.json", "[1]", "data.json [1]"),
        ("experiment.yaml", "task: spans\ntraining: {seed: x}", "experiment.yaml training.seed x"),
        ("experiment.yaml", "task: spans\ntraining: 1", "experiment.yaml training 1"),
        ("experiment.yaml", "task: spans\ndata: {dev: 1}", "experiment.yaml data.dev 1"),
        ("experiment.yaml", "task: spans\ndata: {dev: [1]}", "experiment.yaml data.dev 1"),
    ],
)
def test_damaged_runs_are_rejected(tmp_path, name, text, message):
    folders = [written_run(tmp_path / preset, BASE, preset=preset) for preset in ("none", "sg-net")]
    for folder in folders:
        (folder / name).write_text(text)
    with pytest.raises(InputError, match=naming(message)):
        compare_runs(folders)


def test_undefined_metrics_are_skipped_unless_tested(tmp_path):
    folders = [written_run(tmp_path / preset, BASE, preset=preset) for preset in ("none", "sg-net")]
    for folder in folders:
        (folder / "metrics.json").write_text('{"exact": 50, "spread": null}')
    assert compare_runs(folders).systems[0].metrics == {"exact": 50}


def test_runs_with_different_metrics_are_rejected(tmp_path):
    reader, verifier = (
        written_run(tmp_path / "reader", BASE),
        written_run(tmp_path / "verifier", BETTER),
    )
    for folder in (verifier,):
        rows = {str(number): {"accuracy": right} for number, right in enumerate(BETTER)}
        (folder / "examples.json").write_text(json.dumps(rows))
        (folder / "metrics.json").write_text(json.dumps({"accuracy": 60.0}))
    with pytest.raises(InputError, match=naming("metrics.json exact accuracy")):
        compare_runs([reader, verifier])


def test_verifiers_are_compared_by_accuracy(tmp_path):
    folders = []
    for name, right in (("plain", BASE), ("sg-net", BETTER)):
        folders.append(written_run(tmp_path / name, right, preset=PRESETS[name]))
        rows = {str(number): {"accuracy": value} for number, value in enumerate(right)}
        (folders[-1] / "examples.json").write_text(json.dumps(rows))
        (folders[-1] / "metrics.json").write_text(json.dumps({"accuracy": 10 * sum(right)}))
    found = compare_runs(folders)
    assert found.metric == "accuracy"
    assert found.systems[1].p_value == pytest.approx(sign_test(4, 1))


def test_constituency_parsers_are_compared_by_brackets(tmp_path):
    folders = []
    heads = {"plain": {}, "joint": {"arc_width": 8}}
    for name, matched in (("plain", [1, 2, 3, 0]), ("joint", [3, 2, 3, 3])):
        folders.append(written_run(tmp_path / name, [1, 1, 1, 1], task="parsing", head=heads[name]))
        rows = {
            str(number): {"bracket_f1": 100 * count / 3, "brackets_matched": count,
                          "brackets_predicted": 3, "brackets_gold": 3}
            for number, count in enumerate(matched)
        }  # fmt: skip
        (folders[-1] / "examples.json").write_text(json.dumps(rows))
        (folders[-1] / "metrics.json").write_text(json.dumps({"bracket_f1": sum(matched) / 0.12}))
    found = compare_runs(folders)
    assert found.metric == "bracket_f1"
    assert found.systems[1].difference == pytest.approx(5 / 0.12)
    assert (found.systems[1].gained, found.systems[1].lost) == (2, 0)
