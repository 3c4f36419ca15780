"""Options of ``from_pretrained`` that say which files of the Hugging Face hub to load.

Names and meanings are those of Transformers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypedDict

from syntagma.errors import InputError


@dataclass(frozen=True, kw_only=True)
class HubOptions:
    """Which files of a repository on the hub to load, and how.

    A model in a local folder has no use for them, except for ``subfolder``.

    Args:
        revision: branch, tag or commit; the branch ``main`` by default.
        token: a token of the hub, or false to send none; by default that of ``hf auth login``.
        cache_dir: folder of the cache; by default ``$HF_HOME/hub``.
        local_files_only: whether to load from the cache only, without any request.
        subfolder: folder of the model inside the repository or local folder.

    Raises:
        InputError: the subfolder is not inside.
    """

    revision: str | None = None
    token: str | bool | None = field(default=None, repr=False)
    cache_dir: str | Path | None = None
    local_files_only: bool = False
    subfolder: str = ""

    def __post_init__(self) -> None:
        place = PurePosixPath(self.subfolder)
        if place.is_absolute() or ".." in place.parts or "\\" in self.subfolder:
            raise InputError(
                f"subfolder: expected a folder inside the repository, such as models/small; got "
                f"{self.subfolder!r}"
            )

    @property
    def download(self) -> dict[str, Any]:
        """Arguments of the downloading functions of ``huggingface_hub``."""
        return {
            "revision": self.revision,
            "token": self.token,
            "cache_dir": self.cache_dir,
            "local_files_only": self.local_files_only,
        }

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of ``from_pretrained`` in Transformers."""
        # Transformers expects a name here, and takes None for the folder "None" in some places.
        return self.download | {"revision": self.revision or "main", "subfolder": self.subfolder}

    def path(self, file: str) -> str:
        """Return the path of a file in the repository.

        Args:
            file: its name.
        """
        return str(PurePosixPath(self.subfolder, file))

    def elsewhere(self) -> HubOptions:
        """Return the options for another repository that a model needs, such as its base."""
        return HubOptions(
            token=self.token, cache_dir=self.cache_dir, local_files_only=self.local_files_only
        )


class HubKeywords(TypedDict, total=False):
    """The options as keyword arguments, for type checkers; see :class:`HubOptions`."""

    revision: str
    token: str | bool
    cache_dir: str | Path
    local_files_only: bool
    subfolder: str


NONE = HubOptions()
FIELDS = ("revision", "token", "cache_dir", "local_files_only", "subfolder")


def take_hub_options(options: dict[str, Any]) -> HubOptions:
    """Remove the options of the hub from keyword arguments, and return them.

    Args:
        options: keyword arguments of ``from_pretrained``; changed.

    Raises:
        InputError: an option is invalid.
    """
    given = {name: options.pop(name) for name in FIELDS if name in options}
    return HubOptions(**{name: value for name, value in given.items() if value is not None})
