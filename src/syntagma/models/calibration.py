"""Turn the scores of a reader into two probabilities, with weights fitted on labelled questions.

Two logistic regressions read the same few features of a question's scores.  One gives the
probability that the text holds no answer; the other the probability that the best span is right,
given that the text holds an answer.  Their combination,

    confidence = (1 - no_answer) · P(right | the text holds an answer),

is the probability that the span is right.  So the two numbers can never add up to more than 1, and
a different share of unanswerable questions only shifts the log odds of the first regression (Bayes'
rule; Saerens et al. 2002): nothing has to be fitted again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Self

from syntagma.errors import InputError
from syntagma.settings import nearest

VERSION = 1
"""Version of the features; raise it when one changes its meaning."""

FEATURES = (
    "margin",
    "verification",
    "lead",
    "share",
    "length",
    "windows",
    "overlap",
    "unknown",
    "number",
    "unfit",
    "several",
    "layout",
    "layout_margin",
)
"""Features of a question about one passage (:mod:`syntagma.tasks.spans.features`)."""
OF_ONE_PASSAGE = ("windows", "layout", "layout_margin")
"""Those that say nothing where several paragraphs are read."""
PARAGRAPH_FEATURES = (
    *(name for name in FEATURES if name not in OF_ONE_PASSAGE),
    "paragraphs",
    "support",
    "nearby",
    "missing",
)
"""Features of a question about several paragraphs (:mod:`syntagma.tasks.open_qa.features`)."""
RETRIEVAL_FEATURES = ("retrieval", "retrieval_gap")
"""What the scores of a retriever add to them."""
CONSTANT = "constant"
"""Name of the weight that is added for every question."""
LARGEST_LOGIT = 30.0


class Probabilities(NamedTuple):
    """The two numbers of an answer.

    Args:
        confidence: probability that the best span is right.
        no_answer: probability that the text holds no answer.
    """

    confidence: float
    no_answer: float


@dataclass(frozen=True)
class Calibration:
    """Weights that turn a reader's scores for one passage into probabilities.

    Args:
        version: version of the features that the weights belong to.
        unanswerable: share of questions without an answer that the probabilities assume.
        n_questions: number of questions that the weights were fitted on.
        no_answer: weight of each feature, and of ``constant``, for the log odds that the text holds
            no answer.
        right: the same for the log odds that the best span is right if the text holds an answer.
    """

    names: ClassVar[tuple[str, ...]] = FEATURES
    """Names of the features that may have a weight."""

    version: int = VERSION
    unanswerable: float = 0.5
    n_questions: int = 0
    no_answer: dict[str, float] = field(default_factory=dict)
    right: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.version != VERSION:
            raise InputError(
                f"version: expected {VERSION}, got {self.version}; fit the numbers again with "
                f"`syntagma calibrate`"
            )
        require_share(self.unanswerable, "unanswerable")
        for weights in (self.no_answer, self.right):
            for name, weight in weights.items():
                if name not in (*self.names, CONSTANT):
                    raise InputError(
                        f"no feature {name!r}; {nearest(name, (*self.names, CONSTANT))}"
                    )
                if not math.isfinite(weight):
                    raise InputError(f"{name}: expected a finite weight, got {weight}")

    def probabilities(self, features: Mapping[str, float]) -> Probabilities:
        """Compute the two numbers of one question.

        Args:
            features: the value of each of :attr:`names`.
        """
        no_answer = _sigmoid(_log_odds(self.no_answer, features))
        return Probabilities(
            (1.0 - no_answer) * _sigmoid(_log_odds(self.right, features)), no_answer
        )

    def with_unanswerable(self, share: float) -> Self:
        """Return the calibration for another share of questions without an answer.

        Args:
            share: of all questions, above 0 and below 1.

        Raises:
            InputError: it is not.
        """
        require_share(share, "unanswerable")
        shift = _logit(share) - _logit(self.unanswerable)
        constant = self.no_answer.get(CONSTANT, 0.0) + shift
        return replace(self, unanswerable=share, no_answer=self.no_answer | {CONSTANT: constant})


@dataclass(frozen=True)
class ParagraphsCalibration(Calibration):
    """Weights for the best candidate of several paragraphs.

    That one is the best of many, so the weights for a single passage make too much of its score.
    """

    names: ClassVar[tuple[str, ...]] = PARAGRAPH_FEATURES


@dataclass(frozen=True)
class RetrievalCalibration(Calibration):
    """Weights for the best candidate of several paragraphs that a retriever has scored."""

    names: ClassVar[tuple[str, ...]] = (*PARAGRAPH_FEATURES, *RETRIEVAL_FEATURES)


def require_share(share: float, name: str) -> None:
    """Check a share of questions.

    Args:
        share: the share.
        name: its name, for the message.

    Raises:
        InputError: it is not above 0 and below 1.
    """
    if not 0.0 < share < 1.0:
        raise InputError(
            f"{name}: expected a share above 0 and below 1, got {share:g}; write 0.5 for half of "
            f"the questions"
        )


def uncalibrated(null_odds: float, threshold: float, share: float) -> Probabilities:
    """Return careful numbers for a reader whose scores were never calibrated.

    Both are closer to one half than the scores say, because raw scores of neural readers are
    overconfident.

    Args:
        null_odds: score of no answer minus that of the best span, in logits.
        threshold: fitted threshold of the odds.
        share: softmax share of the best span among the candidates, from 0 to 1.
    """
    # Half of the log odds: the temperature of 2 that overconfident softmaxes typically need.
    no_answer = _sigmoid((null_odds - threshold) / 2)
    return Probabilities((1.0 - no_answer) * share, no_answer)


def _log_odds(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    rest = sum(weight * features[name] for name, weight in weights.items() if name != CONSTANT)
    return weights.get(CONSTANT, 0.0) + rest


def _sigmoid(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-LARGEST_LOGIT, min(LARGEST_LOGIT, log_odds))))


def _logit(share: float) -> float:
    return math.log(share) - math.log1p(-share)
