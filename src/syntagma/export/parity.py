"""Compare an exported file with the model that it was made from, on the same inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.export.families import Family, Scores
from syntagma.export.graphs import Graph
from syntagma.export.onnx_file import Session
from syntagma.settings import to_dict

ROWS_PER_BATCH = 8
LARGEST_DIFFERENCE = 1e-2
"""Of two logits, in float32.

Sums in another order differ by a hundred thousandth, but a few inputs multiply that: for one of 500
windows `accurate-reader` in float32 is 0.0007 from float64 in torch, and 0.0011 in onnxruntime.
"""
MEAN_DIFFERENCE = 1e-4
"""Of logits on average, in float32: what is computed otherwise differs on all inputs."""
EQUAL_PREDICTIONS = 0.995
"""Share of equal predictions, in float32: only near ties may be decided in another way."""
EQUAL_PREDICTIONS_INT8 = 0.95
"""Share of equal predictions, with weights in 8-bit integers: near ties are decided otherwise."""


@dataclass
class Difference:
    """How far one output is from the model's.

    Args:
        largest: largest difference of two numbers.
        mean: mean difference.
    """

    largest: float = 0.0
    mean: float = 0.0


@dataclass
class Parity:
    """What a comparison found.

    Args:
        examples: where the examples come from.
        n_examples: number of examples, as a user gives them.
        n_predictions: number of compared predictions: windows, questions, words and so on.
        compared: what a prediction is.
        largest_difference: of two logits of any output.
        mean_difference: over all logits of all outputs.
        equal_predictions: share of equal predictions.
        outputs: the differences of each output.
        bounds: the bounds within which the export was accepted.
    """

    examples: str
    n_examples: int
    n_predictions: int
    compared: str
    largest_difference: float
    mean_difference: float
    equal_predictions: float
    outputs: dict[str, Difference] = field(default_factory=dict)
    bounds: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as in ``parity.json``."""
        plain: dict[str, Any] = to_dict(self)
        return plain

    def lines(self) -> list[str]:
        """Return what the command line prints."""
        return [
            f"compared on {self.n_examples} examples ({self.examples})",
            f"logits differ by {self.largest_difference:.2g} at most, {self.mean_difference:.2g} "
            f"on average",
            f"equal predictions: {100 * self.equal_predictions:.1f} % of {self.n_predictions} "
            f"({self.compared})",
        ]


def bounds(*, int8: bool) -> dict[str, float]:
    """Return the bounds of a precision.

    Args:
        int8: whether the weights are 8-bit integers, with which logits may differ by any amount.
    """
    if int8:
        return {"equal_predictions": EQUAL_PREDICTIONS_INT8}
    return {
        "largest_difference": LARGEST_DIFFERENCE,
        "mean_difference": MEAN_DIFFERENCE,
        "equal_predictions": EQUAL_PREDICTIONS,
    }


def compare(
    family: Family, session: Session, rows: Sequence[Any], *, examples: str, int8: bool
) -> Parity:
    """Run a model and its export on the same rows.

    Args:
        family: the model.
        session: its export.
        rows: what both read.
        examples: where the rows come from.
        int8: whether the export has weights of 8 bits.
    """
    items = sorted(family.items(rows), key=len)
    totals: dict[str, list[tuple[float, float, int]]] = {}
    same: list[bool] = []
    for begin in range(0, len(items), ROWS_PER_BATCH):
        batch = family.batch(items[begin : begin + ROWS_PER_BATCH])
        wanted, got = run_model(family.graph, batch), session(batch)
        for name, values in wanted.items():
            if values.dtype.kind == "f":
                totals.setdefault(name, []).append(_difference(values, got[name]))
        pairs = (family.predictions(scores, batch) for scores in (wanted, got))
        same += [one == other for one, other in zip(*pairs, strict=True)]
    outputs = {
        name: Difference(max(row[0] for row in rows), _ratio(rows)) for name, rows in totals.items()
    }
    everything = [row for rows in totals.values() for row in rows]
    return Parity(
        examples=examples,
        n_examples=len(rows),
        n_predictions=len(same),
        compared=family.compared,
        largest_difference=max((row[0] for row in everything), default=0.0),
        mean_difference=_ratio(everything),
        equal_predictions=sum(same) / max(len(same), 1),
        outputs=outputs,
        bounds=bounds(int8=int8),
    )


@torch.no_grad()
def run_model(graph: Graph, batch: dict[str, torch.Tensor]) -> Scores:
    """Compute the outputs of a graph with torch, in float32.

    Args:
        graph: the graph.
        batch: its inputs by their names.
    """
    found = graph(*(batch[port.name] for port in graph.inputs))
    return {port.name: each.numpy() for port, each in zip(graph.outputs, found, strict=True)}


def _difference(wanted: NDArray[Any], got: NDArray[Any]) -> tuple[float, float, int]:
    """Return the largest difference, the sum of differences, and their number.

    Minus infinity marks what is impossible; where only one of both has it, they differ infinitely.
    """
    finite = np.isfinite(wanted)
    if not np.array_equal(finite, np.isfinite(got)):
        return np.inf, np.inf, 1
    differences = np.abs(wanted[finite].astype(np.float64) - got[finite])
    return float(differences.max(initial=0.0)), float(differences.sum()), int(finite.sum())


def _ratio(rows: Sequence[tuple[float, float, int]]) -> float:
    return sum(row[1] for row in rows) / max(sum(row[2] for row in rows), 1)


def require_within(parity: Parity, what: str) -> None:
    """Check that an export is near enough to its model.

    Args:
        parity: the comparison.
        what: the model, as the subject of the error message.

    Raises:
        InputError: a bound is exceeded.
    """
    for name, bound in parity.bounds.items():
        found = getattr(parity, name)
        is_least = name == "equal_predictions"
        if not (found >= bound if is_least else found <= bound):
            most = "at least" if is_least else "at most"
            advice = "report this" if "largest_difference" in parity.bounds else "omit --int8"
            raise InputError(
                f"{what}: the export differs from the model: {name.replace('_', ' ')} is "
                f"{found:.4g} on {parity.n_examples} examples, expected {most} {bound:g}; nothing "
                f"was written; {advice}"
            )
