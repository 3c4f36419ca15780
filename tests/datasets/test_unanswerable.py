"""Generated unanswerable questions."""

from __future__ import annotations

import random

from syntagma.datasets.unanswerable import Mention, make_unanswerable, reverse_meaning, swap_mention
from syntagma.tasks.spans.squad import SpanExample, read_squad
from tests.builders import squad


def example(question, passage="The ferry crossed in 1934 and sank in 1940.", answers=("1934",)):
    starts = tuple(passage.index(answer) for answer in answers)
    return SpanExample("q", passage, question, "harbour", answers, starts)


def test_questions_are_in_squad_format_and_reproducible(tmp_path, tiny_parser):
    examples, _ = read_squad(squad(tmp_path / "harbour.json", copies=3))
    answerable = [each for each in examples if each.answers]
    data, counts = make_unanswerable(answerable, count=4, parser=tiny_parser, seed=3)
    questions = [
        question
        for article in data["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]
    assert sum(counts.values()) == len(questions)
    assert all(question["is_impossible"] and not question["answers"] for question in questions)
    assert make_unanswerable(answerable, count=4, parser=tiny_parser, seed=3)[0] == data


def test_a_word_is_replaced_by_an_antonym_or_the_question_is_negated():
    draw = random.Random(0)
    assert reverse_meaning(example("When did the ferry first cross?"), draw) == (
        "When did the ferry last cross?"
    )
    assert (
        reverse_meaning(example("When did the ferry cross?"), draw)
        == "When didn't the ferry cross?"
    )
    assert reverse_meaning(example("The ferry crossed when?"), draw) is None


def test_a_year_is_replaced_by_one_of_the_article_that_is_not_an_answer():
    question = "What happened in 1940?"
    mentions = [Mention("1940", 17, 21, "year")]
    article = [
        Mention("1940", 38, 42, "year"),
        Mention("1934", 21, 25, "year"),
        Mention("1951", 0, 4, "year"),
        Mention("Ana", 0, 3, "name1"),
    ]
    assert swap_mention(example(question), mentions, article, random.Random(0)) == (
        "What happened in 1951?"
    )
    assert swap_mention(example(question), mentions, article[:2], random.Random(0)) is None
