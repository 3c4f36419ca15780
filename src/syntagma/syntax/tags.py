"""Part-of-speech tags as the numbers that a tag embedding reads (POI-Net section 2.1)."""

from __future__ import annotations

from syntagma.parse.penn_tags import PENN_TAGS

__all__ = ["ERR", "N_TAGS", "PAD", "PENN_TAGS", "SPE", "TAG_IDS", "tag_ids"]

SPE, PAD, ERR = len(PENN_TAGS), len(PENN_TAGS) + 1, len(PENN_TAGS) + 2
"""Special pieces, padding, and words whose tag is none of the 36 (punctuation among them), with
pieces of a text that stand for no word."""

N_TAGS = len(PENN_TAGS) + 3
TAG_IDS = {tag: number for number, tag in enumerate(PENN_TAGS)}


def tag_ids(tags: tuple[str, ...] | list[str]) -> list[int]:
    """The number of each tag; :data:`ERR` for those outside the set.

    >>> tag_ids(["CC", "HYPH"]) == [0, ERR]
    True
    """
    return [TAG_IDS.get(tag, ERR) for tag in tags]
