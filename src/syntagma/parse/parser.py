"""The joint parser: dependency trees, phrases and part-of-speech tags for sentences."""

from __future__ import annotations

import copy
import functools
import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Literal, Self, overload

import numpy as np
import torch

from syntagma.batches import batched, call_cost_on, token_budget_batches
from syntagma.checks import require_several, require_string
from syntagma.encoders.cpu.joined_rows import can_join, is_joined_fast
from syntagma.encoders.default import DEFAULT_PARSER, WEIGHTS
from syntagma.encoders.hub_options import take_hub_options
from syntagma.encoders.load import load_tokenizer, max_pieces
from syntagma.encoders.placement import take_placement
from syntagma.encoders.precision import Precision, autocast, set_precision
from syntagma.encoders.reference import ModelName, find_model
from syntagma.errors import InputError
from syntagma.parse.arguments import check_options, checked_sentences
from syntagma.parse.decode import DecodedSentence, DecodingMode, decode
from syntagma.parse.encode import EncodedSentence, SentenceEncoder
from syntagma.parse.fingerprint import (
    asked_precision,
    fingerprint_of_model,
    fingerprint_of_saved,
)
from syntagma.parse.head_rules import heads_by_rule
from syntagma.parse.languages import LABEL, RESCORED, Languages
from syntagma.parse.long_sentences import cut_sentence, join_sentence
from syntagma.parse.morphology import MorphologyLabels
from syntagma.parse.phrases import expand_chains
from syntagma.parse.scorer import ParserModel, WordStates
from syntagma.parse.sentence_ends import EndRescorer, segment_together
from syntagma.parse.spaced_words import join_parts, split_at_spaces
from syntagma.parse.windows import score_in_windows
from syntagma.progress import chunks, steps
from syntagma.text.limits import MAX_WORDS, part_starts
from syntagma.text.segmentation.segment import segment
from syntagma.text.sentence import Parse, Sentence

log = logging.getLogger(__name__)

SENTENCES_PER_CHUNK = 4096
"""Number of sentences that are read, sorted by length and batched together."""

TEXTS_PER_CHUNK = 512
"""Number of texts that are read and segmented together."""


class JointParser:
    """Parses sentences into trees, phrases and part-of-speech tags; threads may share one.

    Args:
        model: the scoring model.
        tokenizer: the fast tokenizer of the model's encoder.
        budget: maximum number of pieces in a batch, padding included.
        max_words: maximum sentence length in words.  Longer sentences are parsed in parts, with a
            warning (:mod:`syntagma.text.limits`).
        precision: ``float32`` gives a sentence the same parse alone and in any batch.  ``auto``
            uses bfloat16 where the device is fast at it: about twice as fast and as accurate on
            average, but in one sentence in a hundred a label depends on the rest of its batch.
            ``int8`` computes linear layers in 8-bit integers, on CPUs
            (:mod:`syntagma.encoders.cpu.int8`).  By default what the parser was saved with:
            ``float32``, but ``int8`` for ``fast-parser`` where the device can do it.
        decoding: ``dependencies`` finds no phrases; ``separate`` finds phrases and dependencies
            independently; ``joint`` finds the one tree that is best as both.  A parser trained on
            phrases only always finds phrases.  It derives heads from them by rule, with the
            relations ``root`` and ``dep`` and without probabilities.
        languages: what cuts raw text into sentences and words, by language; by default English by
            rules.

    Raises:
        InputError: a setting is out of range, or ``decoding`` asks for phrases and the parser was
            trained without them.
    """

    def __init__(
        self,
        model: ParserModel,
        tokenizer: Any,
        *,
        budget: int = 4096,
        max_words: int = MAX_WORDS,
        precision: Precision | None = None,
        decoding: DecodingMode = "dependencies",
        languages: Languages | None = None,
    ) -> None:
        options: Any = {"max_words": max_words, "decoding": decoding, "languages": languages}
        check_options(model, budget=budget, **options)
        self._asked = asked_precision(model.head, precision, next(model.parameters()).dtype)
        precision = set_precision(model, precision or model.own_precision, fast_float32=True)
        self.model = model.eval()
        self.encoder = SentenceEncoder(tokenizer)
        self.budget = budget
        self.max_words = max_words
        self.precision = precision
        self.by_rule = model.head.views == "constituents"
        self.decoding: DecodingMode = "separate" if self.by_rule else decoding
        self.max_content = max_pieces(model.config.encoder) - self.encoder.n_special
        self.languages = languages or Languages({"en": None})
        labels = model.config.labels
        if model.sentence_ends is not None:
            rescorer = EndRescorer(
                model.sentence_ends, model.encoder, self.encoder, self.max_content, precision
            )
            self.languages = self.languages.rescored_by(rescorer, labels[RESCORED])
        self._relations, self._upos, self._xpos = (
            np.array(labels[name], object) for name in ("relations", "upos", "xpos")
        )
        self._morphology = None if model.morphology is None else MorphologyLabels(labels)

    @classmethod
    def from_pretrained(
        cls,
        name: ModelName = DEFAULT_PARSER,
        *,
        device: str = "cpu",
        lang: str = "",
        **options: Any,
    ) -> Self:
        """Load a saved parser.

        Args:
            name: a shipped parser, a folder of the task ``parsing``, or a hub name.
            device: device to compute on.
            lang: ISO 639-1 code of the language of all texts, for a parser of several; otherwise
                the language of each text is detected.
            options: further arguments of the constructor; and those of Transformers, as for
                :meth:`syntagma.encoders.model.SyntagmaModel.from_pretrained` (``device_map`` means
                the same as ``device``).

        Raises:
            InputError: there is no such parser or device, or the parser does not know the language.
        """
        ref = find_model(name, take_hub_options(options))
        placement = take_placement(options)
        device = str(placement.device(device))
        model: Any = ParserModel.load_saved(ref, task="parsing")
        model = placement.apply(model, device=device, saved_dtype=ref.saved_dtype)
        codes = model.config.labels.get(LABEL)
        tokenizer = load_tokenizer(ref, model.config.encoder)
        languages = Languages.read(ref.folder, None if codes is None else tuple(codes), tokenizer)
        options = {"languages": languages.choose(lang) if lang else languages} | options
        return cls(model, tokenizer, **options)

    def with_phrases(self) -> JointParser:
        """Return a parser with the same weights that also finds phrases, if it was trained to."""
        if self.decoding != "dependencies" or self.model.spans is None:
            return self
        # A shallow copy shares the model.
        other = copy.copy(self)
        other.decoding = "separate"
        return other

    def for_language(self, lang: str) -> JointParser:
        """Return a parser with the same weights for texts in one language.

        Args:
            lang: ISO 639-1 code of a language that the parser was trained on.

        Raises:
            InputError: it was not.
        """
        other = copy.copy(self)
        other.languages = self.languages.choose(lang)
        other.__dict__.pop("fingerprint", None)
        return other

    # A string is an iterable of strings as well; this signature comes first.
    @overload
    def __call__(self, text: str) -> list[Parse]: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, text: Iterable[str]) -> list[list[Parse]]: ...

    def __call__(self, text: str | Iterable[str]) -> list[Parse] | list[list[Parse]]:
        """Parse a running text, or several.

        Args:
            text: one text, as for :meth:`parse_text`, or several, as for :meth:`parse_texts`.

        Returns:
            The parses of the sentences; a list of such lists for several texts.
        """
        return self.parse_text(text) if isinstance(text, str) else list(self.parse_texts(text))

    def parse_text(
        self, text: str, *, mode: Literal["raw", "lines", "words"] = "raw"
    ) -> list[Parse]:
        """Segment a text into sentences and words and parse them; offsets refer to ``text``.

        Args:
            text: any text; a text without words has no sentences.
            mode: ``raw`` for running text, ``lines`` for one sentence per line, ``words`` for one
                sentence per line with words separated by spaces.

        Raises:
            InputError: ``text`` is not a string.
        """
        require_string(text, "text")
        segmenter = None if mode == "words" else self.languages.segmenter_for(text)
        return self.parse(segment(text, mode=mode, segmenter=segmenter))

    @functools.cached_property
    def fingerprint(self) -> str:
        """A hash of the weights and of the segmentation rules, and the options that change parses.

        For a parser that was loaded from a folder, the files there are hashed.
        """
        options: dict[str, Any] = {
            "max_words": self.max_words,
            "decoding": self.decoding,
            "lang": self.languages.chosen,
            "precision": self._asked,
        }
        ref = self.model.source
        # The folder may have been removed since, or its path be relative to another directory.
        if ref is not None and (ref.folder / WEIGHTS).is_file():
            return fingerprint_of_saved(ref.folder, **options)
        return fingerprint_of_model(self.model, self.languages, **options)

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """Segment and parse running texts, many at a time, in constant memory.

        Args:
            texts: running texts.

        Returns:
            One list of parses for each text, in order.

        Raises:
            InputError: ``texts`` is a single string, or an element is not a string.
        """
        if isinstance(texts, str):
            raise InputError(
                "parse_texts: expected several texts, got one; give it to parse_text()"
            )
        require_several(texts, "texts")
        return self._parse_texts(texts)

    def _parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        for chunk in batched(texts, TEXTS_PER_CHUNK):
            for text in chunk:
                require_string(text, "text")
            segmenters = [self.languages.segmenter_for(text) for text in chunk]
            sentences = segment_together(chunk, segmenters)
            parses = iter(self.parse(chain.from_iterable(sentences)))
            for sentences_of_text in sentences:
                yield list(islice(parses, len(sentences_of_text)))

    def parse(self, sentences: Iterable[Sentence]) -> list[Parse]:
        """Parse segmented sentences and return the parses in the same order.

        Args:
            sentences: from :func:`syntagma.segment` or :meth:`syntagma.Sentence.from_words`.

        Raises:
            InputError: an element is not a :class:`~syntagma.text.sentence.Sentence`.
        """
        return list(self.parse_stream(sentences))

    def parse_stream(self, sentences: Iterable[Sentence]) -> Iterator[Parse]:
        """Parse a stream of segmented sentences in constant memory.

        Args:
            sentences: as for :meth:`parse`.

        Raises:
            InputError: an element is not a :class:`~syntagma.text.sentence.Sentence`.
        """
        source = checked_sentences(sentences)
        for chunk in chunks(source, SENTENCES_PER_CHUNK):
            yield from self._parse_chunk(chunk)

    def _parse_chunk(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """Parse some sentences, reading words with spaces as several words if need be."""
        if self.model.head.spaced_words:
            return self._parse_words(sentences)
        read = list(map(split_at_spaces, sentences))
        return [
            parse if split is sentence else join_parts(sentence, parse)
            for sentence, split, parse in zip(sentences, read, self._parse_words(read), strict=True)
        ]

    def _parse_words(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """Parse some sentences, batched by length, and restore their order."""
        starts = [part_starts(len(sentence), self.max_words) for sentence in sentences]
        if not any(starts):
            return self._parse_whole(sentences)
        # The parts of long sentences are parsed together with the other sentences.
        parts = [
            part
            for sentence, own in zip(sentences, starts, strict=True)
            for part in (cut_sentence(sentence, own) if own else [sentence])
        ]
        parses = iter(self._parse_whole(parts))
        return [
            join_sentence(sentence, own, list(islice(parses, len(own))), self.max_words)
            if own
            else next(parses)
            for sentence, own in zip(sentences, starts, strict=True)
        ]

    def _parse_whole(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """Parse sentences none of which is too long."""
        parses: list[Parse | None] = [None] * len(sentences)
        for index, sentence in enumerate(sentences):
            if not len(sentence):
                parses[index] = Parse(sentence, (), probabilities=None if self.by_rule else ())
        todo = [index for index, parse in enumerate(parses) if parse is None]
        encoded = self.encoder.encode([sentences[index] for index in todo])
        for batch in steps(list(self._batches(encoded))):
            decoded = self._decode([encoded[index] for index in batch])
            for index, labels in zip(batch, decoded, strict=True):
                parses[todo[index]] = self._to_parse(sentences[todo[index]], labels)
        return [parse for parse in parses if parse is not None]

    def _batches(self, encoded: Sequence[EncodedSentence]) -> Iterator[Sequence[int]]:
        """Group indices by length; a sentence beyond the encoder's limit is a batch by itself."""
        lengths = np.array([len(item) for item in encoded], np.int64)
        short = np.flatnonzero(lengths <= self.max_content)
        n_pieces = lengths[short] + self.encoder.n_special
        device = self.model.device.type
        # Charts of phrases grow with the square of the longest sentence.
        joins = self.decoding == "dependencies" and can_join(self.model.encoder, device)
        if joins and is_joined_fast(n_pieces):
            # Computed as one row, so padding costs nothing.
            yield short.tolist()
        else:
            for batch in token_budget_batches(
                n_pieces, self.budget, call_cost=call_cost_on(device)
            ):
                yield short[batch].tolist()
        for index in np.flatnonzero(lengths > self.max_content).tolist():
            yield [index]

    def _to_parse(self, sentence: Sentence, decoded: DecodedSentence) -> Parse:
        """Replace label codes by labels."""
        upos, xpos = tuple(self._upos[decoded.upos]), tuple(self._xpos[decoded.xpos])
        phrases = None if decoded.phrases is None else expand_chains(decoded.phrases)
        probabilities: tuple[float, ...] | None = None
        if self.by_rule:
            # The arc scorer was not trained, so its heads mean nothing.
            heads = heads_by_rule(phrases or (), xpos)
            relations = tuple("dep" if head else "root" for head in heads)
        else:
            heads = tuple(decoded.heads.tolist())
            relations = tuple(self._relations[decoded.relations])
            probabilities = tuple(decoded.probabilities.tolist())
        morphology = None
        if self._morphology is not None:
            codes = decoded.feats, decoded.lemmas
            morphology = self._morphology.of_codes(sentence, upos, *codes)
        values = heads, relations, upos, xpos, probabilities, phrases
        return Parse(sentence, *values, morphology=morphology)

    @torch.inference_mode()
    def _decode(self, batch: Sequence[EncodedSentence]) -> list[DecodedSentence]:
        """Score and decode one batch."""
        with autocast(self.model.device, self.precision):
            states = self._score(batch)
            n_words = np.array([len(item.shapes) for item in batch])
            return decode(self.model, states, n_words, mode=self.decoding)

    def _score(self, batch: Sequence[EncodedSentence]) -> WordStates:
        with_phrases = self.decoding != "dependencies"
        if len(batch[0]) > self.max_content:
            return score_in_windows(
                self.model, self.encoder, batch[0], self.max_content, with_phrases=with_phrases
            )
        tensors = {
            name: value.to(self.model.device) for name, value in self.encoder.collate(batch).items()
        }
        states: WordStates = self.model(**tensors, with_phrases=with_phrases).states
        return states
