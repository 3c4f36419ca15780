"""Gold labels that a model does not know."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable

from syntagma.settings import nearest

__all__ = ["warn_of_unknown"]

log = logging.getLogger(__name__)


def warn_of_unknown(gold: Iterable[str], known: Collection[str]) -> set[str]:
    """Log how many gold labels a model does not know: none of them is ever given.

    Args:
        gold: every label of every example.
        known: the model's.

    Returns:
        The unknown ones.
    """
    unknown = [label for label in gold if label not in known]
    if unknown:
        log.warning(
            "%d gold labels are unknown to the model and count as missed, such as %r; %s",
            len(unknown),
            unknown[0],
            nearest(unknown[0], list(known)),
        )
    return set(unknown)
