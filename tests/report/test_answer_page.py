from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.report.answer_cards import default_question
from syntagma.report.answer_page import answer_page
from syntagma.report.page_data import json_block, sdoi_rows
from syntagma.report.passage_marks import passage_html, tokens_of
from syntagma.tasks.spans.answers import Answer, Span
from syntagma.text.sentence import Parse, Sentence
from tests.messages import naming
from tests.page_fixtures import answer_of, span_of

VOID = {"meta", "input", "br", "link"}


class Element:
    """An element of a page with its text."""

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag, self.attributes, self.text = tag, attributes, ""
        self.inside: list[Element] = []


class Page(HTMLParser):
    """The elements of a page; every tag must be properly closed."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.all: list[Element] = []
        self.open: list[Element] = []
        self.feed(html)
        self.close()
        assert not self.open, [element.tag for element in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.all.append(element)
        for outer in self.open:
            outer.inside.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data

    def having(self, name: str, value: str | None = None) -> list[Element]:
        found = [element for element in self.all if name in element.attributes]
        return [e for e in found if value is None or value in e.attributes[name].split()]

    def one(self, name: str, value: str) -> Element:
        (element,) = self.having(name, value)
        return element


@pytest.fixture(scope="session")
def page(html: str) -> Page:
    return Page(html)


def embedded(page: Page) -> dict:
    return json.loads(page.one("id", "page-data").text)


def test_the_passage_is_unchanged(page: Page, passage: str) -> None:
    assert page.one("id", "passage").text == passage


def test_each_word_is_an_element(page: Page, parses: list[Parse]) -> None:
    words = page.having("data-words")
    forms = [form for parse in parses for form in parse.sentence.forms]
    assert [word.text for word in words] == forms
    assert [word.attributes["id"] for word in words] == [
        f"word-{number}" for number in range(1, len(forms) + 1)
    ]


def test_answers_and_candidates_are_marked(page: Page, answers: list[Answer]) -> None:
    for number, answer in enumerate(answers, start=1):
        marked = "".join(element.text for element in page.having("data-answers", str(number)))
        assert marked == answer.text
        for rank, span in enumerate(answer.candidates, start=1):
            places = page.having("data-spans", f"{number}-{rank}")
            assert "".join(element.text for element in places) == span.text


def test_the_first_answered_question_is_selected(page: Page) -> None:
    checked = [
        e.attributes["value"] for e in page.having("name", "question") if "checked" in e.attributes
    ]
    assert checked == ["2"]
    opened = {
        element.attributes["id"]: "open" in element.attributes
        for element in page.all
        if element.tag == "details" and "id" in element.attributes
    }
    assert opened == {"sentence-1": True, "sentence-2": False, "sentence-3": False}


def test_cards_show_the_outcome_the_numbers_and_candidates(
    page: Page, answers: list[Answer]
) -> None:
    cards = [element for element in page.all if element.attributes.get("class") == "card"]
    assert len(cards) == len(answers)
    none, answered, _, unsure = (card.text for card in cards)
    for text in ("When was it repaired?", "1931", "9.50", "0.75", "0.12", "−7.00", "0.88", "0.06"):
        assert text in answered
    assert "Unsure" not in answered
    for text in ("no answer in the text", "0.88", "3.25"):
        assert text in none
    assert "Gull Rock" in none, "candidates are shown although there is no answer"
    for text in ("Unsure: two spans are close.", "beam", "0.38"):
        assert text in unsure


def test_outcomes_are_told_apart_without_colour(page: Page) -> None:
    verdicts = [e for e in page.all if e.attributes.get("class", "").startswith("verdict")]
    assert [e.attributes["class"] for e in verdicts][:4] == [
        "verdict none", "verdict", "verdict", "verdict unsure"
    ]  # fmt: skip


def test_a_threshold_explains_itself(passage: str, answers: list[Answer]) -> None:
    """A probability could contradict what a threshold decided."""
    decided = replace(answers[0], mode=None, threshold=2.5)
    html = answer_page(
        title="", passage=passage, parses=[], answers=[decided], question_parses=[[]]
    )
    assert "3.25, exceeds the threshold, 2.50" in html
    nothing = replace(
        decided,
        candidates=(),
        threshold=math.inf,
        prediction=replace(decided.prediction, null_odds=math.inf),
    )
    html = answer_page(
        title="", passage=passage, parses=[], answers=[nothing], question_parses=[[]]
    )
    assert "No answer: no span could be an answer." in html
    assert "exceeds" not in html


def test_the_verifier_is_shown_if_there_is_one(passage: str, answers: list[Answer]) -> None:
    def text(answer: Answer) -> str:
        return answer_page(
            title="", passage=passage, parses=[], answers=[answer], question_parses=[[]]
        )

    assert "Verifier" not in text(answers[0])
    verified = replace(answers[0].prediction, verification=-1.75)
    assert "−1.75" in text(replace(answers[0], prediction=verified))


def test_rows_are_the_paths_to_the_root(page: Page, parses: list[Parse]) -> None:
    expected, first = [], 0
    for parse in parses:
        for word in range(1, len(parse) + 1):
            walk, at = [], word
            while at:
                walk.append(first + at)
                at = parse.heads[at - 1]
            expected.append(walk)
        first += len(parse)
    data = embedded(page)
    assert data["rows"] == expected
    assert [word[0] for word in data["words"]] == [f for p in parses for f in p.sentence.forms]
    assert data["attention"] is None
    assert [answer["sentences"] for answer in data["answers"]] == [[], [1], [2], [2]]
    third = [data["words"][word - 1][0] for word in data["answers"][2]["words"]]
    assert " ".join(third) == "its beam & bell"


def test_passage_and_questions_have_trees(
    html: str, parses: list[Parse], answers: list[Answer]
) -> None:
    pictures = re.findall(r'<svg class="syntagma-svg".*?</svg>', html, flags=re.DOTALL)
    assert len(pictures) == len(answers) + len(parses)
    numbers = []
    for picture in pictures:
        root = ElementTree.fromstring(picture)
        nodes = [group for group in root.iter("g") if group.get("class") == "node"]
        numbers += [int(node.get("data-word", "0")) for node in nodes if node.get("data-word")]
    assert numbers == list(range(1, 1 + sum(map(len, parses))))


def test_the_page_is_self_contained(page: Page, html: str) -> None:
    for element in page.all:
        assert not element.attributes.keys() & {"src", "href", "srcset", "action", "xlink:href"}
        assert not any(name.startswith("on") for name in element.attributes), element.attributes
        assert element.tag not in {"link", "iframe", "object", "embed", "img", "base"}
    style = "".join(element.text for element in page.all if element.tag == "style")
    assert "@import" not in style
    assert "url(" not in style
    assert not re.search(r"https?:|fetch\(|XMLHttpRequest|import\(", html)


def test_user_text_is_escaped(passage: str) -> None:
    evil = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> ]]> $title &lt;"
    parse = Parse(Sentence((evil,), (0,), (len(evil),)), (0,), (evil,), (evil,), (evil,))
    answer = answer_of(evil, [span_of(evil, evil)], null_odds=-1.0)
    page = Page(
        answer_page(
            title=evil,
            passage=evil,
            parses=[parse],
            answers=[answer],
            question_parses=[[parse]],
            attention=[[[[1.0]]]],
            attention_note=evil,
            note=evil,
        )
    )
    assert len([element for element in page.all if element.tag == "script"]) == 2
    assert not [element for element in page.all if element.tag == "img"]
    assert page.one("id", "passage").text == evil
    assert embedded(page)["words"] == [[evil] * 4]
    texts = [element.text for element in page.all]
    assert texts.count(evil) >= 8


@given(st.recursive(st.text() | st.integers(), st.lists))
def test_json_block_is_safe_and_lossless(value: object) -> None:
    block = json_block(value)
    assert json.loads(block) == value
    assert not set("<>&\u2028\u2029") & set(block)


@given(st.text(alphabet="ab \n\t&<é漢😀\u0301", max_size=40), st.data())
def test_marking_never_changes_the_text(passage: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(passage)), max_size=8)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    starts, ends = tuple(start for start, _ in pairs), tuple(end for _, end in pairs)
    forms = tuple(passage[start:end] for start, end in pairs)
    parse = Parse(Sentence(forms, starts, ends), tuple(range(len(pairs))))
    places = st.tuples(st.integers(0, len(passage)), st.integers(0, len(passage)))
    answers = []
    for a, b in data.draw(st.lists(places, max_size=4)):
        text = passage[min(a, b) : max(a, b)]
        span = Span(text, min(a, b), max(a, b), 1.0, 0.5)
        answers.append(answer_of("?", [span], null_odds=-1.0))
    page = Page(f"<p>{passage_html(passage, tokens_of(passage, [parse]), answers)}</p>")
    assert page.all[0].text == passage
    assert [element.text for element in page.having("data-words")] == list(forms)
    for number, answer in enumerate(answers, start=1):
        marked = "".join(element.text for element in page.having("data-answers", str(number)))
        assert marked == answer.text


def test_words_of_one_surface_token_share_an_element() -> None:
    text = "Au port"
    parse = Parse(Sentence(("à", "le", "port"), (0, 0, 3), (2, 2, 7)), (3, 3, 0))
    html = passage_html(text, tokens_of(text, [parse]), [])
    assert 'id="word-1" data-words="1 2">Au</span> ' in html
    assert 'id="word-3" data-words="3">port</span>' in html


def test_an_answer_inside_a_word_marks_only_its_part() -> None:
    text = "pre-war 😀 years"
    parse = Parse(Sentence(("pre-war", "😀", "years"), (0, 8, 10), (7, 9, 15)), (3, 3, 0))
    answer = answer_of("?", [span_of(text, "war 😀 y")], null_odds=-1.0)
    page = Page(passage_html(text, tokens_of(text, [parse]), [answer]))
    marked = [element.text for element in page.having("data-answers", "1")]
    assert marked == ["war", " ", "😀", " ", "y"]


def test_attention_is_stored_by_question_and_word(
    passage: str, parses: list[Parse], answers: list[Answer]
) -> None:
    weights = [
        [[[(q + 1) / (8 * len(row))] * len(row) for row in sdoi_rows(p.heads)] for p in parses]
        for q in range(len(answers))
    ]
    arguments = {
        "title": "t",
        "passage": passage,
        "parses": parses,
        "answers": answers,
        "question_parses": [[] for _ in answers],
    }
    html = answer_page(**arguments, attention=weights, attention_note="mean of 4 heads")
    page = Page(html)
    assert "mean of 4 heads" in html
    data = embedded(page)
    for question, flat in enumerate(data["attention"]):
        assert [len(row) for row in flat] == [len(row) for row in data["rows"]]
        assert sum(flat[0]) == pytest.approx((question + 1) / 8, abs=1e-3)
    with pytest.raises(ValueError, match=naming("4 3")):
        answer_page(**arguments, attention=weights[:3])
    with pytest.raises(ValueError, match=naming("[18, 11, 7] [18, 11]")):
        answer_page(**arguments, attention=[weights[0][:2]] * 4)
    first, *others = weights[0]
    short = [[[], *first[1:]], *others]
    with pytest.raises(ValueError, match=naming("3 word 1 0")):
        answer_page(**arguments, attention=[short] * 4)


def test_rows_are_only_defined_for_trees() -> None:
    assert sdoi_rows([2, 3, 0, 1]) == [(1, 2, 3), (2, 3), (3,), (4, 1, 2, 3)]
    assert sdoi_rows([]) == []
    for heads in ([2, 1], [1], [5, 0]):
        with pytest.raises(ValueError, match=naming(f"heads word 1 {heads}")):
            sdoi_rows(heads)


def test_mismatched_arguments_are_rejected(passage: str, parses: list[Parse]) -> None:
    arguments = {"title": "t", "passage": passage, "parses": parses}
    answer = answer_of("?", [span_of(passage, "1931")], null_odds=-1.0)
    with pytest.raises(ValueError, match=naming("parses 1 0")):
        answer_page(**arguments, answers=[answer], question_parses=[])
    moved = replace(answer, start=0, end=4)
    with pytest.raises(ValueError, match=naming("1931 0 4 The")):
        answer_page(**arguments, answers=[moved], question_parses=[[]])
    with pytest.raises(ValueError, match=naming("word 3 lighthouse 4 9 8 18")):
        answer_page(title="t", passage=passage[:9], parses=parses, answers=[], question_parses=[])
    with pytest.raises(ValueError, match=naming("word 12 The 131 159 0 3")):
        tokens_of(passage, [parses[1], parses[0]])


def test_page_without_questions_or_parses(passage: str, parses: list[Parse]) -> None:
    page = Page(
        answer_page(title="t", passage=passage, parses=parses, answers=[], question_parses=[])
    )
    assert page.one("id", "passage").text == passage
    assert not page.having("name", "question")
    nothing = Page(answer_page(title="", passage="", parses=[], answers=[], question_parses=[]))
    assert embedded(nothing) == {"words": [], "rows": [], "attention": None, "answers": []}


def test_the_first_question_is_selected_if_none_is_answered(answers: list[Answer]) -> None:
    assert default_question([answers[0], answers[0]]) == 1
    assert default_question(answers) == 2


def test_infinite_odds_are_shown(passage: str, answers: list[Answer]) -> None:
    infinite = replace(answers[1], prediction=replace(answers[1].prediction, null_odds=math.inf))
    html = answer_page(
        title="", passage=passage, parses=[], answers=[infinite], question_parses=[[]]
    )
    assert "∞" in html
