"""Keep texts free of special tokens: ``[SEP]`` in a text is three ordinary characters and more.

A tokenizer turns text that spells one of its special tokens into that token, and the encoder then
sees a boundary or a mask that nobody set.  ``split_special_tokens`` of Transformers prevents only a
part of this.  It ignores tokens that were added without ``special=True`` (``[unused1]`` in some
vocabularies), and models with a unigram vocabulary find ``</s>`` among their own pieces.  So the
pieces of each text are looked at once more, and a special token is replaced by ordinary pieces.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

Offsets = tuple[int, int]

TOKENIZER_STATE = threading.Lock()
"""Held while the state of a tokenizer is changed, or must not be: threads may share one."""

_MARK = re.compile(r"<\S*>|\[\S+\]|\{\S+\}|\|\S+\||>>\S+<<|<<\S+>>")
"""Shape of tokens that stand for something other than their text, such as ``[unused1]``.

Other tokens that were added to a vocabulary are words or runs of spaces, which texts may contain.
"""
_PART = re.compile(r"\w+|\W")
_PREFIXES = "▁Ġ"
"""Characters that byte-level and SentencePiece vocabularies use for a space before a word."""


class Pieces(NamedTuple):
    """Pieces of a text, with the attributes of a ``tokenizers.Encoding`` that are read here.

    Args:
        ids: vocabulary ids, ``[n_pieces]``.
        offsets: first character of each piece in the text and the one after its last,
            ``[n_pieces]``.
    """

    ids: list[int]
    offsets: list[Offsets]


class SpecialTokens:
    """The special tokens of a tokenizer, and ordinary pieces to replace them with.

    Args:
        tokenizer: a fast tokenizer.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer.backend_tokenizer
        added = tokenizer.added_tokens_decoder.items()
        ids = {number for number, token in added if token.special or _MARK.fullmatch(str(token))}
        # The unknown token also stands for characters that the vocabulary lacks.
        self.unknown = tokenizer.unk_token_id
        self.unknown_token = tokenizer.unk_token
        self.ids = frozenset({*ids, *tokenizer.all_special_ids} - {self.unknown, None})
        self._replacements: dict[int, list[tuple[int, Offsets]]] = {}

    def replaced(self, ids: Sequence[int], offsets: Sequence[Offsets], text: str) -> Pieces | None:
        """Return the pieces of a text without special tokens, or ``None`` if it has none.

        Args:
            ids: vocabulary ids of the pieces, without those that a template adds, ``[n_pieces]``.
            offsets: start and end of each piece in characters, ``[n_pieces]``.
            text: the text.
        """
        if self.ids.isdisjoint(ids) and (self.unknown not in ids or self.unknown_token not in text):
            return None
        found = Pieces([], [])
        for piece, (start, end) in zip(ids, offsets, strict=True):
            is_special = piece in self.ids or (
                piece == self.unknown and text[start:end].strip() == self.unknown_token
            )
            for number, place in self._replacement(piece) if is_special else [(piece, None)]:
                found.ids.append(number)
                found.offsets.append(self._place(piece, place, start, end))
        return found

    def _place(self, piece: int, place: Offsets | None, start: int, end: int) -> Offsets:
        """Return where a piece lies in the text, given where it lies in the token's own text."""
        if place is None:
            return start, end
        # A token may cover the spaces before it, and its text may be longer than it was written.
        begin = end - len(self._tokenizer.id_to_token(piece))
        return (begin + place[0], begin + place[1]) if begin >= start else (start, end)

    def _replacement(self, piece: int) -> list[tuple[int, Offsets]]:
        """Return the ordinary pieces of a special token and their offsets in its text."""
        if piece not in self._replacements:
            token = self._tokenizer.id_to_token(piece)
            whole = self._pieces(token)
            if any(number == piece or number in self.ids for number, _ in whole):
                whole = [
                    (number, (part.start() + start, part.start() + end))
                    for part in _PART.finditer(token)
                    for number, (start, end) in self._pieces(part.group())
                ]
            ordinary = [pair for pair in whole if pair[0] not in self.ids]
            if all(number == self.unknown for number, _ in ordinary):
                # A vocabulary of whole words has no parts of words: one unknown word.
                ordinary = [(self.unknown or 0, (0, len(token)))]
            self._replacements[piece] = ordinary
        return self._replacements[piece]

    def _pieces(self, text: str) -> list[tuple[int, Offsets]]:
        """Tokenize the text of a special token, or a part of it, as the middle of a word."""
        backend = self._tokenizer
        read = text if backend.normalizer is None else backend.normalizer.normalize_str(text)
        words = [(read, (0, len(read)))]
        if backend.pre_tokenizer is not None:
            words = backend.pre_tokenizer.pre_tokenize_str(read)
        found = []
        for number, (word, (begin, stop)) in enumerate(words):
            if number == 0 and word[:1] in _PREFIXES and not text.startswith(word[:1]):
                word = word[1:]
            for token in backend.model.tokenize(word) if word else ():
                start, end = token.offsets
                is_exact = word.isascii() and len(read) == len(text)
                place = (begin + start, begin + end) if is_exact else (begin, stop)
                found.append((token.id, place))
        return found


_KNOWN: WeakKeyDictionary[Any, tuple[int, SpecialTokens]] = WeakKeyDictionary()


def special_tokens(tokenizer: Any) -> SpecialTokens:
    """Return the special tokens of a tokenizer; they are read again after tokens were added.

    Args:
        tokenizer: a fast tokenizer.
    """
    known = _KNOWN.get(tokenizer)
    if known is None or known[0] != len(tokenizer):
        known = _KNOWN[tokenizer] = len(tokenizer), SpecialTokens(tokenizer)
    return known[1]


def target_pieces(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Tokenize translations, with the special tokens that a decoder expects around them.

    Args:
        tokenizer: a fast tokenizer.
        texts: texts in the target language.

    Returns:
        The vocabulary ids of the pieces of each text.
    """
    # Meanwhile the tokenizer is that of the target language.
    with TOKENIZER_STATE:
        found = tokenizer(
            text_target=list(texts),
            split_special_tokens=True,
            return_special_tokens_mask=True,
            return_offsets_mapping=True,
        )
    special = special_tokens(tokenizer)
    columns = (found["input_ids"], found["special_tokens_mask"], found["offset_mapping"])
    rows = zip(*columns, texts, strict=True)
    return [_between_template(special, *row) for row in rows]


def _between_template(
    special: SpecialTokens,
    ids: Sequence[int],
    is_template: Sequence[int],
    offsets: Sequence[Offsets],
    text: str,
) -> list[int]:
    """Replace special tokens in a text, and keep those that the template adds around it."""
    inner = [number for number, added in enumerate(is_template) if not added]
    if not inner:
        return list(ids)
    begin, end = inner[0], inner[-1] + 1
    found = special.replaced(ids[begin:end], offsets[begin:end], text)
    return list(ids) if found is None else [*ids[:begin], *found.ids, *ids[end:]]
