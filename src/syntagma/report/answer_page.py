"""Write a self-contained page with a reader's answers in their passage and the syntax behind them.

The page needs no network and is readable without its script: Python renders the text, the answers
and the trees, and CSS rules show the selected question.  The script adds the SDOI row of a word
(the word and its syntactic ancestors, SG-Net §3.1), keyboard navigation, and links into the page
(``#word-12``, ``#question-2/word-12``).
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Sequence
from string import Template

from syntagma.drawing.svg import escape
from syntagma.drawing.tree_svg import dependency_svg
from syntagma.report.answer_cards import (
    answer_card,
    default_question,
    question_list,
    selection_css,
)
from syntagma.report.page import render_page, resource
from syntagma.report.page_data import RowWeights, json_block, page_data, sentences_of
from syntagma.report.passage_marks import passage_html, tokens_of
from syntagma.tasks.spans.answers import Answer
from syntagma.text.sentence import Parse


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
    """Render the page.

    Args:
        title: title of the page.
        passage: the text that was read.
        parses: the parses of its sentences; offsets index into ``passage``.
        answers: the answer to each question; offsets index into ``passage``.
        question_parses: the parses of each question, ``[n_questions][n_sentences]``.
        attention: attention weights of the guided layer over the SDOI row of each word, for each
            question, ``[n_questions][n_sentences][n_words][n_row]``; rows are ordered as in
            ``page_data.sdoi_rows``: the word itself, its head, and so on up to the root.
        attention_note: description of the weights ("mean of 12 heads").
        note: a line at the end of the page, such as the model or the command.

    Returns:
        The page as HTML.

    Raises:
        ValueError: the numbers of parses, answers or weights do not match, offsets do not fit the
            passage, or the heads are not a tree.
    """
    if len(question_parses) != len(answers):
        raise ValueError(
            f"expected the parses of {len(answers)} questions, one list per answer, got "
            f"{len(question_parses)}; give an empty list for a question without a parse"
        )
    tokens = tokens_of(passage, parses)
    data = page_data(parses, answers, attention)
    numbers = range(1, len(answers) + 1)
    script = resource("answer_page.js")
    # The policy of the page allows only the script with this hash.
    script_hash = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    content = Template(resource("answer_page.html")).substitute(
        questions=question_list(answers),
        cards="\n".join(answer_card(number, answers) for number in numbers),
        passage=passage_html(passage, tokens, answers),
        attention_note=escape(attention_note) if attention else "",
        question_trees="\n".join(map(_question_trees, numbers, answers, question_parses)),
        passage_trees=_passage_trees(passage, parses, answers),
    )
    return render_page(
        content.rstrip("\n"),
        title=title,
        summary=_summary(parses, answers),
        note=note,
        style=resource("answer_page.css") + selection_css(len(answers)),
        policy=f"script-src 'sha256-{script_hash}'",
        scripts=f'<script type="application/json" id="page-data">{json_block(data)}</script>\n'
        f"<script>{script}</script>",
    )


def _summary(parses: Sequence[Parse], answers: Sequence[Answer]) -> str:
    """Summarise the page in a line."""
    counts = [
        (len(answers), "question"),
        (len(parses), "sentence"),
        (sum(map(len, parses)), "word"),
    ]
    questions, *rest = (f"{count} {noun}" + "s" * (count != 1) for count, noun in counts)
    outcomes = Counter(answer.outcome for answer in answers)
    parts = [f"{outcomes['answer']} answered"]
    parts += [f"{outcomes['unsure']} unsure"] if outcomes["unsure"] else []
    return ", ".join([f"{questions} ({', '.join(parts)})", *rest])


def _question_trees(question: int, answer: Answer, parses: Sequence[Parse]) -> str:
    """Render the trees of one question, which are shown when it is selected."""
    single = len(parses) == 1
    trees = "".join(
        _tree(
            parse,
            name=f"Question {question}",
            text=answer.question if single else " ".join(parse.sentence.forms),
            attributes=" open",
        )
        for parse in parses
    )
    return f'<div data-question="{question}">{trees}</div>'


def _passage_trees(passage: str, parses: Sequence[Parse], answers: Sequence[Answer]) -> str:
    """Render the tree of each sentence of the passage; those of the selected answer are open."""
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
    """Render a tree in a collapsible, scrollable box under a line of text."""
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
