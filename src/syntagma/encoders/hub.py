"""Access to the Hugging Face hub with a time limit, and one-line reasons for failures.

``huggingface_hub`` retries an unreachable endpoint six times per file, with pauses: half a minute
until the user sees an error.  Here the endpoint is probed once, for two seconds; if it does not
answer, only the local cache is read.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from syntagma.encoders.hub_options import NONE, HubOptions

SECONDS = 2.0
"""Time limit of the probe."""
REMEMBERED = 60.0
"""Seconds until the next probe: the network may change while a notebook is open."""

_asked: dict[str, tuple[float, bool]] = {}
_lock, _n_offline = threading.Lock(), 0


def endpoint() -> str:
    """Return the address of the hub: ``$HF_ENDPOINT``, or the public one."""
    from huggingface_hub import constants

    return str(constants.ENDPOINT)


def is_reachable() -> bool:
    """Whether the hub answers within two seconds; never if ``HF_HUB_OFFLINE`` is set.

    The hub library's own client sends the request, so that its proxies and certificates apply.
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
    """Return a clause for messages: why the hub cannot be reached."""
    return "HF_HUB_OFFLINE is set" if _is_switched_off() else f"{endpoint()} is not reachable"


def _is_switched_off() -> bool:
    """Whether the user, not this module, has switched the hub's library to offline mode."""
    from huggingface_hub import is_offline_mode

    return is_offline_mode() and not _n_offline


def _answers(address: str) -> bool:
    from huggingface_hub import get_session

    answered = threading.Event()

    def ask() -> None:
        # A proxy that refuses and a bad certificate count as an unreachable hub too.
        with suppress(Exception):
            # On server errors the library would retry as long as without a network.
            if get_session().head(address, timeout=SECONDS).status_code < 500:
                answered.set()

    # In a thread, because no timeout of the client covers the DNS lookup.
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(SECONDS)
    return answered.is_set()


def is_hub_name(name: str) -> bool:
    """Whether a name could be that of a repository on the hub."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    try:
        validate_repo_id(name)
    except HFValidationError:
        return False
    return True


@contextmanager
def access(name: str | Path, options: HubOptions = NONE) -> Iterator[None]:
    """Prevent requests inside a ``with`` block if the hub cannot be reached, or must not be asked.

    Args:
        name: a folder or a hub name; a folder needs no probe.
        options: how the model is loaded.
    """
    is_asked = not Path(name).is_dir() and is_hub_name(str(name)) and not _is_switched_off()
    may_ask = not is_asked or (not options.local_files_only and is_reachable())
    with nullcontext() if may_ask else _offline_mode():
        yield


@contextmanager
def _offline_mode() -> Iterator[None]:
    """Switch the hub's library to offline mode, as ``HF_HUB_OFFLINE`` does.

    The library reads the variable only when it is imported, so its constant is changed.  The
    argument ``local_files_only`` is not enough: Transformers does not pass it on when it looks for
    an adapter of the model (https://github.com/huggingface/transformers/issues/45545).  A counter
    serves blocks in several threads: the last one to end switches back.
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


def find_file(name: str, file: str, options: HubOptions = NONE) -> Path | None:
    """Return a file of a model on the hub, fetched or from the cache; ``None`` if that fails."""
    from huggingface_hub import hf_hub_download

    with suppress(*errors()), access(name, options):
        return Path(hf_hub_download(name, options.path(file), **options.download))
    return None


def why_not_found(name: str, file: str, options: HubOptions = NONE) -> str:
    """Return a clause for messages: why :func:`find_file` finds no file; empty if it finds one."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import RemoteEntryNotFoundError

    try:
        with access(name, options):
            hf_hub_download(name, options.path(file), **options.download)
    except RemoteEntryNotFoundError:
        return f"the model {name} on the Hugging Face hub has no {options.path(file)}"
    except errors() as error:
        return reason(name, error, options)
    return ""


def find_files(name: str, patterns: Sequence[str], options: HubOptions = NONE) -> Path | None:
    """Return a folder with the matching files of a model on the hub; ``None`` if that fails."""
    from huggingface_hub import snapshot_download

    chosen = [options.path(pattern) for pattern in patterns]
    with suppress(*errors()), access(name, options):
        found = snapshot_download(name, allow_patterns=chosen, **options.download)
        return Path(found) / options.subfolder
    return None


def fetch_files(name: str, files: Sequence[str], folder: Path, *, revision: str) -> None:
    """Fetch files of a model on the hub into a folder, without a second copy in the cache.

    Args:
        name: name on the hub.
        files: names of files; files that the model lacks are skipped.
        folder: target folder.
        revision: commit on the hub.
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


def cached_folders(name: str, files: Sequence[str], *, revision: str) -> Iterator[Path]:
    """Yield the folders in the local cache that have all given files; sends no request.

    The first is of the newest version that was fetched, which may have other weights.

    Args:
        name: name on the hub.
        files: names of files that must be present.
        revision: commit on the hub.
    """
    from huggingface_hub import try_to_load_from_cache

    for commit in ("main", revision):
        # For a file known not to exist, the library returns a marker object, not a path.
        found = [try_to_load_from_cache(name, file, revision=commit) for file in files]
        if all(isinstance(path, str) for path in found):
            yield Path(str(found[0])).parent


def errors() -> tuple[type[Exception], ...]:
    """Return the exceptions with which the hub's library reports what can go wrong."""
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    return HfHubHTTPError, HFValidationError, OSError


def reason(name: str, error: BaseException, options: HubOptions = NONE) -> str:
    """Return a clause for messages: why a model could not be fetched; empty for other errors.

    Args:
        name: name on the hub.
        error: the exception; those that caused it are examined too.
        options: how the model was to be loaded.
    """
    from huggingface_hub.errors import (
        GatedRepoError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RemoteEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    if not is_hub_name(name):
        return "it is not a valid name on the Hugging Face hub"
    causes = list(causes_of(error))

    def is_caused_by(*kinds: type[Exception]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    statuses = {status_of(cause) for cause in causes}
    if is_caused_by(GatedRepoError):
        return _denied(name)
    if is_caused_by(RevisionNotFoundError):
        return f"the model on the Hugging Face hub has no revision {options.revision!r}"
    if 401 in statuses:
        return _not_logged_in(options)
    if 403 in statuses:
        return _denied(name)
    # A file that is missing in a model that exists is no answer to the question.
    if is_caused_by(RepositoryNotFoundError) or (
        404 in statuses and not is_caused_by(RemoteEntryNotFoundError)
    ):
        return (
            "the Hugging Face hub has no such model; check the name (if it is private, run "
            "`hf auth login`)"
        )
    if is_caused_by(LocalEntryNotFoundError, OfflineModeIsEnabled):
        why = "local_files_only is set" if options.local_files_only else why_unreachable()
        return f"it is not in the cache of the Hugging Face hub, and {why}"
    return ""


def _not_logged_in(options: HubOptions) -> str:
    """Explain an answer 401: without a login the hub gives it for missing models, too."""
    if isinstance(options.token, str) or (options.token is not False and is_logged_in()):
        return (
            "the Hugging Face hub does not accept your token; run `hf auth login`, or give another "
            "token"
        )
    return (
        "the Hugging Face hub has no public model of this name; if it is private, run "
        "`hf auth login` or give a token"
    )


def is_logged_in() -> bool:
    """Whether this machine has a token of the hub, from ``hf auth login`` or ``$HF_TOKEN``."""
    from huggingface_hub import get_token

    return get_token() is not None


def _denied(name: str) -> str:
    page = f"{endpoint()}/{name}"
    return f"the Hugging Face hub denies access; request access on {page}, then run `hf auth login`"


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and the exceptions that caused it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def status_of(error: BaseException) -> int:
    """Return the HTTP status that an exception reports; 0 if it reports none."""
    response: Any = getattr(error, "response", None)
    return int(getattr(response, "status_code", 0) or 0)
