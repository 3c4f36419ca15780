"""The models of `syntagma serve` on the machines of a Ray cluster.

    pip install -e '.[serve]' 'ray[serve]'
    python examples/ray_serve.py --replicas 4
    curl -s localhost:8000/v1/answer -H 'Content-Type: application/json' \\
        -d '{"text": "The ferry left at noon.", "question": "When did the ferry leave?"}'

Ray Serve does what `syntagma serve` does within one machine: it starts replicas, joins the requests
that wait into batches, and replaces a replica that dies.  What a replica does is the same code, so
answers are the same.  A request whose replica dies is sent to another once; if that fails too, it
is refused with status 503.
"""

# No `from __future__ import annotations`: Ray sends the classes below to other processes, where
# FastAPI would look for the names in their annotations, and not find them.
import argparse
import asyncio
import json
from collections.abc import Sequence
from typing import Any, cast

import ray
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from ray import serve
from ray.exceptions import RayError, RayTaskError
from ray.serve.exceptions import BackPressureError, RayServeException

from syntagma.errors import InputError
from syntagma.serve.payloads import AnswerPayload, ParsePayload
from syntagma.serve.problems import MEDIA_TYPE, Problem, invalid, too_busy
from syntagma.serve.schemas import AnswerRequest, ParseRequest

BATCH_ITEMS, BATCH_WAIT_SECONDS = 32, 0.005
WAITING, ATTEMPTS, SECONDS = 256, 2, 60.0
"""Jobs that a door keeps waiting for replicas, how often a job is tried, how long it may take."""
LONGEST_TEXT, MOST_ITEMS = 200_000, 64

Job = tuple[str, str, tuple[Any, ...]]
"""An operation of :class:`syntagma.serve.operations.Operations`, its model, and what it takes."""
app = FastAPI(title="Syntagma on Ray Serve", docs_url=None, redoc_url=None)


@serve.deployment(max_ongoing_requests=2 * BATCH_ITEMS, health_check_period_s=2)
class Models:
    """A replica: it holds the models, and does the jobs that wait in batches.

    Args:
        models: names or folders, as for `syntagma serve --model`.
    """

    def __init__(self, models: Sequence[str]) -> None:
        from syntagma.serve.named_models import read_names
        from syntagma.serve.operations import Operations
        from syntagma.serve.worker import WorkerPlan

        self.operations = Operations(WorkerPlan(read_names(models)))

    @serve.batch(  # type: ignore[untyped-decorator]
        max_batch_size=BATCH_ITEMS, batch_wait_timeout_s=BATCH_WAIT_SECONDS
    )
    async def run(self, jobs: list[Job]) -> list[tuple[str, Any]]:
        """Do jobs; each result says whether it is ``done`` or what is wrong."""
        # In a thread: the replica must answer Ray's health checks meanwhile.
        return await asyncio.to_thread(self._run, jobs)

    def _run(self, jobs: list[Job]) -> list[tuple[str, Any]]:
        kinds: dict[tuple[str, str], list[int]] = {}
        for number, (operation, model, _) in enumerate(jobs):
            kinds.setdefault((operation, model), []).append(number)
        results: dict[int, tuple[str, Any]] = {}
        for (operation, model), numbers in kinds.items():
            outcomes = self.operations.run(operation, model, [jobs[n][2] for n in numbers])
            results |= dict(zip(numbers, map(tuple, outcomes), strict=True))
        return [results[number] for number in range(len(jobs))]


# Ray sends the application as it is when `serve.ingress` meets it: what it calls stands before.
def _require_fitting(texts: Sequence[str], n_items: int) -> None:
    if (longest := max(map(len, texts))) > LONGEST_TEXT:
        raise Problem(
            413, f"expected texts of at most {LONGEST_TEXT:,} characters, got {longest:,}"
        )
    if n_items > MOST_ITEMS:
        raise Problem(422, f"expected at most {MOST_ITEMS} items in a request, got {n_items}")


def _joined(key: str, model: str, found: Sequence[bytes]) -> Response:
    head = json.dumps({"model": model})[:-1].encode()
    body = head + b', "%s": [' % key.encode() + b", ".join(found) + b"]}"
    return Response(body, media_type="application/json")


@app.exception_handler(Problem)
async def _send_problem(request: Request, problem: Problem) -> Response:
    return Response(problem.body(), problem.status, problem.headers, MEDIA_TYPE)


@app.exception_handler(RequestValidationError)
async def _send_invalid(request: Request, error: RequestValidationError) -> Response:
    schema = ParseRequest if request.url.path.endswith("parse") else AnswerRequest
    return await _send_problem(request, invalid(error.errors(), list(schema.model_fields)))


@serve.deployment(ray_actor_options={"num_cpus": 0})  # It waits, and does not compute.
@serve.ingress(app)
class Door:
    """Checks requests, and sends their jobs to the replicas.

    Args:
        replicas: handle of the deployment :class:`Models`.
        reader: name of the reader.
        parser: name of the parser.
    """

    def __init__(self, replicas: Any, reader: str, parser: str) -> None:
        self.replicas = replicas
        self.reader = reader
        self.parser = parser

    @app.post("/v1/answer")
    async def answer(self, body: AnswerRequest) -> Response:
        """Answer questions about a text."""
        if body.text is None:
            raise Problem(422, "index: none is served here; give text")
        _require_fitting([body.text], len(body.all_questions))
        jobs = [
            ("answer", self.reader, AnswerPayload(body.text, question, body.mode, body.top))
            for question in body.all_questions
        ]
        return _joined("answers", self.reader, await self._run(jobs))

    @app.post("/v1/parse")
    async def parse(self, body: ParseRequest) -> Response:
        """Parse texts into trees."""
        _require_fitting(body.all_texts, len(body.all_texts))
        jobs = [
            ("parse", self.parser, ParsePayload(text, "json", body.phrases, body.lang or ""))
            for text in body.all_texts
        ]
        return _joined("texts", self.parser, await self._run(jobs))

    async def _run(self, jobs: Sequence[Job]) -> list[bytes]:
        try:
            async with asyncio.timeout(SECONDS):
                return list(await asyncio.gather(*map(self._run_one, jobs)))
        except TimeoutError:
            raise Problem(504, f"no answer in {SECONDS:g} s; try again later") from None

    async def _run_one(self, job: Job) -> bytes:
        for _ in range(ATTEMPTS):
            try:
                kind, value = await self.replicas.run.remote(job)
            except BackPressureError:
                raise too_busy(f"{WAITING} jobs are waiting", 1, "queue") from None
            except RayTaskError:
                raise Problem(500, "internal error; the log of the replica says more") from None
            except (RayError, RayServeException):
                continue  # The replica died; Ray sends the job to another, and starts a new one.
            if kind != "done":
                raise Problem(422 if kind == "input" else 500, str(value))
            found: bytes = value
            return found
        raise Problem(503, f"{ATTEMPTS} replicas died with this request; try again later")


def build(
    reader: str = "default-reader", parser: str = "default-parser", *, replicas: int = 2
) -> Any:
    """Return the application, for `serve.run`.

    Args:
        reader: name or folder of a reader.
        parser: name or folder of a parser.
        replicas: the number of processes that hold the models.
    """
    from syntagma.serve.named_models import read_names

    names = {each.kind: each.name for each in read_names([reader, parser])}
    if set(names) != {"reader", "parser"}:
        raise InputError(f"expected a reader and a parser, got {reader} and {parser}")
    # The decorator has made deployments of the classes.
    models, door = cast(Any, Models), cast(Any, Door)
    replicated = models.options(num_replicas=replicas, max_queued_requests=WAITING)
    return door.bind(replicated.bind([reader, parser]), names["reader"], names["parser"])


def main() -> None:
    """Read the arguments, and serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--reader", default="default-reader", help="name or folder of a reader")
    parser.add_argument("--parser", default="default-parser", help="name or folder of a parser")
    parser.add_argument("--replicas", type=int, default=2, help="processes that hold the models")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on")
    options = parser.parse_args()
    # Joins the cluster that RAY_ADDRESS names, or starts one on this machine.
    ray.init(ignore_reinit_error=True)
    serve.start(http_options={"host": options.host, "port": options.port})
    serve.run(build(options.reader, options.parser, replicas=options.replicas), blocking=True)


if __name__ == "__main__":
    main()
