"""Translation models from scratch: a new vocabulary and randomly initialised weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from syntagma.encoders.config import SyntagmaConfig
from syntagma.encoders.default import SCRATCH
from syntagma.errors import InputError
from syntagma.models.guides import GUIDES
from syntagma.models.translation_model import (
    TranslationModel,
    fresh_config,
)
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.translation.vocabulary import learn_vocabulary


def from_scratch(experiment: Experiment, texts: Iterable[str]) -> tuple[TranslationModel, Any]:
    """Create a model of the size given in an experiment's head, and train its tokenizer.

    Args:
        experiment: the settings.
        texts: texts of both languages to train the vocabulary on.

    Raises:
        InputError: a setting is impossible, or is only meant for pretrained models.
    """
    _check(experiment)
    head = experiment.head
    guides = {
        name: settings for name, settings in experiment.guides.items() if settings is not False
    }
    tokenizer = learn_vocabulary(
        texts, kind=head.vocabulary, size=head.vocab_size, tokenized=head.tokenized
    )
    model = TranslationModel(
        SyntagmaConfig(
            encoder=fresh_config(head, tokenizer),
            base=SCRATCH,
            task=experiment.task,
            guides=guides,
            head=head,
            parser=experiment.parser if guides else "",
        )
    )
    vectors = model.both_sides.get_input_embeddings()
    with torch.no_grad():
        # The model multiplies embeddings by sqrt(hidden_size) (Vaswani et al. 2017, section 3.4).
        vectors.weight.normal_(std=head.hidden_size**-0.5)
        vectors.weight[tokenizer.pad_token_id] = 0
    return model, tokenizer


def _check(experiment: Experiment) -> None:
    kept = experiment.training.encoder
    if kept != "full":
        raise InputError(
            f"training.encoder: {kept} keeps pretrained weights, and encoder {SCRATCH!r} has none; "
            f"set it to full"
        )
    for name, settings in experiment.guides.items():
        if settings is not False and (copied := GUIDES[name].copies_pretrained(settings)):
            raise InputError(
                f"guides.{name}.{copied}: {getattr(settings, copied)} copies pretrained weights, "
                f"and encoder {SCRATCH!r} has none; omit it"
            )
    if experiment.num_hidden_layers is not None:
        raise InputError("num_hidden_layers: is only for pretrained encoders; omit it")
    for name, instead in (("hidden_dropout", "dropout"), ("attention_dropout",) * 2):
        if getattr(experiment, name) is not None:
            raise InputError(f"{name}: is only for pretrained encoders; set head.{instead} instead")
