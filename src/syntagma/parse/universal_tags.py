"""The universal part-of-speech tags of words."""

from __future__ import annotations

UPOS_TAGS = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN",
    "SCONJ", "SYM", "VERB", "X",
)  # fmt: skip
"""All of them but that of punctuation."""
