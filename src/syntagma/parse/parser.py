"""The joint parser: load it, give it sentences, get trees and tags."""

from __future__ import annotations

import copy
import functools
import hashlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
import torch
from torch import Tensor

from syntagma.batches import token_budget_batches
from syntagma.checks import require_several, require_string
from syntagma.encoders.load import max_pieces
from syntagma.encoders.model import saved_tokenizer
from syntagma.encoders.precision import Precision, autocast, require_device
from syntagma.errors import InputError
from syntagma.parse.decode import Codes, How, decode
from syntagma.parse.encode import EncodedSentence, SentenceEncoder
from syntagma.parse.head_rules import heads_by_rule
from syntagma.parse.phrases import expand
from syntagma.parse.scorer import ParserModel, WordStates
from syntagma.text.segmentation.segment import segment, segmentation_fingerprint
from syntagma.text.sentence import Constituent, Parse, Sentence

__all__ = ["JointParser"]

log = logging.getLogger(__name__)

CHUNK = 4096
"""Sentences that are sorted by length together."""


class JointParser:
    """Dependency trees, phrases and part-of-speech tags for sentences.

    Args:
        model: the scorer.
        tokenizer: its encoder's fast tokenizer.
        budget: the most pieces in a batch, padding included.
        max_words: longer sentences are parsed in parts of this many words, with a warning; the
            root of each further part hangs on the root of the first as ``parataxis``.
        precision: ``float32`` gives a sentence the same parse alone and in any batch; ``auto``
            takes bfloat16 where the device computes it fast, which is twice as fast, as accurate
            on average, and changes a label in one sentence of some hundred with its company.
        decoding: ``dependencies`` leaves phrases out; ``separate`` finds phrases and dependencies
            each by themselves; ``joint`` finds the one tree that is best as both.  A parser that
            has learnt phrases alone always finds these, and heads by rule from them, whose
            relations are ``root`` and ``dep`` and which have no probabilities.

    Raises:
        InputError: a setting is impossible, or ``decoding`` wants phrases of a parser that has not
            learnt any.
    """

    def __init__(
        self,
        model: ParserModel,
        tokenizer: Any,
        *,
        budget: int = 4096,
        max_words: int = 4000,
        precision: Precision = "float32",
        decoding: How = "dependencies",
    ) -> None:
        if max_words < 1:
            raise InputError(f"max_words must be at least 1, got {max_words}")
        if decoding not in get_args(How):
            raise InputError(f"decoding must be one of {', '.join(get_args(How))}; got {decoding}")
        autocast(model.device, precision)  # Refuses an unknown one now, not at the first sentence.
        if decoding != "dependencies" and model.spans is None:
            raise InputError(
                "this parser has learnt no phrases: train it on a treebank with brackets, or "
                "decode dependencies only"
            )
        self.model = model.eval()
        self.encoder = SentenceEncoder(tokenizer)
        self.budget = budget
        self.max_words = max_words
        self.precision = precision
        self.by_rule = model.head.views == "constituents"
        self.decoding: How = "separate" if self.by_rule else decoding
        self.max_content = max_pieces(model.config.encoder) - self.encoder.n_special
        labels = model.config.labels
        self._relations, self._upos, self._xpos = (
            np.array(labels[name], object) for name in ("relations", "upos", "xpos")
        )

    @classmethod
    def from_folder(cls, folder: str | Path, *, device: str = "cpu", **options: Any) -> Self:
        """A saved parser.

        Args:
            folder: a model folder of the task ``parsing``.
            device: where to compute.
            options: of the constructor.

        Raises:
            InputError: the folder does not hold a parser, or there is no such device.
        """
        require_device(device)
        model = ParserModel.from_folder(folder, task="parsing").to(device)
        tokenizer = saved_tokenizer(folder, model.config)
        return cls(model, tokenizer, **options)

    def with_phrases(self) -> JointParser:
        """The same parser, which also finds phrases; itself where it finds some or knows none."""
        if self.decoding != "dependencies" or self.model.spans is None:
            return self
        other = copy.copy(self)
        other.decoding = "separate"
        return other

    def parse_text(
        self, text: str, *, mode: Literal["raw", "lines", "words"] = "raw"
    ) -> list[Parse]:
        """Cut a text into sentences and words and parse them; offsets index into ``text``.

        Args:
            text: any text; one without words has no sentences.
            mode: ``raw`` text, one sentence a ``lines``, or lines of ``words`` with spaces between.

        Raises:
            InputError: it is no text.
        """
        require_string(text, "text")
        return self.parse(segment(text, mode=mode))

    @functools.cached_property
    def fingerprint(self) -> str:
        """A hash of the parser's weights and the segmentation that its parses rely on."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(segmentation_fingerprint().encode())
        for name, weight in sorted(self.model.state_dict().items()):
            digest.update(name.encode())
            digest.update(weight.detach().cpu().contiguous().numpy().tobytes())
        jointly = ":joint" if self.decoding == "joint" else ""
        return f"parser:{digest.hexdigest()}:{self.max_words}{jointly}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """Cut texts into sentences and parse them, many texts at a time, in constant memory.

        Args:
            texts: raw ones; the parses of each come as one list.

        Raises:
            InputError: it is one text alone, or one of them is none.
        """
        if isinstance(texts, str):
            raise InputError(
                "parse_texts: expected several texts, got one; give it to parse_text()"
            )
        require_several(texts, "texts")
        return self._parse_texts(texts)

    def _parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        source = iter(texts)
        while group := list(islice(source, CHUNK // 8)):
            for text in group:
                require_string(text, "text")
            sentences = [segment(text) for text in group]
            parses = iter(self.parse(chain.from_iterable(sentences)))
            for part in sentences:
                yield list(islice(parses, len(part)))

    def parse(self, sentences: Iterable[Sentence]) -> list[Parse]:
        """Parse sentences of given words, in the order in which they come.

        Args:
            sentences: of :func:`syntagma.segment`, or of :meth:`syntagma.Sentence.from_words`.

        Raises:
            InputError: one of them is no sentence.
        """
        return list(self.parse_stream(sentences))

    def parse_stream(self, sentences: Iterable[Sentence]) -> Iterator[Parse]:
        """Parse sentences as they come, in constant memory.

        Raises:
            InputError: one of them is no sentence.
        """
        source = _checked(sentences)
        while chunk := list(islice(source, CHUNK)):
            yield from self._parse_chunk(chunk)

    def _parse_chunk(self, sentences: Sequence[Sentence]) -> list[Parse]:
        parses: list[Parse | None] = [None] * len(sentences)
        for index, sentence in enumerate(sentences):
            if not len(sentence):
                parses[index] = Parse(sentence, (), probabilities=None if self.by_rule else ())
            elif len(sentence) > self.max_words:
                parses[index] = self._parse_in_parts(sentence)
        todo = [index for index, parse in enumerate(parses) if parse is None]
        encoded = self.encoder.encode([sentences[index] for index in todo])
        for batch in self._batches(encoded):
            codes = self._decode([encoded[index] for index in batch])
            for index, code in zip(batch, codes, strict=True):
                parses[todo[index]] = self._parse_of(sentences[todo[index]], code)
        return [parse for parse in parses if parse is not None]

    def _batches(self, encoded: Sequence[EncodedSentence]) -> Iterator[Sequence[int]]:
        """Indices of sentences of similar length; one beyond the encoder's length stands alone."""
        lengths = np.array([len(item) for item in encoded], np.int64)
        short = np.flatnonzero(lengths <= self.max_content)
        n_special = self.encoder.n_special
        for batch in token_budget_batches((lengths[short] + n_special).tolist(), self.budget):
            yield short[batch].tolist()
        for index in np.flatnonzero(lengths > self.max_content).tolist():
            yield [index]

    def _parse_of(self, sentence: Sentence, codes: Codes) -> Parse:
        upos, xpos = tuple(self._upos[codes.upos]), tuple(self._xpos[codes.xpos])
        phrases = None if codes.phrases is None else expand(codes.phrases)
        if self.by_rule:
            # Arcs were never learnt.
            heads = heads_by_rule(phrases or (), xpos)
            relations = tuple("dep" if head else "root" for head in heads)
            return Parse(sentence, heads, relations, upos, xpos, None, phrases)
        return Parse(
            sentence,
            tuple(codes.heads.tolist()),
            tuple(self._relations[codes.relations]),
            upos,
            xpos,
            tuple(codes.probabilities.tolist()),
            phrases,
        )

    @torch.inference_mode()
    def _decode(self, batch: Sequence[EncodedSentence]) -> list[Codes]:
        with autocast(self.model.device, self.precision):
            states = self._score(batch)
            n_words = np.array([len(item.shapes) for item in batch])
            return decode(self.model, states, n_words, how=self.decoding)

    def _score(self, batch: Sequence[EncodedSentence]) -> WordStates:
        if len(batch[0]) > self.max_content:
            return self._score_long(batch[0])
        tensors = {
            name: value.to(self.model.device) for name, value in self.encoder.collate(batch).items()
        }
        states: WordStates = self.model(**tensors).states
        return states

    def _score_long(self, item: EncodedSentence) -> WordStates:
        """Score a sentence beyond the encoder's length over windows that overlap by half.

        Each piece takes its state from the window in which it stands furthest from an edge.
        """
        size = self.max_content
        stride = size // 2
        starts = list(range(0, max(len(item) - size, 0) + stride, stride))
        starts[-1] = len(item) - size
        windows = [
            EncodedSentence(
                item.pieces[s : s + size], item.word_of_piece[s : s + size], item.shapes
            )
            for s in starts
        ]
        begin = len(self.encoder.prefix)
        pieces: list[Tensor] = []
        root: Tensor | None = None
        for number, (start, window) in enumerate(zip(starts, windows, strict=True)):
            tensors = self.encoder.collate([window])
            states = self.model.encoder(
                input_ids=tensors["input_ids"].to(self.model.device),
                attention_mask=tensors["attention_mask"].to(self.model.device),
            ).last_hidden_state
            root = states[:, 0] if root is None else root
            # This window owns the pieces up to the middle of its overlap with the next one.
            left = 0 if number == 0 else (starts[number - 1] + size + start) // 2
            last = number + 1 == len(starts)
            right = len(item) if last else (start + size + starts[number + 1]) // 2
            pieces.append(states[:, begin + left - start : begin + right - start])
        assert root is not None
        device = self.model.device
        return self.model.score_pieces(
            torch.cat(pieces, 1),
            root,
            torch.from_numpy(item.word_of_piece).unsqueeze(0).to(device),
            torch.from_numpy(item.shapes).unsqueeze(0).to(device),
            torch.tensor([len(item.shapes)], device=device),
        )

    def _parse_in_parts(self, sentence: Sentence) -> Parse:
        log.warning(
            "a sentence of %d words is longer than max_words=%d: parsed in parts",
            len(sentence),
            self.max_words,
        )
        parts = self.parse(
            Sentence(
                sentence.forms[start : start + self.max_words],
                sentence.starts[start : start + self.max_words],
                sentence.ends[start : start + self.max_words],
            )
            for start in range(0, len(sentence), self.max_words)
        )
        first_root = parts[0].heads.index(0) + 1
        heads: list[int] = []
        relations: list[str] = []
        for number, part in enumerate(parts):
            offset = number * self.max_words
            for head, relation in zip(part.heads, part.relations, strict=True):
                if head == 0 and number > 0:
                    heads.append(first_root)
                    relations.append("parataxis")
                else:
                    heads.append(head + offset if head else 0)
                    relations.append(relation)
        phrases = None
        if self.decoding != "dependencies":
            phrases = tuple(
                Constituent(label, start + number * self.max_words, end + number * self.max_words)
                for number, part in enumerate(parts)
                for label, start, end in part.constituents or ()
            )
        return Parse(
            sentence,
            tuple(heads),
            tuple(relations),
            tuple(tag for part in parts for tag in part.upos),
            tuple(tag for part in parts for tag in part.xpos),
            None if self.by_rule else tuple(p for part in parts for p in part.probabilities or ()),
            phrases,
        )


def _checked(sentences: Any) -> Iterator[Sentence]:
    """The sentences as they come.

    Raises:
        InputError: they are not several, or one of them is something else.
    """
    require_several(sentences, "sentences")
    for number, sentence in enumerate(sentences, start=1):
        if not isinstance(sentence, Sentence):
            raise InputError(
                f"sentence {number}: expected a Sentence, got {sentence!r:.60}; give running text "
                f"to parse_text(), and words as Sentence.from_words([…])"
            )
        yield sentence
