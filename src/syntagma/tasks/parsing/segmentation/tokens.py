"""The tokens of a treebank, as they are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from syntagma.text.conllu import TreebankSentence
from syntagma.text.conllu_rows import FORM, surface_tokens


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a treebank.

    Args:
        form: how it is written.
        words: the words that it stands for; ``None`` if it is one word.
        sentence: number of its sentence.
        joined: whether no space follows.
    """

    form: str
    words: tuple[str, ...] | None
    sentence: int
    joined: bool

    @property
    def parts(self) -> list[str]:
        """What the token consists of between spaces: *10* and *000* of *10 000*."""
        return self.form.split()


def tokens_of(sentences: Sequence[TreebankSentence]) -> Iterator[Token]:
    """Yield the tokens of a treebank, in order."""
    for number, sentence in enumerate(sentences):
        forms = [row[FORM] for row in sentence.words]
        first = 0
        for form, gap, n_words in surface_tokens(sentence.rows):
            words = tuple(forms[first : first + n_words]) if n_words > 1 else None
            first += n_words
            yield Token(form, words, number, not gap)
