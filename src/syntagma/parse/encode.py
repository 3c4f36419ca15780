"""Encode sentences as input tensors of the parser, without a Python loop over words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma.parse.shapes import word_shapes
from syntagma.text.alignment import ABSENT, align, cut, encodable, require_offsets
from syntagma.text.emoji import EMOTICON, is_emoji
from syntagma.text.escapes import unescape_words
from syntagma.text.limits import read_part
from syntagma.text.sentence import Sentence

IntArray = NDArray[np.int64]

# Parse caches and annotated corpora depend on this version, through the parser's fingerprint.
# Raise it by one whenever a code change makes the parser read or parse any word differently.
READING_VERSION = 2

MARK = re.compile(r"\A[\[<{|]+/?(\w\S*?)/?[\]>}|]+\Z")
"""A name in brackets.  Round ones are not among them: ``(a)`` numbers the items of a list."""


@dataclass(frozen=True, slots=True)
class EncodedSentence:
    """The pieces of one sentence, without special pieces.

    Args:
        pieces: vocabulary ids, ``[n_pieces]``.
        word_of_piece: index of the word that each piece belongs to, ``[n_pieces]``.
        shapes: shape class of each word, see :mod:`syntagma.parse.shapes`, ``[n_words]``.
    """

    pieces: IntArray
    word_of_piece: IntArray
    shapes: IntArray

    def __len__(self) -> int:
        return len(self.pieces)


class SentenceEncoder:
    """Encode sentences and collate them into padded batches.

    Words are joined by single spaces before they are tokenized, whatever separates them in the
    text.  So each word gets at least one piece: *cannot*, segmented into *can* and *not*, is read
    as *can not*.  Words are read as :meth:`readings` says.

    Args:
        tokenizer: the encoder's fast tokenizer.

    Raises:
        InputError: the tokenizer returns no character offsets.
    """

    def __init__(self, tokenizer: Any) -> None:
        require_offsets(tokenizer)
        self.tokenizer = tokenizer
        # Tokenizers do not say which special pieces they add: read them off an example.
        probe = tokenizer("a", return_special_tokens_mask=True)
        special = np.array(probe["special_tokens_mask"], bool)
        ids = np.array(probe["input_ids"], np.int64)
        content = np.flatnonzero(~special)
        self.prefix, self.suffix = ids[: content[0]], ids[content[-1] + 1 :]
        self.pad_id = tokenizer.pad_token_id or 0

    @property
    def n_special(self) -> int:
        """Number of special pieces around a sentence."""
        return len(self.prefix) + len(self.suffix)

    def encode(self, sentences: Sequence[Sentence]) -> list[EncodedSentence]:
        """Tokenize sentences and align the pieces with the words.

        Args:
            sentences: segmented sentences.
        """
        if not sentences:
            return []
        # Of a long word only the start is read.
        forms = [read_part(form) for words in self.readings(sentences) for form in words]
        bounds = np.cumsum([0, *map(len, sentences)]).tolist()
        texts = [encodable(" ".join(forms[begin:end])) for begin, end in pairwise(bounds)]
        encodings = cut(self.tokenizer, texts)
        n_words = np.array([len(sentence) for sentence in sentences])
        n_pieces = np.array([len(encoding.ids) for encoding in encodings])
        # Offsets are computed as if all texts were joined by spaces, so that one call aligns them.
        lengths = np.fromiter(map(len, forms), np.int64, count=len(forms))
        word_ends = np.cumsum(lengths + 1) - 1
        text_starts = np.concatenate([[0], np.cumsum([len(text) + 1 for text in texts])[:-1]])
        # The empty text of a sentence without words still contributes its separating space.
        empty_before = np.concatenate([[0], np.cumsum(n_words == 0)[:-1]])
        word_ends = word_ends + np.repeat(empty_before, n_words)
        ids = np.concatenate([encoding.ids for encoding in encodings])
        offsets = np.concatenate([encoding.offsets for encoding in encodings])
        offsets = offsets + np.repeat(text_starts, n_pieces)[:, None]
        words = align(word_ends - lengths, word_ends, offsets[:, 0], offsets[:, 1])
        first_word = np.cumsum(n_words) - n_words
        words = np.where(words >= 0, words - np.repeat(first_word, n_pieces), ABSENT)
        shapes = word_shapes(forms)
        piece_cuts, word_cuts = np.cumsum(n_pieces)[:-1], np.cumsum(n_words)[:-1]
        return [
            EncodedSentence(*parts)
            for parts in zip(
                np.split(ids, piece_cuts),
                np.split(words, piece_cuts),
                np.split(shapes, word_cuts),
                strict=True,
            )
        ]

    def readings(self, sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
        """Return what is tokenized for each word.

        Penn's escapes are undone.  A name in brackets, such as ``[SEP]``, is read as the name:
        the first piece of a word stands for it, and that would be the bracket.  Emoji that the
        vocabulary lacks are read as an emoticon: the unknown piece could be any character.

        Args:
            sentences: segmented sentences.

        Returns:
            A tuple of strings for each sentence, ``[n_words]``.
        """
        read = [
            tuple(MARK.sub(r"\1", form) for form in unescape_words(sentence.forms))
            for sentence in sentences
        ]
        emoji = {form for words in read for form in words if is_emoji(form)}
        if not emoji:
            return read
        unknown = self.tokenizer.unk_token_id
        encodings = zip(emoji, cut(self.tokenizer, list(emoji)), strict=True)
        lacking = {form for form, encoding in encodings if unknown in encoding.ids}
        return [tuple(EMOTICON if form in lacking else form for form in words) for words in read]

    def collate(self, batch: Sequence[EncodedSentence]) -> dict[str, Tensor]:
        """Build a padded batch, with special pieces.

        Args:
            batch: at least one encoded sentence.

        Returns:
            ``input_ids``, ``attention_mask`` and ``word_of_piece``, ``[batch, n_pieces]``;
            ``shapes``, ``[batch, n_words]``; and ``n_words``, ``[batch]``.
        """
        longest = max(len(item) for item in batch) + self.n_special
        n_words = max(len(item.shapes) for item in batch)
        input_ids = np.full((len(batch), longest), self.pad_id, np.int64)
        attention_mask = np.zeros((len(batch), longest), np.int64)
        word_of_piece = np.full((len(batch), longest), ABSENT, np.int64)
        shapes = np.zeros((len(batch), n_words), np.int64)
        begin = len(self.prefix)
        for row, item in enumerate(batch):
            end = begin + len(item)
            input_ids[row, :begin] = self.prefix
            input_ids[row, begin:end] = item.pieces
            input_ids[row, end : end + len(self.suffix)] = self.suffix
            attention_mask[row, : end + len(self.suffix)] = 1
            word_of_piece[row, begin:end] = item.word_of_piece
            shapes[row, : len(item.shapes)] = item.shapes
        return {
            "input_ids": torch.from_numpy(input_ids),
            "attention_mask": torch.from_numpy(attention_mask),
            "word_of_piece": torch.from_numpy(word_of_piece),
            "shapes": torch.from_numpy(shapes),
            "n_words": torch.tensor([len(item.shapes) for item in batch]),
        }
