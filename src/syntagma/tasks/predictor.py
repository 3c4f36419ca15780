"""Texts as pieces with their syntax, and models that read them: what all text tasks share."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Sequence, Sized
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import torch
from torch import Tensor

from syntagma.batches import padded_length, token_budget_batches
from syntagma.encoders.default import model_folder
from syntagma.encoders.load import load_tokenizer, max_pieces
from syntagma.encoders.model import saved_tokenizer
from syntagma.encoders.precision import Precision, autocast, best_device, require_device
from syntagma.encoders.saved import is_saved_model, saved_settings
from syntagma.errors import InputError
from syntagma.files import require_path
from syntagma.models.config import change_guides, resolve_guides
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.parse.sources.cache import ParseCache, cache_folder
from syntagma.parse.sources.load import load_source
from syntagma.parse.sources.source import Mode, ParseSource
from syntagma.settings import build, to_dict
from syntagma.syntax.encode import EncodedText, encode_texts, piece_mode
from syntagma.syntax.sequences import SequenceBuilder
from syntagma.tasks.experiment import Experiment

__all__ = [
    "LabelPredictor",
    "TextEncoder",
    "TextPredictor",
    "new_model",
    "require_frozen",
    "training_options",
]

log = logging.getLogger(__name__)

Model = TypeVar("Model", bound=GuidedEncoder)

SAVED = "saved"
"""The preset that stands for the guides of the model which ``encoder`` names."""


class TextEncoder:
    """Cuts texts into pieces and gives them the syntax that a model reads.

    Args:
        model: reads them.
        tokenizer: its encoder's fast tokenizer.
        store: parses of texts; not asked by a model that reads no syntax.
    """

    def __init__(self, model: GuidedEncoder, tokenizer: Any, store: ParseCache | None) -> None:
        self.tokenizer = tokenizer
        self.store = store if model.reads_syntax else None
        self.mode = piece_mode(model.config.guides)
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

    def encode(self, texts: Sequence[str], *, spaced: bool = False) -> dict[str, EncodedText]:
        """Each different text as pieces with their syntax.

        Args:
            texts: raw texts.
            spaced: as after a space in running text (:func:`syntagma.syntax.encode.encode_texts`).
        """
        unique = list(dict.fromkeys(texts))
        parsed = self.store.parsed(unique) if self.store is not None else None
        encoded = encode_texts(unique, self.tokenizer, parsed, mode=self.mode, spaced=spaced)
        return dict(zip(unique, encoded, strict=True))

    def forget(self) -> None:
        """Drop parses from memory, so that a stream of texts takes constant memory."""
        if self.store is not None:
            self.store.forget()


class TextPredictor(Generic[Model]):
    """A model with the tokenizer and the parses that it needs to read texts.

    Args:
        model: the scorer.
        tokenizer: its encoder's fast tokenizer.
        source: parses texts; needed where the model reads syntax.
        store: parses kept between calls; a fresh one without a disk folder if not given.
        batch_pieces: the most pieces in a batch, padding included.
        precision: ``auto`` takes bfloat16 where the device computes it fast.

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
        store: ParseCache | None = None,
        batch_pieces: int = 8192,
        precision: Precision = "auto",
    ) -> None:
        autocast(model.device, precision)  # Refuses an unknown one now, not at the first text.
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.batch_pieces = batch_pieces
        self.precision = precision
        if store is None and source is not None:
            store = ParseCache(source)
        if model.reads_syntax and store is None:
            raise InputError("this model reads syntax: give it a parse source")
        self.texts = TextEncoder(model, tokenizer, store)

    @classmethod
    def mode(cls, model: Any) -> Mode:
        """Whether texts run, or are words with spaces between them, which parses must keep.

        Args:
            model: of the class's own.
        """
        return "raw"

    @classmethod
    def from_pretrained(
        cls, name: str | Path, *, device: str = "cpu", parser: str = "", **options: Any
    ) -> Self:
        """A saved model.

        Args:
            name: its folder, or the name of one that comes with the package.
            device: where to compute.
            parser: where parses come from (:func:`syntagma.parse.sources.load.load_source`), if
                not from the source used in training.
            options: of the constructor.

        Raises:
            InputError: there is no such model, device or parser, or the model reads no parses.
        """
        require_path(name, "a model folder")
        require_device(device)
        folder = model_folder(name)
        model: Any = cls.model_class.from_folder(folder, task=cls.task).to(device)
        tokenizer = saved_tokenizer(folder, model.config)
        if parser and not model.reads_syntax:
            raise InputError(f"{name}: reads no syntax, so parser {parser!r} changes nothing")
        if model.reads_syntax and not {"source", "store"} & options.keys():
            options["source"] = load_source(
                parser or model.config.parser,
                device=device,
                mode=cls.mode(model),
            )
        return cls(model, tokenizer, **options)

    def batches(self, items: Sequence[Sized]) -> list[list[int]]:
        """Indices of items in batches of similar length, within the model's budget of pieces."""
        lengths = [padded_length(len(item)) for item in items]
        return [batch.tolist() for batch in token_budget_batches(lengths, self.batch_pieces)]

    def on_device(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """Tensors where the model computes."""
        return {name: tensor.to(self.model.device) for name, tensor in tensors.items()}


class LabelPredictor(TextPredictor[Model]):
    """A predictor whose model gives each item a score for every label."""

    @abstractmethod
    def collate(self, items: Sequence[Any]) -> dict[str, Tensor]:
        """A padded batch."""

    @torch.inference_mode()
    def label_scores(self, items: Sequence[Sized]) -> list[Tensor]:
        """The scores of the labels of each item, ``[n_labels]``, in the order of the items."""
        scores: dict[int, Tensor] = {}
        for batch in self.batches(items):
            tensors = self.on_device(self.collate([items[index] for index in batch]))
            tensors.pop("labels", None)
            with autocast(self.model.device, self.precision):
                found = self.model(**tensors).labels.cpu()
            scores |= dict(zip(batch, found, strict=True))
        return [scores[index] for index in range(len(items))]


def new_model(
    model_class: type[Model],
    experiment: Experiment,
    *,
    task: str,
    head: type,
    labels: dict[str, list[str]] | None = None,
) -> Model:
    """A model with the guides and the encoder of an experiment.

    With the preset ``saved`` it goes on from the saved model, with its head too where that was for
    the same task and labels; else its head is fresh.

    Args:
        model_class: of the model.
        experiment: what is trained.
        task: its name.
        head: the dataclass of its settings.
        labels: names of the labels, where it has some.

    Raises:
        InputError: a setting is unknown or impossible, or there is no such encoder.
    """
    if experiment.preset == SAVED:
        if not is_saved_model(experiment.encoder):
            wrong = "is none" if Path(experiment.encoder).is_dir() else "is no folder yet"
            raise InputError(
                f"preset saved: takes the guides of a model of ours, and encoder "
                f"{experiment.encoder!r} {wrong}; train that model first, name another folder, "
                f"or give another preset"
            )
        saved = saved_settings(experiment.encoder)
        own, before = saved["guides"], saved.get("parser")
        if own and before and before != experiment.parser:
            log.warning(
                "%s was trained with the parses of %s, and now reads those of %s; name the same "
                "parser if that is not what you want",
                experiment.encoder,
                before,
                experiment.parser,
            )
        guides = change_guides(own, experiment.guides)
    else:
        guides = resolve_guides(experiment.preset, experiment.guides, others=[SAVED])
    model: Model = model_class.from_encoder(
        experiment.encoder,
        task=task,
        guides=guides,
        head=to_dict(build(head, experiment.head, where="head")),
        labels=labels or {},
        parser=experiment.parser if guides else "",
        hidden_dropout=experiment.hidden_dropout,
        attention_dropout=experiment.attention_dropout,
    )
    if experiment.preset == SAVED:
        model.take_head(experiment.encoder)
    return model


def require_frozen(experiment: Experiment) -> None:
    """Check that the encoder of a probe stays as it is.

    Raises:
        InputError: it is to learn.
    """
    if experiment.training.encoder != "frozen":
        raise InputError(
            f"training.encoder: a probe looks at what is there and changes nothing; set it to "
            f"frozen, not {experiment.training.encoder}"
        )


def training_options(
    model: GuidedEncoder, experiment: Experiment, *, mode: Mode = "raw"
) -> dict[str, Any]:
    """The tokenizer, parses and precision with which a predictor is trained."""
    return {
        "tokenizer": load_tokenizer(experiment.encoder),
        "store": training_store(model, experiment, mode=mode),
        "precision": experiment.training.precision,
    }


def training_store(
    model: GuidedEncoder, experiment: Experiment, *, mode: Mode = "raw"
) -> ParseCache | None:
    """Parses of a training set, kept on disk; ``None`` for a model that reads no syntax.

    Args:
        model: reads them.
        experiment: names their source.
        mode: ``words`` where texts are words with spaces between them.
    """
    if not model.reads_syntax:
        return None
    source = load_source(experiment.parser, device=best_device(), mode=mode)
    return ParseCache(source, cache_folder())
