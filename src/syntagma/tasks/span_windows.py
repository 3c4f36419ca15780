"""Questions about passages as windows that fit the encoder (SG-Net: passage first)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from syntagma.encoders.load import max_pieces
from syntagma.errors import InputError
from syntagma.models.span_model import SpanHead
from syntagma.parse.store import ParseStore
from syntagma.syntax.encode import EncodedText, PieceMode, encode_texts
from syntagma.syntax.windows import Part, SequenceBuilder, window_starts

__all__ = ["SpanWindow", "WindowMaker"]


@dataclass(frozen=True, slots=True, eq=False)
class SpanWindow:
    """A part of a passage with a question.

    Args:
        example: number of the example that the window belongs to.
        passage: the passage's pieces.
        question: the question's pieces.
        begin: first piece of the passage in the window.
        end: piece after the last.
        offset: position in the sequence of the passage's first piece.
        start: position of the gold answer's first piece, 0 where the window holds none.
        last: position of the gold answer's last piece, 0 where the window holds none.
    """

    example: int
    passage: EncodedText
    question: EncodedText
    begin: int
    end: int
    offset: int
    start: int = 0
    last: int = 0

    def __len__(self) -> int:
        return self.offset + self.end - self.begin + len(self.question) + 2


class WindowMaker:
    """Turns passages and questions into windows, each text parsed and cut into pieces once.

    Args:
        tokenizer: the encoder's fast tokenizer.
        head: lengths.
        store: parses of the texts; ``None`` for a model that reads no syntax.
        mode: how words reach their pieces.
        columns: the syntax columns that the model reads.
    """

    def __init__(
        self,
        tokenizer: Any,
        head: SpanHead,
        *,
        store: ParseStore | None,
        mode: PieceMode = "share",
        columns: Sequence[str] = (),
    ) -> None:
        self.tokenizer = tokenizer
        self.head = head
        self.store = store
        self.mode = mode
        self.builder = SequenceBuilder(tokenizer, columns=columns)

    def check_length(self, encoder_config: Any) -> None:
        """Check that the encoder can read sequences of ``max_length``.

        Raises:
            InputError: it cannot.
        """
        limit = max_pieces(encoder_config)
        if self.head.max_length > limit:
            raise InputError(
                f"head.max_length {self.head.max_length} is longer than the encoder reads ({limit})"
            )

    def encode(self, texts: Sequence[str]) -> dict[str, EncodedText]:
        """Each different text as pieces with their syntax."""
        unique = list(dict.fromkeys(texts))
        parsed = self.store.parsed(unique) if self.store is not None else None
        encoded = encode_texts(unique, self.tokenizer, parsed, mode=self.mode)
        return dict(zip(unique, encoded, strict=True))

    def windows(
        self, example: int, passage: EncodedText, question: EncodedText
    ) -> list[SpanWindow]:
        """The windows of one question over its passage."""
        question = _shorten(question, self.head.max_question)
        special = self.builder.n_special(2)
        room = self.head.max_length - special - len(question)
        offset = len(self.builder.prefix)
        return [
            SpanWindow(example, passage, question, begin, min(begin + room, len(passage)), offset)
            for begin in window_starts(len(passage), room, self.head.stride)
        ]

    def collate(self, windows: Sequence[SpanWindow]) -> dict[str, Tensor]:
        """A padded batch with the places where answers may stand and the gold positions."""
        batch = self.builder.collate(
            [
                (Part(w.passage, w.begin, w.end), Part(w.question, 0, len(w.question)))
                for w in windows
            ]
        )
        context = torch.zeros(batch["input_ids"].shape, dtype=torch.bool)
        context[:, 0] = True
        for row, window in enumerate(windows):
            context[row, window.offset : window.offset + window.end - window.begin] = True
        batch["context"] = context
        batch["start_positions"] = torch.tensor([window.start for window in windows])
        batch["end_positions"] = torch.tensor([window.last for window in windows])
        return batch


def _shorten(text: EncodedText, longest: int) -> EncodedText:
    if len(text) <= longest:
        return text
    syntax = text.syntax.part(0, longest) if text.syntax is not None else None
    return EncodedText(
        text.pieces[:longest],
        text.starts[:longest],
        text.ends[:longest],
        syntax,
        text.span,
        text.n_words,
        text.n_sentences,
    )
