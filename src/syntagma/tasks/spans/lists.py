"""Find the items of a list that a span belongs to: in lines with marks, or in a sentence."""

from __future__ import annotations

import re

from syntagma.tasks.spans.tidy import BULLET, tidy_interval

Interval = tuple[int, int]

MAX_ITEMS = 40
LONGEST_ITEM = 6
"""Words of the longest item of a list inside a sentence."""
_SEPARATOR = re.compile(r"\s*(?:,\s*(?:and|or|&)\s+|,\s+|;\s+|\s(?:and|or|&)\s+)")
_FINAL = re.compile(r"\b(?:and|or)\b|&")
_NEW_PHRASE = frozenset(
    """
    about after and are as at because before but by during for from had has have in into is of on or
    over since than that the through to under until was were when where which while who will with
    """.split()
)
_STOP = re.compile(r"[.!?:;()\n]")


def list_items(passage: str, start: int, end: int) -> list[Interval]:
    """Return the items of the list that a span is in, in order; none if it is in no list.

    Args:
        passage: the passage.
        start: character offset of the span's start.
        end: character offset of its end (exclusive).

    >>> text = "Bring:\\n- a rope\\n- two hooks\\nThe boat leaves."
    >>> [text[a:b] for a, b in list_items(text, 9, 15)]
    ['a rope', 'two hooks']
    """
    return _marked_lines(passage, start, end) or _in_sentence(passage, start, end)


def _marked_lines(passage: str, start: int, end: int) -> list[Interval]:
    """Return the items of a list with one marked item per line."""
    begin = passage.rfind("\n", 0, start) + 1
    if _item_of(passage, begin) is None:
        return []
    lines = [begin]
    while lines[0] > 0 and len(lines) < MAX_ITEMS:
        above = passage.rfind("\n", 0, lines[0] - 1) + 1
        if _item_of(passage, above) is None:
            break
        lines.insert(0, above)
    while (below := passage.find("\n", lines[-1]) + 1) and len(lines) < MAX_ITEMS:
        if _item_of(passage, below) is None:
            break
        lines.append(below)
    items = [item for line in lines if (item := _item_of(passage, line)) is not None]
    return items if len(items) > 1 else []


def _item_of(passage: str, line: int) -> Interval | None:
    """Return the text of the item in the line that starts at an offset; ``None`` if it is none."""
    end = passage.find("\n", line)
    end = len(passage) if end < 0 else end
    indent = line
    while indent < end and passage[indent].isspace():
        indent += 1
    found = BULLET.match(passage, indent, end)
    if found is None or not passage[found.end() : end].strip():
        return None
    return tidy_interval(passage, found.end(), end)


def _in_sentence(passage: str, start: int, end: int) -> list[Interval]:
    """Return the items of "X, Y and Z" around a span that starts with one of them.

    The first item is where the span starts: what stands before it may be the rest of the sentence.
    Items further right are taken as long as they are short, up to the one after the "and" or "or".
    """
    stop = _STOP.search(passage, end)
    limit = stop.start() if stop else len(passage)
    items: list[Interval] = []
    begin, joined = start, False
    for cut in _SEPARATOR.finditer(passage, start, limit):
        if not items and cut.start() > end:
            return []
        if joined and begin >= end:
            break
        if len(passage[begin : cut.start()].split()) > LONGEST_ITEM:
            break
        items.append((begin, cut.start()))
        begin = cut.end()
        joined = joined or _FINAL.search(cut.group()) is not None
        if len(items) >= MAX_ITEMS:
            break
    if not items or not joined or (len(items) == 1 and begin >= end):
        # "Ada and Kofi left": without a parse, nobody knows where "Kofi" ends.
        return []
    # Without a parse, the last item ends with the span, or before a word that begins a new phrase.
    close = end if begin < end else _phrase_end(passage, begin, limit)
    items.append((begin, close))
    return [tidy_interval(passage, *item) for item in items if passage[slice(*item)].strip()]


def _phrase_end(passage: str, begin: int, limit: int) -> int:
    """Return where a short phrase ends, before punctuation or a function word."""
    end = begin
    for number, word in enumerate(re.finditer(r"\S+", passage[begin:limit])):
        is_new = number > 0 and word.group().lower() in _NEW_PHRASE
        if is_new or number >= LONGEST_ITEM:
            break
        end = begin + word.end()
        if word.group()[-1] in ",":
            break
    return end
