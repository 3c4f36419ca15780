"""Progress of long work: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
from typing import Any

from tqdm.auto import tqdm

__all__ = ["progress_bar"]

SECONDS_WATCHED, SECONDS_LOGGED = 1, 30


def progress_bar(**options: Any) -> tqdm[Any]:
    """A bar on standard error that is drawn seldom where nobody watches it.

    Args:
        options: of :class:`tqdm.tqdm`.
    """
    watched = sys.stderr.isatty() or "ipykernel" in sys.modules
    return tqdm(mininterval=SECONDS_WATCHED if watched else SECONDS_LOGGED, **options)
