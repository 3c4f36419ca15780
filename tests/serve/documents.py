"""An index of two small documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import SENTENCES


def save_index(folder: Path, encoder: str) -> Path:
    """Index documents that are written to the folder; return the index."""
    pytest.importorskip("markdown_it")
    from syntagma.retrieval.passage_index import PassageIndex

    documents = folder / "documents"
    documents.mkdir()
    for name, first in (("tides.md", 0), ("gulls.md", 4)):
        parts = (f"## Part {n}\n\n{SENTENCES[first + n]}" for n in range(4))
        (documents / name).write_text(f"# {name}\n\n" + "\n\n".join(parts))
    PassageIndex.build([documents], folder / "notes", encoder=encoder)
    return folder / "notes"
