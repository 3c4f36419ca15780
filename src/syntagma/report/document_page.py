"""Write a page with answers from documents, each in its passage, with the other passages below.

The page needs no network and no script: what is long is folded in ``details`` elements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from syntagma.drawing.svg import escape
from syntagma.report.outcome_text import numbers_text, shown_text
from syntagma.report.page import render_page, resource
from syntagma.retrieval.retriever import Passage
from syntagma.tasks.open_qa.documents import DocumentAnswer


def document_page(*, title: str, answers: Sequence[DocumentAnswer]) -> str:
    """Render the page.

    Args:
        title: title of the page.
        answers: the answers.
    """
    outcomes = Counter(str(answer.outcome) for answer in answers)
    counts = [f"{len(answers)} question" + "s" * (len(answers) != 1)]
    named = {"answer": "answered", "unsure": "unsure", "none": "without an answer"}
    counts += [f"{outcomes[key]} {name}" for key, name in named.items() if outcomes[key]]
    sections = "\n".join(map(_section, range(1, len(answers) + 1), answers))
    return render_page(
        f"<main>\n{sections}\n</main>",
        title=title,
        summary=", ".join(counts),
        note="Links open the documents where they were indexed.",
        style=resource("document_page.css"),
        policy="",
    )


def _section(number: int, answer: DocumentAnswer) -> str:
    """Render a question: the outcome, the passage with the answer, and the others."""
    shown = escape(shown_text(answer))
    mark = {"answer": "", "unsure": " unsure", "none": " none"}[answer.outcome]
    reason = f'<p class="reason">Unsure: {escape(answer.reason)}.</p>' if answer.reason else ""
    parts = [
        f'<section class="card" aria-labelledby="question-{number}">',
        f'<h2 id="question-{number}"><bdi>{escape(answer.question)}</bdi></h2>',
        f'<p class="outcome"><span class="verdict{mark}"><bdi>{shown}</bdi></span></p>',
        reason,
        f'<p class="numbers">{escape(numbers_text(answer))}</p>',
    ]
    chosen = answer.paragraph
    if chosen is not None:
        parts.append(_passage(answer.passages[chosen].passage, _marks(answer, chosen)))
    others = [
        f"<li>{_passage(read.passage, _marks(answer, index))}</li>"
        for index, read in enumerate(answer.passages)
        if index != chosen
    ]
    if others:
        label = "Other passages that were read" if chosen is not None else "Passages that were read"
        parts.append(
            f"<details><summary>{label} ({len(others)})</summary><ol>{''.join(others)}</ol>"
            "</details>"
        )
    return "\n".join(filter(None, [*parts, "</section>"]))


def _marks(answer: DocumentAnswer, index: int) -> list[tuple[int, int, str]]:
    """Return the places in a passage that are marked: the answer, or the best other candidate."""
    if answer.paragraph == index:
        return [(span.start, span.end, "answer") for span in answer.spans]
    return [
        (candidate.start, candidate.end, "candidate")
        for candidate in answer.candidates
        if candidate.paragraph == index
    ]


def _passage(passage: Passage, marks: Sequence[tuple[int, int, str]]) -> str:
    """Render a passage under the name of its place, with some spans marked."""
    html = []
    position = passage.start
    for start, end, kind in sorted(marks):
        if start < position or end > passage.end:
            continue
        html.append(escape(_part(passage, position, start)))
        html.append(f'<mark class="{kind}">{escape(_part(passage, start, end))}</mark>')
        position = end
    html.append(escape(_part(passage, position, passage.end)))
    return (
        f"<figure><figcaption>{_link(passage)}</figcaption>"
        f"<blockquote><bdi>{''.join(html)}</bdi></blockquote></figure>"
    )


def _part(passage: Passage, start: int, end: int) -> str:
    return passage.text[start - passage.start : end - passage.start]


def _link(passage: Passage) -> str:
    """Render a link that opens the document, at the page if it has pages."""
    path = Path(passage.source)
    name = escape(path.name)
    where = ", ".join(
        filter(None, (f"page {passage.page}" if passage.page else "", passage.heading))
    )
    if path.is_absolute():
        target = path.as_uri()
        target += f"#page={passage.page}" if passage.page else ""
        name = f'<a href="{escape(target)}">{name}</a>'
    return f"{name}, {escape(where)}" if where else name
