"""Questions that their passage does not answer, made from answerable ones.

SQuAD 2.0's own were written by people; where they cannot be had, three rules make others (the idea
of Rajpurkar et al. 2018, section 5, and of Jia & Liang 2017, section 3.3):

elsewhere  the question is asked of another passage of its article: the one that shares most of its
           words, but holds none of its answers
swapped    a name or a number that question and passage share becomes another one of the article
reversed   a word becomes its opposite (*first*/*last*), or the question is negated
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from syntagma.parse.columns import ParsedText
from syntagma.parse.sources.cache import ParseCache, cache_folder
from syntagma.parse.sources.load import load_source
from syntagma.tasks.spans.metrics import normalise
from syntagma.tasks.spans.squad import SpanExample

__all__ = ["make_unanswerable"]

OPPOSITES = [
    ("first", "last"),
    ("before", "after"),
    ("largest", "smallest"),
    ("highest", "lowest"),
    ("oldest", "youngest"),
    ("most", "least"),
    ("more", "fewer"),
    ("more", "less"),
    ("north", "south"),
    ("northern", "southern"),
    ("east", "west"),
    ("eastern", "western"),
    ("upper", "lower"),
    ("beginning", "end"),
    ("began", "ended"),
    ("begin", "end"),
    ("start", "stop"),
    ("started", "stopped"),
    ("increase", "decrease"),
    ("rise", "fall"),
    ("increased", "decreased"),
    ("won", "lost"),
    ("win", "lose"),
    ("gain", "lose"),
    ("male", "female"),
    ("men", "women"),
    ("father", "mother"),
    ("son", "daughter"),
    ("king", "queen"),
    ("early", "late"),
    ("earliest", "latest"),
    ("new", "old"),
    ("major", "minor"),
    ("maximum", "minimum"),
    ("above", "below"),
    ("inside", "outside"),
    ("open", "closed"),
    ("opened", "closed"),
    ("public", "private"),
    ("positive", "negative"),
    ("strong", "weak"),
    ("support", "oppose"),
    ("supported", "opposed"),
    ("accept", "reject"),
    ("accepted", "rejected"),
    ("import", "export"),
    ("arrive", "leave"),
    ("arrived", "left"),
    ("buy", "sell"),
    ("bought", "sold"),
    ("best", "worst"),
    ("longest", "shortest"),
    ("fastest", "slowest"),
    ("majority", "minority"),
    ("internal", "external"),
    ("rural", "urban"),
    ("winter", "summer"),
    ("offensive", "defensive"),
    ("can", "cannot"),
]
NEGATED = {
    "did": "didn't", "does": "doesn't", "do": "don't", "was": "wasn't", "were": "weren't",
    "is": "isn't", "are": "aren't", "has": "hasn't", "have": "haven't", "had": "hadn't",
    "can": "can't", "could": "couldn't", "would": "wouldn't", "will": "won't",
}  # fmt: skip

OPPOSITE: dict[str, list[str]] = defaultdict(list)
for one, other in OPPOSITES:
    OPPOSITE[one].append(other)
    OPPOSITE[other].append(one)


@dataclass(frozen=True)
class _Mention:
    """A name or a number in a text."""

    text: str
    start: int
    end: int
    kind: str


def _mentions(text: str, parsed: ParsedText) -> Iterator[_Mention]:
    """Runs of proper nouns, and single numbers."""
    tags = parsed.xpos_labels.decode(parsed.xpos.tolist())
    run: list[int] = []
    for word in range(len(tags) + 1):
        tag = tags[word] if word < len(tags) else ""
        joins = tag in ("NNP", "NNPS") and (
            not run or parsed.sentences[run[-1]] == parsed.sentences[word]
        )
        if joins:
            run.append(word)
            continue
        if run:
            start, end = int(parsed.starts[run[0]]), int(parsed.ends[run[-1]])
            yield _Mention(text[start:end], start, end, f"name{min(len(run), 3)}")
            run = []
        if tag == "CD":
            start, end = int(parsed.starts[word]), int(parsed.ends[word])
            if re.fullmatch(r"\d[\d,.]*", text[start:end]):
                kind = "year" if re.fullmatch(r"1\d{3}|20\d\d", text[start:end]) else "number"
                yield _Mention(text[start:end], start, end, kind)


def _elsewhere(
    example: SpanExample,
    passages: Sequence[str],
    words: dict[str, Counter[str]],
    rarity: Counter[str],
) -> str | None:
    """The passage that shares the rarest words with the question and holds no answer."""
    asked = set(normalise(example.question).split())
    golds = [normalise(answer) for answer in example.answers]
    best, best_score = None, 0.0
    for passage in passages:
        if passage == example.passage:
            continue
        text = normalise(passage)
        if any(gold and gold in text for gold in golds):
            continue
        score = sum(1 / math.log(2 + rarity[word]) for word in asked if word in words[passage])
        if score > best_score:
            best, best_score = passage, score
    return best


def _swapped(
    example: SpanExample, asked: list[_Mention], article: list[_Mention], draw: random.Random
) -> str | None:
    """The question with a name or number that it shares with the passage changed."""
    shared = [mention for mention in asked if mention.text in example.passage]
    if not shared:
        return None
    mention = draw.choice(shared)
    others = {
        other.text
        for other in article
        if other.kind == mention.kind
        and normalise(other.text) not in normalise(example.question)
        and normalise(mention.text) not in normalise(other.text)
        and other.text not in example.answers
    }
    if not others:
        return None
    new = draw.choice(sorted(others))
    return example.question[: mention.start] + new + example.question[mention.end :]


def _reversed(example: SpanExample, draw: random.Random) -> str | None:
    """The question with a word turned into its opposite, or negated."""
    places = [
        (match, choice)
        for match in re.finditer(r"[A-Za-z]+", example.question)
        for choice in OPPOSITE.get(match.group().lower(), ())
    ]
    if not places:
        places = [
            (match, NEGATED[match.group().lower()])
            for match in re.finditer(r"[A-Za-z]+", example.question)
            if match.group().lower() in NEGATED
        ][:1]
    if not places:
        return None
    match, new = draw.choice(places)
    new = new.capitalize() if match.group()[0].isupper() else new
    return example.question[: match.start()] + new + example.question[match.end() :]


def make_unanswerable(
    examples: Sequence[SpanExample],
    *,
    count: int = 30_000,
    parser: str = "default-parser",
    seed: int = 1,
) -> tuple[dict[str, Any], dict[str, int]]:
    """Make unanswerable questions.

    Args:
        examples: answerable ones.
        count: how many are wanted; fewer come out where the examples do not give as many.
        parser: a parse source; names and numbers are found by its tags.
        seed: of all choices.

    Returns:
        The questions in SQuAD 2.0's format, and how many each rule has made.
    """
    draw = random.Random(seed)
    cache = ParseCache(load_source(parser), cache_folder())
    by_title: dict[str, list[str]] = defaultdict(list)
    for example in examples:
        if example.passage not in by_title[example.title][-1:]:
            by_title[example.title].append(example.passage)
    passages = list({example.passage: None for example in examples})
    parsed = dict(zip(passages, cache.parsed(passages), strict=True))
    words = {passage: Counter(normalise(passage).split()) for passage in passages}
    rarity: Counter[str] = Counter(word for found in words.values() for word in found)
    found = {passage: list(_mentions(passage, parsed[passage])) for passage in passages}
    in_article = {
        title: [mention for passage in own for mention in found[passage]]
        for title, own in by_title.items()
    }
    chosen = draw.sample(examples, min(len(examples), 2 * count))
    questions = cache.parsed([example.question for example in chosen])
    rules = ["elsewhere", "swapped", "swapped", "reversed"]
    made: dict[str, list[dict[str, Any]]] = defaultdict(list)
    counts: Counter[str] = Counter()
    for example, question in zip(chosen, questions, strict=True):
        if sum(counts.values()) == count:
            break
        rule = draw.choice(rules)
        passage: str | None = example.passage
        text: str | None = None
        if rule == "elsewhere":
            passage = _elsewhere(example, by_title[example.title], words, rarity)
            text = example.question if passage else None
        elif rule == "swapped":
            asked = list(_mentions(example.question, question))
            text = _swapped(example, asked, in_article[example.title], draw)
        else:
            text = _reversed(example, draw)
        if text is None:
            continue
        counts[rule] += 1
        assert passage is not None
        made[passage].append(
            {"id": f"{example.id}-{rule}", "question": text, "is_impossible": True, "answers": []}
        )
    titles = {example.passage: example.title for example in examples}
    articles = [
        {"title": titles[passage], "paragraphs": [{"context": passage, "qas": records}]}
        for passage, records in made.items()
    ]
    return {"version": "v2.0", "data": articles}, dict(counts)
