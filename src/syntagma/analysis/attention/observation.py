"""Record what a model computes for two texts, and align its pieces with words."""

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
"""The words to show: sentences, each with the text that contains it."""

Predictor = TextPredictor[Any]


class Observation(NamedTuple):
    """Attention weights and scores of a model for two texts.

    Args:
        name: name of the model.
        predictor: the model with its tokenizer and parser.
        layout: the input sequence.
        observed: attention weights and co-attention scores.
    """

    name: str
    predictor: Predictor
    layout: Layout
    observed: Observed


def open_predictor(name: str | Path, *, device: str = "cpu") -> Predictor:
    """Open a saved model that reads text pairs.

    Args:
        name: ``default-reader`` or the folder of a model or run.
        device: device to run the model on.

    Raises:
        InputError: the model does not exist, or does not read text pairs.
    """
    task: Any = open_model(name, device=device)
    if not reads_pairs(type(task)):
        raise InputError(
            f"{name}: expected a model for spans, choice or pairs, got one for {task.name}; give "
            f"another model"
        )
    predictor: Predictor = task.predictor
    return predictor


def reads_pairs(task: type[Any]) -> bool:
    """Whether the models of a task read text pairs and can be observed."""
    predictor = getattr(task, "predictor_class", TextPredictor)
    return predictor.lay_out is not TextPredictor.lay_out


def observe_reading(name: str, predictor: Predictor, texts: TextPair) -> Observation:
    """Run a model on two texts and record attention weights and scores.

    Args:
        name: name of the model, for titles.
        predictor: the model.
        texts: the two texts.

    Raises:
        InputError: a text is empty, or the encoder does not return attention weights.
    """
    layout = predictor.lay_out(texts)
    return Observation(name, predictor, layout, observe(predictor.model, layout.batch))


def sentences_of(predictors: Sequence[Predictor], text: str) -> list[Sentence]:
    """Split a text into sentences and words.

    They come from the parser of the first model that reads syntax, so that plain and guided models
    are drawn with the same words; without such a model they come from the segmenter.

    Args:
        predictors: the models.
        text: the text.
    """
    for predictor in predictors:
        if predictor.texts.cache is not None:
            parses = predictor.texts.cache.parsed([text])[0].parses(text)
            return [parse.sentence for parse in parses]
    return segment(text)


def word_places(seen: Observation, shown: Shown) -> NDArray[np.int64]:
    """Find the word of each piece.

    Args:
        seen: the observation of a model.
        shown: the words to show.

    Returns:
        Index of the word among the shown ones, negative for other pieces, ``[n_pieces]``.
    """
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
            inside = slice(stretch.begin, stretch.begin + len(stretch.pieces))
            words[inside] = np.where(found >= 0, found + before, words[inside])
            break
        before += len(sentence)
    return words
