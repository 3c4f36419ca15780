"""How much of what was sent a client has not taken in."""

from __future__ import annotations

import asyncio
import struct
import sys
from contextlib import suppress

_SIZE = struct.Struct("i")


def n_unread(transport: asyncio.Transport) -> int:
    """Return how many bytes of a connection the other side has not received yet.

    The transport alone says too little: it hands bytes to the system, which takes more of them only
    when a third of its own buffer is free.  That may be megabytes, so that for a client on a slow
    line nothing seems to happen for a minute.  Linux says how much of its buffer is left; on other
    systems only the bytes of the transport count.

    Args:
        transport: the connection.
    """
    waiting = transport.get_write_buffer_size()
    if sys.platform != "linux":
        return waiting
    try:
        import fcntl
        import termios
    except ImportError:
        return waiting
    socket = transport.get_extra_info("socket")
    # It may have been closed meanwhile.
    with suppress(OSError, ValueError, AttributeError):
        found = fcntl.ioctl(socket.fileno(), termios.TIOCOUTQ, bytes(_SIZE.size))
        waiting += _SIZE.unpack(found)[0]
    return waiting
