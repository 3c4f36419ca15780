"""Properties of examples that are measured on their parses: tree depth and parser confidence.

They are measured on the question of a reading task, on both sentences of a pair, and otherwise on
the sentence itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from statistics import mean
from typing import Any

import numpy as np

from syntagma.encoders.default import DEFAULT_PARSER
from syntagma.parse.sources.cache import CachedSource, ParseCache, cache_folder
from syntagma.parse.sources.load import load_source
from syntagma.parse.sources.source import ParseSource
from syntagma.syntax.ancestors import tour
from syntagma.text.sentence import Parse


def _depth(parses: Sequence[Parse]) -> float:
    """Compute the largest number of arcs from a root to a word."""
    depths = [
        tour(np.array(parse.heads, np.int32), np.zeros(len(parse), np.int32)).depth.max(initial=0)
        for parse in parses
    ]
    return float(max(depths, default=0))


def _confidence(parses: Sequence[Parse]) -> float:
    """Compute the mean probability of the arcs in per cent; 100 if the source gives none."""
    found = [probability for parse in parses for probability in parse.probabilities or ()]
    return 100 * mean(found) if found else 100.0


PARSE_PROPERTIES: dict[str, Callable[[Sequence[Parse]], float]] = {
    "dependency_depth": _depth,
    "parse_confidence": _confidence,
}
"""Functions that compute a property from the parses of an example, by name of the property."""
CACHEABLE = {"dependency_depth"}
"""Properties that can be computed from cached parses, which have no probabilities."""


def _texts(example: Any) -> list[str]:
    """Return the texts of an example to parse, whatever its task."""
    for names in (("question",), ("first", "second"), ("source",), ("text",)):
        if all(hasattr(example, name) for name in names):
            return [text for name in names if (text := getattr(example, name)).strip()]
    return []


def measure_parses(
    examples: Sequence[Any],
    names: Collection[str] = tuple(PARSE_PROPERTIES),
    *,
    source: ParseSource | None = None,
) -> dict[str, dict[str, float]]:
    """Measure properties of the parses of examples.

    Args:
        examples: examples of any task that reads texts, each with an ``id``.
        names: names of the properties.  Confidence cannot be computed from cached parses, so all
            texts are parsed again.
        source: the parse source; defaults to ``default-parser``.

    Returns:
        For each property, its value by id of the example.
    """
    source = source or load_source(DEFAULT_PARSER)
    if {*names} <= CACHEABLE:
        source = CachedSource(ParseCache(source, cache_folder()))
    texts = list(dict.fromkeys(text for example in examples for text in _texts(example)))
    parses = dict(zip(texts, source.parse_texts(texts), strict=True))
    by_id = {
        example.id: [parse for text in _texts(example) for parse in parses[text]]
        for example in examples
    }
    return {
        name: {key: PARSE_PROPERTIES[name](found) for key, found in by_id.items()} for name in names
    }
