"""Words with spaces inside, such as *New York* given as one word: parsed as their parts, rejoined.

A parser that was trained without such words would read the first part only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise

import numpy as np

from syntagma.parse.trees import depths
from syntagma.text.morphology import Morphology
from syntagma.text.sentence import Constituent, Parse, Sentence


def _parts(form: str) -> list[str]:
    return form.split() or [form]


def split_at_spaces(sentence: Sentence) -> Sentence:
    """Return the words of a sentence split at spaces; the sentence itself if none has a space.

    >>> split_at_spaces(Sentence.from_words(["New York", "slept"])).forms
    ('New', 'York', 'slept')
    """
    forms = list(chain.from_iterable(map(_parts, sentence.forms)))
    return sentence if len(forms) == len(sentence) else Sentence.spaced(forms)


def join_parts(sentence: Sentence, parse: Parse) -> Parse:
    """Join the parts of each word again; a word gets head and tags of its part nearest the root.

    Its lemma is that of all parts.

    Args:
        sentence: the words.
        parse: the parse of :func:`split_at_spaces`.
    """
    counts = [len(_parts(form)) for form in sentence.forms]
    bounds = list(accumulate(counts, initial=0))
    word_of_part = np.repeat(np.arange(len(counts)), counts)
    depth = depths(np.asarray(parse.heads, np.int64))
    # Heads are nearer to the root than their dependents, so there are no cycles between words.
    tops = [
        start + int(np.argmin(depth[start:end]))
        for start, end in zip(bounds[:-1], bounds[1:], strict=True)
    ]
    heads = tuple(
        int(word_of_part[parse.heads[top] - 1]) + 1 if parse.heads[top] else 0 for top in tops
    )
    probabilities = parse.probabilities
    return Parse(
        sentence,
        heads,
        tuple(parse.relations[top] for top in tops),
        tuple(parse.upos[top] for top in tops),
        tuple(parse.xpos[top] for top in tops),
        None if probabilities is None else tuple(probabilities[top] for top in tops),
        None if parse.constituents is None else _joined_phrases(parse.constituents, tops),
        # A word that lies in two parts of a long sentence belongs to the first.
        tuple(dict.fromkeys(np.searchsorted(bounds[:-1], parse.parts).tolist())),
        _joined_morphology(parse, bounds, tops),
    )


def _joined_morphology(
    parse: Parse, bounds: Sequence[int], tops: Sequence[int]
) -> Morphology | None:
    """Join the lemmas of the parts by spaces, and take the features of the parts for the words."""
    feats, lemmas = parse.feats, parse.lemmas
    if feats is None and lemmas is None:
        return None
    return Morphology(
        None if feats is None else tuple(feats[top] for top in tops),
        None if lemmas is None else tuple(" ".join(lemmas[a:b]) for a, b in pairwise(bounds)),
    )


def _joined_phrases(
    constituents: Sequence[Constituent], tops: Sequence[int]
) -> tuple[Constituent, ...]:
    """Reduce phrases to the parts that stand for words, and drop those without any."""
    found = (
        Constituent(label, *np.searchsorted(tops, (start, end)).tolist())
        for label, start, end in constituents
    )
    return tuple(phrase for phrase in found if phrase.start < phrase.end)
