"""The rules of level 3 of the validator of Universal Dependencies, and which words break them.

Relations with other names have no rules, and rules that a treebank breaks do not hold for the
parsers that learned from it (:mod:`syntagma.parse.validity.exceptions`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

ONLY = {
    "det": {"DET", "PRON"},
    "nummod": {"NUM", "NOUN", "SYM"},
    "advmod": {"ADV", "ADJ", "CCONJ", "DET", "PART", "SYM"},
    "expl": {"PRON", "DET", "PART"},
    "aux": {"AUX"},
    "cop": {"AUX", "PRON", "DET", "SYM"},
    "punct": {"PUNCT"},
    "goeswith": {"X"},
}
"""The only tags that a word with this relation may have."""
_NOMINAL = {"PROPN", "ADJ", "PRON", "DET", "NUM", "AUX"}
NEVER = {
    "case": _NOMINAL,
    "mark": {*_NOMINAL, "NOUN", "INTJ"},
    "cc": {*_NOMINAL, "NOUN", "VERB", "INTJ"},
    "fixed": {"PROPN"},
}
"""Tags that a word with this relation may not have."""
OF_PUNCTUATION = ("punct", "root")
"""The only relations of a word that is tagged as punctuation."""
HEAD_FIRST = ("conj", "fixed", "flat", "goeswith", "appos")
"""Relations whose head precedes the word."""
_ANY = {"goeswith", "reparandum", "conj", "punct"}
_MODIFIED = {*_ANY, "fixed", "cc", "advmod", "obl"}
DEPENDENTS = {
    "mark": _MODIFIED,
    "case": _MODIFIED,
    "clf": _MODIFIED,
    "aux": {*_ANY, "fixed", "cc"},
    "cop": {*_ANY, "fixed", "cc"},
    "cc": {*_ANY, "fixed"},
    "fixed": _ANY,
    "goeswith": set[str](),
    "det": {*_MODIFIED, *("det", "case", "clf", "flat", "compound", "discourse", "parataxis")},
}
"""The only relations that dependents of a word with this relation may have."""
NOMINAL_TAGS = ("NOUN", "PROPN", "PRON")
NOMINALS = ("nsubj", "obj", "iobj", "obl", "vocative", "dislocated", "expl", "nmod")
"""Relations of nominals, whose dependents are no ``obl`` unless they are predicates as well."""
PREDICATE = ("cop", "nsubj", "csubj")
"""Relations of which a predicate has dependents."""
EXTERNAL = "ExtPos"
"""Feature with the tag that a word acts as, if that is not its own."""
NEGATION = "Polarity=Neg"
"""Feature of a word that may modify any other as ``advmod``."""
CROSSING = "punctuation across other arcs"
APART = "goeswith apart"
OF_NOMINAL = "obl of nominals"
"""Exceptions that are no pair of labels."""


class Rules(NamedTuple):
    """The rules for the labels of a parser.

    Args:
        names: the relations, ``[n_relations]``.
        exceptions: rules that do not hold, see :mod:`syntagma.parse.validity.exceptions`.
        forbidden: whether a relation is forbidden to a tag, ``[n_upos, n_relations]``.
        head_first: whether the head must precede the word, ``[n_relations]``.
        dependents: whether a word with the first relation may not have a dependent with the second,
            ``[n_relations, n_relations]``.
        external: code of the tag that words with these features act as, -1 for their own,
            ``[n_feats]``.
        negative: whether words with these features are negations, ``[n_feats]``.
        is_nominal_tag: whether a tag is that of a nominal, ``[n_upos]``.
        is_nominal: whether a relation is that of a nominal, ``[n_relations]``.
        of_predicate: whether a head with such a dependent is a predicate, ``[n_relations]``.
        is_oblique: whether a relation is ``obl``, ``[n_relations]``.
        is_adverb: whether a relation is ``advmod``, ``[n_relations]``.
        is_part: whether a relation is ``goeswith``, that of the later parts of an interrupted word,
            ``[n_relations]``.
    """

    names: tuple[str, ...]
    exceptions: frozenset[str]
    forbidden: NDArray[np.bool_]
    head_first: NDArray[np.bool_]
    dependents: NDArray[np.bool_]
    external: NDArray[np.int64]
    negative: NDArray[np.bool_]
    is_nominal_tag: NDArray[np.bool_]
    is_nominal: NDArray[np.bool_]
    of_predicate: NDArray[np.bool_]
    is_oblique: NDArray[np.bool_]
    is_adverb: NDArray[np.bool_]
    is_part: NDArray[np.bool_]


@functools.lru_cache(maxsize=16)
def rules_for(
    relations: tuple[str, ...],
    upos: tuple[str, ...],
    feats: tuple[str, ...] = (),
    exceptions: tuple[str, ...] = (),
) -> Rules:
    """Return the rules for the labels of a parser.

    Args:
        relations: its relations, with subtypes.
        upos: its universal tags.
        feats: its bundles of features, such as ``ExtPos=ADV|Number=Sing``.
        exceptions: rules that do not hold, see :mod:`syntagma.parse.validity.exceptions`.

    >>> rules = rules_for(("punct", "mark", "obj"), ("NOUN", "PUNCT"))
    >>> rules.forbidden.tolist()
    [[True, True, False], [False, True, True]]
    """
    universal = np.array([name.partition(":")[0] for name in relations])
    pairs = [bundle.split("|") for bundle in feats]
    external = [_value(EXTERNAL, bundle) for bundle in pairs]
    forbidden = [
        [_is_forbidden(name, tag) and with_tag(name, tag) not in exceptions for name in universal]
        for tag in upos
    ]
    first = [name in HEAD_FIRST and before_head(name) not in exceptions for name in universal]
    dependents = [
        [
            child not in DEPENDENTS.get(name, {child})
            and with_dependent(name, child) not in exceptions
            for child in universal
        ]
        for name in universal
    ]
    return Rules(
        names=relations,
        exceptions=frozenset(exceptions),
        forbidden=np.array(forbidden, bool),
        head_first=np.array(first, bool),
        dependents=np.array(dependents, bool),
        external=np.array([upos.index(tag) if tag in upos else -1 for tag in external], np.int64),
        negative=np.array([NEGATION in bundle for bundle in pairs], bool),
        is_nominal_tag=np.isin(upos, NOMINAL_TAGS),
        is_nominal=np.isin(universal, NOMINALS),
        of_predicate=np.isin(universal, PREDICATE),
        is_oblique=universal == "obl",
        is_adverb=universal == "advmod",
        is_part=universal == "goeswith",
    )


def with_tag(relation: str, tag: str) -> str:
    """Name the exception that a word with a tag has a relation."""
    return f"{relation} of {tag}"


def before_head(relation: str) -> str:
    """Name the exception that a word with a relation precedes its head."""
    return f"{relation} before its head"


def with_dependent(relation: str, dependent: str) -> str:
    """Name the exception that a word with a relation has a dependent with another."""
    return f"{relation} with {dependent}"


def _is_forbidden(relation: str, tag: str) -> bool:
    if tag == "PUNCT" and relation not in OF_PUNCTUATION:
        return True
    return tag not in ONLY.get(relation, {tag}) or tag in NEVER.get(relation, ())


def _value(name: str, pairs: Iterable[str]) -> str:
    return next((pair.partition("=")[2] for pair in pairs if pair.startswith(f"{name}=")), "")


def acting_tags(
    upos: NDArray[np.int64], feats: NDArray[np.int64] | None, rules: Rules
) -> NDArray[np.int64]:
    """Return the codes of the tags that words act as."""
    if feats is None or not (rules.external >= 0).any():
        return upos
    acts_as = rules.external[feats]
    return np.where(acts_as >= 0, acts_as, upos)


def precede(heads: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether words precede their heads."""
    return heads > np.arange(1, heads.shape[1] + 1)


class Words(NamedTuple):
    """Words with their heads and labels, each ``[batch, n_words]``.

    Args:
        codes: codes of relations.
        heads: 1-based, 0 for the root and for padding.
        upos: codes of universal tags.
        feats: codes of features, or ``None``.
    """

    codes: NDArray[np.int64]
    heads: NDArray[np.int64]
    upos: NDArray[np.int64]
    feats: NDArray[np.int64] | None

    def of_heads(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return what values the heads of words have; that of the first word where there is none.

        Args:
            values: ``[batch, n_words]``.
        """
        return np.take_along_axis(values, np.maximum(self.heads - 1, 0), 1)


def wrong_dependents(words: Words, rules: Rules) -> NDArray[np.bool_]:
    """Whether a word may not have its relation because of that of its head."""
    wrong = rules.dependents[words.of_heads(words.codes), words.codes] & (words.heads > 0)
    if wrong.any():
        # Without features nothing says what a negation is.
        negative = True if words.feats is None else rules.negative[words.feats]
        wrong &= ~(rules.is_adverb[words.codes] & negative)
    return wrong


def apart(words: Words, rules: Rules) -> NDArray[np.bool_]:
    """Whether a later part of a word adjoins neither its head nor another part."""
    heads, is_part = words.heads, rules.is_part[words.codes]
    adjoins = heads == np.arange(heads.shape[1])
    adjoins[:, 1:] |= (heads[:, 1:] == heads[:, :-1]) & is_part[:, :-1]
    return is_part & ~adjoins


def of_nominal(words: Words, rules: Rules) -> NDArray[np.bool_]:
    """Whether an oblique depends on a nominal that is no predicate."""
    heads, codes = words.heads, words.codes
    wrong = rules.is_oblique[codes] & (heads > 0) & rules.is_nominal[words.of_heads(codes)]
    wrong &= rules.is_nominal_tag[words.of_heads(words.upos)]
    if wrong.any():
        is_predicate = np.zeros((len(heads), heads.shape[1] + 1), bool)
        rows, places = np.nonzero(rules.of_predicate[codes])
        is_predicate[rows, heads[rows, places]] = True
        wrong &= ~words.of_heads(is_predicate[:, 1:])
    return wrong
