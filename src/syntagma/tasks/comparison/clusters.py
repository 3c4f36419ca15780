"""Clusters of examples that are not independent, such as the questions about a paragraph.

Systems are compared over examples by resampling whole clusters
(:mod:`syntagma.analysis.cluster_bootstrap`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

ClusterOf = Callable[[Any], str]
"""Returns what identifies the cluster of an example; empty if it is unknown."""

EXAMPLE = "example"
"""The kind of cluster in which each example is alone."""
KINDS = ("paragraph", "article", "sentence", "document")
"""The kinds that tasks define; each task lists its own, the default first."""


def text_of(attribute: str) -> ClusterOf:
    """Return the cluster "examples with the same text" of a text attribute."""
    return lambda example: str(getattr(example, attribute))


def cluster_ids(
    kinds: Mapping[str, ClusterOf], examples: Mapping[str, Any]
) -> dict[str, dict[str, str]]:
    """Name the cluster of each example, by kind and by the example's id.

    Args:
        kinds: the kinds of clusters that a task defines.
        examples: the examples by their ids in ``examples.json``.

    Returns:
        Short names that are equal for examples of one cluster.  A kind that no example has, and an
        example whose cluster is unknown, are left out.
    """
    found: dict[str, dict[str, str]] = {}
    for kind, cluster_of in kinds.items():
        known = {key: cluster_of(example) for key, example in examples.items()}
        if any(known.values()):
            found[kind] = {key: _short(cluster) for key, cluster in known.items() if cluster}
    return found


def _short(text: str) -> str:
    """Return a hash, because a paragraph is too long to be written for each of its questions."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
