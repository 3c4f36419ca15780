"""The report of runs: its sections, their values, and what is skipped."""

from __future__ import annotations

import json
import re
import shutil
import sys

import pytest

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

from syntagma.analysis.cases import read_answers
from syntagma.analysis.run_scores import RunScores
from syntagma.analysis.systems import read_systems
from syntagma.errors import InputError
from syntagma.evaluation import score_runs
from syntagma.report import write
from syntagma.report.report_sections import (
    groups_section,
    metric_shown,
    speed_rows,
    training_section,
)
from syntagma.report.write import write_report
from syntagma.runs.log import Speed
from syntagma.tasks import find_task
from syntagma.tasks.experiment import load_experiment
from syntagma.training.run import train
from tests.messages import naming, says
from tests.report_pages import DATA, Balanced, changed, page_of, trained
from tests.written_runs import written_run

pytestmark = pytest.mark.usefixtures("empty_plots", "small_parser")


def test_a_comparison_has_all_sections(both, drawn_plots, tmp_path):
    out = tmp_path / "new" / "report"
    write_report(both, out, n_cases=4, n_pictures=2, noise=("heads",), sources=("own", "random"))
    found = Balanced(page_of(out))
    assert found.headings == [
        "Results", "Groups of examples", "Answer boundaries", "Noise: heads replaced",
        "Sources of parses", "Training", "Models", "Cases", "Commands",
    ]  # fmt: skip
    assert "By parse confidence" in found.text
    assert "exact0%20%40%60%80%100%" in found.text
    assert "Skipped" not in found.text
    for words in (
        "McNemar's exact test on exact, for these runs (results with other seeds may differ)",
        "presetnonesg-net",
        "By question length",
        "examples/s",
        "Learned or fixed values of the guides",
        f"syntagma train {out}/settings/none-1.yaml --out again/none-1",
        "syntagma compare again/none-1 again/sg-net-1",
        "syntagma report again/none-1 again/sg-net-1 --out again/report --cases 4 --pictures 2 "
        "--noise heads --source own --source random",
        "exact (%) by question_length, one group per value",
        "exact (%) by question_length, groups of equal range",
        "sg-net-1 compared with none-1: wrong tags",
    ):
        assert words in found.text
    files = sorted(path.name for path in out.iterdir())
    assert "curves.svg" in files
    assert "by_question_word.svg" in files
    assert "intervals.svg" in files
    assert says(found.text, "Differences 95 % seeds examples detectable one run of each")
    values = json.loads((out / "report.json").read_text())
    assert values["sources-of-parses"]["parsers"] == ["own", "random"]
    cuts = values["groups-of-examples"]["question_length"]
    assert [each["cut"] for each in cuts] == ["size", "range"]
    assert sum(len(group["keys"]) for group in cuts[0]["groups"]) == 7
    assert values["results"]["comparison"]["n_examples"] == 7
    assert values["models"]["sg-net-1"][0]["parameters"]["ancestor_attention"] > 0
    assert values["training"]["none-1"][0]["steps"] > 0
    assert values["results"]["metrics"]["total"] == {"none-1": [7.0], "sg-net-1": [7.0]}
    assert values["answer-boundaries"]["n_questions"] == 6
    assert set(map(type, values["answer-boundaries"]["gold"])) == {int}


@pytest.mark.slow
def test_runs_that_were_trained_on_noise_are_shown_as_a_curve(
    spans, drawn_plots, tmp_path, tiny_encoder
):
    clean = spans["sg-net", 1]
    settings = load_experiment(clean / "experiment.yaml", ["parser=noisy:0.5:linear"])
    train(settings, tmp_path / "noisy")
    write_report([clean, tmp_path / "noisy"], tmp_path / "report", n_cases=0, n_pictures=0)
    found = Balanced(page_of(tmp_path / "report"))
    assert "Noise in training: heads replaced" in found.headings
    values = json.loads((tmp_path / "report" / "report.json").read_text())
    curve = values["noise-in-training:-heads-replaced"]
    assert (curve["shares"], curve["when"]) == ([0.0, 0.5], "training and evaluation")


def test_the_chosen_metric_is_used_throughout(both, tmp_path):
    write_report(both, tmp_path / "report", n_cases=0, n_pictures=0, metric="f1")
    text = Balanced(page_of(tmp_path / "report")).text
    assert "paired t-test on f1" in text
    assert "f1 (%) by question_word" in text
    assert "syntagma compare again/none-1 again/sg-net-1 --metric f1" in text
    assert "--pictures 0 --metric f1" in text


def test_a_control_is_what_the_others_are_compared_with(both, tmp_path):
    write_report(both, tmp_path / "report", n_cases=0, n_pictures=0, control="sg-net-1")
    values = json.loads((tmp_path / "report" / "report.json").read_text())
    systems = values["results"]["comparison"]["systems"]
    assert [system["name"] for system in systems] == ["sg-net-1", "none-1"]
    # The order of the folders says it again, so the command needs no option.
    text = Balanced(page_of(tmp_path / "report")).text
    assert "syntagma compare again/sg-net-1 again/none-1" in text
    assert "--control" not in text
    with pytest.raises(InputError, match=naming("sg-net-1 none-1")):
        write_report(both, tmp_path / "other", n_cases=0, n_pictures=0, control="sg-ent")


@pytest.mark.slow
def test_reports_on_the_same_runs_are_byte_for_byte_equal(both, drawn_plots, tmp_path):
    for name in ("one", "two"):
        write_report(both, tmp_path / name, n_cases=2, n_pictures=1)
    for path in (path for path in (tmp_path / "one").rglob("*") if path.is_file()):
        other = (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()
        assert path.read_bytes().replace(b"/one", b"/two") == other


def test_dev_files_are_read_once(both, tmp_path, monkeypatch):
    read, reads = RunScores.read_examples, []
    monkeypatch.setattr(RunScores, "read_examples", lambda run: reads.append(run) or read(run))
    found = groups_section(read_systems(both), tmp_path, parser="linear")
    assert len(found.values) > 3
    assert len(reads) == 1


def test_how_counts_and_speeds_are_formatted():
    assert metric_shown([1014.0, 1014.0]) == "1,014"
    assert metric_shown([50.0, 52.0]) == "51.00 ± 1.41"
    assert metric_shown([]) == "–"
    speeds = {name: [Speed(6, rate, None, None, None)] for name, rate in (("a", 80.0), ("b", 58.1))}
    assert speed_rows(speeds) == [
        ["", "steps", "examples/s"], ["a", "6", "80.0"], ["b", "6", "58.1"],
    ]  # fmt: skip


def test_runs_that_differ_in_their_seed_are_one_system(spans, drawn_plots, tmp_path):
    write_report(list(spans.values()), tmp_path / "report", n_pictures=0)
    found = Balanced(page_of(tmp_path / "report"))
    assert "4 runs" in found.text
    assert "±" in found.text
    assert "none, sg-net" in found.text
    assert says(found.text, "seeds")
    curves = (tmp_path / "report" / "curves.svg").read_text()
    assert curves.count(">sg-net<") == 1


def test_one_run_shows_its_errors(both, tmp_path):
    write_report(both[1:], tmp_path / "report", n_cases=3, n_pictures=1)
    page = page_of(tmp_path / "report")
    found = Balanced(page)
    assert "is not fully right on" in found.text
    assert "McNemar" not in found.text
    assert "syntagma compare" not in found.text
    # The attention of a single guided model is shown next to that of its encoder's last layer.
    assert "sg-net-1: layer 2 of 2" in page
    assert "sg-net-1: guided layer" in page


def test_figures_are_skipped_without_models(both, tmp_path):
    copies = []
    for run in both:
        copies.append(tmp_path / run.name)
        shutil.copytree(run, copies[-1])
        (copies[-1] / "model.safetensors").unlink()
    write_report(copies, tmp_path / "report", n_cases=4)
    page = page_of(tmp_path / "report")
    found = Balanced(page)
    assert "Skipped" in found.text
    assert says(found.text, f"{copies[0]} model.safetensors")
    assert "Models" not in found.headings
    assert "Attention: words of" not in page
    assert "Cases" in found.headings


def test_groups_and_cases_are_skipped_without_data(both, tmp_path):
    folder = tmp_path / "moved"
    shutil.copytree(both[0], folder)
    settings = (folder / "experiment.yaml").read_text()
    data = both[0].parent / "harbour.json"
    (folder / "experiment.yaml").write_text(settings.replace(str(data), "gone/harbour.json"))
    write_report([folder], tmp_path / "report")
    found = Balanced(page_of(tmp_path / "report"))
    assert found.headings == ["Results", "Training", "Models", "Commands"]
    assert says(found.text, "gone/harbour.json")


def test_invalid_input_writes_nothing(both, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    cases = [
        ([tmp_path / "full"], "new", {}, f"{tmp_path / 'full'} experiment.yaml"),
        (both, "full", {}, f"{tmp_path / 'full'} empty"),
        (both, "new", {"n_cases": -1}, "0 --cases -1"),
        (both, "new", {"noise": ["head"]}, "heads tags head"),
        (both, "new", {"sources": ["bogus"]}, "parser bogus default-parser"),
        (both, "full", {"data": ["dev.json"]}, f"{tmp_path / 'full'} empty"),
        (both, "new", {"data": ["dev.json"], "metric": "las"}, "exact f1 las"),
    ]
    for runs, out, options, message in cases:
        with pytest.raises(InputError, match=naming(message)):
            write_report(runs, tmp_path / out, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["full"]
    assert (tmp_path / "full" / "mine.txt").read_text() == "mine"


def test_sources_that_are_not_installed_are_skipped(both, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    write_report(both, tmp_path / "report", n_cases=0, sources=("spacy:en_core_web_sm",))
    found = Balanced(page_of(tmp_path / "report"))
    assert says(found.text, "spaCy '.[parsers]'")
    with pytest.raises(InputError, match=naming("parser bogus")):
        write_report(both, tmp_path / "new", sources=("spacy:en_core_web_sm", "bogus"))


@pytest.mark.parametrize(
    ("name", "change", "notices"),
    [
        ("predictions.json", lambda text: "[1]",
         [r"tags.{,200}predictions\.json.{,40}\[1\]",
          r"cases.{,200}predictions\.json.{,40}\[1\]"]),
        ("predictions.json", lambda text: "{}", [r"predictions\.json.{,40}0-0"]),
        ("predictions.nbest.json", lambda text: "{}", [r"nbest\.json.{,10}0-0.{,80}None"]),
        ("metrics.jsonl", lambda text: text + "garbage}\n",
         [r"curves.{,200}metrics\.jsonl.{,10}\d+.{,20}JSON",
          r"speed.{,200}metrics\.jsonl.{,10}\d+.{,20}JSON"]),
        ("metrics.jsonl", lambda text: text + '{"loss": 1}\n',
         [r"metrics\.jsonl.{,10}\d+.{,40}step"]),
        ("metrics.jsonl", lambda text: text + '{"step": 9, "lo',
         [r"training.{,200}metrics\.jsonl"]),
    ],
)  # fmt: skip
def test_damaged_files_are_skipped(both, tmp_path, name, change, notices):
    damaged = changed(both[0], tmp_path / "damaged", name, change)
    write_report([damaged], tmp_path / "report", n_cases=1, n_pictures=0)
    text = Balanced(page_of(tmp_path / "report")).text
    for notice in notices:
        assert re.search(notice, text)


def test_a_failure_writes_nothing(both, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no")

    monkeypatch.setattr(write, "report_page", fail)
    with pytest.raises(RuntimeError):
        write_report(both, tmp_path / "report", n_pictures=0)
    assert {path.name for path in tmp_path.iterdir()} <= {"cache"}


def test_names_are_escaped(both, tmp_path):
    folders = []
    for run, name in zip(both, ("<b>&amp;", "<script>x"), strict=True):
        folders.append(tmp_path / name)
        shutil.copytree(run, folders[-1])
    write_report(folders, tmp_path / "report", n_cases=2, n_pictures=1)
    found = Balanced(page_of(tmp_path / "report"))
    assert "Report: <b>&amp;, <script>x" in found.text


@pytest.mark.parametrize("task", [task for task in DATA if task != "spans"])
@pytest.mark.slow
def test_every_task_has_a_report(task, tmp_path, tiny_encoder):
    preset = "poi-net" if task == "choice" else "sg-net"
    runs = [
        trained(tmp_path, tiny_encoder, task, name, training={"num_train_epochs": 1}, **settings)
        for name, settings in {
            "plain": {},
            "other": {} if task == "parsing" else {"preset": preset, "parser": "linear"},
        }.items()
    ]
    # Tests and groups use the same metric as the runs.
    for plan in find_task(task).comparisons:
        first = read_systems(runs)[0].runs[0]
        if plan.metric in first.metrics:
            system = read_systems(runs, metric=plan.metric)[0]
            assert system.value(list(first.rows)) == pytest.approx(first.metrics[plan.metric])
    # Scoring again on the dev files gives the same results.
    again = score_runs(runs, [tmp_path / DATA[task][1]])
    for run, folder in zip(runs, again, strict=True):
        for name in ("metrics.json", "examples.json", "data.json"):
            assert json.loads((run / name).read_text()) == json.loads((folder / name).read_text())
    write_report(runs, tmp_path / "report", n_cases=3, n_pictures=1)
    page = page_of(tmp_path / "report")
    found = Balanced(page)
    assert {"Results", "Training", "Models", "Commands"} <= set(found.headings)
    if task == "parsing":
        assert says(found.text, "cases parsing")
        return
    drawn = json.loads((tmp_path / "report" / "report.json").read_text())["cases"]
    assert ("Cases" in found.headings) == bool(drawn)
    if drawn and task in ("choice", "pairs"):
        assert "Attention: words of the" in page
        assert ("Co-attention, turn by turn" in page) == (task == "choice")
    # Answers are read from the run.
    answers = read_answers(read_systems(runs)[0].runs[0])
    assert set(read_systems(runs)[0].runs[0].rows) <= set(answers)


def test_pretraining_curves_show_each_objective_with_chance(drawn_plots, tmp_path):
    heads = {"eval_heads_accuracy": 40.0, "eval_heads_chance": 10.0}
    for name, values in (("mlm", {}), ("both", heads)):
        folder = written_run(
            tmp_path / name, [1.0], task="pretraining", head={"heads": float(name == "both")}
        )
        row = {"step": 10, "eval_mlm_accuracy": 30.0, "eval_mlm_chance": 5.0} | values
        (folder / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    systems = read_systems([tmp_path / "mlm", tmp_path / "both"])
    found = training_section(systems, tmp_path)
    assert found.notices == []
    curves = (tmp_path / "curves.svg").read_text()
    for title in ("hidden pieces, accuracy", "heads, accuracy"):
        assert title in curves
    assert curves.count(">chance<") == 2
    # No run has these metrics.
    assert "distances" not in curves
    assert "log_likelihood" not in curves


def test_the_curve_is_that_of_the_metric_that_chose_the_model(drawn_plots, tmp_path):
    folder = written_run(tmp_path / "run", [1.0], head={"objective": "answerability"})
    row = {"step": 10, "eval_exact": 30.0, "eval_accuracy": 40.0}
    (folder / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    training_section(read_systems([folder]), tmp_path)
    assert "dev accuracy" in (tmp_path / "curves.svg").read_text()
