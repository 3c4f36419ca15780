"""A build that is killed leaves the old index or the new one, and the next build goes on."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np
import pytest

from syntagma.errors import InputError
from syntagma.retrieval import build
from syntagma.retrieval.index_folder import INDEX
from syntagma.retrieval.passage_index import PassageIndex
from tests.conftest import SENTENCES
from tests.processes import Child

N_DOCUMENTS, N_KILLS = 120, 8


def build_slowly(documents: str, out: str, encoder: str) -> None:
    """Build an index in many small parts."""
    build.BATCH_PASSAGES, build.PART_SECONDS = 8, 0.02
    print("ready", flush=True)
    PassageIndex.build([documents], out, encoder=encoder)


def write(folder: Path, version: int) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(N_DOCUMENTS):
        text = f"Version {version} of log {number}.\n\n{SENTENCES[number % len(SENTENCES)]}"
        (folder / f"{number:03d}.txt").write_text(text)


def start(documents: Path, out: Path, encoder: str) -> Child:
    """Start a build in another process, and wait until it begins."""
    arguments = (str(documents), str(out), encoder)
    # It has a process of its own, which extracts the texts.
    child = Child(build_slowly, *arguments, folder=documents.parent, has_children=True)
    while child.is_running and not (child.out.is_file() and child.out.read_text()):
        time.sleep(0.005)
    return child


def versions(index: PassageIndex) -> set[str]:
    """The versions of the documents that an index has."""
    assert len(index) == N_DOCUMENTS
    numbers = range(len(index))
    return {passage.text.split()[1] for passage in map(index.store.passage, numbers)}


@pytest.mark.slow
def test_a_killed_build_leaves_the_old_index_or_the_new_one(tmp_path, tiny_encoder):
    documents, out = tmp_path / "documents", tmp_path / "index"
    write(documents, 1)
    child, begun = start(documents, out, tiny_encoder), time.monotonic()
    child.require_success()
    whole = time.monotonic() - begun
    draw = random.Random(5)
    version, n_killed = 1, 0
    for _ in range(N_KILLS):
        old = {str(version)}
        version += 1
        write(documents, version)
        child = start(documents, out, tiny_encoder)
        time.sleep(draw.uniform(0, whole))
        n_killed += child.is_running
        child.kill()
        index = PassageIndex.open(out)
        # Half a build has parts of the new version, but its generation is the old one.
        assert versions(index) in (old, {str(version)})
        version = int(versions(index).pop())
    assert n_killed
    write(documents, version + 1)
    start(documents, out, tiny_encoder).require_success()
    index = PassageIndex.open(out)
    new = PassageIndex.build([documents], tmp_path / "new", encoder=tiny_encoder)
    assert index.documents == new.documents
    np.testing.assert_array_equal(index.store.vectors, new.store.vectors)
    assert sorted(path.name for path in out.iterdir()) == [index.state.generation, INDEX]


@pytest.mark.slow
def test_a_first_build_that_is_killed_is_no_index_and_goes_on(tmp_path, tiny_encoder):
    documents, out = tmp_path / "documents", tmp_path / "index"
    write(documents, 1)
    child = start(documents, out, tiny_encoder)
    while child.is_running and not list(out.glob("part-*")):
        time.sleep(0.005)
    child.kill()
    if not (out / INDEX).is_file():
        with pytest.raises(InputError):
            PassageIndex.open(out)
    index = PassageIndex.build([documents], out, encoder=tiny_encoder)
    assert versions(index) == {"1"}
    assert index.report.n_read < N_DOCUMENTS
