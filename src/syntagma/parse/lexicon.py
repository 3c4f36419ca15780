"""A lexicon of frequent forms: lemmas that are looked up rather than predicted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

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
    found: dict[Key, str] = {}
    for key, counts in lemmas.items():
        lemma, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
        if count >= MIN_COUNT and count >= MIN_SHARE * counts.total():
            found[key] = scripts_of(key[0], lemma)[0]
    return _lines(found)


def merge_lexicons(one: Iterable[str], other: Iterable[str]) -> list[str]:
    """Return the lexicon of two treebanks; forms with different lemmas in them are left out.

    Args:
        one: lines from :func:`learn_lexicon`.
        other: lines of the other treebank.
    """
    first, second = dict(_scripts(one)), dict(_scripts(other))
    differ = {
        key
        for key in first.keys() & second.keys()
        if apply_script(first[key], key[0]) != apply_script(second[key], key[0])
    }
    return _lines({key: script for key, script in (first | second).items() if key not in differ})


def _lines(scripts: Mapping[Key, str]) -> list[str]:
    """Return the lines of a lexicon, from the edit script of each form and tag."""
    lines: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for (form, upos), script in scripts.items():
        lines[upos, script].append(form)
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
    return {key: apply_script(script, key[0]) for key, script in _scripts(lines)}


def _scripts(lines: Iterable[str]) -> Iterator[tuple[Key, str]]:
    for line in lines:
        upos, script, *forms = line.split(SEPARATOR)
        for form in forms:
            yield (form, upos), script
