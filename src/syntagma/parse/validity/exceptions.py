"""Which rules a treebank breaks, so that the parsers that learn from it may break them too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from syntagma.parse.validity.punctuation import count_unprojective
from syntagma.parse.validity.rules import (
    APART,
    CROSSING,
    OF_NOMINAL,
    Words,
    acting_tags,
    apart,
    before_head,
    of_nominal,
    precede,
    rules_for,
    with_dependent,
    with_tag,
    wrong_dependents,
)
from syntagma.text.morphology import UNKNOWN
from syntagma.text.sentence import Parse

TOLERATED = 0.01
"""A treebank has an exception if the relation breaks a rule at least this often."""


def exceptions_in(parses: Sequence[Parse]) -> list[str]:
    """Find the rules that a treebank breaks.

    Args:
        parses: its trees.

    Returns:
        Names of the rules, for :func:`syntagma.parse.validity.rules.rules_for`, sorted.
    """
    labels = [
        tuple(sorted({label for parse in parses for label in column(parse)})) for column in _COLUMNS
    ]
    rules = rules_for(*labels)
    words = _in_one_row(parses, labels)
    universal = np.array([name.partition(":")[0] for name in labels[0]])
    relations, above = (universal[codes[0]] for codes in (words.codes, words.of_heads(words.codes)))
    acting = acting_tags(words.upos, words.feats, rules)
    tags = np.array(labels[1])[acting[0]]
    uses = Counter(relations.tolist())
    uses["PUNCT"] = int((tags == "PUNCT").sum())
    broken: Counter[tuple[str, str]] = Counter()
    for place in np.flatnonzero(rules.forbidden[acting, words.codes]):
        relation, tag = relations[place], tags[place]
        broken[with_tag(relation, tag), tag if tag == "PUNCT" else relation] += 1
    for place in np.flatnonzero(rules.head_first[words.codes] & precede(words.heads)):
        broken[before_head(relations[place]), relations[place]] += 1
    for place in np.flatnonzero(wrong_dependents(words, rules)):
        broken[with_dependent(above[place], relations[place]), above[place]] += 1
    broken[APART, "goeswith"] = int(apart(words, rules).sum())
    broken[OF_NOMINAL, "obl"] = int(of_nominal(words, rules).sum())
    broken[CROSSING, "PUNCT"] = sum(count_unprojective(parse) for parse in parses)
    return sorted(
        name
        for (name, owner), count in broken.items()
        if count and count >= TOLERATED * uses[owner]
    )


_COLUMNS: tuple[Callable[[Parse], Iterable[str]], ...] = (
    lambda parse: parse.relations,
    lambda parse: parse.upos,
    lambda parse: parse.feats or (UNKNOWN,) * len(parse),
)


def _in_one_row(parses: Sequence[Parse], labels: Sequence[Sequence[str]]) -> Words:
    """Return the words of a treebank as one long sentence, in which heads are counted on."""
    codes = []
    for column, known in zip(_COLUMNS, labels, strict=True):
        code_of = {label: code for code, label in enumerate(known)}
        found = [code_of[label] for parse in parses for label in column(parse)]
        codes.append(np.array([found], np.int64))
    heads, before = [], 0
    for parse in parses:
        heads += [head + before if head else 0 for head in parse.heads]
        before += len(parse)
    return Words(codes[0], np.array([heads], np.int64), codes[1], codes[2])
