"""Refusals and failures as one clear line of ``application/problem+json`` (RFC 9457)."""

from __future__ import annotations

import json
import traceback
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from syntagma.settings import nearest

MEDIA_TYPE = "application/problem+json"

EXPECTED = {
    "missing": "expected a value, got none",
    "string_type": "expected a string",
    "string_unicode": "expected a string of whole Unicode characters, got half of a pair",
    "string_pattern_mismatch": "expected text, got a blank string",
    "string_too_short": "expected text, got an empty string",
    "string_too_long": "expected at most {max_length} characters",
    "int_type": "expected a whole number",
    "bool_type": "expected true or false",
    "list_type": "expected a list",
    "dict_type": "expected an object",
    "model_attributes_type": "expected an object",
    "literal_error": "expected {expected}",
    "too_short": "expected at least {min_length}, got {actual_length}",
    "greater_than_equal": "expected a number from {ge}",
    "less_than_equal": "expected a number up to {le}",
}
"""What a value should have been, by the type of pydantic's error; others keep its words."""
_SAYS_WHAT_CAME = {"missing", "value_error", "too_short"} | {
    f"string_{kind}" for kind in ("unicode", "pattern_mismatch", "too_short", "too_long")
}


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

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the response's body."""
        title = HTTPStatus(self.status).phrase
        return {"type": "about:blank", "title": title, "status": self.status, "detail": self.detail}

    def body(self) -> bytes:
        """Return the response's body."""
        return json.dumps(self.to_dict(), ensure_ascii=False).encode("utf-8", "replace")


def too_busy(detail: str, seconds: int, reason: str) -> Problem:
    """Return the refusal of a request that may succeed later.

    Args:
        detail: what is full.
        seconds: after which the client should try again.
        reason: for the metrics.
    """
    headers = {"Retry-After": str(seconds)}
    return Problem(429, f"{detail}; try again in {seconds} s", headers=headers, reason=reason)


def in_log(error: Exception) -> str:
    """Return what a log may say of an error in the server: its message may quote a text.

    Args:
        error: that was raised.
    """
    frame = traceback.extract_tb(error.__traceback__)[-1]
    why = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
    return f"{type(error).__name__}{why} at {frame.filename}:{frame.lineno}"


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
    got = "" if first["type"] in _SAYS_WHAT_CAME else _shown(first.get("input"))
    if first["type"] == "extra_forbidden":
        return Problem(422, f"{where:.60}: unknown key; {nearest(where, keys)}", reason="schema")
    message = EXPECTED.get(first["type"]) or str(first["msg"]).removeprefix("Value error, ")
    message = message.format(**first.get("ctx", {}))
    return Problem(422, f"{where}: {message}{got}", reason="schema")


def _shown(value: Any) -> str:
    """Describe a wrong value; texts are not repeated, for they may be long or private."""
    if isinstance(value, bool | int | float) or value is None:
        return f", got {json.dumps(value)}"
    kinds = {str: "a string", list: "a list", dict: "an object"}
    kind = next((name for type_, name in kinds.items() if isinstance(value, type_)), "")
    return f", got {kind}" if kind else ""
