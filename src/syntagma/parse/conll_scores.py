"""The measures of the CoNLL 2018 shared task: from raw text to trees, each as an F1 score.

The script of the task (``conll18_ud_eval``) gives the same numbers.  Relations are compared without
subtypes, and features as far as they are universal.  CLAS counts content words only; MLAS asks in
addition for tags, features and function words of each content word, BLEX for its lemma.
https://universaldependencies.org/conll18/evaluation.html
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from syntagma.errors import InputError
from syntagma.text.conllu import TreebankSentence
from syntagma.text.conllu_rows import DEPREL, FEATS, FORM, ID, LEMMA, UPOS, XPOS
from syntagma.text.morphology import UNKNOWN
from syntagma.text.word_matching import Span, WordSpan, match_words

CONTENT_RELATIONS = frozenset(
    "nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse nmod "
    "appos nummod acl amod conj fixed flat compound list parataxis orphan goeswith reparandum root "
    "dep".split()
)
FUNCTION_RELATIONS = frozenset("aux cop mark det clf case cc".split())
UNIVERSAL_FEATURES = frozenset(
    "PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree VerbForm "
    "Mood Tense Aspect Voice Evident Polarity Person Polite".split()
)
ROOT = -1


class FScore(NamedTuple):
    """Counts of a measure; those of several files are added up.

    Args:
        gold: what is to be found.
        system: what the system says.
        correct: how much of it is right.
    """

    gold: int
    system: int
    correct: int

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, in per cent; 0 if there is nothing."""
        total = self.gold + self.system
        return 200 * self.correct / total if total else 0.0


class _Word(NamedTuple):
    """What is compared of a word.

    Args:
        lemma: column LEMMA.
        upos: column UPOS.
        xpos: column XPOS.
        feats: universal features, sorted.
        relation: relation without its subtype.
        head: number of the head among all words of the file; :data:`ROOT` for the root.
    """

    lemma: str
    upos: str
    xpos: str
    feats: str
    relation: str
    head: int


@dataclass(slots=True)
class _Side:
    """All words of a file, with the places of words, tokens and sentences in its characters."""

    characters: list[str] = field(default_factory=list)
    n_characters: int = 0
    tokens: list[Span] = field(default_factory=list)
    sentences: list[Span] = field(default_factory=list)
    spans: list[WordSpan] = field(default_factory=list)
    words: list[_Word] = field(default_factory=list)

    @classmethod
    def of(cls, sentences: Iterable[TreebankSentence]) -> _Side:
        side = cls()
        for sentence in sentences:
            side._add(sentence)
        return side

    def _add(self, sentence: TreebankSentence) -> None:
        begin, first = self.n_characters, len(self.words)
        heads = sentence.parse().heads  # Checks that they are a tree.
        inside_until = 0
        for row in sentence.rows:
            number, dash, last = row[ID].partition("-")
            if "." in number:
                continue
            inside = not dash and int(number) <= inside_until
            form = row[FORM]
            if not inside:
                # The script of the task compares words of multi-word tokens with their spaces.
                form = self._add_token(form)
            if dash:
                inside_until = int(last)
                continue
            self.spans.append(WordSpan(form, *self.tokens[-1], multiword=inside))
            head = heads[int(number) - 1]
            self.words.append(
                _Word(
                    row[LEMMA],
                    row[UPOS],
                    row[XPOS],
                    _universal(row[FEATS]),
                    row[DEPREL].partition(":")[0],
                    first + head - 1 if head else ROOT,
                )
            )
        self.sentences.append((begin, self.n_characters))

    def _add_token(self, form: str) -> str:
        """Add a token, and return its form without what is not compared."""
        # Neither spaces inside words nor invisible characters are.
        visible = [char for char in form if unicodedata.category(char) not in ("Zs", "Cf")]
        self.tokens.append((self.n_characters, self.n_characters + len(visible)))
        self.characters += visible
        self.n_characters += len(visible)
        return "".join(visible)

    def functions(self) -> list[list[int]]:
        """Return the function words that depend on each word."""
        found: list[list[int]] = [[] for _ in self.words]
        for place, word in enumerate(self.words):
            if word.head != ROOT and word.relation in FUNCTION_RELATIONS:
                found[word.head].append(place)
        return found


def _universal(feats: str) -> str:
    known = (each for each in feats.split("|") if each.partition("=")[0] in UNIVERSAL_FEATURES)
    return "|".join(sorted(known))


def conll_scores(
    gold: Iterable[TreebankSentence], system: Iterable[TreebankSentence]
) -> dict[str, FScore]:
    """Compare two annotations of the same text.

    Args:
        gold: the sentences of the treebank.
        system: the sentences of the system.

    Returns:
        ``tokens``, ``sentences``, ``words``, ``upos``, ``xpos``, ``ufeats``, ``alltags``,
        ``lemmas``, ``uas``, ``las``, ``clas``, ``mlas`` and ``blex``.  Measures of features or
        lemmas are absent if the system predicts none at all.

    Raises:
        InputError: the texts differ in more than spaces, or a sentence is not a tree.
    """
    ours, theirs = _Side.of(gold), _Side.of(system)
    _require_same_text(ours, theirs)
    scores = {
        "tokens": _span_score(ours.tokens, theirs.tokens),
        "sentences": _span_score(ours.sentences, theirs.sentences),
    }
    return scores | _Comparison(ours, theirs).scores()


def _span_score(gold: Sequence[Span], system: Sequence[Span]) -> FScore:
    return FScore(len(gold), len(system), len({*gold} & {*system}))


def _require_same_text(gold: _Side, system: _Side) -> None:
    if gold.characters == system.characters:
        return
    pairs = zip(gold.characters, system.characters, strict=False)
    place = next(
        (place for place, (one, other) in enumerate(pairs) if one != other),
        min(gold.n_characters, system.n_characters),
    )
    before = "".join(gold.characters[max(place - 10, 0) : place])
    wanted, got = ("".join(side.characters[place : place + 10]) for side in (gold, system))
    raise InputError(
        f"expected the text of the treebank, but after {place} characters, behind {before!r}, "
        f"expected {wanted!r} and got {got!r}; only spaces may differ"
    )


Key = Callable[[_Word, Callable[[int], int | None]], Any]
"""What must be equal of a word; the function says which gold word a word stands for."""


class _Comparison:
    """The words of both sides, matched."""

    def __init__(self, gold: _Side, system: _Side) -> None:
        self.gold, self.system = gold, system
        self.pairs = match_words(gold.spans, system.spans)
        # The root stands for the root; a word without a counterpart for none.
        self._gold_word: Mapping[int, int] = {other: one for one, other in self.pairs} | {
            ROOT: ROOT
        }
        self._functions = gold.functions(), system.functions()

    def scores(self) -> dict[str, FScore]:
        """Return the scores of all measures of words."""
        labels: dict[str, Key] = {
            "words": lambda word, _: None,
            "upos": lambda word, _: word.upos,
            "xpos": lambda word, _: word.xpos,
            "ufeats": lambda word, _: word.feats,
            "alltags": lambda word, _: word[1:4],
        }
        found = {name: self._score(key) for name, key in labels.items()}
        found["lemmas"] = self._score(None, lemma=True)
        found["uas"] = self._score(lambda word, gold: gold(word.head))
        arc: Key = lambda word, gold: (gold(word.head), word.relation)  # noqa: E731
        found["las"] = self._score(arc)
        found["clas"] = self._score(arc, content=True)
        found["mlas"] = self._score(arc, content=True, functions=True)
        found["blex"] = self._score(arc, content=True, lemma=True)
        words = self.system.words
        if not any(word.feats for word in words):
            del found["ufeats"], found["alltags"], found["mlas"]
        if all(word.lemma == UNKNOWN for word in words):
            del found["lemmas"], found["blex"]
        return found

    def _score(
        self,
        key: Key | None,
        *,
        content: bool = False,
        lemma: bool = False,
        functions: bool = False,
    ) -> FScore:
        """Count the matched words that agree.

        Args:
            key: what must be equal.
            content: whether to count only words whose relation is one of content words.
            lemma: whether the lemma must be equal too; any is if the treebank has none.
            functions: whether tags, features and function words must be equal too.
        """

        def counts(word: _Word) -> bool:
            return not content or word.relation in CONTENT_RELATIONS

        correct = 0
        for one, other in self.pairs:
            gold, system = self.gold.words[one], self.system.words[other]
            correct += (
                counts(gold)
                and (key is None or key(gold, lambda place: place) == key(system, self._stands_for))
                and (not lemma or gold.lemma in (UNKNOWN, system.lemma))
                and (not functions or self._agree(one, other))
            )
        return FScore(
            sum(map(counts, self.gold.words)), sum(map(counts, self.system.words)), correct
        )

    def _stands_for(self, place: int) -> int | None:
        return self._gold_word.get(place)

    def _agree(self, one: int, other: int) -> bool:
        """Whether tags, features and function words of two matched words agree."""
        gold, system = self.gold.words, self.system.words
        tags = gold[one].upos, gold[one].feats
        if tags != (system[other].upos, system[other].feats):
            return False
        ours, theirs = self._functions
        return [
            (place, gold[place].relation, gold[place].upos, gold[place].feats)
            for place in ours[one]
        ] == [
            (self._stands_for(place), word.relation, word.upos, word.feats)
            for place in theirs[other]
            for word in [system[place]]
        ]
