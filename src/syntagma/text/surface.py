"""Spell a sentence from its words alone, where the text that it is from is not at hand."""

from __future__ import annotations

from itertools import pairwise

from syntagma.errors import InputError
from syntagma.text.sentence import Sentence


def respelled(sentence: Sentence) -> tuple[str, Sentence]:
    """Write words with single spaces between those that do not touch.

    Args:
        sentence: the words; their offsets say which of them touch.

    Returns:
        The text, and the words with their offsets in it.

    Raises:
        InputError: words share their characters.

    >>> respelled(Sentence(("ca", "n't", "wait"), (4, 6, 12), (6, 9, 16)))[0]
    "can't wait"
    """
    offsets = list(zip(sentence.starts, sentence.ends, strict=True))
    for number, ((start, _), (after, end)) in enumerate(pairwise(offsets), start=1):
        if start == after < end:
            raise InputError(
                f"words {number} and {number + 1} ({sentence.forms[number - 1]!r}, "
                f"{sentence.forms[number]!r}) share their characters; give the text that the "
                f"offsets refer to: to_conllu(text)"
            )
    gaps = ["" if after <= end else " " for (_, end), (after, _) in pairwise(offsets)]
    starts, text = [], ""
    for form, gap in zip(sentence.forms, [*gaps, ""], strict=False):
        starts.append(len(text))
        text += form + gap
    ends = [start + len(form) for start, form in zip(starts, sentence.forms, strict=True)]
    spelled = tuple(starts), tuple(ends)
    return text, Sentence(sentence.forms, *spelled, sentence.continues, sentence.multiword)
