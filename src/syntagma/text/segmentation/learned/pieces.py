"""The pieces of an encoder's tokenizer, as a hint where words end.

Scripts without spaces have no rule for it, and a small treebank shows few of their words.  The
vocabulary of an encoder was made from much text, so most of its longer pieces are words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Pieces: TypeAlias = Callable[[Sequence[str]], list[list[int]]]
"""Returns the ends of the pieces of each run, ascending."""


def pieces_of(tokenizer: Any) -> Pieces:
    """Return a function that cuts runs of characters into pieces.

    Args:
        tokenizer: a fast tokenizer.
    """
    # It loads torch, which segmentation by the rules for English does without.
    from syntagma.text.alignment import encodable

    backend = tokenizer.backend_tokenizer

    def ends(runs: Sequence[str]) -> list[list[int]]:
        readable = [encodable(run) for run in runs]
        encodings = backend.encode_batch(readable, add_special_tokens=False)
        # A piece for the start of a word alone has no characters.
        return [sorted({end for _, end in each.offsets} - {0}) for each in encodings]

    return ends
