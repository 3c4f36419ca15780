"""What holds for the sentences of any text."""

from __future__ import annotations

from collections.abc import Sequence

from syntagma.text.sentence import Sentence

INVISIBLE = set(
    "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad\ufe0e\ufe0f"
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
"""Characters that may stand between words: zero-width characters and direction marks."""


def check_lossless(
    text: str, found: Sequence[Sentence], *, gaps: set[str], spaced: bool = False
) -> None:
    """Check that only whitespace and characters of ``gaps`` lie outside the words.

    Words of a multi-word token that does not spell them share the characters of the token.  With
    ``spaced``, a word may have single spaces inside, for any such character of the text.
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
            covered = text[start:end]
            if spaced and " " in form:
                covered = "".join(" " if _is_gap(mark, gaps) else mark for mark in covered)
                assert "  " not in form
            assert number in shared or covered == form
            assert not any(map(str.isspace, form.replace(" ", "") if spaced else form))
            assert all(_is_gap(mark, gaps) for mark in text[position:start])
            position = end
    assert all(_is_gap(mark, gaps) for mark in text[position:])


def _is_gap(mark: str, gaps: set[str]) -> bool:
    return mark.isspace() or mark in gaps
