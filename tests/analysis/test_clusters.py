"""The clusters of examples: which there are, where they are from, and what the data lack."""

from __future__ import annotations

import json
import shutil

import pytest

pytest.importorskip("scipy")

from syntagma.analysis.clusters import find_clusters
from syntagma.analysis.compare import compare_runs
from syntagma.analysis.systems import read_systems
from syntagma.errors import DamagedFileError, InputError
from syntagma.tasks import TASKS, find_task
from syntagma.tasks.comparison.clusters import KINDS, cluster_ids
from syntagma.training.run import train
from tests.builders import experiment, pairs, squad, treebank
from tests.messages import naming, says
from tests.written_runs import written_run

SCORES = [1.0, 0, 0, 1, 0, 0, 1, 0, 1, 0]
PARAGRAPHS = ["a", "a", "a", "b", "b", "c", "c", "d", "e", ""]


def two_runs(root, **settings):
    other = [1 - SCORES[0], *SCORES[1:5], 1, *SCORES[6:]]
    return [
        written_run(root / preset, scores, preset=preset, **settings)
        for preset, scores in (("none", SCORES), ("sg-net", other))
    ]


def clusters_of(run, kind=""):
    return find_clusters(read_systems([run])[0].runs[0], kind)


def test_examples_of_a_paragraph_are_one_cluster(tmp_path):
    run, _ = two_runs(tmp_path, clusters={"article": ["x"] * 10, "paragraph": PARAGRAPHS})
    found = clusters_of(run)
    assert (found.kind, found.number) == ("paragraph", 6)
    owner = dict(zip(found.keys, found.owner.tolist(), strict=True))
    assert owner["0"] == owner["1"] == owner["2"] != owner["3"] == owner["4"]
    assert len({owner[key] for key in "035789"}) == 6
    assert says(found.note, "1 paragraph")
    assert clusters_of(run, "article").number == 1
    assert clusters_of(run, "example").number == 10
    compared = compare_runs(two_runs(tmp_path / "more", clusters={"paragraph": PARAGRAPHS}))
    assert (compared.cluster, compared.n_clusters) == ("paragraph", 6)
    assert says(compared.table(), "bootstrap 6 paragraphs (10 examples)")


def test_wider_clusters_give_another_interval(tmp_path):
    runs = two_runs(tmp_path, clusters={"paragraph": PARAGRAPHS})
    over = {
        kind: compare_runs(runs, cluster=kind).systems[1].intervals["examples"]
        for kind in ("paragraph", "example")
    }
    assert over["paragraph"] != over["example"]
    assert over["paragraph"].freedom == 5


def test_too_few_clusters_have_no_interval(tmp_path):
    runs = two_runs(tmp_path, clusters={"paragraph": ["a", "b"] * 5})
    found = compare_runs(runs)
    assert "examples" not in found.systems[1].intervals
    assert says(found.table(), "no interval paragraphs 2")


def test_a_single_cluster_has_an_interval_over_seeds_only(tmp_path):
    runs = [
        folder
        for seed in (1, 2, 3)
        for folder in two_runs(
            tmp_path / str(seed), clusters={"paragraph": ["a"] * 10}, seed=seed, train="same"
        )
    ]
    rows = json.loads((runs[0] / "metrics.json").read_text())
    (runs[0] / "metrics.json").write_text(json.dumps(rows | {"exact": rows["exact"] - 1}))
    found = compare_runs([*runs[::2], *runs[1::2]])
    assert found.systems[1].intervals.keys() == {"seeds"}
    assert says(found.table(), "no interval paragraphs 1")


def test_a_kind_that_is_unknown_or_missing_is_rejected_in_one_line(tmp_path):
    runs = two_runs(tmp_path, clusters={"paragraph": PARAGRAPHS})
    for kind, message in {
        "paragraf": "--cluster paragraf 'paragraph'",
        "sentence": "--cluster sentence spans paragraph article example",
        "article": "--cluster article dev.json paragraph example",
    }.items():
        with pytest.raises(InputError, match=naming(message)) as error:
            compare_runs(runs, cluster=kind)
        assert "\n" not in str(error.value)
    with pytest.raises(InputError, match=naming("--resamples 20 999")):
        compare_runs(runs, n_resamples=20)
    (runs[0] / "clusters.json").write_text('{"paragraph": [1]}')
    with pytest.raises(DamagedFileError, match=naming("clusters.json paragraph")):
        compare_runs(runs)


def test_runs_without_clusters_or_data_count_examples_alone(tmp_path):
    runs = two_runs(tmp_path)
    found = compare_runs(runs)
    assert (found.cluster, found.n_clusters) == ("example", 10)
    assert says(found.table(), "unknown /data/dev.json")
    with pytest.raises(InputError, match=naming("--cluster paragraph /data/dev.json example")):
        compare_runs(runs, cluster="paragraph")


def test_training_saves_clusters_and_older_runs_read_them_from_their_data(tmp_path, tiny_encoder):
    data = pairs(tmp_path / "pairs.jsonl", copies=2)
    run, older = tmp_path / "run", tmp_path / "older"
    settings = experiment("pairs", data, tiny_encoder, training={"max_steps": 1})
    train(settings, run)
    shutil.copytree(run, older)
    (older / "clusters.json").unlink()
    found = clusters_of(run)
    examples = find_task("pairs").read(data)
    assert found.kind == "sentence"
    assert 1 < found.number == len({example.first for example in examples}) < len(examples)
    assert clusters_of(older).owner.tolist() == found.owner.tolist()
    # The saved ones do not need the data.
    (tmp_path / "pairs.jsonl").unlink()
    assert clusters_of(run).owner.tolist() == found.owner.tolist()
    assert says(clusters_of(older).note, "unknown pairs.jsonl")


def test_every_task_with_clusters_defines_known_kinds_of_its_samples(tmp_path):
    kinds = {name: tuple(task.clusters) for name, task in TASKS.items() if task.clusters}
    assert kinds["spans"] == kinds["open_qa"] == ("paragraph", "article")
    assert {kind for each in kinds.values() for kind in each} <= {*KINDS}
    task = find_task("spans")
    path = squad(tmp_path / "dev.json", copies=1)
    examples = {example.id: example for example in task.read(path)}
    found = cluster_ids(task.clusters, examples)
    for a in examples.values():
        for b in examples.values():
            same = found["paragraph"][a.id] == found["paragraph"][b.id]
            assert same == (a.passage == b.passage)


def test_sentences_of_a_treebank_come_by_document(tmp_path):
    task = find_task("parsing")
    path = tmp_path / "tides.conllu"
    treebank(path, copies=1)
    text = path.read_text(encoding="utf-8")
    assert cluster_ids(task.clusters, dict(enumerate(task.read(path)))) == {}
    path.write_text(f"# newdoc id = harbour\n{text}", encoding="utf-8")
    examples = task.read(path)
    rows = {task.row_id(example, place): example for place, example in enumerate(examples)}
    (names,) = cluster_ids(task.clusters, rows).values()
    assert names.keys() == rows.keys()
    assert len(set(names.values())) == 1
    assert json.dumps(names)
