"""Put questions into the word order that they have inside another sentence.

*When did the ferry sink?* becomes *when the ferry sank*, as in *Do you know when the ferry sank?*.
This is done by patterns, without a parser: questions that fit none of them, or several ways, have
no embedded form here.
"""

from __future__ import annotations

import re

DO = frozenset({"do", "does", "did"})
BE = frozenset({"is", "are", "was", "were"})
OTHER_AUXILIARIES = frozenset(
    "has have had can could will would shall should may might must".split()
)
AUXILIARIES = DO | BE | OTHER_AUXILIARIES
QUESTION_WORDS = frozenset("who whom whose what which when where why how".split())
PREPOSITIONS = frozenset(
    "about after against along among around as at before behind between by during for from in "
    "into like near of off on onto out over per since through to toward towards under until up "
    "upon via with within without than".split()
)
DETERMINERS = frozenset(
    "a an the this that these those his her its their our my your each every another some any no "
    "most many several two three four both all".split()
)
PRONOUNS = frozenset("he she it they we you i people there".split())
CLAUSE_WORDS = frozenset("that which who whom whose when where while if because and or".split())
ADVERBS = frozenset(
    "first last soon also originally still now once ever later never not only".split()
)

# Base form and past tense, where it is not made with -ed.
IRREGULAR = dict(
    pair.split(":")
    for pair in (
        "arise:arose become:became "
        "begin:began break:broke bring:brought build:built buy:bought choose:chose "
        "come:came cost:cost cut:cut draw:drew drive:drove eat:ate fall:fell fight:fought "
        "find:found fly:flew get:got give:gave go:went grow:grew have:had hear:heard hit:hit "
        "hold:held keep:kept know:knew lead:led leave:left lose:lost make:made meet:met pay:paid "
        "put:put read:read rise:rose run:ran say:said see:saw sell:sold send:sent set:set "
        "shoot:shot sing:sang sink:sank sit:sat speak:spoke spend:spent split:split spread:spread "
        "stand:stood steal:stole swim:swam take:took teach:taught tell:told think:thought "
        "throw:threw understand:understood wear:wore win:won withdraw:withdrew write:wrote"
    ).split()
)
REGULAR = frozenset(
    "accept achieve add adopt agree allow announce appear apply appoint approve argue arrive ask "
    "attack attempt attend believe belong call capture carry cause change claim close complete "
    "compose conclude conquer consider consist contain continue contribute control convert create "
    "cross declare defeat define demand deny describe design destroy develop die disappear "
    "discover earn elect employ enact encourage enjoy enter establish evolve exist expand expect "
    "explain express finish flee focus follow force form found gain graduate happen help hire "
    "identify include increase influence introduce invade invent involve issue join kill launch "
    "live locate maintain marry mean measure merge migrate move need obtain occur offer open "
    "operate oppose order originate participate perform place play prefer present produce propose "
    "protect prove provide publish purchase reach receive recognize record reduce refer refuse "
    "reject release rely remain replace report represent require resign result retire return "
    "reveal rule seek serve settle share show sign start state stay stop study succeed suffer "
    "suggest support surrender survive translate travel try turn use view visit vote want warn "
    "work end".split()
) - {"flee", "mean", "seek", "show"}  # fmt: skip
BASE_FORMS = REGULAR | frozenset(IRREGULAR)
PARTICIPLES = frozenset(
    "been begun born bought broken brought built caught chosen cut done drawn driven eaten fallen "
    "felt found fought given gone grown heard held hidden hit hurt kept known laid led left lost "
    "made meant met paid put read run said seen sent set shot shown shut sold sought spent split "
    "spoken spread struck sung sunk sworn taken taught thought thrown told understood won worn "
    "written".split()
)
NAMING = frozenset("called named known considered renamed nicknamed titled".split())
"""Participles of verbs whose complement is a name, which *what* may ask for."""
PAST_FORMS = frozenset(IRREGULAR.values()) | frozenset("has had went fled meant sought".split())


NOT_BEFORE_VERBS = (
    DETERMINERS | PREPOSITIONS | AUXILIARIES | frozenset("and or not be being been".split())
)


def past(verb: str) -> str:
    """Return the past tense of a base form.

    >>> past("carry"), past("sink"), past("stop")
    ('carried', 'sank', 'stopped')
    """
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if verb.endswith("e"):
        return verb + "d"
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ied"
    return verb + (verb[-1] if verb in ("stop", "refer") else "") + "ed"


def third_person(verb: str) -> str:
    """Return the third person singular, present tense, of a base form.

    >>> third_person("carry"), third_person("reach"), third_person("have")
    ('carries', 'reaches', 'has')
    """
    if verb == "have":
        return "has"
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + ("es" if re.search(r"(s|x|z|ch|sh|o)$", verb) else "s")


def without_mark(question: str) -> str:
    """Return a question in single spaces and without its final mark; *U.S.* keeps its last stop."""
    return re.sub(r"(?:(?<!\.[A-Z])\.|[\s?!])+$", "", " ".join(question.split()))


def with_small_initial(question: str) -> str:
    """Return a question with a small first letter, unless its first word may be a name."""
    first = re.match(r"[A-Za-z]+", question)
    known = (
        QUESTION_WORDS | PREPOSITIONS | DETERMINERS | AUXILIARIES | PRONOUNS | CLAUSE_WORDS
    ) - {"i"}
    if first and first.group().lower() in known and not first.group().isupper():
        return question[0].lower() + question[1:]
    return question


def is_participle(word: str) -> bool:
    """Whether a word looks like a past participle; capitalised words are taken for names."""
    return word in PARTICIPLES or (word.islower() and len(word) > 4 and word.endswith("ed"))


def _only(words: list[str], wanted: list[int]) -> int | None:
    """Return the only position that can be the main verb's, or none if there are several."""
    free = [
        index
        for index in wanted
        if words[index - 1].lower() not in NOT_BEFORE_VERBS
        and not words[index - 1].endswith(("'s", "’s", "s'", ","))
    ]
    return free[0] if len(free) == 1 else None


def _with_do(auxiliary: str, rest: list[str]) -> list[str] | None:
    verb = _only(rest, [index for index in range(1, len(rest)) if rest[index] in BASE_FORMS])
    if verb is None or verb > 8:
        return None
    inflected = rest[verb]
    if auxiliary != "do":
        inflected = past(inflected) if auxiliary == "did" else third_person(inflected)
    return [*rest[:verb], inflected, *rest[verb + 1 :]]


def _with_auxiliary(auxiliary: str, rest: list[str], bare: bool, what: bool) -> list[str] | None:
    """Put an auxiliary behind the subject, in front of the participle.

    Args:
        auxiliary: a form of *be*, *have*, or a modal verb.
        rest: the words after it.
        bare: whether the question word has no noun (*what*, not *what city*).
        what: whether it is *what* or *who*, which a noun phrase with a participle may answer.
    """
    first = rest[0]
    if not (first.lower() in DETERMINERS | PRONOUNS or first[0].isupper()):
        return None
    if auxiliary in BE:
        verbs = [index for index in range(1, len(rest)) if is_participle(rest[index])]
        if not verbs:
            return _with_be(auxiliary, rest) if bare else None
        # *What was the ship called in Rome?*, not *what was the name of the ship built in Rome?*
        if bare and what and not NAMING & {rest[index] for index in verbs}:
            return None
    elif auxiliary in ("has", "have", "had"):
        verbs = [index for index in range(1, len(rest)) if is_participle(rest[index])]
    else:
        verbs = [i for i in range(1, len(rest)) if rest[i] in BASE_FORMS or rest[i] == "be"]
    verb = _only(rest, verbs)
    if verb is None or verb > 8 or CLAUSE_WORDS & set(rest[:verb]):
        return None
    while verb > 1 and (rest[verb - 1] in ADVERBS or rest[verb - 1].endswith("ly")):
        verb -= 1
    return [*rest[:verb], auxiliary, *rest[verb:]]


def _with_be(auxiliary: str, rest: list[str]) -> list[str] | None:
    """Put *be* at the end, behind a simple noun phrase."""
    words = [word.lower() for word in rest]
    simple = (
        len(rest) <= 6
        and not CLAUSE_WORDS & set(words)
        and not {"to", "able", "there"} & set(words)
        and words[-1] not in PREPOSITIONS
        and not any(word.endswith((",", "ing")) for word in words)
    )
    return [*rest, auxiliary] if simple else None


def embedded(question: str) -> str | None:
    """Return a question as it would be inside another sentence, or none if no pattern fits.

    >>> embedded("When did the ferry first cross the bay?")
    'when the ferry first crossed the bay'
    >>> embedded("What is the name of the ferry?")
    'what the name of the ferry is'
    >>> embedded("Who built the ferry?")
    'who built the ferry'
    """
    words = with_small_initial(without_mark(question)).split()
    start = 1 if words and words[0] in PREPOSITIONS else 0
    if len(words) < start + 3 or words[start] not in QUESTION_WORDS:
        return None
    bare = words[start] not in ("which", "whose", "how") or words[start + 1] in AUXILIARIES
    # Where the auxiliary and the main verb may be.
    places = [index for index in range(start + 1, len(words)) if words[index] in AUXILIARIES]
    verbs = [
        index
        for index in range(start + 1, len(words))
        if is_participle(words[index]) or words[index] in PAST_FORMS
    ]
    if words[start] in ("when", "where", "why", "whom") and words[start + 1] not in AUXILIARIES:
        return None
    asks_with_do = bool(DO & set(words))
    if not start and (not places or (verbs and verbs[0] < places[0] and not asks_with_do)):
        # There is no auxiliary before the main verb: the question is about its subject.
        asks_subject = words[0] in ("who", "what", "which", "whose") or words[1] in ("many", "much")
        return " ".join(words) if asks_subject else None
    if not places or places[0] > start + 6:
        return None
    place = places[0]
    auxiliary, rest = words[place], words[place + 1 :]
    head = words[:place]
    bare = bare and len(head) == start + 1
    if not rest or DO & set(rest) or CLAUSE_WORDS & set(head[start + 1 :]):
        return None
    if auxiliary in DO:
        tail = _with_do(auxiliary, rest)
    elif not start and auxiliary in BE and (is_participle(rest[0]) or rest[0].endswith("ly")):
        # *What was built on the hill?*
        tail = [auxiliary, *rest]
    else:
        tail = _with_auxiliary(auxiliary, rest, bare, words[start] in ("what", "who", "which"))
    return " ".join([*head, *tail]) if tail else None
