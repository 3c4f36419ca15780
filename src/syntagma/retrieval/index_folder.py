"""The folder of an index: which of its generations is the current one, and what an interrupted
build has left.

``index.json`` names the current generation, a folder that never changes.  A build writes a new one
and then replaces ``index.json``, so whoever opens the index finds the old or the new one, never
something in between, wherever the build is killed.  What a build has finished so far lies in
folders ``part-N``, from which the next build goes on.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from syntagma.drafts import is_draft
from syntagma.errors import DamagedFileError, InputError
from syntagma.files import read_json
from syntagma.formats import check_format, stamp
from syntagma.outputs import write_json
from syntagma.retrieval.passages import MOST_WORDS
from syntagma.retrieval.store import FILES, REMEDY, Store

log = logging.getLogger(__name__)

INDEX = "index.json"
FORMAT_VERSION = 1
GENERATION, PART = "generation-", "part-"
KEYWORDS = "keywords"
"""Folder of the keyword index inside a generation."""
SETTINGS = "settings.json"
"""File of a part that says with which settings it was built."""
EXTRACTION = 2
"""With 1, a run of a script without spaces was one term, and combining marks ended words."""
_OURS = re.compile(rf"(?:{PART}|{GENERATION})\d{{6,}}")
_CONTENT = frozenset((*FILES, KEYWORDS, SETTINGS))


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """What the passages and scores of an index depend on.

    Args:
        encoder: name of the encoder of the vectors; empty for keywords alone.
        encoder_digest: identifies its weights.
        language: of the stems, see :class:`syntagma.retrieval.terms.TermFinder`.
        passage_words: the greatest number of words of a passage.
        extraction: version of the code that extracts and cuts texts and finds their terms.
    """

    encoder: str = "default"
    encoder_digest: str = ""
    language: str = "english"
    passage_words: int = MOST_WORDS
    extraction: int = EXTRACTION

    def has_same_passages(self, other: IndexSettings) -> bool:
        """Whether passages and vectors are the same with other settings, if not the terms."""
        return self._of_passages() == other._of_passages()

    def _of_passages(self) -> IndexSettings:
        """Return the settings as two indexes with the same passages and vectors have them."""
        return replace(
            self,
            # A folder may be written in several ways.
            encoder="" if self.encoder_digest else self.encoder,
            # The first version differs in the terms alone.
            extraction=EXTRACTION if self.extraction == 1 else self.extraction,
        )


@dataclass(frozen=True, slots=True)
class IndexState:
    """The content of ``index.json``.

    Args:
        generation: name of the folder of the current generation.
        sources: files and folders that were indexed, as absolute paths.
        settings: what passages and scores depend on.
        n_documents: number of documents with text.
        n_passages: number of their passages.
    """

    generation: str
    sources: tuple[str, ...]
    settings: IndexSettings = field(default_factory=IndexSettings)
    n_documents: int = 0
    n_passages: int = 0


def is_index(path: str | Path) -> bool:
    """Whether a path is the folder of an index."""
    return (Path(path) / INDEX).is_file()


def require_place(folder: Path) -> None:
    """Check that a folder is an index, or can become one.

    Raises:
        InputError: it is a file, or has what no build has written.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; name a new folder, or the folder of an index")
    if not folder.is_dir() or is_index(folder):
        return
    # An interrupted first build leaves parts and drafts, but no index yet.
    for path in sorted(folder.iterdir()):
        if not _is_ours(path) and not is_draft(path.name):
            raise InputError(
                f"{folder}: is not an index and not empty (it has {path.name!r}); name a new folder"
            )


def _is_ours(path: Path) -> bool:
    """Whether a folder is a part or a generation: its name alone may be that of a user's folder."""
    if not _OURS.fullmatch(path.name) or path.is_symlink() or not path.is_dir():
        return False
    try:
        # A killed process may have removed some of the files.
        return _CONTENT.issuperset(os.listdir(path))
    except OSError:
        return False


def _built(folder: Path, prefix: str) -> list[Path]:
    """Return the parts or the generations in a folder, in order."""
    return [path for path in sorted(folder.glob(f"{prefix}*")) if _is_ours(path)]


def read_state(folder: Path) -> IndexState:
    """Read which generation of an index is the current one.

    Args:
        folder: of the index.

    Raises:
        InputError: the folder is not an index, or was written by a later version.
        DamagedFileError: ``index.json`` is broken.
    """
    path = folder / INDEX
    if not path.is_file():
        raise InputError(
            f"{folder}: is not an index (it has no {INDEX}); make one: syntagma index SOURCE --out "
            f"{folder}"
        )
    values = read_json(path)
    if not isinstance(values, Mapping):
        raise DamagedFileError(f"{path}: expected an object, got {values!r:.40}; {REMEDY}")
    check_format(values, path, FORMAT_VERSION, remedy=REMEDY)
    try:
        return IndexState(
            generation=_plain_name(values["generation"]),
            sources=tuple(map(str, values["sources"])),
            settings=IndexSettings(**values["settings"]),
            n_documents=int(values["n_documents"]),
            n_passages=int(values["n_passages"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedFileError(f"{path}: is broken ({error}); {REMEDY}") from error


def read_current(folder: Path) -> tuple[IndexState | None, Store | None]:
    """Return what an index that is built holds: nothing if it is new, or damaged.

    Args:
        folder: of the index, held by the caller.

    Raises:
        InputError: it was written by a later version.
    """
    if not is_index(folder):
        return None, None
    try:
        state = read_state(folder)
        return state, Store(folder / state.generation)
    except DamagedFileError:
        log.warning("%s: is damaged, so all documents are read again", folder)
        return None, None


def _plain_name(name: Any) -> str:
    """Check that a name is one of a generation: a file from elsewhere must not lead elsewhere."""
    if not isinstance(name, str) or not name.startswith(GENERATION) or Path(name).name != name:
        raise ValueError(f"generation {name!r}")
    return name


def write_state(folder: Path, state: IndexState) -> None:
    """Make a generation the current one."""
    write_json(folder / INDEX, stamp(FORMAT_VERSION) | asdict(state))


def next_generation(folder: Path) -> str:
    """Return a name that no generation of the index has."""
    numbers = [
        int(path.name.removeprefix(GENERATION))
        for path in folder.glob(f"{GENERATION}*")
        if path.name.removeprefix(GENERATION).isdigit()
    ]
    return f"{GENERATION}{max(numbers, default=0) + 1:06d}"


def finished_parts(folder: Path, settings: IndexSettings) -> Iterator[Store]:
    """Yield what an interrupted build with the same settings finished; remove what others left.

    Args:
        folder: of the index, held by the caller.
        settings: of the build.
    """
    for path in _built(folder, PART):
        about = path / SETTINGS
        try:
            if read_json(about) == asdict(settings):
                yield Store(path)
                continue
        except InputError:
            pass
        shutil.rmtree(path, ignore_errors=True)


def finish_part(draft: Path, folder: Path, settings: IndexSettings) -> Store:
    """Keep what a build has finished so far.

    Args:
        draft: a finished folder of passages.
        folder: of the index.
        settings: of the build.
    """
    write_json(draft / SETTINGS, asdict(settings))
    number = sum(1 for _ in folder.glob(f"{PART}*")) + 1
    while (place := folder / f"{PART}{number:06d}").exists():
        number += 1
    os.replace(draft, place)
    return Store(place)


def remove_others(folder: Path, generation: str) -> None:
    """Remove parts and all generations but one.

    Whoever has one open keeps it: on Windows its files stay until the next build.
    """
    for path in [*_built(folder, PART), *_built(folder, GENERATION)]:
        if path.name != generation:
            shutil.rmtree(path, ignore_errors=True)
