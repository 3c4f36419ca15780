"""Tell whether a regular expression of a tokenizer may take forever.

Oniguruma, which ``tokenizers`` uses, tries all ways in which the beginning of a pattern can match
before it gives up on a place in the text.  Their number is exponential for ``(a+)+b`` and cubic in
the length of a word for ``\\w+\\w+\\w+!``.  The search runs outside of Python: neither Ctrl-C nor a
time limit ends it.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import zip_longest

LENGTH = 1000
"""Assumed number of ways in which an unbounded repetition can match: the length of a long word."""
MAX_WAYS = 20_000
"""Published patterns have at most 2,000 ways before a part that can fail."""
MAX_PATTERN = 10_000
"""The longest pattern, in characters; the longest published one has a few hundred."""
MAX_DEPTH = 50
"""The deepest nesting of groups."""
MANY = 16
"""A repetition up to this many times is counted exactly."""


@dataclass
class _Item:
    """A part of a pattern.

    Args:
        branches: the alternatives of a group, each a sequence of items; empty for a character or a
            set of characters.
        least: the least number of repetitions.
        most: the largest number of repetitions.
        is_atomic: whether the search never returns into it: lookaround, possessive repetitions.
        literal: the character that it matches, in lower case; empty for all that is not one.
    """

    branches: list[list[_Item]] = field(default_factory=list)
    least: float = 1
    most: float = 1
    is_atomic: bool = False
    literal: str = ""


def may_take_forever(pattern: str) -> bool:
    """Whether a pattern may take more than quadratic time on some text.

    Args:
        pattern: a regular expression of Oniguruma.

    >>> may_take_forever(r" ?\\p{L}+|\\s+(?!\\S)"), may_take_forever(r"(a+)+$")
    (False, True)
    """
    if len(pattern) > MAX_PATTERN:
        return True
    try:
        for branch in _Parser(pattern).branches():
            _ways(branch, 1)
    except _TooManyWaysError:
        return True
    return False


class _TooManyWaysError(Exception):
    """There are too many ways to match what comes before a part that can fail."""


def _ways(branch: list[_Item], before: float) -> float:
    """Return in how many ways a sequence can match.

    Args:
        branch: the sequence.
        before: number of ways to match what comes before it.

    Raises:
        _TooManyWaysError: an item that can fail has more than :data:`MAX_WAYS` before it.
    """
    ways = 1.0
    for item, following in zip_longest(branch, branch[1:]):
        own = _ways_of_item(item, before * ways)
        # In `\r?\n` the next character tells how often the first one is repeated.
        decides = following is not None and following.least > 0 and following.literal
        if not (item.literal and decides and decides != item.literal):
            ways *= own
    return ways


def _ways_of_group(branches: list[list[_Item]], before: float) -> float:
    """Return in how many ways one of several sequences can match."""
    ways: defaultdict[str, float] = defaultdict(float)
    for branch in branches:
        first = branch[0].literal if branch and branch[0].least > 0 else ""
        ways[first] += _ways(branch, before)
    # Sequences that begin with different characters exclude each other.
    return ways.pop("", 0.0) + max(ways.values(), default=0.0)


def _ways_of_item(item: _Item, before: float) -> float:
    can_fail = item.least > 0
    if can_fail and before > MAX_WAYS:
        raise _TooManyWaysError
    # If an optional part fails, the search goes on behind it, not with another way before it.
    inner = _ways_of_group(item.branches, before if can_fail else 1) or 1.0
    if item.is_atomic:
        return 1
    if item.most > MANY:
        return min(item.most, LENGTH) if inner == 1 else math.inf
    low, high = sorted((int(item.least), int(item.most)))
    # A bound keeps the power within the range of floats.
    return sum(min(inner, 1e9) ** times for times in range(low, high + 1))


_ESCAPE = re.compile(r"\\[pP]\{[^}]*\}|\\[gk](?:<[^>]*>|'[^']*')|\\.", re.DOTALL)
_GROUP = re.compile(r"\((?:\?(?:<?[=!]|[>~:]|<[^>]*>|'[^']*'|[a-zA-Z-]*[:)]|#[^)]*\))?)?")
_QUANTIFIER = re.compile(r"([*+?])[?+]?|\{(\d{1,9})?(,?)(\d{1,9})?\}(\??)")


class _Parser:
    """A parser for what matters here in the syntax of Oniguruma; it accepts any text."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.depth = 0

    def branches(self) -> list[list[_Item]]:
        """Read alternatives up to the end of the group that contains them."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _TooManyWaysError
        found: list[list[_Item]] = [[]]
        while self.position < len(self.pattern) and self.pattern[self.position] != ")":
            if self.pattern[self.position] == "|":
                self.position += 1
                found.append([])
            elif (item := self._atom()) is not None:
                found[-1].append(self._repeated(item))
        self.depth -= 1
        if not self.depth and self.position < len(self.pattern):
            # A bracket too many; Oniguruma will say so.
            self.position += 1
            return found + self.branches()
        return found

    def _atom(self) -> _Item | None:
        """Read a character, a set or a group; return ``None`` for what matches nothing."""
        character = self.pattern[self.position]
        if character == "[":
            self.position = _after_set(self.pattern, self.position)
        elif character == "\\":
            match = _ESCAPE.match(self.pattern, self.position)
            self.position = match.end() if match else self.position + 1
            if match and match[0].startswith("\\g"):  # A group that calls itself, or another one.
                raise _TooManyWaysError
            if match and match[0][1:] in ("r", "n", "t"):
                return _Item(literal=match[0])
        elif character == "(":
            return self._group()
        else:
            self.position += 1
            return _Item(literal="" if character in ".^$" else character.lower())
        return _Item()

    def _group(self) -> _Item | None:
        match = _GROUP.match(self.pattern, self.position)
        assert match is not None
        self.position = match.end()
        if match[0].endswith(")"):  # A comment, or options for the rest of the group.
            return None
        item = _Item(self.branches(), is_atomic=match[0][2:] in ("=", "!", "<=", "<!", ">"))
        self.position += 1
        return item

    def _repeated(self, item: _Item) -> _Item:
        """Read the quantifiers behind an item."""
        while match := _QUANTIFIER.match(self.pattern, self.position):
            sign, least, comma, most = match[1], match[2], match[3], match[4]
            if not sign and not least and not most:  # Such braces are ordinary characters.
                break
            self.position = match.end()
            if item.branches or (item.least, item.most) != (1, 1):
                item = _Item([[item]])
            if sign:
                item.least, item.most = float(sign == "+"), 1 if sign == "?" else math.inf
                item.is_atomic |= match[0].endswith("+") and len(match[0]) > 1
            else:
                item.least = int(least or 0)
                item.most = int(most) if most else math.inf if comma else item.least
        return item


def _after_set(pattern: str, position: int) -> int:
    """Return the position after a set such as ``[^a-z]``, which may contain other sets."""
    depth = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "\\":
            position += 2
            continue
        depth += (character == "[") - (character == "]")
        position += 1
        if character == "[" and pattern[position : position + 1] == "^":
            position += 1
        # A bracket at the beginning of a set is an ordinary character.
        if character == "[" and pattern[position : position + 1] == "]":
            position += 1
        if depth == 0:
            break
    return position
