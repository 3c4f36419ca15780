"""Render one case of a report: question, gold answer, all predictions, and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from syntagma.analysis.cases import GAINED, LOST, Case
from syntagma.drawing.attention_svg import AttentionMatrix, attention_svg
from syntagma.drawing.phrase_svg import phrase_svg
from syntagma.drawing.svg import escape
from syntagma.drawing.tree_svg import dependency_svg
from syntagma.drawing.turns_svg import TurnScores, turns_svg
from syntagma.report.report_page import details
from syntagma.text.sentence import Parse, Sentence


@dataclass(frozen=True, slots=True)
class CasePictures:
    """The figures of a case.

    Args:
        sentence: the sentence of the passage to show.
        trees: trees with a name of what each shows ("question").
        attention: attention maps of each system, with a name of the text whose words they show.
        turns: co-attention scores of each text.
    """

    sentence: Sentence | None = None
    trees: tuple[tuple[str, Parse], ...] = ()
    attention: tuple[tuple[str, tuple[AttentionMatrix, ...]], ...] = ()
    turns: tuple[TurnScores, ...] = ()


def case_card(number: int, case: Case, pictures: CasePictures, *, baseline: str) -> str:
    """Render the card of a case.

    Args:
        number: number of the case, from 1.
        case: the case.
        pictures: its figures.
        baseline: name of the system that the others are compared with.
    """
    example = case.example
    kinds = {
        GAINED: f"{case.system} scores higher than {baseline}",
        LOST: f"{baseline} scores higher than {case.system}",
    }
    options = f" — {' | '.join(example.options)}" if example.options else ""
    return (
        f'<article class="case" id="case-{number}">'
        f'<p class="kind">{escape(kinds.get(case.kind, "wrong"))} · {escape(case.key)}</p>'
        f"<h3><bdi>{escape(example.asked + options)}</bdi></h3>"
        f"{_answers(case)}{_excerpt(case, pictures.sentence)}{_figures(pictures)}</article>"
    )


def _answers(case: Case) -> str:
    """Render the gold answer and the predictions; symbols mark right and wrong without colour."""
    nothing = case.example.nothing
    gold = " / ".join(_shown(answer, nothing) for answer in case.example.gold)
    rows = [f'<tr><th scope="row">gold</th><td>{gold}</td><td></td></tr>']
    signs = {0.0: ' class="false"', 1.0: ' class="right"'}
    # Scores in between have no symbol, and then none of the card has one.
    signs = signs if set(case.scores.values()) <= signs.keys() else {}
    for system, answers in case.answers.items():
        score = case.scores[system]
        rows.append(
            f'<tr><th scope="row">{escape(system)}</th><td>{_all_shown(answers, nothing)}</td>'
            f"<td><span{signs.get(score, '')}>{score:.2f}</span></td></tr>"
        )
    return f'<div class="scroll words"><table><tbody>{"".join(rows)}</tbody></table></div>'


def _all_shown(answers: Sequence[str], nothing: str) -> str:
    """Render the answers of all seeds; equal answers appear once, with a count."""
    counts = Counter(" ".join(answer.split()) for answer in answers)
    if len(counts) == 1:
        return _shown(answers[0], nothing)
    return " / ".join(
        _shown(answer, nothing) + (f" (× {count})" if count > 1 else "")
        for answer, count in counts.most_common()
    )


def _shown(answer: str, nothing: str) -> str:
    """Render one answer; ``nothing`` stands for an empty one."""
    if not answer.strip():
        return f'<span class="none">{nothing}</span>'
    return f"<bdi>{escape(' '.join(answer.split()))}</bdi>"


def _excerpt(case: Case, sentence: Sentence | None) -> str:
    """Render a sentence of the passage, with the spans of the case marked."""
    passage = case.example.passage
    if not passage:
        return ""
    start, end = (sentence.start, sentence.end) if sentence else (0, min(len(passage), 300))
    text, done = "", start
    for begin, stop in sorted(case.example.places):
        # Spans may be nested or overlap: mark only the first.
        if done <= begin < stop <= end:
            text += f"{escape(passage[done:begin])}<mark>{escape(passage[begin:stop])}</mark>"
            done = stop
    text += escape(passage[done:end])
    dots = ("… " if start else "", " …" if end < len(passage) else "")
    return f'<p class="excerpt"><bdi>{dots[0]}{text}{dots[1]}</bdi></p>'


def _figures(pictures: CasePictures) -> str:
    """Render the figures of a case, each collapsible; only the first tree is open."""
    parts = []
    for number, (name, parse) in enumerate(pictures.trees):
        tree = dependency_svg(parse, standalone=False)
        if parse.constituents:
            tree += phrase_svg(parse, standalone=False)
        parts.append(
            details(f"Tree: {name}", _scroll(tree, f"Tree of the {name}"), open_=not number)
        )
    for name, matrices in pictures.attention:
        title = f"Attention: words of the {name}"
        picture = attention_svg(matrices, title=title, standalone=False)
        parts.append(details(title, _scroll(picture, title), open_=True))
    if pictures.turns:
        title = "Co-attention, turn by turn"
        picture = turns_svg(pictures.turns, title=title, standalone=False)
        parts.append(details(title, _scroll(picture, title), open_=True))
    return "".join(parts)


def _scroll(picture: str, label: str) -> str:
    """Put a figure into a scrollable box."""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">{picture}'
        "</div>"
    )
