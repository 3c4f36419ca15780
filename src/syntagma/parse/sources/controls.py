"""Controls: trees without syntax, to see how much of a gain is due to syntax.

Each gives the same tree to the same text wherever it stands, so that runs can be repeated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from syntagma.errors import InputError
from syntagma.parse.penn_tags import PENN_TAGS
from syntagma.parse.sources.source import Mode, ParseSource
from syntagma.parse.trees import descendants
from syntagma.text.segmentation.segment import segment
from syntagma.text.sentence import Parse, Sentence

__all__ = [
    "ChainSource",
    "NoisySource",
    "RandomTreeSource",
    "replace_heads",
    "replace_tags",
]

RELATION = "dep"


def _generator(seed: int, sentence: Sentence) -> np.random.Generator:
    """Random numbers that depend on the seed and the words alone."""
    words = "\0".join(sentence.forms).encode("utf-8", "surrogatepass")
    return np.random.default_rng([seed, *hashlib.blake2b(words, digest_size=8).digest()])


def _relations(heads: Iterable[int]) -> tuple[str, ...]:
    return tuple(RELATION if head else "root" for head in heads)


class ChainSource:
    """Each word hangs on its neighbour.

    Args:
        head_side: ``left``: on the word before it, the first is the root; ``right``: on the word
            after it, the last is the root.
        mode: how texts are cut, see :func:`syntagma.text.segmentation.segment.segment`.
    """

    def __init__(self, head_side: Literal["left", "right"] = "left", *, mode: Mode = "raw") -> None:
        self.head_side = head_side
        self.mode = mode
        self.fingerprint = f"linear:{head_side}{'' if mode == 'raw' else f':{mode}'}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """The sentences of each text as chains."""
        for text in texts:
            yield [Parse(words, heads := self._heads(len(words)), _relations(heads))
                   for words in segment(text, mode=self.mode)]  # fmt: skip

    def _heads(self, n_words: int) -> tuple[int, ...]:
        if self.head_side == "left":
            return tuple(range(n_words))
        return (*range(2, n_words + 1), 0)[:n_words]


class RandomTreeSource:
    """Each sentence gets one of all trees over its words, every one as likely.

    Args:
        seed: other seeds give other trees.
        mode: how texts are cut, see :func:`syntagma.text.segmentation.segment.segment`.
    """

    def __init__(self, seed: int = 0, *, mode: Mode = "raw") -> None:
        self.seed = seed
        self.mode = mode
        self.fingerprint = f"random:{seed}{'' if mode == 'raw' else f':{mode}'}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """The sentences of each text as random trees."""
        for text in texts:
            yield [Parse(words, heads := self._heads(words), _relations(heads))
                   for words in segment(text, mode=self.mode)]  # fmt: skip

    def _heads(self, sentence: Sentence) -> tuple[int, ...]:
        """Walk from word to word at random; the arc by which a word is first left is its own.

        Aldous (1990) and Broder (1989), with the root chosen first.
        """
        n_words = len(sentence)
        generator = _generator(self.seed, sentence)
        heads = [-1] * n_words
        if n_words:
            here = int(generator.integers(n_words))
            heads[here] = 0
            missing = n_words - 1
            while missing:
                there = int(generator.integers(n_words))
                if heads[there] < 0:
                    heads[there] = here + 1
                    missing -= 1
                here = there
        return tuple(heads)


class NoisySource:
    """Another source's parses with a share of their heads or tags replaced at random.

    SG-Net (journal version) section 7.6 and POI-Net Table 6.

    Args:
        source: of the parses.
        share: of the words whose head or tag is replaced, 0 to 1; a root keeps its place.
        seed: other seeds replace others.
        what: ``heads`` or ``tags``.

    Raises:
        InputError: the share lies outside its range.
    """

    def __init__(
        self,
        source: ParseSource,
        share: float,
        seed: int = 0,
        *,
        what: Literal["heads", "tags"] = "heads",
    ) -> None:
        if not 0 <= share <= 1:
            raise InputError(f"the share of replaced {what} lies between 0 and 1, got {share}")
        self.source = source
        self.share = share
        self.seed = seed
        self.what = what

    @property
    def fingerprint(self) -> str:
        """Of the source, with share and seed."""
        # The 2 counts how words are drawn: it is raised where other ones are.
        kind = "noisy2" if self.what == "heads" else "noisy_tags2"
        return f"{kind}:{self.share}:{self.seed}:{self.source.fingerprint}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """The parses of each text with some heads or tags replaced."""
        change = replace_heads if self.what == "heads" else replace_tags
        for parses in self.source.parse_texts(texts):
            yield [
                change(parse, self.share, _generator(self.seed, parse.sentence)) for parse in parses
            ]


def replace_heads(parse: Parse, share: float, generator: np.random.Generator) -> Parse:
    """A tree in which some words hang on another word than before.

    The result is a tree with the same root; phrases and probabilities are dropped.

    Args:
        parse: the tree.
        share: of the words below the root that are moved; a word for which there is no other place
            stays.
        generator: random numbers.
    """
    heads = np.array(parse.heads, np.int64)
    below = np.flatnonzero(heads)
    chosen = generator.choice(below, size=_some(share * len(below), generator), replace=False)
    for word in chosen.tolist():
        places = ~descendants(heads, word)
        places[heads[word] - 1] = False
        if places.any():
            heads[word] = int(generator.choice(np.flatnonzero(places))) + 1
    return replace(parse, heads=tuple(heads.tolist()), probabilities=None, constituents=None)


def replace_tags(parse: Parse, share: float, generator: np.random.Generator) -> Parse:
    """A parse in which some words have another Penn tag than before.

    Args:
        parse: the parse; words without a tag keep none.
        share: of the tagged words whose tag is replaced; each other tag is as likely.
        generator: random numbers.
    """
    tags = list(parse.xpos)
    tagged = np.array([word for word, tag in enumerate(tags) if tag != "_"], np.int64)
    size = _some(share * len(tagged), generator)
    for word in generator.choice(tagged, size=size, replace=False).tolist():
        others = [tag for tag in PENN_TAGS if tag != tags[word]]
        tags[word] = others[int(generator.integers(len(others)))]
    return replace(parse, xpos=tuple(tags))


def _some(expected: float, generator: np.random.Generator) -> int:
    """A whole number whose mean is the expected one: short sentences get their share too."""
    return int(expected + generator.random())
