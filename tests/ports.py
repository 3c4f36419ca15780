"""Ports for servers that a test starts in another process."""

from __future__ import annotations

import random
import socket

RANGE = range(20_000, 32_768)
"""Above the ports of Ray's workers, and below those that Linux gives to whoever asks for any port:
one of these would be given to somebody else before the server of the test has started."""


def free_port() -> int:
    """Return a port of this machine on which nothing listens.

    Raises:
        OSError: if none of a hundred can be had.
    """
    # Not a seeded generator: processes with the same seed would try the same ports.
    for port in random.SystemRandom().sample(RANGE, 100):
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError(f"none of 100 ports from {RANGE.start} to {RANGE.stop - 1} is free")
