"""Entries are reproduced from data to table, with a tiny encoder."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("scipy")

from syntagma.analysis.answer_tags import boundary_tags
from syntagma.analysis.compare import compare_runs
from syntagma.analysis.comparison import show_p
from syntagma.drawing.tables import signed
from syntagma.errors import InputError
from syntagma.parse.sources.controls import NoisySource
from syntagma.reproduce import index
from syntagma.reproduce.entries import Row, find_entry
from syntagma.reproduce.figures import folders_of
from syntagma.reproduce.measurements import paper_table
from syntagma.reproduce.pages import reproduce_pages
from syntagma.reproduce.plan import make_plan
from syntagma.reproduce.result import Cell, Measurement, Reproduction
from syntagma.reproduce.work import plan_entry, reproduce, run_lines
from syntagma.training import run as run_module
from tests.messages import naming, says

# Systems on DREAM start from readers trained on SQuAD.
READER = ("squad1/head.doc_stride=32", "squad1/head.max_question_length=24")


def test_a_table_includes_the_papers_numbers_and_is_not_trained_twice(
    setting, monkeypatch, tmp_path
):
    settings = setting(
        "head.max_length=96", "head.doc_stride=32", "head.max_question_length=24", seeds=2
    )
    plan = plan_entry("sg-net-aaai", "table3", settings)
    assert len(list(run_lines(plan))) == 12
    lines: list[str] = []
    found = reproduce(plan, say=lines.append)
    cells = {(cell.row, cell.column): cell for cell in found.measured.cells}
    baseline = cells["baseline", "EM"]
    scores = [
        json.loads((run.folder / "metrics.json").read_text())["exact"] for run in plan.cells[0, 0]
    ]
    assert baseline.paper == 84.1
    assert baseline.ours == pytest.approx(sum(scores) / 2)
    assert baseline.spread is not None
    assert len(cells) == 12
    text = found.table()
    assert f"{baseline.shown()}" in text
    table, differences = found.measured.parts
    assert len(table.rows) == 7
    head, *rows = differences.rows
    assert head == ["", "Δ", "+", "−", "over", "95 %", "p", "p (Holm)", "detectable", "n"]
    compared = compare_runs([run.folder for row in range(6) for run in plan.cells[row, 0]])
    last = compared.systems[5]
    place = next(i for i, row in enumerate(rows) if row[0] == "Bi-attention against baseline")
    # Two seeds, which are paired: intervals over both need three.
    for row, over in zip(rows[place:], last.intervals, strict=False):
        interval = last.intervals[over]
        assert row[4:8:2] == [over, show_p(interval.p_value)]
        assert row[7] == show_p(last.corrected[over])
        assert row[5] == f"{signed(interval.low)} … {signed(interval.high)}"
    assert [row[-1] for row in rows if row[0]] == [f"{compared.n_examples} of dev"] * 5
    assert "the papers' test" not in {row[4] for row in rows}
    lines = found.measured.lines
    assert any(says(line, "seeds: paired t-test") for line in lines)
    assert says(lines[-1], "Holm 5 comparisons")
    assert "google-bert/bert-large-cased-whole-word-masking" in text
    assert any(says(line, "data 40") for line in text.splitlines())
    assert "num_train_epochs 1 (3)" in text
    assert any(says(line, "seeds 2 1") for line in text.splitlines())
    assert {line.split()[0] for line in run_lines(plan)} == {"done"}
    monkeypatch.setattr(run_module, "train", None)
    again = reproduce(plan)
    assert again.measured.cells == found.measured.cells
    saved = json.loads((plan.folder / "result.json").read_text())
    assert saved["summary"].startswith("baseline ")
    assert {*saved["sources"]} == {*saved["runs"]}
    assert all(len(made["encoder"]["digest"]) == 64 for made in saved["sources"].values())
    assert {made["parser"]["name"] for made in saved["sources"].values() if "parser" in made} == {
        plan.setting.parser
    }
    assert "| baseline |" in (plan.folder / "table.md").read_text()


def test_an_interrupted_run_is_resumed(setting):
    plan = plan_entry(
        "poi-net", "table8", setting("head.max_length=96", *READER, "training.num_train_epochs=2")
    )
    first = plan.runs()[0]
    reproduce(plan)
    (first.folder / "metrics.json").unlink()
    assert first.state == "begun"
    reproduce(plan)
    assert first.state == "done"


@pytest.mark.slow
def test_runs_with_other_settings_are_not_reused(setting):
    reproduce(plan_entry("poi-net", "table8", setting("head.max_length=96", *READER)))
    other = plan_entry("poi-net", "table8", setting("head.max_length=80", *READER))
    with pytest.raises(InputError, match=naming("head.max_length=80 96 --out")):
        reproduce(other)


@pytest.mark.slow
def test_noise_is_added_to_the_parses(setting, monkeypatch):
    from syntagma import evaluation

    parsers, opened = [], evaluation.open_model

    def open_model(folder, *, parser, device, precision):
        parsers.append(parser)
        assert precision == "float32", "like the run's own scores in the same table"
        return opened(folder, parser=parser, device=device, precision=precision)

    monkeypatch.setattr(evaluation, "open_model", open_model)
    settings = setting("head.max_length=64", "data.dev_limit=8")
    plan = plan_entry("sg-net", "section7.6", settings)
    assert len(plan.runs()) == 5
    found = reproduce(plan)
    assert parsers == [f"noisy:{share}:{settings.parser}" for share in (0.2, 0.4, 0.6, 0.8, "1.0")]
    cells = {cell.row: cell.ours for cell in found.measured.cells}
    assert all(cells[row] is not None for row in ("0 %", "20 %", "100 %"))
    kept = json.loads((plan.cells[0, 0][0].folder / "evaluations.json").read_text())
    assert [scores["total"] for scores in kept.values()] == [8] * 5
    # A row for each interval; only the first of a comparison has its name.
    rows = [row for row in found.measured.parts[-1].rows[1:] if row[0]]
    compared = [row[0].removesuffix(" against no guide (not in the paper)") for row in rows]
    in_training = "Heads replaced in training too (not in the paper)"
    assert compared == [
        "0 %", "a weaker parser, 95.62 UAS", f"{in_training}, 20 %", f"{in_training}, 100 %",
    ]  # fmt: skip
    plain, guided = cells["no guide (not in the paper)"], cells["0 %"]
    assert float(rows[0][1].replace("−", "-")) == pytest.approx(guided - plain, abs=0.005)
    reproduce(plan)
    assert len(parsers) == 5
    # A parser of the same name that makes other parses is scored again.
    monkeypatch.setattr(NoisySource, "fingerprint", property(lambda self: f"other {self.share}"))
    reproduce(plan)
    assert len(parsers) == 10


def test_scores_by_groups_are_drawn(setting):
    pytest.importorskip("matplotlib")
    settings = setting("head.max_length=96", "head.doc_stride=32", "head.max_question_length=24")
    found = reproduce(plan_entry("sg-net", "figure4", settings))
    assert any(line.startswith("groups: ") for line in found.differs)
    assert [part.title for part in found.measured.parts] == ["equal range", "equal size"]
    assert found.measured.parts[0].rows[0] == ["question_length", "n", "Baseline", "SG-Net"]
    (picture,) = found.measured.pictures
    assert "<svg" in Path(picture).read_text(encoding="utf-8")


def test_cases_are_those_that_only_the_system_gets_right(setting, monkeypatch):
    settings = setting("head.max_length=96", "head.doc_stride=32", "head.max_question_length=24")
    plan = plan_entry("sg-net", "table9", settings)
    for folder in (run.folder for run in plan.runs()):
        is_right = folder.name.startswith("sg-net")
        reproduce(plan) if not folder.exists() else None
        rows = json.loads((folder / "examples.json").read_text())
        for number, row in enumerate(rows.values()):
            row["exact"] = float(is_right and number < 3)
        (folder / "examples.json").write_text(json.dumps(rows))
    found = reproduce(plan)
    assert len(found.measured.parts[0].rows) == 4
    (line,) = found.measured.lines
    assert line.startswith(f"3 of {len(rows)} examples are gains, with seed 1")
    (page,) = found.measured.pictures
    assert "[cases](cases.html)" in found.markdown()
    assert Path(page).read_text(encoding="utf-8").count("<article") == 3


def test_costs_are_measured_without_runs(setting):
    settings = setting("head.max_length=96")
    plan = plan_entry("sg-net", "section7.7", settings)
    assert list(run_lines(plan)) == ["no run is needed"]
    found = reproduce(plan)
    cells = {(cell.row, cell.column.split(",")[0]): cell.ours for cell in found.measured.cells}
    assert cells["SG-Net", "parameters"] > cells["BERT Baseline", "parameters"]
    assert cells["SG-Net", "training"] > 0
    (parsing,) = (cell for cell in found.measured.cells if cell.row == "parsing")
    assert parsing.ours > 0
    assert parsing.paper == 10.3
    assert "batches of 256 sentences per second" in found.table()
    assert not (settings.out / "tiny" / "nli").exists()


def test_costs_are_measured_on_new_models(setting):
    # Except at the paper's scale, systems for multiple choice start from readers, but their costs
    # do not depend on these.
    entry = replace(find_entry("poi-net", "table7"), base="dream")
    plan = make_plan(entry, setting("head.max_length=96"))
    assert not any(run.needs for run in plan.runs())
    sizes = {cell.row: cell.ours for cell in reproduce(plan).measured.cells if cell.ours}
    plain, heads, iterative = sizes.values()
    assert heads > iterative > plain


@pytest.mark.slow
def test_pretrained_systems_start_from_their_pretraining_run(setting, tmp_path):
    pytest.importorskip("pyarrow")
    from tests.conftest import SENTENCES

    settings = setting("head.max_length=64")
    (settings.data / "lm").mkdir(exist_ok=True)
    for name in ("wikipedia_paragraphs", "nltk_abc_news"):
        lines = [" ".join(SENTENCES[n % 8 :]) for n in range(60)]
        (settings.data / f"lm/{name}.txt").write_text("\n".join(lines))
    plan = plan_entry("seprem", "table6", settings)
    assert {"figer", "quasar", "cosmosqa", "searchqa"} == set(plan.missing)
    found = reproduce(plan_entry("seprem", "table6", setting("head.max_length=64")))
    cells = {
        (cell.row, cell.column): cell for cell in found.measured.cells if cell.ours is not None
    }
    assert cells["SEPREM", "α"].ours == pytest.approx(0.1, abs=0.05)
    assert ("SEPREM w/o α", "α") not in cells, "this system has no trained α"
    assert any("billion sentences" in line for line in found.differs)
    assert any("needs FIGER" in line for line in found.differs)
    assert found.missing


@pytest.mark.slow
def test_tags_at_boundaries_are_counted_and_shown_with_the_papers_counts(setting):
    settings = setting(
        "head.max_length=96", "head.doc_stride=32", "head.max_question_length=24", seeds=2
    )
    plan = plan_entry("poi-net", "table5", settings)
    found = reproduce(plan)
    (table,) = found.measured.parts
    assert table.rows[0] == ["POS type", "Golden answer", "POI-Net", "Baseline"]
    assert found.measured.lines == (), "wrong tags belong to figure 3"
    counted = boundary_tags(folders_of(plan), parser=settings.parser).renamed(
        ["Baseline", "POI-Net"]
    )
    cells = {(cell.row, cell.column): cell for cell in found.measured.cells}
    for number, tag in enumerate(counted.tags):
        if (tag, "POI-Net") in cells:
            assert cells[tag, "Golden answer"].ours == counted.gold[number]
            assert cells[tag, "POI-Net"].ours == counted.predicted["POI-Net"][number]
            assert cells[tag, "Baseline"].ours == counted.predicted["Baseline"][number]
    assert cells["NN", "Golden answer"].paper == 11192
    assert cells["NN", "Baseline"].paper == 11504
    (line,) = (row for row in table.rows if row[0] == "VBN")
    assert [cell.rpartition(" ")[2] for cell in line[1:]] == ["(348)", "(321)", "(299)"]
    assert {*counted.frequent()} <= {row[0] for row in table.rows}, "ours are shown as well"


def test_wrong_tags_are_drawn_as_bars(setting):
    pytest.importorskip("matplotlib")
    settings = setting("head.max_length=96", "head.doc_stride=32", "head.max_question_length=24")
    plan = plan_entry("poi-net", "figure3", settings)
    found = reproduce(plan)
    counted = boundary_tags(folders_of(plan), parser=settings.parser)
    (table,) = found.measured.parts
    assert table.rows[0] == ["tag of the gold word", "Baseline", "POI-Net"]
    cells = {(cell.row, cell.column): cell for cell in found.measured.cells}
    assert cells["NN", "Baseline"].paper == 866
    for name, each in zip(("Baseline", "POI-Net"), counted.errors.values(), strict=True):
        assert cells["all", name].ours == sum(each)
    assert found.measured.lines[0].startswith("POI-Net compared with Baseline: wrong tags")
    (picture,) = found.measured.pictures
    drawn = Path(picture).read_text(encoding="utf-8")
    for word in (*counted.frequent(), "Baseline", "POI-Net", "tag of the gold word"):
        assert f">{word}<" in drawn
    assert ">all<" not in drawn


def test_attention_maps_show_the_runs_on_our_example_text(setting):
    settings = setting("head.max_length=160", "head.doc_stride=32", "head.max_question_length=24")
    found = reproduce(plan_entry("sg-net", "figure6", settings))
    assert len(found.measured.lines) == 2
    assert all("head 1 of" in line for line in found.measured.lines)
    (picture,) = found.measured.pictures
    assert ">Mensah</text>" in Path(picture).read_text(encoding="utf-8")


def test_cells_show_our_number_and_the_papers():
    assert Cell("a", "b", None, None, 84.1).shown() == "(84.1)"
    assert Cell("a", "b", 50.0, 1.0, None).shown() == "50.00 ± 1.00"
    assert Cell("a", "b").shown() == ""
    assert Cell("a", "b", 50.0, None, 84.5).shown(2) == "50.00 (84.50)"
    assert Cell("a", "b", 50.0, None, 84.0, digits=0).shown(0) == "50 (84)"


def test_decimals_of_the_paper_and_headings_of_rows_are_kept(setting):
    settings = setting("head.max_length=96")
    plan = make_plan(replace(find_entry("poi-net", "table7"), base="dream"), settings)
    head = replace(plan.entry.rows[0], name="ALBERT", paper=())
    plan = replace(plan, entry=replace(plan.entry, rows=(head, *plan.entry.rows[1:])))
    found = paper_table(plan, lambda row, place: (1.0, None))
    table = dict(found.parts[0].rows[1:])
    assert table["Multi-head Co-Attention on ALBERT-xxlarge"] == "(404.50)"
    assert table["ALBERT-xxlarge"] == "(235.00)"
    assert {cell.heading for cell in found.cells} == {"ALBERT"}
    result = Reproduction("poi-net", "table7", "", "cpu", 1, "default", "", found, (), ())
    assert result.summary.startswith("ALBERT-base (rerun) 1.00; Multi-head")
    assert result.summary.endswith("1.00 (parameters, 2²⁰)")
    rows = (Cell("SG-Net", "EM", 1.0, heading=name) for name in ("BERT", "ALBERT"))
    rows = (*rows, Cell("words", "EM", 3452.0, digits=0))
    result = replace(result, measured=Measurement((), rows))
    assert result.summary == "BERT, SG-Net 1.00; ALBERT, SG-Net 1.00; words 3452 (EM)"
    assert replace(result, measured=Measurement((), pictures=("a.svg",))).summary == "drawn"
    given = replace(result, settings=("data.limit=9",))
    assert "scale cpu --set data.limit=9" in given.table()
    assert "scale `cpu --set data.limit=9`" in given.markdown()


def test_a_result_is_recorded_in_the_index(tmp_path, monkeypatch):
    monkeypatch.setattr(index, "RECORDED", str(tmp_path / "recorded.json"))
    old = {"scale": "cpu", "date": "2026-11-22", "encoder": "default", "seeds": 1, "differs": []}
    old |= {"cells": [{"at": [9, 2], "row": "SEPREM", "ours": 60.0}], "missing": [], "settings": []}
    old |= {"remark": "measured with other rates"}
    entry = find_entry("seprem", "table2")
    place = [row.name for row in entry.rows].index("SEPREM")
    old["cells"][0]["at"][0] = place
    (tmp_path / "recorded.json").write_text(json.dumps({"seprem table2": old}))
    index.recorded.cache_clear()
    expected = (
        "SEPREM 60.00 (Mi-F1) (cpu, encoder default, 1 seed, 2026-11-22; measured with other rates)"
    )
    (line,) = index.index_lines(None, "seprem", "table2")
    assert expected in line
    assert "; not measured: RoBERTa-large, " in line
    assert "[table2](reproduce/seprem.md#table2)" in reproduce_pages()["reproduce.md"]
    cell = Cell("SEPREM", "Mi-F1", 70.1, 0.5, 78.9, at=(place, 2))
    skipped = Cell("RoBERTa-large", "Mi-F1", None, None, 70.0, at=(0, 2))
    found = Measurement((), (cell, skipped))
    settings = ("typing/data.limit=9",)
    value = Reproduction(
        "seprem", "table2", "", "cpu", 1, "default", "2026-11-30", found,
        ("seeds: 1; the paper uses 3",), (), ("FIGER",), settings,
    ).to_dict()  # fmt: skip
    result = tmp_path / "result.json"
    result.write_text(json.dumps(value))
    try:
        assert index.record([result]) == ["seprem table2"]
        assert index.recorded()["seprem table2"]["cells"] == [
            {"at": [place, 2], "row": "SEPREM", "ours": 70.1, "spread": 0.5}
        ]
        page = reproduce_pages()["reproduce/seprem.md"]
        made = "cpu --set typing/data.limit=9, encoder default, 1 seed, 2026-11-30"
        assert f"{made}; without FIGER" in page
        paper = entry.rows[place].paper[2]
        assert f"| SEPREM | Mi-F1 | {paper:g} | 70.10 ± 0.50 | {70.1 - paper:+.2f} |" in page
        assert "\n- seeds: 1; the paper uses 3\n" in page
        assert "other rates" not in page
        result.write_text(json.dumps(value | {"scale": "tiny"}))
        with pytest.raises(InputError, match=naming("result.json --scale tiny cpu paper")):
            index.record([result])
    finally:
        index.recorded.cache_clear()


@pytest.mark.parametrize("content", ["[]", "1", '"result"', "null", '{"paper": "seprem"}'])
def test_only_results_are_recorded(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(InputError, match=naming("other.json result.json")):
        index.record([path])


def test_the_pages_are_up_to_date():
    docs = Path(__file__).parent.parent.parent / "docs"
    pages = reproduce_pages()
    assert {docs / name for name in pages} == {docs / "reproduce.md", *docs.glob("reproduce/*.md")}
    for name, text in pages.items():
        assert (docs / name).read_text(encoding="utf-8") == text, (
            "run experiments/record_results.py"
        )
        assert max(map(len, text.splitlines())) < 700


def test_rows_with_the_same_name_are_compared_by_heading(setting):
    entry = find_entry("sg-net", "table4")
    first, second, *_ = (row for row in entry.rows if row.encoder == "bert")
    same = [replace(row, name="same", paper=()) for row in (first, second)]
    rows = (Row("Without"), same[0], Row("With"), same[1])
    plan = make_plan(replace(entry, rows=rows), setting("head.max_length=64"))
    found = reproduce(plan)
    (_, differences) = found.measured.parts
    assert differences.rows[1][0] == "With, same against Without, same"
    assert [cell.heading for cell in found.measured.cells] == ["Without", "With"]
