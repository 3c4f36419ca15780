"""New models from an experiment's settings, and what is needed to train them."""

from __future__ import annotations

import logging
from typing import Any, TypeVar

from syntagma.encoders.load import load_encoder_config, load_tokenizer
from syntagma.encoders.precision import best_device
from syntagma.encoders.reference import ModelRef
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.guides import PRESETS, change_guides, preset_on
from syntagma.parse.sources.cache import ParseCache, cache_folder
from syntagma.parse.sources.load import as_source, needed_source
from syntagma.parse.sources.source import Mode
from syntagma.tasks.experiment import SAVED, Experiment

log = logging.getLogger(__name__)

Model = TypeVar("Model", bound=GuidedEncoder)


def new_model(
    model_class: type[Model], experiment: Experiment, *, labels: dict[str, list[str]] | None = None
) -> Model:
    """A model with the guides and the encoder of an experiment.

    With the preset ``saved`` it continues from the saved model, with its head too if that is for
    the same task and labels.

    Args:
        model_class: of the model.
        experiment: the settings.
        labels: names of the labels, for tasks that have some.

    Raises:
        InputError: a setting is impossible, or there is no such encoder.
    """
    ref = experiment.encoder_ref
    guides = experiment.guides
    if experiment.preset == SAVED:
        guides = change_guides(_saved_guides(experiment, ref), guides)
    elif any(PRESETS[experiment.preset].values()):
        encoder, asked = load_encoder_config(ref), experiment.asked_copies
        guides = preset_on(experiment.preset, guides, encoder, asked=asked)
    active = {name: settings for name, settings in guides.items() if settings is not False}
    model: Model = model_class.from_encoder(
        ref,
        task=experiment.task,
        guides=active,
        head=experiment.head,
        labels=labels or {},
        parser=experiment.parser if active else "",
        hidden_dropout=experiment.hidden_dropout,
        attention_dropout=experiment.attention_dropout,
        num_hidden_layers=experiment.num_hidden_layers,
    )
    if experiment.preset == SAVED:
        model.take_head(ref)
    return model


def _saved_guides(experiment: Experiment, ref: ModelRef) -> dict[str, Any]:
    """The guides of the saved model that an experiment continues from."""
    if ref.kind == "qa_model":
        return {}
    if ref.kind != "model":
        wrong = "is not one" if ref.folder.is_dir() else "does not exist yet"
        raise InputError(
            f"preset saved: takes the guides of a model that this package saved, and encoder "
            f"{ref.name!r} {wrong}; train that model first, name another folder, or give another "
            f"preset"
        )
    guides: dict[str, Any] = ref.settings["guides"]
    before = ref.settings.get("parser")
    if guides and before and before != experiment.parser:
        log.warning(
            "%s was trained with the parses of %s, and now reads those of %s; name the same parser "
            "if that is not what you want",
            ref.name,
            before,
            experiment.parser,
        )
    return guides


def require_frozen(experiment: Experiment) -> None:
    """Check that the encoder of a probe is not trained.

    Raises:
        InputError: it is.
    """
    if experiment.training.encoder != "frozen":
        raise InputError(
            f"training.encoder: probes need a frozen encoder; set training.encoder=frozen (got "
            f"{experiment.training.encoder})"
        )


def training_options(
    model: GuidedEncoder, experiment: Experiment, *, mode: Mode = "raw"
) -> dict[str, Any]:
    """The tokenizer, parses and precision with which a predictor is trained."""
    return {
        "tokenizer": load_tokenizer(experiment.encoder_ref),
        "cache": training_parses(model, experiment, mode=mode),
        "precision": experiment.training.precision,
    }


def training_parses(
    model: GuidedEncoder, experiment: Experiment, *, mode: Mode = "raw"
) -> ParseCache | None:
    """The parses of a training set, cached on disk; ``None`` for a model that reads no syntax.

    Args:
        model: reads them.
        experiment: names their source.
        mode: ``words`` where texts are words with spaces between them.
    """
    if not model.reads_syntax:
        return None
    name = needed_source(experiment.parser, trees=model.reads_trees)
    source = as_source(name, device=best_device(), mode=mode, heads=model.reads_heads)
    return ParseCache(source, cache_folder())
