"""The labels that a parser learns from a treebank, and their codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.parse.edit_scripts import ScriptCodes, learn_scripts
from syntagma.parse.languages import UNKNOWN as NO_LANGUAGE
from syntagma.parse.lexicon import learn_lexicon, merge_lexicons
from syntagma.parse.phrases import collapse_chains
from syntagma.parse.validity.exceptions import exceptions_in
from syntagma.tasks.parsing.treebanks import TreeExample
from syntagma.text.alignment import ABSENT
from syntagma.text.escapes import spelled_for_lemmas
from syntagma.text.morphology import UNKNOWN
from syntagma.text.sentence import Parse

COLUMNS = ("relations", "upos", "xpos")


def untagged_languages(examples: Sequence[TreeExample]) -> set[str]:
    """Return the languages in which no word has a treebank tag (column XPOS).

    A parser of several languages is to give their words none either: ``_``, as in their treebanks.

    Args:
        examples: the sentences of all treebanks; a file whose name states no language counts as
            one of an unknown language, which is never among those returned.
    """
    tagged = {example.language for example in examples if set(example.gold.xpos) - {UNKNOWN}}
    return {example.language for example in examples} - tagged - {NO_LANGUAGE}


def collect_labels(
    parses: Sequence[Parse],
    *,
    phrases: bool,
    morphology: Sequence[str] = (),
    untagged: bool = False,
) -> dict[str, list[str]]:
    """Collect all labels; a column that a treebank lacks gets the label ``_``.

    Args:
        parses: the trees of the treebank.
        phrases: whether to collect labels of phrases.
        morphology: ``feats``, for which labels are whole bundles of features, and ``lemmas``, for
            which labels are edit scripts; these come with a ``lexicon``; ``auto`` is those that the
            treebank has.
        untagged: whether ``_`` is a treebank tag like others, see :func:`untagged_languages`.

    Returns:
        Sorted labels by column, edit scripts by their frequency; and, if there are any,
        ``exceptions``, the rules of :mod:`syntagma.parse.validity.rules` that the treebank breaks.

    Raises:
        InputError: the treebank does not have the morphology.
    """
    labels = {}
    for name in COLUMNS:
        found = {label for parse in parses for label in getattr(parse, name)}
        labels[name] = sorted(found - {UNKNOWN}) or [UNKNOWN]
    if untagged and UNKNOWN not in labels["xpos"]:
        labels["xpos"].append(UNKNOWN)
    if exceptions := exceptions_in(parses):
        labels["exceptions"] = exceptions
    chains = {span.label for parse in parses for span in collapse_chains(parse.constituents or ())}
    if phrases and chains:
        labels["constituents"] = sorted(chains)
    if "auto" in morphology:
        present = {
            name
            for name in ("feats", "lemmas")
            for parse in parses
            if set(getattr(parse, name) or ()) - {UNKNOWN}
        }
        morphology = sorted(present.union(morphology) - {"auto"})
    if "feats" in morphology:
        # Here `_` is a label like others: the word has no features.
        labels["feats"] = sorted({label for parse in parses for label in parse.feats or ()})
        if not set(labels["feats"]) - {UNKNOWN}:
            raise InputError(
                "head.morphology: the training files have no features (column 6 of CoNLL-U); "
                "omit feats"
            )
    if "lemmas" in morphology:
        words = [
            word
            for parse in parses
            if (lemmas := parse.lemmas) is not None
            for word in zip(
                spelled_for_lemmas(parse.sentence.forms), lemmas, parse.upos, strict=True
            )
        ]
        labels["lemmas"] = learn_scripts((form, lemma) for form, lemma, _ in words)
        if not labels["lemmas"]:
            raise InputError(
                "head.morphology: the training files have no lemmas (column 3 of CoNLL-U); omit "
                "lemmas"
            )
        labels["lexicon"] = learn_lexicon(words)
    return labels


def extend_labels(
    known: Mapping[str, Sequence[str]], found: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Add the labels of a treebank to those of a parser, whose codes stay.

    Args:
        known: labels of the parser, from :func:`collect_labels`, with its languages.
        found: labels of the treebank.

    Returns:
        The parser's labels, each column with those that it lacks at the end; the merged lexicon;
        columns that only one of the two has as they are.
    """
    labels = {name: list(values) for name, values in known.items()}
    for name, values in found.items():
        if name not in known:
            labels[name] = list(values)
        elif name == "lexicon":
            labels[name] = merge_lexicons(known[name], values)
        elif list(values) != [UNKNOWN]:  # Else the treebank lacks the column.
            own = set(known[name])
            labels[name] += [value for value in values if value not in own]
    return labels


class WordCodes:
    """Codes of the labels of words.

    Args:
        labels: labels of the parser, from :func:`collect_labels`.
    """

    def __init__(self, labels: Mapping[str, Sequence[str]]) -> None:
        self._names = (*COLUMNS, "feats") if "feats" in labels else COLUMNS
        self._codes = {
            name: {label: code for code, label in enumerate(labels[name])} for name in self._names
        }
        self._scripts = ScriptCodes(labels["lemmas"]) if "lemmas" in labels else None

    def of(self, parse: Parse, *, untagged: bool = False) -> dict[str, NDArray[np.int64]]:
        """Return the codes of a gold parse.

        Args:
            parse: the parse.
            untagged: whether the treebanks of its language have no tags of their own (XPOS), so
                that ``_`` is what is to be predicted, rather than unknown.

        Returns:
            For each column codes, ``[n_words]``, ``ABSENT`` where the label is unknown.
        """
        found = {name: np.full(len(parse), ABSENT, np.int64) for name in self._names}
        for name, codes in found.items():
            known = self._codes[name]
            if (values := getattr(parse, name)) is not None:
                codes[:] = [known.get(label, ABSENT) for label in values]
        if not untagged and len(self._codes["xpos"]) > 1 and UNKNOWN in self._codes["xpos"]:
            found["xpos"][found["xpos"] == self._codes["xpos"][UNKNOWN]] = ABSENT
        if self._scripts is not None:
            found["lemmas"] = np.full(len(parse), ABSENT, np.int64)
            if (lemmas := parse.lemmas) is not None:
                pairs = zip(spelled_for_lemmas(parse.sentence.forms), lemmas, strict=True)
                found["lemmas"][:] = [self._scripts[pair] for pair in pairs]
        return found
