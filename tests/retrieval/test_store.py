"""A folder of passages gives back what was written, and says when a file is broken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from syntagma.errors import DamagedFileError
from syntagma.retrieval.passages import Cut
from syntagma.retrieval.store import (
    DOCUMENTS,
    HEADINGS,
    PASSAGES,
    TEXT,
    VECTORS,
    Store,
    StoredDocument,
    StoreWriter,
)
from tests.messages import naming

FERRY = "The ferry leaves at noon. 渡し船 é 🚢 It returns."
VECTORS_OF_FERRY = np.array([[1, 0], [0, 1]], dtype=np.float32)


def write(folder: Path, *, vector_size: int = 2) -> Path:
    with StoreWriter(folder, vector_size=vector_size) as writer:
        writer.add(StoredDocument("empty.txt", 0, 1, problem="empty.txt: is empty"), "", [], None)
        cuts = [Cut(0, 25, "Boats › Ferries", None), Cut(26, len(FERRY), "", 7)]
        writer.add(StoredDocument("ferry.txt", 60, 2, "ab", "Ferry"), FERRY, cuts, VECTORS_OF_FERRY)
        writer.add(
            StoredDocument("b/\udcff.txt", 1, 3), "x", [Cut(0, 1, "", None)], np.ones((1, 2))
        )
    return folder


def test_passages_are_given_back_with_their_places(tmp_path):
    store = Store(write(tmp_path / "store"))
    assert len(store) == 3
    first, second, third = map(store.passage, range(3))
    assert (first.text, first.source, first.heading, first.page) == (
        "The ferry leaves at noon.",
        "ferry.txt",
        "Boats › Ferries",
        None,
    )
    assert (second.text, second.start, second.end, second.page) == (
        FERRY[26:],
        26,
        len(FERRY),
        7,
    )
    assert third.source == "b/\udcff.txt"
    assert [document.n_passages for document in store.documents] == [0, 2, 1]
    assert store.text(store.documents[1]) == FERRY
    assert store.cuts(store.documents[1])[1] == Cut(26, len(FERRY), "", 7)
    np.testing.assert_array_equal(store.document_vectors(store.documents[1]), VECTORS_OF_FERRY)


def test_passages_are_searched_with_title_and_headings(tmp_path):
    texts = list(Store(write(tmp_path / "store")).searched_texts())
    assert texts[0] == "Ferry\nBoats › Ferries\nThe ferry leaves at noon."
    assert texts[2] == "x"


def test_a_store_without_vectors_or_documents(tmp_path):
    store = Store(write(tmp_path / "keywords", vector_size=0))
    assert store.vectors is None
    with StoreWriter(tmp_path / "nothing", vector_size=2):
        pass
    assert len(Store(tmp_path / "nothing")) == 0


@pytest.mark.parametrize("name", [DOCUMENTS, TEXT, HEADINGS, PASSAGES, VECTORS])
def test_a_file_that_was_cut_off_is_reported(tmp_path, name):
    folder = write(tmp_path / "store")
    path = folder / name
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DamagedFileError, match=naming("build the index again")):
        Store(folder)


@pytest.mark.parametrize("name", [DOCUMENTS, TEXT, HEADINGS, PASSAGES])
def test_a_missing_file_is_reported(tmp_path, name):
    folder = write(tmp_path / "store")
    (folder / name).unlink()
    with pytest.raises(DamagedFileError, match=naming("build the index again")):
        Store(folder)
