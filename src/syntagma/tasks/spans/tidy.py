"""Trim the spans of a reader to what people would write, and drop near-copies.

A span may not run from a heading, a list item or a row of a table into the next one.

A span is only moved within its passage, so ``passage[start:end] == text`` always holds.  The
official metrics judge the spans as decoded, see :mod:`syntagma.tasks.spans.decode`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from syntagma.tasks.spans.answers import Span
from syntagma.tasks.spans.columns import within_cells
from syntagma.tasks.spans.metrics import normalise
from syntagma.text.segmentation.lexicon import ABBREVIATIONS

TAG = re.compile(r"</?[A-Za-z][^<>\n]*>")
BULLET = re.compile(r"(?:[-*•‣◦▪–—]|\(?\d{1,3}[.)]|\(?[A-Za-z]\))\s+")
LINE_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010][^\S\n]*+\n\s*+(?=[^\W\d_])")
"""A hyphen that divides a word at the end of a line."""
DOTTED = re.compile(r"(?:[A-Za-z]{1,3}\.)+[A-Za-z]{1,2}")
"""An abbreviation with periods inside, such as U.S or Ph.D, without its last period."""
LEADING = set(",;:.!?…)]}»”’·|/\\_=>*#–—-")
TRAILING = set(",;:!?…([{«“‘·|/\\_=<*–—-")
PAIRS = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»", "‘": "’", "„": "“", '"': '"', "'": "'"}
CLOSING = {close: opening for opening, close in PAIRS.items()}
EMPTY = frozenset("a an and as at but by for from in of on or than that the to with".split())
"""Words that say nothing alone."""
LAST_CASED = "\u058f"
"""Last character of the scripts with spaces and cases; in others a word has no clear edges."""


def tidy_interval(passage: str, start: int, end: int) -> tuple[int, int]:
    """Trim stray quotes, brackets, tags, punctuation and lines, and complete cut words.

    Args:
        passage: the passage.
        start: character offset of the span's start.
        end: character offset of its end (exclusive).

    Returns:
        The new offsets; the old ones if nothing but punctuation would be left.
    """
    original = start, end
    if start >= end:
        return original
    start, end = _outside_tags(passage, start, end)
    start, end = _whole_words(passage, start, end)
    end = _before_line_end(passage, start, end)
    while start < end:
        before = start, end
        start, end = _trim_left(passage, start, end), _trim_right(passage, start, end)
        if start < end:
            start, end = _without_pair(passage, start, end)
        if (start, end) == before:
            break
    if not any(character.isalnum() for character in passage[start:end]):
        return original
    return start, end


def _outside_tags(passage: str, start: int, end: int) -> tuple[int, int]:
    """Move an end that lies inside a markup tag out of it."""
    if "<" not in passage:
        return start, end
    line = max(passage.rfind("\n", 0, start) + 1, start - 200)
    for tag in TAG.finditer(passage, line, min(len(passage), end + 200)):
        if tag.start() <= start < tag.end() < end:
            start = tag.end()
        if start < tag.start() < end <= tag.end():
            end = tag.start()
    return start, end


def _before_line_end(passage: str, start: int, end: int) -> int:
    """Return where a span ends if it runs over a line end that also ends a sentence.

    Line ends inside a sentence of wrapped text, or that divide a word, do not count; nor do
    sentence ends inside a line.
    """
    if passage.find("\n", start, end) < 0:
        return end
    from syntagma.text.segmentation.lookup import sentence_at

    at = start
    while passage.find("\n", at, end) >= 0:
        sentence = sentence_at(passage, at)
        if sentence is None:  # White space between sentences.
            at = max(at + 1, _after_space(passage, at, end))
            continue
        _, at = sentence
        rest = passage[at:end]
        space = rest[: len(rest) - len(rest.lstrip())]
        if "\n" in space and not LINE_HYPHEN.match(passage, at - 1):
            return at
    return end


def _is_letter(character: str) -> bool:
    return character.isalnum() and character <= LAST_CASED


def _whole_words(passage: str, start: int, end: int) -> tuple[int, int]:
    """Extend a span that cuts a word, or a word divided at a line end, to the whole word."""
    while start > 0 and _is_letter(passage[start]) and _is_letter(passage[start - 1]):
        start -= 1
    while 0 < end < len(passage) and _is_letter(passage[end - 1]) and _is_letter(passage[end]):
        end += 1
    if "\n" not in passage:
        return start, end
    # The second half must be in lower case: "Anglo-\nSaxon" is two words.
    near = max(0, start - 40), min(len(passage), end + 40)
    for hyphen in LINE_HYPHEN.finditer(passage, *near):
        if not passage[hyphen.end()].islower():
            continue
        if hyphen.start() <= end <= hyphen.end() and start < hyphen.start():
            end = _word_end(passage, hyphen.end())
        if hyphen.start() < start <= hyphen.end():
            start = hyphen.start()
            while start > 0 and _is_letter(passage[start - 1]):
                start -= 1
    return start, end


def _word_end(passage: str, end: int) -> int:
    while end < len(passage) and _is_letter(passage[end]):
        end += 1
    return end


def _after_space(passage: str, start: int, end: int) -> int:
    """Return where the white space at an offset ends."""
    return end - len(passage[start:end].lstrip())


def _trim_left(passage: str, start: int, end: int) -> int:
    """Return the start without white space, tags, list marks and stray punctuation."""
    if tag := TAG.match(passage, start, end):
        return tag.end()
    first = passage[start]
    if first.isspace():
        return _after_space(passage, start, end)
    bullet = BULLET.match(passage, start, end)
    if bullet and not passage[passage.rfind("\n", 0, start) + 1 : start].strip():
        return bullet.end()
    after = passage[start + 1] if start + 1 < end else ""
    if _is_emoji(first):
        return start + 1
    if first in "-–." and after.isdigit():  # A negative number, or ".5".
        return start
    return start + 1 if first in LEADING else start


def _trim_right(passage: str, start: int, end: int) -> int:
    """Return the end without white space, tags and stray punctuation."""
    last = passage[end - 1]
    if last.isspace():
        return start + len(passage[start:end].rstrip())
    if last in TRAILING or _is_emoji(last):
        return end - 1
    if last == ">":
        begin = passage.rfind("<", start, end)
        if begin >= 0 and TAG.fullmatch(passage, begin, end):
            return begin
    if last == "." and not _is_abbreviated(passage[start:end]):
        return end - 1
    return end


def _is_abbreviated(text: str) -> bool:
    """Whether the period at the end of a text belongs to its last word."""
    words = text.split()
    stem = words[-1][:-1].lstrip("([{\"'“‘")
    if DOTTED.fullmatch(stem) or stem.lower() in ABBREVIATIONS:
        return True
    # An initial, as in "Johann S.", but not "vitamin C." or "5."
    return len(stem) == 1 and stem.isupper() and len(words) > 1 and words[-2][:1].isupper()


def _without_pair(passage: str, start: int, end: int) -> tuple[int, int]:
    """Remove quotes and brackets around the whole span, or that lack their partner in it."""
    text = passage[start:end]
    first, last = text[0], text[-1]
    if first in PAIRS and last == PAIRS[first] and _closes(text) == len(text) - 1:
        return start + 1, end - 1
    if first in PAIRS and _closes(text) < 0 and not (first == "'" and text[1:2].isdigit()):
        return start + 1, end
    if last in CLOSING and _closes(text[::-1], CLOSING) < 0:
        # "the sailors'" has no opening quote, and needs none.
        if last in "'’" and text[-2:-1] == "s":
            return start, end
        return start, end - 1
    inner = next((b for b in ")]}" if text.count(CLOSING[b]) > text.count(b)), "")
    return (start, end + 1) if inner and passage[end : end + 1] == inner else (start, end)


def _closes(text: str, partners: dict[str, str] = PAIRS) -> int:
    """Return where the quote or bracket at the start of a text is closed; -1 if it is not."""
    opening, closing = text[0], partners[text[0]]
    if opening == closing:
        return text.find(closing, 1)
    depth = 0
    for place, character in enumerate(text):
        depth += (character == opening) - (character == closing)
        if depth == 0:
            return place
    return -1


def readable(text: str) -> str:
    """Return a text in one line, with words joined that a hyphen divides at the end of a line.

    >>> readable("public trans-\\nportation   plans")
    'public transportation plans'
    """
    joined = LINE_HYPHEN.sub(
        lambda hyphen: "" if text[hyphen.end()].islower() else hyphen.group(), text
    )
    return " ".join(joined.split())


def distinct_spans(passage: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Tidy the spans of a question, and drop near-copies and fragments of better ones.

    A span is dropped if it overlaps a better one, or differs from it only by case, articles and
    punctuation; its probability is added to that of the better one.  One that runs over cells of a
    table makes room for the best one in one of these cells.  Spans without content, such as an
    article alone, come last: only if they are all that there is, one of them is kept.

    Args:
        passage: the passage.
        spans: spans as decoded, best first.
    """
    kept: list[Span] = []
    shares: list[float] = []
    texts: list[str] = []
    tidied = [(span, tidy_interval(passage, span.start, span.end)) for span in spans]
    found = [row for row in tidied if _has_content(passage[slice(*row[1])])] or tidied[:1]
    cells = within_cells(passage, [interval for _, interval in found])
    for (span, _), cell in zip(found, cells, strict=True):
        score, (start, end) = found[cell][0].score, found[cell][1]
        text = passage[start:end]
        same = normalise(text)
        place = next(
            (
                number
                for number, better in enumerate(kept)
                if (start < better.end and better.start < end) or texts[number] == same
            ),
            None,
        )
        if place is None:
            kept.append(Span(text, start, end, score, span.probability))
            shares.append(span.probability)
            texts.append(same)
        else:
            shares[place] += span.probability
    return tuple(
        Span(span.text, span.start, span.end, span.score, share)
        for span, share in zip(kept, shares, strict=True)
    )


def _has_content(text: str) -> bool:
    """Whether a text has a letter or digit, and not only words that say nothing alone."""
    return any(map(str.isalnum, text)) and not EMPTY.issuperset(text.lower().split())


def _is_emoji(character: str) -> bool:
    """Whether a character is an emoji, or joins or varies some."""
    return (
        "\U0001f000" <= character <= "\U0001fbff"
        or "\u2600" <= character <= "\u27bf"
        or (character in "\ufe0f\u200d")
    )
