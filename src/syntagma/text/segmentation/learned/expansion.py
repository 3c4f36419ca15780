"""Which tokens stand for several words, and for which: French *du* for *de* and *le*.

A rule says how the words follow from the token: either it is cut at some distances from its end, or
the end of the first word is replaced and fixed words follow.  A classifier chooses the rule by the
token and its neighbours.  A rule of the second kind is for the tokens with which training saw it,
unless these were many: *ins* stands for *in das*, but no other word in *s* for two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from syntagma.text.segmentation.learned.classifier import Classifier, Weights
from syntagma.text.segmentation.learned.hashes import Hashes, text_hashes

ENDING = 3
"""Letters of the ending by which a token may be one of several words."""
NO_RULE = 0
"""Class of a token that is one word."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How several words follow from a token.

    Args:
        cuts: distances from the end of the token at which it is cut, descending; empty if the words
            are not its parts.
        strip: characters that the first word has fewer at its end.
        add: what the first word has there instead.
        rest: the other words.
        tokens: the tokens in lower case that it is for; empty if for any.
    """

    cuts: tuple[int, ...] = ()
    strip: int = 0
    add: str = ""
    rest: tuple[str, ...] = ()
    tokens: frozenset[str] = frozenset()

    @classmethod
    def of(cls, token: str, words: Sequence[str]) -> Rule:
        """Return the rule by which a treebank made words of a token.

        >>> Rule.of("don't", ["do", "n't"]).cuts, Rule.of("du", ["de", "le"]).rest
        ((3,), ('le',))
        """
        token, words = token.lower(), [word.lower() for word in words]
        if "".join(words) == token:
            lengths = np.cumsum([len(word) for word in words])[:-1]
            return cls(cuts=tuple(len(token) - int(length) for length in lengths))
        first = words[0]
        same = 0
        while same < min(len(first), len(token)) and first[same] == token[same]:
            same += 1
        return cls(strip=len(token) - same, add=first[same:], rest=tuple(words[1:]))

    def words(self, token: str) -> list[str] | None:
        """Apply the rule, or return ``None`` where it does not fit.

        Case is that of the token: words in capitals of one in capitals, and a first word with a
        capital of one with a capital.
        """
        if self.cuts:
            if self.cuts[0] >= len(token):
                return None
            edges = [0, *(len(token) - cut for cut in self.cuts), len(token)]
            return [token[start:end] for start, end in zip(edges, edges[1:], strict=False)]
        if self.strip > len(token) or (self.tokens and token.lower() not in self.tokens):
            return None
        capitals = len(token) > 1 and token.isupper()
        stem = token[: len(token) - self.strip]
        found = [stem + self.add, *self.rest]
        if capitals:
            return [word.upper() for word in found]
        if not stem and token[:1].isupper():
            found[0] = found[0][:1].upper() + found[0][1:]
        return found if all(found) else None


def token_features(tokens: Sequence[str], places: Sequence[int], firsts: Sequence[int]) -> Hashes:
    """Return the features of some tokens, ``[n_places, n_templates]``.

    Args:
        tokens: all tokens.
        places: which of them.
        firsts: the number of the sentence of each token; others are no neighbours.
    """

    def near(place: int, shift: int) -> str:
        other = place + shift
        inside = 0 <= other < len(tokens) and firsts[other] == firsts[place]
        return tokens[other].lower() if inside else ""

    own = [tokens[place] for place in places]
    lower = [token.lower() for token in own]
    before = [near(place, -1) for place in places]
    after = [near(place, 1) for place in places]
    shapes = [f"{token[:1].isupper()}{token.isupper()}{token.isalpha()}" for token in own]
    columns = [lower, before, after, shapes]
    columns += [[token[-length:] for token in lower] for length in range(1, 6)]
    columns += [[token[:length] for token in lower] for length in (1, 2, 3)]
    columns += [[token[-3:] for token in before], [token[-3:] for token in after]]
    columns += [[token[-2:] for token in after], [token[:1] for token in after]]
    columns += [[f"{a} {b}" for a, b in zip(lower, before, strict=True)]]
    columns += [[f"{a} {b}" for a, b in zip(lower, after, strict=True)]]
    columns += [[f"{a} {b[-2:]}" for a, b in zip(lower, after, strict=True)]]
    columns += [[f"{a} {len(b)}" for a, b in zip(lower, after, strict=True)]]
    return np.stack([text_hashes(texts, k + 1) for k, texts in enumerate(columns)], axis=1)


class Expander:
    """Finds the tokens that stand for several words.

    Args:
        rules: the rules; class 0 of the classifier is for none of them.
        endings: the last letters of the tokens that training saw as several words.
        weights: those of a :class:`Classifier`.
    """

    def __init__(self, rules: Sequence[Rule], endings: Sequence[str], weights: Weights) -> None:
        self.rules = tuple(rules)
        self.endings = frozenset(endings)
        self._classifier = Classifier(weights)

    def expand(self, tokens: Sequence[str], sentences: Sequence[int]) -> dict[int, list[str]]:
        """Return the words of each token that stands for several, by its index.

        Args:
            tokens: the tokens of some sentences.
            sentences: the number of the sentence of each token.
        """
        places = [k for k, token in enumerate(tokens) if ending(token) in self.endings]
        if not places:
            return {}
        scores = self._classifier.scores(token_features(tokens, places, sentences))
        found: dict[int, list[str]] = {}
        for place, chosen in zip(places, scores.argmax(axis=1).tolist(), strict=True):
            words = None if chosen == NO_RULE else self.rules[chosen - 1].words(tokens[place])
            if words is not None:
                found[place] = words
        return found


def ending(token: str) -> str:
    """The letters by which a token may be one of several words."""
    return token[-ENDING:].lower()
