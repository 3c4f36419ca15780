"""Experiment files load and state the command that runs them; ``make_data.py`` splits files."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import long_text
import pytest
import retrieval

from syntagma.encoders.named_models import NAMED_MODELS
from syntagma.errors import InputError
from syntagma.studies.settings import read_studies
from syntagma.studies.work import StudyRuns
from syntagma.tasks import find_task
from syntagma.tasks.experiment import load_experiment
from syntagma.tasks.relations.data import read_relations
from syntagma.tasks.spans.squad import read_squad
from tests.builders import relations, squad, treebank
from tests.messages import naming

STUDIES = sorted((Path(__file__).parent.parent / "experiments" / "studies").glob("*.yaml"))
EXPERIMENTS = sorted((Path(__file__).parent.parent / "experiments").glob("*.yaml"))


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_an_experiment_loads_and_states_its_command(path):
    first = path.read_text(encoding="utf-8").splitlines()[0]
    name = f"experiments/{path.name}"
    assert first == f"# syntagma train {name} --out runs/{path.stem}"
    experiment = load_experiment(path)
    assert experiment.data.dev
    assert isinstance(experiment.head, find_task(experiment.task).model_class.head_class)
    if experiment.preset == "saved" and experiment.encoder not in NAMED_MODELS:
        # It starts from another run, or from what was made of it (a mean, a packed copy), whose
        # experiment file must exist and be named in this one.
        start = re.sub(r"_(mean|packed)$", "", experiment.encoder.removeprefix("runs/"))
        assert (path.parent / f"{start}.yaml").is_file()
        assert f"experiments/{start}.yaml" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_the_systems_of_a_study_load(path):
    assert f"syntagma study experiments/studies/{path.name}" in path.read_text(encoding="utf-8")
    for study in read_studies(path).values():
        runs = StudyRuns(study, Path("runs"))
        held_out = {job.experiment.data.dev for job in runs.trials()}
        for name in study.systems:
            assert study.experiment(name, 1).data.dev not in held_out
        assert {name for pair in study.compare for name in pair} == {*study.systems}


@pytest.fixture(scope="module")
def make_data():
    """The script's commands, called with their arguments."""
    spec = importlib.util.spec_from_file_location(
        "make_data", EXPERIMENTS[0].parent / "make_data.py"
    )
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)

    def make(*arguments) -> None:
        options = script.parser().parse_args([str(argument) for argument in arguments])
        options.make(options)

    return make


def test_no_relation_is_lost_in_a_split(make_data, tmp_path):
    source = relations(tmp_path / "all.txt")
    out = tmp_path / "train.txt", tmp_path / "dev.txt"
    make_data("split-relations", source, "--dev", 5, "--out", *out)
    train, dev = (read_relations(path).examples for path in out)
    assert len(dev) == 5
    texts = sorted(example.text for example in read_relations(source).examples)
    assert sorted(example.text for example in [*train, *dev]) == texts
    with pytest.raises(InputError, match=naming(f"{source} {len(texts)} {len(texts) - 1}")):
        make_data("split-relations", source, "--dev", len(texts), "--out", *out)


def test_a_treebank_is_split_and_no_sentence_lost(make_data, tmp_path):
    source = Path(treebank(tmp_path / "all.conllu"))
    out = tmp_path / "xx-train.conllu", tmp_path / "xx-test.conllu"
    make_data("split-treebank", source, "--first", 5, "--out", *out)
    assert "".join(path.read_text(encoding="utf-8") for path in out) == source.read_text("utf-8")
    assert out[0].read_text(encoding="utf-8").count("\n\n") == 5
    n = source.read_text(encoding="utf-8").count("\n\n")
    with pytest.raises(InputError, match=naming(f"{source} {n} {n - 1}")):
        make_data("split-treebank", source, "--first", n, "--out", *out)
    make_data("split-treebank", source, "--out", *out)
    all_sentences, *halves = (
        path.read_text(encoding="utf-8").split("\n\n")[:-1] for path in (source, *out)
    )
    assert halves == [all_sentences[::2], all_sentences[1::2]]


def test_articles_are_split_alternately(make_data, tmp_path):
    articles = json.loads(Path(squad(tmp_path / "squad.json")).read_text(encoding="utf-8"))
    articles["data"] = [{**articles["data"][0], "title": name} for name in "abc"]
    (tmp_path / "three.json").write_text(json.dumps(articles))
    out = tmp_path / "fit.json", tmp_path / "held.json"
    make_data("split-squad", tmp_path / "three.json", "--out", *out)
    titles = [[each["title"] for each in json.loads(path.read_text())["data"]] for path in out]
    assert titles == [["a", "c"], ["b"]]
    articles["data"].reverse()
    (tmp_path / "three.json").write_text(json.dumps(articles))
    make_data("split-squad", tmp_path / "three.json", "--first", 1, "--out", *out)
    titles = [[each["title"] for each in json.loads(path.read_text())["data"]] for path in out]
    assert titles == [["a"], ["b", "c"]]


@pytest.mark.parametrize(
    ("command", "kinds"), [("typed-questions", "lower+typos"), ("passage-layouts", "mail")]
)
def test_variants_of_a_squad_file_are_written_by_kind(make_data, tmp_path, command, kinds):
    source = squad(tmp_path / "squad.json")
    made = tmp_path / "made.json"
    make_data(command, source, "--count", 3, "--kinds", kinds, "lower", "--out", made)
    examples, _ = read_squad(made)
    assert len(examples) == 3
    assert {example.id.rpartition("-")[2] for example in examples} <= {kinds, "lower"}
    make_data(command, source, "--count", 2, "--out", made)
    assert len(read_squad(made)[0]) == 2


def test_samples_of_questions_share_none(make_data, tmp_path):
    source, count = squad(tmp_path / "all.json"), 2
    parts = tmp_path / "one.json", tmp_path / "two.json"
    make_data("sample-squad", source, "--count", count, "--out", *parts)
    ids = [{example.id for example in read_squad(path)[0]} for path in parts]
    assert [len(part) for part in ids] == [count, count]
    assert not ids[0] & ids[1]
    known = {example.id: example for example in read_squad(source)[0]}
    for example in read_squad(parts[0])[0]:
        assert example == known[example.id]


def test_a_sample_of_taught_questions_keeps_the_teacher(make_data, tmp_path):
    source, out = squad(tmp_path / "all.json"), tmp_path / "some.json"
    content = json.loads(Path(source).read_text(encoding="utf-8"))
    teacher = {"starts": [0], "ends": [1], "probabilities": [0.75], "no_answer": 0.25}
    for article in content["data"]:
        for paragraph in article["paragraphs"]:
            for record in paragraph["qas"]:
                record["teacher"] = teacher
    Path(source).write_text(json.dumps(content), encoding="utf-8")
    make_data("sample-squad", source, "--count", 2, "--out", out)
    sampled, _ = read_squad(out)
    assert [example.teacher.no_answer for example in sampled] == [0.25, 0.25]


def test_questions_of_one_article_only(make_data, tmp_path):
    source, out = squad(tmp_path / "all.json"), tmp_path / "some.json"
    examples, _ = read_squad(source)
    title = examples[0].title
    make_data("sample-squad", source, "--title", title, "--out", out)
    assert [each.id for each in read_squad(out)[0]] == [e.id for e in examples if e.title == title]
    with pytest.raises(InputError, match=naming(f"--title other {title}")):
        make_data("sample-squad", source, "--title", "other", "--out", tmp_path / "none.json")


def test_more_questions_than_there_are_cannot_be_drawn(make_data, tmp_path):
    source, out = squad(tmp_path / "all.json"), tmp_path / "some.json"
    with pytest.raises(InputError, match=naming("--count 10000 at most")):
        make_data("sample-squad", source, "--count", 10_000, "--out", out)
    assert not out.exists()


@pytest.mark.parametrize("count", [1, 2])
def test_a_long_text_may_have_a_single_question(count, tmp_path, monkeypatch):
    found = SimpleNamespace(
        prediction=SimpleNamespace(n_windows=2), best=None, text="", outcome="none"
    )
    reader = SimpleNamespace(answer=lambda *_, **__: found)
    monkeypatch.setattr(long_text.Reader, "from_pretrained", lambda _: reader)
    source, out = squad(tmp_path / "all.json"), tmp_path / "times.json"
    arguments = ["long_text.py", source, "--out", str(out), "--questions"]
    monkeypatch.setattr(sys, "argv", [*arguments, str(count)])
    long_text.main()
    times = json.loads(out.read_text())
    assert times["questions"] == count
    # Only the others have a median.
    assert ("next_question_s" in times, "exhaustive_s" in times) == (count > 1, count > 1)
    monkeypatch.setattr(sys, "argv", [*arguments, "0"])
    with pytest.raises(InputError, match=naming("--questions at least 1, got 0")):
        long_text.main()


def test_paragraphs_of_another_collection_get_their_own_vectors(tmp_path, tiny_encoder):
    vectors = [
        retrieval.build_ranker(
            retrieval.Collection(["1"], [text], ["Tea"]), tiny_encoder, tmp_path
        ).vectors
        for text in ("Tea grows on hills.", "The harbour was closed twice.", "Tea grows on hills.")
    ]
    assert len(list(tmp_path.glob("vectors-*.npy"))) == 2
    assert (vectors[0] == vectors[2]).all()
    assert (vectors[0] != vectors[1]).any()
