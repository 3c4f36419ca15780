"""Where parses come from: one protocol, several sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from syntagma.encoders.saved import is_saved_model
from syntagma.encoders.shipped import DEFAULT_PARSER, shipped
from syntagma.errors import InputError
from syntagma.parse.adapters import SpacySource, StanzaSource
from syntagma.parse.controls import ChainSource, NoisySource, RandomTreeSource
from syntagma.parse.tacred import TacredSource
from syntagma.text.conllu import read_conllu
from syntagma.text.sentence import Parse

if TYPE_CHECKING:
    from syntagma.parse.parser import JointParser

__all__ = [
    "ParseSource",
    "TreebankSource",
    "load_parser",
    "load_source",
]


class ParseSource(Protocol):
    """Anything that parses texts."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the parses of the same text may change."""
        ...

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """The sentences of each text, in order; offsets index into the text."""
        ...


def load_parser(name: str, *, device: str = "cpu", **options: Any) -> JointParser:
    """The parser of a name.

    Args:
        name: ``default-parser`` or a parser's folder.
        device: where to compute.
        options: of :class:`syntagma.parse.parser.JointParser`.

    Raises:
        InputError: there is no such parser.
    """
    from syntagma.parse.parser import JointParser

    folder = shipped(name) if name == DEFAULT_PARSER else Path(name)
    return JointParser.from_folder(folder, device=device, **options)


def load_source(name: str, *, device: str = "cpu") -> ParseSource:
    """The parse source of a name.

    Args:
        name: ``default-parser`` or a parser's folder; ``conllu:FILE``; ``tacred:FILE`` or
            ``tacred:FILE,FILE``; ``spacy:NAME``; ``stanza:LANGUAGE``; or a control: ``linear``
            (``linear:left``) in which each word hangs on the one before it, ``linear:right``,
            ``random`` (``random:SEED``), or ``noisy:SHARE:SOURCE`` (``noisy:SHARE,SEED:SOURCE``),
            another source with that share of its heads replaced, and ``noisy_tags:SHARE:SOURCE``
            with that share of its tags.
        device: where to compute.

    Raises:
        InputError: the name is of no kind of source.
    """
    kind, _, rest = name.partition(":")
    if name == DEFAULT_PARSER or is_saved_model(name):
        return load_parser(name, device=device)
    if kind == "conllu" and rest:
        return TreebankSource(rest)
    if kind == "tacred" and rest:
        return TacredSource(rest.split(","))
    if kind == "spacy" and rest:
        return SpacySource.load(rest)
    if kind == "stanza" and rest:
        return StanzaSource.load(rest)
    if kind == "linear" and rest in ("", "left", "right"):
        return ChainSource("right" if rest == "right" else "left")
    if kind == "random" and (not rest or rest.isdigit()):
        return RandomTreeSource(int(rest or 0))
    if kind in ("noisy", "noisy_tags") and ":" in rest:
        amount, _, source = rest.partition(":")
        share, seed = _share_and_seed(amount, name)
        what: Literal["heads", "tags"] = "heads" if kind == "noisy" else "tags"
        return NoisySource(load_source(source, device=device), share, seed, what=what)
    raise InputError(
        f"parser {name!r}: expected {DEFAULT_PARSER}, the folder of a parser, conllu:FILE, "
        f"tacred:FILE, spacy:NAME, stanza:LANGUAGE, linear, linear:right, random, random:SEED, or "
        f"noisy:SHARE:SOURCE or noisy_tags:SHARE:SOURCE"
    )


def _share_and_seed(amount: str, name: str) -> tuple[float, int]:
    share, _, seed = amount.partition(",")
    try:
        return float(share), int(seed or 0)
    except ValueError as error:
        raise InputError(
            f"parser {name!r}: expected a share from 0 to 1, and perhaps a seed, as in "
            f"noisy:0.2,7:{DEFAULT_PARSER}; got {amount!r}"
        ) from error


class TreebankSource:
    """Parses read from a CoNLL-U file: each text must be one sentence of it.

    Args:
        path: the file.

    Raises:
        InputError: the file cannot be read, or a sentence is no tree.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self._parses = {sentence.text: sentence.parse() for sentence in read_conllu(path)}

    @property
    def fingerprint(self) -> str:
        """Path and time of the last change."""
        return f"conllu:{self.path}:{Path(self.path).stat().st_mtime_ns}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """The one sentence of each text.

        Raises:
            InputError: the file does not hold a text.
        """
        for text in texts:
            if text not in self._parses:
                raise InputError(f"{self.path}: has no sentence with the text {text[:60]!r}")
            yield [self._parses[text]]
