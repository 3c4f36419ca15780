"""Refusals and failures as one clear line of ``application/problem+json`` (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from syntagma.settings import nearest

MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """A request that cannot be answered.

    Args:
        status: HTTP status of the response.
        detail: one line: what was expected, what came, what to do instead.
        headers: further headers of the response.
        reason: a word for the metrics, for what was refused.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        reason: str = "",
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = " ".join(detail.split())
        self.headers = dict(headers or {})
        self.reason = reason

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of the response's body."""
        title = HTTPStatus(self.status).phrase
        return {"type": "about:blank", "title": title, "status": self.status, "detail": self.detail}

    def body(self) -> bytes:
        """Return the response's body."""
        return json.dumps(self.as_dict(), ensure_ascii=False).encode("utf-8", "replace")


def too_busy(detail: str, seconds: int, reason: str) -> Problem:
    """Return the refusal of a request that may succeed later.

    Args:
        detail: what is full.
        seconds: after which the client should try again.
        reason: for the metrics.
    """
    headers = {"Retry-After": str(seconds)}
    return Problem(429, f"{detail}; try again in {seconds} s", headers=headers, reason=reason)


def invalid(errors: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> Problem:
    """Return the refusal of a body that does not fit its schema: the first error, in one line.

    Args:
        errors: the errors that pydantic found.
        keys: of the schema, to name the nearest one to an unknown key.
    """
    first = errors[0]
    if first["type"] == "json_invalid":
        why = first.get("ctx", {}).get("error", "it cannot be read")
        return Problem(400, f"the body is not JSON: {why}", reason="json")
    # The first part of the place is "body", or "path" for a part of the URL.
    place = [part for part in first["loc"][1:] if part != "body"]
    where = ".".join(map(str, place)) or "the body"
    got = "" if first["type"] in ("missing", "value_error") else _shown(first.get("input"))
    if first["type"] == "extra_forbidden":
        return Problem(422, f"{where:.60}: unknown key; {nearest(where, keys)}", reason="schema")
    message = str(first["msg"]).removeprefix("Value error, ")
    return Problem(422, f"{where}: {message}{got}", reason="schema")


def _shown(value: Any) -> str:
    """Describe a wrong value; texts are not repeated, for they may be long or private."""
    if isinstance(value, bool | int | float) or value is None:
        return f", got {json.dumps(value)}"
    kinds = {str: "a string", list: "a list", dict: "an object"}
    kind = next((name for type_, name in kinds.items() if isinstance(value, type_)), "")
    return f", got {kind}" if kind else ""
