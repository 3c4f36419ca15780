"""Two texts as the one sequence that a model reads, with the place of every text in it.

What a picture needs to put a model's numbers for pieces beside the words of the texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple

from torch import Tensor

from syntagma.errors import InputError
from syntagma.syntax.encode import EncodedText
from syntagma.syntax.sequences import Part
from syntagma.tasks.choice.chooser import Chooser
from syntagma.tasks.pairs.task import PairClassifier
from syntagma.tasks.spans.reader import Reader

__all__ = ["LaidOut", "Predictor", "Stretch", "Texts", "lay_out"]

Predictor = Reader | Chooser | PairClassifier
"""The predictors that read two texts in one sequence."""


class Texts(NamedTuple):
    """What is read.

    Args:
        first: the passage, or the premise.
        second: the question, or the hypothesis.
        options: of a question with options.
        option: number of the option that is read with the question, from 0.
        place: characters of the passage that must be in the window, of a long passage.
    """

    first: str
    second: str
    options: tuple[str, ...] = ()
    option: int = 0
    place: tuple[int, int] | None = None


class Stretch(NamedTuple):
    """A text, or a part of one, in a sequence.

    Args:
        text: the whole text.
        begin: position in the sequence of the first piece.
        pieces: those that are there; their offsets count in ``text``.
    """

    text: str
    begin: int
    pieces: EncodedText


class LaidOut(NamedTuple):
    """A sequence.

    Args:
        batch: its tensors, ``[1, n]`` each, on the model's device.
        stretches: the texts in it, in their order.
    """

    batch: dict[str, Tensor]
    stretches: tuple[Stretch, ...]


@singledispatch
def lay_out(predictor: Any, texts: Texts) -> LaidOut:
    """The sequence in which a model reads two texts.

    Args:
        predictor: a reader (of a long passage the first window with ``place`` in it), a chooser,
            or a classifier of pairs.
        texts: what is read.

    Raises:
        InputError: a text is empty, or the model reads no two texts.
    """
    name = getattr(predictor.model.config, "task", type(predictor).__name__)
    raise InputError(f"expected a model for spans, choice or pairs, got one for {name}")


@lay_out.register
def _(predictor: Reader, texts: Texts) -> LaidOut:
    windows = predictor.windows([(texts.first, texts.second)])
    chosen = windows[0]
    if texts.place is not None:
        start, end = texts.place
        for window in windows:
            inside = slice(window.begin, window.end)
            starts, ends = window.passage.starts[inside], window.passage.ends[inside]
            if len(starts) and starts[0] <= start and end <= ends[-1]:
                chosen = window
                break
    parts = Part(chosen.passage, chosen.begin, chosen.end), _whole(chosen.question)
    return _laid_out(predictor, parts, [[texts.first], [texts.second]])


@lay_out.register
def _(predictor: PairClassifier, texts: Texts) -> LaidOut:
    parts = predictor.items([(texts.first, texts.second)])[0].parts
    return _laid_out(predictor, parts, [[texts.first], [texts.second]])


@lay_out.register
def _(predictor: Chooser, texts: Texts) -> LaidOut:
    if not 0 <= texts.option < len(texts.options):
        n_options = len(texts.options)
        raise InputError(f"expected an option from 1 to {n_options}, got {texts.option + 1}")
    item = predictor.items([(texts.first, texts.second, texts.options)])[0]
    asked = predictor.asked(texts.second, texts.options[texts.option])
    contents = [[texts.first], list(asked)]
    if len(asked) > 1 and predictor.model.head.layout == "passage+question|option":
        contents = [[texts.first, asked[0]], [asked[1]]]
    return _laid_out(
        predictor, item.sequences[texts.option], contents, border=item.borders[texts.option]
    )


def _whole(text: EncodedText) -> Part:
    return Part(text, 0, len(text))


def _laid_out(
    predictor: Predictor,
    parts: tuple[Part, Part],
    contents: Sequence[Sequence[str]],
    *,
    border: int = 0,
) -> LaidOut:
    """Cut the parts of a sequence where a part holds two texts.

    Args:
        predictor: reads the sequence.
        parts: of the sequence.
        contents: the texts in each part.
        border: where the second of two texts begins in their part.
    """
    stretches = []
    for part, begin, texts in zip(
        parts, predictor.texts.builder.begins(parts), contents, strict=True
    ):
        cut = border if len(texts) > 1 else len(part)
        for text, start, end in zip(texts, (0, cut), (cut, len(part)), strict=False):
            pieces = part.text.part(part.begin + start, part.begin + end)
            stretches.append(Stretch(text, begin + start, pieces))
    batch = predictor.on_device(predictor.texts.builder.collate([parts]))
    return LaidOut(batch, tuple(stretches))
