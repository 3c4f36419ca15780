"""The routes of the API: check a request, run its jobs, join the results."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response, StreamingResponse

from syntagma.serve import answer_schemas as answers
from syntagma.serve.accept import BRACKETS, CONLLU, JSON, LINES, SVG, preferred
from syntagma.serve.batching import Job
from syntagma.serve.limits import Limits
from syntagma.serve.metrics import MEDIA_TYPE
from syntagma.serve.named_models import NamedModel
from syntagma.serve.payloads import (
    AnswerPayload,
    AskPayload,
    ParsePayload,
    PredictPayload,
    SearchPayload,
)
from syntagma.serve.problems import Problem
from syntagma.serve.schemas import AnswerRequest, ParseRequest, PassagesRequest, PredictRequest
from syntagma.serve.service import Service

FORMATS = {JSON: "json", CONLLU: "conllu", BRACKETS: "brackets", SVG: "svg"}
_STREAMED = {LINES: {"schema": {"type": "string", "description": "One JSON object a line."}}}
_STATUS = {"model": answers.Status}
_TEXT = {"content": {"text/plain": {"schema": {"type": "string"}}}}
_PICTURES: dict[str, Any] = {
    media_type: {"schema": {"type": "string"}} for media_type in (CONLLU, BRACKETS, SVG)
}


def make_router(service: Service) -> APIRouter:
    """Return the routes of the API.

    Args:
        service: answers.
    """
    router = APIRouter(default_response_class=Response)
    _add_work(router, service)
    _add_state(router, service)
    return router


def _add_work(router: APIRouter, service: Service) -> None:
    """Add the routes that need models."""

    @router.post(
        "/v1/answer",
        summary="Answer questions about a text, or from an index",
        response_model=None,
        responses={200: {"model": answers.Answers, "content": _STREAMED}},
    )
    async def answer(body: AnswerRequest, request: Request) -> Response:
        model, jobs = _answer_jobs(service, body)
        return await _respond(service, request, jobs, b'{"model": %s, "answers": [' % _str(model))

    @router.post(
        "/v1/passages",
        summary="Find passages of an index",
        response_model=None,
        responses={200: {"model": answers.Found, "content": _STREAMED}},
    )
    async def passages(body: PassagesRequest, request: Request) -> Response:
        questions = _checked_questions(service.limits, body.all_questions)
        index = service.find("index", body.index)
        jobs = [
            Job("search", index.name, SearchPayload(question, body.top, body.by), len(question))
            for question in questions
        ]
        head = b'{"index": %s, "results": [' % _str(index.name)
        return await _respond(service, request, jobs, head)

    @router.post(
        "/v1/parse",
        summary="Parse texts into trees",
        response_model=None,
        responses={200: {"model": answers.Parses, "content": _STREAMED | _PICTURES}},
    )
    async def parse(body: ParseRequest, request: Request) -> Response:
        texts = _checked(service.limits, body.all_texts, "text", service.limits.text_characters)
        model = service.find("parser", body.model).name
        media_type = preferred(request.headers.get("accept", ""), [*FORMATS, LINES])
        if media_type == LINES:
            lines = _sentence_lines(service, model, texts, body)
            return StreamingResponse(lines, media_type=LINES)
        if media_type == SVG and len(texts) > 1:
            raise Problem(422, f"a picture shows one text, got {len(texts)}; send it as text")
        phrases = body.phrases or media_type == BRACKETS
        to = FORMATS[media_type]
        lang = body.lang or ""
        jobs = [
            Job("parse", model, ParsePayload(text, to, phrases, lang), len(text)) for text in texts
        ]
        found = await service.run(jobs)
        if media_type == JSON:
            head = b'{"model": %s, "texts": [' % _str(model)
            return Response(head + b", ".join(found) + b"]}", media_type=JSON)
        if media_type == CONLLU and len(found) > 1:
            found = [b"# newdoc id = %d\n%s" % pair for pair in enumerate(found, start=1)]
        return Response(b"".join(found), media_type=f"{media_type}; charset=utf-8")

    @router.post(
        "/v1/predict/{name}",
        summary="Predict with a model of any task",
        response_model=None,
        responses={200: {"model": answers.Predictions, "content": _STREAMED}},
    )
    async def predict(
        body: PredictRequest,
        request: Request,
        name: str = Path(description="The name of the model.", max_length=100),
    ) -> Response:
        model = _find_predictor(service, name)
        inputs = body.all_inputs
        _require_few(service.limits, len(inputs), "inputs")
        jobs = [Job("predict", model.name, PredictPayload(each), _size_of(each)) for each in inputs]
        names = [f"inputs.{number}" for number in range(len(jobs))]
        if body.input is not None:
            names = ["input"]
        for name_of_job, job in zip(names, jobs, strict=True):
            _require_short(service.limits.text_characters, job.size, name_of_job)
        head = b'{"model": %s, "task": %s, "predictions": [' % (_str(name), _str(model.task))
        return await _respond(service, request, jobs, head, names)


def _add_state(router: APIRouter, service: Service) -> None:
    """Add the routes that say how the server is, and answer at once."""

    @router.get(
        "/v1/models",
        summary="List what is served",
        response_model=None,
        responses={200: {"model": answers.Models}},
    )
    async def models() -> Response:
        described = service.pool.described
        listed = [
            {"name": each.name, "kind": each.kind, "task": each.task} | described.get(each.name, {})
            for each in service.models
        ]
        return Response(json.dumps({"models": listed}), media_type=JSON)

    @router.get(
        "/health",
        summary="Whether the server runs",
        response_model=None,
        responses={200: _STATUS},
    )
    async def health() -> Response:
        return Response(b'{"status": "ok"}', media_type=JSON)

    @router.get(
        "/ready",
        summary="Whether the models are loaded",
        response_model=None,
        responses={200: _STATUS, 503: _STATUS},
    )
    async def ready() -> Response:
        if service.is_ready:
            return Response(b'{"status": "ready"}', media_type=JSON)
        status = b"stopping" if service.is_draining else b"loading"
        return Response(b'{"status": "%s"}' % status, status_code=503, media_type=JSON)

    @router.get(
        "/metrics",
        summary="Metrics for Prometheus",
        response_model=None,
        responses={200: _TEXT},
    )
    async def metrics() -> Response:
        return Response(service.metrics.text(), media_type=MEDIA_TYPE)


def _answer_jobs(service: Service, body: AnswerRequest) -> tuple[str, list[Job]]:
    """Return the reader of a request, and a job for each question."""
    limits = service.limits
    questions = _checked_questions(limits, body.all_questions)
    model = service.find("reader", body.model)
    if body.text is None:
        index = service.find("index", body.index).name
        return model.name, [
            Job(
                "ask",
                model.name,
                AskPayload(index, question, body.mode, body.top, body.read),
                1000 * body.read,
            )
            for question in questions
        ]
    if model.task == "open_qa":
        raise Problem(422, f"model: {model.name} answers from an index; give index, not text")
    text = body.text
    _require_short(limits.text_characters, len(text), "text")
    # Only the first question about a text costs as much as the text is long.
    return model.name, [
        Job(
            "answer",
            model.name,
            AnswerPayload(text, question, body.mode, body.top),
            len(text) + len(question),
        )
        for question in questions
    ]


def _find_predictor(service: Service, name: str) -> NamedModel:
    for model in service.models:
        if model.name == name and model.kind in ("predictor", "reader"):
            return model
    names = [each.name for each in service.models if each.kind in ("predictor", "reader")]
    listed = ", ".join(names) or "none is served"
    raise Problem(404, f"{name!r:.60}: expected the name of a model ({listed})", reason="model")


async def _respond(
    service: Service,
    request: Request,
    jobs: Sequence[Job],
    head: bytes,
    names: Sequence[str] = (),
) -> Response:
    """Run jobs; return their results in one object, or a line each as they are done."""
    if preferred(request.headers.get("accept", ""), [JSON, LINES]) == LINES:
        return StreamingResponse(_lines(service, jobs), media_type=LINES)
    found = await service.run(jobs, names)
    return Response(head + b", ".join(found) + b"]}", media_type=JSON)


async def _lines(service: Service, jobs: Sequence[Job]) -> AsyncIterator[bytes]:
    number = 0
    async for found in service.stream(jobs):
        yield _line(b"item", number, found)
        number += 1


async def _sentence_lines(
    service: Service, model: str, texts: Sequence[str], body: ParseRequest
) -> AsyncIterator[bytes]:
    for number, text in enumerate(texts):
        async for found in service.stream_parts(model, text, body.phrases, body.lang or ""):
            yield _line(b"text", number, found)


def _line(key: bytes, number: int, found: bytes | Problem) -> bytes:
    """Return a line of a stream: an object with the number of what it is about."""
    if isinstance(found, Problem):
        found = b'{"problem": %s}' % found.body()
    return b'{"%s": %d, %s\n' % (key, number, found.removeprefix(b"{"))


def _checked_questions(limits: Limits, questions: Sequence[str]) -> Sequence[str]:
    return _checked(limits, questions, "question", limits.question_characters)


def _checked(limits: Limits, texts: Sequence[str], what: str, longest: int) -> Sequence[str]:
    """Return texts if they are few and short enough."""
    _require_few(limits, len(texts), f"{what}s")
    for number, text in enumerate(texts):
        _require_short(longest, len(text), f"{what}s.{number}" if len(texts) > 1 else what)
    return texts


def _require_few(limits: Limits, n_items: int, what: str) -> None:
    if n_items > limits.items:
        raise Problem(
            422,
            f"{what}: expected at most {limits.items} in a request (--items), got {n_items}; "
            f"send several requests",
            reason="items",
        )


def _require_short(longest: int, n_characters: int, what: str) -> None:
    if n_characters > longest:
        raise Problem(
            413,
            f"{what}: expected at most {longest:,} characters, got {n_characters:,}; cut it into "
            f"parts, or index it and ask the index",
            reason="text",
        )


def _size_of(value: Any) -> int:
    """Return the number of characters in the strings of a value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_size_of, value.values())) + sum(map(len, value))
    return sum(map(_size_of, value)) if isinstance(value, list) else 1


def _str(text: str) -> bytes:
    return json.dumps(text).encode()
