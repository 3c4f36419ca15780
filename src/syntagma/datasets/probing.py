"""Generate SentEval-style probing sets from parsed sentences, for users without the original files.

The eight properties are those of Conneau et al. (2018).  The rules here derive them from dependency
trees, tags and phrases, and are simpler than the originals where those relied on other tools:

``tree_depth``            number of phrases above the deepest word, from 5 to 11; balanced within
                          each sentence length, so that length carries no information
``top_constituents``      labels of the phrases directly below the sentence; the 19 most frequent
                          sequences, and ``OTHER``
``bigram_shift``          whether two adjacent words were swapped (``I``) or not (``O``)
``past_present``          tense of the main clause: that of its first finite verb or auxiliary
``subj_number``           number of the main verb's subject, if that is a noun
``obj_number``            number of the main verb's object, if that is a noun
``odd_man_out``           whether a noun or verb was replaced by another one with the same tag and
                          about equally frequent bigrams (``C``) or not (``O``)
``coordination_inversion``  whether two coordinated clauses were swapped (``I``) or not (``O``)

Classes are balanced in each split.  No sentence occurs in two splits.  If the property is that of a
single word (tense, number), neither does that word, so that a probe cannot memorise words.  When
words move to or from the start of the sentence, their capitalisation is adjusted.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from syntagma.parse.trees import descendants
from syntagma.tasks.probing.data import SPLITS, ProbeExample
from syntagma.text.sentence import Parse

WORDS = (5, 28)
"""Minimum and maximum number of words in a sentence."""
SHARES = (0.8, 0.1, 0.1)
"""Shares of the splits."""
DEPTHS = (5, 11)
LENGTH_BIN = 2
"""Width of the length bins for balancing depths, in words."""
N_TOP = 19
PAST, PRESENT = ("VBD",), ("VBZ", "VBP")
SINGULAR, PLURAL = ("NN",), ("NNS",)
REPLACED = ("NN", "NNS", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ")
NAMES = ("NNP", "NNPS")
MAX_LOG_DIFFERENCE = 1.0
"""Maximum difference between the log frequencies of bigrams that count as equally frequent."""


class _Labelled(NamedTuple):
    """A labelled sentence that is not assigned to a split yet.

    Args:
        label: value of the property.
        words: words of the sentence.
        key: sentences with the same key go to the same split; by default, the sentence itself.
    """

    label: str
    words: tuple[str, ...]
    key: str = ""


@dataclass(frozen=True, slots=True)
class _Pool:
    """The sentences to choose from, and the source of randomness."""

    parses: Sequence[Parse]
    random: np.random.Generator


def make_set(name: str, parses: Iterable[Parse], *, size: int, seed: int = 0) -> list[ProbeExample]:
    """Generate a probing set.

    Args:
        name: name of the property, one of :data:`PROPERTIES`.
        parses: parsed sentences, with phrases for ``tree_depth`` and ``top_constituents``;
            duplicate sentences are dropped.
        size: number of examples; fewer are returned if there are not enough sentences.
        seed: random seed.
    """
    random = np.random.default_rng(seed)
    unique = {parse.sentence.forms: parse for parse in parses if _usable(parse)}
    pool = _Pool(list(unique.values()), random)
    splits = _split(PROPERTIES[name](pool), random)
    n_labels = len({sentence.label for sentences in splits.values() for sentence in sentences})
    rows = [
        (split, sentence)
        for (split, sentences), share in zip(splits.items(), SHARES, strict=True)
        for sentence in _balance(sentences, n_labels, round(size * share), random)
    ]
    return [
        ProbeExample(str(number), split, sentence.label, " ".join(sentence.words))
        for number, (split, sentence) in enumerate(rows, start=1)
    ]


def _usable(parse: Parse) -> bool:
    return WORDS[0] <= len(parse) <= WORDS[1]


def _split(sentences: list[_Labelled], random: np.random.Generator) -> dict[str, list[_Labelled]]:
    """Assign sentences to splits, separately for each label; equal keys stay together."""
    groups: dict[str, list[_Labelled]] = defaultdict(list)
    for sentence in sentences:
        groups[sentence.key or " ".join(sentence.words)].append(sentence)
    by_label: dict[str, list[list[_Labelled]]] = defaultdict(list)
    in_order = list(groups.values())
    for index in random.permutation(len(in_order)):
        group = in_order[index]
        label = Counter(sentence.label for sentence in group).most_common(1)[0][0]
        by_label[label].append(group)
    splits: dict[str, list[_Labelled]] = {split: [] for split in SPLITS}
    for label in sorted(by_label):
        # Greedy: the largest group first, to the split that lacks the most sentences.  The last
        # groups go to splits that are still empty, so that each split gets every label.
        label_groups = sorted(by_label[label], key=len, reverse=True)
        total = sum(map(len, label_groups))
        missing = {split: share * total for split, share in zip(SPLITS, SHARES, strict=True)}
        empty = set(SPLITS)
        for number, group in enumerate(label_groups):
            must_fill = len(label_groups) - number <= len(empty)
            candidates = empty if must_fill else missing.keys()
            split = max((name for name in SPLITS if name in candidates), key=missing.__getitem__)
            empty.discard(split)
            missing[split] -= len(group)
            splits[split] += group
    return splits


def _balance(
    sentences: list[_Labelled], n_labels: int, size: int, random: np.random.Generator
) -> list[_Labelled]:
    """Draw the same number of sentences for each label; none at all if a label is missing."""
    by_label: dict[str, list[_Labelled]] = defaultdict(list)
    for index in random.permutation(len(sentences)):
        by_label[sentences[index].label].append(sentences[index])
    if len(by_label) < n_labels or not n_labels:
        return []
    per_label = min(max(size // n_labels, 1), *map(len, by_label.values()))
    drawn = [sentence for label in sorted(by_label) for sentence in by_label[label][:per_label]]
    return [drawn[index] for index in random.permutation(len(drawn))]


def _depth(parse: Parse) -> int:
    """Return the number of phrases above the deepest word."""
    above = np.zeros(len(parse), int)
    for phrase in parse.constituents or ():
        above[phrase.start : phrase.end] += 1
    return int(above.max(initial=0))


def _tree_depth(pool: _Pool) -> list[_Labelled]:
    low, high = DEPTHS
    by_length: dict[int, dict[int, list[_Labelled]]] = defaultdict(lambda: defaultdict(list))
    for index in pool.random.permutation(len(pool.parses)):
        parse = pool.parses[index]
        depth = _depth(parse)
        if low <= depth <= high:
            sentence = _Labelled(str(depth), parse.sentence.forms)
            by_length[len(parse) // LENGTH_BIN][depth].append(sentence)
    depths = {depth for by_depth in by_length.values() for depth in by_depth}
    # Deep trees belong to long sentences.  A length contributes the same number of sentences for
    # each depth, which is none if it lacks a depth.
    return [
        sentence
        for by_depth in by_length.values()
        for depth in sorted(by_depth)
        for sentence in by_depth[depth][: min(len(by_depth[other]) for other in depths)]
    ]


def _top(parse: Parse) -> str:
    """Join the labels of phrases and the tags of words that are directly below the sentence."""
    phrases = list(parse.constituents or ())
    # In a unary chain over the whole sentence, such as ROOT over S, only the lowest phrase counts.
    while phrases and phrases[0].start == 0 and phrases[0].end == len(parse):
        if len(phrases) > 1 and (phrases[1].start, phrases[1].end) == (0, len(parse)):
            phrases.pop(0)
            continue
        break
    if not phrases or (phrases[0].start, phrases[0].end) != (0, len(parse)):
        return ""
    labels, position = [], 0
    for phrase in phrases[1:]:
        if phrase.start < position:
            # Nested in a phrase that is already counted.
            continue
        labels += [*parse.xpos[position : phrase.start], phrase.label]
        position = phrase.end
    return "_".join([*labels, *parse.xpos[position:]])


def _top_constituents(pool: _Pool) -> list[_Labelled]:
    tops = [_top(parse) for parse in pool.parses]
    frequent = {top for top, _ in Counter(filter(None, tops)).most_common(N_TOP)}
    return [
        _Labelled(top if top in frequent else "OTHER", parse.sentence.forms)
        for top, parse in zip(tops, pool.parses, strict=True)
        if top
    ]


def _change_half(
    pool: _Pool, change: Callable[[Parse], tuple[str, ...] | None], labels: tuple[str, str]
) -> list[_Labelled]:
    """Select the sentences that can be changed, and change every second one.

    Args:
        pool: the sentences.
        change: returns the changed words, or ``None`` if the sentence cannot be changed.
        labels: labels of unchanged and of changed sentences.
    """
    sentences: list[_Labelled] = []
    for parse in pool.parses:
        changed = change(parse)
        if changed is not None and changed != parse.sentence.forms:
            keep = len(sentences) % 2 == 0
            words = parse.sentence.forms if keep else changed
            sentences.append(_Labelled(labels[0] if keep else labels[1], words))
    return sentences


def _reorder(parse: Parse, order: Sequence[int]) -> tuple[str, ...]:
    """Reorder the words; the new first word is capitalised if the old one was.

    The old first word loses its capital unless it is a name, an acronym or ``I``.
    """
    forms = list(parse.sentence.forms)
    first = order[0]
    if first and forms[0][0].isupper():
        if parse.xpos[0] not in NAMES and forms[0] != "I" and not forms[0][1:].isupper():
            forms[0] = forms[0][0].lower() + forms[0][1:]
        forms[first] = forms[first][0].upper() + forms[first][1:]
    return tuple(forms[position] for position in order)


def _bigram_shift(pool: _Pool) -> list[_Labelled]:
    def swap(parse: Parse) -> tuple[str, ...] | None:
        forms = parse.sentence.forms
        positions = [
            first
            for first in range(len(forms) - 1)
            if "PUNCT" not in parse.upos[first : first + 2] and forms[first] != forms[first + 1]
        ]
        if not positions:
            return None
        first = int(pool.random.choice(positions))
        return _reorder(parse, [*range(first), first + 1, first, *range(first + 2, len(forms))])

    return _change_half(pool, swap, ("O", "I"))


def _root(parse: Parse) -> int:
    return parse.heads.index(0)


def _dependents(parse: Parse, head: int, *relations: str) -> list[int]:
    """Return the positions of a word's dependents with given relations, ignoring subtypes."""
    return [
        position
        for position, word_head in enumerate(parse.heads)
        if word_head == head + 1 and parse.relations[position].partition(":")[0] in relations
    ]


def _past_present(pool: _Pool) -> list[_Labelled]:
    sentences = []
    for parse in pool.parses:
        root = _root(parse)
        verbs = [*_dependents(parse, root, "aux", "cop"), root]
        finite = [position for position in verbs if parse.xpos[position] in (*PAST, *PRESENT)]
        if finite:
            forms, first = parse.sentence.forms, min(finite)
            label = "PAST" if parse.xpos[first] in PAST else "PRES"
            sentences.append(_Labelled(label, forms, key=forms[first].lower()))
    return sentences


def _number(pool: _Pool, relation: str) -> list[_Labelled]:
    sentences = []
    for parse in pool.parses:
        nouns = [
            position
            for position in _dependents(parse, _root(parse), relation)
            if parse.xpos[position] in (*SINGULAR, *PLURAL)
        ]
        if len(nouns) == 1:
            label = "NN" if parse.xpos[nouns[0]] in SINGULAR else "NNS"
            forms = parse.sentence.forms
            sentences.append(_Labelled(label, forms, key=forms[nouns[0]].lower()))
    return sentences


def _odd_man_out(pool: _Pool) -> list[_Labelled]:
    bigrams: Counter[tuple[str, str]] = Counter()
    by_tag: dict[str, Counter[str]] = defaultdict(Counter)
    for parse in pool.parses:
        forms = ("<s>", *(form.lower() for form in parse.sentence.forms), "</s>")
        bigrams.update(zip(forms, forms[1:], strict=False))
        for form, tag in zip(forms[1:], parse.xpos, strict=False):
            if tag in REPLACED:
                by_tag[tag][form] += 1
    # A word that occurs only once would stand out by its rarity.
    known = {tag: [form for form, n in counts.items() if n > 1] for tag, counts in by_tag.items()}

    def equally_frequent(one: tuple[str, str], other: tuple[str, str]) -> bool:
        difference = math.log1p(bigrams[one]) - math.log1p(bigrams[other])
        return abs(difference) <= MAX_LOG_DIFFERENCE

    def replace(parse: Parse) -> tuple[str, ...] | None:
        forms = parse.sentence.forms
        lower = ("<s>", *(form.lower() for form in forms), "</s>")
        positions = [position for position, tag in enumerate(parse.xpos) if tag in REPLACED]
        for position in pool.random.permutation(positions):
            candidates = known[parse.xpos[position]]
            before, word, after = lower[position : position + 3]
            # Twenty random candidates; trying all words of a frequent tag would take too long.
            for index in pool.random.integers(len(candidates), size=20) if candidates else ():
                other = candidates[index]
                if (
                    other != word
                    and equally_frequent((before, word), (before, other))
                    and equally_frequent((word, after), (other, after))
                ):
                    other = other.capitalize() if forms[position][0].isupper() else other
                    return (*forms[:position], other, *forms[position + 1 :])
        return None

    return _change_half(pool, replace, ("O", "C"))


def _coordination_inversion(pool: _Pool) -> list[_Labelled]:
    def invert(parse: Parse) -> tuple[str, ...] | None:
        root = _root(parse)
        # Two clauses, each with a subject, joined by one conjunction.
        conjuncts = _dependents(parse, root, "conj")
        if len(conjuncts) != 1 or not _dependents(parse, root, "nsubj"):
            return None
        second_root = conjuncts[0]
        conjunctions = _dependents(parse, second_root, "cc")
        if len(conjunctions) != 1 or not _dependents(parse, second_root, "nsubj"):
            return None
        conjunction = conjunctions[0]
        end = len(forms := parse.sentence.forms)
        while end and parse.upos[end - 1] == "PUNCT":
            end -= 1
        first_end = conjunction
        while first_end and parse.upos[first_end - 1] == "PUNCT":
            first_end -= 1
        # The second clause must be all that follows the conjunction.
        if not first_end > 0 or set(range(conjunction, end)) != _subtree(parse, second_root):
            return None
        first, second = range(first_end), range(conjunction + 1, end)
        middle, final = range(first_end, conjunction + 1), range(end, len(forms))
        return _reorder(parse, [*second, *middle, *first, *final])

    return _change_half(pool, invert, ("O", "I"))


def _subtree(parse: Parse, word: int) -> set[int]:
    """Return the positions of a word and of all words below it, without outer punctuation."""
    below = set(np.flatnonzero(descendants(np.array(parse.heads), word)).tolist())
    while below and parse.upos[max(below)] == "PUNCT":
        below.remove(max(below))
    while below and parse.upos[min(below)] == "PUNCT":
        below.remove(min(below))
    return below


PROPERTIES: dict[str, Callable[[_Pool], list[_Labelled]]] = {
    "bigram_shift": _bigram_shift,
    "coordination_inversion": _coordination_inversion,
    "obj_number": lambda pool: _number(pool, "obj"),
    "odd_man_out": _odd_man_out,
    "past_present": _past_present,
    "subj_number": lambda pool: _number(pool, "nsubj"),
    "top_constituents": _top_constituents,
    "tree_depth": _tree_depth,
}
"""The rule of each property, by the name of its file in SentEval."""
