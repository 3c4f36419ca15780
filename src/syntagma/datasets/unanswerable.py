"""Generate unanswerable questions from answerable ones.

Those of SQuAD 2.0 were written by crowd workers.  If they are not available, rules generate others
(the first three follow Rajpurkar et al. 2018, section 5, and Jia & Liang 2017, section 3.3):

elsewhere      ask the question about another passage of the same article: the one that shares the
               most words with the question, but contains none of its answers
swapped        replace a name or number that occurs in question and passage by another of the
               article
reversed       replace a word by its antonym (*first*/*last*), or negate the question
neighbour      ask the question about the passage before or after its own, if that contains none of
               its answers
other_article  ask the question about a random passage of another article
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from syntagma.datasets.squad_format import squad_data
from syntagma.parse.columns import ParsedText
from syntagma.parse.sources.cache import ParseCache, cache_folder
from syntagma.parse.sources.load import load_source
from syntagma.tasks.spans.metrics import normalise
from syntagma.tasks.spans.squad import SpanExample

# Swapping gives the hardest questions, so it is drawn most often.  Those about another article are
# the easiest, but users do ask what a text has nothing to do with.
RULES = (
    *["swapped"] * 3, *["elsewhere"] * 2, "reversed", "neighbour", "other_article"
)  # fmt: skip
ARTICLE_DRAWS = 10
"""How many passages of other articles are tried before giving up."""

ANTONYMS = [
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
NEGATIONS = {
    "did": "didn't", "does": "doesn't", "do": "don't", "was": "wasn't", "were": "weren't",
    "is": "isn't", "are": "aren't", "has": "hasn't", "have": "haven't", "had": "hadn't",
    "can": "can't", "could": "couldn't", "would": "wouldn't", "will": "won't",
}  # fmt: skip

ANTONYMS_OF: dict[str, list[str]] = defaultdict(list)
for one, other in ANTONYMS:
    ANTONYMS_OF[one].append(other)
    ANTONYMS_OF[other].append(one)


@dataclass(frozen=True)
class Mention:
    """A name or number in a text; it may be replaced by another one of the same ``kind``."""

    text: str
    start: int
    end: int
    kind: str


def _mentions(text: str, parsed: ParsedText) -> Iterator[Mention]:
    """Yield sequences of proper nouns, and numbers."""
    tags = parsed.xpos_labels.decode(parsed.xpos.tolist())
    name: list[int] = []
    # One step beyond the last word, to end a name there.
    for word in range(len(tags) + 1):
        tag = tags[word] if word < len(tags) else ""
        continues_name = tag in ("NNP", "NNPS") and (
            not name or parsed.sentences[name[-1]] == parsed.sentences[word]
        )
        if continues_name:
            name.append(word)
            continue
        if name:
            start, end = int(parsed.starts[name[0]]), int(parsed.ends[name[-1]])
            # Names are replaced by names of the same length, as a rough check of their type.
            yield Mention(text[start:end], start, end, f"name{min(len(name), 3)}")
            name = []
        if tag == "CD":
            start, end = int(parsed.starts[word]), int(parsed.ends[word])
            if re.fullmatch(r"\d[\d,.]*", text[start:end]):
                kind = "year" if re.fullmatch(r"1\d{3}|20\d\d", text[start:end]) else "number"
                yield Mention(text[start:end], start, end, kind)


def _answers_in(passage: str, example: SpanExample) -> bool:
    """Whether a passage contains an answer of the question, up to case and punctuation."""
    text = normalise(passage)
    answers = [normalise(answer) for answer in example.answers]
    return any(answer and answer in text for answer in answers)


def neighbour(example: SpanExample, passages: Sequence[str], draw: random.Random) -> str | None:
    """Choose the passage before or after the example's that contains none of its answers.

    Args:
        example: an answerable question.
        passages: the passages of its article, in order.
        draw: random number generator.
    """
    place = passages.index(example.passage)
    near = [*passages[max(0, place - 1) : place], *passages[place + 1 : place + 2]]
    options = [passage for passage in near if not _answers_in(passage, example)]
    return draw.choice(options) if options else None


def other_article(
    example: SpanExample, articles: Mapping[str, Sequence[str]], draw: random.Random
) -> str | None:
    """Choose a passage of another article that contains none of the answers.

    Args:
        example: an answerable question.
        articles: the passages of each article, by title.
        draw: random number generator.
    """
    titles = [title for title in articles if title != example.title]
    for _ in range(ARTICLE_DRAWS if titles else 0):
        passage = draw.choice(articles[draw.choice(titles)])
        if passage != example.passage and not _answers_in(passage, example):
            return passage
    return None


def _elsewhere(
    example: SpanExample,
    passages: Sequence[str],
    words: dict[str, Counter[str]],
    rarity: Counter[str],
) -> str | None:
    """Choose the passage without an answer that shares the most, and the rarest, words.

    Args:
        example: an answerable question.
        passages: the passages of its article.
        words: word counts of each passage.
        rarity: how often each word occurs in all passages.
    """
    question_words = set(normalise(example.question).split())
    best, best_score = None, 0.0
    for passage in passages:
        if passage == example.passage or _answers_in(passage, example):
            continue
        shared = [word for word in question_words if word in words[passage]]
        score = sum(1 / math.log(2 + rarity[word]) for word in shared)
        if score > best_score:
            best, best_score = passage, score
    return best


def swap_mention(
    example: SpanExample, mentions: list[Mention], article: list[Mention], draw: random.Random
) -> str | None:
    """Replace a name or number that question and passage share.

    Args:
        example: an answerable question.
        mentions: names and numbers in the question.
        article: names and numbers in all passages of the article.
        draw: random number generator.
    """
    shared = [mention for mention in mentions if mention.text in example.passage]
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


def reverse_meaning(example: SpanExample, draw: random.Random) -> str | None:
    """Replace a word of the question by an antonym or, if there is none, negate the question."""
    replacements = [
        (match, antonym)
        for match in re.finditer(r"[A-Za-z]+", example.question)
        for antonym in ANTONYMS_OF.get(match.group().lower(), ())
    ]
    if not replacements:
        replacements = [
            (match, NEGATIONS[match.group().lower()])
            for match in re.finditer(r"[A-Za-z]+", example.question)
            if match.group().lower() in NEGATIONS
        ][:1]
    if not replacements:
        return None
    match, new = draw.choice(replacements)
    new = new.capitalize() if match.group()[0].isupper() else new
    return example.question[: match.start()] + new + example.question[match.end() :]


def make_unanswerable(
    examples: Sequence[SpanExample],
    *,
    count: int = 30_000,
    parser: str = "default-parser",
    seed: int = 1,
) -> tuple[dict[str, Any], dict[str, int]]:
    """Generate unanswerable questions.

    Args:
        examples: answerable questions.
        count: number of questions; fewer are returned if there are not enough examples.
        parser: a parse source, whose tags are used to find names and numbers.
        seed: random seed.

    Returns:
        The questions in SQuAD 2.0 format, and the number of questions from each rule.
    """
    draw = random.Random(seed)
    cache = ParseCache(load_source(parser), cache_folder())
    by_title: dict[str, list[str]] = defaultdict(list)
    for example in examples:
        # Questions about the same passage follow one another in a SQuAD file.
        if example.passage not in by_title[example.title][-1:]:
            by_title[example.title].append(example.passage)
    passages = list({example.passage: None for example in examples})
    parsed = dict(zip(passages, cache.parsed(passages), strict=True))
    words = {passage: Counter(normalise(passage).split()) for passage in passages}
    rarity: Counter[str] = Counter(word for counter in words.values() for word in counter)
    in_passage = {passage: list(_mentions(passage, parsed[passage])) for passage in passages}
    in_article = {
        title: [mention for passage in article_passages for mention in in_passage[passage]]
        for title, article_passages in by_title.items()
    }
    # No rule applies to every question, so twice as many as needed are sampled.
    sample = draw.sample(examples, min(len(examples), 2 * count))
    questions = cache.parsed([example.question for example in sample])
    titles = {example.passage: example.title for example in examples}
    made: list[SpanExample] = []
    counts: Counter[str] = Counter()
    for example, question in zip(sample, questions, strict=True):
        if len(made) == count:
            break
        rule = draw.choice(RULES)
        passage: str | None = example.passage
        text: str | None = example.question
        if rule == "elsewhere":
            passage = _elsewhere(example, by_title[example.title], words, rarity)
        elif rule == "neighbour":
            passage = neighbour(example, by_title[example.title], draw)
        elif rule == "other_article":
            passage = other_article(example, by_title, draw)
        elif rule == "swapped":
            mentions = list(_mentions(example.question, question))
            text = swap_mention(example, mentions, in_article[example.title], draw)
        else:
            text = reverse_meaning(example, draw)
        if text is None or passage is None:
            continue
        counts[rule] += 1
        title = titles[passage]
        made.append(SpanExample(f"{example.id}-{rule}", passage, text, title, is_impossible=True))
    return squad_data(made), dict(counts)
