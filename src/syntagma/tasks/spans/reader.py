"""A reader: give it passages and questions, get answers with their places in your text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from syntagma.checks import require_number, require_several, row_problem, text_problem
from syntagma.encoders.config import read_config
from syntagma.encoders.default import DEFAULT_READER
from syntagma.encoders.precision import Precision, autocast, best_device
from syntagma.encoders.reference import ModelName, find_model
from syntagma.errors import InputError
from syntagma.models.span_model import SpanHead, SpanModel
from syntagma.syntax.sequences import Part
from syntagma.tasks.layout import Layout, TextPair, lay_out_parts
from syntagma.tasks.predictor import TextPredictor
from syntagma.tasks.spans.answers import Answer
from syntagma.tasks.spans.decode import WindowCandidates, best_spans, decode_answer
from syntagma.tasks.spans.windows import SpanWindow, WindowMaker

CHUNK = 256
"""Questions that are read together."""


class Reader(TextPredictor[SpanModel]):
    """Answers questions about passages, or says that a passage holds no answer.

    Args:
        model: the scorer.
        tokenizer: its encoder's fast tokenizer.
        verifier: a second reader whose answerability scores are asked for.
        options: of :class:`syntagma.tasks.predictor.TextPredictor`.

    Raises:
        InputError: the model reads syntax and there is no source.
    """

    model_class = SpanModel
    task: ClassVar[str | tuple[str, ...]] = "spans"

    def __init__(
        self, model: SpanModel, tokenizer: Any, *, verifier: Reader | None = None, **options: Any
    ) -> None:
        super().__init__(model, tokenizer, **options)
        self.verifier = verifier
        self.maker = WindowMaker(self.texts, model.head)

    @classmethod
    def from_pretrained(
        cls, name: ModelName = "default", *, device: str = "cpu", **options: Any
    ) -> Self:
        """A saved reader.

        Args:
            name: ``default`` (or ``default-reader``) or a reader's folder.
            device: where to compute.
            options: of the constructor.

        Raises:
            InputError: there is no such reader.
        """
        ref = find_model(DEFAULT_READER if name == "default" else name)
        reader = super().from_pretrained(ref, device=device, **options)
        if (verifier := reader.model.head.verifier) and reader.verifier is None:
            own = ref.folder / verifier
            place = find_model(own if own.is_dir() else verifier)
            # A verifier reads the trees that it was trained with, unless others are asked for.
            given = options.get("parser") or options.keys() & {"source", "cache"}
            shared: dict[str, Any] = {}
            if given or read_config(place).parser == reader.model.config.parser:
                shared = {"cache": reader.texts.cache} if reader.texts.cache else {}
            if "precision" in options:
                shared["precision"] = options["precision"]
            reader.verifier = Reader.from_pretrained(place, device=device, **shared)
        return reader

    def answer(self, passage: str, question: str, *, threshold: float | None = None) -> Answer:
        """The answer to one question.

        Args:
            passage: any text.
            question: any question about it.
            threshold: abstain where the odds against an answer exceed it; the fitted one if not
                given, infinity never to abstain.

        Raises:
            InputError: passage or question is empty.
        """
        return next(self.stream([(passage, question)], threshold=threshold))

    def answer_all(
        self, passage: str, questions: Sequence[str], *, threshold: float | None = None
    ) -> list[Answer]:
        """The answers to several questions about one passage, in their order.

        Args:
            passage: any text; it is parsed once.
            questions: about it.
            threshold: as for :meth:`answer`.

        Raises:
            InputError: it is one question alone, or no list of them.
        """
        if isinstance(questions, str):
            raise InputError("answer_all: expected several questions, got one; ask it by answer()")
        require_several(questions, "questions")
        return list(self.stream(((passage, q) for q in questions), threshold=threshold))

    def stream(
        self, pairs: Iterable[tuple[str, str]], *, threshold: float | None = None
    ) -> Iterator[Answer]:
        """Answer (passage, question) pairs as they come, many at a time, in constant memory.

        Args:
            pairs: a passage that follows itself is parsed once.
            threshold: as for :meth:`answer`.

        Raises:
            InputError: a passage or a question is empty, or they are no pair; those before it are
                answered. Or the threshold is no number.
        """
        require_several(pairs, "(passage, question)")
        if threshold is not None:
            require_number(threshold, "threshold")
        source, n_read = iter(pairs), 0
        while chunk := list(islice(source, CHUNK)):
            bad = [(number, what) for number, pair in enumerate(chunk) if (what := _problem(pair))]
            yield from self._answers(chunk[: bad[0][0]] if bad else chunk, threshold)
            if bad:
                number, what = bad[0]
                raise InputError(f"pair {n_read + number + 1}: {what}")
            n_read += len(chunk)

    def _answers(
        self, chunk: Sequence[tuple[str, str]], threshold: float | None
    ) -> Iterator[Answer]:
        """The answers to some pairs together."""
        if not chunk:
            return
        windows = self.windows(chunk)
        candidates = self._candidates(windows)
        if self.verifier is not None:
            verified = self.verifier._verify(chunk)
        for number, (passage, question) in enumerate(chunk):
            mine = [i for i, window in enumerate(windows) if window.example == number]
            found = [candidates[i] for i in mine]
            if self.verifier is not None:
                found = [item._replace(verification=verified[number]) for item in found]
            yield decode_answer(
                question,
                passage,
                [windows[i] for i in mine],
                found,
                self.model.head,
                threshold=threshold,
            )
        self.texts.forget()

    def windows(self, pairs: Sequence[tuple[str, str]]) -> list[SpanWindow]:
        """The windows of (passage, question) pairs, all of a pair's before those of the next.

        Raises:
            InputError: passage or question is empty.
        """
        for pair in pairs:
            if problem := _problem(pair):
                raise InputError(problem)
        texts = self.texts.encode([text for pair in pairs for text in pair])
        return [
            window
            for number, (passage, question) in enumerate(pairs)
            for window in self.maker.windows(number, texts[passage], texts[question])
        ]

    def lay_out(self, texts: TextPair) -> Layout:
        """The window in which a question is read; of a long passage the first with ``place``."""
        windows = self.windows([(texts.first, texts.second)])
        chosen = windows[0]
        if texts.place is not None:
            start, end = texts.place
            for window in windows:
                inside = slice(window.begin, window.end)
                starts, ends = window.passage.starts[inside], window.passage.ends[inside]
                if len(starts) and starts[0] <= start and end <= ends[-1]:
                    chosen = window
                    break
        question = chosen.question
        parts = Part(chosen.passage, chosen.begin, chosen.end), Part(question, 0, len(question))
        contents = [[("passage", texts.first)], [("question", texts.second)]]
        found = lay_out_parts(self.texts.builder, parts, contents)
        return found._replace(batch=self.on_device(found.batch))

    def _verify(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Logit of unanswerable minus logit of answerable for each pair."""
        windows = self.windows(pairs)
        scores = [float("inf")] * len(pairs)
        for window, found in zip(windows, self._candidates(windows), strict=True):
            scores[window.example] = min(scores[window.example], found.verification)
        return scores

    def _candidates(self, windows: Sequence[SpanWindow]) -> list[WindowCandidates]:
        candidates: list[WindowCandidates | None] = [None] * len(windows)
        for batch in self.batches(windows):
            found = self._score([windows[index] for index in batch])
            for index, item in zip(batch, found, strict=True):
                candidates[index] = item
        return [item for item in candidates if item is not None]

    @torch.inference_mode()
    def _score(self, windows: Sequence[SpanWindow]) -> list[WindowCandidates]:
        batch = self.batch(windows)
        with autocast(self.model.device, self.precision):
            scores = self.model(**batch)
        best, first, last = (
            tensor.cpu().numpy()
            for tensor in best_spans(
                scores.start,
                scores.end,
                max_answer_length=self.model.head.max_answer_length,
                n_best_size=self.model.head.n_best_size,
            )
        )
        null_scores = (scores.start[:, 0] + scores.end[:, 0]).tolist()
        verification = np.zeros(len(windows))
        if scores.answerability is not None:
            verification = (scores.answerability[:, 1] - scores.answerability[:, 0]).cpu().numpy()
        return [
            WindowCandidates(
                best[row], first[row], last[row], null_scores[row], float(verification[row])
            )
            for row in range(len(windows))
        ]

    def collate(self, items: Sequence[SpanWindow]) -> dict[str, Tensor]:
        """A padded batch of windows with gold positions."""
        return self.maker.collate(items)

    def batch(self, windows: Sequence[SpanWindow]) -> dict[str, Tensor]:
        """The tensors of some windows, on the model's device."""
        tensors = self.collate(windows)
        for name in ("start_positions", "end_positions"):
            del tensors[name]
        return self.on_device(tensors)


def verifier_of(head: SpanHead, precision: Precision = "auto") -> Reader | None:
    """The verifier that a reader is to be trained with; ``None`` where it has none of its own.

    Args:
        head: settings of the reader.
        precision: of its computation.

    Raises:
        InputError: there is no such verifier.
    """
    if not head.verifier:
        return None
    return Reader.from_pretrained(head.verifier, device=best_device(), precision=precision)


def _problem(pair: Any) -> str:
    """What is wrong with a pair of texts; empty if nothing is."""
    names = ("passage", "question")
    if problem := row_problem(pair, *names):
        return problem
    return next(filter(None, map(text_problem, pair, names)), "")
