"""The command that serves models over HTTP."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from syntagma.cli.app import Device, Imports, app, examples
from syntagma.cli.console import is_quiet, warn
from syntagma.errors import MissingExtraError
from syntagma.serve.addresses import read_host, read_origin
from syntagma.serve.limits import Limits

DEFAULT = Limits()
LOOPBACK = ("127.0.0.1", "localhost", "::1")

Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="[NAME=]MODEL",
        help="A model's name or folder, or the folder of an index; repeatable. Requests ask for it "
        "by NAME, or by the last part of its path. Default: default-reader and default-parser.",
    ),
]
Workers = Annotated[
    int,
    typer.Option(min=1, help="Processes that compute; each loads all models."),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--api-keys",
        help="File of API keys, one a line, of which clients must send one. Keys can also be in "
        "the environment variable SYNTAGMA_API_KEYS.",
    ),
]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--allowed-host",
        help="Another name by which the server may be called; repeatable. By default a server on "
        "127.0.0.1 answers to localhost, 127.0.0.1 and ::1 only, any other to every name.",
    ),
]
Origins = Annotated[
    list[str] | None,
    typer.Option(
        "--cors", help="Site whose pages may call the server, as https://example.org; repeatable."
    ),
]
Precision = Annotated[
    str,
    typer.Option(
        help="float32, which gives the same answer in every batch, or auto (bfloat16 if that is "
        "faster), bfloat16, int8. Parsers keep their own."
    ),
]


@app.command(
    epilog=examples(
        "syntagma serve",
        "syntagma serve --model accurate-reader --model reports.index --port 8080",
        "syntagma serve --model nli=runs/snli_seprem --workers 2",
        "syntagma serve --host 0.0.0.0 --api-keys keys.txt",
    )
)
def serve(
    models: Models = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 for all of the machine.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any.")] = 8000,
    workers: Workers = 1,
    api_keys: KeyFile = None,
    allowed_hosts: AllowedHosts = None,
    origins: Origins = None,
    requests: Annotated[
        int, typer.Option(help="Maximum number of requests at a time; more are refused (429).")
    ] = DEFAULT.requests,
    queue: Annotated[
        int, typer.Option(help="Maximum number of waiting jobs; more are refused (429).")
    ] = DEFAULT.queue,
    items: Annotated[
        int, typer.Option(help="Maximum number of questions, texts or inputs of a request (422).")
    ] = DEFAULT.items,
    body_bytes: Annotated[
        int, typer.Option(help="Maximum length of a request body, in bytes (413).")
    ] = DEFAULT.body_bytes,
    text_characters: Annotated[
        int, typer.Option(help="Maximum length of a text, in characters (413).")
    ] = DEFAULT.text_characters,
    question_characters: Annotated[
        int, typer.Option(help="Maximum length of a question, in characters (413).")
    ] = DEFAULT.question_characters,
    seconds: Annotated[
        float,
        typer.Option(help="Maximum seconds to a response, or to its next line if streamed (504)."),
    ] = DEFAULT.seconds,
    read_seconds: Annotated[
        float, typer.Option(help="Maximum seconds until a request is received (408).")
    ] = DEFAULT.read_seconds,
    batch_items: Annotated[
        int, typer.Option(help="Maximum number of jobs in a batch of a worker.")
    ] = DEFAULT.batch_items,
    batch_characters: Annotated[
        int, typer.Option(help="Maximum number of characters of these jobs.")
    ] = DEFAULT.batch_characters,
    batch_wait_ms: Annotated[
        float, typer.Option(help="Milliseconds that a job waits for others to join its batch.")
    ] = DEFAULT.batch_wait_ms,
    log_texts: Annotated[
        bool, typer.Option("--log-texts", help="Log the beginning of the body of each request.")
    ] = False,
    precision: Precision = "float32",
    device: Device = "cpu",
    imports: Imports = None,
) -> None:
    """Serve models over HTTP: answers, parses, predictions, passages.

    Nothing is loaded but what --model names, and nothing from the network. The page /docs describes
    the requests. Ctrl-C or SIGTERM ends the server once the open requests are answered.
    """
    limits = Limits(
        body_bytes=body_bytes,
        text_characters=text_characters,
        question_characters=question_characters,
        items=items,
        requests=requests,
        queue=queue,
        seconds=seconds,
        read_seconds=read_seconds,
        batch_items=batch_items,
        batch_characters=batch_characters,
        batch_wait_ms=batch_wait_ms,
    )
    try:
        import fastapi  # noqa: F401
        import prometheus_client  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("serving", "serve") from error
    from syntagma.serve.app import Access
    from syntagma.serve.keys import read_keys
    from syntagma.serve.named_models import read_names
    from syntagma.serve.server import bind, run
    from syntagma.serve.worker import WorkerPlan

    plan = WorkerPlan(read_names(models or ()), device, precision, workers)
    keys = read_keys(api_keys)
    hosts = _host_names(host, allowed_hosts or [])
    access = Access(keys, hosts, tuple(map(read_origin, origins or ())), log_texts)
    listening = bind(host, port)
    _start_log()
    if host not in LOOPBACK and not keys:
        warn("syntagma: everyone who reaches this server may use it; --api-keys")
    run(plan, limits, access, listening)


def _host_names(host: str, allowed: list[str]) -> tuple[str, ...]:
    """Return the names by which the server may be called; none if by any."""
    if host not in LOOPBACK and not allowed:
        return ()
    return (*LOOPBACK, host.lower(), *map(read_host, allowed))


def _start_log() -> None:
    log = logging.getLogger("syntagma.serve")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.WARNING if is_quiet() else logging.INFO)
    log.propagate = False
