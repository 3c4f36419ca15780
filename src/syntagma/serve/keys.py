"""Optional API keys: who has none of them is not answered."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from syntagma.errors import InputError
from syntagma.files import read_lines

VARIABLE = "SYNTAGMA_API_KEYS"
"""Environment variable with keys, separated by commas or white space."""
SHORTEST = 16


class Keys:
    """A set of keys, of which only digests are kept.

    Args:
        keys: the keys; without any, everyone is let in.
    """

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._digests = [_digest(key.encode()) for key in keys]

    def __bool__(self) -> bool:
        return bool(self._digests)

    def admit(self, given: bytes | None) -> bool:
        """Whether a client may enter.

        Args:
            given: the key that it sent, if any.
        """
        if not self._digests:
            return True
        digest = _digest(given or b"")
        # Every key is compared, and each in constant time: how long it takes tells nothing.
        return sum([hmac.compare_digest(digest, known) for known in self._digests]) > 0


def _digest(key: bytes) -> bytes:
    # Digests have one length, and so no comparison tells the length of a key.
    return hashlib.sha256(key).digest()


def read_keys(path: Path | None, environment: Mapping[str, str] = os.environ) -> Keys:
    """Read keys from a file, one a line, and from the environment.

    Args:
        path: the file; lines that begin with ``#`` are comments.
        environment: environment variables.

    Raises:
        InputError: the file cannot be read or has no key, or a key is too short or has other
            characters than those of an HTTP header.
    """
    keys = environment.get(VARIABLE, "").replace(",", " ").split()
    if path is not None:
        lines = [line.strip() for line in read_lines(path)]
        in_file = [line for line in lines if line and not line.startswith("#")]
        if not in_file:
            raise InputError(f"{path}: expected a key on each line, got none")
        keys += in_file
    for key in keys:
        if len(key) < SHORTEST or not all("!" <= character <= "~" for character in key):
            # The key itself must not get into a log.
            raise InputError(
                f"a key of {len(key)} characters in {path or VARIABLE}: expected at least "
                f"{SHORTEST} characters of ASCII without spaces, as `openssl rand -hex 32` prints"
            )
    return Keys(keys)
