"""Render the list of questions and a card for each answer, shown next to the passage.

A card shows why the reader answered or abstained: the scores, the odds compared with the threshold,
and the candidate spans.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from syntagma.drawing.svg import escape, number
from syntagma.tasks.spans.answers import Answer, Span

NO_ANSWER = "no answer in the passage"
# Sizes in pixels.
GAUGE_WIDTH = 240.0
GAUGE_MARGIN = 14.0
BAR_WIDTH = 56.0


def default_question(answers: Sequence[Answer]) -> int:
    """Return the number of the question to show first: the first answered one, or else 1."""
    answered = (number for number, answer in enumerate(answers, start=1) if answer.answered)
    return next(answered, 1)


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
        answers: all answers of the page; their gauges share one scale.
    """
    answer = answers[index - 1]
    facts = [
        ("Score of the best span", _decimal(answer.score)),
        ("Score of no answer", _decimal(answer.null_score)),
        ("Odds of no answer", _decimal(answer.null_odds)),
        ("Threshold", _decimal(answer.threshold)),
        ("Probability of this outcome", _decimal(answer.probability)),
    ]
    if answer.verification:
        facts.insert(2, ("Verifier score of no answer", _decimal(answer.verification)))
    if answer.answered:
        facts.append(("Characters", f"{answer.start}–{answer.end}"))
    rows = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)
    candidates = "".join(
        _candidate(index, rank, span, rank == 1 and answer.answered)
        for rank, span in enumerate(answer.spans, start=1)
    )
    table = (
        '<div class="scroll"><table><caption>Best spans</caption><thead><tr><th scope="col">#</th>'
        '<th scope="col">Span</th><th scope="col">Score</th><th scope="col">Probability</th></tr>'
        f"</thead><tbody>{candidates}</tbody></table></div>"
    )
    return (
        f'<article class="card" data-question="{index}">'
        f'<h3><bdi>{escape(answer.question)}</bdi></h3><p class="outcome">{_verdict(answer)}</p>'
        f'<p class="reason">{_reason(answer)}</p>{_gauge(answer, answers)}<dl>{rows}</dl>'
        f"{table if candidates else ''}</article>"
    )


def _verdict(answer: Answer) -> str:
    """Render the answer, or that there is none; a CSS symbol distinguishes them without colour."""
    if answer.answered:
        return f'<span class="verdict"><bdi>{escape(answer.text)}</bdi></span>'
    return f'<span class="verdict none">{NO_ANSWER}</span>'


def _reason(answer: Answer) -> str:
    """Explain in a sentence why the reader answered or abstained."""
    odds, threshold = _decimal(answer.null_odds), _decimal(answer.threshold)
    if answer.answered:
        return f"Answers: the odds of no answer, {odds}, do not exceed the threshold, {threshold}."
    return f"Abstains: the odds of no answer, {odds}, exceed the threshold, {threshold}."


def _candidate(question: int, rank: int, span: Span, chosen: bool) -> str:
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
        f'title="characters {span.start}–{span.end}">{escape(span.text)}</bdi></td>'
        f"<td>{_decimal(span.score)}</td><td>{_decimal(span.probability)} {bar}</td></tr>"
    )


def _gauge(answer: Answer, answers: Sequence[Answer]) -> str:
    """Draw the odds and the threshold on a scale: answers left of the threshold, abstains right."""
    # The card already states the values, so the gauge is hidden from screen readers.
    values = [value for other in answers for value in (other.null_odds, other.threshold)]
    if not all(map(math.isfinite, values)):
        return ""
    least, most = min(values), max(values)
    scale = (GAUGE_WIDTH - 2 * GAUGE_MARGIN) / ((most - least) or 1.0)

    def place(value: float) -> str:
        return number(GAUGE_MARGIN + (value - least) * scale)

    odds, threshold, end = place(answer.null_odds), place(answer.threshold), number(GAUGE_WIDTH)
    if answer.answered:
        point = f'<circle class="point" cx="{odds}" cy="22" r="6"/>'
    else:
        point = f'<path class="point hollow" d="M{odds} 14l8 8l-8 8l-8-8z"/>'
    return (
        f'<svg class="gauge" viewBox="0 0 {end} 36" width="{end}" height="36" aria-hidden="true">'
        f'<text x="0" y="9">← answers</text><text x="{end}" y="9" text-anchor="end">abstains →'
        f'</text><path class="rail" d="M0 22H{end}"/><path class="beyond" d="M{threshold} 22H{end}"'
        f'/><path class="threshold" d="M{threshold} 12V32"/>{point}</svg>'
    )


def _decimal(value: float) -> str:
    """Format a number with two decimals and a typographic minus sign."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.2f}".replace("-", "−")
