"""Edit scripts: rules that turn a form into its lemma, learned from pairs of both.

A script is a string.  ``=be`` says what the lemma is, whatever the form.  Any other says how the
letters change: the case (``lower``; ``keep`` that of the form; ``title`` and ``upper`` of letters
in lower case), and what is replaced near the start and near the end.  ``lower|0-0+|0-3+y`` turns
*Parties* into *party*: lower the case, skip 0 letters from the end, cut 3 and put *y* there.
``lower|0-2+|0-1+en`` turns *gemacht* into *machen*, ``lower|0-0+|2-1+i`` *sang* into *sing*.

Several scripts may turn one form into one lemma.  The one is learned that does so for most pairs of
the treebank: it is the one most likely to be right for words that the treebank lacks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import takewhile
from typing import Literal, NamedTuple, cast

from syntagma.text.alignment import ABSENT
from syntagma.text.morphology import UNKNOWN

Case = Literal["lower", "keep", "title", "upper"]
WHOLE = "="
"""First character of a script that is the lemma itself."""
MIN_PAIRS = 2
"""Pairs of form and lemma that a script must be right for to be learned."""
MIN_WORDS = 5
"""A script that is right for fewer pairs is learned if they are as many words of the treebank."""
LONGEST = 60
"""Longer forms (links, mostly) are their own lemmas; no scripts are sought for them."""


_SCRIPT = re.compile(r"(?:lower|keep|title|upper)(?:\|[0-9]{1,4}-[0-9]{1,4}\+[^|]*){2}", re.DOTALL)


class Edit(NamedTuple):
    """What happens at one end of a word.

    Args:
        skip: letters at the end that stay.
        cut: letters next to them that go.
        add: letters that come instead.
    """

    skip: int
    cut: int
    add: str

    def __str__(self) -> str:
        return f"{self.skip}-{self.cut}+{self.add}"


def lower(form: str) -> str:
    """Lower the case of a form; the dotted capital I becomes one character, not two."""
    return form.replace("İ", "i").lower()


def apply_script(script: str, form: str) -> str:
    """Return the lemma that a script makes of a form.

    Args:
        script: an edit script.
        form: a word; one with fewer letters than the script changes, or of which nothing would be
            left, is its own lemma.

    >>> apply_script("lower|0-0+|0-3+y", "Parties"), apply_script("=be", "'s")
    ('party', 'be')
    """
    if script.startswith(WHOLE):
        return script[1:]
    case, before, after = _read(script)
    base = form if case == "keep" else lower(form)
    start = before.skip + before.cut
    end = len(base) - after.skip - after.cut
    if start > end or (start == end and not (before.add or after.add or start)):
        return base
    edited = (
        base[: before.skip]
        + before.add
        + base[start:end]
        + after.add
        + base[len(base) - after.skip :]
    )
    if not edited:
        return base
    if case == "title":
        return edited[:1].upper() + edited[1:]
    return edited.upper() if case == "upper" else edited


def is_script(script: str) -> bool:
    """Whether a string is an edit script.

    >>> is_script("lower|0-0+|0-3+y"), is_script("=be"), is_script("lower|3")
    (True, True, False)
    """
    return script.startswith(WHOLE) or _SCRIPT.fullmatch(script) is not None


@lru_cache(maxsize=100_000)
def _read(script: str) -> tuple[Case, Edit, Edit]:
    case, before, after = script.split("|")
    return cast(Case, case), _edit(before), _edit(after)


def _edit(text: str) -> Edit:
    numbers, _, add = text.partition("+")
    skip, _, cut = numbers.partition("-")
    return Edit(int(skip), int(cut), add)


def scripts_of(form: str, lemma: str) -> list[str]:
    """Return the scripts that turn a form into its lemma, each once.

    Args:
        form: a word.
        lemma: its lemma.

    >>> scripts_of("dogs", "dog")
    ['lower|0-0+|0-1+', '=dog']
    """
    found = [
        f"{case}|{before}|{after}"
        for case in _cases(form, lemma)
        for before, after in _edits(
            form if case == "keep" else lower(form), lemma if case == "keep" else lower(lemma)
        )
        if "|" not in before.add + after.add
    ]
    found = [script for script in found if apply_script(script, form) == lemma]
    return [*dict.fromkeys(found), WHOLE + lemma]


def _cases(form: str, lemma: str) -> list[Case]:
    """What may happen to the case of a form; one thing where possible, so that scripts agree."""
    if lemma == lower(lemma):
        return ["lower"]
    found: list[Case] = ["keep"]
    if lemma == lemma[:1].upper() + lower(lemma[1:]):
        found.append("title")
    elif lemma == lemma.upper():
        found.append("upper")
    # A name written as its lemma is kept, whatever its case.
    return found if form[:1] != lemma[:1] or form[1:2] != lemma[1:2] else found[:1]


def _edits(form: str, lemma: str) -> list[tuple[Edit, Edit]]:
    """Return edits at both ends: around the common start, and around the longest common part."""
    if len(form) > LONGEST or len(lemma) > LONGEST:
        return [(Edit(0, 0, ""), Edit(0, 0, ""))] if form == lemma else []
    found = []
    start = _n_equal(form, lemma)
    if start:
        # Only letters after the common start can be kept at the end: *sang*, *sing*.
        end = _n_equal(form[start:][::-1], lemma[start:][::-1])
        for skip in dict.fromkeys((0, end)):
            cut, last = len(form) - start - skip, len(lemma) - skip
            found.append((Edit(0, 0, ""), Edit(skip, cut, lemma[start:last])))
    block = SequenceMatcher(None, form, lemma, autojunk=False).find_longest_match()
    if block.size:
        before = form[: block.a], lemma[: block.b]
        after = form[block.a + block.size :], lemma[block.b + block.size :]
        first = _n_equal(*before)
        last = _n_equal(after[0][::-1], after[1][::-1])
        found.append(
            (
                Edit(first, len(before[0]) - first, before[1][first:]),
                Edit(last, len(after[0]) - last, after[1][: len(after[1]) - last]),
            )
        )
    return found


def _n_equal(one: str, other: str) -> int:
    """Number of letters at the start in which two words agree."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def learn_scripts(words: Iterable[tuple[str, str]]) -> list[str]:
    """Learn edit scripts from the words of a treebank.

    Args:
        words: form and lemma of each word; those without a lemma (``_``) are ignored.

    Returns:
        The scripts, those that are right for most pairs of form and lemma first.
    """
    pairs = Counter((form, lemma) for form, lemma in words if lemma != UNKNOWN or form == UNKNOWN)
    right: Counter[str] = Counter()
    options = {pair: scripts_of(*pair) for pair in pairs}
    for scripts in options.values():
        right.update(scripts)
    n_pairs: Counter[str] = Counter()
    n_words: Counter[str] = Counter()
    for pair, scripts in options.items():
        best = min(scripts, key=lambda script: (-right[script], script))
        n_pairs[best] += 1
        n_words[best] += pairs[pair]
    kept = [
        script for script in n_pairs if n_pairs[script] >= MIN_PAIRS or n_words[script] >= MIN_WORDS
    ]
    return sorted(kept, key=lambda script: (-right[script], script))


class ScriptCodes(dict[tuple[str, str], int]):
    """Code of the script for each pair of form and lemma, filled on demand.

    Args:
        scripts: from :func:`learn_scripts`; of several that fit, the first is meant.
    """

    def __init__(self, scripts: Iterable[str]) -> None:
        super().__init__()
        self._codes: Mapping[str, int] = {script: code for code, script in enumerate(scripts)}

    def __missing__(self, pair: tuple[str, str]) -> int:
        form, lemma = pair
        code = ABSENT
        # A word without a lemma says nothing about any.
        if lemma != UNKNOWN or form == UNKNOWN:
            known = [self._codes[each] for each in scripts_of(form, lemma) if each in self._codes]
            code = min(known, default=ABSENT)
        self[pair] = code
        return code
