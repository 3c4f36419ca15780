"""Upload files to the Hugging Face hub, and explain in one line what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from syntagma.encoders import hub
from syntagma.errors import InputError


@contextmanager
def repository(
    name: str, *, token: str | bool | None = None, private: bool | None = None
) -> Iterator[str]:
    """Create a repository for a model, unless it exists, and explain failures in the block.

    Args:
        name: ``OWNER/NAME``, or ``NAME`` below the user who is logged in.
        token: a token with write access; by default that of ``hf auth login``.
        private: whether a new repository is private.

    Yields:
        Its full name.

    Raises:
        InputError: the hub cannot be reached, or refuses a request of the block.
    """
    from huggingface_hub import create_repo
    from huggingface_hub.errors import HTTPError

    if not hub.is_hub_name(name):
        raise InputError(f"push_to_hub: expected OWNER/NAME, got {name!r}")
    if not hub.is_reachable():
        raise InputError(f"push_to_hub {name}: {hub.why_unreachable()}")
    try:
        made = create_repo(name, token=token, private=private, exist_ok=True)
        yield str(made.repo_id)
    except InputError:
        raise
    # A lost connection, and a card that the hub does not accept, are no errors of the hub itself.
    except (*hub.errors(), HTTPError, ValueError) as error:
        raise InputError(f"push_to_hub {name}: {_why_refused(name, error, token)}") from error


def _why_refused(name: str, error: BaseException, token: str | bool | None) -> str:
    """Return a clause for messages: why the hub did not do what was asked."""
    from huggingface_hub.errors import LocalTokenNotFoundError

    statuses = {hub.status_of(cause) for cause in hub.causes_of(error)}
    if 401 in statuses or isinstance(error, LocalTokenNotFoundError):
        is_sent = isinstance(token, str) or hub.is_logged_in()
        what = "does not accept your token" if is_sent else "needs a token to write"
        return f"the Hugging Face hub {what}; run `hf auth login`, or give another token"
    if 403 in statuses:
        return (
            f"your token may not write to {name}; make one with write access on "
            f"{hub.endpoint()}/settings/tokens, or push to a name of your own"
        )
    return " ".join(str(error).split())[:200] or type(error).__name__


def has_file(
    name: str, file: str, *, token: str | bool | None = None, revision: str | None = None
) -> bool:
    """Whether a repository of a model has a file.

    Args:
        name: ``OWNER/NAME``.
        file: its path in the repository.
        token: a token that may read the repository.
        revision: branch, tag or commit.
    """
    from huggingface_hub import file_exists

    return bool(file_exists(name, file, token=token, revision=revision))


def upload(
    folder: Path,
    name: str,
    *,
    message: str,
    token: str | bool | None = None,
    revision: str | None = None,
    create_pr: bool = False,
) -> str:
    """Upload a folder as one commit, and return its address, or that of the pull request.

    Args:
        folder: the files.
        name: ``OWNER/NAME``, an existing repository of a model.
        message: message of the commit.
        token: a token with write access.
        revision: branch to upload to; made if there is none.
        create_pr: whether to open a pull request in place of a commit.
    """
    from huggingface_hub import create_branch, upload_folder

    if revision is not None and not create_pr:
        create_branch(name, branch=revision, token=token, exist_ok=True)
    done = upload_folder(
        repo_id=name,
        folder_path=folder,
        commit_message=message,
        token=token,
        revision=revision,
        create_pr=create_pr,
    )
    return str(done.pr_url or done.commit_url)
