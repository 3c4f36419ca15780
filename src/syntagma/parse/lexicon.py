"""A lexicon of frequent forms: lemmas that are looked up rather than predicted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from syntagma.parse.edit_scripts import apply_script, is_script, lower, scripts_of
from syntagma.text.morphology import UNKNOWN

MIN_COUNT = 2
"""Times that a form must occur with a tag to be listed."""
MIN_SHARE = 0.95
"""Share of these times in which it must have the same lemma."""
SEPARATOR = "\t"

Key = tuple[str, str]
"""A form, in lower case unless it is a name, and its universal tag."""


def key_of(form: str, upos: str) -> Key:
    """Return what a word is looked up by: only the case of names counts.

    >>> key_of("The", "DET"), key_of("Rose", "PROPN")
    (('the', 'DET'), ('Rose', 'PROPN'))
    """
    return (form if upos == "PROPN" else lower(form)), upos


def learn_lexicon(words: Iterable[tuple[str, str, str]]) -> list[str]:
    """Collect the forms that have one lemma per tag.

    Args:
        words: form, lemma and universal tag of each word; those without a lemma are ignored.

    Returns:
        Lines: tag, edit script, and the forms that it holds for, separated by tabs, sorted.
    """
    lemmas: defaultdict[Key, Counter[str]] = defaultdict(Counter)
    for form, lemma, upos in words:
        if lemma != UNKNOWN and SEPARATOR not in form:
            lemmas[key_of(form, upos)][lemma] += 1
    lines: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for (form, upos), counts in lemmas.items():
        lemma, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
        if count >= MIN_COUNT and count >= MIN_SHARE * counts.total():
            lines[upos, scripts_of(form, lemma)[0]].append(form)
    return [SEPARATOR.join((*key, *sorted(lines[key]))) for key in sorted(lines)]


def is_line(line: str) -> bool:
    """Whether a string is a line of a lexicon."""
    upos, _, rest = line.partition(SEPARATOR)
    script, separator, _ = rest.partition(SEPARATOR)
    return bool(upos and separator) and is_script(script)


def read_lexicon(lines: Iterable[str]) -> dict[Key, str]:
    """Return the lemma of each form and tag of a lexicon.

    Args:
        lines: from :func:`learn_lexicon`.
    """
    return dict(_entries(lines))


def _entries(lines: Iterable[str]) -> Iterator[tuple[Key, str]]:
    for line in lines:
        upos, script, *forms = line.split(SEPARATOR)
        for form in forms:
            yield (form, upos), apply_script(script, form)
