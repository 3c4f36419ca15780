"""Progress bars that redraw often on a terminal and rarely in a log file."""

from __future__ import annotations

import sys
from typing import Any

from tqdm.auto import tqdm

SECONDS_INTERACTIVE, SECONDS_LOGGED = 1, 30


def progress_bar(**options: Any) -> tqdm[Any]:
    """Create a progress bar on standard error whose refresh rate suits a terminal or a log.

    Args:
        options: keyword arguments of :class:`tqdm.tqdm`.
    """
    # In a notebook stderr is not a terminal, but somebody is watching.
    interactive = sys.stderr.isatty() or "ipykernel" in sys.modules
    return tqdm(mininterval=SECONDS_INTERACTIVE if interactive else SECONDS_LOGGED, **options)
