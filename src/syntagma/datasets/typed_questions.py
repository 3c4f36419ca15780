"""Write questions as people type them, so that a reader learns more than edited questions.

no_mark     the question mark is missing
lower       lower case, without question mark
typos       one or two typing errors
polite      inside a polite sentence: *Could you tell me when the ferry sank?*
keywords    content words only, as in a search box
imperative  a request: *Name the ferry that sank.*

Kinds can be combined: ``lower+typos``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from syntagma.datasets import question_phrases as phrases
from syntagma.datasets.embedded_questions import (
    ADVERBS,
    AUXILIARIES,
    CLAUSE_WORDS,
    DETERMINERS,
    DO,
    PAST_FORMS,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    embedded,
    is_participle,
    with_small_initial,
    without_mark,
)
from syntagma.datasets.squad_format import squad_data
from syntagma.datasets.variants import make_variants, require_kinds
from syntagma.tasks.spans.squad import SpanExample

NEIGHBOURS = {
    "a": "qsz", "b": "vghn", "c": "xdfv", "d": "serfcx", "e": "wrd", "f": "drtgvc", "g": "ftyhbv",
    "h": "gyujnb", "i": "uok", "j": "huikmn", "k": "jiolm", "l": "kop", "m": "njk", "n": "bhjm",
    "o": "ipl", "p": "ol", "q": "wa", "r": "etf", "s": "awedxz", "t": "ryg", "u": "yij",
    "v": "cfgb", "w": "qes", "x": "zsdc", "y": "tuh", "z": "asx",
}  # fmt: skip
"""Neighbouring letters on a keyboard."""
FUNCTION_WORDS = (
    AUXILIARIES | CLAUSE_WORDS | DETERMINERS | PREPOSITIONS | PRONOUNS | QUESTION_WORDS
    | frozenset("be been being also so such than then them him me us as not there here".split())
) - {"two", "three", "four"}  # fmt: skip
NAME_TYPOS = 0.2
"""How often a name has a typing error, compared with another word."""


def no_mark(question: str, draw: random.Random) -> str | None:
    """Delete the question mark."""
    return without_mark(question) if question.rstrip().endswith("?") else None


def lower(question: str, draw: random.Random) -> str | None:
    """Return the question in lower case, without question mark."""
    return without_mark(question).lower()


def _with_typo(word: str, draw: random.Random) -> str:
    """Return a word of at least four letters with one typing error after its first letter."""
    at = draw.randrange(1, len(word))
    error = draw.choice(["neighbour", "neighbour", "swap", "swap", "missing", "missing", "doubled"])
    if error == "swap" and at + 1 < len(word) and word[at] != word[at + 1]:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if error == "missing":
        return word[:at] + word[at + 1 :]
    if error == "doubled":
        return word[:at] + word[at] + word[at:]
    near = NEIGHBOURS.get(word[at].lower())
    if near is None:
        return word[:at] + word[at + 1 :]
    new = draw.choice(near)
    return word[:at] + (new.upper() if word[at].isupper() else new) + word[at + 1 :]


def typos(question: str, draw: random.Random) -> str | None:
    """Make one or two typing errors in content words of at least four letters."""
    words = [
        match
        for match in re.finditer(r"(?<![\w'’-])[^\W\d_]{4,}(?![\w-])", question)
        if match.group().lower() not in FUNCTION_WORDS
    ]
    if not words:
        return None
    weights = [NAME_TYPOS if match.group() != match.group().lower() else 1.0 for match in words]
    # A word that is drawn twice has one error.
    drawn = draw.choices(words, weights, k=draw.choice([1, 1, 2]))
    chosen = {match.start(): match for match in drawn}
    for start in sorted(chosen, reverse=True):
        match = chosen[start]
        question = question[:start] + _with_typo(match.group(), draw) + question[match.end() :]
    return question


def _has_question_word(question: str) -> bool:
    return bool(set(re.findall(r"[a-z]+", question.lower())) & QUESTION_WORDS)


def polite(question: str, draw: random.Random) -> str | None:
    """Put the question into a polite sentence.

    Its words keep their order after a colon or dash, and have embedded order where
    :func:`embedded` knows it.
    """
    if not _has_question_word(question):
        return None
    greeting = draw.choice(phrases.GREETINGS) if draw.random() < 0.35 else ""
    inner = embedded(question)
    if inner is not None and draw.random() < 0.75:
        wrapper = draw.choice(phrases.AROUND_EMBEDDED)
        sentence = wrapper.format(inner)
    else:
        wrapper = draw.choice(phrases.BEFORE_DIRECT)
        direct = without_mark(question)
        # A dash or colon is followed by a small letter, a full stop by a capital.
        if not wrapper.endswith((". ", "! ", "? ")) and draw.random() < 0.8:
            direct = with_small_initial(direct)
        sentence = f"{wrapper}{direct}?"
    if greeting.endswith(","):
        first = sentence.split()[0]
        if first != "I" and not first.startswith(("I'", "I’")):
            sentence = sentence[0].lower() + sentence[1:]
    text = f"{greeting} {sentence}" if greeting else sentence
    thanks = f" {draw.choice(phrases.THANKS)}" if draw.random() < 0.3 else ""
    return text + thanks


def keywords(question: str, draw: random.Random) -> str | None:
    """Keep up to six content words, as typed into a search box."""
    plain = re.sub(r"(?<=\w)['’]s?(?!\w)", "", question)
    words = re.findall(r"[^\W_](?:[\w.,'’&/-]*[^\W_])?|[$€£]?\d[\w.,]*", plain)
    kept = [
        word
        for index, word in enumerate(words)
        if word.lower() not in FUNCTION_WORDS | phrases.NOT_KEYWORDS
        or (word.isupper() and len(word) > 1 and index)
    ]
    # Of too many words, names, numbers, what is asked for, and long words are kept.
    value = {
        index: (word != word.lower() or any(map(str.isdigit, word)) or index < 2, len(word))
        for index, word in enumerate(kept)
    }
    best = sorted(value, key=lambda index: value[index], reverse=True)[: draw.choice([4, 5, 6, 6])]
    kept = [kept[index] for index in sorted(best)]
    if len(kept) < 2:
        return None
    for opening, options in phrases.WANTED:
        if re.search(opening, question.lower()) and draw.random() < 0.5 and len(kept) < 6:
            wanted = draw.choice(options)
            kept = [wanted, *kept] if draw.random() < 0.4 else [*kept, wanted]
            break
    if draw.random() < 0.2:
        middle = draw.randrange(1, len(kept))
        kept = kept[middle:] + kept[:middle]
    text = " ".join(kept)
    return text.lower() if draw.random() < 0.8 else text


def imperative(question: str, draw: random.Random) -> str | None:
    """Turn the question into a request, depending on its question word."""
    plain = with_small_initial(without_mark(question))
    stop = draw.choice([".", ".", ".", ""])
    named = _named(plain, draw)
    if named is not None:
        return named + stop
    inner = embedded(question)
    if inner is None:
        return None
    # *Name the place where he came from* and *give the year when saw the war* are not English.
    if inner.split()[-1] not in PREPOSITIONS and (inner != plain or inner[:3] in ("who", "how")):
        for opening, wrappers in phrases.REQUESTS:
            match = re.match(opening, inner)
            if match:
                return draw.choice(wrappers).format(rest=inner[match.end() :]) + stop
    return draw.choice(phrases.TELL).format(whole=inner) + stop


def _named(question: str, draw: random.Random) -> str | None:
    """Ask for a noun phrase: *what city hosted it* becomes *name the city that hosted it*."""
    simple = re.fullmatch(r"(what|who) (?:is|was|are|were) (the .+)", question)
    if simple:
        phrase = simple[2]
        words = phrase.split()
        is_name = re.match(r"the names? of ", phrase) is not None
        # *The ferry called*, *the ferry known for* are parts of sentences, not of noun phrases.
        whole = is_name or not any(is_participle(word) for word in words)
        if not whole or words[-1].lower() in PREPOSITIONS or len(words) < 3:
            return None
        wrappers = phrases.NAME_PERSON if simple[1] == "who" else phrases.GIVE
        return draw.choice(phrases.GIVE_NAME if is_name else wrappers).format(phrase)
    which = re.match(r"(?:what|which) ((?:[\w'’-]+ ){1,4})", question)
    words = question.split()
    if which is None or words[1].lower() in FUNCTION_WORDS:
        return None
    for place in range(2, min(6, len(words))):
        word, following = words[place], "".join(words[place + 1 : place + 2])
        if word in AUXILIARIES:
            # *What city was founded*, not *what city was the king born in*.
            is_verb = word not in DO and (
                is_participle(following) or following in ADVERBS or following.endswith("ly")
            )
        else:
            is_verb = word in PAST_FORMS or is_participle(word)
        if is_verb:
            # *Which ferry later sank* becomes *the ferry that later sank*.
            has_adverb = words[place - 1] in ADVERBS or words[place - 1].endswith("ly")
            end = place - 1 if has_adverb else place
            if end < 2 or words[end - 1].lower() in FUNCTION_WORDS:
                return None
            pronoun = "who" if words[end - 1] in phrases.PEOPLE else "that"
            noun, rest = " ".join(words[1:end]), " ".join([pronoun, *words[end:]])
            return draw.choice(phrases.NAME_NOUN).format(noun=noun, rest=rest)
        if word in AUXILIARIES or (word in FUNCTION_WORDS and word != "of"):
            return None
    return None


Change = Callable[[str, random.Random], str | None]
CHANGES: dict[str, Change] = {
    change.__name__: change for change in (polite, imperative, keywords, typos, lower, no_mark)
}
"""In the order in which a combination applies them."""
KINDS = ("no_mark", "lower", "typos", "polite", "keywords", "imperative")
COMBINATIONS = ("lower+typos", "keywords+typos", "polite+lower", "imperative+typos")


def typed(question: str, kind: str, draw: random.Random) -> str | None:
    """Return a question as people type it, or none if the kind does not apply to it.

    Args:
        question: the question.
        kind: one of :data:`KINDS`, or several joined by ``+``.
        draw: random number generator.

    Raises:
        InputError: the kind is unknown.
    """
    require_kinds([kind], KINDS, combined=True)
    parts = kind.split("+")
    text: str | None = question
    for name, change in CHANGES.items():
        if text is not None and name in parts:
            text = change(text, draw)
    return text if text != question else None


def make_typed(
    examples: Sequence[SpanExample],
    *,
    count: int,
    kinds: Sequence[str] = KINDS + COMBINATIONS,
    seed: int = 1,
) -> tuple[dict[str, Any], dict[str, int]]:
    """Write the questions of examples as people type them.

    Args:
        examples: the examples; passages and answers stay, unanswerable ones stay unanswerable.
        count: number of questions; fewer are returned if there are not enough examples.
        kinds: kinds to draw from; combinations are drawn a third as often as single kinds.
        seed: random seed.

    Returns:
        The examples in SQuAD 2.0 format, with the ids ``{id}-{kind}``, and the number of each kind.

    Raises:
        InputError: a kind is unknown.
    """
    require_kinds(kinds, KINDS, combined=True)

    def vary(example: SpanExample, kind: str, draw: random.Random) -> SpanExample | None:
        question = typed(example.question, kind, draw)
        return None if question is None else replace(example, question=question)

    made, counts = make_variants(examples, vary, count=count, kinds=kinds, seed=seed)
    return squad_data(made), counts
