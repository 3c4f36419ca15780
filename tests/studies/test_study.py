"""Studies: settings are checked, values are chosen on other data, interrupted ones continue."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
import yaml
from typer.testing import CliRunner

from syntagma.analysis.significance import holm
from syntagma.cli import app
from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.runs.folder import read_experiment
from syntagma.runs.names import METRICS
from syntagma.settings import to_dict
from syntagma.studies.result import write_plot
from syntagma.studies.settings import choose_studies, read_studies
from syntagma.studies.work import StudyRuns, compare_study, run_study
from tests.builders import pairs
from tests.messages import naming, says
from tests.written_runs import written_run

STUDY = """
first:
  asks: Do trees help?
  config: pairs.yaml
  seeds: {seeds}
  choose_on: ["data.dev=[{other}]"]
  systems:
    plain:
      choose: {{training.learning_rate: [1.0e-3, 1.0e-2]}}
    sg-net:
      set: [preset=sg-net]
      like: plain
    sg-net-random:
      set: [preset=sg-net, parser=random]
      like: sg-net
  compare: [[sg-net, sg-net-random], [sg-net, plain]]
"""


@pytest.fixture
def study_file(tmp_path, tiny_encoder, tiny_parser):
    data, other = (
        pairs(tmp_path / "data.jsonl", copies=2),
        pairs(tmp_path / "other.jsonl", copies=1),
    )
    (tmp_path / "pairs.yaml").write_text(
        f"task: pairs\nencoder: {tiny_encoder}\nparser: {tiny_parser}\n"
        f"data:\n  train: {data}\n  dev: {data}\nhead:\n  max_length: 64\n"
        "training:\n  precision: float32\n  num_train_epochs: 1\n"
    )
    path = tmp_path / "studies.yaml"
    path.write_text(STUDY.format(seeds=2, other=other))
    return path


def test_values_are_chosen_on_other_data_and_shared_by_controls(study_file, tmp_path):
    [study] = read_studies(study_file).values()
    out = tmp_path / "runs"
    found = run_study(study, out)
    runs = StudyRuns(study, out)

    trials = runs.trials()
    assert [job.folder.name for job in trials] == ["choose-plain-0.001", "choose-plain-0.01"]
    assert all(job.experiment.data.dev == (str(tmp_path / "other.jsonl"),) for job in trials)
    scores = [read_json(job.folder / METRICS)["accuracy"] for job in trials]
    best = trials[scores.index(max(scores))].experiment.training.learning_rate
    for name in study.systems:
        trained = read_experiment(runs.run_folder(name, 2))
        assert trained.training.learning_rate == best
        assert trained.data.dev == (str(tmp_path / "data.jsonl"),)

    assert [pair.name for pair in found.pairs] == ["sg-net − random", "sg-net − plain"]
    write_plot([found, replace(found, name="second")], tmp_path / "two.svg")
    drawn = (tmp_path / "two.svg").read_text(encoding="utf-8")
    assert [drawn.count(f">{text}<") for text in ("first", "second", "seeds")] == [1, 1, 1]
    assert all(pair.compared.shared_seeds == (1, 2) for pair in found.pairs)
    assert "not finished" not in found.table()


def test_a_study_continues_and_compares_what_is_finished(study_file, tmp_path):
    [study] = read_studies(study_file).values()
    out = tmp_path / "runs"
    run_study(study, out)
    [longer] = read_studies(_with_seeds(study_file, 3, tmp_path)).values()
    before = {path: path.stat().st_mtime_ns for path in out.glob("first/*/metrics.json")}
    # Runs that were kept without what is large.
    for large in [*out.glob("first/*/*.safetensors"), *out.glob("first/*/*token*")]:
        large.unlink()
    assert "not finished: 2 of 3 seeds" in compare_study(longer, out).table()

    run_study(longer, out)
    after = {path: path.stat().st_mtime_ns for path in out.glob("first/*/metrics.json")}
    assert len(after) == len(before) + len(study.systems)
    assert all(after[path] == time for path, time in before.items())


@pytest.mark.parametrize(
    ("task", "head", "scores", "metric"),
    [
        ("spans", {}, ("exact", "f1", "best_f1"), "best_f1"),
        ("spans", {"objective": "answerability"}, ("accuracy",), "accuracy"),
        ("typing", {}, ("f1", "best_f1"), "best_f1"),
        ("typing", {"fit_threshold": False}, ("f1", "best_f1"), "f1"),
        ("parsing", {"views": "constituents"}, ("xpos", "bracket_f1"), "bracket_f1"),
        ("parsing", {}, ("las", "bracket_f1", "las_f1_mean"), "las_f1_mean"),
        ("parsing", {}, ("las", "xpos"), "las"),
    ],
)
def test_values_are_chosen_by_the_metric_of_training(tmp_path, task, head, scores, metric):
    runs = _written_trials(tmp_path, task, head, "training.learning_rate: [1.0e-3, 1.0e-2]")
    for first, second, best in ((1.0, 2.0, "0.01"), (2.0, 1.0, "0.001")):
        # The other metrics would choose the other value.
        for job, value in zip(runs.trials(), (first, second), strict=True):
            values = dict.fromkeys(scores, -value) | {metric: value}
            (job.folder / METRICS).write_text(json.dumps(values))
        chosen = runs.chosen("plain")
        assert (chosen.metric, chosen.settings) == (metric, (f"training.learning_rate={best}",))


def test_values_need_a_metric_that_all_trials_have(tmp_path):
    runs = _written_trials(tmp_path, "spans", {}, "head.objective: [spans, answerability]")
    for job, metric in zip(runs.trials(), ("best_f1", "accuracy"), strict=True):
        (job.folder / METRICS).write_text(json.dumps({metric: 1.0}))
    with pytest.raises(InputError, match=naming("choose-plain-answerability best_f1 accuracy")):
        runs.chosen("plain")


def test_values_whose_metric_is_not_a_number_are_not_chosen(tmp_path):
    runs = _written_trials(tmp_path, "spans", {}, "training.learning_rate: [1.0e-3, 1.0e-2]")
    first, second = runs.trials()
    for failed, other, best in ((first, second, "0.01"), (second, first, "0.001")):
        (failed.folder / METRICS).write_text('{"best_f1": null}')
        (other.folder / METRICS).write_text('{"best_f1": 1.0}')
        assert runs.chosen("plain").settings == (f"training.learning_rate={best}",)
    (first.folder / METRICS).write_text('{"best_f1": null}')
    (second.folder / METRICS).write_text('{"best_f1": null}')
    with pytest.raises(InputError, match=naming("plain best_f1 number")):
        runs.chosen("plain")


def _written_trials(folder, task, head, choose):
    """A study whose trials are finished, with metrics that are to be written."""
    settings = {"task": task, "data": {"train": ["a"], "dev": ["b"]}, "head": head}
    (folder / "task.yaml").write_text(yaml.safe_dump(settings))
    (folder / "studies.yaml").write_text(
        "first:\n  asks: Why?\n  config: task.yaml\n  choose_on: ['data.dev=[c]']\n  systems:\n"
        f"    plain: {{choose: {{{choose}}}}}\n    other: {{}}\n  compare: [[plain, other]]\n"
    )
    [study] = read_studies(folder / "studies.yaml").values()
    runs = StudyRuns(study, folder / "runs")
    for job in runs.trials():
        written_run(job.folder, [1.0], **to_dict(job.experiment))
    return runs


def _with_seeds(path, seeds, folder):
    path.write_text(STUDY.format(seeds=seeds, other=folder / "other.jsonl"))
    return path


def test_p_values_are_corrected_over_all_pairs_of_a_study(study_file, tmp_path):
    [study] = read_studies(study_file).values()
    found = run_study(study, tmp_path / "runs")
    for pair in found.pairs:
        for over, interval in pair.compared.intervals.items():
            assert pair.compared.corrected[over] >= interval.p_value
    for_all = holm([pair.compared.p_value for pair in found.pairs])
    assert [pair.compared.p_holm for pair in found.pairs] == for_all
    assert str(tmp_path) not in json.dumps(found.to_dict())
    rows = found.to_dict()["comparisons"]
    assert [(row["system"], row["control"]) for row in rows] == [
        ("sg-net", "sg-net-random"),
        ("sg-net", "plain"),
    ]


def test_the_command_lists_compares_and_draws(study_file, tmp_path):
    out, plot, values = tmp_path / "runs", tmp_path / "plot.svg", tmp_path / "values.json"
    command = ["study", str(study_file), "--out", str(out)]
    listed = CliRunner().invoke(app, [*command, "--list"], catch_exceptions=False)
    assert f"to do  {out / 'first' / 'choose-plain-0.001'}" in listed.output
    assert f"to do  {out / 'first' / 'sg-net-1'}  (its values are chosen first)" in listed.output
    none = CliRunner().invoke(app, [*command, "--compare"], catch_exceptions=False)
    assert "no two systems with finished runs yet" in none.output
    assert not out.exists()

    done = CliRunner().invoke(
        app, [*command, "first", "--plot", str(plot), "--json", str(values)], catch_exceptions=False
    )
    assert "sg-net − plain" in done.output
    assert "<svg" in plot.read_text()
    assert list(json.loads(values.read_text())["first"]["systems"]) == [
        "sg-net-random",
        "sg-net",
        "plain",
    ]
    listed = CliRunner().invoke(app, [*command, "--list"], catch_exceptions=False)
    assert "to do" not in listed.output


def test_overrides_reach_all_runs_but_not_what_values_are_chosen_on(study_file, tmp_path):
    mine = str(pairs(tmp_path / "mine.jsonl", copies=2))
    [study] = read_studies(study_file, ["training.batch_tokens=512", f"data.dev=[{mine}]"]).values()
    trials = [job.experiment for job in StudyRuns(study, tmp_path / "runs").trials()]
    assert {trial.training.batch_tokens for trial in trials} == {512}
    assert {trial.data.dev for trial in trials} == {(str(tmp_path / "other.jsonl"),)}
    run = study.experiment("sg-net", 4)
    assert (run.training.seed, run.data.dev) == (4, (mine,))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("training.seed=5", "--set training.seed=5 sets the seeds itself"),
        ("training.learning_rate=1", "first chooses training.learning_rate for plain in its file"),
        ("training={batch_tokens: 8}", "first chooses training.learning_rate for plain"),
    ],
)
def test_what_a_study_sets_itself_cannot_be_overridden(study_file, override, message):
    with pytest.raises(InputError) as found:
        read_studies(study_file, [override])
    assert says(str(found.value), message)


def test_systems_are_those_of_the_study_also_with_equal_settings(study_file, tmp_path):
    """An A/A study: the second system is the first one again."""
    study_file.write_text(
        study_file.read_text()
        .replace("    sg-net-random:\n      set: [preset=sg-net, parser=random]", "    again:")
        .replace("like: sg-net\n", "like: plain\n")
        .replace("[[sg-net, sg-net-random], [sg-net, plain]]", "[[again, plain], [sg-net, plain]]")
    )
    [study] = read_studies(study_file).values()
    out = tmp_path / "runs"
    found = run_study(study, out)
    again = found.pairs[0].to_dict()
    assert (again["system"], again["control"], again["difference"]) == ("again", "plain", 0)
    assert again["runs"] == ["again-1", "again-2"]

    # As from an archive: without the runs that chose values, one comparison, and one seed.
    chosen = found.chosen["plain"].settings
    for gone in [*out.glob("first/choose-*"), *out.glob("first/again-*"), out / "first/sg-net-2"]:
        shutil.rmtree(gone)
    part = compare_study(study, out)
    assert part.chosen["plain"].settings == part.chosen["sg-net"].settings == chosen
    [alone] = part.pairs
    assert alone.compared.corrected == {
        over: holm([interval.p_value, 1.0])[0]
        for over, interval in alone.compared.intervals.items()
    }
    table = part.table()
    assert says(table, "sg-net − plain not paired one run of each")
    assert says(table, "Holm 2 comparisons")
    assert says(table, "not finished 1 comparison without runs")
    assert "t-test" not in table

    [other] = read_studies(study_file, ["training.batch_tokens=512"]).values()
    with pytest.raises(InputError) as error:
        compare_study(other, out)
    assert says(str(error.value), "plain-1 training.batch_tokens 512 --set")


def test_a_whole_guide_that_was_chosen_is_read_off_the_runs(study_file, tmp_path):
    """As from an archive, which lacks the runs that chose it."""
    study_file.write_text(
        study_file.read_text()
        .replace("learning_rate: [1.0e-3, 1.0e-2]", "tree_bias: [false, {labels: true}]")
        .replace("{training.", "{guides.")
        .replace("[preset=sg-net]", "[guides.ancestor_attention=true]")
    )
    [study] = read_studies(study_file).values()
    for chosen in ("false", '{"labels": true}'):
        out = tmp_path / f"runs {len(chosen)}"
        for name in ("plain", "sg-net"):
            settings = to_dict(study.experiment(name, 1, (f"guides.tree_bias={chosen}",)))
            written_run(out / f"first/{name}-1", [0.0, 1.0], **settings)
        compared = compare_study(study, out)
        assert len(compared.pairs) == 1
        [setting] = compared.chosen["plain"].settings
        assert yaml.safe_load(setting.partition("=")[2]) == (
            {"labels": True, "share_layers": False} if "labels" in chosen else False
        )


def test_runs_of_other_settings_are_not_taken(study_file, tmp_path):
    [study] = read_studies(study_file).values()
    run_study(study, tmp_path / "runs")
    [other] = read_studies(study_file, ["training.batch_tokens=512"]).values()
    with pytest.raises(InputError, match=r"training\.batch_tokens"):
        run_study(other, tmp_path / "runs")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("like: plain", "like: plane", "systems.sg-net.like plane did you mean 'plain'"),
        ("[sg-net, plain]", "[sg-net, plian]", "compare plian did you mean 'plain'"),
        ("[sg-net, plain]", "[sg-net]", "compare pairs control [sg-net, plain]"),
        ("like: plain", "like: sg-net-random", "circle sg-net → sg-net-random → sg-net"),
        ("[1.0e-3, 1.0e-2]", "[1.0e-3]", "training.learning_rate at least two got 1"),
        ('choose_on: ["data.dev', 'set: ["data.dev', "systems.plain.choose choose_on"),
        ("seeds: 2", "seeds: 0", "seeds at least 1 got 0"),
        ("asks:", "ask:", "unknown key 'ask' did you mean 'asks'"),
        ("first:", "../first:", "'../first' folder letters digits"),
        ("    plain:", "    a/b:", "'a/b' folder letters digits"),
        ("compare:", "  Plain: {}\n  compare:", "plain Plain share the folder Plain-1"),
        (
            "training.learning_rate: [1.0e-3, 1.0e-2]",
            "encoder: [a/b, a-b]",
            "plain plain share the folder choose-plain-a-b",
        ),
    ],
)
def test_wrong_settings_are_rejected(study_file, before, after, message):
    text = study_file.read_text()
    assert before in text
    study_file.write_text(text.replace(before, after, 1))
    with pytest.raises(InputError) as found:
        read_studies(study_file)
    assert says(str(found.value), message)


def test_a_wrong_name_of_a_study_is_rejected(study_file):
    with pytest.raises(InputError) as found:
        choose_studies(read_studies(study_file), ["fist"])
    assert says(str(found.value), "'fist' did you mean 'first'")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("parser=random", "praser=random", "praser"),
        ("  seeds: 2", "  seeds: 2\n  metric: macro_F1", "metric accuracy macro_F1"),
        ("  seeds: 2", "  seeds: 2\n  cluster: article", "article example"),
    ],
)
def test_what_is_wrong_is_reported_before_training(study_file, tmp_path, before, after, message):
    study_file.write_text(study_file.read_text().replace(before, after))
    [study] = read_studies(study_file).values()
    with pytest.raises(InputError) as found:
        run_study(study, tmp_path / "runs")
    assert says(str(found.value), message)
    assert not (tmp_path / "runs").exists()


def test_a_plot_needs_one_metric_and_a_list_draws_nothing(study_file, tmp_path):
    study_file.write_text(
        study_file.read_text()
        + study_file.read_text().replace("first", "second")
        + "  metric: f1\n"
    )
    command = ["study", str(study_file), "--plot", str(tmp_path / "plot.svg")]
    assert says(str(CliRunner().invoke(app, command).exception), "--plot metric first second")
    assert not (tmp_path / "runs").exists()
    found = CliRunner().invoke(app, [*command, "--list"]).exception
    assert says(str(found), "--list omit --plot")
