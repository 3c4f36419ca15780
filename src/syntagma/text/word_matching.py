"""Match the words of two segmentations of the same text, as the CoNLL 2018 shared task does.

Words that are tokens of their own match if they cover the same characters.  Words of multi-word
tokens have no characters of their own, so regions are formed: multi-word tokens of either side that
overlap lie in one region.  Inside each region, the longest common subsequence of the forms matches.
A token that sticks out of a region matches nothing.
https://universaldependencies.org/conll18/evaluation.html
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Span = tuple[int, int]


class WordSpan(NamedTuple):
    """A word of a segmentation.

    Args:
        form: the word.
        start: first character of its token.
        end: one after the last character of its token.
        multiword: whether its token is a multi-word token.
    """

    form: str
    start: int
    end: int
    multiword: bool


def match_words(gold: Sequence[WordSpan], system: Sequence[WordSpan]) -> list[tuple[int, int]]:
    """Match the words of two segmentations.

    Args:
        gold: words in the order of the text.
        system: words of the same text, whose characters are numbered in the same way.

    Returns:
        Positions of matched words in both, ascending.
    """
    regions = _regions(word[1:3] for word in (*gold, *system) if word.multiword)
    gold_regions, system_regions = _region_of(gold, regions), _region_of(system, regions)
    places = {
        word[1:3]: place for place, word in enumerate(system) if system_regions[place] == _NOWHERE
    }
    found = [
        (place, places[word[1:3]])
        for place, word in enumerate(gold)
        if gold_regions[place] == _NOWHERE and word[1:3] in places
    ]
    ours_by_region, theirs_by_region = _grouped(gold_regions), _grouped(system_regions)
    for number in ours_by_region.keys() & theirs_by_region.keys():
        ours, theirs = ours_by_region[number], theirs_by_region[number]
        pairs = common_subsequence(
            [gold[place].form.lower() for place in ours],
            [system[place].form.lower() for place in theirs],
        )
        found += [(ours[one], theirs[other]) for one, other in pairs]
    return sorted(found)


_NOWHERE, _ACROSS = -1, -2
"""Instead of a region's number: the word lies in none, or only partly in one."""


def _regions(spans: Iterable[Span]) -> list[Span]:
    """Join spans that overlap; spans that only touch stay apart."""
    regions: list[Span] = []
    for start, end in sorted(set(spans)):
        if regions and start < regions[-1][1]:
            regions[-1] = regions[-1][0], max(end, regions[-1][1])
        else:
            regions.append((start, end))
    return regions


def _region_of(words: Sequence[WordSpan], regions: Sequence[Span]) -> NDArray[np.int64]:
    """Return the number of the region that each word lies in, ``[n_words]``."""
    if not regions:
        return np.full(len(words), _NOWHERE)
    starts, ends = np.array([word[1:3] for word in words], np.int64).reshape(-1, 2).T
    begins, stops = np.array(regions, np.int64).T
    # The first region that ends behind the start of the word is the only one it can lie in.
    number = np.searchsorted(stops, starts, side="right")
    near = np.minimum(number, len(regions) - 1)
    disjoint = (number == len(regions)) | (begins[near] >= ends)
    inside = (begins[near] <= starts) & (ends <= stops[near])
    return np.where(disjoint, _NOWHERE, np.where(inside, near, _ACROSS))


def _grouped(regions: NDArray[np.int64]) -> dict[int, list[int]]:
    """Return the words of each region."""
    found: dict[int, list[int]] = {}
    for place in np.flatnonzero(regions >= 0).tolist():
        found.setdefault(int(regions[place]), []).append(place)
    return found


def common_subsequence(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Return the positions of a longest common subsequence; of several, one.

    >>> common_subsequence("abcd", "xbzd")
    [(1, 1), (3, 3)]
    """
    longest = np.zeros((len(one) + 1, len(other) + 1), np.int64)
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            longest[i, j] = (
                1 + longest[i + 1, j + 1]
                if one[i] == other[j]
                else max(longest[i + 1, j], longest[i, j + 1])
            )
    found, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif longest[i + 1, j] == longest[i, j]:
            i += 1
        else:
            j += 1
    return found
