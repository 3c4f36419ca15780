"""Check what callers give to a parser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from syntagma.checks import require_count, require_several
from syntagma.errors import InputError
from syntagma.parse.decode import DecodingMode
from syntagma.parse.languages import Languages
from syntagma.parse.scorer import ParserModel
from syntagma.text.sentence import Sentence


def check_options(
    model: ParserModel, *, budget: Any, max_words: Any, decoding: Any, languages: Any
) -> None:
    """Check the options of :class:`syntagma.parse.parser.JointParser`.

    Args:
        model: the parser's model.
        budget: maximum number of pieces in a batch.
        max_words: maximum sentence length in words.
        decoding: how trees are decoded.
        languages: what cuts raw text, or ``None``.

    Raises:
        InputError: one is out of range or of another type, or ``decoding`` asks for phrases and the
            model has none.
    """
    require_count(budget, "budget")
    require_count(max_words, "max_words")
    if decoding not in get_args(DecodingMode):
        modes = ", ".join(get_args(DecodingMode))
        raise InputError(f"decoding must be one of {modes}; got {decoding}")
    if decoding != "dependencies" and model.spans is None:
        raise InputError(
            f"decoding {decoding}: this parser was trained without phrases; train one on a "
            f"treebank with brackets, or use decoding dependencies"
        )
    if not isinstance(languages, Languages | None):
        raise InputError(
            f"languages: expected an object of the class Languages, got {languages!r:.60}; to "
            f"choose one language, write load_parser(NAME, lang='fr')"
        )


def checked_sentences(sentences: Any) -> Iterator[Sentence]:
    """Yield the sentences, checking the type of each.

    Args:
        sentences: what was given as sentences.

    Raises:
        InputError: it is not an iterable of :class:`Sentence`.
    """
    require_several(sentences, "sentences")
    for number, sentence in enumerate(sentences, start=1):
        if not isinstance(sentence, Sentence):
            raise InputError(
                f"sentence {number}: expected a Sentence, got {sentence!r:.60}; give running text "
                f"to parse_text(), and words as Sentence.from_words([…])"
            )
        yield sentence
