"""Split passages into windows that fit the encoder, each together with the question.

The passage comes first, as in SG-Net, or the question, as in BERT's script for SQuAD: the setting
``question_first`` of the head decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma.errors import InputError
from syntagma.models.span_model import SpanHead
from syntagma.syntax.encode import EncodedText
from syntagma.syntax.sequences import Part, window_starts
from syntagma.tasks.predictor import TextEncoder


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """A teacher's probabilities at positions of a window; those of no answer are at position 0.

    Args:
        starts: position of the first piece of each span, ``[n_spans]``.
        ends: position of its last piece, ``[n_spans]``.
        probabilities: of each span, ``[n_spans]``.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    probabilities: NDArray[np.float32]


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
        question_first: whether the question comes before the passage.
        targets: a teacher's probabilities, for training.
    """

    example: int
    passage: EncodedText
    question: EncodedText
    begin: int
    end: int
    offset: int
    start: int = 0
    last: int = 0
    question_first: bool = False
    targets: Targets | None = None

    def __len__(self) -> int:
        after = self.offset + self.end - self.begin
        # Plus a separator after each text; an encoder with two between texts has one more.
        return after + 1 if self.question_first else after + len(self.question) + 2

    @property
    def parts(self) -> tuple[Part, Part]:
        """Passage and question, in the order in which they are read."""
        passage = Part(self.passage, self.begin, self.end)
        question = Part(self.question, 0, len(self.question))
        return (question, passage) if self.question_first else (passage, question)


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
        first = self.head.question_first
        blank = SpanWindow(example, passage, question, 0, 0, 0, question_first=first)
        offset = self.builder.begins(blank.parts)[1 if first else 0]
        return [
            replace(blank, begin=begin, end=min(begin + room, len(passage)), offset=offset)
            for begin in window_starts(len(passage), room, self.head.doc_stride)
        ]

    def collate(self, windows: Sequence[SpanWindow]) -> dict[str, Tensor]:
        """Build a padded batch, with a mask of possible answer positions and the gold positions."""
        batch = self.builder.collate([window.parts for window in windows])
        context = torch.zeros(batch["input_ids"].shape, dtype=torch.bool)
        context[:, 0] = True  # The first piece represents "no answer".
        for row, window in enumerate(windows):
            context[row, window.offset : window.offset + window.end - window.begin] = True
        batch["context"] = context
        batch["start_positions"] = torch.tensor([window.start for window in windows])
        batch["end_positions"] = torch.tensor([window.last for window in windows])
        if any(window.targets for window in windows):
            for name in ("starts", "ends"):
                targets = torch.zeros(batch["input_ids"].shape)
                for row, window in enumerate(windows):
                    if window.targets is not None:
                        places = torch.from_numpy(getattr(window.targets, name))
                        shares = torch.from_numpy(window.targets.probabilities)
                        targets[row].index_add_(0, places, shares)
                batch[f"{name[:-1]}_targets"] = targets
        return batch
