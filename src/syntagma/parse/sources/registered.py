"""Parse sources of other packages and of users, by name."""

from __future__ import annotations

from typing import Protocol

from syntagma.encoders.named_models import NAMED_MODELS
from syntagma.parse.sources.source import Mode, ParseSource
from syntagma.registry import WORDS, Registry


class MakeParser(Protocol):
    """A function or class that makes a parse source."""

    def __call__(
        self, argument: str = "", *, device: str = "cpu", mode: Mode = "raw"
    ) -> ParseSource:
        """Make a parse source.

        Args:
            argument: what follows the name and a colon, as in ``name:argument``; may be empty.
            device: device to compute on.
            mode: ``raw`` for running text, ``words`` for words separated by spaces, which the
                source should keep.
        """
        ...


KINDS = (
    *("conllu", "parquet", "tacred", "spacy", "stanza", "tagger"),
    *("linear", "random", "noisy", "noisy_tags"),
)
"""The part before the colon in names of built-in sources (:mod:`syntagma.parse.sources.load`)."""

PARSERS: Registry[MakeParser] = Registry(
    "parser",
    {},
    group="syntagma.parsers",
    names=WORDS,
    reserved=(*KINDS, *NAMED_MODELS),
)
"""Functions that make a parse source, by name."""


def register_parser(name: str, make: MakeParser) -> None:
    """Add a parser that experiments and commands can name, as ``NAME`` or ``NAME:ARGUMENT``.

    Models store the name: whoever loads one registers the parser first, or installs the package
    that offers it by an entry point ``syntagma.parsers``.

    Args:
        name: letters, digits, hyphens and underscores.
        make: called when the parser is needed, see :class:`MakeParser`.

    Raises:
        InputError: the name is taken.
    """
    PARSERS.register(name, make)


def make_parser(name: str, *, device: str = "cpu", mode: Mode = "raw") -> ParseSource:
    """Make the parse source with this name.

    Args:
        name: ``NAME`` or ``NAME:ARGUMENT``.
        device: device to compute on.
        mode: as for :class:`MakeParser`.

    Raises:
        InputError: there is none, it cannot be made, or it is not a parse source.
    """
    needs = ("fingerprint", "parse_texts")
    source: ParseSource = PARSERS.make(name, needs=needs, device=device, mode=mode)
    return source
