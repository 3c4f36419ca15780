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
from syntagma.tasks.choice.chooser import Chooser
from syntagma.tasks.laid_out import LaidOut, Predictor, Texts, lay_out
from syntagma.tasks.pairs.task import PairClassifier
from syntagma.tasks.spans.reader import Reader
from syntagma.text.alignment import align
from syntagma.text.segmentation.segment import segment
from syntagma.text.sentence import Sentence

__all__ = ["Look", "Shown", "look", "open_predictor", "sentences_of", "word_places"]

Shown = Sequence[tuple[str, Sentence]]
"""Which words stand on the axes: texts, each with one of its sentences."""


class Look(NamedTuple):
    """What was seen of one model reading two texts.

    Args:
        name: of the model.
        predictor: the model with what it needs.
        laid_out: the sequence that it read.
        observed: what it did.
    """

    name: str
    predictor: Predictor
    laid_out: LaidOut
    observed: Observed


def open_predictor(name: str | Path, *, device: str = "cpu") -> Predictor:
    """A saved reader, chooser or classifier of pairs.

    Args:
        name: ``default-reader`` or the folder of a model or run.
        device: where to compute.

    Raises:
        InputError: there is no such model, or it reads no two texts.
    """
    task: Any = open_model(name, device=device)
    predictor = getattr(task, "predictor", None)
    if isinstance(predictor, Reader | Chooser | PairClassifier):
        return predictor
    raise InputError(f"{name}: a model for {task.name}; expected one for spans, choice or pairs")


def look(name: str, predictor: Predictor, texts: Texts) -> Look:
    """Let a model read two texts and watch it.

    Args:
        name: of the model, for titles.
        predictor: the model.
        texts: what it reads.

    Raises:
        InputError: a text is empty, or the encoder gives no attention weights.
    """
    laid_out = lay_out(predictor, texts)
    return Look(name, predictor, laid_out, observe(predictor.model, laid_out.batch))


def sentences_of(predictors: Sequence[Predictor], text: str) -> list[Sentence]:
    """The sentences of a text as the first of some models that reads syntax has them.

    Where none reads syntax, as our own segmenter has them, so that plain and guided models can be
    drawn with the same words.
    """
    for predictor in predictors:
        if predictor.texts.store is not None:
            parses = predictor.texts.store.parsed([text])[0].parses(text)
            return [parse.sentence for parse in parses]
    return segment(text)


def word_places(seen: Look, shown: Shown) -> NDArray[np.int64]:
    """The number of each piece's word among those shown, ``[n]``, negative for others."""
    n_pieces = seen.laid_out.batch["input_ids"].shape[1]
    words = np.full(n_pieces, -1, np.int64)
    before = 0
    for text, sentence in shown:
        for stretch in seen.laid_out.stretches:
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
