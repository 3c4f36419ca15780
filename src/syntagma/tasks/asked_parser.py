"""Which parse source a saved model is used with."""

from __future__ import annotations

from syntagma.encoders.reference import ModelRef
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.parse.sources.load import AnyParser, as_source, needed_source
from syntagma.parse.sources.source import Mode, ParseSource


def asked_parser(model: GuidedEncoder, parser: AnyParser, *, name: str) -> AnyParser:
    """Return the source to use, or its name; empty for a model that reads no syntax.

    Args:
        model: the model.
        parser: the source that was asked for; empty for the one used in training.
        name: name of the model in error messages.

    Raises:
        InputError: another source was asked for, and the model reads nothing that it changes.
    """
    if not model.reads_syntax:
        if parser:
            raise InputError(f"{name}: reads no syntax, so parser {parser!r:.60} changes nothing")
        return ""
    if not isinstance(parser, str):
        return parser
    own = needed_source(model.config.parser, trees=model.reads_trees)
    asked = needed_source(parser, trees=model.reads_trees) if parser else own
    if parser and asked == own and not model.reads_trees:
        raise InputError(f"{name}: reads words but no trees, so parser {parser!r} changes nothing")
    return asked


def load_asked(
    asked: AnyParser, model: GuidedEncoder, ref: ModelRef, *, device: str, mode: Mode
) -> ParseSource:
    """Load the source to use; from the hub with the token and cache of the model.

    Args:
        asked: what :func:`asked_parser` returned.
        model: the model.
        ref: where the model is from.
        device: device to compute on.
        mode: as for :func:`syntagma.parse.sources.load.load_source`.

    Raises:
        InputError: there is no such source, or it does not give what the model reads.
    """
    return as_source(
        asked,
        device=device,
        mode=mode,
        heads=model.reads_heads,
        options=ref.options.elsewhere(),
    )
