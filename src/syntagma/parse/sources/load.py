"""Load parsers and other parse sources by name."""

from __future__ import annotations

import difflib
import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, get_args

from syntagma.checks import require_choice
from syntagma.encoders.default import DEFAULT_PARSER
from syntagma.encoders.hub_options import NONE, HubOptions, take_hub_options
from syntagma.encoders.named_models import names_of
from syntagma.encoders.reference import ModelName, ModelRef, find_model
from syntagma.errors import InputError
from syntagma.parse.languages import files_in
from syntagma.parse.sources.adapters import SpacySource, StanzaSource
from syntagma.parse.sources.cache import CachedSource, ParseCache, cache_folder
from syntagma.parse.sources.controls import ChainSource, NoisySource, RandomTreeSource
from syntagma.parse.sources.given_words import GivenWordsSource
from syntagma.parse.sources.registered import PARSERS, make_parser
from syntagma.parse.sources.source import Mode, ParseSource
from syntagma.parse.sources.tacred import TacredSource
from syntagma.parse.sources.tagger import Tagger, TaggerSource, gives_trees
from syntagma.parse.sources.treebank import CorpusSource, StoredSource, TreebankSource

if TYPE_CHECKING:
    from syntagma.parse.parser import JointParser

AnyParser = str | ParseSource | Tagger
"""What a parser may be given as: its name, an object with parses, or one with tags only."""

_OWN_WORDS = ("conllu", "parquet", "tacred", "spacy", "stanza")
"""Sources that cut text into words in their own way."""
_WORDS_BY_RULES = ("linear", "random", "tagger")
"""Sources that leave this to the rules for English."""
NOISY = {"heads": "noisy", "tags": "noisy_tags"}
"""Prefix of the names of noisy sources, by what is replaced."""
_KINDS = frozenset((*_OWN_WORDS, *_WORDS_BY_RULES, *NOISY.values()))
"""What the names of sources begin with that are not parsers of this library."""
_WITH_LANGUAGE = re.compile(r"(.{2,}):([a-z]{2,3})")


class Noise(NamedTuple):
    """The parts of a noisy source's name.

    Args:
        what: what is replaced, ``heads`` or ``tags``.
        share: share of words whose head or tag is replaced, from 0 to 1.
        seed: random seed.
        source: name of the source of the original parses.
    """

    what: Literal["heads", "tags"]
    share: float
    seed: int
    source: str


def read_noise(name: str) -> Noise | None:
    """Parse the name of a noisy source; ``None`` for the name of any other source.

    Args:
        name: name of a parse source.

    Raises:
        InputError: the share is not a number, or the seed is not a non-negative integer.

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
            f"parser {name!r}: expected a share from 0 to 1 and an optional seed, as in "
            f"noisy:0.2,7:{DEFAULT_PARSER}; got {amount!r}"
        ) from error


def without_noise(name: str, what: str) -> str:
    """Strip the noise on heads or tags from a source's name.

    Args:
        name: name of a parse source.
        what: the noise to strip, on ``heads`` or on ``tags``.

    >>> without_noise("noisy:0.2:noisy_tags:0.1:linear", "heads")
    'noisy_tags:0.1:linear'
    """
    if (noise := read_noise(name)) is None:
        return name
    inner = without_noise(noise.source, what)
    return inner if noise.what == what else f"{name.removesuffix(noise.source)}{inner}"


def read_language(name: str) -> tuple[str, str]:
    """Split the name of a parser into its place and the language of all texts, if it gives one.

    Args:
        name: of a parser, such as ``multilingual-parser:fr``.

    >>> read_language("multilingual-parser:fr"), read_language("spacy:fr")
    (('multilingual-parser', 'fr'), ('spacy:fr', ''))
    """
    found = _WITH_LANGUAGE.fullmatch(name)
    kind = name.partition(":")[0]
    if found is None or kind in _KINDS or kind in PARSERS or Path(name).exists():
        return name, ""
    return found[1], found[2]


def find_parser(name: str) -> tuple[ModelRef | None, str]:
    """Look up a parser of this package by its name; nothing is loaded.

    Args:
        name: of any parse source, perhaps with a language, as in ``multilingual-parser:fr``.

    Returns:
        The parser, ``None`` for any other parse source; and the language, empty if none is named.
    """
    place, lang = read_language(name)
    # A name with a colon is none of the hub, unless it is a path on Windows.
    ref = find_model(place) if ":" not in place or Path(place).is_dir() else None
    return (ref if ref is not None and ref.kind == "model" else None), lang


def load_parser(name: ModelName, *, device: str = "cpu", **options: Any) -> JointParser:
    """Load a parser.

    Args:
        name: ``default-parser``, a parser's folder, or a hub name; ``NAME:fr`` is for texts in one
            language, as the option ``lang`` is.
        device: device to compute on.
        options: as for :meth:`syntagma.parse.parser.JointParser.from_pretrained`.

    Raises:
        InputError: there is no such parser.
    """
    from syntagma.parse.parser import JointParser

    if isinstance(name, str):
        name, lang = read_language(name)
        options = ({"lang": lang} if lang else {}) | options
    ref = find_model(name, take_hub_options(options))
    if ref.kind != "model":
        raise InputError(
            f"parser {ref.name!r}: expected {DEFAULT_PARSER} or the folder of a parser"
            f"{_meant(ref.name)}; other parse sources can be used by `syntagma annotate` and "
            f"`noise`, and as `parser:` in an experiment; {ref.instead()}"
        )
    return JointParser.from_pretrained(ref, device=device, **options)


def _meant(name: str) -> str:
    """Return a hint at the parser whose name is written much like this; empty if there is none."""
    close = difflib.get_close_matches(name, names_of("parser"), n=1, cutoff=0.75)
    return f" (did you mean {close[0]!r}?)" if close else ""


def load_source(
    name: str,
    *,
    device: str = "cpu",
    mode: Mode = "raw",
    options: HubOptions = NONE,
    kept: bool = True,
) -> ParseSource:
    """Load a parse source.

    Args:
        name: ``default-parser`` or a parser's folder, or ``NAME:fr`` for texts in one language of a
            parser of several; ``conllu:FILE`` or ``conllu:FILE,FILE``;
            ``parquet:FOLDER``, an annotated corpus; ``tacred:FILE`` or ``tacred:FILE,FILE``;
            ``spacy:NAME``; ``stanza:LANGUAGE``; ``tagger:NAME``, a registered tagger; or a control:
            ``linear`` (``linear:left``), which attaches each word to the previous word;
            ``linear:right``, which attaches it to the next word; ``random`` (``random:SEED``);
            ``noisy:SHARE:SOURCE`` (``noisy:SHARE,SEED:SOURCE``), another source with a share of
            its heads replaced; or ``noisy_tags:SHARE:SOURCE``, with a share of its tags replaced;
            or ``NAME`` or ``NAME:ARGUMENT`` of a parser that a package offers or that was
            registered (:mod:`syntagma.parse.sources.registered`).
        device: device to compute on.
        mode: ``raw`` for running text, ``words`` for words separated by spaces, which are kept by
            all sources except ``tacred``, ``spacy``, ``stanza``, and what a package offers.
        options: how a parser is loaded from the hub.
        kept: whether what noise is added to is kept on disk, without features and lemmas.

    Raises:
        InputError: the name is not that of a parse source, or the mode is unknown.
    """
    require_choice(mode, "mode", get_args(Mode))
    kind, _, rest = name.partition(":")
    if kind == "conllu" and rest:
        return TreebankSource([rest] if Path(rest).is_file() else rest.split(","), mode=mode)
    if kind == "parquet" and rest:
        return CorpusSource(rest, mode=mode)
    if kind == "tacred" and rest:
        return TacredSource(rest.split(","))
    if kind == "spacy" and rest:
        return SpacySource.load(rest)
    if kind == "stanza" and rest:
        return StanzaSource.load(rest)
    if kind == "tagger" and rest:
        return TaggerSource.load(rest, mode=mode)
    if kind == "linear" and rest in ("", "left", "right"):
        return ChainSource("right" if rest == "right" else "left", mode=mode)
    if kind == "random" and (not rest or rest.isdecimal()):
        return RandomTreeSource(int(rest or 0), mode=mode)
    if (noise := read_noise(name)) is not None:
        source = (
            kept_source(noise.source, device, mode)
            if kept
            else load_source(noise.source, device=device, mode=mode, kept=False)
        )
        return NoisySource(source, noise.share, noise.seed, what=noise.what)
    # A name with a colon could be taken for one on the hub, where there is nothing to find.
    if ":" in name and kind in PARSERS:
        return make_parser(name, device=device, mode=mode)
    place, lang = read_language(name)
    if (ref := find_model(place, options)).kind == "model":
        parser = load_parser(ref, device=device, lang=lang)
        return GivenWordsSource(parser) if mode == "words" else parser
    if kind in PARSERS:
        return make_parser(name, device=device, mode=mode)
    raise InputError(
        f"parser {name!r}{_meant(place)}: expected {DEFAULT_PARSER}, the folder of a parser, "
        f"conllu:FILE, "
        f"parquet:FOLDER, tacred:FILE, spacy:NAME, stanza:LANGUAGE, tagger:NAME, linear, "
        f"linear:right, random, random:SEED, {''.join(f'{own}, ' for own in PARSERS)}"
        f"or noisy:SHARE:SOURCE or noisy_tags:SHARE:SOURCE{PARSERS.hint()}"
    )


def as_source(
    parser: AnyParser,
    *,
    device: str = "cpu",
    mode: Mode = "raw",
    heads: bool = False,
    options: HubOptions = NONE,
) -> ParseSource:
    """Return a parse source from its name, a parser, or a tagger.

    Args:
        parser: a name as for :func:`load_source`; any object with ``fingerprint`` and
            ``parse_texts``; or any object with ``tag``, such as a tagger of NLTK.
        device: device to compute on, for names.
        mode: as for :func:`load_source`, for names, parsers that were trained here, and taggers.
        heads: whether heads or relations will be read.
        options: how a parser is loaded from the hub, for names.

    Raises:
        InputError: it is none of these, heads will be read and it has tags only, or the mode is
            unknown.
    """
    require_choice(mode, "mode", get_args(Mode))
    from syntagma.parse.parser import JointParser

    source: ParseSource
    if isinstance(parser, str):
        source = load_source(parser, device=device, mode=mode, options=options)
    elif isinstance(parser, JointParser) and mode == "words":
        source = GivenWordsSource(parser)
    elif hasattr(parser, "parse_texts") and hasattr(parser, "fingerprint"):
        source = cast("ParseSource", parser)
    elif hasattr(parser, "tag"):
        source = TaggerSource(parser, mode=mode)
    else:
        raise InputError(
            f"parser: expected a name such as {DEFAULT_PARSER}, an object with fingerprint and "
            f"parse_texts, or a tagger with tag; got {parser!r:.60}"
        )
    if heads and not gives_trees(source):
        raise InputError(
            f"parser {parser!r:.60}: is a tagger, and this model reads trees; use a parser such as "
            f"{DEFAULT_PARSER}"
        )
    return source


def needed_source(name: str, *, trees: bool) -> str:
    """Return the name of the source to load for a model that may read words only.

    Most parsers' sentences and words are those of the rules for English, which need no parser: for
    them, ``linear`` is loaded instead.  Files of parsed texts, spaCy, Stanza, parsers that packages
    offer, and parsers that learned how to cut text have words of their own.

    Args:
        name: as for :func:`load_source`.
        trees: whether the model reads more than sentences and words.

    >>> needed_source("noisy:0.2:random", trees=False)
    'linear'
    """
    if trees:
        return name
    if (noise := read_noise(name)) is not None:
        return needed_source(noise.source, trees=False)
    kind = name.partition(":")[0]
    if kind in _OWN_WORDS:
        return name
    if ":" in name and kind in PARSERS:
        return name
    if kind in _WORDS_BY_RULES:
        return "linear"
    ref = find_model(read_language(name)[0])
    return "linear" if ref.kind == "model" and not files_in(ref.folder) else name


def identify(name: str, source: ParseSource) -> dict[str, str]:
    """Name, version and digest of a parse source, for the records of what was made with it.

    Args:
        name: by which it was asked for.
        source: what :func:`load_source` gave.
    """
    parser = source.parser if isinstance(source, GivenWordsSource) else source
    model = getattr(parser, "model", None)
    if (ref := getattr(model, "source", None)) is not None:
        return ref.identity()
    return {"name": name, "version": "", "digest": source.fingerprint}


@functools.lru_cache(maxsize=1)
def kept_source(name: str, device: str, mode: Mode) -> ParseSource:
    """Load a source that is used for the same texts repeatedly, with different noise each time."""
    source = load_source(name, device=device, mode=mode)
    return CachedSource(ParseCache(source, cache_folder())) if is_slow(source) else source


def is_slow(source: ParseSource) -> bool:
    """Whether parses of a source are worth keeping on disk, rather than computing them again."""
    quick = NoisySource | ChainSource | RandomTreeSource | StoredSource | CachedSource
    return not isinstance(source, quick)
