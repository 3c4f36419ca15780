"""The process that reads documents for an :class:`syntagma.extraction.worker.Extractor`.

It gets a line of JSON for each file on standard input, and answers with one on its standard output.
JSON, not pickle: a hostile document that takes over this process must not reach the other one.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from syntagma.errors import DiskError, InputError
from syntagma.extraction.document import Block, Document
from syntagma.extraction.extract import extract, memory_message
from syntagma.extraction.limits import ExtractionLimits
from syntagma.lifeline import watch_parent

_MEMORY_ANSWER = b'{"memory"'


def main() -> None:
    """Read documents until standard input ends."""
    # Whatever a library prints must not be taken for an answer, nor reach the terminal.
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    # Ctrl-C reaches all processes of the terminal; the one that started this one handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = open(os.dup(0), encoding="ascii", newline="\n")  # noqa: SIM115
    settings = json.loads(requests.readline())
    watched = (settings["parent"], threading.Event())
    threading.Thread(target=watch_parent, args=watched, daemon=True).start()
    limits = ExtractionLimits(**settings["limits"])
    _limit_memory(limits.memory_bytes)
    for line in requests:
        request = json.loads(line)
        with _alarm(limits.seconds):
            answer = _answer(request["path"], request["name"], limits)
        answers.write(answer)
        answers.flush()
        if answer.startswith(_MEMORY_ANSWER):
            # What is left of the memory may be in pieces that are too small.
            return


def _limit_memory(n_bytes: int) -> None:
    """Limit the address space of this process, and write no core files."""
    try:
        import resource
    except ImportError:  # Windows
        return
    _, allowed = resource.getrlimit(resource.RLIMIT_AS)
    if allowed != resource.RLIM_INFINITY:
        n_bytes = min(n_bytes, allowed)
    # macOS knows the limit of the address space, but may refuse it.
    with suppress(ValueError, OverflowError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """End this process if the block takes too long, wherever it is, where there are alarms.

    The handler is the system's: one in Python would wait until a library returns, perhaps for ever.
    The process that started this one has a clock too, but may be busy, or be gone.
    """
    if not hasattr(signal, "setitimer"):  # Windows
        yield
        return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)


def _answer(path: str, name: str, limits: ExtractionLimits) -> bytes:
    try:
        return _line(pack(extract(path, limits=limits, name=name)))
    except DiskError as error:
        return _line({"disk": str(error)})
    except InputError as error:
        ran_out = isinstance(error.__cause__, MemoryError)
        return _line({"memory" if ran_out else "problem": str(error)})
    except MemoryError:
        # There was room for the document, but not for the answer.
        return _line({"memory": memory_message(name, limits)})


def _line(values: dict[str, Any]) -> bytes:
    # What UTF-8 cannot encode becomes an escape of JSON.
    return json.dumps(values, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def pack(document: Document) -> dict[str, Any]:
    """Return a document as JSON values."""
    blocks = [[b.kind, b.start, b.end, b.level, b.page] for b in document.blocks]
    return {"text": document.text, "title": document.title, "blocks": blocks}


def unpack(values: dict[str, Any]) -> Document:
    """Return the document that :func:`pack` packed."""
    blocks = tuple(Block(*block) for block in values["blocks"])
    return Document(values["text"], blocks, values["title"])
