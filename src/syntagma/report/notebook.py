"""Answers in notebooks: the answer, how sure the reader is, and its sentence.

There is no style sheet: the elements look as those of the notebook, and notebooks drop the style
sheets of outputs that they do not trust.
"""

from __future__ import annotations

from typing import Any

from syntagma.drawing.svg import escape
from syntagma.drawing.tables import html_table
from syntagma.report.document_answers import place_text
from syntagma.report.outcome_text import numbers_text, probability_text, shown_text
from syntagma.tasks.open_qa.documents import DocumentAnswer
from syntagma.tasks.spans.answers import BaseAnswer, Span
from syntagma.tasks.spans.tidy import readable

SHOWN = 5
"""Number of candidates in the table."""

SYMBOLS = {"answer": "→", "unsure": "?", "none": "—"}
"""What is before an answer, for each outcome."""


def answer_html(answer: BaseAnswer[Any, Any]) -> str:
    """Render an answer.

    Args:
        answer: what a reader found, in one text, several paragraphs or documents.
    """
    numbers = numbers_text(answer)
    if answer.outcome == "unsure":
        numbers = f"unsure: {answer.reason}; {numbers}"
    lines = [
        f"<p><bdi>{escape(answer.question)}</bdi></p>",
        f"<p>{SYMBOLS[answer.outcome]} <b><bdi>{escape(shown_text(answer))}</bdi></b> "
        f"({escape(numbers)})</p>",
        _sentence(answer),
        _place(answer),
        _candidates(answer.candidates[:SHOWN]),
    ]
    return f'<div class="syntagma-answer">{"".join(lines)}</div>'


def _sentence(answer: BaseAnswer[Any, Any]) -> str:
    """Render the sentence with the best candidate, and mark the answer in it."""
    sentence, best = answer.sentence, answer.best
    if sentence is None or best is None:
        return ""
    parts = answer.spans or (best,)
    html, position = "", 0
    for span in sorted(parts, key=lambda span: span.start):
        start, end = span.start - sentence.start, span.end - sentence.start
        if position <= start < end <= len(sentence.text):
            before, inside = sentence.text[position:start], sentence.text[start:end]
            html += f"{escape(before)}<mark>{escape(inside)}</mark>"
            position = end
    html += escape(sentence.text[position:])
    return f"<blockquote><bdi>{html}</bdi></blockquote>"


def _place(answer: BaseAnswer[Any, Any]) -> str:
    """Name the document, page and headings of an answer from documents."""
    if not isinstance(answer, DocumentAnswer) or answer.passage is None:
        return ""
    found = answer.passage
    return f"<p><bdi>{escape(place_text(found.source, found.page, found.heading))}</bdi></p>"


def _candidates(candidates: tuple[Span, ...]) -> str:
    """Render the best candidates in a table that opens."""
    if not candidates:
        return ""
    rows = [["#", "candidate", "score", "share", "characters"]]
    for number, span in enumerate(candidates, start=1):
        rows.append([
            str(number), readable(span.text), f"{span.score:.2f}",
            probability_text(span.probability), f"{span.start}–{span.end}",
        ])  # fmt: skip
    return f"<details><summary>Candidates</summary>{html_table(rows)}</details>"
