"""Split a run of characters without whitespace into words.

The conventions are those of the English treebanks of Universal Dependencies (EWT and GUM): clitics,
most hyphens, slashes and punctuation marks are words of their own; abbreviations, numbers,
addresses, emoticons and words with prefixes such as *non-* stay whole.  :func:`cut_run` depends
only on the run itself, so that its results can be cached.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from syntagma.text.limits import MAX_CHARACTERS, long_words
from syntagma.text.segmentation.lexicon import (
    ABBREVIATIONS,
    CAPITAL_ABBREVIATIONS,
    FILE_ENDINGS,
    FUSED,
    HYPHEN_PREFIXES,
    HYPHEN_SUFFIXES,
    MONEY_UNITS,
    NEW_DOMAINS,
    NEWSGROUPS,
    SHORT_WORDS,
    TOP_DOMAINS,
    UNITS,
)
from syntagma.text.segmentation.patterns import ADDRESS, CLITIC, IDEOGRAPH, STUTTER, TOKEN


def is_abbreviation(word: str) -> bool:
    """Whether a period after ``word`` belongs to it: *Dr*, *Inc*, *No*, a single letter.

    >>> is_abbreviation("Dr"), is_abbreviation("no"), is_abbreviation("house")
    (True, False, False)
    """
    if len(word) == 1:
        return word.isalpha() and word.isascii()
    lower = word.lower()
    return lower in ABBREVIATIONS or (
        lower in CAPITAL_ABBREVIATIONS and (word[0].isupper() or lower in ("fig", "eq"))
    )


def cut_run(run: str) -> list[int]:
    """Return the end offset of each word in a run.

    Args:
        run: at least one character, no whitespace.

    Returns:
        The end offsets, ascending; the last is ``len(run)``.

    >>> cut_run("(don't)")
    [1, 3, 6, 7]
    """
    if run.isalpha() and run.isascii():
        return [*_fused(run), len(run)]
    if len(run) > MAX_CHARACTERS and (long := long_words(run)):
        return _cut_around(run, long)
    word = run[:-1]
    if run[-1] in ".,;?!" and word.isalpha() and word.isascii() and word.lower() not in FUSED:
        # Fast path: a word and a punctuation mark, the most common run that is not all letters.
        split = run[-1] != "." or not is_abbreviation(word)
        return [len(word), len(run)] if split else [len(run)]
    ends: list[int] = []
    position = 0
    # Addresses are found first, since the token pattern would take them apart; the test for hints
    # saves the search in most runs.
    if any(hint in run for hint in "@#./:"):
        for start, end in _addresses(run):
            _scan(run, position, start, ends)
            ends.append(end)
            position = end
    _scan(run, position, len(run), ends)
    return ends


def whole_parts(run: str) -> list[tuple[int, int]]:
    """Return start and end of the links, addresses and long words in a run, which stay whole.

    >>> whole_parts("(www.example.org)")
    [(1, 16)]
    """
    long = long_words(run) if len(run) > MAX_CHARACTERS else []
    if long or not any(hint in run for hint in "@#./:"):
        return long
    return list(_addresses(run))


def _cut_around(run: str, long: list[tuple[int, int]]) -> list[int]:
    """Do the work of :func:`cut_run` for a run with long words, which stay whole."""
    ends: list[int] = []
    position = 0
    for start, end in [*long, (len(run), len(run))]:
        if start > position:
            ends += [position + own for own in cut_run(run[position:start])]
        if end > start:
            ends.append(end)
        position = end
    return ends


def _fused(word: str) -> tuple[int, ...]:
    """Return where the second and third word of a fused form start: *can|not*, *du|n|no*.

    In capitals *IM* and *IVE* are abbreviations, not *I'm* and *I've*.
    """
    return () if word in ("IM", "IVE") else FUSED.get(word.lower(), ())


def _addresses(run: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of links, mail addresses, handles, hash tags, host names and file names."""
    for match in ADDRESS.finditer(run):
        start, end = match.span()
        if match["link"]:
            end = _without_closing_marks(run, start, end)
        elif match["name"]:
            if match["path"]:
                end = _without_closing_marks(run, start, end)
            path = run[match.start("path") : end] if match["path"] else ""
            if not _is_host_or_file(match[0].removesuffix(match["path"] or ""), path):
                continue
        if end > start:
            yield start, end


def _without_closing_marks(run: str, start: int, end: int) -> int:
    """Return the end of a link without trailing punctuation.

    A closing bracket belongs to the link only if the link contains the matching opening one.
    """
    n_unclosed = run.count("(", start, end) - run.count(")", start, end)
    while end > start and run[end - 1] in ".,;:!?'’*)]}":
        if run[end - 1] == ")":
            if n_unclosed >= 0:
                break
            n_unclosed += 1
        end -= 1
    return end


def _is_host_or_file(name: str, path: str) -> bool:
    """Whether a dotted name is a host or file name rather than words with a missing space.

    Args:
        name: at least two labels with dots between them.
        path: what follows the name from a slash on; empty if nothing does.
    """
    labels = name.split(".")
    last = labels[-1].lower()
    if last in FILE_ENDINGS or last in TOP_DOMAINS:
        # After a single letter a country code is doubtful ("U.S.de"); these endings are not.
        return len(labels[-2]) > 1 or last in ("com", "org", "net", "doc", "pdf", "txt")
    if labels[0].isdigit():
        return False
    if labels[-1].islower() and len(labels[-1]) > 1 and len(labels[-2]) > 1 - bool(path):
        if labels[-1] in NEW_DOMAINS and (path or labels[-1] not in SHORT_WORDS):
            return True
        # "harbour.anything/page-2": no clause goes on like that; "ask him.he/she knows" does.
        if name.isascii() and name.islower() and not path[1:].isalpha() and len(path) > 2:
            return True
    if len(labels) > 2 and all(len(label) > 1 and label.islower() for label in labels):
        return True
    return labels[0] in NEWSGROUPS


def _scan(run: str, position: int, stop: int, ends: list[int]) -> None:
    """Append the end of each word in ``run[position:stop]``, which contains no address."""
    match_at = TOKEN.match
    while position < stop:
        match = match_at(run, position, stop)
        assert match is not None, "the last alternative matches any character"
        end = match.end()
        kind = match.lastgroup
        if kind == "word":
            end = _cut_word(run, position, end, stop, ends)
        elif kind == "number":
            unit = match["unit"]
            if unit and _is_unit(unit, match, run):
                ends.append(match.start("unit"))
        ends.append(end)
        position = end


def _is_unit(unit: str, match: re.Match[str], run: str) -> bool:
    """Whether the letters after a number are a unit and so a separate word."""
    lower = unit.lower()
    before = run[max(0, match.start() - 1) : match.start()]
    if before in ("$", "£", "€", "¥"):
        return lower in UNITS or lower in MONEY_UNITS
    if len(unit) > 3 and unit.isalpha() and unit.islower():
        return True
    # A capital M is part of a name ("5M"); a period in second place means "a.m." or "p.m.".
    return (lower in UNITS and unit != "M") or lower[1:2] == "."


def _cut_word(run: str, start: int, end: int, stop: int, ends: list[int]) -> int:
    """Append the ends of the parts of a word with hyphens and clitics, except its last end.

    Return the last end, which the caller appends; it includes the period of an abbreviation.
    """
    word = run[start:end]
    if run[end : end + 1] == "-" and end + 1 in (stop, stop - 1) and _is_broken_off(word):
        return end + 1
    if "-" in word:
        part_start = start
        for hyphen in _separating_hyphens(word):
            _cut_clitics(run, part_start, start + hyphen, ends)
            ends.append(start + hyphen)
            ends.append(start + hyphen + 1)
            part_start = start + hyphen + 1
        start = part_start
    _cut_clitics(run, start, end, ends)
    if end < stop and run[end] == "." and run[end + 1 : end + 2] != ".":
        last = run[(ends[-1] if ends and ends[-1] > start else start) : end]
        if is_abbreviation(last) and not run[end + 1 : end + 2].islower():
            return end + 1
    return end


def _is_broken_off(word: str) -> bool:
    """Whether a hyphen after it marks a word broken off by the speaker: *th-*."""
    return (
        len(word) <= 2
        and word.isalpha()
        and word[1:].islower() | (len(word) == 1)
        and (word.lower() not in SHORT_WORDS)
    )


def _separating_hyphens(word: str) -> Iterator[int]:
    """Yield the offsets of hyphens that are words of their own."""
    if STUTTER.match(word):
        return
    parts = word.split("-")
    offset = 0
    for index, part in enumerate(parts[:-1]):
        offset += len(part)
        following = parts[index + 1].lower()
        if part.lower() not in HYPHEN_PREFIXES and following not in HYPHEN_SUFFIXES:
            yield offset
        offset += 1


def _cut_clitics(run: str, start: int, end: int, ends: list[int]) -> None:
    """Append the offsets at which clitics and fused words start in ``run[start:end]``."""
    word = run[start:end]
    if word.isalpha() and word.isascii():
        ends.extend(start + cut for cut in _fused(word))
        return
    cuts = set() if word.isascii() else set(_cut_ideographs(word, start))
    length = len(word)
    if word[-2:] in ("ta", "ma") and word[-3:-2] in ("'", "’"):
        # "I'ma", "wasn'ta": split off the final "a".
        length -= 1
        cuts.add(start + length)
    # Clitics can stack up ("should|n't|'ve"): strip them from the end one by one.
    while (match := CLITIC.search(word, max(0, length - 4), length)) and match.start() > 0:
        length = match.start()
        cuts.add(start + length)
    ends.extend(sorted(cuts))


def _cut_ideographs(word: str, start: int) -> Iterator[int]:
    """Yield cuts that make each ideograph a word, and each run of kana a word."""
    for match in IDEOGRAPH.finditer(word):
        for cut in match.span():
            if 0 < cut < len(word):
                yield start + cut
