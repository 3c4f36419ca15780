"""Cases of a report: which examples are chosen, and what is shown."""

from __future__ import annotations

import json
import shutil

import pytest

pytest.importorskip("scipy")

from syntagma.analysis.cases import Case, find_cases, read_answers
from syntagma.analysis.systems import read_systems
from syntagma.drawing.phrase_svg import phrase_svg
from syntagma.errors import InputError
from syntagma.parse.sources.load import load_parser
from syntagma.report.case_cards import CasePictures, case_card
from syntagma.report.case_section import write_cases
from syntagma.tasks import find_task
from syntagma.tasks.probing.data import ProbeExample
from syntagma.tasks.relations.data import RelationExample
from syntagma.tasks.translation.parallel_text import ParallelExample
from tests.builders import squad
from tests.messages import naming
from tests.report_pages import changed
from tests.written_runs import written_run


def test_all_examples_of_a_run_without_right_answers_are_errors(both, tmp_path):
    def all_wrong(text):
        return json.dumps({key: {"exact": 0.0, "f1": 0.0} for key in json.loads(text)})

    wrong = changed(both[0], tmp_path / "wrong", "examples.json", all_wrong)
    [system] = read_systems([wrong])
    assert find_cases([system], most=100).counts == {("wrong", "wrong"): 7}


class TestCases:
    def test_a_case_has_the_answers_of_all_seeds(self, spans):
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

    def test_gained_and_lost_cases_are_those_whose_scores_differ(self, spans):
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

    def test_each_kind_has_the_same_number_of_cases_if_possible(self, tmp_path):
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


def test_examples_of_other_tasks_are_described():
    described = find_task("translation").describe(ParallelExample("1", "Ein Boot.", "A boat."))
    assert (described.asked, described.gold, described.passage) == ("Ein Boot.", ("A boat.",), "")
    described = find_task("probing").describe(ProbeExample("1", "te", "PAST", "It rained."))
    assert (described.asked, described.gold) == ("It rained.", ("PAST",))
    described = find_task("relations").describe(
        RelationExample("1", "A gull saw a boat.", (13, 17), (2, 6), "seen")
    )
    assert (described.asked, described.places) == ("boat → gull", ((13, 17), (2, 6)))
