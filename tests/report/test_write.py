"""The report of runs: completeness, correct values, and what is skipped."""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from syntagma.analysis.cases import Case, find_cases, read_answers
from syntagma.analysis.parameters import read_numbers
from syntagma.analysis.systems import RunScores, read_systems
from syntagma.drawing.phrase_svg import phrase_svg
from syntagma.errors import InputError
from syntagma.evaluation import score_runs
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.parse.sources.load import load_parser
from syntagma.report import write
from syntagma.report.case_cards import CasePictures, case_card
from syntagma.report.case_section import write_cases
from syntagma.report.report_sections import (
    groups_section,
    metric_shown,
    speed_rows,
    training_section,
)
from syntagma.report.write import write_report
from syntagma.runs.log import Speed, read_speed
from syntagma.tasks import find_task
from syntagma.tasks.experiment import load_experiment
from syntagma.tasks.probing.data import ProbeExample
from syntagma.tasks.relations.data import RelationExample
from syntagma.tasks.translation.parallel_text import ParallelExample
from syntagma.training.run import train
from tests.builders import (
    dream,
    experiment,
    open_qa,
    pairs,
    relations,
    squad,
    treebank,
    typing,
)
from tests.messages import naming, says
from tests.written_runs import written_run

DATA = {
    "choice": (dream, "dream.json"),
    "open_qa": (open_qa, "dev.jsonl"),
    "pairs": (pairs, "pairs.jsonl"),
    "parsing": (treebank, "tides.conllu"),
    "relations": (relations, "relations.txt"),
    "spans": (squad, "harbour.json"),
    "typing": (typing, "typing.json"),
}
ALONE = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "rect", "path"}


class Balanced(HTMLParser):
    """Checks that all tags are closed, and collects texts and headings."""

    def __init__(self, page):
        super().__init__()
        self.opened, self.headings, self.text = [], [], ""
        self.feed(page)
        assert self.opened == []

    def handle_starttag(self, tag, attributes):
        if tag not in ALONE:
            self.opened.append(tag)

    def handle_endtag(self, tag):
        if tag not in ALONE:
            assert self.opened.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.opened and self.opened[-1] == "h2":
            self.headings.append(data)


@pytest.fixture
def drawn_plots():
    """Requested by tests that look at plots."""


@pytest.fixture(autouse=True)
def _empty_plots(request, monkeypatch):
    """In other tests plots are empty, because drawing takes longer than the rest of a report."""
    if "drawn_plots" not in request.fixturenames:
        monkeypatch.setattr(
            Figure, "savefig", lambda self, path, **_: Path(path).write_text("<svg/>")
        )


@pytest.fixture(autouse=True)
def _small_parser(monkeypatch, tiny_parser):
    monkeypatch.setattr(write, "DEFAULT_PARSER", tiny_parser)


def trained(root, encoder, task, name, **changes):
    write, file = DATA[task]
    data = root / file
    if not data.is_file():
        write(data, copies=1)
    head = {"arc_width": 8, "relation_width": 4} if task == "parsing" else {}
    settings = experiment(task, str(data), encoder, head=head, **changes)
    train(settings, root / name)
    return root / name


@pytest.fixture(scope="module")
def spans(tmp_path_factory, tiny_encoder):
    """A plain and a guided reader, each with two seeds."""
    root = tmp_path_factory.mktemp("spans")
    runs = {}
    for preset in ("none", "sg-net"):
        for seed in (1, 2):
            folder = trained(
                root,
                tiny_encoder,
                "spans",
                f"{preset}-{seed}",
                preset=preset,
                parser="linear",
                training={"num_train_epochs": 1, "seed": seed},
            )
            runs[preset, seed] = folder
            # A tiny model answers nothing right, so overwrite its scores with different ones.
            rows = json.loads((folder / "examples.json").read_text())
            right = {"none": ("0-0", "0-1", "0-no"), "sg-net": ("0-1", "0-2", "0-3")}[preset]
            for key in rows:
                rows[key] = dict.fromkeys(("exact", "f1"), float(key in right))
            (folder / "examples.json").write_text(json.dumps(rows))
    return runs


@pytest.fixture
def both(spans):
    return [spans["none", 1], spans["sg-net", 1]]


def page_of(out):
    page = (out / "index.html").read_text(encoding="utf-8")
    # No external resources, no scripts.
    addresses = set(re.findall(r"https?://[^\"' )<]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "<script" not in page
    return page


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


def test_the_commands_reproduce_the_runs(both, tmp_path, monkeypatch):
    """A run that starts from another one comes after it, and starts from the reproduced one."""
    settings = load_experiment(both[0] / "experiment.yaml")
    later = replace(settings, encoder=str(both[0]), preset="saved")
    train(later, tmp_path / "later")
    write_report([tmp_path / "later"], tmp_path / "report", n_cases=0, n_pictures=0)
    text = Balanced(page_of(tmp_path / "report")).text
    lines = re.findall(r"syntagma train (\S+) (?:--set (\S+) )?--out (again/[\w-]+)", text)
    assert [(change, out) for _, change, out in lines] == [
        ("", "again/none-1"), ("encoder=again/none-1", "again/later"),
    ]  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for path, change, out in lines:
        train(load_experiment(path, [change] if change else []), out)
    assert (tmp_path / "again/later/metrics.json").read_bytes() == (
        tmp_path / "later/metrics.json"
    ).read_bytes()


def test_a_verifier_is_reproduced_before_its_reader(both, tmp_path):
    settings = load_experiment(both[0] / "experiment.yaml", [f"head.verifier={both[1]}"])
    train(replace(settings, data=replace(settings.data, dev_limit=5)), tmp_path / "verified")
    write_report([tmp_path / "verified"], tmp_path / "report", n_cases=0, n_pictures=0)
    text = Balanced(page_of(tmp_path / "report")).text
    lines = re.findall(r"syntagma train \S+ (?:--set (\S+) )?--out (again/[\w-]+)", text)
    assert lines == [
        ("", "again/sg-net-1"), ("head.verifier=again/sg-net-1", "again/verified"),
    ]  # fmt: skip
    assert "scored on 5 examples of each dev file" in text


def test_evaluation_commands_use_the_settings_of_training(both, tmp_path):
    settings = load_experiment(
        both[0] / "experiment.yaml", ["training.precision=bfloat16", "data.skip_bad=true"]
    )
    train(settings, tmp_path / "other")
    write_report([tmp_path / "other"], tmp_path / "report", n_cases=0, n_pictures=0)
    text = Balanced(page_of(tmp_path / "report")).text
    assert re.search(r"syntagma evaluate again/other \S+ --precision bfloat16 --skip-bad", text)


def test_runs_that_were_trained_on_noise_are_a_curve(spans, drawn_plots, tmp_path, tiny_encoder):
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


def test_the_same_runs_give_the_same_bytes(both, drawn_plots, tmp_path):
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


def test_counts_and_speeds_are_shown_as_such():
    assert metric_shown([1014.0, 1014.0]) == "1,014"
    assert metric_shown([50.0, 52.0]) == "51.00 ± 1.41"
    assert metric_shown([]) == "–"
    speeds = {name: [Speed(6, rate, None, None, None)] for name, rate in (("a", 80.0), ("b", 58.1))}
    assert speed_rows(speeds) == [
        ["", "steps", "examples/s"], ["a", "6", "80.0"], ["b", "6", "58.1"],
    ]  # fmt: skip


def test_seeds_are_one_system(spans, drawn_plots, tmp_path):
    write_report(list(spans.values()), tmp_path / "report", n_pictures=0)
    found = Balanced(page_of(tmp_path / "report"))
    assert "4 runs" in found.text
    assert "±" in found.text
    assert "none, sg-net" in found.text
    # Without attention maps the page does not mention them.
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
    # A single guided model is shown with the last layer of its encoder.
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
    assert says(found.text, "spaCy syntagma[parsers]")
    with pytest.raises(InputError, match=naming("parser bogus")):
        write_report(both, tmp_path / "new", sources=("spacy:en_core_web_sm", "bogus"))


def changed(run, folder, name, change):
    """Copy a run and change one of its files."""
    shutil.copytree(run, folder)
    (folder / name).write_text(change((folder / name).read_text()))
    return folder


def test_a_run_without_a_right_answer_has_errors(both, tmp_path):
    def nothing(text):
        return json.dumps({key: {"exact": 0.0, "f1": 0.0} for key in json.loads(text)})

    wrong = changed(both[0], tmp_path / "wrong", "examples.json", nothing)
    [system] = read_systems([wrong])
    assert find_cases([system], most=100).counts == {("wrong", "wrong"): 7}


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


def test_commands_report_missing_runs(both, tmp_path):
    for encoder, reported in (("/gone/runs/plain", True), ("hub/name", False)):
        folder = changed(
            both[0], tmp_path / f"copy-{reported}", "experiment.yaml",
            lambda text, encoder=encoder: re.sub("(?m)^encoder: .*$", f"encoder: {encoder}", text),
        )  # fmt: skip
        write_report([folder], tmp_path / f"report-{reported}", n_cases=0)
        text = Balanced(page_of(tmp_path / f"report-{reported}")).text
        assert (f" {encoder} " in text) == reported


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


class TestCases:
    def test_all_seeds_answer(self, spans):
        systems = read_systems(list(spans.values()))
        answers = {key: read_answers(read_systems([run])[0].runs[0]) for key, run in spans.items()}
        for case in find_cases(systems, most=100).cases:
            for system, preset in (("none", "none"), ("sg-net", "sg-net")):
                expected = tuple(answers[preset, seed][case.key] for seed in (1, 2))
                assert case.answers[system] == expected

    def test_equal_answers_are_merged(self):
        described = find_task("relations").describe(
            RelationExample("1", "A gull saw a boat.", (13, 17), (2, 6), "seen")
        )
        answers = {"plain": ("seen", "seen", "fed"), "sg-net": ("fed",) * 3}
        case = Case("1", described, answers, {"plain": 0.67, "sg-net": 0.0}, "lost", "sg-net")
        card = case_card(1, case, CasePictures(), baseline="plain")
        assert "<bdi>seen</bdi> (× 2) / <bdi>fed</bdi></td>" in card
        assert card.count("<bdi>fed</bdi>") == 2
        # The mentions are marked, not the text between them.
        assert "A <mark>gull</mark> saw a <mark>boat</mark>." in card

    def test_trees_have_phrases_if_the_parser_finds_some(self, tmp_path):
        described = find_task("probing").describe(
            ProbeExample("1", "te", "PAST", "The gull saw a boat.")
        )
        case = Case("1", described, {"plain": ("PRES",)}, {"plain": 0.0}, "wrong", "plain")
        page = tmp_path / "cases.html"
        write_cases([case], page, title="x", baseline="plain", parser="default-parser")
        parse = load_parser("default-parser").with_phrases().parse_text(described.asked)[0]
        assert [c.label for c in parse.constituents] == ["S", "NP", "VP", "NP"]
        assert phrase_svg(parse, standalone=False) in page.read_text(encoding="utf-8")

    def test_cases_differ_as_labelled(self, spans):
        systems = read_systems(list(spans.values()))
        found = find_cases(systems, most=100)
        rows = [[run.rows for run in system.runs] for system in systems]
        expected = {"gained": set(), "lost": set()}
        for key in rows[0][0]:
            plain, guided = (sum(run[key]["exact"] for run in runs) for runs in rows)
            if plain != guided:
                expected["gained" if guided > plain else "lost"].add(key)
        for kind, keys in expected.items():
            assert {case.key for case in found.cases if case.kind == kind} == keys
            assert found.counts[kind, "sg-net"] == len(keys)

    def test_as_many_of_each_kind(self, tmp_path):
        right = [1.0] * 10 + [0.0] * 30
        wrong = [0.0] * 10 + [1.0] * 30
        folders = [
            written_run(tmp_path / "plain", right),
            written_run(tmp_path / "other", wrong, preset="sg-net"),
        ]
        data = squad(tmp_path / "dev.json", copies=6)
        for folder in folders:
            rows = json.loads((folder / "examples.json").read_text())
            named = json.loads((tmp_path / "dev.json").read_text())["data"][0]["paragraphs"]
            keys = [question["id"] for part in named for question in part["qas"]][:40]
            moved = dict(zip(keys, rows.values(), strict=True))
            (folder / "examples.json").write_text(json.dumps(moved))
            (folder / "predictions.json").write_text(json.dumps(dict.fromkeys(keys, "x")))
            text = (folder / "experiment.yaml").read_text()
            (folder / "experiment.yaml").write_text(text.replace("/data/dev.json", data))
        systems = read_systems(folders)
        for most, kinds in ((6, (3, 3)), (30, (20, 10))):
            found = find_cases(systems, most=most)
            counts = [sum(c.kind == kind for c in found.cases) for kind in ("gained", "lost")]
            assert tuple(counts) == kinds
            assert found == find_cases(systems, most=most)
        assert found.counts == {("gained", "other"): 30, ("lost", "other"): 10}

    def test_missing_predictions_are_reported(self, both, tmp_path):
        shutil.copytree(both[0], tmp_path / "run")
        (tmp_path / "run" / "predictions.json").unlink()
        with pytest.raises(InputError, match=naming("predictions.json")):
            find_cases(read_systems([tmp_path / "run"]), most=3)


class TestNumbers:
    @pytest.mark.parametrize("bits", [None, 8])
    def test_parameters_match_the_model(self, tiny_encoder, tmp_path, bits):
        guides = {"tree_distance": {}, "ancestor_attention": {"aggregation": "learned"}}
        model = GuidedEncoder.from_encoder(tiny_encoder, guides=guides)
        with torch.no_grad():
            model.tree_distance.alpha.fill_(0.125)
            model.ancestor_attention.aggregator.scalars.copy_(torch.tensor([0.0, 1.0]))
        model.save_pretrained(tmp_path, bits=bits)
        found = read_numbers(tmp_path)
        assert found is not None
        assert found.total == sum(weight.numel() for weight in model.parameters())
        for name in ("tree_distance", "ancestor_attention"):
            part = getattr(model, name)
            assert found.parameters[name] == sum(weight.numel() for weight in part.parameters())
        learned = {name.partition(",")[0]: value for name, value in found.learned.items()}
        share = float(torch.tensor([0.0, 1.0]).softmax(0)[0])
        assert learned["α"] == 0.125
        assert learned["share of H"] == pytest.approx(share, abs=1e-3)
        assert learned["share of H′"] == pytest.approx(1 - share, abs=1e-3)

    def test_missing_models_have_no_numbers(self, tmp_path):
        assert read_numbers(tmp_path) is None

    def test_hours_cover_the_whole_training(self, tmp_path):
        rows = [
            {"step": 50, "loss": 1.0},
            {"step": 100, "eval_f1": 2.0, "eval_evaluation_seconds": 3.0},
            {"step": 200, "eval_f1": 2.0, "eval_evaluation_seconds": 5.0},
            # A resumed run: the runtime is that of the last part, but the speed is right.
            {"step": 7200, "train_runtime": 100.0, "train_steps_per_second": 2.0},
        ]
        (tmp_path / "experiment.yaml").write_text("task: pairs\n")
        (tmp_path / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
        found = read_speed(tmp_path)
        assert (found.steps, found.hours, found.evaluation_seconds) == (7200, 1.0, 4.0)
        assert found.examples_per_second is None

    def test_training_in_steps_has_no_examples_per_second(self, tmp_path):
        row = {"step": 7, "train_samples_per_second": 16.0, "train_steps_per_second": 2.0}
        (tmp_path / "metrics.jsonl").write_text(json.dumps(row) + "\n")
        for settings, expected in (("num_train_epochs: 2", 16.0), ("max_steps: 7", None)):
            text = f"task: pairs\ntraining: {{{settings}}}\n"
            (tmp_path / "experiment.yaml").write_text(text)
            assert read_speed(tmp_path).examples_per_second == expected


def test_questions_of_other_tasks():
    described = find_task("translation").describe(ParallelExample("1", "Ein Boot.", "A boat."))
    assert (described.asked, described.gold, described.passage) == ("Ein Boot.", ("A boat.",), "")
    described = find_task("probing").describe(ProbeExample("1", "te", "PAST", "It rained."))
    assert (described.asked, described.gold) == ("It rained.", ("PAST",))
    described = find_task("relations").describe(
        RelationExample("1", "A gull saw a boat.", (13, 17), (2, 6), "seen")
    )
    assert (described.asked, described.places) == ("boat → gull", ((13, 17), (2, 6)))


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
    # No run has these.
    assert "distances" not in curves
    assert "log_likelihood" not in curves
