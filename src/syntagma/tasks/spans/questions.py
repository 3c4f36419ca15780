"""Tell from its words what kind of answer a question needs.

Most questions can be answered by one span of a passage.  Some cannot: a reader finds a span for
them all the same, often with a high score, and the span is a fragment of an answer.  The kinds are
recognised by the words of the question alone, so that readers without a parser do it too.  The time
is linear in the length of the question, whatever it says:

``yes_no``: starts with an auxiliary ("Does the ferry run on Sundays?"), or "…, right?", and offers
no alternatives ("red or blue?").
``count``: asks "how many" or for "the number of"; one span answers it if it has a number.
``comparison``: asks for a difference, for what two things have in common, or compares by a
comparative and "or" or "than".
``list``: asks for several things ("Which ports are …?", "List all …", "What do we need?").
``span``: all others.
"""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["span", "yes_no", "count", "comparison", "list"]

_AUXILIARY = (
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|"
    r"must)(?:n['’]?t)?"
)
_WH = r"(?:who|whom|whose|what|which|when|where|why|how)"
_GREETING = r"(?:(?:hi|hello|hey|please|sorry|excuse me|so|and|but|well|ok|okay|now)\b[,!.]?\s+)*"
_WRAPPED = re.compile(
    rf"^{_GREETING}(?:"
    r"(?:can|could|would|will) (?:you|anyone|somebody|someone)(?: please| kindly)? "
    r"(?:tell|show|explain|say|find|give|let)(?: (?:to )?(?:me|us))?(?: know)?(?: out)?"
    r"|do(?:es)? (?:you|anyone|anybody|someone) (?:happen to )?know"
    r"|i(?:['’]d| would) (?:like|love) to (?:know|find out)"
    r"|i (?:want|need|wish) to (?:know|find out)"
    r"|i(?:['’]m| am)? wonder(?:ing)?|(?:tell|show) (?:me|us)|any idea"
    r"|(?:can|could|would|will) you(?: please| kindly)?(?= (?:list|name|enumerate|give)\b)"
    r")\b[,:]?\s*",
    re.IGNORECASE,
)
_POLITE_END = re.compile(r"(?:please|thanks|thank you)\Z", re.IGNORECASE)
_LONGEST_END = len("thank you")
_YES_NO = re.compile(rf"^{_GREETING}{_AUXILIARY}\b(?!.*,\s*{_WH}\b)", re.IGNORECASE)
_WHETHER = re.compile(rf"^(?:if|whether)\b(?!.*\b{_WH}\b)", re.IGNORECASE)
_TAG = re.compile(
    rf",\s*(?:right|correct|true|yes|no|or not|{_AUXILIARY} (?:it|he|she|they|we|you|there))$",
    re.IGNORECASE,
)
_ALTERNATIVES = re.compile(r"\bor\b(?!\s+not\b)", re.IGNORECASE)
_COUNT = re.compile(
    r"\bhow many\b|\b(?:what|which) (?:is|was|are|were)? ?the (?:\w+ )?number of\b", re.IGNORECASE
)
_COMPARATIVE = (
    r"(?:more|less|fewer|better|worse|further|farther|older|younger|earlier|later|bigger|larger|"
    r"smaller|higher|lower|longer|shorter|taller|faster|slower|cheaper|dearer|heavier|lighter|"
    r"stronger|weaker|richer|poorer|newer|closer|nearer|deeper|wider|busier|colder|warmer|hotter)"
)
# Where a word may be anywhere, the first one is as good as any: the atomic groups try no other.
_COMPARISON = re.compile(
    r"^compare\b|^how (?:do|does|did)\b.*\bcompare\b|\bdifferences? between\b"
    r"|^(?>.*?\bhow ).* differ\b|\b(?:have|has|had) in common\b|\bsimilarit(?:y|ies) between\b"
    rf"|^(?>.*?\bhow (?:much|many) {_COMPARATIVE}\b).*\bthan\b"
    rf"|^(?>.*?\b(?:who|which|what)\b)(?>.*?\b{_COMPARATIVE}\b).*\bor\b",
    re.IGNORECASE,
)
_PLURAL = r"(?!\w*(?:ss|us|is|ious)\b)\w{2,}s|people|children|men|women"
_COLLECTED = (
    r"(?:need(?:ed)?|bring|brought|pack(?:ed)?|buy|bought|contain(?:ed)?|included?|carry|carried|"
    r"required?|prepared?|wear|worn|take (?:along|with)|consist of)"
)
"""Verbs whose object is often a list."""
_LIST = re.compile(
    r"^(?:name|give)\s+(?:all|the|every|both|two|three|four|five|some)\b"
    r"|^(?:list|enumerate)\b|^(?:(?:give|show|make)(?: me| us)? )?(?:a|the) list of\b"
    # Not "What do we need the rope for?", which asks for a purpose.
    rf"|^what(?!.*\bfor$)(?: else)? (?:{_AUXILIARY} (?:.* )?|to ){_COLLECTED}\b"
    rf"|^(?:what|which)\s+(?:(?!of\b)\w+\s+){{0,2}}(?:{_PLURAL})\s+(?:{_AUXILIARY})\b"
    r"|^(?:what|which|who) (?:are|were) (?:all\b|both\b|the (?:two|three|four|five|six|\w*s\b))"
    r"|^(?:what|which|who) all\b|^which of the .* (?:are|were|have|do)\b",
    re.IGNORECASE,
)
_EVERY = re.compile(
    r"^(?:list|enumerate)\b|^(?:(?:give|show|make)(?: me| us)? )?(?:a|the) list of\b"
    r"|^(?:name|give|(?:what|which|who)(?: are| were)?) all\b"
    r"|^(?:what|which) (?:things|items|steps|points|reasons|people|ones)\b"
    r"|^which of the .* (?:are|were)\b",
    re.IGNORECASE,
)

_ONE_THING = re.compile(
    rf"^(?:(?:at|by|for|from|in|of|on|to|with) )?(?:what|which)\s+"
    rf"(?!(?:{_AUXILIARY}|to|else|all|{_PLURAL})\b)\w"
    rf"|^{_AUXILIARY}\b|^why\b|^how\b(?! (?:can|could|do|may|must|should)\b)",
    re.IGNORECASE,
)
_PLURAL_VERB = re.compile(r"^(?:who|what|which)\s+(?:are|were)\b", re.IGNORECASE)

REASONS: dict[Kind, str] = {
    "yes_no": "a yes/no question, which no span answers; the sentence bears on it",
    "count": "the text does not seem to state the number; the sentence bears on it",
    "comparison": "a comparison, which one span rarely answers; the sentence bears on it",
    "list": "asks for several things, and the text may name more of them",
}
"""Why a reader is unsure of a question of each kind."""
DOUBTFUL_REASONS: dict[Kind, str] = {
    "yes_no": "a yes/no question, which no span answers; the text may not answer it",
    "count": "the text does not seem to state the number",
    "comparison": "a comparison, which one span rarely answers; the text may not answer it",
    "list": "asks for several things, and the text may name none of them",
}
"""The same where it is likelier that the text has no answer than that the span is right."""

_NUMBER_WORDS = (
    "zero|none|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|"
    "fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|"
    "ninety|hundreds?|thousands?|millions?|billions?|dozens?|half|third|quarter|couple|single|once|"
    "twice|both"
)
_NUMBER = re.compile(rf"\d|\b(?:{_NUMBER_WORDS})\b", re.IGNORECASE)
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|old|long|tall|far|high|deep|wide|big|large|fast|heavy|often)\b"
    r"|\b(?:what|which) (?:year|date|day|month|century|decade|percentage|percent|time|age|number)\b"
    r"|\bwhen\b|\bnumber of\b",
    re.IGNORECASE,
)
_DAYS = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|"
    r"august|september|october|november|december|spring|summer|autumn|fall|winter|morning|noon|"
    r"afternoon|evening|night|midnight|dawn|century|today|yesterday|tomorrow|daily|weekly|monthly)",
    re.IGNORECASE,
)


def core_question(question: str) -> str:
    """Return a question without greeting, polite wrapping and end, with single spaces.

    >>> core_question("Hello, could you tell me who built it, please?")
    'who built it'
    """
    core = " ".join(question.split()).rstrip(" ?.!")
    if polite := _POLITE_END.search(core, max(0, len(core) - _LONGEST_END)):
        core = core[: polite.start()]
    core = re.sub(rf"^{_GREETING}", "", core.rstrip(" ,"), flags=re.IGNORECASE)
    found = _WRAPPED.match(core)
    # "Do you know?" is no wrapping: something must follow.
    return core[found.end() :] if found and found.end() < len(core) else core


def question_kind(question: str) -> Kind:
    """Return what kind of answer a question needs, see the module.

    Args:
        question: the question.
    """
    core = core_question(question)
    if _COMPARISON.search(core):
        return "comparison"
    starts_with_wh = re.match(rf"{_GREETING}{_WH}\b", core, re.IGNORECASE)
    closed = _YES_NO.match(core) or (core != " ".join(question.split()) and _WHETHER.match(core))
    if (closed and not _ALTERNATIVES.search(core)) or _TAG.search(core):
        return "span" if starts_with_wh else "yes_no"
    if _COUNT.search(core):
        return "count"
    return "list" if _LIST.search(core) else "span"


def asks_for_all(question: str) -> bool:
    """Return whether a question asks for all things of a kind, so that one of them is too little.

    Args:
        question: a question of the kind ``list``.
    """
    return _EVERY.search(core_question(question)) is not None


def may_have_several(question: str) -> bool:
    """Return whether several things may answer a question of the kind ``span``.

    Not if it asks for one thing of a kind ("Which duo …?"), for a reason, or for how something is.

    Args:
        question: the question.
    """
    return _ONE_THING.search(core_question(question)) is None


def expects_several(question: str) -> bool:
    """Return whether a question has a verb in the plural, so that two things are not one name.

    Args:
        question: a question of the kind ``span``.
    """
    return _PLURAL_VERB.search(core_question(question)) is not None


def has_number(text: str) -> bool:
    """Return whether a text contains a number, in digits or words."""
    return _NUMBER.search(text) is not None


def asks_number(question: str) -> bool:
    """Return whether a question asks for a number, a date or a time."""
    return _ASKS_NUMBER.search(question) is not None


def names_time(text: str) -> bool:
    """Return whether a text names a day, a month or another time without digits."""
    return _DAYS.search(text) is not None
