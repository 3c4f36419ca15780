"""Set the dropout probabilities of an encoder, whatever its configuration calls them."""

from __future__ import annotations

import logging

from transformers import PretrainedConfig

from syntagma.encoders.sites import find_sites
from syntagma.errors import InputError

log = logging.getLogger(__name__)


def set_dropout(config: PretrainedConfig, *, hidden: float | None, attention: float | None) -> None:
    """Set an encoder's dropout probabilities.

    Args:
        config: the encoder's configuration, which is changed.
        hidden: dropout on hidden states; ``None`` to keep the configured value.
        attention: dropout on attention weights; ``None`` to keep the configured value.

    Raises:
        InputError: a probability is given, but the table has no row for the encoder; or two are
            given, and the encoder has only one.
    """
    if hidden is None and attention is None:
        return
    sites = find_sites(config.model_type, purpose="setting the encoder's dropout")
    if sites.attention_dropout in sites.hidden_dropout:
        _require_one(config.model_type, hidden, attention)
    if hidden and not sites.hidden_dropout:
        log.warning(
            "hidden_dropout: %s has no effect, since the hidden states of %r have no dropout",
            hidden,
            config.model_type,
        )
    if hidden is not None:
        for key in sites.hidden_dropout:
            setattr(config, key, hidden)
    if attention is not None:
        setattr(config, sites.attention_dropout, attention)


def _require_one(model_type: str, hidden: float | None, attention: float | None) -> None:
    """Check the probabilities of an encoder with one dropout for states and attention."""
    if hidden is None:
        log.warning(
            "attention_dropout: %s is the dropout of hidden states too, since %r has one for both",
            attention,
            model_type,
        )
    elif attention not in (None, hidden):
        raise InputError(
            f"attention_dropout: expected {hidden}, like hidden_dropout, since {model_type!r} has "
            f"one dropout for both, got {attention}; omit one of the two"
        )
