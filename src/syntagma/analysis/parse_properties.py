"""Properties of examples that a parser measures: how deep their trees are, how sure it is of them.

Measured on what is asked or read as a whole: the question of a reading task, the pair of sentences
of an inference, else the sentence itself.
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

__all__ = ["PARSE_PROPERTIES", "measure_parses"]


def _depth(parses: Sequence[Parse]) -> float:
    """Arcs from the root to the deepest word of any sentence."""
    depths = [
        tour(np.array(parse.heads, np.int32), np.zeros(len(parse), np.int32)).depth.max(initial=0)
        for parse in parses
    ]
    return float(max(depths, default=0))


def _confidence(parses: Sequence[Parse]) -> float:
    """Mean probability of the arcs, in per cent; 100 where the source knows none."""
    found = [probability for parse in parses for probability in parse.probabilities or ()]
    return 100 * mean(found) if found else 100.0


PARSE_PROPERTIES: dict[str, Callable[[Sequence[Parse]], float]] = {
    "dependency_depth": _depth,
    "parse_confidence": _confidence,
}
"""By name what is measured on the sentences of an example."""


def _texts(example: Any) -> list[str]:
    for names in (("question",), ("first", "second"), ("source",), ("text",)):
        if all(hasattr(example, name) for name in names):
            return [text for name in names if (text := getattr(example, name)).strip()]
    return []


STORED = {"dependency_depth"}
"""Those that need nothing but what a parse cache keeps."""


def measure_parses(
    examples: Sequence[Any],
    names: Collection[str] = tuple(PARSE_PROPERTIES),
    *,
    source: ParseSource | None = None,
) -> dict[str, dict[str, float]]:
    """Measure the trees of examples.

    Args:
        examples: of any task that reads texts, with an ``id`` each.
        names: what to measure.  The parse cache keeps no probabilities: for the confidence
            everything is parsed anew.
        source: of the parses; ``default-parser`` if not given.

    Returns:
        For each name a number for each id.
    """
    source = source or load_source(DEFAULT_PARSER)
    if {*names} <= STORED:
        source = CachedSource(ParseCache(source, cache_folder()))
    texts = list(dict.fromkeys(text for example in examples for text in _texts(example)))
    parses = dict(zip(texts, source.parse_texts(texts), strict=True))
    own = {
        example.id: [parse for text in _texts(example) for parse in parses[text]]
        for example in examples
    }
    return {
        name: {key: PARSE_PROPERTIES[name](found) for key, found in own.items()} for name in names
    }
