"""One self-contained page: a reader's answers in their passage, and the syntax that guided it.

The page needs no network, and no script to be read: Python writes the text, the answers and the
trees, style rules show the selected question.  The script adds the SDOI row of a word (the word
and its syntactic ancestors, SG-Net §3.1), the keys, and links into the page (``#word-12``,
``#question-2/word-12``).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from string import Template

from syntagma.drawing.svg import escape
from syntagma.drawing.tree_svg import dependency_svg
from syntagma.report.answer_cards import (
    answer_card,
    default_question,
    question_list,
    selection_css,
)
from syntagma.report.page_data import RowWeights, json_block, page_data, sentences_of
from syntagma.report.passage_marks import passage_html, tokens_of
from syntagma.tasks.spans.answers import Answer
from syntagma.text.sentence import Parse

__all__ = ["answer_page"]


def answer_page(
    *,
    title: str,
    passage: str,
    parses: Sequence[Parse],
    answers: Sequence[Answer],
    question_parses: Sequence[Sequence[Parse]],
    attention: Sequence[RowWeights] | None = None,
    attention_note: str = "",
    note: str = "",
) -> str:
    """Write the page.

    Args:
        title: of the page.
        passage: the text that was read.
        parses: its sentences; their offsets count in ``passage``.
        answers: one a question; their offsets count in ``passage``.
        question_parses: the sentences of each question, ``[n_questions][n_sentences]``.
        attention: for each question the weights of the guided layer in the passage,
            ``[n_questions][n_sentences][n_words][row]``; the rows are those of
            ``page_data.sdoi_rows``: the word itself, its head, and so on up to the root.
        attention_note: what the weights are ("mean of 12 heads").
        note: a line at the end of the page: the model, the command.

    Returns:
        HTML.

    Raises:
        ValueError: parses, answers or weights that do not fit each other in number, offsets that
            do not fit the passage, or heads that are no tree.
    """
    if len(question_parses) != len(answers):
        raise ValueError(
            f"expected the parses of {len(answers)} questions, one an answer, got those of "
            f"{len(question_parses)}; give an empty list for a question without a parse"
        )
    tokens = tokens_of(passage, parses)
    data = page_data(parses, answers, attention)
    numbers = range(1, len(answers) + 1)
    script = _resource("answer_page.js")
    return Template(_resource("answer_page.html")).substitute(
        title=escape(title),
        summary=_summary(parses, answers),
        style=_resource("page.css") + _resource("answer_page.css") + selection_css(len(answers)),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=json_block(data),
        questions=question_list(answers),
        cards="\n".join(answer_card(number, answers) for number in numbers),
        passage=passage_html(passage, tokens, answers),
        attention_note=escape(attention_note) if attention else "",
        question_trees="\n".join(map(_question_trees, numbers, answers, question_parses)),
        passage_trees=_passage_trees(passage, parses, answers),
        note=escape(note),
    )


def _resource(name: str) -> str:
    """A file that ships beside this one."""
    return files("syntagma.report").joinpath(name).read_text("utf-8")


def _summary(parses: Sequence[Parse], answers: Sequence[Answer]) -> str:
    """What the page holds, in a line."""
    counts = [
        (len(answers), "question"),
        (len(parses), "sentence"),
        (sum(map(len, parses)), "word"),
    ]
    questions, *rest = (f"{count} {noun}" + "s" * (count != 1) for count, noun in counts)
    answered = sum(answer.answered for answer in answers)
    return ", ".join([f"{questions} ({answered} answered)", *rest])


def _question_trees(question: int, answer: Answer, parses: Sequence[Parse]) -> str:
    """The trees of one question, shown with it."""
    alone = len(parses) == 1
    trees = "".join(
        _tree(
            parse,
            name=f"Question {question}",
            text=answer.question if alone else " ".join(parse.sentence.forms),
            attributes=" open",
        )
        for parse in parses
    )
    return f'<div data-question="{question}">{trees}</div>'


def _passage_trees(passage: str, parses: Sequence[Parse], answers: Sequence[Answer]) -> str:
    """The tree of each sentence of the passage, open where the first answer shown is."""
    shown = answers[default_question(answers) - 1] if answers else None
    opened = sentences_of(shown, parses) if shown else []
    trees, first_word = [], 1
    for number, parse in enumerate(parses, start=1):
        sentence = parse.sentence
        trees.append(
            _tree(
                parse,
                name=f"Sentence {number}",
                text=" ".join(passage[sentence.start : sentence.end].split()),
                attributes=f' id="sentence-{number}"' + " open" * (number in opened),
                first_word=first_word,
            )
        )
        first_word += len(parse)
    return "\n".join(trees)


def _tree(
    parse: Parse, *, name: str, text: str, attributes: str, first_word: int | None = None
) -> str:
    """A tree under a line that folds it away; a wide one scrolls by itself."""
    picture = dependency_svg(
        parse, title=f"{name}: {text}", standalone=False, first_word=first_word
    )
    label = f"{name}, dependency tree"
    return (
        f'<details class="sentence"{attributes}><summary><span class="number">{name}</span> '
        f"<bdi>{escape(text)}</bdi></summary>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">{picture}</div>'
        "</details>"
    )
