"""The page of answers from documents: marks, links, and nothing of a document becomes HTML."""

from __future__ import annotations

import math
import os
from html.parser import HTMLParser

from syntagma.report.document_answers import place_text
from syntagma.report.document_page import document_page
from syntagma.retrieval.retriever import Passage
from syntagma.tasks.open_qa.answers import Candidate, OpenPrediction
from syntagma.tasks.open_qa.documents import DocumentAnswer, ReadPassage
from syntagma.tasks.spans.answers import Outcome

HOSTILE = '<script>alert(1)</script> & the "ferry" left at noon.'
PASSAGES = (
    Passage(
        "0", HOSTILE, "/docs/a b/report <1>.pdf", 100, 100 + len(HOSTILE), "Boats › Ferries", 3
    ),
    Passage("1", "The ferry left at six.", "notes.txt", 0, 22),
)


def answer(outcome: Outcome, *spans: tuple[int, str]) -> DocumentAnswer:
    """An answer whose spans are the given texts of the given passages."""
    found = []
    for paragraph, text in spans:
        passage = PASSAGES[paragraph]
        start = passage.start + passage.text.index(text)
        found.append(
            Candidate(text, start, start + len(text), 1.0, 0.5, paragraph, str(paragraph), 1)
        )
    shown = found[:1] if outcome != "none" else []
    return DocumentAnswer(
        question="When <did> it leave?",
        outcome=outcome,
        text=shown[0].text if shown else "",
        start=shown[0].start if shown else None,
        end=shown[0].end if shown else None,
        confidence=0.5,
        no_answer=0.25,
        reason="another span is nearly as likely: six" if outcome == "unsure" else "",
        spans=tuple(shown),
        candidates=tuple(found),
        sentence=None,
        calibrated=True,
        mode="balanced",
        threshold=None,
        prediction=OpenPrediction.of("When?", found, 0.25),
        passages=tuple(ReadPassage(each, 1.0) for each in PASSAGES),
    )


class Reading(HTMLParser):
    """What a reader sees: tags with their attributes, and the text inside marks."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.marked: list[str] = []
        self.text = ""
        self._in_mark = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in_mark = self._in_mark or tag == "mark"

    def handle_endtag(self, tag: str) -> None:
        self._in_mark = self._in_mark and tag != "mark"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_mark:
            self.marked.append(data)


def test_the_answer_and_other_candidates_are_marked_in_their_passages():
    page = Reading(document_page(title="T", answers=[answer("answer", (0, "noon"), (1, "six"))]))
    assert page.marked == ["noon", "six"]
    kinds = [attributes["class"] for tag, attributes in page.tags if tag == "mark"]
    assert kinds == ["answer", "candidate"]
    for passage in PASSAGES:
        assert passage.text in page.text


def test_documents_and_questions_are_text_only():
    page = Reading(document_page(title="<T>", answers=[answer("unsure", (0, '"ferry"'))]))
    assert not {"script", "img"} & {tag for tag, _ in page.tags}
    assert "When <did> it leave?" in page.text
    assert "Unsure: another span is nearly as likely: six." in page.text


def test_links_open_the_file_at_its_page():
    page = Reading(document_page(title="T", answers=[answer("answer", (0, "noon"))]))
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    # A path that is not absolute leads nowhere from the page.
    assert links == ["file:///docs/a%20b/report%20%3C1%3E.pdf#page=3"]
    assert "page 3, Boats › Ferries" in page.text


def test_without_an_answer_all_passages_are_listed():
    page = Reading(document_page(title="T", answers=[answer("none")]))
    assert "1 question, 1 without an answer" in page.text
    assert "Passages that were read (2)" in page.text
    assert not page.marked
    assert math.isinf(answer("none").prediction.score)


def test_places_are_named_from_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inside, outside = str(tmp_path / "a" / "b.pdf"), "/elsewhere/b.pdf"
    assert place_text(inside, 2, "Fees") == "a/b.pdf, page 2, Fees"
    assert place_text(outside, None, "") == outside
    assert place_text("b.pdf", None, "Fees") == "b.pdf, Fees"


def test_a_place_on_another_drive_is_shown_whole(monkeypatch):
    def no_common_path(_: object) -> str:
        raise ValueError("Paths don't have the same drive")

    monkeypatch.setattr(os.path, "commonpath", no_common_path)
    assert place_text("/other/a.txt", 3, "") == "/other/a.txt, page 3"
