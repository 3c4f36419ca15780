"""Word shapes: orthographic classes that let the sentence splitter generalise to unseen words."""

from __future__ import annotations

from enum import IntEnum, auto


class Shape(IntEnum):
    """The shape of a word.

    The values are row indices into the trained weights: a new member goes to the end, and needs
    retrained weights.
    """

    OUTSIDE = 0  # padding before and after a paragraph
    LOWER = auto()
    TITLE = auto()
    CAPITALS = auto()
    CAPITAL = auto()
    MIXED = auto()
    DIGITS = auto()
    NUMBER = auto()
    CODE = auto()
    PERIOD = auto()
    QUESTION = auto()
    EXCLAMATION = auto()
    ELLIPSIS = auto()
    COMMA = auto()
    SEMICOLON = auto()
    COLON = auto()
    OPENING = auto()
    CLOSING = auto()
    OPENING_QUOTE = auto()
    CLOSING_QUOTE = auto()
    DOUBLE_QUOTE = auto()
    SINGLE_QUOTE = auto()
    HYPHEN = auto()
    DASH = auto()
    SLASH = auto()
    BULLET = auto()
    RULE = auto()
    FACE = auto()
    ADDRESS = auto()
    TITLE_ABBREVIATION = auto()
    LOWER_ABBREVIATION = auto()
    ACRONYM = auto()
    INITIAL = auto()
    SYMBOL = auto()
    TAG = auto()
    CLITIC = auto()
    UNCASED = auto()
    FULL_WIDTH_END = auto()
    OTHER = auto()


_BY_FORM = {
    form: shape
    for forms, shape in (
        (". ۔ । ॥", Shape.PERIOD),
        ("? ؟", Shape.QUESTION),
        ("!", Shape.EXCLAMATION),
        ("…", Shape.ELLIPSIS),
        (", ، 、 ，", Shape.COMMA),
        ("; ؛ ；", Shape.SEMICOLON),
        (": ：", Shape.COLON),
        ("( [ { （ 【 《 〈", Shape.OPENING),
        (") ] } ） 】 》 〉", Shape.CLOSING),
        ("“ ‘ „ ‚ « `` ` 「 『", Shape.OPENING_QUOTE),
        ("” ’ » '' ’’ 」 』", Shape.CLOSING_QUOTE),
        ('"', Shape.DOUBLE_QUOTE),
        ("'", Shape.SINGLE_QUOTE),
        ("- ‐ ‑", Shape.HYPHEN),
        ("— – ―", Shape.DASH),
        ("/", Shape.SLASH),
        ("* • · ▪ ◦ ● ‣ > | ~ _ + =", Shape.BULLET),
        ("。 ． ｡ ！ ？", Shape.FULL_WIDTH_END),
    )
    for form in forms.split()
}


def shape_of(form: str) -> Shape:
    """Classify a word by its shape.

    >>> shape_of("Mr."), shape_of("iPhone"), shape_of("?!")
    (<Shape.TITLE_ABBREVIATION: 29>, <Shape.MIXED: 5>, <Shape.QUESTION: 10>)
    """
    known = _BY_FORM.get(form)
    if known is not None:
        return known
    if form.isalpha():
        return _letters(form)
    if form.isdigit():
        return Shape.DIGITS
    first = form[0]
    if first in "'’" and form[1:].isalpha():
        return Shape.CLITIC
    if first.isalpha() and form[-1] == ".":
        return _with_period(form)
    if "://" in form or "@" in form[1:] or form.startswith("www."):
        return Shape.ADDRESS
    if first in "@#" and len(form) > 1:
        return Shape.TAG
    if first.isdigit() or (first in "+.-" and form[1:2].isdigit()):
        return Shape.CODE if any(map(str.isalpha, form)) else Shape.NUMBER
    if first.isalpha():
        return _word_with_marks(form)
    return _marks(form)


def _letters(form: str) -> Shape:
    if form.islower():
        return Shape.LOWER
    if len(form) == 1:
        return Shape.CAPITAL if form.isupper() else Shape.UNCASED
    if form.isupper():
        return Shape.CAPITALS
    if form[0].isupper() and form[1:].islower():
        return Shape.TITLE
    return Shape.MIXED if form.lower() != form.upper() else Shape.UNCASED


def _with_period(form: str) -> Shape:
    if "." in form[:-1]:
        return Shape.ACRONYM
    if not form[0].isupper():
        return Shape.LOWER_ABBREVIATION
    return Shape.INITIAL if len(form) == 2 else Shape.TITLE_ABBREVIATION


def _word_with_marks(form: str) -> Shape:
    if "." in form and form[-1].isalpha() and len(form) > 3:
        return Shape.ADDRESS
    if form.islower():
        return Shape.LOWER
    return Shape.TITLE if form[0].isupper() else Shape.MIXED


def _marks(form: str) -> Shape:
    marks = set(form)
    if marks <= set("?!.,…"):
        if "?" in marks:
            return Shape.QUESTION
        return Shape.EXCLAMATION if "!" in marks else Shape.ELLIPSIS
    if marks <= set("-–—"):
        return Shape.DASH if len(form) < 5 else Shape.RULE
    if len(form) > 1:
        if len(marks) == 1 and form[0] in "*=~_+<>|^#":
            return Shape.RULE
        if form[0] in ":;=<>^(-":
            return Shape.FACE
    if ord(form[0]) >= 0x2600:
        return Shape.FACE if not form[0].isalnum() else Shape.UNCASED
    return Shape.SYMBOL if form[0] in "$£€¥%&#@§°" else Shape.OTHER
