"""Find the items of a list: in lines with marks, after numbers, or in a sentence.

A parse is not needed: lists are recognised by their punctuation, their "and" or "or", and marks
such as ``-``, ``*`` and ``2.``.  Two rules decide how much of a text is taken:

- A question that asks for several things gets the whole list that its best span is in, also if the
  span is one item (:func:`list_items`).
- Another question may be answered by a span that is a list itself.  It gets the items of that span
  and nothing else, and only if it can have several answers (:func:`own_items`), so that names such
  as "Simon and Garfunkel" stay whole.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from syntagma.tasks.spans.questions import expects_several, may_have_several, question_kind
from syntagma.tasks.spans.tidy import BULLET, tidy_interval

Interval = tuple[int, int]

MAX_ITEMS = 40
LONGEST_ITEM = 6
"""Words of the longest item of a list inside a sentence."""
LONGEST_PART = 15
"""The same between semicolons, which separate longer items."""
REACH = 2000
"""Characters before and after a span in which its list is searched for, so that the time stays
bounded in text without line breaks and full stops."""
_CONJUNCTION = r"(?:and|or|&)"
_MARK = r"(?:\(?\d{1,2}[.)]|\(?[a-h]\))\s+"
# White space is only read from its start on, so that a run of it takes linear time.
_SEPARATOR = re.compile(
    rf"(?:(?<!\s)\s++)?+(?P<sign>[,;])\s++(?:(?P<last>{_CONJUNCTION})\s++)?(?:{_MARK})?"
    rf"|(?<!\s)\s++(?P<plain>{_CONJUNCTION})\s++(?:{_MARK})?"
)
_NUMBER = re.compile(r"(?:^|(?<=\s))\(?(\d{1,2})[.)]\s+")
_LAST_CONJUNCTION = re.compile(rf"\s{_CONJUNCTION}\Z")
_FIRST_MARK = re.compile(_MARK)
_BOTH = re.compile(r"(?:both|either)\s+", re.IGNORECASE)
_AFTER_BOTH = re.compile(r"\b(?:both|either)\s+$", re.IGNORECASE)
_NEW_PHRASE = frozenset(
    """
    about after and are as at because before but by during for from had has have having in into is
    of on or over since than that the through to under until was were when where which while who
    will with
    """.split()
)
_STOP = re.compile(r"[.!?:()\n]")
_MONTH_DAY = re.compile(
    r"(?:\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?(?:\s+\d{1,2})?"
    r"(?:st|nd|rd|th)?|\b\d{1,2}\s+[A-Z][a-z]+)$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\d{4}\b")
_SUFFIX = re.compile(r"(?:Jr|Sr|Inc|Ltd|LLC|LLP|PLC|PhD|Ph\.D|MD|Esq|etc)\b")
_FIRM = re.compile(
    r"(?:&|and)\s+(?:co|sons?|company|partners|associates|bro(?:ther)?s)\b\.?$", re.IGNORECASE
)
_GROUP = re.compile(
    r"\b(?:duo|trio|quartet|band|group|firm|company|partnership|shop|store|pub|inn|brand)\s+$",
    re.IGNORECASE,
)
_DETERMINER = re.compile(r"(?:an?|the|this|that|his|her|its|their|our|my|your)\s+", re.IGNORECASE)
_BRACKETS = {"(": ")", "[": "]", "“": "”", "«": "»", '"': '"'}
_QUOTES = '"“”«»'


def answer_items(question: str, passage: str, start: int, end: int) -> list[Interval]:
    """Return the items that answer a question; none if its answer is one span.

    Args:
        question: the question.
        passage: the passage.
        start: character offset of the best span's start.
        end: character offset of its end (exclusive).
    """
    # So long a span has few words, and much that is none, such as white space.
    if end - start > REACH:
        return []
    kind = question_kind(question)
    if kind == "list":
        return list_items(passage, start, end)
    if kind != "span" or not may_have_several(question):
        return []
    items = own_items(passage, start, end)
    # Two names with "and" are often one: a duo, a firm, a dish.
    two = expects_several(question) or _says_both(passage, start, end)
    return items if len(items) > 2 or two else []


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
    return (
        _marked_lines(passage, start, end)
        or _numbered(passage, start, end)
        or _in_span(passage, start, end)
        or _in_sentence(passage, start, end)
    )


def own_items(passage: str, start: int, end: int) -> list[Interval]:
    """Return the items of a span that is a list itself; none if it is not.

    Args:
        passage: the passage.
        start: character offset of the span's start.
        end: character offset of its end (exclusive).
    """
    several = "\n" in passage[start:end].strip()
    items = _marked_lines(passage, start, end) if several else []
    items = items or _numbered(passage, start, end)
    inside = [item for item in items if item[0] < end and start < item[1]]
    return inside if len(inside) > 1 else _in_span(passage, start, end)


def _says_both(passage: str, start: int, end: int) -> bool:
    before = passage[max(0, start - 10) : start]
    return bool(_BOTH.match(passage, start, end) or _AFTER_BOTH.search(before))


def _marked_lines(passage: str, start: int, end: int) -> list[Interval]:
    """Return the items of a list with one marked item per line."""
    begin = passage.rfind("\n", 0, start) + 1
    if _item_of(passage, begin) is None:
        return []
    lines = [begin]
    while len(lines) < MAX_ITEMS and (above := _line_above(passage, lines[0])) is not None:
        lines.insert(0, above)
    while len(lines) < MAX_ITEMS and (below := _line_below(passage, lines[-1])) is not None:
        lines.append(below)
    items = [item for line in lines if (item := _item_of(passage, line)) is not None]
    return items if len(items) > 1 else []


def _line_above(passage: str, line: int) -> int | None:
    """Return the start of the marked line above a line, over blank lines; ``None`` if none is."""
    while line > 0:
        line = passage.rfind("\n", 0, line - 1) + 1
        if not _is_blank(passage, line):
            return line if _item_of(passage, line) is not None else None
    return None


def _line_below(passage: str, line: int) -> int | None:
    """Return the start of the marked line below a line, over blank lines; ``None`` if none is."""
    while (line := passage.find("\n", line) + 1) > 0:
        if not _is_blank(passage, line):
            return line if _item_of(passage, line) is not None else None
    return None


def _is_blank(passage: str, line: int) -> bool:
    end = passage.find("\n", line)
    return not passage[line : len(passage) if end < 0 else end].strip()


def _item_of(passage: str, line: int) -> Interval | None:
    """Return the text of the item in the line that starts at an offset; ``None`` if it is none."""
    end = passage.find("\n", line)
    end = len(passage) if end < 0 else end
    indent = line
    while indent < end and passage[indent].isspace():
        indent += 1
    found = BULLET.match(passage, indent, end)
    if found is None or not any(map(str.isalnum, passage[found.end() : end])):
        return None
    return tidy_interval(passage, found.end(), end)


def _numbered(passage: str, start: int, end: int) -> list[Interval]:
    """Return the items of "1. … 2. …" or "(1) …, (2) … and (3) …" in one line around a span."""
    line = passage.rfind("\n", max(0, start - REACH), start)
    line = line + 1 if line >= 0 else max(0, start - REACH)
    stop = passage.find("\n", end, end + REACH)
    stop = min(len(passage), end + REACH) if stop < 0 else stop
    marks: list[re.Match[str]] = []
    for mark in _NUMBER.finditer(passage, line, stop):
        if int(mark[1]) == len(marks) + 1:
            marks.append(mark)
    if len(marks) < 2 or end <= marks[0].start():
        return []
    last = marks[-1].end()
    sentence_end = re.compile(r"[.!?](?=\s|$)").search(passage, last, stop)
    edges = [mark.start() for mark in marks[1:]] + [sentence_end.start() if sentence_end else stop]
    if start >= edges[-1]:
        return []
    items = []
    for mark, edge in zip(marks, edges, strict=True):
        items.append((mark.end(), mark.end() + len(_without_end(passage[mark.end() : edge]))))
    return _tidied(passage, items)


def _without_end(text: str) -> str:
    """Return an item without the sign, the conjunction and the white space after it."""
    text = text.rstrip()
    if last := _LAST_CONJUNCTION.search(text, max(0, len(text) - 4)):
        text = text[: last.start()].rstrip()
    return text[:-1].rstrip() if text.endswith((",", ";")) else text


class _Cut(NamedTuple):
    """A separator between two items.

    Args:
        start: character offset of its start.
        end: character offset of its end (exclusive).
        sign: ``,`` or ``;``; empty for a conjunction alone.
        joins: whether it has a conjunction.
    """

    start: int
    end: int
    sign: str
    joins: bool


def _cuts(passage: str, start: int, end: int) -> list[_Cut]:
    """Return the separators in a part of the passage, but for those inside one item."""
    inside = _bracketed(passage, start, end)
    return [
        _Cut(found.start(), found.end(), found["sign"] or "", bool(found["last"] or found["plain"]))
        for found in _SEPARATOR.finditer(passage, start, end)
        if not any(first < found.start() < last for first, last in inside)
        and not (found["sign"] == "," and not found["last"] and _belongs(passage, found))
    ]


def _belongs(passage: str, comma: re.Match[str]) -> bool:
    """Return whether a comma is part of a date, or stands before a suffix of a name."""
    if _SUFFIX.match(passage, comma.end()):
        return True
    before = passage[max(0, comma.start() - 20) : comma.start()]
    return bool(_YEAR.match(passage, comma.end()) and _MONTH_DAY.search(before))


def _bracketed(passage: str, start: int, end: int) -> list[Interval]:
    """Return the parts in brackets or quotes."""
    found = []
    place = start
    while place < end:
        closing = _BRACKETS.get(passage[place])
        if closing and (partner := passage.find(closing, place + 1, end)) > 0:
            found.append((place, partner))
            place = partner
        place += 1
    return found


def _in_span(passage: str, start: int, end: int) -> list[Interval]:
    """Return the items of a span such as "X, Y and Z"."""
    if both := _BOTH.match(passage, start, end):
        start = both.end()
    if mark := _FIRST_MARK.match(passage, start, end):
        start = mark.end()
    cuts = _cuts(passage, start, end)
    longest = LONGEST_ITEM
    if any(cut.sign == ";" for cut in cuts):
        cuts = [cut for cut in cuts if cut.sign == ";"]
        longest = LONGEST_PART
    else:
        if any(cut.sign and cut.joins for cut in cuts):
            # "soup, bread and cheese, and coffee": the commas separate, and "and" joins a dish.
            cuts = [cut for cut in cuts if cut.sign]
        joins = [cut.joins for cut in cuts]
        # One conjunction, before the last item, or one before each.
        if not joins or not joins[-1] or (any(joins[:-1]) and not all(joins)):
            return []
    edges = [start, *(edge for cut in cuts for edge in (cut.start, cut.end)), end]
    items = list(zip(edges[::2], edges[1::2], strict=True))
    if any(not 0 < len(passage[a:b].split()) <= longest for a, b in items):
        return []
    if _is_one_name(passage, start, end) or _is_one_phrase([passage[a:b] for a, b in items]):
        return []
    return _tidied(passage, items)


def _tidied(passage: str, items: list[Interval]) -> list[Interval]:
    """Trim items, and drop those without a letter or digit; none if fewer than two are left."""
    kept = [
        tidy_interval(passage, start, end)
        for start, end in items
        if any(character.isalnum() for character in passage[start:end])
    ]
    return kept if len(kept) > 1 else []


def _is_one_name(passage: str, start: int, end: int) -> bool:
    """Return whether a list is the name of a firm or group, or a title in quotes."""
    quoted = passage[start - 1 : start] in _QUOTES and passage[end : end + 1] in _QUOTES
    return (
        (start > 0 and end < len(passage) and quoted)
        or _FIRM.search(passage[start:end]) is not None
        or _GROUP.search(passage[max(0, start - 20) : start]) is not None
    )


def _is_one_phrase(items: list[str]) -> bool:
    """Return whether the items are adjectives of one noun, as in "a cold, wet and windy harbour".

    The first has a determiner and a word, those in the middle one word, and the last a noun.
    """
    determiner = _DETERMINER.match(items[0])
    others = items[1:]
    return (
        determiner is not None
        and len(items[0].split()) == 2
        and all(len(item.split()) == 1 for item in others[:-1])
        and len(others[-1].split()) == 2
        and not any(_DETERMINER.match(item) or not item.islower() for item in others)
        and not others[-1][0].isdigit()
    )


def _in_sentence(passage: str, start: int, end: int) -> list[Interval]:
    """Return the items of "X, Y and Z" around a span that starts with one of them.

    The first item is where the span starts: what stands before it may be the rest of the sentence.
    Items further right are taken as long as they are short, up to the one after the "and" or "or".
    """
    stop = _STOP.search(passage, end, end + REACH)
    limit = stop.start() if stop else min(len(passage), end + REACH)
    cuts = _cuts(passage, start, limit)
    if not cuts or cuts[0].start > end:
        return []
    separated = cuts[0].sign == ";"
    longest = LONGEST_PART if separated else LONGEST_ITEM
    if separated:
        cuts = [cut for cut in cuts if cut.sign == ";"]
    elif any(cut.sign == ";" for cut in cuts):
        # What follows a semicolon is another clause.
        first = next(number for number, cut in enumerate(cuts) if cut.sign == ";")
        limit, cuts = cuts[first].start, cuts[:first]
    cuts = _without_inner(cuts)
    items: list[Interval] = []
    begin, joined = start, False
    for cut in cuts:
        if joined and begin >= end:
            break
        if len(passage[begin : cut.start].split()) > longest:
            break
        items.append((begin, cut.start))
        begin = cut.end
        joined = joined or cut.joins
        if len(items) >= MAX_ITEMS:
            break
    joined = joined or (separated and len(items) > 1)
    if not items or not joined or (len(items) == 1 and begin >= end):
        # "Ada and Kofi left": without a parse, nobody knows where "Kofi" ends.
        return []
    # Without a parse, the last item ends with the span, or before a word that begins a new phrase.
    if separated:
        close = limit
    elif begin < end:
        close = end
    else:
        close = _phrase_end(passage, begin, limit)
    items.append((begin, close))
    return _tidied(passage, items)


def _without_inner(cuts: list[_Cut]) -> list[_Cut]:
    """Drop each "and" that joins the parts of an item, as in "soup, bread and cheese, and tea"."""
    last = next((n for n, cut in enumerate(cuts) if cut.sign == "," and cut.joins), 0)
    if not any(cut.sign and not cut.joins for cut in cuts[:last]):
        return cuts
    return [cut for n, cut in enumerate(cuts) if cut.sign or n > last]


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
