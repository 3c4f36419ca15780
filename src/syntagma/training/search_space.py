"""The search space of a sweep: settings with the values that they may take."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from syntagma.errors import InputError
from syntagma.settings import read_value

RANGE = re.compile(r"(?P<low>[^,]+)\.\.(?P<high>[^,:]+)(?::(?P<scale>\w+))?")


@dataclass(frozen=True, slots=True)
class Dimension:
    """The values that a setting may take: a list of choices, or a range.

    Args:
        key: name of the setting, such as ``training.learning_rate``.
        choices: the values to choose from; empty for a range.
        low: lower end of a range.
        high: upper end of a range, inclusive.
        log: sample a range on a logarithmic scale.
    """

    key: str
    choices: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the values of a range are integers."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    @property
    def ends(self) -> tuple[Any, ...]:
        """The values to check: all choices, or both ends of a range."""
        return self.choices or (self.low, self.high)

    def as_text(self) -> str:
        """Format as on the command line."""
        if self.choices:
            return f"{self.key}={','.join(map(str, self.choices))}"
        return f"{self.key}={self.low}..{self.high}{':log' if self.log else ''}"


def read_space(texts: Sequence[str]) -> tuple[Dimension, ...]:
    """Parse the dimensions of a search space.

    Args:
        texts: ``KEY=A..B`` for a range, ``KEY=A..B:log`` for a range on a logarithmic scale,
            ``KEY=A,B,C`` for choices; a range between integers has integer values.

    Raises:
        InputError: there are no dimensions, one cannot be parsed, or a key is repeated.

    >>> [d.as_text() for d in read_space(["training.learning_rate=1e-5..1e-3:log"])]
    ['training.learning_rate=1e-05..0.001:log']
    >>> read_space(["preset=none,sg-net"])[0].choices
    ('none', 'sg-net')
    """
    if not texts:
        raise InputError(
            "a sweep needs --space, for example --space training.learning_rate=1e-5..1e-3:log"
        )
    space = tuple(_dimension(text) for text in texts)
    keys = [dimension.key for dimension in space]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(
                f"--space: {key} is given twice; write all its values in one --space {key}=…"
            )
    return space


def _dimension(text: str) -> Dimension:
    key, equals, values = text.partition("=")
    if not equals or not key or not values:
        raise InputError(f"--space {text}: expected KEY=A..B, KEY=A..B:log or KEY=A,B,C")
    found = RANGE.fullmatch(values)
    if found is None:
        return Dimension(key, tuple(_choice(value, text) for value in values.split(",")))
    low, high = (_number(found[name], text) for name in ("low", "high"))
    if found["scale"] not in (None, "log"):
        raise InputError(f"--space {text}: expected :log or nothing, got :{found['scale']}")
    if low >= high or (found["scale"] and low <= 0):
        raise InputError(
            f"--space {text}: expected a range from a smaller to a larger number"
            f"{' above 0' * bool(found[3])}"
        )
    return Dimension(key, low=low, high=high, log=bool(found["scale"]))


def _choice(text: str, where: str) -> Any:
    if not text.strip():
        raise InputError(f"--space {where}: a value is empty; remove the comma, or write null")
    try:
        value = read_value(text, where="--space")
        json.dumps(value)  # The journal of a sweep is in JSON, in which not all of YAML is known.
    except (InputError, TypeError) as error:
        raise InputError(
            f"--space {where}: expected values separated by commas, got {text!r}; a value cannot "
            f"be a list"
        ) from error
    return value


def _number(text: str, where: str) -> float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError as error:
        raise InputError(
            f"--space {where}: expected a number on each side of .., got {text!r}"
        ) from error
