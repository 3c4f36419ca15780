"""What holds for the sentences of any text."""

from __future__ import annotations

from collections.abc import Sequence

from syntagma.text.sentence import Sentence

INVISIBLE = set(
    "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad\ufe0e\ufe0f"
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
"""Characters that may stand between words: zero-width characters and direction marks."""


def check_lossless(text: str, found: Sequence[Sentence], *, gaps: set[str]) -> None:
    """Check that only whitespace and characters of ``gaps`` lie outside the words.

    Words of a multi-word token that does not spell them share the characters of the token.
    """
    position = 0
    for sentence in found:
        assert sentence.forms
        shared = {
            word
            for first, end in sentence.multiword or ()
            if sentence.starts[first] == sentence.starts[end - 1]
            for word in range(first, end)
        }
        for number, (form, start, end) in enumerate(sentence.words):
            assert end > start
            if number in shared and end == position:
                continue
            assert start >= position
            assert number in shared or text[start:end] == form
            assert not any(map(str.isspace, form))
            assert all(mark.isspace() or mark in gaps for mark in text[position:start])
            position = end
    assert all(mark.isspace() or mark in gaps for mark in text[position:])
