"""What cuts raw text into sentences and words: the rules for English, or what a treebank taught."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path

from syntagma.outputs import write_file
from syntagma.text.segmentation.learned.cutter import Cutter
from syntagma.text.segmentation.learned.expansion import Expander
from syntagma.text.segmentation.learned.joins import Joiner
from syntagma.text.segmentation.runs import EnglishRuns, LearnedRuns, Runs
from syntagma.text.segmentation.splitter import WEIGHTS, Rescorer, Splitter, load_splitter
from syntagma.text.segmentation.words import is_abbreviation
from syntagma.text.sentence import Sentence

# Words that may follow the full stop of a sentence.
_CLOSERS = frozenset("\"'”’»)]}") | {"''", "’’"}


class Segmenter:
    """Cuts text into sentences, tokens and words.

    Args:
        splitter: finds the ends of sentences.
        cutter: cuts runs of characters into tokens; the rules for English do it if not given.
        expander: finds tokens that stand for several words; none do if not given.
        joiner: joins tokens that are one word; none are if not given.
        content: content of its file, to write it again; ``None`` for the segmenter that ships.
    """

    def __init__(
        self,
        splitter: Splitter,
        *,
        cutter: Cutter | None = None,
        expander: Expander | None = None,
        joiner: Joiner | None = None,
        content: bytes | None = None,
    ) -> None:
        self.splitter = splitter
        self.runs: Runs = (
            EnglishRuns(splitter.rows) if cutter is None else LearnedRuns(splitter.rows, cutter)
        )
        self.expander = expander
        self.joiner = joiner
        self.is_english = cutter is None
        self.content = content

    def rescored_by(self, rescorer: Rescorer) -> Segmenter:
        """Return the same with another scorer for doubtful sentence ends."""
        other = copy.copy(self)
        other.splitter = self.splitter.rescored_by(rescorer)
        return other

    @cached_property
    def fingerprint(self) -> str:
        """Identifies the weights."""
        content = WEIGHTS.read_bytes() if self.content is None else self.content
        return hashlib.blake2b(content, digest_size=16).hexdigest()

    def write(self, path: Path) -> None:
        """Write its file, unless it is the segmenter that ships."""
        if self.content is not None:
            with write_file(path) as draft:
                draft.write_bytes(self.content)

    def sentence(self, forms: list[str], starts: list[int], ends: list[int]) -> Sentence:
        """Build a sentence from its tokens; in English its final full stop is one of its own."""
        if self.is_english:
            return _with_full_stop(forms, starts, ends)
        return Sentence(tuple(forms), tuple(starts), tuple(ends), multiword=())

    def words(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return the words of sentences of tokens: some are joined, and some are several words."""
        if self.joiner is not None:
            sentences = self.joiner.join(sentences)
        return self._expand(sentences)

    def _expand(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Replace tokens that stand for several words by these."""
        if self.expander is None:
            return list(sentences)
        tokens = [form for sentence in sentences for form in sentence.forms]
        numbers = [k for k, sentence in enumerate(sentences) for _ in sentence.forms]
        found = self.expander.expand(tokens, numbers)
        if not found:
            return list(sentences)
        first, expanded = 0, []
        for sentence in sentences:
            end = first + len(sentence)
            inside = {place - first: found[place] for place in range(first, end) if place in found}
            expanded.append(_expanded(sentence, inside) if inside else sentence)
            first = end
        return expanded


@cache
def english() -> Segmenter:
    """The segmenter that ships; created late, since it loads the weights."""
    return Segmenter(load_splitter())


def _expanded(sentence: Sentence, words: dict[int, list[str]]) -> Sentence:
    """Return a sentence in which some tokens, by index, are replaced by words.

    The words get their own offsets if they spell the token, and else all those of the token.
    """
    forms: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    ranges: list[tuple[int, int]] = []
    for index, (form, start, end) in enumerate(sentence.words):
        parts = words.get(index, [form])
        if len(parts) > 1:
            ranges.append((len(forms), len(forms) + len(parts)))
        forms += parts
        if "".join(parts) == form:
            edges = [start]
            for part in parts:
                edges.append(edges[-1] + len(part))
            for begin, stop in pairwise(edges):
                starts.append(begin)
                ends.append(stop)
        else:
            starts += [start] * len(parts)
            ends += [end] * len(parts)
    return Sentence(
        tuple(forms), tuple(starts), tuple(ends), sentence.continues, multiword=tuple(ranges)
    )


def _with_full_stop(forms: list[str], starts: list[int], ends: list[int]) -> Sentence:
    """Build a sentence whose final full stop is a word of its own, even after an abbreviation.

    Inside a sentence the period belongs to the abbreviation (*etc.*); at its end UD treebanks split
    it off (*etc* + *.*).  This can only be decided once the sentence end is known.
    """
    last = len(forms) - 1
    while last > 0 and forms[last] in _CLOSERS:
        last -= 1
    if last >= 0 and forms[last][-1] == "." and len(forms[last]) > 1:
        word = forms[last][:-1]
        if is_abbreviation(word) and (last > 0 or len(word) > 1):
            forms[last : last + 1] = word, "."
            starts.insert(last + 1, ends[last] - 1)
            ends.insert(last, ends[last] - 1)
    return Sentence(tuple(forms), tuple(starts), tuple(ends))
