"""The description of the API in OpenAPI's format."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from syntagma import __version__
from syntagma.serve import answer_schemas
from syntagma.serve.problems import MEDIA_TYPE

REFUSALS = {
    "400": "The body is not JSON.",
    "401": "The server asks for a key, and the right one did not come.",
    "406": "The response has no such format.",
    "408": "The body came too slowly.",
    "413": "The body or a text is too long.",
    "415": "The body is not application/json.",
    "422": "The body is JSON, but not what is expected.",
    "429": "The server is full; Retry-After says when to try again.",
    "500": "An error of the server.",
    "503": "A worker died with the request, or the server is being stopped.",
    "504": "It took too long.",
}
"""Statuses of the routes that need models, and what they mean."""
DESCRIPTION = (
    "Offsets count characters (Unicode code points). A refusal is one line in the field `detail` "
    "of a problem (RFC 9457). With `Accept: application/x-ndjson` a response is a JSON object a "
    "line, each sent as soon as it is done; a line with the key `problem` says what went wrong."
)


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the description of an application; computed once.

    Args:
        app: the application.
    """
    if app.openapi_schema:
        return app.openapi_schema
    schema = get_openapi(
        title="Syntagma", version=__version__, description=DESCRIPTION, routes=app.routes
    )
    components = schema.setdefault("components", {})
    # FastAPI describes its own format of errors, which is never sent.
    for name in ("HTTPValidationError", "ValidationError"):
        components.get("schemas", {}).pop(name, None)
    problem = answer_schemas.Problem.model_json_schema()
    components.setdefault("schemas", {})["Problem"] = problem
    components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            _describe_refusals(path, operation)
    app.openapi_schema = schema
    return schema


def _describe_refusals(path: str, operation: dict[str, Any]) -> None:
    responses: dict[str, Any] = operation["responses"]
    responses.pop("422", None)
    is_work = path.startswith("/v1/")
    if is_work or path == "/metrics":
        # None are needed by a server without keys.
        operation["security"] = [{}, {"key": []}]
    known = REFUSALS | ({"404": "There is no such model."} if "{name}" in path else {})
    for status, meaning in known.items() if is_work else [("401", REFUSALS["401"])]:
        if status not in responses:
            content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
            responses[status] = {"description": meaning, "content": content}
