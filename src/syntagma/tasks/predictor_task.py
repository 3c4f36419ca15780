"""Tasks whose work a predictor does: one that has a model, its tokenizer and its parses."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from syntagma.encoders.precision import Precision
from syntagma.tasks.predictor import TextPredictor
from syntagma.tasks.task import Example, Prediction, Task

__all__ = ["PredictorTask"]

Predictor = TypeVar("Predictor", bound=TextPredictor[Any])


class PredictorTask(Task[Example, Prediction], Generic[Example, Prediction, Predictor]):
    """A task by the predictor that does it.

    Args:
        predictor: to train or use.

    Attributes:
        predictor_class: of the predictor.
    """

    predictor_class: ClassVar[type[TextPredictor[Any]]]

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        self.tokenizer = predictor.tokenizer

    @property
    def model(self) -> Any:  # type: ignore[override]
        """The predictor's."""
        return self.predictor.model

    def costs(self) -> dict[str, float]:
        """The speed of parsing, where texts were parsed that no cache had."""
        store = self.predictor.texts.store
        if store is None or not store.seconds:
            return {}
        return {
            "parsed_words": float(store.parsed_words),
            "parsed_words_per_second": store.parsed_words / store.seconds,
        }

    @classmethod
    def from_folder(
        cls,
        folder: str | Path,
        *,
        device: str = "cpu",
        parser: str = "",
        precision: Precision | None = None,
    ) -> Self:
        """A saved predictor."""
        predictor: Any = cls.predictor_class.from_pretrained(
            folder, device=device, parser=parser, precision=precision or "auto"
        )
        return cls(predictor)
