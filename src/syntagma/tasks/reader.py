"""A reader: give it passages and questions, get answers with their places in your text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from syntagma.batches import token_budget_batches
from syntagma.encoders.model import saved_tokenizer
from syntagma.encoders.precision import Precision, autocast
from syntagma.errors import InputError
from syntagma.models.span_model import SpanModel
from syntagma.parse.source import ParseSource, load_source, shipped
from syntagma.parse.store import ParseStore
from syntagma.tasks.answers import Answer
from syntagma.tasks.span_decode import WindowCandidates, best_spans, decode_answer
from syntagma.tasks.span_windows import SpanWindow, WindowMaker

__all__ = ["DEFAULT_READER", "Reader"]

DEFAULT_READER = "default-reader"
CHUNK = 256
"""Questions that are read together."""


class Reader:
    """Answers questions about passages, or says that a passage holds no answer.

    Args:
        model: the scorer.
        tokenizer: its encoder's fast tokenizer.
        source: parses texts; needed where the model reads syntax.
        verifier: a second reader whose answerability scores are asked for.
        store: parses kept between calls; a fresh one without a disk folder if not given.
        batch_pieces: the most pieces in a batch, padding included.
        precision: ``auto`` takes bfloat16 where the device computes it fast.

    Raises:
        InputError: the model reads syntax and there is no source.
    """

    def __init__(
        self,
        model: SpanModel,
        tokenizer: Any,
        *,
        source: ParseSource | None = None,
        verifier: Reader | None = None,
        store: ParseStore | None = None,
        batch_pieces: int = 8192,
        precision: Precision = "auto",
    ) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.source = source
        self.verifier = verifier
        self.batch_pieces = batch_pieces
        self.precision = precision
        if store is None and source is not None:
            store = ParseStore(source)
        if model.reads_syntax and store is None:
            raise InputError("this reader reads syntax: give it a parse source")
        mode = model.config.guides.get("ancestor_attention", {}).get("pieces", "share")
        self.maker = WindowMaker(
            tokenizer,
            model.head,
            store=store if model.reads_syntax else None,
            mode=mode,
            columns=model.syntax_columns,
        )
        self.maker.check_length(model.config.encoder)

    @classmethod
    def from_pretrained(
        cls, name: str | Path = "default", *, device: str = "cpu", **options: Any
    ) -> Self:
        """A saved reader.

        Args:
            name: ``default`` (or ``default-reader``) or a reader's folder.
            device: where to compute.
            options: of the constructor.

        Raises:
            InputError: there is no such reader.
        """
        folder = shipped(DEFAULT_READER) if str(name) in ("default", DEFAULT_READER) else Path(name)
        model = SpanModel.from_folder(folder, task="spans").to(device)
        tokenizer = saved_tokenizer(folder, model.config)
        if model.reads_syntax and not {"source", "store"} & options.keys():
            options["source"] = load_source(model.config.parser, device=device)
        if model.head.verifier and "verifier" not in options:
            place = folder / model.head.verifier
            shared = {key: options[key] for key in ("source", "store") if key in options}
            options["verifier"] = cls.from_pretrained(
                place if place.is_dir() else model.head.verifier, device=device, **shared
            )
        return cls(model, tokenizer, **options)

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
        """The answers to several questions about one passage, in their order."""
        return list(self.stream(((passage, q) for q in questions), threshold=threshold))

    def stream(
        self, pairs: Iterable[tuple[str, str]], *, threshold: float | None = None
    ) -> Iterator[Answer]:
        """Answer (passage, question) pairs as they come, many at a time, in constant memory."""
        source = iter(pairs)
        while chunk := list(islice(source, CHUNK)):
            windows = self._windows(chunk)
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
            if self.maker.store is not None:
                self.maker.store.forget()

    def _windows(self, pairs: Sequence[tuple[str, str]]) -> list[SpanWindow]:
        for passage, question in pairs:
            if not passage.strip() or not question.strip():
                empty = "question" if passage.strip() else "passage"
                raise InputError(f"the {empty} is empty; expected text")
        texts = self.maker.encode([text for pair in pairs for text in pair])
        return [
            window
            for number, (passage, question) in enumerate(pairs)
            for window in self.maker.windows(number, texts[passage], texts[question])
        ]

    def _verify(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Logit of unanswerable minus logit of answerable for each pair."""
        windows = self._windows(pairs)
        scores = [float("inf")] * len(pairs)
        for window, found in zip(windows, self._candidates(windows), strict=True):
            scores[window.example] = min(scores[window.example], found.verification)
        return scores

    def _candidates(self, windows: Sequence[SpanWindow]) -> list[WindowCandidates]:
        candidates: list[WindowCandidates | None] = [None] * len(windows)
        for batch in token_budget_batches([len(window) for window in windows], self.batch_pieces):
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
                max_answer=self.model.head.max_answer,
                n_best=self.model.head.n_best,
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

    def batch(self, windows: Sequence[SpanWindow]) -> dict[str, Tensor]:
        """The tensors of some windows, on the model's device."""
        tensors = self.maker.collate(windows)
        for name in ("start_positions", "end_positions"):
            del tensors[name]
        return {name: tensor.to(self.model.device) for name, tensor in tensors.items()}
