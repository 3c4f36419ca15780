"""The application: routes around a service, behind the gate."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from syntagma.serve.gate import Gate
from syntagma.serve.keys import Keys
from syntagma.serve.openapi import describe
from syntagma.serve.pages import make_pages
from syntagma.serve.problems import MEDIA_TYPE, Problem, invalid
from syntagma.serve.routes import make_router
from syntagma.serve.schemas import BODIES
from syntagma.serve.service import Service


@dataclass(frozen=True, slots=True)
class Access:
    """Who may enter, and what is logged of them.

    Args:
        keys: of clients.
        hosts: names by which the server may be called; empty for any.
        origins: sites whose pages may call the server (CORS); by default none.
        log_texts: whether the beginning of each body is logged.
    """

    keys: Keys = Keys()  # noqa: RUF009  (it never changes)
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    log_texts: bool = False


def make_app(service: Service, access: Access | None = None) -> Any:
    """Return the ASGI application.

    Args:
        service: answers; it starts and stops with the application.
        access: who may enter; by default everyone.
    """
    access = access or Access()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            await service.stop()

    # FastAPI's own pages of documentation load scripts from elsewhere.
    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None)
    app.openapi = partial(describe, app)  # type: ignore[method-assign]
    app.include_router(make_router(service))
    app.include_router(make_pages())
    app.add_exception_handler(Problem, _send_problem)
    app.add_exception_handler(RequestValidationError, _send_invalid)
    app.add_exception_handler(HTTPException, _send_http_error)
    app.add_exception_handler(Exception, _send_failure)
    gate = Gate(
        app,
        limits=service.limits,
        metrics=service.metrics,
        keys=access.keys,
        hosts=access.hosts,
        log_texts=access.log_texts,
        retry_after=lambda: service.batcher.retry_after(),
    )
    if not access.origins:
        return gate
    return CORSMiddleware(
        gate,
        allow_origins=list(access.origins),
        allow_methods=["GET", "POST"],
        allow_headers=["Authorization", "Content-Type", "X-API-Key"],
        expose_headers=["Retry-After"],
    )


def _response(problem: Problem) -> Response:
    return Response(
        problem.body(),
        status_code=problem.status,
        headers=problem.headers,
        media_type=MEDIA_TYPE,
    )


async def _send_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return _response(error)


async def _send_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    schema = BODIES.get(getattr(request.scope.get("route"), "path", ""))
    return _response(invalid(error.errors(), list(schema.model_fields) if schema else []))


async def _send_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    details = {
        404: "there is nothing at this path; /docs lists what there is",
        405: f"{request.method} is not for this path; /docs lists what is",
        400: "the body cannot be read as JSON",
    }
    detail = details.get(error.status_code) or HTTPStatus(error.status_code).phrase
    return _response(Problem(error.status_code, detail, headers=error.headers))


async def _send_failure(request: Request, error: Exception) -> Response:
    return _response(Problem(500, "internal error; the log of the server says more"))
