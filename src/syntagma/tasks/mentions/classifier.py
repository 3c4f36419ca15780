"""Classify mentions by markers inserted around them: shared by entity typing and relations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma.checks import require_several, require_text
from syntagma.errors import InputError
from syntagma.models.mention_model import MentionModel
from syntagma.progress import chunks
from syntagma.syntax.encode import EncodedText
from syntagma.syntax.markers import insert_markers, marker_pieces
from syntagma.syntax.sequences import Part
from syntagma.tasks.mentions.data import Mention, mention_problem
from syntagma.tasks.predictor import LabelPredictor

CHUNK = 1024
"""Number of texts that are encoded and batched together."""
TRAINING_CHUNK = 4 * CHUNK
"""Number of training texts that are parsed and encoded together, about 40 MB."""

Model = TypeVar("Model", bound=MentionModel)


class MarkedText(NamedTuple):
    """A text with mentions.

    Args:
        text: any text.
        mentions: the mentions that the model classifies together.
    """

    text: str
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MentionItem:
    """A text with markers as one sequence.

    Args:
        text: the pieces that are read, markers included.
        markers: position in the sequence of the marker before each mention.
        length: number of pieces, special ones included.
        truncated: whether the text was truncated.
        labels: codes of the gold labels; ``None`` if unlabelled.
    """

    text: EncodedText
    markers: tuple[int, ...]
    length: int
    truncated: bool
    labels: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return self.length


class ScoredMention(NamedTuple):
    """The label scores of one text.

    Args:
        scores: logits, ``[n_labels]``.
        truncated: whether the text was truncated.
    """

    scores: Tensor
    truncated: bool


class MentionClassifier(LabelPredictor[Model]):
    """Classifies mentions by the states of their markers.

    Args:
        model: the scorer.
        tokenizer: the encoder's fast tokenizer.
        options: see :class:`syntagma.tasks.predictor.LabelPredictor`.

    Raises:
        InputError: the model reads syntax, but no parse source is given.
    """

    def __init__(self, model: Model, tokenizer: Any, **options: Any) -> None:
        super().__init__(model, tokenizer, **options)
        self.signs = marker_pieces(tokenizer, model.signs)

    def all_checked(self, given: Any) -> Iterator[MarkedText]:
        """Lazily check several texts with mentions.

        Args:
            given: an iterable of arguments for :meth:`checked`.

        Raises:
            InputError: it is not an iterable of items.
        """
        require_several(given, "texts with mentions")
        return map(self.checked, given)

    def checked(self, given: Any) -> MarkedText:
        """Check a text with as many mentions as the model classifies together.

        Args:
            given: the text and the mentions, as one tuple.

        Raises:
            InputError: it is not such a tuple, a mention has no characters, or the text is empty.
        """
        n_mentions = len(self.signs)
        if not isinstance(given, tuple | list) or len(given) != 1 + n_mentions:
            wanted = ", ".join(["text", *["(start, end)"] * n_mentions])
            raise InputError(f"expected ({wanted}) for each text, got {given!r:.60}")
        return checked(*given)

    def score_stream(self, texts: Iterable[MarkedText]) -> Iterator[ScoredMention]:
        """Lazily score texts in batches, in constant memory."""
        for chunk in chunks(texts, CHUNK):
            items = self.items(chunk)
            for item, scores in zip(items, self.label_scores(items), strict=True):
                yield ScoredMention(scores, item.truncated)
            self.texts.forget()

    def items(self, texts: Sequence[MarkedText]) -> list[MentionItem]:
        """Encode texts as sequences with markers.

        Each distinct text is parsed and tokenised once, and without markers, which no parser knows.
        """
        self.texts.check_length(self.model.head.max_length)
        for text, _ in texts:
            require_text(text, "text")
        encoded = self.texts.encode([text for text, _ in texts])
        return [self._item(encoded[text], text, mentions) for text, mentions in texts]

    def labelled_items(
        self, texts: Iterable[MarkedText], labels: Iterable[tuple[int, ...]]
    ) -> Iterator[MentionItem]:
        """Lazily encode training texts with their labels, a chunk at a time.

        Args:
            texts: texts with mentions.
            labels: codes of the labels of each text.
        """
        source, gold = iter(texts), iter(labels)
        while chunk := list(islice(source, TRAINING_CHUNK)):
            for item, codes in zip(self.items(chunk), islice(gold, len(chunk)), strict=True):
                yield replace(item, labels=codes)
            self.texts.forget()

    @property
    def rows(self) -> slice:
        """The rows of the syntax table that the model reads."""
        return self.texts.builder.rows

    def _item(self, encoded: EncodedText, text: str, mentions: Sequence[Mention]) -> MentionItem:
        marked, positions = insert_markers(
            encoded,
            [_trimmed(text, mention) for mention in mentions],
            self.signs,
            place=self.model.head.markers,
        )
        builder = self.texts.builder
        room = self.model.head.max_length - builder.n_special(1)
        kept = pieces_around(
            len(marked), [position for pair in positions for position in pair], room
        )
        before = np.searchsorted(kept, [opening for opening, _ in positions])
        truncated = len(kept) < len(marked)
        return MentionItem(
            marked.take(kept) if truncated else marked,
            tuple((before + len(builder.prefix(1))).tolist()),
            len(kept) + builder.n_special(1),
            truncated,
        )

    def collate(self, items: Sequence[MentionItem]) -> dict[str, Tensor]:
        """Build a padded batch, with gold labels if all items have them."""
        batch = self.texts.builder.collate([[Part(i.text, 0, len(i.text))] for i in items])
        batch["markers"] = torch.tensor([item.markers for item in items])
        gold = [item.labels for item in items if item.labels is not None]
        if len(gold) == len(items):
            batch["labels"] = self.gold_tensor(gold)
        return batch

    def gold_tensor(self, labels: Sequence[tuple[int, ...]]) -> Tensor:
        """Convert gold labels to the tensor that the model's loss takes.

        Args:
            labels: codes of the labels of each example.
        """
        raise NotImplementedError


def checked(text: str, *mentions: Mention) -> MarkedText:
    """Check that the text is not empty, and that each mention has characters in it.

    Raises:
        InputError: the text is empty, or a mention is.
    """
    require_text(text, "text")
    for mention in mentions:
        if problem := mention_problem(text, mention):
            raise InputError(f"{problem}; give character offsets as (start, end)")
    return MarkedText(text, mentions)


def _trimmed(text: str, mention: Mention) -> Mention:
    """Strip the white space at both ends of a mention; a blank one shrinks to its start."""
    start, end = mention
    inside = text[start:end]
    if not inside.strip():
        return start, start
    return start + len(inside) - len(inside.lstrip()), start + len(inside.rstrip())


def pieces_around(n_pieces: int, markers: Sequence[int], room: int) -> NDArray[np.intp]:
    """Choose the pieces of a text to read, if there is no room for all.

    If one stretch can hold all markers, it is that stretch with equal context on both sides;
    otherwise, the pieces nearest to any marker, and among equally near ones the earlier.

    Args:
        n_pieces: number of pieces in the text, markers included.
        markers: positions of the markers.
        room: maximum number of pieces to read.

    Returns:
        The positions of the chosen pieces, in order, ``[min(n_pieces, room)]``.

    >>> pieces_around(9, [2, 4], 5).tolist(), pieces_around(9, [0, 8], 5).tolist()
    ([1, 2, 3, 4, 5], [0, 1, 2, 7, 8])
    """
    if n_pieces <= room:
        return np.arange(n_pieces)
    first, last = min(markers), max(markers)
    context = room - (last + 1 - first)
    if context >= 0:
        begin = min(max(first - context // 2, 0), n_pieces - room)
        return np.arange(begin, begin + room)
    positions = np.arange(n_pieces)
    distance = np.abs(positions[:, None] - np.asarray(markers)).min(1)
    return np.sort(np.argsort(distance, kind="stable")[:room])
