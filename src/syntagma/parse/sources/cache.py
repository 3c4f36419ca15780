"""A cache of parses on disk, so that each training text is parsed only once.

Each parse source has a folder of its own, named after its fingerprint, in which texts are looked up
by a hash.  New texts are parsed in groups.  Each group is written atomically to a safetensors file
with a checksum, so that a killed run loses at most one group.  Processes that need the same texts
at the same time share the work, a group at a time.  A damaged file is reported and removed, and its
texts are parsed again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from filelock import FileLock, Timeout
from numpy.typing import NDArray
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from syntagma.batches import batched
from syntagma.drafts import drop_lock, remove_abandoned, remove_free_locks
from syntagma.outputs import disk_errors, write_file
from syntagma.parse.columns import NOTHING, Labels, ParsedText, Unwritten, require_trees
from syntagma.parse.sources.source import ParseSource
from syntagma.progress import progress_bar
from syntagma.text.sentence import Parse

log = logging.getLogger(__name__)

FORMAT = 3
GROUP = 2000
"""Number of texts that are parsed and written together."""
IN_MEMORY = 200_000
"""Number of texts whose parses on disk are also kept in memory between calls, about 300 MB."""
POLL_SECONDS = 1.0
"""Time between two looks at groups that other processes are parsing."""
REMEDY = "set SYNTAGMA_CACHE to another folder"

COLUMNS = ("starts", "ends", "sentences", "heads", "relations", "upos", "xpos", "parts")
UNWRITTEN = "unwritten"
"""Name of the array with the JSON of what the texts do not show."""
LABELS = ("relation_labels", "upos_labels", "xpos_labels")


def cache_folder() -> Path:
    """Return ``$SYNTAGMA_CACHE`` if set, otherwise ``syntagma`` in the user's cache folder."""
    if folder := os.environ.get("SYNTAGMA_CACHE"):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "syntagma"


def _key(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class _Lock:
    """A lock for threads; a copied or unpickled object gets one of its own."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[_Lock], tuple[()]]:
        return _Lock, ()


class ParseCache:
    """The parses of one source, read from disk where possible.

    Threads may share a cache; the source is asked by one of them at a time.

    Args:
        source: parses texts that are not in the cache.
        folder: cache folder; ``None`` to write nothing to disk.
        group: number of texts that are parsed and written together.

    Attributes:
        parsed_words: number of words parsed by this object, without those read from disk.
        seconds: time spent parsing, in seconds.
    """

    def __init__(
        self, source: ParseSource, folder: Path | None = None, *, group: int = GROUP
    ) -> None:
        self.source = source
        self.group = group
        name = hashlib.blake2b(f"{FORMAT}:{source.fingerprint}".encode(), digest_size=8).hexdigest()
        self.folder = folder / "parses" / name if folder else None
        self.parsed_words, self.seconds = 0, 0.0
        self._known: dict[str, ParsedText] = {}
        self._files: dict[str, Path] = {}  # where the parses on disk are, by key
        self._seen: set[Path] = set()
        self._alone = _Lock()
        if self.folder is not None:
            # Of processes that were killed.
            remove_abandoned(self.folder)
            remove_free_locks(self.folder, ".*.lock")
        self._find_new()

    def parsed(self, texts: Sequence[str]) -> list[ParsedText]:
        """Return the parses of texts, parsing those that are new.

        Args:
            texts: any texts, repeated ones included.

        Returns:
            One element for each text, in order.

        Raises:
            InputError: the source returned something that is not a tree, or the disk is full.
        """
        with self._alone:
            return self._parsed(texts)

    def _parsed(self, texts: Sequence[str]) -> list[ParsedText]:
        keys = [_key(text) for text in texts]
        self._load(keys)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if new:
            few = len(new) < self.group
            with progress_bar(total=len(new), desc="parsing", unit="text", disable=few) as bar:
                pending = list(batched(new.items(), self.group))
                while pending:
                    locked = []
                    for group in pending:
                        if self._parse_unless_locked(group):
                            bar.update(len(group))
                        else:
                            locked.append(group)
                    # Wait only if other processes are parsing all that is left to do.
                    if len(locked) == len(pending):
                        time.sleep(POLL_SECONDS)
                    pending = locked
        return [self._known[key] for key in keys]

    def forget(self) -> None:
        """Drop parses from memory, so that streams of texts take constant memory.

        A cache with a folder reads them again when they are needed, and keeps more of them.
        """
        with self._alone:
            if len(self._known) > (self.group if self.folder is None else IN_MEMORY):
                self._known.clear()

    def _find_new(self) -> None:
        """Note which parses are in the files that were added to the folder since the last call."""
        if self.folder is None or not self.folder.is_dir():
            return
        # Names with a leading dot are unfinished files of other processes.
        for path in sorted(set(self.folder.glob("[!.]*.safetensors")) - self._seen):
            self._files.update(dict.fromkeys(_keys_of(path), path))
            self._seen.add(path)

    def _load(self, keys: Iterable[str]) -> None:
        """Read the parses that are on disk and not in memory."""
        wanted = [key for key in keys if key in self._files and key not in self._known]
        for path in sorted({self._files[key] for key in wanted}):
            self._known.update(_read_or_remove(path))
        for key in wanted:
            if key not in self._known:  # The file was damaged.
                del self._files[key]

    def _parse_unless_locked(self, group: list[tuple[str, str]]) -> bool:
        """Parse a group of keys and texts, unless another process is parsing the same group."""
        if self.folder is None:
            self._parse(group)
            return True
        path = self.folder / f".{_key(' '.join(key for key, _ in group))}.lock"
        lock = FileLock(path)
        with disk_errors(path, REMEDY):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                return False
        try:
            # Another process may have finished the group before this one took the lock.
            self._find_new()
            self._load(key for key, _ in group)
            rest = [(key, text) for key, text in group if key not in self._known]
            if rest:
                self._parse(rest)
        finally:
            # A process that has just opened the removed file can lock it as well.  It then finds
            # the parses on disk, or at worst parses the group a second time.
            drop_lock(lock)
        return True

    def _parse(self, group: list[tuple[str, str]]) -> None:
        """Parse a group of keys and texts, and write it to disk."""
        begin = time.perf_counter()
        labels = {name: Labels() for name in LABELS}
        columns: dict[str, ParsedText] = {}
        parses = self.source.parse_texts(text for _, text in group)
        for (key, text), sentences in zip(group, parses, strict=True):
            require_trees(sentences, text)
            columns[key] = ParsedText.from_parses(sentences, text=text, **labels)
            self.parsed_words += len(columns[key])
        self.seconds += time.perf_counter() - begin
        self._known.update(columns)
        if self.folder is not None:
            path = _write(self.folder, columns, labels)
            self._files.update(dict.fromkeys(columns, path))
            self._seen.add(path)


class CachedSource:
    """A parse source that reads from a cache, for callers that ask for the same texts again.

    Args:
        cache: the parses; a cache keeps no probabilities, phrases, features and lemmas.
    """

    def __init__(self, cache: ParseCache) -> None:
        self.cache = cache

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the source behind the cache."""
        return self.cache.source.fingerprint

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """Parse texts, or read their parses from the cache; offsets refer to the text.

        Args:
            texts: any texts.
        """
        for group in batched(texts, self.cache.group):
            for text, parsed in zip(group, self.cache.parsed(group), strict=True):
                yield parsed.parses(text)
            self.cache.forget()


def _write(folder: Path, columns: dict[str, ParsedText], labels: dict[str, Labels]) -> Path:
    """Write the parses of one group, by key, to a new file."""
    arrays: dict[str, NDArray[Any]] = {
        name: np.concatenate([getattr(text, name) for text in columns.values()]) for name in COLUMNS
    }
    arrays["n_words"] = np.array([len(text) for text in columns.values()], np.int32)
    unwritten = [
        (number, list(forms.items()), list(multiword.items()), continued)
        for number, (forms, multiword, continued) in enumerate(
            text.unwritten for text in columns.values()
        )
        if forms or multiword or continued
    ]
    # As an array, because the size of the metadata is limited.
    arrays[UNWRITTEN] = np.frombuffer(json.dumps(unwritten).encode(), np.uint8)
    metadata = {name: json.dumps(value.names) for name, value in labels.items()}
    metadata["keys"] = " ".join(columns)
    data = save_tensors(arrays, metadata)
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    # The file is named after its checksum, so that changed bytes are noticed.
    path = folder / f"{digest}.safetensors"
    with write_file(path, REMEDY) as draft:
        draft.write_bytes(data)
    return path


def _keys_of(path: Path) -> list[str]:
    """Read the keys of one group; none of a file that cannot be read."""
    try:
        with safetensors.safe_open(path, "np") as file:
            return str(file.metadata()["keys"]).split()
    except (OSError, safetensors.SafetensorError, KeyError, TypeError):
        # Reading the whole file reports and removes it, unless another process has done so.
        return list(_read_or_remove(path))


def _read_or_remove(path: Path) -> dict[str, ParsedText]:
    """Read the parses of one group by key; remove the file if it is damaged."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:  # Another process has found it damaged and removed it.
        return {}
    if hashlib.blake2b(data, digest_size=16).hexdigest() != path.stem:
        log.warning("%s: damaged, removed; its texts are parsed again", path)
        path.unlink(missing_ok=True)
        return {}
    with safetensors.safe_open(path, "np") as file:
        metadata = file.metadata()
    arrays = load_tensors(data)
    labels = {name: Labels(json.loads(metadata[name])) for name in LABELS}
    bounds = np.concatenate([[0], np.cumsum(arrays["n_words"])])
    unwritten = {
        number: Unwritten(
            dict(forms), {where: tuple(map(tuple, own)) for where, own in multiword}, tuple(rest)
        )
        for number, forms, multiword, rest in json.loads(arrays[UNWRITTEN].tobytes())
    }
    found = {}
    for number, key in enumerate(metadata["keys"].split()):
        words = slice(bounds[number], bounds[number + 1])
        columns = [arrays[name][words] for name in COLUMNS]
        values: list[Any] = [*columns, *labels.values(), unwritten.get(number, NOTHING)]
        found[key] = ParsedText(*values)
    return found
