"""Questions about passages as windows that fit the encoder (SG-Net: passage first)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from syntagma.errors import InputError
from syntagma.models.span_model import SpanHead
from syntagma.syntax.encode import EncodedText
from syntagma.syntax.sequences import Part, window_starts
from syntagma.tasks.predictor import TextEncoder

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
    """Turns passages and questions into windows.

    Args:
        texts: cuts texts into pieces.
        head: lengths.

    Raises:
        InputError: the encoder cannot read sequences of ``max_length``, or puts no special piece
            before texts, which is to stand for no answer.
    """

    def __init__(self, texts: TextEncoder, head: SpanHead) -> None:
        texts.check_length(head.max_length)
        if not len(texts.builder.prefix(2)):
            raise InputError(
                "encoder: expected one that puts a special piece before texts (as BERT's [CLS]), "
                "which stands for no answer; this one's tokenizer puts none"
            )
        self.texts = texts
        self.builder = texts.builder
        self.head = head

    def windows(
        self, example: int, passage: EncodedText, question: EncodedText
    ) -> list[SpanWindow]:
        """The windows of one question over its passage."""
        question = question.part(0, min(len(question), self.head.max_question_length))
        special = self.builder.n_special(2)
        room = self.head.max_length - special - len(question)
        offset = len(self.builder.prefix(2))
        return [
            SpanWindow(example, passage, question, begin, min(begin + room, len(passage)), offset)
            for begin in window_starts(len(passage), room, self.head.doc_stride)
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
