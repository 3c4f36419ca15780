"""Predictors: a model with the tokenizer and the parses that it needs to read texts."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Mapping, Sequence, Sized
from dataclasses import replace
from typing import Any, ClassVar, Generic, Self, TypeVar

import torch
from torch import Tensor

from syntagma.batches import call_cost_on, padded_length, token_budget_batches
from syntagma.encoders.hub_options import take_hub_options
from syntagma.encoders.load import load_tokenizer, max_pieces
from syntagma.encoders.placement import take_placement
from syntagma.encoders.precision import Precision, autocast, set_precision
from syntagma.encoders.reference import ModelName, find_model
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.parse.columns import ParsedText
from syntagma.parse.sources.cache import ParseCache
from syntagma.parse.sources.load import AnyParser, identify, needed_source
from syntagma.parse.sources.source import Mode, ParseSource
from syntagma.progress import steps
from syntagma.syntax.encode import EncodedText, encode_texts, piece_mode
from syntagma.syntax.sequences import SequenceBuilder
from syntagma.syntax.tags import MIN_SHARE, TagSet, tag_set_of, tagged_shares, too_few_tags
from syntagma.tasks.asked_parser import asked_parser, load_asked
from syntagma.tasks.layout import Layout, TextPair
from syntagma.tasks.recent import Recent
from syntagma.tasks.task import Example, Prediction, Task

log = logging.getLogger(__name__)

Model = TypeVar("Model", bound=GuidedEncoder)
KEPT_PIECES = 400_000
"""Number of pieces of recent texts that are kept, with their syntax about 16 MB."""


class TextEncoder:
    """Cuts texts into pieces and gives them the syntax that a model reads.

    Args:
        model: reads them.
        tokenizer: its encoder's fast tokenizer.
        cache: parses of texts; not asked by a model that reads no syntax.
        words: whether texts are words separated by spaces.

    Attributes:
        chooses_tags: whether the first texts are training texts, by which the tag set of guides is
            chosen that leave it to training.
    """

    def __init__(
        self,
        model: GuidedEncoder,
        tokenizer: Any,
        cache: ParseCache | None,
        *,
        words: bool = False,
    ) -> None:
        self.tokenizer = tokenizer
        self.words = words
        self.cache = cache if model.reads_syntax else None
        self.mode = piece_mode(model.config.guides)
        self.config = model.config
        self.reads_tags = "tag" in model.syntax_columns
        self.chooses_tags = False
        self._recent: Recent[tuple[str, bool, bool], EncodedText] = Recent(KEPT_PIECES)
        self._checked = False
        self.longest = max_pieces(model.config.encoder)
        self.builder = SequenceBuilder(
            tokenizer, columns=model.syntax_columns, longest=self.longest
        )

    def check_length(self, max_length: int) -> None:
        """Check that the encoder can read sequences of a length.

        Raises:
            InputError: it cannot.
        """
        if max_length > self.longest:
            raise InputError(
                f"head.max_length {max_length} is longer than the encoder reads ({self.longest})"
            )

    def _choose_tags(self, shares: Mapping[TagSet, float]) -> None:
        """Choose the tag set of guides that leave it to training, and record it in their settings.

        Args:
            shares: share of the training texts' words with a tag of each tag set.
        """
        is_foreign = shares["penn"] < MIN_SHARE and shares["upos"] > shares["penn"]
        for name, settings in self.config.guides.items():
            if getattr(settings, "tags", "") != "auto":
                continue
            self.config.guides[name] = replace(settings, tags="upos" if is_foreign else "penn")
            if is_foreign:
                log.warning(
                    "guides.%s: only %.0f %% of words have Penn tags; universal tags are used",
                    name,
                    100 * shares["penn"],
                )

    def _check_tags(self, parsed: Sequence[ParsedText]) -> None:
        """Choose the tag set if training asked for it; warn if most words lack such tags."""
        if self._checked or not self.reads_tags:
            return
        self._checked = True
        shares = tagged_shares(parsed)
        if self.chooses_tags:
            self._choose_tags(shares)
        if problem := too_few_tags(shares, tag_set_of(self.config.guides)):
            log.warning("%s", problem)

    def encode(
        self, texts: Sequence[str], *, spaced: bool = False, without_trees: bool = False
    ) -> dict[str, EncodedText]:
        """Each different text as pieces with their syntax; recent ones are kept.

        Args:
            texts: raw texts.
            spaced: as after a space in running text (:func:`syntagma.syntax.encode.encode_texts`).
            without_trees: do not parse the texts; their pieces belong to no word.
        """
        options = (spaced, without_trees)
        found: dict[str, EncodedText | None] = {
            text: self._recent.get((text, *options)) for text in dict.fromkeys(texts)
        }
        new = [text for text, encoded in found.items() if encoded is None]
        if new:
            for text, encoded in zip(new, self._encode(new, *options), strict=True):
                self._recent.add((text, *options), encoded, size=len(encoded) + 1)
                found[text] = encoded
        return {text: encoded for text, encoded in found.items() if encoded is not None}

    def _encode(self, texts: Sequence[str], spaced: bool, without_trees: bool) -> list[EncodedText]:
        parsed = None
        if self.cache is not None:
            if without_trees:
                parsed = [ParsedText.from_parses([])] * len(texts)
            else:
                parsed = self.cache.parsed(texts)
                self._check_tags(parsed)
        return encode_texts(
            texts,
            self.tokenizer,
            parsed,
            mode=self.mode,
            tags=tag_set_of(self.config.guides),
            spaced=spaced,
            given_words=self.words,
        )

    def forget(self) -> None:
        """Drop parses from memory, so that a stream of texts takes constant memory."""
        if self.cache is not None:
            self.cache.forget()


class OneOrMany:
    """Makes a predictor callable with one input or with several.

    Attributes:
        inputs: names of what the predictor reads for one prediction.
    """

    inputs: ClassVar[tuple[str, ...]]
    stream: Any  # Each predictor defines it, over inputs of its own kind.

    def __call__(self, *given: Any, **options: Any) -> Any:
        """Predict for one input, or for several in batches.

        One prediction takes its :attr:`inputs` as arguments, by position or by name: for a reader,
        ``reader(passage, question)``.  Several take one iterable of them and give a list:
        ``reader([(passage, question), ...])``.

        Args:
            given: the inputs of one prediction, or one iterable.
            options: further arguments of ``stream``.

        Raises:
            InputError: an input is missing, or ``stream`` would reject it.
        """
        named = [name for name in self.inputs[len(given) :] if name in options]
        if len(given) == 1 and not named and not isinstance(given[0], str):
            return list(self.stream(given[0], **options))
        row = (*given, *(options.pop(name) for name in named))
        if len(row) != len(self.inputs):
            raise InputError(
                f"expected {', '.join(self.inputs)}, or a list of such inputs; "
                f"got {len(row)} of {len(self.inputs)} arguments"
            )
        return next(self.stream([row if len(row) > 1 else row[0]], **options))


class TextPredictor(Generic[Model]):
    """A model with the tokenizer and the parses that it needs to read texts.

    Threads may share a predictor: each call returns what it returns alone.  Texts are parsed by one
    thread at a time, and a model with guides inside its encoder is run by one thread at a time; to
    do more at once, give each process a predictor.  Iterators are for one thread each, and nothing
    may train the model or change its tokenizer meanwhile.

    Args:
        model: the scorer.
        tokenizer: its encoder's fast tokenizer.
        source: parses texts; needed where the model reads syntax.
        cache: parses kept between calls; a fresh one without a disk folder if not given.
        batch_tokens: the most pieces in a batch, padding included.
        precision: ``auto`` takes bfloat16 where the device computes it fast; ``int8`` computes
            linear layers in 8-bit integers, on CPUs (:mod:`syntagma.encoders.cpu.int8`).

    Attributes:
        model_class: of the model.
        task: of its folder, or several of which it may be one.

    Raises:
        InputError: the precision is unknown, or the model reads syntax and there is no source.
    """

    model_class: ClassVar[type[GuidedEncoder]]
    task: ClassVar[str | tuple[str, ...]]

    def __init__(
        self,
        model: Model,
        tokenizer: Any,
        *,
        source: ParseSource | None = None,
        cache: ParseCache | None = None,
        batch_tokens: int = 8192,
        precision: Precision = "auto",
    ) -> None:
        self.precision = set_precision(model, precision)
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.batch_tokens = batch_tokens
        if cache is None and source is not None:
            cache = ParseCache(source)
        if model.reads_syntax and cache is None:
            raise InputError("this model reads syntax: give it a parse source")
        self.texts = TextEncoder(model, tokenizer, cache, words=self.mode(model) == "words")

    @classmethod
    def mode(cls, model: Any) -> Mode:
        """Whether texts run, or are words with spaces between them, which parses must keep.

        Args:
            model: of the class's own.
        """
        return "raw"

    @classmethod
    def from_pretrained(
        cls, name: ModelName, *, device: str = "cpu", parser: AnyParser = "", **options: Any
    ) -> Self:
        """A saved model.

        Args:
            name: its folder, the name of a shipped model, or a hub name.
            device: where to compute.
            parser: parse source (:func:`as_source`); by default the one used in training.
            options: of the constructor; and those of Transformers, as for
                :meth:`syntagma.encoders.model.SyntagmaModel.from_pretrained`.

        Raises:
            InputError: there is no such model, device or parser, or the model reads no parses.
        """
        ref, placement = find_model(name, take_hub_options(options)), take_placement(options)
        device = str(placement.device(device))
        model: Any = cls.model_class.load_saved(ref, task=cls.task)
        model = placement.apply(model, device=device, saved_dtype=ref.saved_dtype)
        tokenizer = load_tokenizer(ref, model.config.encoder)
        asked = asked_parser(model, parser, name=ref.name)
        if asked and not {"source", "cache"} & options.keys():
            options["source"] = load_asked(asked, model, ref, device=device, mode=cls.mode(model))
        return cls(model, tokenizer, **options)

    def lay_out(self, texts: TextPair) -> Layout:
        """The sequence in which the model reads two texts, on the model's device.

        Args:
            texts: to read.

        Raises:
            InputError: a text is empty, or the model does not read text pairs.
        """
        raise InputError(
            f"expected a model for spans, choice or pairs, got one for {self.model.config.task}"
        )

    def batches(self, items: Sequence[Sized]) -> list[list[int]]:
        """Indices of items in batches of similar length, within the model's budget of pieces."""
        lengths = [padded_length(len(item)) for item in items]
        cost, budget = call_cost_on(self.model.device.type), self.batch_tokens
        return [b.tolist() for b in token_budget_batches(lengths, budget, call_cost=cost)]

    def on_device(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """Tensors where the model computes."""
        return {name: each.to(self.model.device) for name, each in tensors.items()}


class LabelPredictor(TextPredictor[Model]):
    """A predictor whose model gives each item a score for every label."""

    @property
    def labels(self) -> list[str]:
        """The names of the labels."""
        return list(self.model.config.labels["labels"])

    @abstractmethod
    def collate(self, items: Sequence[Any]) -> dict[str, Tensor]:
        """A padded batch, as the model's ``forward`` names it.

        Args:
            items: encoded inputs; with gold labels if all of them have some.
        """

    @torch.inference_mode()
    def label_scores(self, items: Sequence[Sized]) -> list[Tensor]:
        """The scores of the labels of each item, ``[n_labels]``, in the order of the items."""
        scores: dict[int, Tensor] = {}
        for batch in steps(self.batches(items)):
            tensors = self.on_device(self.collate([items[index] for index in batch]))
            tensors.pop("labels", None)
            with autocast(self.model.device, self.precision):
                found = self.model(**tensors).logits.cpu()
            scores |= dict(zip(batch, found, strict=True))
        return [scores[index] for index in range(len(items))]


Predictor = TypeVar("Predictor", bound=TextPredictor[Any])


class PredictorTask(Task[Example, Prediction], Generic[Example, Prediction, Predictor]):
    """A task that a predictor does.

    Args:
        predictor: to train or use; it is what users load for a single prediction.

    Attributes:
        predictor_class: of the predictor.
    """

    predictor_class: ClassVar[type[TextPredictor[Any]]]

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        self.tokenizer = predictor.tokenizer

    @property
    def model(self) -> Any:  # type: ignore[override]
        """The predictor's."""
        return self.predictor.model

    def collate(self, items: Sequence[Any]) -> dict[str, Tensor]:
        """A padded batch with gold labels, as the predictor makes it."""
        batch: dict[str, Tensor] = self.predictor.collate(items)  # type: ignore[attr-defined]
        return batch

    def costs(self) -> dict[str, float]:
        """The speed of parsing, where texts were parsed that the cache did not have."""
        cache = self.predictor.texts.cache
        if cache is None or not cache.seconds:
            return {}
        return {
            "parsed_words": float(cache.parsed_words),
            "parsed_words_per_second": cache.parsed_words / cache.seconds,
        }

    def parser_used(self, name: AnyParser = "") -> dict[str, str] | None:
        """As :meth:`Task.parser_used`."""
        cache = self.predictor.texts.cache
        if cache is None:
            return None
        if not isinstance(name, str):
            return identify(type(name).__name__, cache.source)
        name = needed_source(name or self.model.config.parser, trees=self.model.reads_trees)
        return identify(name, cache.source)

    @classmethod
    def from_pretrained(
        cls,
        name: ModelName,
        *,
        device: str = "cpu",
        parser: AnyParser = "",
        precision: Precision | None = None,
    ) -> Self:
        """A saved predictor."""
        predictor: Any = cls.predictor_class.from_pretrained(
            name, device=device, parser=parser, precision=precision or "auto"
        )
        return cls(predictor)
