"""Interpret line breaks: paragraph ends, and lines that start a new sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Bounds the lookahead: a line break before a megabyte of spaces does not require reading them all.
_MAX_INDENT = 1000
PARAGRAPH_BREAK = re.compile(rf"(?>\r\n?|\n)[^\S\r\n\u2029]{{0,{_MAX_INDENT}}}(?>\r\n?|\n)|\u2029")
PARAGRAPH_BREAK_LENGTH = _MAX_INDENT + 4

_LINE = re.compile(r"[^\r\n]*+(?>\r\n?|\n|\Z)")
# Text is rarely hard-wrapped beyond this many characters; longer lines are whole paragraphs.
_WIDEST_WRAP = 140
# Lines this short are a list, a poem or an address.
_NARROWEST_WRAP = 30
# If a line plus the next word fills at most this share of the width, its break was intended.
_FULL_SHARE = 0.75

_SIGN_BULLET = re.compile(r"[•·▪◦‣●○■□►➤✓✔]\s*\S")
_MARK_BULLET = re.compile(r"(?:[-–—*+]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{2,5})[.)])\s+\S")
_MARKER = re.compile(r"\(?(?:\d{1,3}|[A-Za-z])[.)][^\S\r\n]{1,100}+(?=\S)")
_STOPPED = re.compile(r"[.!?…。！？][\"'”’)\]»]*\Z")
# A line that ends with one of these words continues on the next line.
_GOES_ON = frozenset(
    """
    a an the of and or but nor to in on at by for from with into onto as than that which who whose
    is are was were be been has have had will would can could may might must shall should not no
    my your his her its our their this these those if when while because
    mr. mrs. ms. dr. prof. st. gen. col. lt. capt. sgt. gov. sen. rep. rev. vs. v. e.g. i.e. no. p.
    """.split()
)


def lines(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield the start and end offset of each line of ``text[start:end]``, line endings included."""
    for match in _LINE.finditer(text, start, len(text) if end is None else end):
        if match.end() > match.start():
            yield match.span()


def sentence_lines(text: str, start: int, end: int) -> list[int]:
    """Return the offsets of the lines in a paragraph that start a new sentence by their layout.

    A line break inside a paragraph is whitespace, with two exceptions.  The next line is a list
    item; or the break was intended and the next line does not continue the sentence, as a line in
    lower case does.  A break was intended if the line ends well before the width of the paragraph,
    if the lines are too short or too long for wrapped text, or if there are at least three lines
    and none after the first starts in lower case.

    Args:
        text: the text.
        start: offset where the paragraph starts.
        end: offset where the paragraph ends.
    """
    if text.find("\n", start, end) < 0 and text.find("\r", start, end) < 0:
        return []
    # Offset and text of each non-blank line, without indentation.
    filled = [
        (offset + len(line) - len(line.lstrip()), line.strip())
        for offset, line in ((first, text[first:last]) for first, last in lines(text, start, end))
        if not line.isspace()
    ]
    content = [line for _, line in filled]
    if len(content) < 2:
        return []
    width = max(map(len, content))
    all_intended = (
        width > _WIDEST_WRAP
        or width < _NARROWEST_WRAP
        or (len(content) > 2 and not any(line[0].islower() for line in content[1:]))
    )
    n_items = sum(map(_is_item, content))
    found = []
    for index, (before, line) in enumerate(zip(content, content[1:], strict=False), start=1):
        room = len(before) + 1 + len(line.split(None, 1)[0]) <= _FULL_SHARE * width
        intended = all_intended or room
        if _starts_sentence(before, line, intended=intended, in_list=n_items > 1):
            found.append(filled[index][0])
    return found


def item_text(text: str, start: int) -> int | None:
    """Return the offset after the marker of a list item at ``start`` (*2. Second*), if any."""
    marker = _MARKER.match(text, start)
    return marker.end() if marker else None


def _is_item(line: str) -> bool:
    return bool(_SIGN_BULLET.match(line) or _MARK_BULLET.match(line))


def _starts_sentence(before: str, line: str, *, intended: bool, in_list: bool) -> bool:
    """Whether a line starts a new sentence, given the line before it."""
    stopped = bool(_STOPPED.search(before))
    if _SIGN_BULLET.match(line):
        return True
    # A dash or number can be part of the text, so it needs more evidence than a bullet sign.
    if _MARK_BULLET.match(line) and (in_list or intended or stopped or before[-1] == ":"):
        return True
    if not intended:
        return False
    if line[0].islower():
        return stopped and not before.endswith(("...", "…"))
    words_before = before.split()
    if before[-1] in ",;-–—/(&":
        # "Dear Ann," and "Thanks," are complete; longer lines that end like this continue.
        return before[-1] == "," and len(words_before) < 3
    return words_before[-1].lower() not in _GOES_ON
