"""The metrics compared with a naive implementation of their definitions."""

import math
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.errors import InputError
from syntagma.tasks.spans.answers import Span, SpanPrediction
from syntagma.tasks.spans.metrics import (
    QuestionScore,
    SpanScore,
    abstains,
    best_threshold,
    evaluate_spans,
    exact_of,
    f1_of,
    judge,
    normalise,
    official_best,
    score_answers,
)
from syntagma.tasks.spans.squad import SpanExample
from syntagma.tasks.spans.task import SpanTask
from tests.messages import naming

# Words that normalise to nothing, articles that punctuation hides, and ordinary words.
WORDS = ["the", "A.", "an", "!", "bell", "Bell's", "noon", "nine", "pear-tree", "therein", "Ñandú"]
texts = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
proper = st.lists(st.sampled_from(["bell", "noon", "nine", "pear"]), min_size=1, max_size=3).map(
    " ".join
)


def question(number, golds, *, impossible=None):
    golds = tuple(golds)
    return SpanExample(
        id=f"q{number}",
        passage=" ".join(golds) or "empty",
        question="?",
        answers=golds,
        answer_starts=(0,) * len(golds),
        is_impossible=not golds if impossible is None else impossible,
    )


def naive_words(text):
    kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return [word for word in kept.split() if word not in ("a", "an", "the")]


def naive_f1(predicted, gold, rules):
    predicted, gold = naive_words(predicted), naive_words(gold)
    if rules == "2.0" and (not predicted or not gold):
        return 1.0 if predicted == gold else 0.0
    left, shared = list(gold), 0
    for word in predicted:
        if word in left:
            left.remove(word)
            shared += 1
    return 2 * shared / (len(predicted) + len(gold)) if shared else 0.0


def naive_golds(golds, rules):
    if rules == "1.1":
        return list(golds)
    return [gold for gold in golds if naive_words(gold)] or [""]


def naive_scores(prediction, golds, rules):
    golds = naive_golds(golds, rules)
    exact = any(naive_words(prediction) == naive_words(gold) for gold in golds)
    return float(exact), max(naive_f1(prediction, gold, rules) for gold in golds)


NORMALISED = [
    ("", ""),
    ("The  U.S.\tArmy's", "us armys"),
    ("A.", ""),
    ("another, an other", "another other"),
    ("the-bell", "thebell"),
    ("a\u00a0bell", "bell"),
    ("«the» bell", "« » bell"),
    ("L'A", "la"),
]


@pytest.mark.parametrize(("text", "expected"), NORMALISED)
def test_normalise(text, expected):
    assert normalise(text) == expected


SCORES = [
    ("noon", ["midnight", "at noon"], "2.0", 0, 2 / 3),
    ("The Noon!", ["noon"], "2.0", 1, 1.0),
    ("bell bell", ["bell"], "2.0", 0, 2 / 3),
    # A repeated word counts as often as it occurs.
    ("bell bell", ["bell bell noon"], "2.0", 0, 4 / 5),
    ("bell noon bell", ["bell bell nine bell"], "1.1", 0, 4 / 7),
    ("", [], "2.0", 1, 1.0),
    ("the", [], "2.0", 1, 1.0),
    ("noon", [], "2.0", 0, 0.0),
    ("", ["noon"], "2.0", 0, 0.0),
    # The two official scripts differ here.
    ("a", ["the"], "2.0", 1, 1.0),
    ("a", ["the"], "1.1", 1, 0.0),
    ("a", ["the", "noon"], "2.0", 0, 0.0),
    ("a", ["the", "noon"], "1.1", 1, 0.0),
]


@pytest.mark.parametrize(("prediction", "golds", "rules", "exact", "f1"), SCORES)
def test_exact_and_f1(prediction, golds, rules, exact, f1):
    assert exact_of(prediction, golds, rules=rules) == exact
    assert f1_of(prediction, golds, rules=rules) == pytest.approx(f1)


@given(texts, st.lists(texts, min_size=1, max_size=3), st.sampled_from(["1.1", "2.0"]))
def test_exact_and_f1_equal_their_definitions(prediction, golds, rules):
    exact, f1 = naive_scores(prediction, golds, rules)
    assert exact_of(prediction, golds, rules=rules) == exact
    assert f1_of(prediction, golds, rules=rules) == pytest.approx(f1)


def test_impossible_questions_select_the_rules_of_squad_2():
    article = question(1, ["the"])
    assert judge([article], ["a"])[0].f1 == 0.0
    assert judge([article, question(2, [])], ["a", ""])[0].f1 == 1.0
    assert judge([article], ["a"], rules="2.0")[0].f1 == 1.0


def test_metrics_by_hand():
    examples = [question(1, ["noon"]), question(2, ["nine pear"]), question(3, []), question(4, [])]
    metrics = evaluate_spans(examples, {"q1": "Noon", "q2": "pear", "q3": "", "q4": "x"})
    assert metrics == {
        "exact": 50.0,
        "f1": pytest.approx(100 * (1 + 2 / 3 + 1) / 4),
        "total": 4,
        "HasAns_exact": 50.0,
        "HasAns_f1": pytest.approx(100 * (1 + 2 / 3) / 2),
        "HasAns_total": 2,
        "NoAns_exact": 50.0,
        "NoAns_f1": 50.0,
        "NoAns_total": 2,
    }


def test_groups_without_questions_have_no_metrics():
    assert "NoAns_f1" not in evaluate_spans([question(1, ["noon"])], {"q1": ""})
    assert "HasAns_f1" not in evaluate_spans([question(1, [])], {"q1": ""})
    assert SpanScore().to_dict() == {"exact": 0.0, "f1": 0.0, "total": 0}


def test_a_missing_prediction_is_wrong_and_counted():
    examples = [question(1, ["noon"]), question(2, []), question(3, [])]
    metrics = evaluate_spans(examples, {"q3": ""}, null_odds={"q3": 1.0})
    assert metrics["exact"] == metrics["best_exact"] == pytest.approx(100 / 3)
    assert (metrics["total"], metrics["missing"]) == (3, 2)


def test_unlabelled_questions_cannot_be_scored():
    with pytest.raises(InputError, match=naming("question q1 answers is_impossible")):
        judge([question(1, [], impossible=False)], ["noon"])
    with pytest.raises(InputError, match=naming("null odds q1")):
        evaluate_spans([question(1, ["noon"])], {"q1": "noon"}, null_odds={})


@given(st.lists(st.tuples(texts, st.lists(texts, max_size=2), st.booleans()), max_size=12))
def test_scores_of_parts_add_up(data):
    examples = [question(number, golds) for number, (_, golds, _) in enumerate(data)]
    predictions = [None if missing else text for text, _, missing in data]
    rows = judge(examples, predictions, rules="2.0")
    whole = SpanScore.of(rows)
    for cut in range(len(rows) + 1):
        parts = SpanScore.of(rows[:cut]) + SpanScore.of(rows[cut:])
        assert parts.to_dict() == pytest.approx(whole.to_dict())
    assert whole.overall.exact == sum(row.exact for row in rows)
    assert whole.f1 == pytest.approx(100 * sum(row.f1 for row in rows) / max(len(rows), 1))


# Thresholds are compared with an oracle that tries every possible one.


def mean_at(rows, odds, threshold, metric):
    total = 0.0
    for row, value in zip(rows, odds, strict=True):
        if row.missing:
            continue
        if value > threshold:
            total += 0.0 if row.has_answers else 1.0
        else:
            total += getattr(row, metric)
    return 100 * total / max(len(rows), 1)


def best_by_trying(rows, odds, metric):
    candidates = [-math.inf, *odds]
    return max(mean_at(rows, odds, threshold, metric) for threshold in candidates)


def scored(answered, f1, has_answers, missing=False):
    """Make a valid row: an answer to an impossible question is right only if it is empty."""
    if missing:
        return QuestionScore(0, 0.0, has_answers, answered=False, missing=True)
    if not has_answers:
        return QuestionScore(int(not answered), float(not answered), False, answered)
    return QuestionScore(int(f1 == 1), f1 if answered else 0.0, True, answered)


rows_with_odds = st.lists(
    st.tuples(
        st.builds(
            scored,
            st.booleans(),
            st.sampled_from([0.0, 0.4, 2 / 3, 1.0]),
            st.booleans(),
            st.sampled_from([False, False, False, True]),
        ),
        st.one_of(st.integers(-3, 3).map(float), st.floats(-5, 5)),
    ),
    max_size=14,
)


@given(rows_with_odds, st.sampled_from(["exact", "f1"]))
@settings(max_examples=200)
def test_no_threshold_is_better_than_the_fitted_one(data, metric):
    rows, odds = [row for row, _ in data], [value for _, value in data]
    fitted = best_threshold(rows, odds, metric=metric)
    assert math.isfinite(fitted.threshold)
    assert fitted.value == pytest.approx(best_by_trying(rows, odds, metric))
    assert mean_at(rows, odds, fitted.threshold, metric) == pytest.approx(fitted.value)


@given(rows_with_odds, st.sampled_from(["exact", "f1"]))
@settings(max_examples=200)
def test_the_fitted_threshold_reaches_the_official_best_without_ties(data, metric):
    distinct = {value: row for row, value in data}
    rows, odds = list(distinct.values()), list(distinct)
    fitted = best_threshold(rows, odds, metric=metric)
    official = official_best(rows, odds, metric=metric)
    assert fitted.value == pytest.approx(official.value)
    if official.value > mean_at(rows, odds, -math.inf, metric):
        # Both thresholds answer the same questions.
        present = [value for value, row in distinct.items() if not row.missing]
        assert [abstains(value, fitted.threshold) for value in present] == [
            abstains(value, official.threshold) for value in present
        ]


@given(rows_with_odds, st.sampled_from(["exact", "f1"]))
def test_the_official_best_equals_its_definition(data, metric):
    """The naive version sums again for each number of questions answered, in order of odds."""
    rows, odds = [row for row, _ in data], [value for _, value in data]
    order = [i for i in sorted(range(len(rows)), key=lambda i: odds[i]) if not rows[i].missing]
    states: list[tuple[float, float]] = []
    for kept in range(len(order) + 1):
        total = 0.0
        for rank, i in enumerate(order):
            row = rows[i]
            if rank >= kept:
                total += not row.has_answers
            elif row.has_answers:
                total += getattr(row, metric)
            else:
                total += not row.answered
        states.append((total, odds[order[kept - 1]] if kept else 0.0))
    best = max(total for total, _ in states)
    level = [threshold for total, threshold in states if total > best - 1e-9]
    official = official_best(rows, odds, metric=metric)
    assert official.value == pytest.approx(100 * best / max(len(rows), 1))
    # The first of equals is taken.  Sums of F1 are equal up to the order in which they are added.
    assert official.threshold in (level[:1] if metric == "exact" else level)


def test_the_official_best_where_no_threshold_reaches_it():
    right, wrong = scored(True, 1.0, True), scored(True, 0.0, False)
    # The script stops between equal odds, in the order given.
    assert official_best([right, wrong], [0.5, 0.5]).value == 100.0
    assert official_best([wrong, right], [0.5, 0.5]).value == 50.0
    assert best_threshold([right, wrong], [0.5, 0.5]).value == 50.0
    # Abstaining is best, but the threshold 0 that the script returns would answer this question.
    assert official_best([wrong], [-1.0]).threshold == 0.0
    assert best_threshold([wrong], [-1.0]).threshold < -1.0


def test_equal_odds_are_swept_in_file_order():
    examples = [question(1, ["noon"]), question(2, [])]
    texts = {"q1": "noon", "q2": "noon"}
    in_order = evaluate_spans(examples, texts, null_odds={"q1": 0.5, "q2": 0.5})
    reverse = evaluate_spans(examples, texts, null_odds={"q2": 0.5, "q1": 0.5})
    assert (in_order["best_f1"], reverse["best_f1"]) == (100.0, 50.0)


@pytest.mark.parametrize("odds", [[1.0, math.nextafter(1.0, 2.0)], [-1e308, 1e308], [0.0, 5e-324]])
def test_the_fitted_threshold_separates_very_close_and_very_distant_odds(odds):
    rows = [scored(True, 1.0, True), scored(True, 0.0, False)]
    threshold = best_threshold(rows, odds).threshold
    assert [abstains(value, threshold) for value in odds] == [False, True]
    threshold = best_threshold(rows[1:], [-1e308]).threshold
    assert abstains(-1e308, threshold)


def reader_answer(text, null_odds, threshold):
    """Make a reader's answer: it abstains if the odds exceed the threshold."""
    abstained = null_odds > threshold
    return SpanPrediction(
        question="?",
        text="" if abstained else text,
        start=None if abstained else 0,
        end=None if abstained else len(text),
        score=0.0,
        null_score=null_odds,
        verification=0.0,
        null_odds=null_odds,
        threshold=threshold,
        probability=0.5,
        spans=(Span(text, 0, len(text), 0.0, 0.5),),
    )


answered_questions = st.lists(
    st.tuples(proper, st.lists(proper, max_size=2), st.floats(-4, 4)),
    min_size=1,
    max_size=10,
    unique_by=lambda item: item[2],
)


@given(answered_questions)
def test_a_reader_with_the_fitted_threshold_reaches_best_f1(data):
    examples = [question(number, golds) for number, (_, golds, _) in enumerate(data)]
    rows = judge(examples, [text for text, _, _ in data])
    fitted = best_threshold(rows, [odds for _, _, odds in data])
    before = score_answers(examples, [reader_answer(text, odds, 0.0) for text, _, odds in data])
    after = score_answers(
        examples, [reader_answer(text, odds, fitted.threshold) for text, _, odds in data]
    )
    assert after["f1"] == pytest.approx(after["best_f1"])
    # The best value does not depend on the current threshold.
    assert {key: before[key] for key in before if key.startswith("best_")} == {
        key: after[key] for key in after if key.startswith("best_")
    }


def test_model_selection_does_not_depend_on_the_initial_threshold():
    examples = [question(1, ["noon"]), question(2, ["dusk"]), question(3, []), question(4, [])]
    # The better model separates impossible questions perfectly, but does not yet abstain on any.
    better = [("noon", -9.0), ("dusk", -8.0), ("dawn", -3.0), ("dawn", -3.5)]
    worse = [("noon", -1.0), ("dawn", 1.0), ("dawn", 1.5), ("dawn", 2.0)]
    ours, theirs = (
        score_answers(examples, [reader_answer(text, odds, 0.0) for text, odds in answers])
        for answers in (better, worse)
    )
    assert (ours["f1"], theirs["f1"]) == (50.0, 75.0)
    assert (ours[SpanTask.primary], theirs[SpanTask.primary]) == (100.0, 75.0)


@given(answered_questions, st.floats(-5, 5))
def test_answers_and_their_files_get_the_same_scores(data, threshold):
    examples = [question(number, golds) for number, (_, golds, _) in enumerate(data)]
    answers = [reader_answer(text, odds, threshold) for text, _, odds in data]
    keys = [example.id for example in examples]
    given = evaluate_spans(examples, dict(zip(keys, (each.text for each in answers), strict=True)))
    best = evaluate_spans(
        examples,
        {key: text for key, (text, _, _) in zip(keys, data, strict=True)},
        null_odds={key: odds for key, (_, _, odds) in zip(keys, data, strict=True)},
    )
    assert score_answers(examples, answers) == {**best, **given}
