"""Make "SentEval-style" probing sets from parsed sentences, for those who do not have the files.

The eight properties are those of Conneau et al. (2018); the rules here read them off dependency
trees, tags and phrases, and are simpler where the originals used other tools:

``tree_depth``            phrases above the deepest word; depths from 5 to 11, each as often as the
                          others among the sentences of a length, so that length tells nothing
``top_constituents``      labels of the phrases right below the sentence, the 19 most frequent
                          sequences and ``OTHER``
``bigram_shift``          whether two neighbouring words have changed places (``I``) or not (``O``)
``past_present``          tense of the main clause: of its first finite verb, auxiliary or not
``subj_number``           number of the main verb's subject, a noun
``obj_number``            number of the main verb's object, a noun
``odd_man_out``           whether a noun or verb was replaced (``C``) by another of its tag whose
                          bigrams with its neighbours are about as frequent, or not (``O``)
``coordination_inversion``  whether two coordinated clauses have changed places (``I``) or not

In each split classes are equally frequent.  Where a property is that of one word (tense, numbers),
no word stands in two splits, so that words cannot be learnt by heart; no sentence stands in two
splits either.  Words that come to stand first, or no longer do, are written accordingly.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from syntagma.tasks.probing.data import SPLITS, ProbeExample
from syntagma.text.sentence import Parse

__all__ = ["PROPERTIES", "make_set"]

WORDS = (5, 28)
"""Fewest and most words of a sentence."""
SHARES = (0.8, 0.1, 0.1)
"""Of the splits."""
DEPTHS = (5, 11)
BIN = 2
"""Lengths that count as one, in words."""
N_TOP = 19
PAST, PRESENT = ("VBD",), ("VBZ", "VBP")
SINGULAR, PLURAL = ("NN",), ("NNS",)
REPLACED = ("NN", "NNS", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ")
NAMES = ("NNP", "NNPS")
NEAR = 1.0
"""Greatest difference of the logarithms of bigram frequencies."""


class _Item(NamedTuple):
    """A sentence with a property, before it is known in which split it goes.

    Args:
        label: the property.
        words: of the sentence.
        key: what must not stand in two splits besides the sentence itself.
    """

    label: str
    words: tuple[str, ...]
    key: str = ""


@dataclass(frozen=True, slots=True)
class _Material:
    """Sentences to make sets of, and counts over all of them."""

    parses: Sequence[Parse]
    random: np.random.Generator


def make_set(name: str, parses: Iterable[Parse], *, size: int, seed: int = 0) -> list[ProbeExample]:
    """A probing set.

    Args:
        name: of the property, one of :data:`PROPERTIES`.
        parses: of sentences, with phrases for ``tree_depth`` and ``top_constituents``; every
            sentence is used once.
        size: examples wanted; fewer come out where the sentences do not give as many.
        seed: of all choices.
    """
    random = np.random.default_rng(seed)
    unique = {parse.sentence.forms: parse for parse in parses if _usable(parse)}
    material = _Material(list(unique.values()), random)
    splits = _split(PROPERTIES[name](material), random)
    n_labels = len({item.label for items in splits.values() for item in items})
    rows = [
        (split, item)
        for (split, items), share in zip(splits.items(), SHARES, strict=True)
        for item in _balanced(items, n_labels, round(size * share), random)
    ]
    return [
        ProbeExample(str(number), split, item.label, " ".join(item.words))
        for number, (split, item) in enumerate(rows, start=1)
    ]


def _usable(parse: Parse) -> bool:
    return WORDS[0] <= len(parse) <= WORDS[1]


def _split(items: list[_Item], random: np.random.Generator) -> dict[str, list[_Item]]:
    """Put items into splits, label by label; those of one key stay together."""
    groups: dict[str, list[_Item]] = defaultdict(list)
    for item in items:
        groups[item.key or " ".join(item.words)].append(item)
    by_label: dict[str, list[list[_Item]]] = defaultdict(list)
    in_order = list(groups.values())
    for index in random.permutation(len(in_order)):
        group = in_order[index]
        label = Counter(item.label for item in group).most_common(1)[0][0]
        by_label[label].append(group)
    found: dict[str, list[_Item]] = {split: [] for split in SPLITS}
    for label in sorted(by_label):
        # The largest first, to where most is missing; no split is left without any.
        own = sorted(by_label[label], key=len, reverse=True)
        total = sum(map(len, own))
        missing = {split: share * total for split, share in zip(SPLITS, SHARES, strict=True)}
        empty = set(SPLITS)
        for number, group in enumerate(own):
            open_to = empty if len(own) - number <= len(empty) else missing.keys()
            split = max((name for name in SPLITS if name in open_to), key=missing.__getitem__)
            empty.discard(split)
            missing[split] -= len(group)
            found[split] += group
    return found


def _balanced(
    items: list[_Item], n_labels: int, size: int, random: np.random.Generator
) -> list[_Item]:
    """Equally many of each label, in random order; none where a label is missing."""
    by_label: dict[str, list[_Item]] = defaultdict(list)
    for index in random.permutation(len(items)):
        by_label[items[index].label].append(items[index])
    if len(by_label) < n_labels or not n_labels:
        return []
    each = min(max(size // n_labels, 1), *map(len, by_label.values()))
    chosen = [item for label in sorted(by_label) for item in by_label[label][:each]]
    return [chosen[index] for index in random.permutation(len(chosen))]


def _depth(parse: Parse) -> int:
    """Phrases above the deepest word."""
    above = np.zeros(len(parse), int)
    for phrase in parse.constituents or ():
        above[phrase.start : phrase.end] += 1
    return int(above.max(initial=0))


def _tree_depth(material: _Material) -> list[_Item]:
    low, high = DEPTHS
    by_length: dict[int, dict[int, list[_Item]]] = defaultdict(lambda: defaultdict(list))
    for index in material.random.permutation(len(material.parses)):
        parse = material.parses[index]
        depth = _depth(parse)
        if low <= depth <= high:
            item = _Item(str(depth), parse.sentence.forms)
            by_length[len(parse) // BIN][depth].append(item)
    depths = {depth for own in by_length.values() for depth in own}
    # Deep trees are long: only where a length has all depths it gives examples.
    return [
        item
        for own in by_length.values()
        for depth in sorted(own)
        for item in own[depth][: min(len(own[other]) for other in depths)]
    ]


def _top(parse: Parse) -> str:
    """Labels of the phrases and tags of the words right below the sentence."""
    phrases = list(parse.constituents or ())
    while phrases and phrases[0].start == 0 and phrases[0].end == len(parse):
        if len(phrases) > 1 and (phrases[1].start, phrases[1].end) == (0, len(parse)):
            phrases.pop(0)
            continue
        break
    if not phrases or (phrases[0].start, phrases[0].end) != (0, len(parse)):
        return ""
    labels, place = [], 0
    for phrase in phrases[1:]:
        if phrase.start < place:
            continue
        labels += [*parse.xpos[place : phrase.start], phrase.label]
        place = phrase.end
    return "_".join([*labels, *parse.xpos[place:]])


def _top_constituents(material: _Material) -> list[_Item]:
    tops = [_top(parse) for parse in material.parses]
    frequent = {top for top, _ in Counter(filter(None, tops)).most_common(N_TOP)}
    return [
        _Item(top if top in frequent else "OTHER", parse.sentence.forms)
        for top, parse in zip(tops, material.parses, strict=True)
        if top
    ]


def _halves(
    material: _Material, change: Callable[[Parse], tuple[str, ...] | None], labels: tuple[str, str]
) -> list[_Item]:
    """Sentences that can be changed, every second one changed."""
    items: list[_Item] = []
    for parse in material.parses:
        changed = change(parse)
        if changed is not None and changed != parse.sentence.forms:
            as_it_was = len(items) % 2 == 0
            words = parse.sentence.forms if as_it_was else changed
            items.append(_Item(labels[0] if as_it_was else labels[1], words))
    return items


def _recased(parse: Parse, order: Sequence[int]) -> tuple[str, ...]:
    """The words in another order; the first one begins as the first one did, with a capital or not.

    A word that was first, and is a name or ``I``, keeps its capital.
    """
    forms = list(parse.sentence.forms)
    first = order[0]
    if first and forms[0][0].isupper():
        if parse.xpos[0] not in NAMES and forms[0] != "I" and not forms[0][1:].isupper():
            forms[0] = forms[0][0].lower() + forms[0][1:]
        forms[first] = forms[first][0].upper() + forms[first][1:]
    return tuple(forms[place] for place in order)


def _bigram_shift(material: _Material) -> list[_Item]:
    def swap(parse: Parse) -> tuple[str, ...] | None:
        forms = parse.sentence.forms
        places = [
            place
            for place in range(len(forms) - 1)
            if "PUNCT" not in parse.upos[place : place + 2] and forms[place] != forms[place + 1]
        ]
        if not places:
            return None
        place = int(material.random.choice(places))
        return _recased(parse, [*range(place), place + 1, place, *range(place + 2, len(forms))])

    return _halves(material, swap, ("O", "I"))


def _root(parse: Parse) -> int:
    return parse.heads.index(0)


def _dependents(parse: Parse, head: int, *relations: str) -> list[int]:
    """Places of a word's dependents with one of some relations, subtypes left out of account."""
    return [
        place
        for place, above in enumerate(parse.heads)
        if above == head + 1 and parse.relations[place].partition(":")[0] in relations
    ]


def _past_present(material: _Material) -> list[_Item]:
    items = []
    for parse in material.parses:
        root = _root(parse)
        verbs = [*_dependents(parse, root, "aux", "cop"), root]
        finite = [place for place in verbs if parse.xpos[place] in (*PAST, *PRESENT)]
        if finite:
            first = min(finite)
            label = "PAST" if parse.xpos[first] in PAST else "PRES"
            items.append(_Item(label, parse.sentence.forms, parse.sentence.forms[first].lower()))
    return items


def _number(material: _Material, *relations: str) -> list[_Item]:
    items = []
    for parse in material.parses:
        nouns = [
            place
            for place in _dependents(parse, _root(parse), *relations)
            if parse.xpos[place] in (*SINGULAR, *PLURAL)
        ]
        if len(nouns) == 1:
            label = "NN" if parse.xpos[nouns[0]] in SINGULAR else "NNS"
            form = parse.sentence.forms[nouns[0]].lower()
            items.append(_Item(label, parse.sentence.forms, form))
    return items


def _odd_man_out(material: _Material) -> list[_Item]:
    pairs: Counter[tuple[str, str]] = Counter()
    by_tag: dict[str, Counter[str]] = defaultdict(Counter)
    for parse in material.parses:
        forms = ("<s>", *(form.lower() for form in parse.sentence.forms), "</s>")
        pairs.update(zip(forms, forms[1:], strict=False))
        for form, tag in zip(forms[1:], parse.xpos, strict=False):
            if tag in REPLACED:
                by_tag[tag][form] += 1
    known = {tag: [form for form, n in counts.items() if n > 1] for tag, counts in by_tag.items()}

    def near(one: tuple[str, str], other: tuple[str, str]) -> bool:
        return abs(math.log1p(pairs[one]) - math.log1p(pairs[other])) <= NEAR

    def replace(parse: Parse) -> tuple[str, ...] | None:
        forms = parse.sentence.forms
        lower = ("<s>", *(form.lower() for form in forms), "</s>")
        places = [place for place, tag in enumerate(parse.xpos) if tag in REPLACED]
        for place in material.random.permutation(places):
            candidates = known[parse.xpos[place]]
            before, own, after = lower[place : place + 3]
            for index in material.random.integers(len(candidates), size=20) if candidates else ():
                other = candidates[index]
                if (
                    other != own
                    and near((before, own), (before, other))
                    and near((own, after), (other, after))
                ):
                    other = other.capitalize() if forms[place][0].isupper() else other
                    return (*forms[:place], other, *forms[place + 1 :])
        return None

    return _halves(material, replace, ("O", "C"))


def _coordination_inversion(material: _Material) -> list[_Item]:
    def invert(parse: Parse) -> tuple[str, ...] | None:
        root = _root(parse)
        others = _dependents(parse, root, "conj")
        if len(others) != 1 or not _dependents(parse, root, "nsubj"):
            return None
        other = others[0]
        joints = _dependents(parse, other, "cc")
        if len(joints) != 1 or not _dependents(parse, other, "nsubj"):
            return None
        joint = joints[0]
        end = len(forms := parse.sentence.forms)
        while end and parse.upos[end - 1] == "PUNCT":
            end -= 1
        begin = joint
        while begin and parse.upos[begin - 1] == "PUNCT":
            begin -= 1
        inside = _below(parse, other)
        # The second clause has to be all that follows the conjunction.
        if not begin > 0 or set(range(joint, end)) != inside:
            return None
        first, second = range(begin), range(joint + 1, end)
        return _recased(parse, [*second, *range(begin, joint + 1), *first, *range(end, len(forms))])

    return _halves(material, invert, ("O", "I"))


def _below(parse: Parse, place: int) -> set[int]:
    """Places of a word and of all below it, punctuation at the end left out."""
    found = {place}
    grown = True
    while grown:
        more = {number for number, head in enumerate(parse.heads) if head - 1 in found}
        grown = not more <= found
        found |= more
    while found and parse.upos[max(found)] == "PUNCT":
        found.remove(max(found))
    while found and parse.upos[min(found)] == "PUNCT":
        found.remove(min(found))
    return found


PROPERTIES: dict[str, Callable[[_Material], list[_Item]]] = {
    "bigram_shift": _bigram_shift,
    "coordination_inversion": _coordination_inversion,
    "obj_number": lambda material: _number(material, "obj"),
    "odd_man_out": _odd_man_out,
    "past_present": _past_present,
    "subj_number": lambda material: _number(material, "nsubj"),
    "top_constituents": _top_constituents,
    "tree_depth": _tree_depth,
}
"""The rules by the names of SentEval's files."""
