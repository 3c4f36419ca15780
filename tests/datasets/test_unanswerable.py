"""Generated unanswerable questions."""

from __future__ import annotations

import random
from collections import Counter

from syntagma.datasets.unanswerable import (
    RULES,
    Mention,
    make_unanswerable,
    neighbour,
    other_article,
    reverse_meaning,
    swap_mention,
)
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


def test_generated_ids_name_the_rule_that_made_the_question(tmp_path, tiny_parser):
    examples, _ = read_squad(squad(tmp_path / "harbour.json", copies=3))
    answerable = [each for each in examples if each.answers]
    data, counts = make_unanswerable(answerable, count=len(examples), parser=tiny_parser, seed=3)
    ids = [
        question["id"]
        for article in data["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]
    assert Counter(key.rpartition("-")[2] for key in ids) == counts
    assert set(counts) <= set(RULES)
    assert RULES.count("other_article") / len(RULES) == 1 / 8


def test_neighbours_are_the_passages_next_to_it_without_an_answer():
    own = example("When did the ferry sink?").passage
    passages = ["Far away.", "Before it.", own, "After 1934.", "Far behind."]
    asked = example("When did the ferry cross?")
    draw = random.Random(0)
    assert {neighbour(asked, passages, draw) for _ in range(20)} == {"Before it."}
    passages[3] = "After it."
    assert {neighbour(asked, passages, draw) for _ in range(20)} == {"Before it.", "After it."}
    assert neighbour(asked, [own], draw) is None


def test_passages_of_other_articles_contain_no_answer():
    articles = {"harbour": ["Its own."], "gulls": ["Gulls cry.", "In 1934!"], "fog": ["Fog."]}
    asked = example("When did the ferry cross?")
    draw = random.Random(0)
    assert {other_article(asked, articles, draw) for _ in range(50)} == {"Gulls cry.", "Fog."}
    assert other_article(asked, {"harbour": ["Its own."]}, draw) is None
    assert other_article(asked, {"gulls": ["In 1934!"]}, draw) is None


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
