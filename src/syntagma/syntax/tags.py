"""Ids of part-of-speech tags for the tag embedding (POI-Net section 2.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from syntagma.parse.penn_tags import PENN_TAGS
from syntagma.parse.universal_tags import UPOS_TAGS

if TYPE_CHECKING:
    from syntagma.parse.columns import ParsedText

TagSet = Literal["penn", "upos"]
"""Penn Treebank tags, read from the column XPOS, or universal tags, read from UPOS."""

SPE, PAD, ERR = len(PENN_TAGS), len(PENN_TAGS) + 1, len(PENN_TAGS) + 2
"""Ids for special tokens, for padding, and for everything without one of the tags: punctuation,
unknown tags, and pieces without a word."""

N_TAGS = len(PENN_TAGS) + 3
"""Rows of the table.  There are fewer universal tags than Penn's, so that both number its rows."""
TAG_IDS: Mapping[TagSet, Mapping[str, int]] = {
    "penn": {tag: number for number, tag in enumerate(PENN_TAGS)},
    "upos": {tag: number for number, tag in enumerate(UPOS_TAGS)},
}
MIN_SHARE = 0.5
"""Share of words with a tag of a tag set below which that is not the tag set of a parse source."""


def tag_ids(tags: Sequence[str], tag_set: TagSet = "penn") -> list[int]:
    """Return the id of each tag; :data:`ERR` for unknown tags.

    >>> tag_ids(["CC", "HYPH"]) == [0, ERR]
    True
    >>> tag_ids(["NOUN", "PUNCT"], "upos") == [7, ERR]
    True
    """
    known = TAG_IDS[tag_set]
    return [known.get(tag, ERR) for tag in tags]


def tag_set_of(guides: Mapping[str, Any]) -> TagSet:
    """Return the tag set that the guides of a model read; Penn's where it is not yet chosen.

    Args:
        guides: settings of each guide, as dataclasses or as plain values.
    """
    for settings in guides.values():
        values = settings if isinstance(settings, Mapping) else vars(settings)
        if values.get("tags") == "upos":
            return "upos"
    return "penn"


def tagged_shares(parsed: Sequence[ParsedText]) -> dict[TagSet, float]:
    """Return the share of words that have a tag of each tag set.

    Words that the source tags as punctuation do not count.

    Args:
        parsed: parsed texts.
    """
    n_words, found = 0, dict.fromkeys(TAG_IDS, 0)
    for text in parsed:
        names = text.upos_labels.names
        words = [index for index, code in enumerate(text.upos.tolist()) if names[code] != "PUNCT"]
        n_words += len(words)
        for tag_set, labels, codes in (
            ("penn", text.xpos_labels.names, text.xpos.tolist()),
            ("upos", names, text.upos.tolist()),
        ):
            known = TAG_IDS[tag_set]  # type: ignore[index]
            found[tag_set] += sum(labels[codes[index]] in known for index in words)  # type: ignore[index]
    return {tag_set: count / max(n_words, 1) for tag_set, count in found.items()}


def too_few_tags(shares: Mapping[TagSet, float], tag_set: TagSet) -> str:
    """Say that most words lack the tags that a model reads; empty if they have them.

    Args:
        shares: as of :func:`tagged_shares`.
        tag_set: the tag set of the model.
    """
    if shares[tag_set] >= MIN_SHARE:
        return ""
    others = max(shares.values()) > shares[tag_set]
    return (
        f"only {shares[tag_set]:.0%} of words have one of the "
        f"{'Penn' if tag_set == 'penn' else 'universal'} tags that the model reads; use a parse "
        f"source with such tags"
        f"{', or train another encoder with guides.pos_embedding.tags=auto' if others else ''}"
    )
