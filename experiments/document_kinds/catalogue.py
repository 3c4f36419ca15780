"""All kinds of documents by name."""

from __future__ import annotations

from collections.abc import Callable

from document_kinds import composed, grids, homes, letters, notices, pages, people, tabular, things
from document_kinds.document import Passage
from document_kinds.draw import Draw

KINDS: dict[str, Callable[[Draw], Passage]] = {
    **homes.KINDS,
    **tabular.KINDS,
    **letters.KINDS,
    **notices.KINDS,
    **things.KINDS,
    **people.KINDS,
    **composed.KINDS,
    **pages.KINDS,
}
ALL_KINDS = KINDS | grids.KINDS
"""With the tables whose columns are of one type, which are made only if they are asked for."""
