"""The output folder of an annotation run: shards, the log of finished shards, the manifest.

A shard is finished once it has a line in ``shards.jsonl``.  The line is written after the shard, so
a run can be killed at any time.  At the end, ``manifest.json`` replaces ``shards.jsonl``.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from syntagma.drafts import remove_abandoned
from syntagma.errors import DamagedFileError, InputError
from syntagma.files import read_json
from syntagma.formats import check_format, stamp
from syntagma.outputs import disk_errors, require_absent, write_json
from syntagma.parse.corpora.chunks import Counts

SETTINGS, SHARD_LOG, MANIFEST = "annotation.json", "shards.jsonl", "manifest.json"
ENDING = ".parquet"
FINGERPRINT = "fingerprint"
FORMAT = 1
REMEDY = "annotate the files again"


@dataclass(frozen=True, slots=True)
class ShardEntry:
    """The manifest's record of a shard.

    Args:
        name: file name.
        bytes: file size.
        checksum: hash of the file.
        input: hash of the records that the shard was made from.
        counts: counts of records, sentences and words.
    """

    name: str
    bytes: int
    checksum: str
    input: str
    counts: Counts

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> ShardEntry:
        """Convert back from JSON; the inverse of :func:`dataclasses.asdict`.

        Args:
            value: a JSON object.
        """
        return cls(**(value | {"counts": Counts(**value["counts"])}))


def checksum(path: Path) -> str:
    """Return a hash of a file.

    Args:
        path: the file.
    """
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


class CorpusFolder:
    """The output folder of an annotation run.

    Args:
        path: path of the folder.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def begin(self, settings: dict[str, Any], *, resume: bool) -> dict[str, ShardEntry]:
        """Create the folder, or find out what is finished in it.

        Args:
            settings: everything that shards depend on.
            resume: whether the folder may contain an unfinished or damaged corpus.

        Returns:
            Finished shards by name, without damaged ones.

        Raises:
            InputError: the folder exists and ``resume`` is false, or the corpus in it was started
                with other settings.
        """
        has_started = (self.path / SETTINGS).is_file()
        if has_started and not resume:
            raise InputError(
                f"{self.path}: exists and is not empty; continue it with --resume, name a new "
                f"folder, or remove this one first"
            )
        if not has_started:
            folder = require_absent(self.path)
            with disk_errors(folder):
                folder.mkdir(parents=True, exist_ok=True)
            write_json(folder / SETTINGS, settings)
            return {}
        before = _read_object(self.path / SETTINGS)
        # The fingerprint is compared last: a parser's name tells the user more.
        for key in sorted({*before, *settings} - {FINGERPRINT}):
            if before.get(key) != settings.get(key):
                raise InputError(
                    f"{self.path}: was started with {key} {before.get(key)!r}, got "
                    f"{settings.get(key)!r}; resume with the same settings, or name a new folder"
                )
        if before.get(FINGERPRINT) != settings.get(FINGERPRINT):
            raise InputError(
                f"{self.path}: the parser or the segmentation rules have changed since this corpus "
                f"was started; name a new folder to annotate it again"
            )
        remove_abandoned(self.path)
        return {entry.name: entry for entry in self._entries() if self._is_intact(entry)}

    def _entries(self) -> list[ShardEntry]:
        """Return the shards that were finished before, perhaps damaged since."""
        if (self.path / MANIFEST).is_file():
            return read_manifest(self.path).shards
        log = self.path / SHARD_LOG
        if not log.is_file():
            return []
        lines = log.read_bytes().split(b"\n")
        # If a run was killed while it wrote a line, that line has no end.  It is removed, so that
        # the next line does not continue it.
        complete = [line for line in lines[:-1] if line]
        if lines[-1]:
            with disk_errors(log):
                log.write_bytes(b"".join(line + b"\n" for line in complete))
        return [ShardEntry.from_json(json.loads(line)) for line in complete]

    def _is_intact(self, entry: ShardEntry) -> bool:
        path = self.path / entry.name
        return (
            path.is_file()
            and path.stat().st_size == entry.bytes
            and checksum(path) == entry.checksum
        )

    def add(self, entry: ShardEntry) -> None:
        """Record a finished shard.

        Args:
            entry: the shard.
        """
        log = self.path / SHARD_LOG
        with disk_errors(log), open(log, "ab") as file:
            file.write(json.dumps(asdict(entry)).encode() + b"\n")
            # On disk before the run continues: it may be killed at any time.
            file.flush()
            os.fsync(file.fileno())

    def finish(self, entries: dict[str, ShardEntry], inputs: list[str]) -> Manifest:
        """Write the manifest and remove all shards that it does not list.

        Args:
            entries: the shards by name.
            inputs: the files that were read.
        """
        for path in self.path.glob(f"*{ENDING}"):
            if path.name not in entries:
                path.unlink()
        shards = [entries[name] for name in sorted(entries)]
        total: Counts = reduce(add, (entry.counts for entry in shards), Counts())
        manifest = Manifest(read_json(self.path / SETTINGS), inputs, total, shards)
        write_json(self.path / MANIFEST, manifest.to_dict())
        (self.path / SHARD_LOG).unlink(missing_ok=True)
        return manifest


@dataclass(frozen=True, slots=True)
class Manifest:
    """Settings, input and content of an annotated corpus.

    Args:
        settings: everything that the shards depend on.
        inputs: the files that were read.
        counts: totals over all shards.
        shards: the shards in order.
    """

    settings: dict[str, Any]
    inputs: list[str]
    counts: Counts
    shards: list[ShardEntry]

    def to_dict(self) -> dict[str, Any]:
        """Convert to the content of ``manifest.json``."""
        return {**stamp(FORMAT), **asdict(self)}


def read_manifest(folder: str | Path) -> Manifest:
    """Read the manifest of a finished corpus.

    Args:
        folder: folder of the corpus.

    Raises:
        InputError: there is no corpus, it is not finished, or another version wrote it.
        DamagedFileError: the manifest is damaged.
    """
    folder = Path(folder)
    if not (folder / MANIFEST).is_file():
        if (folder / SETTINGS).is_file():
            raise InputError(
                f"{folder}: is not finished; continue it with `syntagma annotate … --resume`"
            )
        raise InputError(f"{folder}: no annotated corpus; give the output folder of annotate")
    path = folder / MANIFEST
    value = _read_object(path)
    check_format(value, path, FORMAT, remedy=REMEDY)
    try:
        return Manifest(
            value["settings"],
            value["inputs"],
            Counts(**value["counts"]),
            [ShardEntry.from_json(entry) for entry in value["shards"]],
        )
    except (KeyError, TypeError) as error:
        raise DamagedFileError(f"{folder / MANIFEST}: damaged ({error})") from error


def _read_object(path: Path) -> dict[str, Any]:
    value = read_json(path)
    if not isinstance(value, dict):
        raise DamagedFileError(f"{path}: expected an object, got {value!r:.60}; {REMEDY}")
    return value
