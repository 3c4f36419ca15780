"""Parsers and other sources of parses by name."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from syntagma.encoders.default import DEFAULT_PARSER, SHIPPED, shipped
from syntagma.encoders.saved import is_saved_model
from syntagma.errors import InputError
from syntagma.files import require_path
from syntagma.parse.sources.adapters import SpacySource, StanzaSource
from syntagma.parse.sources.cache import CachedSource, ParseCache, cache_folder
from syntagma.parse.sources.controls import ChainSource, NoisySource, RandomTreeSource
from syntagma.parse.sources.given_words import GivenWordsSource
from syntagma.parse.sources.source import Mode, ParseSource
from syntagma.parse.sources.tacred import TacredSource
from syntagma.parse.sources.treebank import TreebankSource

if TYPE_CHECKING:
    from syntagma.parse.parser import JointParser

__all__ = ["NOISY", "Noise", "load_parser", "load_source", "read_noise", "without_noise"]

NOISY = {"heads": "noisy", "tags": "noisy_tags"}
"""How sources with noise are called, by what of the parses is replaced."""


class Noise(NamedTuple):
    """What the name of a source with noise says.

    Args:
        what: is replaced, ``heads`` or ``tags``.
        share: of the words, 0 to 1.
        seed: of the draw.
        source: the name of the source whose parses they are.
    """

    what: Literal["heads", "tags"]
    share: float
    seed: int
    source: str


def read_noise(name: str) -> Noise | None:
    """The noise that a source's name asks for; ``None`` where it asks for none.

    Raises:
        InputError: the share is no number, or the seed no whole one from 0.

    >>> read_noise("noisy:0.2,7:default-parser")
    Noise(what='heads', share=0.2, seed=7, source='default-parser')
    """
    kind, _, rest = name.partition(":")
    amount, colon, source = rest.partition(":")
    if kind not in NOISY.values() or not colon:
        return None
    share, _, seed = amount.partition(",")
    try:
        if seed and not seed.isdecimal():
            raise ValueError(seed)
        return Noise("heads" if kind == "noisy" else "tags", float(share), int(seed or 0), source)
    except ValueError as error:
        raise InputError(
            f"parser {name!r}: expected a share from 0 to 1, and perhaps a seed, as in "
            f"noisy:0.2,7:{DEFAULT_PARSER}; got {amount!r}"
        ) from error


def without_noise(name: str, what: str) -> str:
    """The name of a source without the noise that is put on its heads or tags.

    Args:
        name: of the source.
        what: is to be as the source gives it, ``heads`` or ``tags``.

    >>> without_noise("noisy:0.2:noisy_tags:0.1:linear", "heads")
    'noisy_tags:0.1:linear'
    """
    if (noise := read_noise(name)) is None:
        return name
    inner = without_noise(noise.source, what)
    return inner if noise.what == what else f"{name.removesuffix(noise.source)}{inner}"


def load_parser(name: str | Path, *, device: str = "cpu", **options: Any) -> JointParser:
    """The parser of a name.

    Args:
        name: ``default-parser`` or a parser's folder.
        device: where to compute.
        options: of :class:`syntagma.parse.parser.JointParser`.

    Raises:
        InputError: there is no such parser.
    """
    from syntagma.parse.parser import JointParser

    require_path(name, f"{DEFAULT_PARSER} or a parser's folder")
    folder = shipped(str(name)) if str(name) in SHIPPED else Path(name)
    if not is_saved_model(folder):
        raise InputError(
            f"parser '{name}': expected {DEFAULT_PARSER} or the folder of a parser; other sources "
            f"of trees go with `syntagma annotate`, `noise`, and `parser:` in an experiment"
        )
    return JointParser.from_folder(folder, device=device, **options)


def load_source(name: str, *, device: str = "cpu", mode: Mode = "raw") -> ParseSource:
    """The parse source of a name.

    Args:
        name: ``default-parser`` or a parser's folder; ``conllu:FILE`` or ``conllu:FILE,FILE``;
            ``tacred:FILE`` or ``tacred:FILE,FILE``; ``spacy:NAME``; ``stanza:LANGUAGE``; or a
            control: ``linear`` (``linear:left``) in which each word hangs on the one before it,
            ``linear:right``, ``random`` (``random:SEED``), or ``noisy:SHARE:SOURCE``
            (``noisy:SHARE,SEED:SOURCE``), another source with that share of its heads replaced, and
            ``noisy_tags:SHARE:SOURCE`` with that share of its tags.
        device: where to compute.
        mode: ``raw`` for running text; ``words`` for texts whose words are given, with spaces
            between them, which all sources but ``tacred``, ``spacy`` and ``stanza`` leave alone.

    Raises:
        InputError: the name is of no kind of source.
    """
    kind, _, rest = name.partition(":")
    if name == DEFAULT_PARSER or is_saved_model(name):
        parser = load_parser(name, device=device)
        return GivenWordsSource(parser) if mode == "words" else parser
    if kind == "conllu" and rest:
        return TreebankSource([rest] if Path(rest).is_file() else rest.split(","), mode=mode)
    if kind == "tacred" and rest:
        return TacredSource(rest.split(","))
    if kind == "spacy" and rest:
        return SpacySource.load(rest)
    if kind == "stanza" and rest:
        return StanzaSource.load(rest)
    if kind == "linear" and rest in ("", "left", "right"):
        return ChainSource("right" if rest == "right" else "left", mode=mode)
    if kind == "random" and (not rest or rest.isdecimal()):
        return RandomTreeSource(int(rest or 0), mode=mode)
    if (noise := read_noise(name)) is not None:
        source = _kept(noise.source, device, mode)
        return NoisySource(source, noise.share, noise.seed, what=noise.what)
    raise InputError(
        f"parser {name!r}: expected {DEFAULT_PARSER}, the folder of a parser, conllu:FILE, "
        f"tacred:FILE, spacy:NAME, stanza:LANGUAGE, linear, linear:right, random, random:SEED, or "
        f"noisy:SHARE:SOURCE or noisy_tags:SHARE:SOURCE"
    )


@functools.lru_cache(maxsize=1)
def _kept(name: str, device: str, mode: Mode) -> ParseSource:
    """A source that is asked for the same texts again and again, with other noise each time."""
    source = load_source(name, device=device, mode=mode)
    # What costs nothing to make is not worth its place on the disk.
    cheap = isinstance(source, NoisySource | ChainSource | RandomTreeSource | TreebankSource)
    return source if cheap else CachedSource(ParseCache(source, cache_folder()))
