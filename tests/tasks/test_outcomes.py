"""The outcome of a question: one rule on two numbers, and its exception."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from syntagma.cli.outcomes import outcome_lines, without_outcomes
from syntagma.errors import InputError
from syntagma.models.calibration import (
    CONSTANT,
    Calibration,
    ParagraphsCalibration,
    Probabilities,
    RetrievalCalibration,
)
from syntagma.models.open_model import OpenHead
from syntagma.models.span_model import SpanHead
from syntagma.report.outcome_text import outcome_line, probability_text
from syntagma.tasks.open_qa.answers import ReadParagraph, pool
from syntagma.tasks.open_qa.data import Paragraph
from syntagma.tasks.open_qa.features import rank_paragraphs
from syntagma.tasks.open_qa.outcomes import give_open_answer
from syntagma.tasks.spans.answers import Span, SpanPrediction
from syntagma.tasks.spans.features import layout
from syntagma.tasks.spans.outcomes import MODES, give_answer, outcome_of, require_mode
from syntagma.tasks.spans.user_scores import OutcomeCounts, user_scores
from tests.messages import naming

PASSAGE = (
    "The Tern left Pellworth at noon. It does not sail on Sundays. The crew carried ropes, "
    "hooks and lamps to the quay."
)


def predict(question, *texts, margin=0.0, passage=PASSAGE):
    """Make a prediction with these spans, best first; ``margin`` is the best score."""
    spans = tuple(
        Span(text, passage.index(text), passage.index(text) + len(text), margin - 2 * n, 0.5**n / 2)
        for n, text in enumerate(texts)
    )
    best = spans[0] if spans else None
    return SpanPrediction(
        question, best.text if best else "", best.start if best else None,
        best.end if best else None, margin if best else -math.inf, 0.0, 0.0,
        -margin if best else math.inf, 0.0, 0.5, spans,
    )  # fmt: skip


def head(confidence, no_answer):
    """Make settings whose numbers are these, whatever the scores."""

    def logit(share):
        return {CONSTANT: math.log(share / (1 - share))}

    right = confidence / (1 - no_answer)
    return SpanHead(calibration=Calibration(no_answer=logit(no_answer), right=logit(right)))


@pytest.mark.parametrize("mode", MODES)
def test_the_rule(mode):
    limits = MODES[mode]
    assert outcome_of(Probabilities(limits.confidence, 0.0), mode) == "answer"
    doubtful = Probabilities(limits.confidence, limits.no_answer + 0.01)
    assert outcome_of(doubtful, mode) == "unsure"
    below = limits.confidence - 0.01
    assert outcome_of(Probabilities(below, limits.none - 0.01), mode) == "unsure"
    assert outcome_of(Probabilities(below, limits.none), mode) == "none"


def test_modes_are_ordered():
    """A stricter mode answers less often, and refuses more often."""
    strict, balanced, lenient = (MODES[mode] for mode in ("strict", "balanced", "lenient"))
    assert strict.confidence > balanced.confidence > lenient.confidence
    assert strict.no_answer <= balanced.no_answer <= lenient.no_answer
    assert strict.none < balanced.none < lenient.none
    with pytest.raises(InputError, match=naming("mode strict balanced lenient 'sure'")):
        require_mode("sure")


def test_the_three_outcomes():
    found = predict("Who left at noon?", "The Tern", "Pellworth")
    sure = give_answer(found, PASSAGE, head(0.9, 0.05))
    assert (sure.outcome, sure.text, sure.reason) == ("answer", "The Tern", "")
    assert PASSAGE[sure.start : sure.end] == sure.text
    assert (sure.confidence, sure.no_answer) == pytest.approx((0.9, 0.05))
    unsure = give_answer(found, PASSAGE, head(0.2, 0.3))
    assert (unsure.outcome, unsure.text) == ("unsure", "The Tern")
    assert unsure.reason
    none = give_answer(found, PASSAGE, head(0.01, 0.97))
    assert (none.outcome, none.text, none.start, none.spans) == ("none", "", None, ())
    assert none.best.text == "The Tern", "the best span is always available"
    assert none.sentence.text == "The Tern left Pellworth at noon."


def test_reasons_name_what_is_in_doubt():
    close = predict("Where is it?", "Pellworth", "the quay")
    assert "the quay" in give_answer(close, PASSAGE, head(0.2, 0.1)).reason
    assert "may not answer" in give_answer(close, PASSAGE, head(0.1, 0.3)).reason


@pytest.mark.parametrize(
    ("question", "best", "sentence"),
    [
        ("Does the Tern sail on Sundays?", "on Sundays", "It does not sail on Sundays."),
        ("How many boats left?", "Pellworth", "The Tern left Pellworth at noon."),
        ("Which is older, the Tern or the quay?", "Tern", "The Tern left Pellworth at noon."),
        ("List all ports.", "Pellworth", "The Tern left Pellworth at noon."),
    ],
)
def test_a_fragment_is_never_a_sure_answer(question, best, sentence):
    answer = give_answer(predict(question, best, margin=20.0), PASSAGE, head(0.98, 0.01))
    assert answer.outcome == "unsure"
    assert answer.text == sentence
    assert PASSAGE[answer.start : answer.end] == sentence
    assert answer.reason
    assert answer.best.text == best.removeprefix("on ") or answer.best.text == best
    doubtful = give_answer(predict(question, best), PASSAGE, head(0.1, 0.8))
    assert (doubtful.outcome, doubtful.text) == ("unsure", sentence)
    assert "bears on it" not in doubtful.reason, "the sentence shown may have nothing to do with it"


def test_another_cell_is_no_sure_answer_if_the_one_that_is_named_is_empty():
    passage = "Duty\tMon\tTue\nThe till\tIda\t–\nThe bins\tEli\tUna"
    asked = predict("Who is at the till on Tuesday?", "Ida", passage=passage)
    answer = give_answer(asked, passage, head(0.98, 0.01))
    assert (answer.outcome, answer.text) == ("unsure", "Ida")
    assert "empty" in answer.reason
    full = predict("Who is at the till on Monday?", "Ida", passage=passage)
    assert give_answer(full, passage, head(0.98, 0.01)).outcome == "answer"


def test_a_stated_number_and_a_list_are_answers():
    passage = "There were 12 boats. The crew carried ropes, hooks and lamps to the quay."
    count = predict("How many boats were there?", "12 boats", passage=passage)
    assert give_answer(count, passage, head(0.9, 0.01)).text == "12 boats"
    things = predict("What things did the crew carry?", "ropes", passage=passage)
    answer = give_answer(things, passage, head(0.9, 0.01))
    assert (answer.outcome, answer.text) == ("answer", "ropes, hooks and lamps")
    assert [span.text for span in answer.spans] == ["ropes", "hooks", "lamps"]
    for span in answer.spans:
        assert passage[span.start : span.end] == span.text


def test_a_threshold_decides_alone():
    found = predict("Does the Tern sail on Sundays?", "Sundays", margin=3.0)
    settings = head(0.01, 0.98)
    assert give_answer(found, PASSAGE, settings, threshold=-3.0).outcome == "answer"
    none = give_answer(found, PASSAGE, settings, threshold=-3.1)
    assert (none.outcome, none.mode, none.threshold) == ("none", None, -3.1)
    assert give_answer(predict("Who?"), PASSAGE, settings, threshold=math.inf).outcome == "none"


def test_infinite_thresholds_can_be_written_and_shown():
    for threshold, written in ((math.inf, "inf"), (-math.inf, "-inf"), (1.5, 1.5), (None, None)):
        answer = give_answer(predict("Who?", "Tern"), PASSAGE, head(0.9, 0.05), threshold=threshold)
        assert answer.to_dict()["threshold"] == written
        read = json.loads(answer.to_json(), parse_constant=pytest.fail)
        assert (read["threshold"], read["mode"] is None) == (written, threshold is not None)
    nothing = give_answer(predict("Who?"), "\u200b", head(0.9, 0.05), threshold=math.inf)
    assert outcome_line(nothing) == "— no answer in the text —  (no span could be an answer)"


@pytest.mark.parametrize("mode", ["sure", ["strict"], {}, 1])
def test_there_are_three_modes(mode):
    with pytest.raises(InputError, match=naming("mode strict lenient got")):
        require_mode(mode)


def test_without_a_calibration_the_numbers_say_so():
    found = predict("Who left at noon?", "The Tern", margin=8.0)
    answer = give_answer(found, PASSAGE, SpanHead())
    assert not answer.calibrated
    assert "not calibrated" in outcome_line(answer)
    assert answer.confidence + answer.no_answer <= 1
    assert give_answer(predict("Who?"), PASSAGE, SpanHead()).outcome == "none"


def test_lines_never_contradict_themselves():
    found = predict("Who left at noon?", "The Tern")
    line = outcome_line(give_answer(found, PASSAGE, head(0.9, 0.05)))
    assert line == "The Tern  (confidence 0.90, probability of no answer 0.05)"
    line = outcome_line(give_answer(found, PASSAGE, head(0.001, 0.998)))
    assert line == "— no answer in the text —  (probability of no answer >0.99)"
    line = outcome_line(give_answer(found, PASSAGE, head(0.2, 0.3)))
    assert line.startswith("? The Tern  (unsure: ")
    # A threshold can refuse what is probable, so probabilities are not shown with it.
    refused = give_answer(found, PASSAGE, head(0.9, 0.001), threshold=-9.0)
    assert outcome_line(refused) == "— no answer in the text —  (margin -9.0)"
    assert [probability_text(p) for p in (0.0, 0.5, 1.0)] == ["<0.01", "0.50", ">0.99"]


def open_answer(question, margin, settings, mode="balanced", best="Pellworth", scores=(None,) * 2):
    texts = {0: "Nothing here.", 1: PASSAGE}
    found = [
        ReadParagraph(0, "a", predict(question, "Nothing", margin=-9.0, passage=texts[0])),
        ReadParagraph(1, "b", predict(question, best, "The Tern", margin=margin)),
    ]
    paragraphs = {n: Paragraph("ab"[n], text, score=scores[n]) for n, text in texts.items()}
    return give_open_answer(pool(question, found, settings), paragraphs, settings, mode)


def test_several_paragraphs_have_the_same_three_outcomes():
    def settings(confidence, no_answer):
        return OpenHead(calibration=head(confidence, no_answer).calibration)

    sure = open_answer("Where is it?", 5.0, settings(0.9, 0.05))
    assert (sure.outcome, sure.text, sure.paragraph, sure.pid) == ("answer", "Pellworth", 1, "b")
    assert PASSAGE[sure.start : sure.end] == "Pellworth"
    none = open_answer("What is the capital of Peru?", 5.0, settings(0.01, 0.95))
    assert (none.outcome, none.text, none.paragraph, none.pid) == ("none", "", None, "")
    assert none.candidates[0].text == "Pellworth"
    assert open_answer("Where?", 5.0, settings(0.2, 0.3)).outcome == "unsure"
    nothing = give_open_answer(pool("Who?", [], OpenHead()), {}, OpenHead(), "balanced")
    assert (nothing.outcome, nothing.no_answer) == ("none", 1.0)


def test_an_answer_from_paragraphs_says_the_same_as_one_from_a_passage_and_where_it_is():
    settings = OpenHead(calibration=head(0.9, 0.05).calibration)
    of_many = open_answer("What things did the crew carry?", 5.0, settings, best="ropes")
    of_one = give_answer(
        predict("What things did the crew carry?", "ropes", "The Tern", margin=5.0), PASSAGE,
        settings,
    )  # fmt: skip
    assert of_many.text == of_one.text == "ropes, hooks and lamps"
    assert (of_many.sentence, of_many.mode) == (of_one.sentence, "balanced")
    assert [part.paragraph for part in of_many.spans] == [1, 1, 1]
    assert outcome_line(of_many) == outcome_line(of_one)
    many, one = (json.loads(json.dumps(answer.to_dict())) for answer in (of_many, of_one))
    assert (many["paragraph"], many["pid"]) == (1, "b")
    assert many.keys() - one.keys() == {"paragraph", "pid"}
    assert one.keys() <= many.keys()
    assert many["spans"][0] | one["spans"][0] == many["spans"][0] | {
        key: one["spans"][0][key] for key in ("score", "share")
    }
    nothing = give_open_answer(pool("Who?", [], OpenHead()), {}, OpenHead(), "balanced")
    assert (nothing.to_dict()["null_odds"], nothing.paragraph, nothing.pid) == (None, None, "")


def constant(kind, confidence, no_answer):
    """Make a calibration of a kind whose numbers are these, whatever the scores."""
    found = head(confidence, no_answer).calibration
    return kind(no_answer=found.no_answer, right=found.right)


def test_several_paragraphs_have_their_own_calibration_and_another_with_scores():
    old = OpenHead(calibration=constant(Calibration, 0.9, 0.05))
    own = replace(old, paragraphs_calibration=constant(ParagraphsCalibration, 0.6, 0.3))
    both = replace(own, retrieval_calibration=constant(RetrievalCalibration, 0.01, 0.95))

    def numbers(settings, scores=(None, None)):
        answer = open_answer("Where is it?", 5.0, settings, scores=scores)
        return answer.confidence, answer.no_answer, answer.calibrated

    assert numbers(old) == pytest.approx((0.9, 0.05, True))
    assert numbers(old, (1.0, 2.0)) == pytest.approx((0.9, 0.05, True))
    assert numbers(own) == numbers(own, (1.0, 2.0)) == pytest.approx((0.6, 0.3, True))
    assert numbers(both) == pytest.approx((0.6, 0.3, True))
    assert numbers(both, (1.0, 2.0)) == pytest.approx((0.01, 0.95, True))
    assert not numbers(OpenHead(), (1.0, 2.0))[2]


def test_a_calibration_may_trust_laid_out_text_more():
    lines = "Tern\tPellworth\tnoon\nSkua\tOtterby\tfive\nAuk\tCorran\tsix\n"
    head = SpanHead(
        calibration=Calibration(no_answer={"layout": -3.0, "layout_margin": -1.0}, right={})
    )
    in_lines, in_prose = (
        give_answer(predict("Where?", text, margin=5.0, passage=passage), passage, head)
        for text, passage in (("Otterby", lines), ("Pellworth", PASSAGE))
    )
    assert in_prose.no_answer == pytest.approx(0.5)
    # Two breaks in nine words count as the most there can be; the margin of 5 is one unit.
    assert in_lines.no_answer == pytest.approx(1 / (1 + math.exp(4.0)))
    assert layout("One line.") == layout("") == 0.0
    assert layout("eight words are in these two lines,\nwhich are short") == pytest.approx(1.0)
    assert layout("word " * 20 + "\n" + "word " * 20) == pytest.approx(10 / 40)


def test_features_of_several_paragraphs():
    texts = ("The Tern left Pellworth.", "Pellworth is small.", "Nothing at all.")
    paragraphs = {
        n: Paragraph(str(n), text, score=score)
        for n, (text, score) in enumerate(zip(texts, (2.0, 5.0, 3.0), strict=True))
    }
    question = "Where did the Tern leave in 1907?"
    found = [
        ReadParagraph(0, "0", predict(question, "Pellworth", margin=4.0, passage=texts[0])),
        ReadParagraph(1, "1", predict(question, "Pellworth", margin=1.0, passage=texts[1])),
        ReadParagraph(2, "2", predict(question, "Nothing", margin=-2.0, passage=texts[2])),
    ]
    pooled = pool(question, found, OpenHead())
    features = rank_paragraphs(pooled, paragraphs, OpenHead()).features
    assert features["paragraphs"] == pytest.approx(math.log(3))
    assert features["support"] == pytest.approx(math.log(2))
    assert features["missing"] == 0.5, "the paragraph has the Tern, but no 1907"
    assert (features["retrieval"], features["retrieval_gap"]) == (2.0, 3.0)
    assert set(RetrievalCalibration.names) <= features.keys()
    unscored = {n: replace(each, score=None) for n, each in paragraphs.items()}
    without = rank_paragraphs(pooled, unscored, OpenHead()).features
    assert features.keys() - without.keys() == {"retrieval", "retrieval_gap"}


def test_shares_of_outcomes():
    golds = [("Pellworth",)] * 4 + [()]
    predictions = [predict("Where?", text) for text in ("Pellworth", "The Tern")]
    settings = [head(0.9, 0.05), head(0.9, 0.05), head(0.2, 0.3), head(0.01, 0.97)]
    given = [predictions[0], predictions[1], predictions[0], predictions[0]]
    answers = [give_answer(*pair) for pair in zip(given, [PASSAGE] * 4, settings, strict=True)]
    answers.append(give_answer(predictions[0], PASSAGE, head(0.9, 0.05)))
    counts = OutcomeCounts.of(golds, answers)
    values = counts.to_dict()
    assert (values["answer"], values["unsure"], values["none"]) == (60, 20, 20)
    for name in ("right", "wrong", "unsure", "none"):
        assert values[f"HasAns_{name}"] == 25
    assert values["NoAns_answer"] == 100
    assert values["right_of_answered"] == pytest.approx(100 / 3)
    assert values["HasAns_shown_f1"] == 50
    assert (counts + counts).to_dict() == values


def scores(golds, predictions, settings):
    def give(mode):
        return [give_answer(found, PASSAGE, settings, mode=mode) for found in predictions]

    return user_scores(golds, give)


def test_the_table_of_modes_has_a_row_for_each():
    predictions = [predict("Where?", "Pellworth")] * 2
    metrics = scores([("Pellworth",), ()], predictions, head(0.75, 0.125)) | {"exact": 50.0}
    lines = list(outcome_lines(metrics))
    rows = [line.split() for line in lines[-3:]]
    assert [row[0] for row in rows] == list(MODES)
    assert rows[1][1:] == ["100.0", "0.0", "0.0", "0.0", "100.0", "0.0", "0.0", "100.0", "50.0"]
    assert without_outcomes(metrics).keys() == {"ece_confidence", "ece_no_answer", "exact"}
    assert list(outcome_lines({"exact": 50.0})) == []


def test_user_scores_have_all_modes_and_both_errors():
    values = scores([("Pellworth",)], [predict("Where?", "Pellworth")], head(0.75, 0.125))
    assert values["ece_confidence"] == pytest.approx(0.25)
    assert values["ece_no_answer"] == pytest.approx(0.125)
    for mode in MODES:
        assert values[f"{mode}.HasAns_right"] == 100
