"""A text pair as one model input, with the position of each text in it.

Pictures of attention need this to put a model's numbers for pieces next to the words of the texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from syntagma.syntax.encode import EncodedText
from syntagma.syntax.sequences import Part, SequenceBuilder


class TextPair(NamedTuple):
    """Two texts that are read together.

    Args:
        first: the passage, or the premise.
        second: the question, or the hypothesis.
        options: of a question with options.
        option: number of the option that is read with the question, from 0.
        place: characters of the passage that the window must contain, of a long passage.
    """

    first: str
    second: str
    options: tuple[str, ...] = ()
    option: int = 0
    place: tuple[int, int] | None = None


class Stretch(NamedTuple):
    """A text, or a part of one, in a sequence.

    Args:
        name: what the text is, such as ``premise``.
        text: the whole text.
        begin: position of the first piece in the sequence.
        pieces: those that are in the sequence; their offsets count in ``text``.
    """

    name: str
    text: str
    begin: int
    pieces: EncodedText


class Layout(NamedTuple):
    """A sequence.

    Args:
        batch: its tensors, ``[1, n]`` each.
        stretches: the texts in it, in order.
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
    """The layout of a sequence whose parts hold one or two texts each.

    Args:
        builder: makes sequences of parts.
        parts: of the sequence.
        contents: name and text of the one or two texts in each part.
        border: where the second of two texts begins in its part, in pieces.
    """
    stretches = []
    for part, begin, texts in zip(parts, builder.begins(parts), contents, strict=True):
        cut = border if len(texts) > 1 else len(part)
        for (name, text), start, end in zip(texts, (0, cut), (cut, len(part)), strict=False):
            pieces = part.text.part(part.begin + start, part.begin + end)
            stretches.append(Stretch(name, text, begin + start, pieces))
    return Layout(builder.collate([parts]), tuple(stretches))
