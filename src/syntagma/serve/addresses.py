"""Names of this server and of other sites, as browsers send them."""

from __future__ import annotations

import re
from contextlib import suppress
from ipaddress import IPv6Address

from syntagma.errors import InputError

_HOST = r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?"
_ORIGIN = re.compile(rf"([a-z][a-z0-9+.-]*)://({_HOST}|\[[0-9a-f:.]+\])(:\d+)?")
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def read_host(text: str) -> str:
    """Return a name by which the server may be called, as requests have it.

    Args:
        text: a name or an address, without a port: a server has its name on any port.

    Raises:
        InputError: it is something else, which no request would ever have.
    """
    name = _ascii(text.strip().lower())
    with suppress(ValueError):
        # Requests have an address of IPv6 in brackets, which the gate removes.
        return str(IPv6Address(name.removeprefix("[").removesuffix("]")))
    if not re.fullmatch(_HOST, name):
        raise InputError(
            f"--allowed-host: expected a name alone, such as read.example.org, got {text!r:.80}; "
            f"omit the scheme, the port and the path"
        )
    return name


def read_origin(text: str) -> str:
    """Return a site whose pages may call the server, as browsers send it.

    Args:
        text: ``https://example.org``, also with a port; ``*`` for every site.

    Raises:
        InputError: it is something else, which no browser would ever send.
    """
    # Pages without a site of their own, such as files, send "null".
    if text in ("*", "null"):
        return text
    found = _ORIGIN.fullmatch(_ascii(text.strip().lower()).removesuffix("/"))
    if found is None:
        raise InputError(
            f"--cors: expected a site such as https://example.org, or * for all, got {text!r:.80}; "
            f"write the scheme, the name and, if it is an unusual one, the port"
        )
    scheme, host, port = found[1], found[2], found[4] or ""
    # Browsers leave out the port that the scheme has anyway.
    return f"{scheme}://{host}{'' if port == _DEFAULT_PORTS.get(scheme) else port}"


def _ascii(text: str) -> str:
    """Return a text in which names have the letters that they are sent in (IDNA)."""
    if text.isascii():
        return text
    scheme, separator, rest = text.rpartition("://")
    with suppress(UnicodeError):
        return scheme + separator + rest.encode("idna").decode("ascii")
    return text
