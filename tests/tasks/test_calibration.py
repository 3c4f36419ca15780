"""Fitting the two numbers of an answer, and measuring how well they are calibrated."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from syntagma.errors import InputError
from syntagma.models.calibration import (
    CONSTANT,
    FEATURES,
    PARAGRAPH_FEATURES,
    Calibration,
    ParagraphsCalibration,
    Probabilities,
    RetrievalCalibration,
    uncalibrated,
)
from syntagma.settings import build, to_dict
from syntagma.tasks.spans.calibrate import Row, calibrate, fit_calibration
from syntagma.tasks.spans.logistic import fit_logistic, sigmoid
from syntagma.tasks.spans.reliability import bootstrap_error, calibration_error, reliability
from tests.messages import naming

ZERO = dict.fromkeys(FEATURES, 0.0)


def logit(share):
    return math.log(share / (1 - share))


def test_the_constant_alone_is_the_log_odds_of_the_weighted_share():
    nothing = np.zeros((4, 0))
    labels, weights = np.array([1.0, 0, 0, 0]), np.array([3.0, 1, 1, 1])
    (constant,) = fit_logistic(nothing, labels, penalty=0)
    assert constant == pytest.approx(logit(1 / 4))
    (constant,) = fit_logistic(nothing, labels, weights=weights, penalty=0)
    assert constant == pytest.approx(logit(3 / 6))


def test_two_groups_get_the_log_odds_of_their_own_shares():
    """The closed solution of a logistic regression with one binary feature."""
    features = np.array([[0.0]] * 10 + [[1.0]] * 5)
    labels = np.array([1.0] * 2 + [0.0] * 8 + [1.0] * 4 + [0.0])
    weight, constant = fit_logistic(features, labels, penalty=0)
    assert constant == pytest.approx(logit(0.2), abs=1e-6)
    assert weight == pytest.approx(logit(0.8) - logit(0.2), abs=1e-6)


@pytest.mark.parametrize("penalty", [0.1, 2.0])
def test_the_penalised_optimum_has_no_gradient(penalty):
    random = np.random.default_rng(3)
    features = random.normal(size=(40, 3)) * 4
    labels = (random.random(40) < sigmoid(features[:, 0])).astype(float)
    centre = random.normal(size=4)
    fitted = fit_logistic(features, labels, centre=centre, penalty=penalty)
    rows = np.column_stack([features, np.ones(40)])
    gradient = rows.T @ (sigmoid(rows @ fitted) - labels) + penalty * (fitted - centre)
    assert np.abs(gradient).max() < 1e-4


def test_separable_labels_have_a_finite_fit_and_few_examples_stay_near_the_centre():
    features, labels = np.array([[-1.0], [1.0]]), np.array([0.0, 1.0])
    assert np.isfinite(fit_logistic(features, labels)).all()
    centre = np.array([5.0, -2.0])
    near = fit_logistic(features, labels, centre=centre, penalty=1000)
    assert near == pytest.approx(centre, abs=0.01)


def test_the_calibration_error_of_a_hand_computed_example():
    """Three bins of two: |0.15 - 0.5|, |0.5 - 0.5|, |0.85 - 1|, each with a third of the mass."""
    probabilities = [0.9, 0.1, 0.4, 0.2, 0.6, 0.8]
    happened = [1, 0, 1, 1, 0, 1]
    groups = reliability(probabilities, happened, bins=3)
    assert [group.size for group in groups] == [2, 2, 2]
    assert [group.predicted for group in groups] == pytest.approx([0.15, 0.5, 0.85])
    assert [group.observed for group in groups] == [0.5, 0.5, 1.0]
    expected = (0.35 + 0 + 0.15) / 3
    assert calibration_error(probabilities, happened, bins=3) == pytest.approx(expected)


def test_bins_of_unequal_size_count_by_their_mass():
    probabilities, happened = [0.1, 0.2, 0.3, 0.9], [0, 0, 1, 1]
    # Bins of two, one and one questions.
    expected = (2 * 0.15 + 0.7 + 0.1) / 4
    assert calibration_error(probabilities, happened, bins=3) == pytest.approx(expected)
    assert calibration_error([0.5], [1]) == 0.5


def test_the_interval_covers_the_error_and_chance_shrinks_with_questions():
    random = np.random.default_rng(0)

    def error(size):
        probabilities = random.random(size)
        return bootstrap_error(probabilities.tolist(), random.random(size) < probabilities)

    few, many = error(50), error(800)
    for found in (few, many):
        assert found.low <= found.value <= found.high
    assert many.by_chance < few.by_chance / 2
    assert many.value < 2 * many.by_chance


def test_the_two_numbers_never_exceed_one_together():
    random = np.random.default_rng(1)
    for _ in range(50):
        names, values = (*FEATURES, CONSTANT), random.normal(size=(3, len(FEATURES) + 1)) * 5
        none, right, features = (dict(zip(names, row, strict=True)) for row in values.tolist())
        found = Calibration(no_answer=none, right=right).probabilities(features)
        assert 0 <= found.confidence <= 1
        assert found.confidence + found.no_answer <= 1 + 1e-12


def test_another_share_of_unanswerable_questions_follows_bayes_rule():
    model = Calibration(unanswerable=0.5, no_answer={CONSTANT: logit(0.6)}, right={CONSTANT: 0.0})
    assert model.probabilities(ZERO) == pytest.approx((0.2, 0.6))
    fewer = model.with_unanswerable(0.2).probabilities(ZERO)
    posterior = 0.6 * 0.2 / (0.6 * 0.2 + 0.4 * 0.8)
    assert fewer.no_answer == pytest.approx(posterior)
    assert fewer.confidence == pytest.approx((1 - posterior) / 2)
    assert model.with_unanswerable(0.2).with_unanswerable(0.5).probabilities(ZERO) == pytest.approx(
        (0.2, 0.6)
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"version": 2}, "version 1 2 `syntagma calibrate`"),
        ({"unanswerable": 1.0}, "unanswerable 0 1 0.5"),
        ({"no_answer": {"margn": 1.0}}, "'margn' 'margin'"),
        ({"right": {"margin": math.inf}}, "margin finite inf"),
    ],
)
def test_invalid_calibrations_are_reported(values, message):
    with pytest.raises(InputError, match=naming(message)):
        build(Calibration, values)


def test_a_calibration_survives_json():
    model = Calibration(n_questions=7, no_answer={"margin": -1.5}, right={CONSTANT: 0.25})
    assert build(Calibration, json.loads(json.dumps(to_dict(model)))) == model


def test_uncalibrated_numbers_are_careful():
    found = uncalibrated(null_odds=-4.0, threshold=0.0, share=0.9)
    assert isinstance(found, Probabilities)
    assert found.no_answer == pytest.approx(1 / (1 + math.exp(2)))
    assert found.confidence == pytest.approx(0.9 * (1 - found.no_answer))


def rows(size, *, seed=0, impossible=0.5):
    """Make questions whose margin says how likely they are to have no answer."""
    random = np.random.default_rng(seed)
    made = []
    for number in range(size):
        none = random.random() < impossible
        margin = random.normal() + (-1.0 if none else 1.0)
        lead = random.random()
        right = not none and random.random() < sigmoid(np.array(4 * lead - 2))
        made.append(Row(ZERO | {"margin": margin, "lead": lead}, right, none, str(number // 5)))
    return made


def test_fitted_numbers_are_calibrated_on_other_questions():
    model = fit_calibration(rows(1500), Calibration)
    assert model.no_answer["margin"] == pytest.approx(-2.0, abs=0.3)
    other = rows(3000, seed=1)
    found = [model.probabilities(row.features) for row in other]
    right = calibration_error([f.confidence for f in found], [row.right for row in other])
    none = calibration_error([f.no_answer for f in found], [row.impossible for row in other])
    assert max(right, none) < 0.04


def test_the_share_in_the_data_does_not_matter_once_it_is_corrected():
    """Fitted on few questions without an answer, the numbers hold where half have none."""
    model = fit_calibration(rows(4000, impossible=0.2), Calibration, unanswerable=0.5)
    other = rows(3000, seed=1)
    none = [model.probabilities(row.features).no_answer for row in other]
    assert calibration_error(none, [row.impossible for row in other]) < 0.03
    assert np.mean(none) == pytest.approx(0.5, abs=0.03)


def test_few_questions_adapt_an_earlier_calibration():
    before = fit_calibration(rows(2000), Calibration)
    few = rows(40, seed=2)
    adapted, alone = (
        fit_calibration(few, Calibration, before=before),
        fit_calibration(few, Calibration),
    )
    distance = abs(adapted.no_answer["margin"] - before.no_answer["margin"])
    assert distance < abs(alone.no_answer["margin"] - before.no_answer["margin"])
    assert adapted.n_questions == 40


def test_too_few_questions_are_refused_or_keep_what_was_known():
    answerable = [row for row in rows(80) if not row.impossible]
    with pytest.raises(InputError, match=naming("10 without 0 is_impossible")):
        fit_calibration(answerable, Calibration)
    with pytest.raises(InputError, match=naming("10 with 5")):
        fit_calibration(answerable[:5], Calibration)
    before = fit_calibration(rows(500), Calibration)
    after = fit_calibration(answerable, Calibration, before=before)
    assert after.no_answer == pytest.approx(before.no_answer, abs=1e-5)
    assert after.right != before.right


def scored_rows(size, *, unit=1.0, offset=0.0, seed=0):
    """Make questions with a retriever's score, which alone says whether there is an answer."""
    random = np.random.default_rng(seed)
    made = []
    for number in range(size):
        none = random.random() < 0.5
        score = offset + unit * (random.normal() + (-1.0 if none else 1.0))
        features = dict.fromkeys(RetrievalCalibration.names, 0.0) | {"retrieval": score}
        made.append(Row(features, not none, none, str(number // 5)))
    return made


def test_the_unit_of_a_retrievers_scores_does_not_matter():
    """The penalty would hold back a score from 0 to 0.01 otherwise, and not one from 0 to 1000."""
    plain, other = scored_rows(60), scored_rows(60, unit=0.001, offset=7.0)
    models = [fit_calibration(made, RetrievalCalibration) for made in (plain, other)]
    for one, same in zip(plain, other, strict=True):
        numbers = [
            model.probabilities(row.features)
            for model, row in zip(models, (one, same), strict=True)
        ]
        assert numbers[0] == pytest.approx(numbers[1], abs=1e-3)
    assert models[0].no_answer["retrieval"] < -1
    # The earlier weights are in the unit of the data too.
    again = fit_calibration(other[:20], RetrievalCalibration, before=models[1])
    found = [again.probabilities(row.features).no_answer for row in other]
    expected = [models[1].probabilities(row.features).no_answer for row in other]
    assert np.abs(np.subtract(found, expected)).max() < 0.1


def test_scores_that_are_all_the_same_say_nothing():
    made = [replace(row, features=row.features | {"retrieval": 3.0}) for row in scored_rows(60)]
    model = fit_calibration(made, RetrievalCalibration)
    assert model.no_answer["retrieval"] == 0
    assert model.probabilities(made[0].features).no_answer == pytest.approx(0.5, abs=0.01)


def test_each_kind_of_calibration_knows_its_own_features():
    assert set(PARAGRAPH_FEATURES) < set(RetrievalCalibration.names)
    with pytest.raises(InputError, match=naming("'support'")):
        build(Calibration, {"right": {"support": 1.0}})
    with pytest.raises(InputError, match=naming("'retrieval'")):
        build(ParagraphsCalibration, {"right": {"retrieval": 1.0}})
    values = {"right": {"retrieval": 1.0, "support": 0.5}}
    assert isinstance(
        build(RetrievalCalibration, values).with_unanswerable(0.2), RetrievalCalibration
    )


def test_calibrate_says_how_sure_it_is():
    found = calibrate(rows(60), Calibration, unanswerable=0.3)
    assert found.calibration.unanswerable == 0.3
    for error in (found.confidence, found.no_answer):
        assert 0 < error.by_chance < 0.3
        assert error.low <= error.value <= error.high
