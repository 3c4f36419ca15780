"""Mentions in their texts as sequences with markers: what typing and relations share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma.checks import require_several, require_text
from syntagma.errors import InputError
from syntagma.models.mention_model import MentionModel
from syntagma.syntax.encode import EncodedText
from syntagma.syntax.markers import insert_markers, marker_pieces
from syntagma.syntax.sequences import Part
from syntagma.tasks.mentions.data import Mention, mention_problem
from syntagma.tasks.predictor import LabelPredictor

CHUNK = 1024
"""Texts that are read together."""

Model = TypeVar("Model", bound=MentionModel)


class MarkedText(NamedTuple):
    """A text with its mentions.

    Args:
        text: any text.
        mentions: as many as the model classifies together.
    """

    text: str
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MentionItem:
    """A text with markers as one sequence.

    Args:
        text: what is read of it.
        markers: place in the sequence of the marker before each mention.
        length: pieces, special ones included.
        truncated: whether the text was too long.
        labels: codes of the gold labels; ``None`` for examples without.
    """

    text: EncodedText
    markers: tuple[int, ...]
    length: int
    truncated: bool
    labels: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return self.length


class ScoredMention(NamedTuple):
    """What the model says.

    Args:
        scores: logits, ``[n_labels]``.
        truncated: whether the text was too long.
    """

    scores: Tensor
    truncated: bool


class MentionClassifier(LabelPredictor[Model]):
    """Classifies mentions by their markers.

    Args:
        model: the scorer.
        tokenizer: its encoder's fast tokenizer.
        options: of :class:`syntagma.tasks.predictor.LabelPredictor`.

    Raises:
        InputError: the model reads syntax and there is no source.
    """

    def __init__(self, model: Model, tokenizer: Any, **options: Any) -> None:
        super().__init__(model, tokenizer, **options)
        self.signs = marker_pieces(tokenizer, model.signs)

    @property
    def labels(self) -> list[str]:
        """Names of the labels."""
        return list(self.model.config.labels["labels"])

    def all_checked(self, given: Any) -> Iterator[MarkedText]:
        """Each text with as many mentions as the model classifies together, as they come.

        Args:
            given: several of what :meth:`checked` takes.

        Raises:
            InputError: it is something else.
        """
        require_several(given, "texts with mentions")
        return map(self.checked, given)

    def checked(self, given: Any) -> MarkedText:
        """A text with as many mentions as the model classifies together.

        Args:
            given: the text and the mentions, as one tuple.

        Raises:
            InputError: it is something else, a mention has no characters, or the text is empty.
        """
        n_mentions = len(self.signs)
        if not isinstance(given, tuple | list) or len(given) != 1 + n_mentions:
            wanted = ", ".join(["text", *["(start, end)"] * n_mentions])
            raise InputError(f"expected ({wanted}) for each text, got {given!r:.60}")
        return checked(*given)

    def score_stream(self, asked: Iterable[MarkedText]) -> Iterator[ScoredMention]:
        """Score texts as they come, many at a time, in constant memory."""
        source = iter(asked)
        while chunk := list(islice(source, CHUNK)):
            items = self.items(chunk)
            for item, scores in zip(items, self.label_scores(items), strict=True):
                yield ScoredMention(scores, item.truncated)
            self.texts.forget()

    def items(self, asked: Sequence[MarkedText]) -> list[MentionItem]:
        """Texts as sequences; each is parsed and cut into pieces once, without markers."""
        self.texts.check_length(self.model.head.max_length)
        for text, _ in asked:
            require_text(text, "text")
        texts = self.texts.encode([text for text, _ in asked])
        return [self._item(texts[text], text, mentions) for text, mentions in asked]

    def _item(self, encoded: EncodedText, text: str, mentions: Sequence[Mention]) -> MentionItem:
        marked, places = insert_markers(
            encoded,
            [_trimmed(text, mention) for mention in mentions],
            self.signs,
            place=self.model.head.markers,
        )
        builder = self.texts.builder
        room = self.model.head.max_length - builder.n_special(1)
        kept = pieces_around(len(marked), [place for pair in places for place in pair], room)
        before = np.searchsorted(kept, [opening for opening, _ in places])
        truncated = len(kept) < len(marked)
        return MentionItem(
            marked.take(kept) if truncated else marked,
            tuple((before + len(builder.prefix(1))).tolist()),
            len(kept) + builder.n_special(1),
            truncated,
        )

    def collate(self, items: Sequence[MentionItem]) -> dict[str, Tensor]:
        """A padded batch."""
        batch = self.texts.builder.collate([[Part(i.text, 0, len(i.text))] for i in items])
        batch["markers"] = torch.tensor([item.markers for item in items])
        gold = [item.labels for item in items if item.labels is not None]
        if len(gold) == len(items):
            batch["labels"] = self.gold_tensor(gold)
        return batch

    def gold_tensor(self, labels: Sequence[tuple[int, ...]]) -> Tensor:
        """Gold labels as the model's loss wants them.

        Args:
            labels: codes of the labels of each example.
        """
        raise NotImplementedError


def checked(text: str, *mentions: Mention) -> MarkedText:
    """A text with mentions that have characters in it.

    Raises:
        InputError: one has none, or the text is empty.
    """
    require_text(text, "text")
    for mention in mentions:
        if problem := mention_problem(text, mention):
            raise InputError(f"{problem}; give the offsets of its first character and its end")
    return MarkedText(text, mentions)


def _trimmed(text: str, mention: Mention) -> Mention:
    """A mention without the white space at its ends."""
    start, end = mention
    inside = text[start:end]
    if not inside.strip():
        return start, start
    return start + len(inside) - len(inside.lstrip()), start + len(inside.rstrip())


def pieces_around(n_pieces: int, markers: Sequence[int], room: int) -> NDArray[np.intp]:
    """Which pieces of a text are read: all, or as many as there is room for.

    One stretch around the mentions where it holds all of them, with as much context on either side;
    else the pieces that stand nearest to a marker, of equals the earlier ones.

    Args:
        n_pieces: of the text, markers included.
        markers: their places.
        room: the most that can be read.

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
    places = np.arange(n_pieces)
    distance = np.abs(places[:, None] - np.asarray(markers)).min(1)
    return np.sort(np.argsort(distance, kind="stable")[:room])
