"""What line breaks mean: where paragraphs end, and which lines begin a sentence of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["PARAGRAPH_BREAK", "PARAGRAPH_BREAK_LENGTH", "item_text", "lines", "sentence_lines"]

# Bounded, so that a line break before a megabyte of spaces is no reason to read them all.
_MAX_INDENT = 1000
PARAGRAPH_BREAK = re.compile(rf"(?>\r\n?|\n)[^\S\r\n\u2029]{{0,{_MAX_INDENT}}}(?>\r\n?|\n)|\u2029")
PARAGRAPH_BREAK_LENGTH = _MAX_INDENT + 4

_LINE = re.compile(r"[^\r\n]*+(?>\r\n?|\n|\Z)")
# Nobody wraps by hand beyond this many characters: then each line is a paragraph.
_WIDEST_WRAP = 140
# Text of such narrow lines is a list, a poem or an address.
_NARROWEST_WRAP = 30
# A line that would have had room for the next word and this much more was ended on purpose.
_FULL_SHARE = 0.75

_SIGN_BULLET = re.compile(r"[•·▪◦‣●○■□►➤✓✔]\s*\S")
_MARK_BULLET = re.compile(r"(?:[-–—*+]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{2,5})[.)])\s+\S")
_MARKER = re.compile(r"\(?(?:\d{1,3}|[A-Za-z])[.)][^\S\r\n]{1,100}+(?=\S)")
_STOPPED = re.compile(r"[.!?…。！？][\"'”’)\]»]*\Z")
_GOES_ON = frozenset(
    """
    a an the of and or but nor to in on at by for from with into onto as than that which who whose
    is are was were be been has have had will would can could may might must shall should not no
    my your his her its our their this these those if when while because
    mr. mrs. ms. dr. prof. st. gen. col. lt. capt. sgt. gov. sen. rep. rev. vs. v. e.g. i.e. no. p.
    """.split()
)


def lines(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Where the lines of ``text[start:end]`` stand, line ends included; nothing is left out."""
    for match in _LINE.finditer(text, start, len(text) if end is None else end):
        if match.end() > match.start():
            yield match.span()


def sentence_lines(text: str, start: int, end: int) -> list[int]:
    """Offsets of the lines in a paragraph that begin a sentence whatever the words say.

    A line break inside a paragraph is whitespace unless the line before was ended on purpose
    (well before the width of the paragraph, or the lines are too narrow or too wide for wrapped
    text, or none of them begins in lower case) and the next does not go on in lower case; or
    unless the next line is an item of a list.

    Args:
        text: the text.
        start: where the paragraph begins.
        end: where it ends.
    """
    if text.find("\n", start, end) < 0 and text.find("\r", start, end) < 0:
        return []
    filled = [
        (offset + len(line) - len(line.lstrip()), line.strip())
        for offset, line in ((first, text[first:last]) for first, last in lines(text, start, end))
        if not line.isspace()
    ]
    content = [line for _, line in filled]
    if len(content) < 2:
        return []
    width = max(map(len, content))
    every_break_meant = (
        width > _WIDEST_WRAP
        or width < _NARROWEST_WRAP
        or (len(content) > 2 and not any(line[0].islower() for line in content[1:]))
    )
    n_items = sum(map(_is_item, content))
    found = []
    for index, (before, line) in enumerate(zip(content, content[1:], strict=False), start=1):
        room = len(before) + 1 + len(line.split(None, 1)[0]) <= _FULL_SHARE * width
        meant = every_break_meant or room
        if _begins_sentence(before, line, meant=meant, in_list=n_items > 1):
            found.append(filled[index][0])
    return found


def item_text(text: str, start: int) -> int | None:
    """Where the text of a list item begins that begins itself at ``start``: *2. Second*."""
    marker = _MARKER.match(text, start)
    return marker.end() if marker else None


def _is_item(line: str) -> bool:
    return bool(_SIGN_BULLET.match(line) or _MARK_BULLET.match(line))


def _begins_sentence(before: str, line: str, *, meant: bool, in_list: bool) -> bool:
    stopped = bool(_STOPPED.search(before))
    if _SIGN_BULLET.match(line):
        return True
    if _MARK_BULLET.match(line) and (in_list or meant or stopped or before[-1] == ":"):
        return True
    if not meant:
        return False
    if line[0].islower():
        return stopped and not before.endswith(("...", "…"))
    words_before = before.split()
    if before[-1] in ",;-–—/(&":
        # "Dear Ann," and "Thanks," stand alone; other lines that end so go on.
        return before[-1] == "," and len(words_before) < 3
    return words_before[-1].lower() not in _GOES_ON
