"""The marks of list items in words and letters: *3.*, *c.*, *iii.*"""

from __future__ import annotations

from collections.abc import Callable

BULLET = "-"
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_LARGEST_ROMAN = 3999
_LARGEST_LETTERS = 26**3


def roman(number: int) -> str:
    """Write a number in small Roman numerals; numbers that have none stay digits.

    >>> roman(4), roman(1999), roman(0)
    ('iv', 'mcmxcix', '0')
    """
    if not 0 < number <= _LARGEST_ROMAN:
        return str(number)
    text = ""
    for value, numeral in _ROMAN:
        count, number = divmod(number, value)
        text += numeral * count
    return text


def letters(number: int) -> str:
    """Write a number as HTML counts with letters; numbers that have none stay digits.

    >>> letters(1), letters(26), letters(28), letters(0)
    ('a', 'z', 'ab', '0')
    """
    if not 0 < number <= _LARGEST_LETTERS:
        return str(number)
    text = ""
    while number:
        number, letter = divmod(number - 1, 26)
        text = chr(ord("a") + letter) + text
    return text


WRITERS: dict[str, Callable[[int], str]] = {
    # Names of HTML's attribute `type`.
    "1": str,
    "a": letters,
    "A": lambda number: letters(number).upper(),
    "i": roman,
    "I": lambda number: roman(number).upper(),
    # Names of Word's numbering formats.
    "decimal": str,
    "decimalZero": lambda number: f"{number:02}",
    "lowerLetter": letters,
    "upperLetter": lambda number: letters(number).upper(),
    "lowerRoman": roman,
    "upperRoman": lambda number: roman(number).upper(),
}
"""How each kind of numbering writes a number."""
