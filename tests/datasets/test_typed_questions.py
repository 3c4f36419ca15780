"""Questions as people type them."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace

import pytest

from syntagma.datasets.embedded_questions import QUESTION_WORDS, embedded
from syntagma.datasets.typed_questions import COMBINATIONS, KINDS, make_typed, typed
from syntagma.errors import InputError
from syntagma.tasks.spans.squad import SpanExample, TeacherAnswers, read_squad

PASSAGE = "The harbour of Oslo was built in 1934. Ana Berg designed two of its ferries."
QUESTIONS = [
    ("When was the harbour of Oslo built?", "1934"),
    ("Who designed two of the ferries?", "Ana Berg"),
    ("What was the harbour called?", None),
    ("How many ferries did Ana Berg design?", "two"),
    ("Which harbour was built in 1934?", "The harbour of Oslo"),
]


def examples():
    made = []
    for number, (question, answer) in enumerate(QUESTIONS):
        answers = (answer,) if answer else ()
        starts = tuple(PASSAGE.index(text) for text in answers)
        made.append(
            SpanExample(f"q{number}", PASSAGE, question, "harbours", answers, starts, not answers)
        )
    return made


def many(question, kind, count=60):
    """Variants of a question from different random numbers, without repetition."""
    found = [typed(question, kind, random.Random(seed)) for seed in range(count)]
    return list(dict.fromkeys(text for text in found if text is not None))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did the ferry first cross the bay?", "when the ferry first crossed the bay"),
        ("Where does the ferry carry the mail?", "where the ferry carries the mail"),
        ("In what year did Ana Berg begin to paint?", "in what year Ana Berg began to paint"),
        ("What is the name of the ferry?", "what the name of the ferry is"),
        ("Who was her first teacher?", "who her first teacher was"),
        ("When was the old harbour finally closed?", "when the old harbour was finally closed"),
        ("What city was the harbour moved to?", "what city the harbour was moved to"),
        ("Who built the ferry?", "who built the ferry"),
        ("What was built on the hill?", "what was built on the hill"),
        ("How many gulls can the island hold?", "how many gulls the island can hold"),
        # *Start* and *work* could both be the verb.
        ("When did the crew start work?", None),
        # *Painted* belongs to *picture*, not to *was*.
        ("What was the picture painted in Oslo?", None),
        ("What was it that the crew saw?", None),
        ("Name the ferry.", None),
    ],
)
def test_embedded_questions_have_the_order_of_statements(question, expected):
    assert embedded(question) == expected


def test_no_mark_and_lower_change_nothing_else():
    draw = random.Random(0)
    question = "Who lived in the U.S.?"
    assert typed(question, "no_mark", draw) == "Who lived in the U.S."
    assert typed(question, "lower", draw) == "who lived in the u.s."
    assert typed("who sank it", "no_mark", draw) is None
    assert typed("who sank it", "lower", draw) is None


def test_typing_errors_are_in_one_or_two_long_content_words():
    question = "Where did the old captain Rosa anchor 1934 ships before 2005?"
    words = question.split()
    hit = []
    variants = many(question, "typos", 300)
    for variant in variants:
        changed = [
            (old, new) for old, new in zip(words, variant.split(), strict=True) if old != new
        ]
        assert 1 <= len(changed) <= 2
        for old, new in changed:
            assert abs(len(old) - len(new)) <= 1
            assert old[0] == new[0]
            hit.append(old)
    assert set(hit) == {"captain", "Rosa", "anchor", "ships"}
    assert hit.count("Rosa") < hit.count("captain") / 2
    assert typed("Who was it in 1934?", "typos", random.Random(0)) is None


def test_polite_questions_contain_the_question_in_its_own_or_in_embedded_order():
    variants = many("When did the ferry sink?", "polite", 200)
    assert len(variants) > 50
    for variant in variants:
        assert ("when the ferry sank" in variant) != ("hen did the ferry sink?" in variant)
    # A name keeps its capital, a question word after a colon has none.
    named = many("Semaphores came from where?", "polite")
    assert all("Semaphores came from where?" in variant for variant in named)
    assert any(": when did" in variant for variant in variants)
    assert typed("The ferry sank in this year.", "polite", random.Random(0)) is None


def test_keywords_are_at_most_six_words_without_function_words():
    question = (
        "In what year did the captain of the old ferry Rosa leave the harbour of Oslo for good?"
    )
    variants = many(question, "keywords")
    assert len(variants) > 8
    for variant in variants:
        words = variant.split()
        assert 2 <= len(words) <= 6
        assert not {word.lower() for word in words} & (QUESTION_WORDS | {"the", "of", "did", "for"})
        # Of too many words, names are dropped last.
        assert {"rosa", "oslo"} <= {word.lower() for word in words}
    assert any(variant != variant.lower() for variant in variants)
    assert typed("Who was he?", "keywords", random.Random(0)) is None


@pytest.mark.parametrize(
    ("question", "pattern"),
    [
        ("Which ferry sank in 1934?", r"the ferry that sank in 1934"),
        ("What singer was born in Oslo?", r"the singer who was born in Oslo"),
        ("Which ferry later sank?", r"the ferry that later sank"),
        ("What is the capital of Norway?", r"the capital of Norway"),
        ("Who was the captain of the ferry?", r"(the name of )?the captain of the ferry"),
        ("In what year did the ferry sink?", r"(the|what) year (when |in which )?the ferry sank"),
        ("Where was the ferry built?", r"where the ferry was built"),
        ("Who built the ferry?", r"(who|(name the|of the) (person|people) who) built the ferry"),
        ("Why did the ferry sink?", r"why the ferry sank"),
        ("Where did the ferry come from?", r"where the ferry came from"),
        ("What year brings the ferry?", r"what year brings the ferry"),
        ("How many people live here?", r"how many people live here"),
        ("What gun do armed guards use?", r"what gun armed guards use"),
    ],
)
def test_imperatives_ask_for_what_the_question_word_asks_for(question, pattern):
    variants = many(question, "imperative", 100)
    assert len(variants) >= 8
    for variant in variants:
        assert re.search(pattern + r"\.?$", variant, re.IGNORECASE), variant
        assert "?" not in variant
        assert not re.search(r"\b(did|do)\b", variant)


def test_imperatives_are_left_out_where_no_pattern_fits():
    assert typed("What was the king forced to sign?", "imperative", random.Random(0)) is None
    assert typed("What is the ferry called Rosa known for?", "imperative", random.Random(0)) is None


def test_combinations_apply_all_their_kinds():
    for variant in many("When did the ferry Rosa reach Oslo?", "polite+lower"):
        assert variant == variant.lower()
        assert "ferry rosa reach" in variant
    typos = many("When did the ferry Rosa reach Oslo?", "lower+typos")
    assert all(each == each.lower() and not each.endswith("?") for each in typos)
    assert "when did the ferry rosa reach oslo" not in typos


@pytest.mark.parametrize("kind", ["shouted", "lower+shouted", "lower+lower", ""])
def test_an_unknown_kind_is_an_error_that_lists_the_known_ones(kind):
    with pytest.raises(InputError, match=f"got '{re.escape(kind)}'; write one of no_mark, lower"):
        typed("Who?", kind, random.Random(0))
    with pytest.raises(InputError, match="at least one kind"):
        make_typed(examples(), count=1, kinds=[])


def test_typed_examples_keep_passage_and_answers(tmp_path):
    data, counts = make_typed(examples(), count=30, seed=5)
    path = tmp_path / "typed.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    made, skipped = read_squad(path)
    assert skipped.total == 0
    assert len(made) == sum(counts.values()) == 30
    assert set(counts) == {*KINDS, *COMBINATIONS}
    originals = {example.id: example for example in examples()}
    for example in made:
        original = originals[example.id.split("-")[0]]
        assert example.id == f"{original.id}-{example.id.split('-')[1]}"
        assert example.question != original.question
        assert (example.passage, example.title) == (original.passage, original.title)
        assert (example.answers, example.answer_starts) == (
            original.answers,
            original.answer_starts,
        )
        assert example.is_impossible == original.is_impossible


def test_the_seed_decides_and_all_examples_are_used_before_one_is_used_again():
    one, counts = make_typed(examples(), count=5, kinds=["lower", "no_mark"], seed=2)
    assert make_typed(examples(), count=5, kinds=["lower", "no_mark"], seed=2)[0] == one
    assert make_typed(examples(), count=5, kinds=["lower", "no_mark"], seed=3)[0] != one
    ids = [q["id"] for q in one["data"][0]["paragraphs"][0]["qas"]]
    assert sorted(key.split("-")[0] for key in ids) == ["q0", "q1", "q2", "q3", "q4"]
    # Five questions have ten variants of two kinds.
    _, counts = make_typed(examples(), count=100, kinds=["lower", "no_mark"], seed=2)
    assert counts == {"lower": 5, "no_mark": 5}


def test_what_a_teacher_thought_of_the_edited_question_is_kept(tmp_path):
    """A student that reads a careless question learns what the teacher saw in the clean one."""
    teacher = TeacherAnswers((35,), (39,), (0.75,), 0.25)
    data, _ = make_typed([replace(examples()[0], teacher=teacher)], count=1, kinds=["keywords"])
    path = tmp_path / "typed.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    (made,), _ = read_squad(path)
    assert made.teacher == teacher
    assert made.question != QUESTIONS[0][0]
