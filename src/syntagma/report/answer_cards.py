"""Render the list of questions and a card for each answer, shown next to the passage.

A card shows the outcome with its reason, the two probabilities behind it, and the candidates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from syntagma.drawing.svg import escape, number
from syntagma.report.outcome_text import NO_CANDIDATE, probability_text, shown_text
from syntagma.tasks.spans.answers import Answer, Span
from syntagma.tasks.spans.tidy import readable

# Sizes in pixels.
GAUGE_WIDTH = 240.0
BAR_WIDTH = 56.0


def default_question(answers: Sequence[Answer]) -> int:
    """Return the number of the question to show first: the first with an answer, or else 1."""
    outcomes = [answer.outcome for answer in answers]
    for outcome in ("answer", "unsure"):
        if outcome in outcomes:
            return outcomes.index(outcome) + 1
    return 1


def question_list(answers: Sequence[Answer]) -> str:
    """Render the questions as a group of radio buttons, each with its answer."""
    items = []
    default = default_question(answers)
    for index, answer in enumerate(answers, start=1):
        checked = " checked" if index == default else ""
        items.append(
            f'<label class="choice"><input type="radio" name="question" id="question-{index}" '
            f'value="{index}"{checked}><span><bdi class="question">{escape(answer.question)}</bdi>'
            f"{_verdict(answer)}</span></label>"
        )
    return "\n".join(items)


def selection_css(n_questions: int) -> str:
    """Return CSS rules that show only the parts of the selected question.

    The selector ``:has(:checked)`` makes the page work without a script.
    """
    numbers = range(1, n_questions + 1)

    def rule(targets: Iterable[str], style: str) -> str:
        return f"{', '.join(targets)} {{ {style} }}"

    def selected(index: int) -> str:
        return f":root:has(#question-{index}:checked)"

    if not n_questions:
        return ""
    marks = (f'{selected(i)} [data-answers~="{i}"]' for i in numbers)
    parts = (f'{selected(i)} [data-question="{i}"]' for i in numbers)
    # On paper all cards are shown: only screens hide those of other questions.
    return "\n".join(
        [
            rule(
                marks,
                "background-color: var(--answer); box-shadow: inset 0 -3px var(--answer-edge);",
            ),
            "@media screen { [data-question] { display: none; }",
            rule(parts, "display: block;") + " }",
        ]
    )


def answer_card(index: int, answers: Sequence[Answer]) -> str:
    """Render the card of one answer.

    Args:
        index: number of the question, from 1.
        answers: all answers of the page.
    """
    answer = answers[index - 1]
    scores = answer.prediction
    facts = [
        ("Confidence", probability_text(answer.confidence)),
        ("Probability of no answer", probability_text(answer.no_answer)),
        ("Score of no answer minus best span’s", _decimal(scores.null_odds)),
    ]
    if scores.verification:
        facts.append(("Verifier score of no answer", _decimal(scores.verification)))
    if answer.threshold is not None:
        facts.append(("Threshold", _decimal(answer.threshold)))
    if answer.start is not None:
        facts.append(("Characters", f"{answer.start}–{answer.end}"))
    rows = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)
    candidates = "".join(
        _candidate(index, rank, span, chosen=rank == 1 and answer.outcome == "answer")
        for rank, span in enumerate(answer.candidates, start=1)
    )
    table = (
        '<div class="scroll"><table><caption>Candidates</caption><thead><tr><th scope="col">#</th>'
        '<th scope="col">Span</th><th scope="col">Score</th><th scope="col">Share</th></tr>'
        f"</thead><tbody>{candidates}</tbody></table></div>"
    )
    return (
        f'<article class="card" data-question="{index}">'
        f'<h3><bdi>{escape(answer.question)}</bdi></h3><p class="outcome">{_verdict(answer)}</p>'
        f'<p class="reason">{escape(_reason(answer))}</p>{_gauge(answer)}<dl>{rows}</dl>'
        f"{table if candidates else ''}</article>"
    )


def _verdict(answer: Answer) -> str:
    """Render what is shown; a CSS symbol distinguishes the outcomes without colour."""
    mark = {"answer": "", "unsure": " unsure", "none": " none"}[answer.outcome]
    shown = shown_text(answer)
    text = shown if answer.outcome == "none" else f"<bdi>{escape(shown)}</bdi>"
    return f'<span class="verdict{mark}">{text}</span>'


def _reason(answer: Answer) -> str:
    """Explain the outcome in a sentence."""
    if answer.threshold is not None:
        if not answer.candidates:  # The difference is infinite, and so may the threshold be.
            return f"No answer: {NO_CANDIDATE}."
        excess, threshold = _decimal(answer.prediction.null_odds), _decimal(answer.threshold)
        compared = f"the score of no answer minus that of the best span, {excess},"
        if answer.outcome == "none":
            return f"No answer: {compared} exceeds the threshold, {threshold}."
        return f"Answer: {compared} does not exceed the threshold, {threshold}."
    note = "" if answer.calibrated else " The probabilities of this reader were never calibrated."
    sentence = {
        "answer": f"Answer, in the mode {answer.mode}.",
        "unsure": f"Unsure: {answer.reason}.",
        "none": f"No answer, in the mode {answer.mode}.",
    }[answer.outcome]
    return sentence + note


def _candidate(question: int, rank: int, span: Span, *, chosen: bool) -> str:
    """Render a row of the table of candidate spans."""
    width = number(BAR_WIDTH * span.probability)
    bar = (
        f'<svg class="bar" width="{number(BAR_WIDTH)}" height="8" aria-hidden="true">'
        f'<rect class="rail" width="100%" height="8"/><rect width="{width}" height="8"/></svg>'
    )
    mark = ' class="chosen"' if chosen else ""
    return (
        f"<tr{mark}><td>{rank}</td><td>"
        f'<bdi class="candidate" data-span="{question}-{rank}" '
        f'title="characters {span.start}–{span.end}">{escape(readable(span.text))}</bdi></td>'
        f"<td>{_decimal(span.score)}</td><td>{_decimal(span.probability)} {bar}</td></tr>"
    )


def _gauge(answer: Answer) -> str:
    """Draw the two probabilities as parts of one bar; the rest is that the span is wrong."""
    # The card already states the values, so the bar is hidden from screen readers.
    confidence = GAUGE_WIDTH * answer.confidence
    no_answer = GAUGE_WIDTH * answer.no_answer
    end = number(GAUGE_WIDTH)
    return (
        f'<svg class="gauge" viewBox="0 0 {end} 30" width="{end}" height="30" aria-hidden="true">'
        f'<text x="0" y="9">right</text><text x="{end}" y="9" text-anchor="end">no answer</text>'
        f'<rect class="rail" x="0" y="14" width="{end}" height="12"/>'
        f'<rect class="right" x="0" y="14" width="{number(confidence)}" height="12"/>'
        f'<rect class="absent" x="{number(GAUGE_WIDTH - no_answer)}" y="14" '
        f'width="{number(no_answer)}" height="12"/></svg>'
    )


def _decimal(value: float) -> str:
    """Format a number with two decimals and a typographic minus sign."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.2f}".replace("-", "−")
