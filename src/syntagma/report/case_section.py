"""Build the section of a report that shows cases, and pages that show only cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path

import syntagma
from syntagma.analysis.attention.matrices import attention_matrices
from syntagma.analysis.attention.observation import (
    Observation,
    Predictor,
    observe_reading,
    open_predictor,
    reads_pairs,
    sentences_of,
)
from syntagma.analysis.attention.word_scores import turn_scores
from syntagma.analysis.cases import GAINED, LOST, Case, find_cases
from syntagma.analysis.systems import System
from syntagma.drawing.svg import escape
from syntagma.drawing.turns_svg import TurnScores
from syntagma.encoders.default import DEFAULT_PARSER, WEIGHTS
from syntagma.errors import InputError
from syntagma.outputs import write_text
from syntagma.parse.parser import JointParser
from syntagma.parse.sources.load import load_parser
from syntagma.report.case_cards import CasePictures, case_card
from syntagma.report.report_page import Section, report_page
from syntagma.report.report_sections import SectionResult
from syntagma.tasks import find_task
from syntagma.tasks.layout import TextPair
from syntagma.text.sentence import Parse, Sentence

DRAWN = 3
"""Maximum number of systems whose attention is drawn."""
WIDEST = 45
"""Maximum number of words of a sentence whose attention is drawn."""


def write_cases(
    cases: Sequence[Case], out: Path, *, title: str, baseline: str, parser: str
) -> None:
    """Write a page of cases: the question, all answers, and the trees of each.

    Args:
        cases: cases of one task.
        out: path of the page.
        title: title of the page.
        baseline: name of the system that the others are compared with.
        parser: the parser of the trees, see :func:`syntagma.parse.sources.load.load_parser`.
    """
    notices: list[str] = []
    painter = _Painter({}, notices, parser)
    cards = [
        case_card(number, case, painter.pictures(case, attention=False), baseline=baseline)
        for number, case in enumerate(cases, start=1)
    ]
    page = report_page(
        title=title,
        summary=f"{len(cards)} cases",
        sections=[Section("Cases", "".join(cards))],
        notices=notices,
        note=f"Written by Syntagma {syntagma.__version__}.",
    )
    write_text(out, page)


def cases_section(
    systems: Sequence[System], n_cases: int, n_pictures: int, *, device: str
) -> SectionResult:
    """Sample cases and show them with their figures.

    Args:
        systems: the systems, the baseline first.
        n_cases: number of cases.
        n_pictures: number of these to show with attention; with 0, no model is loaded for them.
        device: device to run the models on.
    """
    if not n_cases:
        return SectionResult(Section("Cases", ""), [], [])
    try:
        found = find_cases(systems, most=n_cases)
    except InputError as error:
        return SectionResult(Section("Cases", ""), [], [f"cases: {error}"])
    if not found.cases:
        several = len(systems) > 1
        same = "the systems do not differ on any example" if several else "all examples are right"
        return SectionResult(Section("Cases", ""), [], [f"cases: {same}"])
    notices: list[str] = []
    observable = reads_pairs(find_task(systems[0].runs[0].task))
    predictors = _open(systems, device, notices) if n_pictures and observable else {}
    painter = _Painter(predictors, notices)
    baseline = systems[0].name
    cards = [
        case_card(
            number, case, painter.pictures(case, attention=number <= n_pictures), baseline=baseline
        )
        for number, case in enumerate(_mixed(found.cases), start=1)
    ]
    counts = "; ".join(
        _count_shown(kind, system, n, baseline) for (kind, system), n in found.counts.items()
    )
    hint = f'<p class="hint">{escape(counts)}. '
    hint += f"The {len(cards)} cases below are a random sample (seed 0)."
    if len(systems[0].runs) > 1:
        seeds = ", ".join(dict.fromkeys(str(system.runs[0].seed) for system in systems))
        hint += " Scores are means over seeds; the answers of all seeds are shown"
        hint += f"; attention is that of the model with seed {seeds}." if predictors else "."
    if predictors:
        hint += (
            " Attention maps show the mean over all heads. The attention to a word is the sum over "
            "its tokens, the attention from a word the mean over its tokens; “elsewhere” stands "
            "for special tokens and for words that are not shown."
        )
    body = hint + "</p>" + "".join(cards)
    return SectionResult(Section("Cases", body), [asdict(case) for case in found.cases], notices)


def _count_shown(kind: str, system: str, count: int, baseline: str) -> str:
    if kind in (GAINED, LOST):
        change = "better" if kind == GAINED else "worse"
        return f"{system} is {change} than {baseline} on {count:,}"
    return f"{system} is not fully right on {count:,}"


def _mixed(cases: Sequence[Case]) -> list[Case]:
    """Alternate between the kinds, because only the first cases are shown with attention."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        groups.setdefault((case.kind, case.system), []).append(case)
    longest = max(map(len, groups.values()), default=0)
    return [group[n] for n in range(longest) for group in groups.values() if n < len(group)]


def _open(systems: Sequence[System], device: str, notices: list[str]) -> dict[str, Predictor]:
    """Open the model of the first run of each system, if it still exists."""
    found: dict[str, Predictor] = {}
    for system in systems[:DRAWN]:
        folder = system.runs[0].path
        # The section on models already has a notice about models that were removed.
        if (folder / WEIGHTS).is_file():
            try:
                found[system.name] = open_predictor(folder, device=device)
            except InputError as error:
                notices.append(f"pictures of {system.name}: {error}")
    return found


class _Painter:
    """Draws the figures of cases.

    Args:
        predictors: the model of each system.
        notices: list to append to if something cannot be drawn.
        parser: the parser to use if no model reads syntax.
    """

    def __init__(
        self,
        predictors: dict[str, Predictor],
        notices: list[str],
        parser: str = DEFAULT_PARSER,
    ) -> None:
        self.predictors = predictors
        self.notices = notices
        self.parses = cache(self._parses)
        self.parser = cache(lambda: load_parser(parser).with_phrases())

    def pictures(self, case: Case, *, attention: bool) -> CasePictures:
        """Collect trees, and attention if requested."""
        example = case.example
        # What is asked about a passage is parsed only if the task names it: it may not be a text.
        name = example.asked_name or ("" if example.passage else "text")
        try:
            passage = _best(self.parses(example.passage), case) if example.passage.strip() else None
            asked = self.parses(example.asked) if name and example.asked.strip() else ()
        except InputError as error:
            self.notices.append(f"trees of cases: {error}")
            return CasePictures()
        first = example.passage_name
        trees = [(f"sentence of the {first}", passage)] if passage else []
        trees += [(name, parse) for parse in asked]
        pictures = CasePictures(passage.sentence if passage else None, tuple(trees))
        if not attention or not self.predictors:
            return pictures
        return self._with_attention(case, pictures, [parse.sentence for parse in asked], name)

    def _parses(self, text: str) -> tuple[Parse, ...]:
        """Parse a text with the parser of the first model that reads syntax, or with our own."""
        for predictor in self.predictors.values():
            if (found := predictor.texts.cache) is not None:
                # Parse again instead of reading the cache, since cached parses have no phrases.
                parser = found.source
                parser = parser.with_phrases() if isinstance(parser, JointParser) else parser
                return tuple(next(iter(parser.parse_texts([text]))))
        return tuple(self.parser().parse_text(text))

    def _with_attention(
        self, case: Case, pictures: CasePictures, asked: Sequence[Sentence], name: str
    ) -> CasePictures:
        example, sentence = case.example, pictures.sentence
        place = (sentence.start, sentence.end) if sentence else None
        right = example.options.index(example.gold[0]) if example.options and example.gold else 0
        texts = TextPair(example.passage, example.asked, example.options, right, place)
        try:
            seen = [
                observe_reading(system, model, texts) for system, model in self.predictors.items()
            ]
        except InputError as error:
            self.notices.append(f"pictures of case {case.key}: {error}")
            return pictures
        shown = [(name, [(example.asked, each) for each in asked])]
        if sentence is not None and len(sentence) <= WIDEST:
            shown.append(("sentence", [(example.passage, sentence)]))
        maps = tuple((title, tuple(attention_matrices(seen, words))) for title, words in shown)
        turns = tuple(
            text for each in seen if each.observed.turns is not None for text in self._turns(each)
        )
        return CasePictures(sentence, pictures.trees, maps, turns)

    def _turns(self, seen: Observation) -> list[TurnScores]:
        models = list(self.predictors.values())
        sentences = [sentences_of(models, each.text) for each in seen.layout.stretches]
        return turn_scores(seen, sentences)


def _best(parses: Sequence[Parse], case: Case) -> Parse | None:
    """Choose the sentence of a passage to show.

    It is the sentence with the gold answer, or else with the answer of a system, or else the one
    that shares most words of more than three letters with the question and the gold answer.
    """
    example = case.example
    starts = [start for start, _ in example.places]
    answers = (answer for found in case.answers.values() for answer in found)
    starts += (example.passage.find(answer) for answer in answers if answer.strip())
    for start in starts:
        for parse in parses:
            if parse.sentence.start <= start < parse.sentence.end:
                return parse
    wanted = {word.lower() for text in (example.asked, *example.gold) for word in text.split()}

    def n_shared(parse: Parse) -> int:
        return len({form.lower() for form in parse.sentence.forms if len(form) > 3} & wanted)

    return max(parses, key=n_shared, default=None)
