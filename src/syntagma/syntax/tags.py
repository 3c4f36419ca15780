"""Ids of part-of-speech tags for the tag embedding (POI-Net section 2.1)."""

from __future__ import annotations

from syntagma.parse.penn_tags import PENN_TAGS

SPE, PAD, ERR = len(PENN_TAGS), len(PENN_TAGS) + 1, len(PENN_TAGS) + 2
"""Ids for special tokens, for padding, and for everything without one of the 36 Penn tags:
punctuation, unknown tags, and pieces without a word."""

N_TAGS = len(PENN_TAGS) + 3
TAG_IDS = {tag: number for number, tag in enumerate(PENN_TAGS)}


def tag_ids(tags: tuple[str, ...] | list[str]) -> list[int]:
    """Return the id of each tag; :data:`ERR` for unknown tags.

    >>> tag_ids(["CC", "HYPH"]) == [0, ERR]
    True
    """
    return [TAG_IDS.get(tag, ERR) for tag in tags]
