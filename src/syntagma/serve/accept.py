"""Choose the format of a response by the ``Accept`` header of the request (RFC 9110, 12.5.1)."""

from __future__ import annotations

from collections.abc import Sequence

from syntagma.serve.problems import Problem

JSON = "application/json"
LINES = "application/x-ndjson"
CONLLU = "text/x-conllu"
BRACKETS = "text/x-brackets"
SVG = "image/svg+xml"


def preferred(header: str, offers: Sequence[str]) -> str:
    """Return the offer that a client likes best; of equals, the first.

    Args:
        header: value of the header; empty if there is none.
        offers: media types of the response.

    Raises:
        Problem: the client accepts none of them.

    >>> preferred("text/html, application/*;q=0.9", ["application/json", "image/svg+xml"])
    'application/json'
    >>> preferred("", ["application/json"])
    'application/json'
    """
    ranges = [_range(part) for part in header.split(",") if part.strip()] or [("*/*", 1.0)]

    def weight(offer: str) -> float:
        wildcards = (offer, f"{offer.partition('/')[0]}/*", "*/*")
        # The most specific range that fits counts.
        found = (q for wanted in wildcards for name, q in ranges if name == wanted)
        return next(found, 0.0)

    best = max(offers, key=weight)
    if weight(best) <= 0:
        listed = ", ".join(offers)
        raise Problem(406, f"Accept: expected one of {listed}; got {header!r:.80}", reason="accept")
    return best


def _range(part: str) -> tuple[str, float]:
    name, *parameters = (word.strip().lower() for word in part.split(";"))
    quality = 1.0
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                quality = float(parameter[2:])
            except ValueError:
                quality = 0.0
    return name, quality if quality <= 1 else 0.0
