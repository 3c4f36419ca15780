"""Control sources: trees without syntactic information, to measure what syntax contributes.

A sentence gets the same tree wherever it occurs, so that runs can be repeated.
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
from syntagma.parse.universal_tags import UPOS_TAGS
from syntagma.text.segmentation.segment import segment
from syntagma.text.sentence import Parse, Sentence

RELATION = "dep"


def _generator(seed: int, sentence: Sentence) -> np.random.Generator:
    """Return a generator that depends on nothing but the seed and the words."""
    words = "\0".join(sentence.forms).encode("utf-8", "surrogatepass")
    return np.random.default_rng([seed, *hashlib.blake2b(words, digest_size=8).digest()])


def _relations(heads: Iterable[int]) -> tuple[str, ...]:
    return tuple(RELATION if head else "root" for head in heads)


class ChainSource:
    """Attaches each word to its neighbour.

    Args:
        head_side: ``left`` attaches each word to the previous word, with the first word as the
            root; ``right`` attaches it to the next word, with the last word as the root.
        mode: how texts are segmented, see :func:`syntagma.text.segmentation.segment.segment`.
    """

    def __init__(self, head_side: Literal["left", "right"] = "left", *, mode: Mode = "raw") -> None:
        self.head_side = head_side
        self.mode = mode
        self.fingerprint = f"linear:{head_side}{'' if mode == 'raw' else f':{mode}'}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """Segment texts and return a chain for each sentence.

        Args:
            texts: any texts.
        """
        for text in texts:
            yield [Parse(words, heads := self._heads(len(words)), _relations(heads))
                   for words in segment(text, mode=self.mode)]  # fmt: skip

    def _heads(self, n_words: int) -> tuple[int, ...]:
        if self.head_side == "left":
            return tuple(range(n_words))
        return (*range(2, n_words + 1), 0)[:n_words]


class RandomTreeSource:
    """Draws a tree for each sentence, uniformly from all trees over its words.

    It draws tags, too, Penn and universal ones, so that it is a control for models that read tags.

    Args:
        seed: random seed.
        mode: how texts are segmented, see :func:`syntagma.text.segmentation.segment.segment`.
    """

    def __init__(self, seed: int = 0, *, mode: Mode = "raw") -> None:
        self.seed = seed
        self.mode = mode
        # The 2 is the version of the sampling code: the first one drew no tags.
        self.fingerprint = f"random2:{seed}{'' if mode == 'raw' else f':{mode}'}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """Segment texts and return a random tree and random tags for each sentence.

        Args:
            texts: any texts.
        """
        for text in texts:
            yield [self._drawn(words) for words in segment(text, mode=self.mode)]

    def _drawn(self, sentence: Sentence) -> Parse:
        generator = _generator(self.seed, sentence)
        heads = self._heads(len(sentence), generator)
        xpos, upos = (
            tuple(tags[place] for place in generator.integers(len(tags), size=len(sentence)))
            for tags in (PENN_TAGS, UPOS_TAGS)
        )
        return Parse(sentence, heads, _relations(heads), upos=upos, xpos=xpos)

    @staticmethod
    def _heads(n_words: int, generator: np.random.Generator) -> tuple[int, ...]:
        """Draw a tree with a random walk over the words (Broder 1989, Aldous 1990).

        The walk starts at a random root.  The head of each other word is the word from which the
        walk first reaches it.
        """
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
    """Replaces a share of the heads or tags of another source at random.

    SG-Net (journal version), section 7.6, and POI-Net, Table 6.

    Args:
        source: the source of the original parses.
        share: share of words whose head or tag is replaced, from 0 to 1; roots stay roots.
        seed: random seed.
        what: what to replace, ``heads`` or ``tags``.

    Raises:
        InputError: the share is out of range.
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
            raise InputError(
                f"parser: expected a share of replaced {what} from 0 to 1, as in "
                f"{'noisy' if what == 'heads' else 'noisy_tags'}:0.2:SOURCE; got {share}"
            )
        self.source = source
        self.share = share
        self.seed = seed
        self.what = what

    @property
    def fingerprint(self) -> str:
        """Kind of noise, share and seed, and the fingerprint of the source."""
        # The numbers are versions of the sampling code; raise one when the code draws other words.
        kind = "noisy2" if self.what == "heads" else "noisy_tags3"
        return f"{kind}:{self.share}:{self.seed}:{self.source.fingerprint}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """Parse texts with the original source and add noise.

        Args:
            texts: any texts.
        """
        change = replace_heads if self.what == "heads" else replace_tags
        for parses in self.source.parse_texts(texts):
            yield [
                change(parse, self.share, _generator(self.seed, parse.sentence)) for parse in parses
            ]


def replace_heads(parse: Parse, share: float, generator: np.random.Generator) -> Parse:
    """Attach some words of a tree to other heads.

    The result is a tree with the same root, without phrases and probabilities.

    Args:
        parse: the original parse.
        share: share of the words below the root to move; a word without another possible head is
            not moved.
        generator: random number generator.
    """
    heads = np.array(parse.heads, np.int64)
    below = np.flatnonzero(heads)
    size = _round_randomly(share * len(below), generator)
    chosen = generator.choice(below, size=size, replace=False)
    # One word after the other, because each move changes which heads would close a cycle.
    for word in chosen.tolist():
        # A head below the word itself would close a cycle.
        candidates = ~descendants(heads, word)
        candidates[heads[word] - 1] = False
        if candidates.any():
            heads[word] = int(generator.choice(np.flatnonzero(candidates))) + 1
    return replace(parse, heads=tuple(heads.tolist()), probabilities=None, constituents=None)


def replace_tags(parse: Parse, share: float, generator: np.random.Generator) -> Parse:
    """Replace the tags of some words by other Penn and universal tags, drawn uniformly.

    Args:
        parse: the original parse.
        share: share of the tagged words whose tags are replaced.
        generator: random number generator.
    """
    xpos, upos = list(parse.xpos), list(parse.upos)
    both = zip(xpos, upos, strict=True)
    tagged = np.array([word for word, tags in enumerate(both) if tags != ("_", "_")], np.int64)
    size = _round_randomly(share * len(tagged), generator)
    chosen = generator.choice(tagged, size=size, replace=False).tolist()
    for tags, known in ((xpos, PENN_TAGS), (upos, UPOS_TAGS)):
        for word in chosen:
            if tags[word] != "_":
                others = [tag for tag in known if tag != tags[word]]
                tags[word] = others[int(generator.integers(len(others)))]
    return replace(parse, xpos=tuple(xpos), upos=tuple(upos))


def _round_randomly(expected: float, generator: np.random.Generator) -> int:
    """Round up or down at random, so that the mean is exact in short sentences as well."""
    return int(expected + generator.random())
