"""What the jobs of :class:`syntagma.serve.operations.Operations` take, as plain values.

A payload crosses to another process, which knows it by its place only if nobody names its parts:
these have names, and what is new in one has a default, so that older callers still work.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class AnswerPayload(NamedTuple):
    """A question about a text."""

    text: str
    question: str
    mode: Any = "balanced"
    top: int = 1
    """Candidates to show."""


class AskPayload(NamedTuple):
    """A question about the documents of an index."""

    index_name: str
    question: str
    mode: Any
    top: int
    read: int
    """Passages to read."""


class SearchPayload(NamedTuple):
    """A question whose passages are sought."""

    question: str
    top: int
    by: Any
    """Kind of scores."""


class PredictPayload(NamedTuple):
    """Inputs of a model of any task, by their names."""

    inputs: dict[str, Any]


class ParsePayload(NamedTuple):
    """A text to parse."""

    text: str
    to: str = "json"
    """Format of the result."""
    phrases: bool = False
    lang: str = ""
    """Language of the text; detected if empty."""


class ParsePartPayload(NamedTuple):
    """Some sentences of a text to parse."""

    text: str
    phrases: bool
    lang: str
    first: int
    number: int
