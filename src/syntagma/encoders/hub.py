"""All access to the Hugging Face hub: bounded in time, and one line where it fails.

Left to itself, ``huggingface_hub`` asks an endpoint that is not there six times, with pauses, for
each file: half a minute until anything is said.  Here the endpoint is asked once, briefly, and
where it gives no answer, only the local cache is read.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

SECONDS = 2.0
"""How long the endpoint may take to answer."""
REMEMBERED = 60.0
"""Seconds after which it is asked again: networks come and go while a notebook is open."""

_asked: dict[str, tuple[float, bool]] = {}
_lock, _n_offline = threading.Lock(), 0


def endpoint() -> str:
    """The address of the hub: ``$HF_ENDPOINT``, else the public one."""
    from huggingface_hub import constants

    return str(constants.ENDPOINT)


def is_reachable() -> bool:
    """Whether the hub gives an answer, of whatever kind, within two seconds.

    ``HF_HUB_OFFLINE`` is respected; proxies and certificates are those that the hub's own library
    uses, because its own client asks.
    """
    if _is_switched_off():
        return False
    address, now = endpoint(), time.monotonic()
    when, answers = _asked.get(address, (now - REMEMBERED, False))
    if now - when >= REMEMBERED:
        answers = _answers(address)
        _asked[address] = (time.monotonic(), answers)
    return answers


def why_unreachable() -> str:
    """What keeps the hub out of reach, for a message."""
    return "HF_HUB_OFFLINE is set" if _is_switched_off() else f"{endpoint()} is not reachable"


def _is_switched_off() -> bool:
    """Whether the user, not this module, has set the hub's library offline."""
    from huggingface_hub import is_offline_mode

    return is_offline_mode() and not _n_offline


def _answers(address: str) -> bool:
    from huggingface_hub import get_session

    answered = threading.Event()

    def ask() -> None:
        # Whatever goes wrong, a proxy that refuses or a bad certificate, the hub is out of reach.
        with suppress(Exception):
            # The library would retry errors of the server for as long as a missing network.
            if get_session().head(address, timeout=SECONDS).status_code < 500:
                answered.set()

    # In a thread, because no timeout of the client covers the look-up of the host's name.
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(SECONDS)
    return answered.is_set()


def _is_hub_name(name: str) -> bool:
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    try:
        validate_repo_id(name)
    except HFValidationError:
        return False
    return True


@contextmanager
def access(name: str | Path) -> Iterator[None]:
    """Load a model in a block without any request where the hub is out of reach.

    Args:
        name: a folder or a hub name; for a folder nothing is asked.
    """
    is_asked = not Path(name).is_dir() and _is_hub_name(str(name)) and not _is_switched_off()
    with nullcontext() if not is_asked or is_reachable() else _offline_mode():
        yield


@contextmanager
def _offline_mode() -> Iterator[None]:
    """The hub's library as if ``HF_HUB_OFFLINE`` were set.

    The variable is read when the library is imported, and the option ``local_files_only`` does not
    reach all of Transformers: it still looks for an adapter of the model
    (https://github.com/huggingface/transformers/issues/45545).
    """
    from huggingface_hub import constants

    global _n_offline
    with _lock:
        _n_offline += 1
        if _n_offline == 1:
            constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        with _lock:
            _n_offline -= 1
            if _n_offline == 0:
                constants.HF_HUB_OFFLINE = False


def find_file(name: str, file: str) -> Path | None:
    """A file of a model on the hub, from the cache or fetched; ``None`` where it cannot be had."""
    from huggingface_hub import hf_hub_download

    with suppress(*_errors()), access(name):
        return Path(hf_hub_download(name, file))
    return None


def find_files(name: str, patterns: Sequence[str]) -> Path | None:
    """The folder with the files of a model on the hub; ``None`` where they cannot be had."""
    from huggingface_hub import snapshot_download

    with suppress(*_errors()), access(name):
        return Path(snapshot_download(name, allow_patterns=list(patterns)))
    return None


def fetch_files(name: str, files: Sequence[str], folder: Path, *, revision: str) -> None:
    """Fetch files of a model on the hub into a folder, without a second copy in the cache.

    Args:
        name: on the hub.
        files: those of them that it has are fetched.
        folder: where to.
        revision: the commit.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    were_off = are_progress_bars_disabled()
    disable_progress_bars()
    try:
        snapshot_download(
            name,
            revision=revision,
            local_dir=folder,
            allow_patterns=list(files),
            endpoint=endpoint(),
        )
    finally:
        if not were_off:
            enable_progress_bars()


def cached_files(name: str, files: Sequence[str], *, revision: str) -> Path | None:
    """The folder in the local cache that has all of some files; the network is not asked.

    Args:
        name: on the hub.
        files: that must be there.
        revision: the commit.
    """
    from huggingface_hub import try_to_load_from_cache

    for commit in ("main", revision):
        # A file that is known not to exist gives an object that is no path.
        found = [try_to_load_from_cache(name, file, revision=commit) for file in files]
        if all(isinstance(path, str) for path in found):
            return Path(str(found[0])).parent
    return None


def _errors() -> tuple[type[Exception], ...]:
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    return HfHubHTTPError, HFValidationError, OSError


def reason(name: str, error: BaseException) -> str:
    """Why a model could not be had from the hub, for a message; empty if the hub is not the reason.

    Args:
        name: on the hub.
        error: what was raised, or that from which it was raised.
    """
    from huggingface_hub.errors import (
        GatedRepoError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    if not _is_hub_name(name):
        return "it cannot be a name on the Hugging Face hub"
    causes = list(_causes(error))
    statuses = {_status(cause) for cause in causes}
    if any(isinstance(cause, GatedRepoError) for cause in causes):
        return _denied(name)
    # To whoever is not logged in the hub says 401 of a private model and of one that is not there.
    if any(isinstance(cause, RepositoryNotFoundError) for cause in causes) or 404 in statuses:
        return "there is no such model on the Hugging Face hub (or a private one: `hf auth login`)"
    if statuses & {401, 403}:
        return _denied(name)
    if any(isinstance(cause, LocalEntryNotFoundError) for cause in causes):
        return f"it is not in the cache of the Hugging Face hub, and {why_unreachable()}"
    return ""


def _denied(name: str) -> str:
    page = f"{endpoint()}/{name}"
    return (
        f"the Hugging Face hub does not give it to you; ask for access on {page}, then "
        f"`hf auth login`"
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it came from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _status(error: BaseException) -> int:
    response: Any = getattr(error, "response", None)
    return int(getattr(response, "status_code", 0) or 0)
