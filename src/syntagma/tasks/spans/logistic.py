"""Weighted logistic regression with a quadratic penalty, by Newton's method (IRLS)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

MAX_STEPS = 100
CONVERGED = 1e-10


def fit_logistic(
    features: Vector,
    labels: Vector,
    *,
    weights: Vector | None = None,
    centre: Vector | None = None,
    penalty: float = 1.0,
) -> Vector:
    """Fit the log odds of a label as a linear function of features.

    It minimises ``sum_i weights_i · loss_i + penalty / 2 · sum_j (b_j - centre_j)²``.  The penalty
    pulls the coefficients to ``centre``: with few examples they stay near it, with many they leave
    it.  It covers the constant too, so that there is one finite minimum even if a label occurs only
    once or not at all.

    Args:
        features: ``[n, k]``, without a constant.
        labels: 0 or 1, ``[n]``.
        weights: weight of each example, ``[n]``; by default 1.
        centre: coefficients to stay near to, the constant last, ``[k + 1]``; by default 0.
        penalty: strength of the penalty, in examples.

    Returns:
        The coefficients, the constant last, ``[k + 1]``.
    """
    rows = np.column_stack([features, np.ones(len(features))])
    weights = np.ones(len(rows)) if weights is None else weights
    centre = np.zeros(rows.shape[1]) if centre is None else centre
    fitted = centre.astype(np.float64, copy=True)
    value = _objective(rows, labels, weights, fitted, centre, penalty)
    for _ in range(MAX_STEPS):
        probabilities = sigmoid(rows @ fitted)
        gradient = rows.T @ (weights * (probabilities - labels)) + penalty * (fitted - centre)
        curvature = weights * probabilities * (1 - probabilities)
        hessian = (rows.T * curvature) @ rows
        # The small addend keeps it invertible without a penalty.
        hessian += max(penalty, 1e-9) * np.eye(len(fitted))
        step = np.linalg.solve(hessian, gradient)
        # Newton's step can overshoot where the curve is flat; a shorter one always descends.
        size = 1.0
        while True:
            candidate = fitted - size * step
            lower = _objective(rows, labels, weights, candidate, centre, penalty)
            if lower <= value or size < 1e-6:
                break
            size /= 2
        gain, fitted, value = value - lower, candidate, lower
        if gain < CONVERGED:
            break
    return fitted


def sigmoid(log_odds: Vector) -> Vector:
    """Return the probabilities of log odds, of any shape."""
    result: Vector = 0.5 * (1.0 + np.tanh(0.5 * log_odds))
    return result


def _objective(
    rows: Vector,
    labels: Vector,
    weights: Vector,
    fitted: Vector,
    centre: Vector,
    penalty: float,
) -> float:
    log_odds = rows @ fitted
    losses = np.logaddexp(0.0, log_odds) - labels * log_odds
    return float(weights @ losses + penalty / 2 * np.sum((fitted - centre) ** 2))
