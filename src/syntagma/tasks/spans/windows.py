"""Split passages into windows that fit the encoder, each with the question after the passage.

The passage comes first, as in SG-Net and unlike in BERT's SQuAD script.
"""

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


@dataclass(frozen=True, slots=True, eq=False)
class SpanWindow:
    """A part of a passage with a question.

    Args:
        example: index of the example that the window belongs to.
        passage: all pieces of the passage.
        question: the pieces of the question.
        begin: index of the first passage piece in the window.
        end: index after the last passage piece in the window.
        offset: position of the passage's first piece in the sequence.
        start: position of the gold answer's first piece; 0 if it is not in the window.
        last: position of the gold answer's last piece; 0 if it is not in the window.
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
        # Plus a separator after each text; an encoder with two between texts has one more.
        return self.offset + self.end - self.begin + len(self.question) + 2


class WindowMaker:
    """Splits passages and questions into windows.

    Args:
        texts: tokenises and parses texts.
        head: settings with the lengths.

    Raises:
        InputError: the encoder cannot read sequences of ``max_length``, or has no special piece at
            the start of a sequence, which represents "no answer".
    """

    def __init__(self, texts: TextEncoder, head: SpanHead) -> None:
        texts.check_length(head.max_length)
        if not len(texts.builder.prefix(2)):
            raise InputError(
                "encoder: expected one whose sequences start with a special piece (as BERT's "
                "[CLS]), which represents no answer; this one's tokenizer adds none"
            )
        self.texts = texts
        self.builder = texts.builder
        self.head = head

    def windows(
        self, example: int, passage: EncodedText, question: EncodedText
    ) -> list[SpanWindow]:
        """Split the passage of one question into windows."""
        question = question.part(0, min(len(question), self.head.max_question_length))
        special = self.builder.n_special(2)
        room = self.head.max_length - special - len(question)
        offset = len(self.builder.prefix(2))
        return [
            SpanWindow(example, passage, question, begin, min(begin + room, len(passage)), offset)
            for begin in window_starts(len(passage), room, self.head.doc_stride)
        ]

    def collate(self, windows: Sequence[SpanWindow]) -> dict[str, Tensor]:
        """Build a padded batch, with a mask of possible answer positions and the gold positions."""
        batch = self.builder.collate(
            [
                (Part(w.passage, w.begin, w.end), Part(w.question, 0, len(w.question)))
                for w in windows
            ]
        )
        context = torch.zeros(batch["input_ids"].shape, dtype=torch.bool)
        context[:, 0] = True  # The first piece represents "no answer".
        for row, window in enumerate(windows):
            context[row, window.offset : window.offset + window.end - window.begin] = True
        batch["context"] = context
        batch["start_positions"] = torch.tensor([window.start for window in windows])
        batch["end_positions"] = torch.tensor([window.last for window in windows])
        return batch
