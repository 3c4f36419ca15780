"""A model as it reads two texts, and which of its pieces belong to which words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.evaluation import open_model
from syntagma.models.observe import Observed, observe
from syntagma.tasks.layout import Layout, TextPair
from syntagma.tasks.predictor import TextPredictor
from syntagma.text.alignment import align
from syntagma.text.segmentation.segment import segment
from syntagma.text.sentence import Sentence

Shown = Sequence[tuple[str, Sentence]]
"""Which words are on the axes: texts, each with one of its sentences."""


Predictor = TextPredictor[Any]


class Observation(NamedTuple):
    """One model reading two texts.

    Args:
        name: of the model.
        predictor: the model with what it needs.
        layout: the sequence that it read.
        observed: attention weights and scores.
    """

    name: str
    predictor: Predictor
    layout: Layout
    observed: Observed


def open_predictor(name: str | Path, *, device: str = "cpu") -> Predictor:
    """A saved model that reads text pairs.

    Args:
        name: ``default-reader`` or the folder of a model or run.
        device: where to compute.

    Raises:
        InputError: there is no such model, or it does not read text pairs.
    """
    task: Any = open_model(name, device=device)
    if not reads_pairs(type(task)):
        raise InputError(
            f"{name}: a model for {task.name}; expected one for spans, choice or pairs"
        )
    predictor: Predictor = task.predictor
    return predictor


def reads_pairs(task: type[Any]) -> bool:
    """Whether the models of a task read text pairs, and can be observed doing so."""
    predictor = getattr(task, "predictor_class", TextPredictor)
    return predictor.lay_out is not TextPredictor.lay_out


def observe_reading(name: str, predictor: Predictor, texts: TextPair) -> Observation:
    """Let a model read two texts and record attention weights and scores.

    Args:
        name: of the model, for titles.
        predictor: the model.
        texts: to read.

    Raises:
        InputError: a text is empty, or the encoder gives no attention weights.
    """
    layout = predictor.lay_out(texts)
    return Observation(name, predictor, layout, observe(predictor.model, layout.batch))


def sentences_of(predictors: Sequence[Predictor], text: str) -> list[Sentence]:
    """The sentences of a text, as the first of some models that reads syntax parses them.

    Without such a model they come from the segmenter, so that plain and guided models can be drawn
    with the same words.
    """
    for predictor in predictors:
        if predictor.texts.cache is not None:
            parses = predictor.texts.cache.parsed([text])[0].parses(text)
            return [parse.sentence for parse in parses]
    return segment(text)


def word_places(seen: Observation, shown: Shown) -> NDArray[np.int64]:
    """The number of each piece's word among those shown, ``[n]``, negative for others."""
    n_pieces = seen.layout.batch["input_ids"].shape[1]
    words = np.full(n_pieces, -1, np.int64)
    before = 0
    for text, sentence in shown:
        for stretch in seen.layout.stretches:
            if stretch.text != text:
                continue
            found = align(
                sentence.starts, sentence.ends, stretch.pieces.starts, stretch.pieces.ends
            )
            place = slice(stretch.begin, stretch.begin + len(stretch.pieces))
            words[place] = np.where(found >= 0, found + before, words[place])
            break
        before += len(sentence)
    return words
