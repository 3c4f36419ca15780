"""Lay out a text pair as one model input, and record where each text starts.

Plots of attention need this to map a model's values for pieces back to the words of the texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from syntagma.syntax.encode import EncodedText
from syntagma.syntax.sequences import Part, SequenceBuilder


class TextPair(NamedTuple):
    """Two texts that a model reads together.

    Args:
        first: the passage or premise.
        second: the question or hypothesis.
        options: the options of a multiple-choice question.
        option: index of the option to read with the question.
        place: start and end character of the span that the chosen window must contain, if the
            passage is longer than one window.
    """

    first: str
    second: str
    options: tuple[str, ...] = ()
    option: int = 0
    place: tuple[int, int] | None = None


class Stretch(NamedTuple):
    """A text, or a part of one, in a sequence.

    Args:
        name: role of the text, such as ``premise``.
        text: the whole text.
        begin: position of its first piece in the sequence.
        pieces: its pieces in the sequence; their character offsets refer to ``text``.
    """

    name: str
    text: str
    begin: int
    pieces: EncodedText


class Layout(NamedTuple):
    """A sequence, and the texts in it.

    Args:
        batch: its tensors, ``[1, n_pieces]`` each.
        stretches: the texts, in order.
    """

    batch: dict[str, Tensor]
    stretches: tuple[Stretch, ...]


def lay_out_parts(
    builder: SequenceBuilder,
    parts: tuple[Part, Part],
    contents: Sequence[Sequence[tuple[str, str]]],
    *,
    border: int = 0,
) -> Layout:
    """Lay out a sequence whose parts hold one or two texts each.

    Args:
        builder: builds sequences from parts.
        parts: the parts of the sequence.
        contents: name and text of the one or two texts in each part.
        border: in a part with two texts, the position of the second one's first piece.
    """
    stretches = []
    for part, begin, texts in zip(parts, builder.begins(parts), contents, strict=True):
        cut = border if len(texts) > 1 else len(part)
        for (name, text), start, end in zip(texts, (0, cut), (cut, len(part)), strict=False):
            pieces = part.text.part(part.begin + start, part.begin + end)
            stretches.append(Stretch(name, text, begin + start, pieces))
    return Layout(builder.collate([parts]), tuple(stretches))
