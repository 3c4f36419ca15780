"""The folder of an annotated corpus: shards, what is finished, and the manifest at the end.

A shard counts once its line stands in ``shards.jsonl``; the line is written after the shard, so
that a run may be killed at any moment.  A finished corpus has a ``manifest.json`` instead.
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

from syntagma.errors import DamagedFileError, InputError
from syntagma.files import read_json
from syntagma.outputs import disk_errors, require_absent, write_json
from syntagma.parse.corpora.chunks import Counts

__all__ = ["MANIFEST", "CorpusFolder", "ShardEntry", "checksum"]

SETTINGS, LEDGER, MANIFEST = "annotation.json", "shards.jsonl", "manifest.json"
ENDING = ".parquet"
FINGERPRINT = "fingerprint"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class ShardEntry:
    """What the manifest says of a shard.

    Args:
        name: of the file.
        bytes: its size.
        checksum: of its bytes.
        input: a hash of the records that it was made from.
        counts: of records, sentences and words.
    """

    name: str
    bytes: int
    checksum: str
    input: str
    counts: Counts

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> ShardEntry:
        """Undo :func:`dataclasses.asdict`."""
        return cls(**(value | {"counts": Counts(**value["counts"])}))


def checksum(path: Path) -> str:
    """A hash of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


class CorpusFolder:
    """The folder that is written.

    Args:
        path: of the folder.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def begin(self, settings: dict[str, Any], *, resume: bool) -> dict[str, ShardEntry]:
        """Make the folder, or take up what is finished in it.

        Args:
            settings: all that shards depend on.
            resume: whether the folder may hold the first part of the same run.

        Returns:
            Finished shards by name; damaged ones are not among them.

        Raises:
            InputError: the folder exists and ``resume`` is false, or other settings made it.
        """
        begun = (self.path / SETTINGS).is_file()
        if begun and not resume:
            raise InputError(
                f"{self.path}: exists and is not empty; go on with what was begun there with "
                f"--resume, name a new folder, or remove this one first"
            )
        if not begun:
            folder = require_absent(self.path)
            with disk_errors(folder):
                folder.mkdir(parents=True, exist_ok=True)
            write_json(folder / SETTINGS, settings)
            return {}
        before = read_json(self.path / SETTINGS)
        # Fingerprints say nothing to a user: they are compared last, after what they depend on.
        for key in sorted({*before, *settings} - {FINGERPRINT}):
            if before.get(key) != settings.get(key):
                raise InputError(
                    f"{self.path}: was begun with {key} {before.get(key)!r}, not "
                    f"{settings.get(key)!r}; go on with the same settings, or name a new folder"
                )
        if before.get(FINGERPRINT) != settings.get(FINGERPRINT):
            raise InputError(
                f"{self.path}: the parser or the segmentation rules have changed since this corpus "
                f"was begun; name a new folder to annotate all of it again"
            )
        for draft in self.path.glob(f".*{ENDING}"):
            draft.unlink()
        return {entry.name: entry for entry in self._entries() if self._is_whole(entry)}

    def _entries(self) -> list[ShardEntry]:
        if (self.path / MANIFEST).is_file():
            return read_manifest(self.path).shards
        ledger = self.path / LEDGER
        if not ledger.is_file():
            return []
        lines = ledger.read_bytes().split(b"\n")
        # What a killed run was writing has no line end.
        whole = [line for line in lines[:-1] if line]
        if lines[-1]:
            with disk_errors(ledger):
                ledger.write_bytes(b"".join(line + b"\n" for line in whole))
        return [ShardEntry.from_json(json.loads(line)) for line in whole]

    def _is_whole(self, entry: ShardEntry) -> bool:
        path = self.path / entry.name
        return (
            path.is_file()
            and path.stat().st_size == entry.bytes
            and checksum(path) == entry.checksum
        )

    def add(self, entry: ShardEntry) -> None:
        """Note a finished shard."""
        ledger = self.path / LEDGER
        with disk_errors(ledger), open(ledger, "ab") as file:
            file.write(json.dumps(asdict(entry)).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def finish(self, entries: dict[str, ShardEntry], inputs: list[str]) -> Manifest:
        """Write the manifest; shards that belong to no entry are removed."""
        for path in self.path.glob(f"*{ENDING}"):
            if path.name not in entries:
                path.unlink()
        shards = [entries[name] for name in sorted(entries)]
        total: Counts = reduce(add, (entry.counts for entry in shards), Counts())
        manifest = Manifest(read_json(self.path / SETTINGS), inputs, total, shards)
        write_json(self.path / MANIFEST, manifest.as_json())
        (self.path / LEDGER).unlink(missing_ok=True)
        return manifest


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an annotated corpus holds, and where each record of its input went.

    Args:
        settings: all that the shards depend on.
        inputs: the files that were read.
        counts: of all shards.
        shards: in their order.
    """

    settings: dict[str, Any]
    inputs: list[str]
    counts: Counts
    shards: list[ShardEntry]

    def as_json(self) -> dict[str, Any]:
        """As it is written."""
        return {"format": FORMAT, **asdict(self)}


def read_manifest(folder: str | Path) -> Manifest:
    """The manifest of a finished corpus.

    Raises:
        InputError: there is none, or the corpus is not finished.
    """
    folder = Path(folder)
    if not (folder / MANIFEST).is_file():
        if (folder / SETTINGS).is_file():
            raise InputError(
                f"{folder}: is not finished; go on with `syntagma annotate … --resume`"
            )
        raise InputError(f"{folder}: no annotated corpus; give a folder that annotate has written")
    value = read_json(folder / MANIFEST)
    try:
        return Manifest(
            value["settings"],
            value["inputs"],
            Counts(**value["counts"]),
            [ShardEntry.from_json(entry) for entry in value["shards"]],
        )
    except (KeyError, TypeError) as error:
        raise DamagedFileError(f"{folder / MANIFEST}: damaged ({error})") from error
