"""Forms of English verbs: which belong together, and the past tense and participle."""

from __future__ import annotations

from typing import NamedTuple

from syntagma.datasets.embedded_questions import IRREGULAR

PARTICIPLES = dict(
    pair.split(":")
    for pair in (
        "begin:begun break:broken choose:chosen draw:drawn drive:driven eat:eaten forget:forgotten "
        "forgive:forgiven give:given grow:grown know:known overthrow:overthrown rise:risen "
        "run:run see:seen shake:shaken sing:sung sink:sunk speak:spoken steal:stolen swear:sworn "
        "take:taken throw:thrown undertake:undertaken wear:worn withdraw:withdrawn write:written "
        "show:shown hide:hidden beat:beaten bite:bitten"
    ).split()
)
PASTS = IRREGULAR | dict(
    pair.split(":")
    for pair in (
        "beat:beat bite:bit bind:bound feed:fed forget:forgot forgive:forgave hide:hid hurt:hurt "
        "lend:lent overthrow:overthrew seek:sought shake:shook shed:shed show:showed strike:struck "
        "swear:swore undertake:undertook"
    ).split()
)
SAME = frozenset(PASTS) - frozenset(PARTICIPLES) - frozenset("become come fly go swim".split())
"""Irregular verbs whose participle is their past tense."""
BASES: dict[str, str] = {
    **{form: base for base, form in PASTS.items()},
    **{form: base for base, form in PARTICIPLES.items()},
}
SYMMETRIC = frozenset(
    "accompany battle border combine contact contradict converge correlate cross date debate "
    "divorce encounter engage equal exchange face fight interact intersect involve join kiss "
    "marry match meet merge neighbour neighbor oppose overlap play remarry resemble rival share "
    "tie touch wed compete collaborate cooperate contrast differ negotiate".split()
)
"""If one meets the other, the other meets the one: an exchange would give a second answer."""
LIGHT = frozenset(
    "be become belong call constitute contain consist comprise do get have include last make mean "
    "need name represent remain say use want comprise compose".split()
)
"""Verbs that say little about who did what to whom."""


class Forms(NamedTuple):
    """The past tense and the participle of a verb."""

    past: str
    participle: str


def bases(form: str) -> set[str]:
    """Return what may be the base of a form.

    >>> sorted(bases("stopped"))
    ['stop', 'stopp', 'stoppe', 'stopped']
    >>> "defy" in bases("defied"), "write" in bases("wrote")
    (True, True)
    """
    found = {form}
    if form in BASES:
        found.add(BASES[form])
    for ending in ("ed", "s", "es", "ing"):
        stem = form.removesuffix(ending)
        if stem == form or len(stem) < 2:
            continue
        found |= {stem, stem + "e"} if ending in ("ed", "ing") else {stem}
        if stem.endswith("i"):
            found.add(stem[:-1] + "y")
        if ending in ("ed", "ing") and stem[-1] == stem[-2]:
            found.add(stem[:-1])
    return found


def forms_of(*seen: str) -> Forms | None:
    """Return past tense and participle of a verb from forms that occur; ``None`` if unknown.

    >>> forms_of("defeat", "defeated")
    Forms(past='defeated', participle='defeated')
    >>> forms_of("wrote")
    Forms(past='wrote', participle='written')
    >>> forms_of("defeats") is None
    True
    """
    for form in seen:
        base = BASES.get(form, form)
        if base in PASTS and (base in PARTICIPLES or base in SAME):
            return Forms(PASTS[base], PARTICIPLES.get(base, PASTS[base]))
    for form in seen:
        if form.endswith("ed") and form not in PASTS:
            return Forms(form, form)
    return None
