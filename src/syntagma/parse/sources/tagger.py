"""Part-of-speech taggers as parse sources, for models that read tags and no trees (POI-Net)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

from syntagma.errors import InputError
from syntagma.parse.sources.source import Mode
from syntagma.parse.universal_tags import UPOS_TAGS
from syntagma.registry import Registry
from syntagma.text.segmentation.segment import segment, segmentation_fingerprint
from syntagma.text.sentence import Parse, Sentence

UNKNOWN = "_"


@runtime_checkable
class Tagger(Protocol):
    """Anything that tags the words of a sentence; every tagger of NLTK does."""

    def tag(self, words: list[str], /) -> Sequence[tuple[str, str | None]]:
        """Return each word with its tag, ``[n_words]`` pairs; ``None`` for an unknown tag.

        Args:
            words: the words of one sentence, ``[n_words]``.
        """
        ...


TAGGERS: Registry[Callable[[], Tagger]] = Registry("tagger", {})
"""Functions without arguments that make a tagger, by the name that follows ``tagger:``."""


def register_tagger(name: str, make: Callable[[], Tagger]) -> None:
    """Add a tagger that experiments and commands can name, as ``parser: tagger:NAME``.

    Tags are kept in the cache folder under this name.  A tagger that is trained again needs a new
    one.  Models store the name: whoever loads one registers the tagger first.

    Args:
        name: letters, digits and underscores.
        make: called when the tagger is needed.

    Raises:
        InputError: the name is taken.
    """
    TAGGERS.register(name, make)


class TaggerSource:
    """Segments texts and tags their words.

    Tags go to the column XPOS, and those that are universal tags also to UPOS.  There is no syntax
    in its trees, in which each word depends on the previous one: models that read trees are
    refused.

    Args:
        tagger: tags the words of a sentence.
        name: identifies the tagger where tags are stored; without a name, they are not shared
            between two objects.
        mode: how texts are segmented, see :func:`syntagma.text.segmentation.segment.segment`.
    """

    def __init__(self, tagger: Tagger, *, name: str = "", mode: Mode = "raw") -> None:
        self.tagger = tagger
        self.mode = mode
        self.name = name or f"{type(tagger).__name__}-{uuid.uuid4().hex}"

    @classmethod
    def load(cls, name: str, *, mode: Mode = "raw") -> TaggerSource:
        """Make a registered tagger.

        Args:
            name: as given to :func:`register_tagger`.
            mode: as for the class.

        Raises:
            InputError: no tagger has this name.
        """
        if name not in TAGGERS:
            raise InputError(
                f"parser 'tagger:{name}': no such tagger, expected one of "
                f"{', '.join(TAGGERS) or 'none so far'}; call "
                f"syntagma.parse.sources.tagger.register_tagger first, on the command line in a "
                f"file given with --import"
            )
        return cls(TAGGERS[name](), name=name, mode=mode)

    @property
    def fingerprint(self) -> str:
        """The tagger's name, and the version of the segmentation."""
        return f"tagger:{self.name}:{self.mode}:{segmentation_fingerprint()}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """Segment and tag texts.

        Args:
            texts: any texts.

        Raises:
            InputError: the tagger does not return a pair for each word.
        """
        for text in texts:
            yield [self._tagged(sentence) for sentence in segment(text, mode=self.mode)]

    def _tagged(self, sentence: Sentence) -> Parse:
        words = list(sentence.forms)
        pairs: Any = self.tagger.tag(words)
        tags = [pair[1] for pair in pairs if isinstance(pair, tuple) and len(pair) == 2]
        if len(tags) != len(words) or len(pairs) != len(words):
            raise InputError(
                f"tagger {self.name}: expected {len(words)} pairs of a word and its tag for "
                f"{' '.join(words)!r:.80}, got {pairs!r:.80}"
            )
        xpos = tuple(tag or UNKNOWN for tag in tags)
        upos = tuple(tag if tag in UPOS_TAGS else UNKNOWN for tag in xpos)
        return Parse(sentence, tuple(range(len(words))), upos=upos, xpos=xpos)


def gives_trees(source: Any) -> bool:
    """Whether the heads of a source mean anything: those of a tagger do not.

    Args:
        source: a parse source, which may add noise to another one.
    """
    while not isinstance(source, TaggerSource):
        inner = getattr(source, "source", None) or getattr(source, "cache", None)
        if inner is None:
            return True
        source = inner
    return False
