"""Answer questions about passages, with the character offsets of the answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from syntagma.checks import (
    HasText,
    require_number,
    require_several,
    row_problem,
    text_of,
    text_problem,
)
from syntagma.encoders.config import read_config
from syntagma.encoders.default import DEFAULT_READER
from syntagma.encoders.hub_options import take_hub_options
from syntagma.encoders.placement import FIELDS as PLACEMENT
from syntagma.encoders.precision import Precision, autocast, best_device
from syntagma.encoders.reference import ModelName, find_model
from syntagma.errors import InputError
from syntagma.models.span_model import SpanHead, SpanModel
from syntagma.progress import chunks, steps
from syntagma.tasks.layout import Layout, TextPair, lay_out_parts
from syntagma.tasks.predictor import OneOrMany, TextPredictor
from syntagma.tasks.spans.answers import Answer, Mode, SpanPrediction
from syntagma.tasks.spans.decode import WindowCandidates, best_spans, decode_answer
from syntagma.tasks.spans.long_texts import WindowChooser
from syntagma.tasks.spans.outcomes import DEFAULT_MODE, give_answer, require_mode
from syntagma.tasks.spans.windows import SpanWindow, WindowMaker

CHUNK = 256
"""Number of questions that are encoded and batched together."""


class Reader(OneOrMany, TextPredictor[SpanModel]):
    """Answers questions about passages, or abstains if a passage has no answer.

    Threads may share a reader, see :class:`syntagma.tasks.predictor.TextPredictor`.

    Args:
        model: the scorer.
        tokenizer: the encoder's fast tokenizer.
        verifier: a second reader, whose answerability scores are combined with this one's.
        options: see :class:`syntagma.tasks.predictor.TextPredictor`.

    Raises:
        InputError: the model reads syntax, but no parse source is given.
    """

    model_class = SpanModel
    task: ClassVar[str | tuple[str, ...]] = "spans"
    inputs = ("passage", "question")

    def __init__(
        self, model: SpanModel, tokenizer: Any, *, verifier: Reader | None = None, **options: Any
    ) -> None:
        super().__init__(model, tokenizer, **options)
        self.verifier = verifier
        self.maker = WindowMaker(self.texts, model.head)
        self.chooser = WindowChooser()

    @classmethod
    def from_pretrained(
        cls, name: ModelName = "default", *, device: str = "cpu", **options: Any
    ) -> Self:
        """Load a saved reader, and its verifier if it has one.

        Args:
            name: ``default`` (or ``default-reader``); the folder or the hub name of a reader, or
                of an extractive question-answering model that Transformers saved.
            device: where to compute.
            options: of the constructor, ``parser``, or those of Transformers, see
                :meth:`syntagma.tasks.predictor.TextPredictor.from_pretrained`.

        Raises:
            InputError: there is no such reader.
        """
        ref = find_model(DEFAULT_READER if name == "default" else name, take_hub_options(options))
        reader = super().from_pretrained(ref, device=device, **options)
        if (verifier := reader.model.head.verifier) and reader.verifier is None:
            inside = ref.folder / verifier
            place = inside if inside.is_dir() else verifier
            verifier_ref = find_model(place, ref.options.elsewhere())
            # A verifier reads the parses that it was trained with, unless the caller names others.
            given = options.get("parser") or options.keys() & {"source", "cache"}
            shared: dict[str, Any] = {}
            if given or read_config(verifier_ref).parser == reader.model.config.parser:
                # A reader of words only may have no trees for its verifier.
                has_trees = reader.model.reads_trees or options.keys() & {"source", "cache"}
                if reader.texts.cache and has_trees:
                    shared = {"cache": reader.texts.cache}
                elif options.get("parser"):
                    shared = {"parser": options["parser"]}
            shared |= {key: options[key] for key in ("precision", *PLACEMENT) if key in options}
            reader.verifier = Reader.from_pretrained(verifier_ref, device=device, **shared)
        return reader

    def answer(
        self,
        passage: str | HasText,
        question: str | HasText,
        *,
        mode: Mode | None = None,
        threshold: float | None = None,
        exhaustive: bool = False,
    ) -> Answer:
        """Answer one question.

        Args:
            passage: any text, or an object with one, such as a ``Doc`` of spaCy.
            question: a question about the passage, likewise.
            mode: how sure the reader must be to answer, ``strict``, ``balanced`` (the default) or
                ``lenient``, see :mod:`syntagma.tasks.spans.outcomes`.
            threshold: instead of a mode: give no answer if its score exceeds that of the best span
                by more than this, in logits.  With infinity, the reader always answers.
            exhaustive: whether all of a long text is read, and not only the windows that seem to
                bear on the question, see :mod:`syntagma.tasks.spans.long_texts`.

        Raises:
            InputError: passage or question is empty, or there is no such mode.
        """
        pairs = [(passage, question)]
        return next(self.stream(pairs, mode=mode, threshold=threshold, exhaustive=exhaustive))

    def answer_all(
        self,
        passage: str | HasText,
        questions: Sequence[str | HasText],
        *,
        mode: Mode | None = None,
        threshold: float | None = None,
        exhaustive: bool = False,
    ) -> list[Answer]:
        """Answer several questions about one passage, in their order.

        Args:
            passage: any text, as for :meth:`answer`; it is parsed once.
            questions: questions about the passage.
            mode: as for :meth:`answer`.
            threshold: as for :meth:`answer`.
            exhaustive: as for :meth:`answer`.

        Raises:
            InputError: ``questions`` is a single string, or not a list.
        """
        if isinstance(questions, str):
            raise InputError("answer_all: expected a list of questions, got one; use answer()")
        require_several(questions, "questions")
        text = text_of(passage)
        pairs = ((text, question) for question in questions)
        return list(self.stream(pairs, mode=mode, threshold=threshold, exhaustive=exhaustive))

    def stream(
        self,
        pairs: Iterable[tuple[str | HasText, str | HasText]],
        *,
        mode: Mode | None = None,
        threshold: float | None = None,
        exhaustive: bool = False,
    ) -> Iterator[Answer]:
        """Lazily answer (passage, question) pairs in batches, in constant memory.

        Args:
            pairs: passages with questions; a repeated passage is parsed once per batch.
            mode: as for :meth:`answer`.
            threshold: as for :meth:`answer`.
            exhaustive: as for :meth:`answer`.

        Raises:
            InputError: the threshold is not a number; both it and a mode are given; or an item is
                not a pair or has an empty text, in which case the pairs before it are answered
                first.
        """
        if mode is not None and threshold is not None:
            raise InputError(f"mode {mode!r} and threshold {threshold}: give only one of the two")
        chosen = None if threshold is not None else require_mode(mode or DEFAULT_MODE)
        for (passage, _), prediction in self._read(pairs, threshold, exhaustive):
            yield give_answer(
                prediction, passage, self.model.head, mode=chosen, threshold=threshold
            )

    def predictions(
        self,
        pairs: Iterable[tuple[str | HasText, str | HasText]],
        *,
        threshold: float | None = None,
    ) -> Iterator[SpanPrediction]:
        """Lazily predict spans for (passage, question) pairs, as the official metrics judge them.

        Args:
            pairs: passages with questions.
            threshold: abstain if ``null_odds`` exceeds it; by default the fitted one.

        Raises:
            InputError: as for :meth:`stream`.
        """
        for _, prediction in self._read(pairs, threshold, True):
            yield prediction

    def _read(
        self,
        pairs: Iterable[tuple[str | HasText, str | HasText]],
        threshold: float | None,
        exhaustive: bool,
    ) -> Iterator[tuple[tuple[str, str], SpanPrediction]]:
        """Yield each pair with its prediction; pairs before an invalid one come first."""
        require_several(pairs, "(passage, question)")
        if threshold is not None:
            require_number(threshold, "threshold")
        n_read = 0
        for chunk in chunks(map(_texts, pairs), CHUNK):
            bad = [(number, what) for number, pair in enumerate(chunk) if (what := _problem(pair))]
            good = chunk[: bad[0][0]] if bad else chunk
            yield from zip(good, self._predict(good, threshold, exhaustive), strict=True)
            if bad:
                number, what = bad[0]
                raise InputError(f"pair {n_read + number + 1}: {what}")
            n_read += len(chunk)

    def _predict(
        self, chunk: Sequence[tuple[str, str]], threshold: float | None, exhaustive: bool
    ) -> Iterator[SpanPrediction]:
        """Yield the predictions for some pairs, which are batched together."""
        if not chunk:
            return
        windows = self.windows(chunk)
        if not exhaustive:
            windows = self._chosen(chunk, windows)
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

    def _chosen(
        self, pairs: Sequence[tuple[str, str]], windows: Sequence[SpanWindow]
    ) -> list[SpanWindow]:
        """Return the windows to read: not all of a long text."""
        return [
            window
            for number, group in groupby(windows, key=lambda window: window.example)
            for window in self.chooser.choose(pairs[number][0], pairs[number][1], list(group))
        ]

    def windows(self, pairs: Sequence[tuple[str, str]]) -> list[SpanWindow]:
        """Split (passage, question) pairs into windows, in the order of the pairs.

        Raises:
            InputError: a passage or question is empty.
        """
        for pair in pairs:
            if problem := _problem(pair):
                raise InputError(problem)
        return self.encode_pairs(pairs)

    def encode_pairs(
        self, pairs: Sequence[tuple[str, str]], *, all_trees: bool = False
    ) -> list[SpanWindow]:
        """Split (passage, question) pairs, none of them empty, into windows.

        Args:
            pairs: passages with questions.
            all_trees: parse the questions too where their trees cannot change a score.
        """
        passages = self.texts.encode([passage for passage, _ in pairs])
        without = not (all_trees or self.model.reads_question_trees)
        questions = self.texts.encode([asked for _, asked in pairs], without_trees=without)
        return [
            window
            for number, (passage, question) in enumerate(pairs)
            for window in self.maker.windows(number, passages[passage], questions[question])
        ]

    def lay_out(self, texts: TextPair) -> Layout:
        """Lay out one window, see :meth:`TextPredictor.lay_out`: the first one with ``place``."""
        windows = self.encode_pairs([(texts.first, texts.second)], all_trees=True)
        chosen = windows[0]
        if texts.place is not None:
            start, end = texts.place
            for window in windows:
                inside = slice(window.begin, window.end)
                starts, ends = window.passage.starts[inside], window.passage.ends[inside]
                if len(starts) and starts[0] <= start and end <= ends[-1]:
                    chosen = window
                    break
        contents = [[("passage", texts.first)], [("question", texts.second)]]
        if chosen.question_first:
            contents.reverse()
        found = lay_out_parts(self.texts.builder, chosen.parts, contents)
        return found._replace(batch=self.on_device(found.batch))

    def _verify(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Compute the verification score of each pair, the minimum over its windows."""
        windows = self.windows(pairs)
        scores = [float("inf")] * len(pairs)
        for window, found in zip(windows, self._candidates(windows), strict=True):
            scores[window.example] = min(scores[window.example], found.verification)
        return scores

    def _candidates(self, windows: Sequence[SpanWindow]) -> list[WindowCandidates]:
        candidates: list[WindowCandidates | None] = [None] * len(windows)
        for batch in steps(self.batches(windows)):
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
                scores.start_logits,
                scores.end_logits,
                max_answer_length=self.model.head.max_answer_length,
                n_best_size=self.model.head.n_best_size,
            )
        )
        null_scores = (scores.start_logits[:, 0] + scores.end_logits[:, 0]).tolist()
        verification = np.zeros(len(windows))
        if (odds := scores.answerability_logits) is not None:
            verification = (odds[:, 1] - odds[:, 0]).cpu().numpy()
        return [
            WindowCandidates(
                best[row], first[row], last[row], null_scores[row], float(verification[row])
            )
            for row in range(len(windows))
        ]

    def collate(self, items: Sequence[SpanWindow]) -> dict[str, Tensor]:
        """Build a padded batch of windows, with gold positions."""
        return self.maker.collate(items)

    def batch(self, windows: Sequence[SpanWindow]) -> dict[str, Tensor]:
        """Build a padded batch without gold positions, on the model's device."""
        tensors = self.collate(windows)
        for name in ("start_positions", "end_positions"):
            del tensors[name]
        return self.on_device(tensors)


def verifier_of(head: SpanHead, precision: Precision = "auto") -> Reader | None:
    """Load the verifier that a reader's settings name; ``None`` if they name none.

    Args:
        head: settings of the reader.
        precision: precision of the verifier's computation.

    Raises:
        InputError: there is no such verifier.
    """
    if not head.verifier:
        return None
    return Reader.from_pretrained(head.verifier, device=best_device(), precision=precision)


def _texts(pair: Any) -> Any:
    """Replace objects that have a text by it; what is no pair is returned unchanged."""
    return tuple(map(text_of, pair)) if isinstance(pair, tuple | list) else pair


def _problem(pair: Any) -> str:
    """Describe what is wrong with a (passage, question) pair; empty if nothing is."""
    names = ("passage", "question")
    if problem := row_problem(pair, *names):
        return problem
    return next(filter(None, map(text_problem, pair, names)), "")
