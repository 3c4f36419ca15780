"""What notebooks show: trees, answers, runs and comparisons, with the user's text escaped."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser
from importlib import import_module

import pytest

from syntagma.analysis.compare import compare_runs
from syntagma.retrieval.retriever import Passage
from syntagma.runs.folder import RunFolder
from syntagma.tasks.open_qa.answers import Candidate, OpenPrediction
from syntagma.tasks.open_qa.documents import DocumentAnswer, ReadPassage
from syntagma.tasks.spans.answers import Excerpt
from syntagma.text.sentence import Constituent, Parse, Sentence
from syntagma.views import VIEWS, render
from tests.page_fixtures import answer_of, span_of
from tests.written_runs import written_run

EVIL = "</title></svg><script>alert(1)</script><img src=x onerror=alert(2)> & \"'\x00"


class Elements(HTMLParser):
    """The elements of a fragment, its text, and whether all are closed."""

    VOID = ("br", "img", "rect", "path")

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self.open, self.marked = [], "", [], ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        assert not [name for name, _ in attributes if name.startswith("on")]
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if "mark" in self.open:
            self.marked += data


def safe(html):
    found = Elements(html)
    assert not {"script", "img", "iframe", "link"} & set(found.tags)
    return found


def evil_parse(**changes):
    forms = (EVIL, "left", "<b>")
    values = {"relations": (EVIL, "root", EVIL), "upos": (EVIL,) * 3, "xpos": (EVIL,) * 3}
    return Parse(Sentence.spaced(forms), (2, 0, 2), **values | changes)


def test_every_view_exists():
    for name, module in VIEWS.items():
        assert callable(getattr(import_module(module), name))


def test_a_parse_shows_arcs_and_phrases(ferry):
    arcs = ferry._repr_svg_()
    root = ElementTree.fromstring(arcs)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert arcs.count('class="edge"') == 10
    phrases = replace(ferry, constituents=(Constituent("S", 0, 10), Constituent("NP", 0, 3)))
    both = phrases._repr_svg_()
    words = [element.text for element in ElementTree.fromstring(both).iter() if element.text]
    assert words.count("crossed") == 2
    assert "NP" in words
    found = safe(phrases._repr_html_())
    assert found.tags[:2] == ["div", "svg"]
    assert "obj" in found.text


def test_text_in_trees_is_escaped():
    parse = evil_parse(constituents=(Constituent(EVIL, 0, 3),))
    found = safe(parse._repr_html_())
    assert "alert(1)" in found.text
    ElementTree.fromstring(parse._repr_svg_())


@pytest.mark.parametrize(
    "parse",
    [
        Parse(Sentence.from_words(["a", "b"]), (5, 0)),
        Parse(Sentence.from_words(["a", "b"]), (1, 0)),
        Parse(
            Sentence.from_words(["a", "b", "c"]), (0, 1, 1),
            constituents=(Constituent("X", 0, 2), Constituent("Y", 1, 3)),
        ),
    ],
    ids=["out of range", "its own head", "crossing phrases"],
)  # fmt: skip
def test_what_is_no_tree_is_shown_as_text(parse):
    assert parse._repr_svg_() is None
    assert parse._repr_html_() is None
    assert repr(parse)


def test_an_empty_sentence_is_drawn():
    assert "No words" in safe(Parse(Sentence((), (), ()), ())._repr_html_()).text


PASSAGE = f"First. Ada {EVIL} Mensah repaired the ferry & left."
SENTENCE = Excerpt(PASSAGE[7:], 7, len(PASSAGE))


def answers_in(**changes):
    spans = [span_of(PASSAGE, f"Ada {EVIL} Mensah"), span_of(PASSAGE, "the ferry")]
    return replace(answer_of(f"Who {EVIL}?", spans, **changes), sentence=SENTENCE)


def test_an_answer_is_marked_in_its_sentence():
    found = safe(answers_in(null_odds=-1.0)._repr_html_())
    assert found.marked.startswith("Ada")
    assert found.marked.endswith("Mensah")
    assert "repaired the ferry & left." in found.text
    assert "→" in found.text
    assert "confidence 0.75" in found.text
    assert found.text.count("the ferry") == 2  # In the sentence and among the candidates.
    unsure = safe(answers_in(null_odds=-1.0, confidence=0.25)._repr_html_())
    assert "unsure: two spans are close" in unsure.text
    none = safe(answers_in(null_odds=9.0)._repr_html_())
    assert "no answer in the text" in none.text
    assert none.marked.startswith("Ada")


def test_several_parts_of_an_answer_are_marked():
    answer = answers_in(null_odds=-1.0)
    found = safe(replace(answer, spans=answer.candidates[::-1])._repr_html_())
    assert found.marked.endswith("Mensahthe ferry")
    # A part in another sentence is not marked in this one.
    elsewhere = replace(answer, spans=(answer.spans[0], span_of(PASSAGE, "First")))
    assert safe(elsewhere._repr_html_()).marked == found.marked.removesuffix("the ferry")


def test_an_answer_without_candidates_has_no_table():
    answer = replace(answers_in(null_odds=9.0), candidates=(), sentence=None)
    found = safe(answer._repr_html_())
    assert "table" not in found.tags


def test_an_answer_from_documents_names_its_place():
    candidate = Candidate("ferry", 0, 5, 1.0, 0.5, 0, "p", 1)
    passage = Passage("p", "ferry", f"{EVIL}.pdf", 0, 5, f"Part {EVIL}", 7)
    answer = DocumentAnswer(
        "What?", "answer", "ferry", 0, 5, 0.75, 0.125, "", (candidate,), (candidate,), None, True,
        "balanced", None, OpenPrediction.of("What?", [candidate], 0.125),
        (ReadPassage(passage, 1.0),),
    )  # fmt: skip
    found = safe(answer._repr_html_())
    assert "page 7" in found.text
    assert ".pdf" in found.text
    assert json.loads(answer.to_json())["source"] == passage.source


def test_a_run_shows_settings_and_metrics(tmp_path):
    path = written_run(tmp_path / "<b>sg-net", [1.0, 0.0], preset="sg-net", parser="linear")
    found = safe(RunFolder(path)._repr_html_())
    for part in ("<b>sg-net", "done", "spans", "sg-net", "linear", "exact", "50.00", "51.00"):
        assert part in found.text
    (path / "metrics.json").write_text(json.dumps({f"m{n}": n for n in range(50)} | {"s": "x"}))
    many = safe(RunFolder(path)._repr_html_())
    assert many.tags.count("tr") < 40
    assert "30 more" in many.text
    (path / "metrics.json").unlink()
    guides = {"pos_embedding": False}
    other = written_run(tmp_path / "without", [1.0], preset="poi-net", guides=guides)
    shown = safe(RunFolder(other)._repr_html_()).text
    assert "coattention" in shown
    assert "pos_embedding" not in shown
    assert "begun" in safe(RunFolder(path)._repr_html_()).text
    assert "not started" in safe(RunFolder(tmp_path / "new")._repr_html_()).text


def test_a_comparison_shows_its_tables(tmp_path):
    pytest.importorskip("scipy")
    scores = [float(number % 3 == 0) for number in range(60)]
    better = [float(number % 2 == 0) for number in range(60)]
    runs = [
        written_run(tmp_path / "plain", scores),
        written_run(tmp_path / "<i>sg-net", better, preset="sg-net"),
    ]
    compared = compare_runs(runs)
    found = safe(compared._repr_html_())
    for row in compared.rows() + compared.interval_rows():
        for cell in row:
            assert cell in found.text
    for line in compared.lines():
        assert line in found.text
    assert json.loads(compared.to_json())["systems"][1]["name"] == "<i>sg-net"


def test_showing_a_result_loads_no_torch():
    code = (
        "import sys\n"
        "from syntagma.text.sentence import Parse, Sentence\n"
        "parse = Parse(Sentence.from_words(['a']), (0,))\n"
        "assert parse._repr_html_() and parse.to_json() and parse.to_conllu()\n"
        "print([name for name in ('torch', 'transformers', 'nltk') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_view_of_a_result_is_found_by_its_name(ferry):
    assert render("parse_svg", ferry) == ferry._repr_svg_()
